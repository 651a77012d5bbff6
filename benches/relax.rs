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
    solver::{self, Compliance, ConstraintKind, Relaxation, Strength, ThreadSolver},
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

#[divan::bench(args = SIDES)]
fn batches(bencher: Bencher, side: u32) {
    let mut sheet = sheet(side);
    let by = Relaxation {
        compliance: Compliance::default(),
        iterations: ITERATIONS,
        dt: 1.0 / 60.0,
        strength: Strength::default(),
        threads: ThreadSolver::default(),
        loads: false,
    };
    bencher
        .counter(projections(&sheet))
        .bench_local(|| solver::relax(&mut sheet.particles, &mut sheet.constraints, &by));
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
fn array_of_structs(bencher: Bencher, side: u32) {
    let sheet = sheet(side);
    let mut particles: Vec<Particle> = (0..sheet.particles.len())
        .map(|i| Particle {
            position: sheet.particles.position.get(i),
            previous: Vec3::ZERO,
            acceleration: Vec3::ZERO,
            inverse_mass: sheet.particles.inverse_mass[i],
        })
        .collect();
    // In the order in which a tutorial makes them: row by row, kind by kind.
    let mut sticks: Vec<(ConstraintKind, Stick)> = sheet
        .constraints
        .iter()
        .map(|c| {
            let [a, b] = c.particles.map(|i| i as usize);
            let length = c.rest_length;
            (c.kind, Stick { a, b, length })
        })
        .collect();
    sticks.sort_by_key(|(kind, stick)| (*kind, stick.a, stick.b));
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
