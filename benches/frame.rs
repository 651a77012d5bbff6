//! Distribution of the time of a frame, from forces to the vertex data for the renderer: one step and one mesh
//! write of a cloth, on one thread, at the plugin's defaults.
//!
//! ```sh
//! cargo bench --bench frame
//! ```
//!
//! The stages of a step are called and timed one by one. The parts of relaxation are measured by
//! leaving them out and timing the rest.

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
    mesh::{MeshBinding, RenderFrame, Topology, TriangleMesh},
    solver::{self, ConstraintKind, RelaxSettings, SubstepTime, Workers},
};
use scene::{Plan, Scene, Stage, Stepper};
use std::time::Instant;
use turns::{is_bench, take_turns, timed};

/// Steps before the measurement, 5 s: `hang` then hangs at rest, `drape` lies on sphere and floor.
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
            let mut alone = Stepper::with_threads(1);
            for _ in 0..steps {
                assert!(alone.step(&mut stage));
            }
            print(&plan, &stage);
        }
    }
}

/// Prints the table of one cloth.
fn print(plan: &Plan, stage: &Stage) {
    let phases = of_step(&mut stage.clone());
    let relaxation = of_relaxation(stage);
    let (mesh_write, packed) = of_mesh_write(plan, stage);
    let [whole] = {
        let (mut alone, mut stage) = (Stepper::with_threads(1), stage.clone());
        let mut step = || timed(|| assert!(alone.step(&mut stage)));
        take_turns(1.0, [&mut step])
    };

    let of_frame: f64 = phases.iter().chain(&mesh_write).map(|(_, ms)| ms).sum();
    let particles = stage.particles.len() as f64;
    let Plan { name, side, .. } = plan;
    println!("\n| {name}, {side}² | ms | ns per particle | % |");
    println!("|---|---|---|---|");
    let row = |name: &str, ms: f64| {
        let (each, percentage) = (ms * 1e6 / particles, ms / of_frame * 100.0);
        println!("| {name} | {ms:.4} | {each:.2} | {percentage:.1} |");
    };
    for &(name, ms) in &phases {
        row(name, ms);
        if name == RELAXATION {
            for (name, ms) in relaxation {
                row(name, ms * f64::from(stage.settings.substeps));
            }
        }
    }
    mesh_write.iter().for_each(|&(name, ms)| row(name, ms));
    row("**all**", of_frame);
    row("`ClothState::step` by itself", whole.fastest);
    row("Bevy, after that: vertex buffer packed", packed);
}

const STAGES: [&str; 5] = [
    "begin (internal friction, pins, air)",
    "integrate",
    RELAXATION,
    "contacts",
    "end (angular momentum, pins, check of all numbers, origin)",
];
const RELAXATION: &str = "relax (constraints, damping, tethers)";

/// Returns the time of each phase, ms, each the fastest of many steps.
fn of_step(stage: &mut Stage) -> Vec<(&'static str, f64)> {
    let mut fastest = [f64::INFINITY; STAGES.len()];
    let steps = if is_bench() { 300 } else { 3 };
    for _ in 0..steps {
        let taken = timed_step(stage);
        for (fastest, taken) in fastest.iter_mut().zip(taken) {
            *fastest = taken.min(*fastest);
        }
    }
    STAGES.into_iter().zip(fastest).collect()
}

/// Takes a step stage by stage. Returns the time of each stage, ms.
fn timed_step(stage: &mut Stage) -> [f64; STAGES.len()] {
    let mut taken = [0.0; STAGES.len()];
    let mut last = Instant::now();
    let mut stage_ends = |stage: usize| {
        let now = Instant::now();
        taken[stage] += (now - last).as_secs_f64() * 1e3;
        last = now;
    };
    let workers = &mut Workers::serial();
    stage.with_state(|cloth, settings, input| {
        cloth.begin_step(workers, settings, input);
        stage_ends(0);
        for time in SubstepTime::new(settings.dt, settings.substeps).substeps() {
            cloth.integrate(workers, settings, &time);
            stage_ends(1);
            cloth.relax(workers, settings, std::iter::empty(), &time);
            stage_ends(2);
            cloth.collide_self(settings, &time);
            cloth.collide(workers, settings, input.colliders, input.meshes, &time);
            stage_ends(3);
        }
        assert!(cloth.end_step(workers, input.pins, false));
        stage_ends(4);
    });
    taken
}

/// Returns the times of the parts of relaxation in a substep, ms: the difference that leaving them out makes.
fn of_relaxation(stage: &Stage) -> [(&'static str, f64); 4] {
    let settings = &stage.settings;
    let relax_settings = RelaxSettings {
        compliance: settings.compliance,
        iterations: settings.iterations,
        stretch_solver: settings.stretch_solver,
        strain_limit: settings.strain_limit,
        dt: settings.dt / settings.substeps as f32,
        ..RelaxSettings::default()
    };
    let columns = stage.constraints.grids().next().map_or(0, |s| s.columns);
    let along_row = |[a, b]: [u32; 2]| a.abs_diff(b) < columns;
    let run = |keep: fn(bool, bool) -> bool| {
        let mut particles = stage.particles.clone();
        let mut constraints = stage.constraints.clone();
        constraints.retain(|c| keep(c.kind() == ConstraintKind::Shear, along_row(c.ends())));
        constraints.prepare(&particles);
        move || {
            particles.position.copy_from(&stage.particles.position);
            timed(|| {
                solver::relax(
                    &mut Workers::serial(),
                    &mut particles,
                    &mut constraints,
                    &relax_settings,
                );
            })
        }
    };
    let times = take_turns(
        2.0,
        [
            &mut run(|_, _| true),
            &mut run(|shear, _| !shear),
            &mut run(|shear, weft| !shear && !weft),
            &mut run(|_, _| false),
        ],
    );
    let [all, chains, warp, copies] = times.map(|times| times.fastest);
    [
        ("– shear", all - chains),
        ("– warp", warp - copies),
        ("– weft", chains - warp),
        ("– chains copied and transposed, there and back", copies),
    ]
}

/// Returns the times of the parts of a mesh write, and of Bevy's packing of the vertex buffer, ms.
fn of_mesh_write(plan: &Plan, stage: &Stage) -> ([(&'static str, f64); 3], f64) {
    let frame = RenderFrame {
        alpha: 0.4,
        offset: Vec3::X,
        to_frame: Mat3::IDENTITY,
        shifts: &[],
    };
    let mut full = Mesh::from(plan.grid());
    let source = TriangleMesh::read(&full).expect("a grid has triangles");
    let topology = Topology::new(&source).expect("a grid has triangles");
    let mut without_tangents = full.clone();
    without_tangents.remove_attribute(Mesh::ATTRIBUTE_TANGENT);
    let packed = full.clone();

    let mut positions = Vec::new();
    let mut transform_positions = || {
        timed(|| {
            std::hint::black_box(frame.transform(&stage.particles, &mut positions));
        })
    };
    let write = |mesh: &mut Mesh| {
        let mut binding = MeshBinding::new(&source, &topology, mesh);
        let mut positions = Vec::new();
        move |mesh: &mut Mesh| {
            timed(|| {
                let written =
                    binding.write_interpolated(&frame, &stage.particles, &mut positions, mesh);
                assert!(written.is_ok());
            })
        }
    };
    let mut write_full = write(&mut full);
    let mut write_without_tangents = write(&mut without_tangents);
    let times = take_turns(
        2.0,
        [
            &mut transform_positions,
            &mut || write_without_tangents(&mut without_tangents),
            &mut || write_full(&mut full),
            &mut || {
                timed(|| {
                    std::hint::black_box(packed.create_packed_vertex_buffer_data());
                })
            },
        ],
    );
    let [positions, normals, tangents, packed] = times.map(|times| times.fastest);
    let mesh_write = [
        ("mesh: positions, bounding box", positions),
        ("mesh: normals", normals - positions),
        ("mesh: tangents", tangents - normals),
    ];
    (mesh_write, packed)
}
