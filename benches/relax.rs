//! Our relaxation beside the loop of the tutorials, in one run, on one thread.
//!
//! ```sh
//! cargo bench --bench relax
//! ```
//!
//! The machine is noisy: compare the fastest times of one run, not numbers of different runs. Each case
//! solves all constraints of a hanging N × N sheet ten times; divan shows constraints per second.

#[path = "common/tutorial.rs"]
mod tutorial;

use bevy::math::{Mat3, Vec3};
use bevy_drape::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Bend, Compliance, ConstraintGraph, ConstraintKind, Relaxation, SimdLevel, Strength,
        ThreadSolver,
    },
};
use divan::{Bencher, counter::ItemsCount};
use tutorial::Tutorial;

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
        compliance: Compliance {
            bending: 2e-6,
            ..Compliance::default()
        },
        iterations: ITERATIONS,
        dt: 1.0 / 60.0,
        strength: Strength::default(),
        threads,
        strain_limit: f32::INFINITY,
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
    let bends: Vec<_> = sheet
        .constraints
        .iter()
        .filter_map(|c| {
            let (ends, over) = (c.particles, c.over?);
            Some(Bend { ends, over })
        })
        .collect();
    let rest = &sheet.particles.position;
    sheet.constraints = ConstraintGraph::new(rest, &pairs);
    sheet.constraints.add_bends(rest, &bends);
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

/// The loop of the tutorials, constraint by constraint in the order in which they make them.
#[divan::bench(args = SIDES)]
fn tutorial(bencher: Bencher, side: u32) {
    let sheet = sheet(side);
    let mut tutorial = Tutorial::of(&sheet.particles, &sheet.constraints);
    bencher
        .counter(projections(&sheet))
        .bench_local(|| tutorial.relax(ITERATIONS));
}
