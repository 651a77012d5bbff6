//! Cost of each phase of a step except relaxation, and of mesh writes, at each SIMD level; whole steps with and
//! without air and colliders.
//!
//! ```sh
//! cargo bench --bench phases
//! ```
//!
//! The machine is noisy: compare the medians of one run. Divan shows particles per second; 1 Gitem/s is 1 ns per
//! particle.

use bevy::{
    math::{Mat3, Quat, Vec3, Vec3A},
    mesh::Mesh,
};
use bevy_drape::{
    cloth::{Cloth, Fabric},
    mesh::{Assembly, ClothGrid, MeshBinding, RenderFrame, Topology, TriangleMesh},
    solver::{
        self, Air, Bodies, ClothState, Collider, Contacts, Friction, IntegrateSettings,
        MotionConstraints, Pose, Shape, SimdLevel, StepAir, StepInput, StepSettings, Surface,
        Tethers, WindField, Workers,
    },
};
use divan::{Bencher, counter::ItemsCount};
use std::fmt;

fn main() {
    divan::main();
}

/// Size of a square sheet, and SIMD level.
#[derive(Clone, Copy)]
struct Case {
    side: u32,
    level: SimdLevel,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{:3}² {:?}", self.side, self.level)
    }
}

fn cases() -> Vec<Case> {
    let levels = SimdLevel::ALL.into_iter().filter(|l| l.is_available());
    let levels: Vec<_> = levels.collect();
    [64, 256]
        .into_iter()
        .flat_map(|side| levels.iter().map(move |&level| Case { side, level }))
        .collect()
}

/// Returns a bent, moving sheet with a pin.
fn sheet(case: Case) -> Assembly {
    case.level.force();
    let grid = ClothGrid::new(2.0, 2.0, case.side, case.side);
    let mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
    let topology = Topology::new(&mesh).expect("a grid has triangles");
    let mut sheet = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
    let particles = &mut sheet.particles;
    particles.inverse_mass[0] = 0.0;
    for i in 0..particles.len() {
        let offset = |k: usize| (i * k % 101) as f32 * 1e-4 - 5e-3;
        let offset = Vec3::new(offset(17), offset(29), offset(43));
        particles.position.add(i, offset);
        particles.set_velocity(i, offset * 300.0);
    }
    sheet
}

/// Times `work` on a sheet.
fn bench(bencher: Bencher, case: Case, mut work: impl FnMut(&mut Assembly)) {
    let mut sheet = sheet(case);
    bencher
        .counter(ItemsCount::new(sheet.particles.len()))
        .bench_local(|| {
            work(&mut sheet);
            divan::black_box(&mut sheet);
        });
}

#[divan::bench(args = cases())]
fn begin_step(bencher: Bencher, case: Case) {
    bench(bencher, case, |sheet| {
        (sheet.particles).begin_step(&mut Workers::serial(), None, &[], 8);
    });
}

#[divan::bench(args = cases())]
fn integrate(bencher: Bencher, case: Case) {
    let settings = IntegrateSettings {
        gravity: Vec3::ZERO,
        damping: 0.2,
        dt: 1.0 / 480.0,
    };
    bench(bencher, case, |sheet| {
        solver::integrate(&mut Workers::serial(), &mut sheet.particles, &settings);
    });
}

#[divan::bench(args = cases())]
fn update_displacements(bencher: Bencher, case: Case) {
    bench(bencher, case, |sheet| {
        solver::update_displacements(&mut sheet.particles);
    });
}

#[divan::bench(args = cases())]
fn is_finite(bencher: Bencher, case: Case) {
    bench(bencher, case, |sheet| {
        assert!(sheet.particles.is_finite());
    });
}

#[divan::bench(args = cases())]
fn bounds(bencher: Bencher, case: Case) {
    bench(bencher, case, |sheet| {
        divan::black_box(sheet.particles.position.bounds());
    });
}

/// With wind that meets triangles from both sides.
#[divan::bench(args = cases())]
fn air(bencher: Bencher, case: Case) {
    let air = Fabric::default().air(Vec3::new(3.0, 1.0, 2.0), 1.2);
    bench(bencher, case, |sheet| {
        let Assembly {
            particles,
            triangles,
            ..
        } = sheet;
        let surface = (&*triangles).into();
        let (workers, field) = (&mut Workers::serial(), WindField::default());
        StepAir::default().begin_step(workers, &field, particles, surface, &air, 1.0 / 60.0);
    });
}

/// Returns a rotated collider at `height`.
fn collider(shape: Shape, height: f32) -> Collider {
    let pose = Pose {
        rotation: Quat::from_rotation_y(0.3),
        translation: Vec3::Y * height,
    };
    let friction = Friction {
        static_coefficient: 0.3,
        kinetic_coefficient: 0.2,
    };
    Collider::fixed(shape, pose, friction)
}

const BALL: Shape = Shape::Sphere { radius: 0.5 };
const ROD: Shape = Shape::Capsule {
    radius: 0.3,
    half_length: 0.4,
};
const BLOCK: Shape = Shape::Cuboid {
    half_size: Vec3::new(0.5, 0.5, 0.5),
};

/// Times contacts with one collider. Includes the time to restore the cloth each time, which `collide_nothing`
/// measures.
fn contacts(bencher: Bencher, case: Case, colliders: &[Collider]) {
    let surface = Surface {
        thickness: 0.01,
        ..Fabric::default().surface()
    };
    let before = sheet(case).particles;
    bench(bencher, case, |sheet| {
        sheet.particles.position.copy_from(&before.position);
        sheet.particles.displacement.copy_from(&before.displacement);
        solver::collide(&mut sheet.particles, colliders, &surface, 0, 8);
    });
}

#[divan::bench(args = cases())]
fn collide_nothing(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[]);
}

#[divan::bench(args = cases())]
fn collide_far_ball(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[collider(BALL, -3.0)]);
}

/// Times a collider near the cloth: all distances must be computed, but nothing touches.
fn near(bencher: Bencher, case: Case, shape: Shape, height: f32) {
    let surface = Fabric::default().surface();
    let mut before = sheet(case).particles;
    // Pinned particles inside the collider make all bounding boxes overlap it.
    for i in (0..before.len()).step_by(16) {
        before.inverse_mass[i] = 0.0;
        before.position.set(i, Vec3::new(0.01, height, 0.01));
    }
    let colliders = [collider(shape, height)];
    bench(bencher, case, |sheet| {
        sheet.particles.position.copy_from(&before.position);
        sheet.particles.displacement.copy_from(&before.displacement);
        sheet
            .particles
            .inverse_mass
            .copy_from_slice(&before.inverse_mass);
        solver::collide(&mut sheet.particles, &colliders, &surface, 0, 8);
    });
}

#[divan::bench(args = cases())]
fn collide_near_ball(bencher: Bencher, case: Case) {
    near(bencher, case, BALL, -0.6);
}

#[divan::bench(args = cases())]
fn collide_near_floor(bencher: Bencher, case: Case) {
    near(bencher, case, Shape::HalfSpace, -0.1);
}

#[divan::bench(args = cases())]
fn collide_on_floor(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[collider(Shape::HalfSpace, 0.001)]);
}

#[divan::bench(args = cases())]
fn collide_on_ball(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[collider(BALL, -0.4)]);
}

#[divan::bench(args = cases())]
fn collide_on_rod(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[collider(ROD, -0.5)]);
}

#[divan::bench(args = cases())]
fn collide_on_block(bencher: Bencher, case: Case) {
    contacts(bencher, case, &[collider(BLOCK, -0.5)]);
}

/// Whole steps of a sheet of 64² without colliders, and lying on a hundred capsules.
#[divan::bench(args = [0, 100])]
fn step_on_capsules(bencher: Bencher, count: u32) {
    step_over_capsules(bencher, count, 0.2);
}

/// The same where the capsules are farther apart: nine of the hundred are under the sheet.
#[divan::bench(args = [0, 100])]
fn step_among_capsules(bencher: Bencher, count: u32) {
    step_over_capsules(bencher, count, 0.75);
}

/// Steps over `count` capsules in a square, this far apart, m.
fn step_over_capsules(bencher: Bencher, count: u32, apart: f32) {
    let shape = Shape::Capsule {
        radius: 0.05,
        half_length: 0.05,
    };
    let colliders: Vec<_> = (0..count)
        .map(|k| {
            let position = Vec3::new(
                ((k % 10) as f32 - 4.5) * apart,
                0.0,
                ((k / 10) as f32 - 4.5) * apart,
            );
            let lying = collider(shape, -0.07);
            let pose = Pose {
                rotation: Quat::from_rotation_z(1.2) * lying.end.rotation,
                translation: lying.end.translation + position,
            };
            Collider::fixed(shape, pose, lying.friction)
        })
        .collect();
    steps(bencher, &colliders, Fabric::default().air(Vec3::ZERO, 1.2));
}

/// Whole steps of a sheet of 64² in a vacuum and in air of this density, kg/m³.
#[divan::bench(args = [0.0, 1.2])]
fn step_in_air(bencher: Bencher, density: f32) {
    let wind = Vec3::new(3.0, 1.0, 2.0);
    steps(bencher, &[], Fabric::default().air(wind, density));
}

/// Whole steps of a sheet of 64².
fn steps(bencher: Bencher, colliders: &[Collider], air: Air) {
    let case = Case {
        side: 64,
        level: SimdLevel::best(),
    };
    let settings = StepSettings {
        tether_scale: f32::INFINITY,
        air,
        ..Cloth::default().step_settings(1.0 / 60.0, 8, Vec3::NEG_Y * 9.81, Vec3::ZERO, 0.0)
    };
    let input = StepInput {
        colliders,
        ..StepInput::default()
    };
    let mut contacts = Contacts::default();
    let start = sheet(case);
    bench(bencher, case, |sheet| {
        // Each step starts from the same state, so that cases differ only in their settings.
        sheet.particles.clone_from(&start.particles);
        let mut state = ClothState {
            particles: &mut sheet.particles,
            constraints: &mut sheet.constraints,
            triangles: &sheet.triangles,
            segments: None,
            tethers: &Tethers::default(),
            motion_constraints: &MotionConstraints::default(),
            bodies: &mut Bodies::default(),
            contacts: &mut contacts,
        };
        assert!(state.step(&mut Workers::serial(), &settings, &input));
    });
}

const FRAME: RenderFrame = RenderFrame {
    alpha: 0.4,
    offset: Vec3::X,
    to_frame: Mat3::IDENTITY,
    shifts: &[],
};

/// Particle positions in mesh space, and the bounding box.
#[divan::bench(args = cases())]
fn write_positions(bencher: Bencher, case: Case) {
    let mut positions = Vec::new();
    bench(bencher, case, |sheet| {
        divan::black_box(FRAME.transform(&sheet.particles, &mut positions));
    });
}

/// Times positions and normals in the mesh, and tangents if it has them.
fn write_mesh(bencher: Bencher, case: Case, tangents: bool) {
    let sheet = sheet(case);
    let mut mesh = Mesh::from(ClothGrid::new(2.0, 2.0, case.side, case.side));
    if !tangents {
        mesh.remove_attribute(Mesh::ATTRIBUTE_TANGENT);
    }
    let source = TriangleMesh::read(&mesh).expect("a grid has triangles");
    let topology = Topology::new(&source).expect("a grid has triangles");
    let mut binding = MeshBinding::new(&source, &topology, &mut mesh);
    let positions: Vec<Vec3A> = sheet.particles.position.iter().map(Vec3A::from).collect();
    bencher
        .counter(ItemsCount::new(positions.len()))
        .bench_local(|| binding.write(&positions, &mut mesh));
}

#[divan::bench(args = cases())]
fn write_normals(bencher: Bencher, case: Case) {
    write_mesh(bencher, case, false);
}

#[divan::bench(args = cases())]
fn write_tangents(bencher: Bencher, case: Case) {
    write_mesh(bencher, case, true);
}
