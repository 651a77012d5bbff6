//! Constraint solvers compared with the loop of the tutorials, in one run, on one thread.
//!
//! ```sh
//! cargo bench --bench relax
//! ```
//!
//! The machine is noisy: compare the fastest times of one run, not numbers of different runs. Each case solves all
//! constraints of a hanging N × N sheet ten times; divan shows constraints per second.

#[path = "common/tutorial.rs"]
mod tutorial;

use bevy::math::{Mat3, Vec3};
use bevy_drape::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        self, Compliance, ConstraintGraph, ConstraintKind, RelaxSettings, SimdLevel, StretchSolver,
        Workers,
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

/// Returns a sheet that deviates from its rest lengths.
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

/// Size and SIMD level.
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

/// Returns each size at each level that this processor supports.
fn cases() -> impl Iterator<Item = Case> {
    let levels = SimdLevel::ALL.into_iter().filter(|l| l.is_available());
    levels.flat_map(|level| SIDES.map(|side| Case { side, level }))
}

fn relax(bencher: Bencher, case: Case, stretch_solver: StretchSolver, mut sheet: Assembly) {
    case.level.force();
    let settings = RelaxSettings {
        compliance: Compliance {
            bending: 2e-6,
            ..Compliance::default()
        },
        iterations: ITERATIONS,
        dt: 1.0 / 60.0,
        stretch_solver,
        ..RelaxSettings::default()
    };
    sheet.constraints.prepare(&sheet.particles);
    bencher.counter(projections(&sheet)).bench_local(|| {
        solver::relax(
            &mut Workers::serial(),
            &mut sheet.particles,
            &mut sheet.constraints,
            &settings,
        )
    });
    SimdLevel::best().force();
}

/// Chains directly, in the order for cloth in contact: the default.
#[divan::bench(args = cases())]
fn grid_direct(bencher: Bencher, case: Case) {
    relax(bencher, case, StretchSolver::Direct, sheet(case.side));
}

/// One constraint after the other, whole rows at a time.
#[divan::bench(args = cases())]
fn grid_gauss_seidel(bencher: Bencher, case: Case) {
    relax(bencher, case, StretchSolver::GaussSeidel, sheet(case.side));
}

/// Returns the same sheet as a general mesh without grids.
fn without_grid(side: u32) -> Assembly {
    let mut sheet = sheet(side);
    let pairs: Vec<_> = sheet
        .constraints
        .iter()
        .map(|c| (c.kind(), c.ends()[0], c.ends()[1]))
        .collect();
    let bends: Vec<_> = sheet
        .constraints
        .iter()
        .filter_map(|c| Some(c.bend()?.stencil()))
        .collect();
    let rest = &sheet.particles.position;
    sheet.constraints = ConstraintGraph::new(rest, &pairs);
    sheet.constraints.add_bends(rest, &bends);
    sheet
}

/// Straight chains directly, all other constraints one after the other.
#[divan::bench(args = cases())]
fn general_direct(bencher: Bencher, case: Case) {
    relax(
        bencher,
        case,
        StretchSolver::Direct,
        without_grid(case.side),
    );
}

/// One constraint after the other, along chains where possible.
#[divan::bench(args = cases())]
fn general_gauss_seidel(bencher: Bencher, case: Case) {
    relax(
        bencher,
        case,
        StretchSolver::GaussSeidel,
        without_grid(case.side),
    );
}

/// The same constraints in batches only: as shear constraints, which form no chains.
#[divan::bench(args = cases())]
fn general_batches(bencher: Bencher, case: Case) {
    let mut sheet = sheet(case.side);
    let pairs: Vec<_> = sheet
        .constraints
        .iter()
        .map(|c| (ConstraintKind::Shear, c.ends()[0], c.ends()[1]))
        .collect();
    sheet.constraints = ConstraintGraph::new(&sheet.particles.position, &pairs);
    relax(bencher, case, StretchSolver::GaussSeidel, sheet);
}

/// The loop of the tutorials: one constraint after the other, in the order of their creation.
#[divan::bench(args = SIDES)]
fn tutorial(bencher: Bencher, side: u32) {
    let sheet = sheet(side);
    let mut tutorial = Tutorial::of(&sheet.particles, &sheet.constraints);
    bencher
        .counter(projections(&sheet))
        .bench_local(|| tutorial.relax(ITERATIONS));
}
