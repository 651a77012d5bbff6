//! Where the time of a frame goes, from forces to the bytes that are handed to the renderer: one step
//! of a cloth and one picture of it, on one thread, at the plugin's defaults.
//!
//! ```sh
//! cargo bench --bench frame
//! ```
//!
//! The phases are called one by one, as `solver::step` does it, and timed in between. What is inside
//! relaxation cannot be seen from outside; it is found by leaving something out and timing the rest.

#[path = "../examples/measure/scene.rs"]
mod scene;
#[expect(dead_code, reason = "others need medians")]
#[path = "common/turns.rs"]
mod turns;

use bevy::{
    math::{Mat3, Vec3},
    mesh::Mesh,
};
use bevy_drape::{
    mesh::{Frame, MeshBinding, Topology, TriangleMesh},
    solver::{self, ConstraintKind, Integration, Relaxation, StepSettings, Strength, ThreadSolver},
};
use scene::{Crew, Plan, Scene, Stage};
use std::time::Instant;
use turns::{is_bench, take_turns, timed};

/// Steps that come before: 5 s, after which the hanging cloth hangs and the other one lies on ball
/// and floor.
const STEPS: u32 = 300;

fn main() {
    let (sides, steps) = if is_bench() {
        (&[64, 256][..], STEPS)
    } else {
        (&[16][..], 3)
    };
    for &side in sides {
        for scene in [Scene::Hang, Scene::Drape] {
            let plan = Plan {
                side,
                ..scene.plan()
            };
            let mut stage = plan.build();
            let mut alone = Crew::of(1);
            for _ in 0..steps {
                assert!(alone.step(&mut stage));
            }
            print(&plan, &stage);
        }
    }
}

/// The table of one cloth.
fn print(plan: &Plan, stage: &Stage) {
    let phases = of_step(&mut stage.clone());
    let relaxation = of_relaxation(stage);
    let (picture, packed) = of_picture(plan, stage);
    let [whole] = {
        let (mut alone, mut stage) = (Crew::of(1), stage.clone());
        let mut step = || timed(|| assert!(alone.step(&mut stage)));
        take_turns(1.0, [&mut step])
    };

    let of_frame: f64 = phases.iter().chain(&picture).map(|(_, ms)| ms).sum();
    let particles = stage.particles.len() as f64;
    let Plan { name, side, .. } = plan;
    println!("\n| {name}, {side}² | ms | ns a particle | % |");
    println!("|---|---|---|---|");
    let row = |name: &str, ms: f64| {
        let (each, share) = (ms * 1e6 / particles, ms / of_frame * 100.0);
        println!("| {name} | {ms:.4} | {each:.2} | {share:.1} |");
    };
    for &(name, ms) in &phases {
        row(name, ms);
        if name == RELAXATION {
            for (name, ms) in relaxation {
                row(name, ms * f64::from(stage.settings.substeps) / 2.0);
            }
        }
    }
    picture.iter().for_each(|&(name, ms)| row(name, ms));
    row("**all**", of_frame);
    row("`solver::step` by itself", whole.fastest);
    row("Bevy, after that: vertex buffer packed", packed);
}

const PHASES: [&str; 7] = [
    "begin (pins, the hierarchy's lengths)",
    "air",
    "integrate",
    RELAXATION,
    "tethers",
    "contacts",
    "finish (velocities of pins, is it finite, origin)",
];
const RELAXATION: &str = "relax";

/// The phases of a step, ms: the fastest of many steps, each phase by itself.
fn of_step(stage: &mut Stage) -> Vec<(&'static str, f64)> {
    let mut fastest = [f64::INFINITY; PHASES.len()];
    let steps = if is_bench() { 300 } else { 3 };
    for _ in 0..steps {
        let taken = timed_step(stage);
        for (fastest, taken) in fastest.iter_mut().zip(taken) {
            *fastest = taken.min(*fastest);
        }
    }
    PHASES.into_iter().zip(fastest).collect()
}

/// `solver::step`, phase by phase. Returns what they took, ms.
fn timed_step(stage: &mut Stage) -> [f64; PHASES.len()] {
    let Stage {
        particles,
        constraints,
        triangles,
        tethers,
        pins,
        colliders,
        settings,
        apart: _,
    } = stage;
    let substeps = settings.substeps;
    let by = Integration {
        gravity: settings.gravity,
        damping: settings.damping,
        dt: settings.dt / substeps as f32,
    };
    let mut taken = [0.0; PHASES.len()];
    let mut last = Instant::now();
    let mut phase_ends = |phase: usize| {
        let now = Instant::now();
        taken[phase] += (now - last).as_secs_f64() * 1e3;
        last = now;
    };
    particles.begin_step(pins, substeps);
    constraints.prepare(particles);
    phase_ends(0);
    solver::apply_air(particles, triangles, &settings.air, settings.dt);
    phase_ends(1);
    for substep in 0..substeps {
        solver::integrate(particles, &by);
        phase_ends(2);
        let to_come = substeps - 1 - substep;
        let by = relaxation(settings, Strength::default(), to_come);
        solver::relax(particles, constraints, &by);
        phase_ends(3);
        solver::hold_tethers(particles, tethers, settings.tether_scale);
        phase_ends(4);
        solver::collide(particles, colliders, &settings.surface, substep, substeps);
        phase_ends(5);
    }
    particles.end_step(pins);
    assert!(particles.is_finite());
    particles.rebase();
    phase_ends(6);
    taken
}

fn relaxation(settings: &StepSettings, strength: Strength, to_come: u32) -> Relaxation {
    Relaxation {
        compliance: settings.compliance,
        iterations: settings.iterations,
        threads: settings.threads,
        strain_limit: settings.strain_limit,
        dt: settings.dt / settings.substeps as f32,
        strength,
        to_come,
        loads: false,
    }
}

/// The parts of relaxation in two substeps, ms, of which one may hold long distances and the other
/// not: what it takes less without them.
fn of_relaxation(stage: &Stage) -> [(&'static str, f64); 5] {
    let settings = &stage.settings;
    let full = Strength::default();
    // As long as threads tighten, long distances are not held; nothing else takes longer or shorter.
    let dt = settings.dt / settings.substeps as f32;
    let tightening =
        Strength::full(dt, 1, ThreadSolver::Relaxation).next(dt, 1, ThreadSolver::Direct);
    assert!(!tightening.is_taut());

    let columns = stage.constraints.sheets().next().map_or(0, |s| s.columns);
    let along_row = |[a, b]: [u32; 2]| a.abs_diff(b) < columns;
    let run = |strength: Strength, keep: fn(bool, bool) -> bool| {
        let by = [1, 0].map(|to_come| relaxation(settings, strength, to_come));
        let mut particles = stage.particles.clone();
        let mut constraints = stage.constraints.clone();
        constraints.retain(|c| keep(c.kind == ConstraintKind::Shear, along_row(c.particles)));
        constraints.prepare(&particles);
        move || {
            particles.position.copy_from(&stage.particles.position);
            timed(|| {
                for by in &by {
                    solver::relax(&mut particles, &mut constraints, by);
                }
            })
        }
    };
    let times = take_turns(
        2.0,
        [
            &mut run(full, |_, _| true),
            &mut run(tightening, |_, _| true),
            &mut run(tightening, |shear, _| !shear),
            &mut run(tightening, |shear, weft| !shear && !weft),
            &mut run(tightening, |_, _| false),
        ],
    );
    let [all, flat, threads, warp, copies] = times.map(|times| times.fastest);
    [
        ("– hierarchy", all - flat),
        ("– diagonals", flat - threads),
        ("– warp", warp - copies),
        ("– weft", threads - warp),
        ("– threads copied and turned, there and back", copies),
    ]
}

/// What a picture takes, ms, and what Bevy then does with it.
fn of_picture(plan: &Plan, stage: &Stage) -> ([(&'static str, f64); 3], f64) {
    let frame = Frame {
        alpha: 0.4,
        offset: Vec3::X,
        to_frame: Mat3::IDENTITY,
    };
    let mut full = Mesh::from(plan.grid());
    let source = TriangleMesh::read(&full).expect("a grid has triangles");
    let topology = Topology::new(&source).expect("a grid has triangles");
    let mut without_tangents = full.clone();
    without_tangents.remove_attribute(Mesh::ATTRIBUTE_TANGENT);
    let packed = full.clone();

    let mut places = Vec::new();
    let mut place = || {
        timed(|| {
            std::hint::black_box(frame.place(&stage.particles, &mut places));
        })
    };
    let draw = |mesh: &mut Mesh| {
        let mut binding = MeshBinding::new(&source, &topology, mesh);
        let mut places = Vec::new();
        move |mesh: &mut Mesh| {
            timed(|| {
                let drawn = binding.draw(&frame, &stage.particles, &mut places, mesh);
                assert!(drawn.is_ok());
            })
        }
    };
    let mut draw_full = draw(&mut full);
    let mut draw_without_tangents = draw(&mut without_tangents);
    let times = take_turns(
        2.0,
        [
            &mut place,
            &mut || draw_without_tangents(&mut without_tangents),
            &mut || draw_full(&mut full),
            &mut || {
                timed(|| {
                    std::hint::black_box(packed.create_packed_vertex_buffer_data());
                })
            },
        ],
    );
    let [places, normals, tangents, packed] = times.map(|times| times.fastest);
    let picture = [
        ("mesh: positions, bounding box", places),
        ("mesh: normals", normals - places),
        ("mesh: tangents", tangents - normals),
    ];
    (picture, packed)
}
