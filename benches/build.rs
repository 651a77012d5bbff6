//! Cost of building a cloth, part by part.
//!
//! ```sh
//! cargo bench --bench build
//! ```
//!
//! The machine is noisy: compare the fastest times of one run. The bench `tear` measures tears and cuts, including
//! the changes of the constraints.

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/scene.rs"]
mod scene;

#[expect(dead_code, reason = "measure needs more")]
#[path = "../examples/measure/crowd.rs"]
mod crowd;

use bevy::{math::Mat3, mesh::Mesh, prelude::*};
use bevy_drape::{
    cloth::ClothBuildMode,
    mesh::{Assembly, MeshBinding, Topology, TriangleMesh},
    prelude::*,
    solver::{RestShape, Tethers},
};
use divan::Bencher;

const SIDES: [u32; 2] = [64, 256];

fn main() {
    divan::main();
}

fn mesh(side: u32) -> Mesh {
    ClothGrid::vertical(2.0, 2.0, side, side).into()
}

fn triangles(side: u32) -> TriangleMesh {
    TriangleMesh::read(&mesh(side)).expect("a grid has triangles")
}

fn topology(mesh: &TriangleMesh) -> Topology {
    Topology::new(mesh).expect("a grid has triangles")
}

fn assembly(topology: &Topology) -> Assembly {
    topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2)
}

/// Reads the triangles of the mesh.
#[divan::bench(args = SIDES, sample_count = 20)]
fn a_read(bencher: Bencher, side: u32) {
    let mesh = mesh(side);
    bencher.bench_local(|| TriangleMesh::read(&mesh));
}

/// Welds vertices and finds chains, quads and grids.
#[divan::bench(args = SIDES, sample_count = 20)]
fn b_topology(bencher: Bencher, side: u32) {
    let mesh = triangles(side);
    bencher.bench_local(|| topology(&mesh));
}

/// The same with vertices and triangles in random order.
#[divan::bench(args = SIDES, sample_count = 20)]
fn b_topology_shuffled(bencher: Bencher, side: u32) {
    let mut mesh = triangles(side);
    scene::mesh_layout::shuffle(&mut mesh);
    bencher.bench_local(|| topology(&mesh));
}

/// Creates particles and constraints.
#[divan::bench(args = SIDES, sample_count = 20)]
fn c_assembly(bencher: Bencher, side: u32) {
    let topology = topology(&triangles(side));
    bencher.bench_local(|| assembly(&topology));
}

/// The same without grids: constraints are ordered into independent batches.
#[divan::bench(args = SIDES, sample_count = 20)]
fn c_assembly_without_grid(bencher: Bencher, side: u32) {
    let mut topology = topology(&triangles(side));
    topology.grids.clear();
    bencher.bench_local(|| assembly(&topology));
}

/// Measures geodesic distances from two corners, and creates tethers.
#[divan::bench(args = SIDES, sample_count = 20)]
fn d_tethers(bencher: Bencher, side: u32) {
    let assembly = assembly(&topology(&triangles(side)));
    let triangles = assembly.triangles.indices.to_vec();
    let shape = RestShape {
        positions: &assembly.particles.position,
        triangles: &triangles,
        constraints: &assembly.constraints,
    };
    bencher.bench_local(|| Tethers::new(&shape, &[0, side - 1]));
}

/// Binds the mesh to the particles.
#[divan::bench(args = SIDES, sample_count = 20)]
fn e_binding(bencher: Bencher, side: u32) {
    let mesh = mesh(side);
    let triangles = triangles(side);
    let topology = topology(&triangles);
    bencher
        .with_inputs(|| mesh.clone())
        .bench_local_values(|mut mesh| MeshBinding::new(&triangles, &topology, &mut mesh));
}

/// Updates an app, without a step, in which the first cloth of a mesh is spawned, or another one.
#[divan::bench(args = SIDES, consts = [0, 1], sample_count = 20, sample_size = 1)]
fn f_update_after_others<const OTHERS: usize>(bencher: Bencher, side: u32) {
    let app = || {
        let mut app = crowd::headless(1);
        app.insert_resource(ClothBuildMode::Immediate);
        app.finish();
        app.cleanup();
        app.world_mut().resource_mut::<Time<Virtual>>().pause();
        let mesh = app
            .world_mut()
            .resource_mut::<Assets<Mesh>>()
            .add(mesh(side));
        let spawn = |app: &mut App| {
            let cloth = (Cloth::default(), Pins::top_corners(), Mesh3d(mesh.clone()));
            app.world_mut().spawn(cloth);
        };
        app.update();
        for _ in 0..OTHERS {
            spawn(&mut app);
            app.update();
        }
        spawn(&mut app);
        app
    };
    bencher.with_inputs(app).bench_local_refs(App::update);
}
