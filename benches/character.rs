//! Cost of cloth on characters besides its steps: proxy meshes, max-distance constraints, inertia.
//!
//! ```sh
//! cargo bench --bench character
//! ```
//!
//! The machine is noisy: compare the medians of one run.

use bevy::{
    math::{Mat3, Quat, Vec3, Vec3A},
    mesh::Mesh,
};
use bevy_drape::{
    mesh::{Assembly, ClothGrid, FineMesh, ProxyBinding, Topology, TriangleMesh, smooth_normals},
    solver::{
        BackstopSpheres, FrameMotion, InertiaScale, IntegrateSettings, MotionConstraints,
        ParticleArrays, Pose, SoaVec3, Workers, integrate,
    },
};
use divan::Bencher;

fn main() {
    divan::main();
}

/// Particles along a side of the cloth, and vertices along a side of the fine mesh, 20 000 in total.
const COARSE: u32 = 24;
const FINE: u32 = 142;

fn triangles(side: u32) -> TriangleMesh {
    let mesh: Mesh = ClothGrid::vertical(1.0, 1.2, side, side).into();
    TriangleMesh::read(&mesh).expect("a grid has triangles")
}

fn particles() -> ParticleArrays {
    let topology = Topology::new(&triangles(COARSE)).expect("a grid has triangles");
    let Assembly { particles, .. } = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
    particles
}

struct Proxy {
    coarse: TriangleMesh,
    fine: TriangleMesh,
}

impl Proxy {
    fn new() -> Self {
        Self {
            coarse: triangles(COARSE),
            fine: triangles(FINE),
        }
    }

    fn bind(&self) -> ProxyBinding {
        let normals = vec![Vec3::Z; self.fine.positions.len()];
        let fine = FineMesh {
            positions: &self.fine.positions,
            normals: &normals,
            tangents: &[],
        };
        ProxyBinding::new(&self.coarse.positions, &self.coarse.triangles, fine)
            .expect("it has triangles")
    }
}

/// Binding, once when both meshes are loaded.
#[divan::bench(sample_count = 20)]
fn proxy_bind(bencher: Bencher) {
    let proxy = Proxy::new();
    bencher.bench_local(|| proxy.bind());
}

/// Mesh write, every frame: normals of the particles, then positions and normals of 20 000 vertices.
#[divan::bench(sample_count = 200)]
fn proxy_write(bencher: Bencher) {
    let proxy = Proxy::new();
    let binding = proxy.bind();
    let bend = |at: &Vec3| Vec3A::new(at.x, at.y, 0.1 * (7.0 * at.x).sin());
    let particle_positions: Vec<Vec3A> = proxy.coarse.positions.iter().map(bend).collect();
    let mut normals = Vec::new();
    let mut positions = vec![[0.0; 3]; proxy.fine.positions.len()];
    let mut shading = positions.clone();
    bencher.bench_local(|| {
        let triangles = proxy.coarse.triangles.iter().copied();
        smooth_normals(&particle_positions, triangles, &mut normals);
        binding.write(
            &particle_positions,
            &normals,
            &mut positions,
            Some(&mut shading),
            None,
        )
    });
}

/// A substep of Verlet integration of the same cloth, for comparison.
#[divan::bench(sample_count = 500, sample_size = 20)]
fn integration(bencher: Bencher) {
    let mut particles = particles();
    let settings = IntegrateSettings {
        gravity: Vec3::ZERO,
        damping: 0.1,
        dt: 1.0 / 480.0,
    };
    bencher.bench_local(|| integrate(&mut Workers::serial(), &mut particles, &settings));
}

/// Max-distance constraints, every substep, without and with a backstop.
#[divan::bench(args = [false, true], sample_count = 500, sample_size = 20)]
fn max_distance(bencher: Bencher, backstop: bool) {
    let mut particles = particles();
    let count = particles.len();
    let motion_constraints = MotionConstraints {
        start_targets: particles.position.clone(),
        end_targets: particles.position.clone(),
        max_distances: vec![0.1; count],
        backstop: backstop.then(|| BackstopSpheres {
            normal: (0..count).map(|_| Vec3::Z).collect::<SoaVec3>(),
            distance: vec![0.01; count],
            radius: 1.0,
        }),
    };
    bencher
        .bench_local(|| motion_constraints.solve(&mut Workers::serial(), &mut particles, [0, 8]));
}

/// Reduced inertia, once per step.
#[divan::bench(sample_count = 500, sample_size = 20)]
fn inertia(bencher: Bencher) {
    let mut particles = particles();
    let pose = |angle| Pose {
        rotation: Quat::from_rotation_y(angle),
        translation: Vec3::ZERO,
    };
    let half = InertiaScale {
        linear: 0.5,
        angular: 0.5,
        max_speed: f32::INFINITY,
        max_angular_speed: f32::INFINITY,
    };
    bencher.bench_local(|| {
        let frame_motion = FrameMotion::unfelt(&pose(0.0), &pose(0.01), &half, 1.0 / 60.0);
        frame_motion
            .expect("half is not felt")
            .apply(&mut particles);
    });
}
