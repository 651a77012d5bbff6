//! Our relaxation beside the loop of the tutorials, in one run, on one thread.
//!
//! ```sh
//! cargo bench
//! ```
//!
//! The machine is noisy: compare the medians of one run, not numbers of different runs. Each case
//! solves all constraints of a hanging N × N sheet ten times; divan shows constraints per second.

use bevy::math::{Mat3, Vec3};
use bevy_drape::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Compliance, ConstraintGraph, ConstraintKind, Relaxation, SimdLevel, Strength,
        ThreadSolver,
    },
};
use divan::{Bencher, counter::ItemsCount};

const SIDES: [u32; 3] = [16, 64, 256];
const ITERATIONS: u32 = 10;

fn main() {
    divan::main();
}

fn topology(side: u32) -> Topology {
    let grid = ClothGrid::vertical(2.0, 2.0, side, side);
    let mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
    Topology::new(&mesh).expect("a grid has triangles")
}

/// A sheet that is not at rest, so that there is something to solve.
fn sheet(side: u32) -> Assembly {
    let mut sheet = topology(side).assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
    sheet.particles.inverse_mass[0] = 0.0;
    for (i, y) in sheet.particles.position.y.iter_mut().enumerate() {
        *y *= 1.0 + (i % 7) as f32 * 0.001;
    }
    sheet
}

fn projections(sheet: &Assembly) -> ItemsCount {
    ItemsCount::new(sheet.constraints.len() as u64 * u64::from(ITERATIONS))
}

/// How our constraints are solved.
#[derive(Clone, Copy, Debug)]
struct Case {
    side: u32,
    level: SimdLevel,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{} {:?}", self.side, self.level)
    }
}

/// Each side at each level that this processor has.
fn cases() -> impl Iterator<Item = Case> {
    let levels = SimdLevel::ALL.into_iter().filter(|l| l.is_available());
    levels.flat_map(|level| SIDES.map(|side| Case { side, level }))
}

fn relax(bencher: Bencher, case: Case, threads: ThreadSolver, mut sheet: Assembly) {
    case.level.force();
    let by = Relaxation {
        compliance: Compliance::default(),
        iterations: ITERATIONS,
        dt: 1.0 / 60.0,
        strength: Strength::default(),
        threads,
        to_come: 0,
        loads: false,
    };
    sheet.constraints.prepare(&sheet.particles);
    bencher
        .counter(projections(&sheet))
        .bench_local(|| solver::relax(&mut sheet.particles, &mut sheet.constraints, &by));
    SimdLevel::best().force();
}

/// Threads as a whole, with the hierarchy above them: what a cloth does by default.
#[divan::bench(args = cases())]
fn sheet_direct(bencher: Bencher, case: Case) {
    relax(bencher, case, ThreadSolver::Direct, sheet(case.side));
}

/// Constraint by constraint, whole rows at a time.
#[divan::bench(args = cases())]
fn sheet_relaxed(bencher: Bencher, case: Case) {
    relax(bencher, case, ThreadSolver::Relaxation, sheet(case.side));
}

/// The same sheet as any mesh that is no grid.
fn without_grid(side: u32) -> Assembly {
    let mut sheet = sheet(side);
    let pairs: Vec<_> = sheet
        .constraints
        .iter()
        .map(|c| (c.kind, c.particles[0], c.particles[1]))
        .collect();
    sheet.constraints = ConstraintGraph::new(&sheet.particles.position, &pairs);
    sheet
}

/// Threads that run straight on as a whole, all else constraint by constraint.
#[divan::bench(args = cases())]
fn general_direct(bencher: Bencher, case: Case) {
    relax(bencher, case, ThreadSolver::Direct, without_grid(case.side));
}

/// Constraint by constraint, along threads where there are some.
#[divan::bench(args = cases())]
fn general_relaxed(bencher: Bencher, case: Case) {
    relax(
        bencher,
        case,
        ThreadSolver::Relaxation,
        without_grid(case.side),
    );
}

/// The same constraints in batches alone: as diagonals, of which no threads are made.
#[divan::bench(args = cases())]
fn general_batches(bencher: Bencher, case: Case) {
    let mut sheet = sheet(case.side);
    let pairs: Vec<_> = sheet
        .constraints
        .iter()
        .map(|c| (ConstraintKind::Shear, c.particles[0], c.particles[1]))
        .collect();
    sheet.constraints = ConstraintGraph::new(&sheet.particles.position, &pairs);
    relax(bencher, case, ThreadSolver::Relaxation, sheet);
}

/// A particle as tutorials have it.
#[derive(Clone, Copy)]
struct Particle {
    position: Vec3,
    #[expect(
        dead_code,
        reason = "it takes its place in memory, as in the tutorials"
    )]
    previous: Vec3,
    #[expect(dead_code, reason = "likewise")]
    acceleration: Vec3,
    inverse_mass: f32,
}

struct Stick {
    a: usize,
    b: usize,
    length: f32,
}

#[divan::bench(args = SIDES)]
fn tutorial(bencher: Bencher, side: u32) {
    let sheet = sheet(side);
    let mut particles: Vec<Particle> = (0..sheet.particles.len())
        .map(|i| Particle {
            position: sheet.particles.position.get(i),
            previous: Vec3::ZERO,
            acceleration: Vec3::ZERO,
            inverse_mass: sheet.particles.inverse_mass[i],
        })
        .collect();
    // In the order in which a tutorial makes them: particle by particle.
    let mut sticks: Vec<(ConstraintKind, Stick)> = sheet
        .constraints
        .iter()
        .map(|c| {
            let [a, b] = c.particles.map(|i| i as usize);
            let length = c.rest_length;
            (c.kind, Stick { a, b, length })
        })
        .collect();
    sticks.sort_by_key(|(kind, stick)| (stick.a, *kind, stick.b));
    bencher.counter(projections(&sheet)).bench_local(|| {
        for _ in 0..ITERATIONS {
            for (_, stick) in &sticks {
                let (a, b) = (particles[stick.a], particles[stick.b]);
                let delta = b.position - a.position;
                let distance = delta.length();
                let mass = a.inverse_mass + b.inverse_mass;
                if distance == 0.0 || mass == 0.0 {
                    continue;
                }
                let correction = delta * ((distance - stick.length) / (distance * mass));
                particles[stick.a].position += correction * a.inverse_mass;
                particles[stick.b].position -= correction * b.inverse_mass;
            }
        }
        divan::black_box(&mut particles);
    });
}

/// What spawning a cloth costs before it is drawn: reading, welding, finding quads, ordering.
#[divan::bench(args = [64, 256], sample_count = 10)]
fn build(bencher: Bencher, side: u32) {
    let mesh = bevy::mesh::Mesh::from(ClothGrid::vertical(2.0, 2.0, side, side));
    bencher.bench_local(|| {
        let source = TriangleMesh::read(&mesh).expect("a grid has triangles");
        let topology = Topology::new(&source).expect("a grid has triangles");
        topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2)
    });
}
