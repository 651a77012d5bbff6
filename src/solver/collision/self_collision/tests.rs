use super::{
    crowd::{MAX_NEAR, NEAR_IN_CRAMMED},
    *,
};
use crate::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        Air, Bodies, ClothState, Collider, Compliance, ConstraintDamping, Contacts, Corners,
        Friction, MotionConstraints, PinTarget, Pose, Shape, SoaVec3, StepInput, StepSettings,
        Surface, Tethers, parallel::workers::threads, particles::rigid_motion::momentum_and_energy,
        simd::levels::same_bits,
    },
};
use bevy::{math::Vec3, mesh::Mesh};

const FRICTION: Friction = Friction {
    static_coefficient: 0.3,
    kinetic_coefficient: 0.2,
};

fn settings<'a>(
    distance: f32,
    rest: &'a [Vec3],
    triangles: &'a Corners,
) -> SelfCollisionSettings<'a> {
    SelfCollisionSettings {
        distance,
        friction: FRICTION,
        rest,
        to_world: Mat3::IDENTITY,
        triangles,
    }
}

/// A square cloth with a side of 1 m, and its self-collision.
struct TestCloth {
    assembly: Assembly,
    rest: Vec<Vec3>,
    distance: f32,
    contacts: Contacts,
    pins: Vec<PinTarget>,
    colliders: Vec<Collider>,
    settings: StepSettings<'static>,
}

impl TestCloth {
    fn new(side: u32) -> Self {
        Self::layers(side, 1)
    }

    /// Creates this number of sheets, one above the other.
    fn layers(side: u32, count: u32) -> Self {
        let sheet = || Mesh::from(ClothGrid::new(1.0, 1.0, side, side));
        let mut mesh = sheet();
        for height in 1..count {
            let above = sheet().translated_by(Vec3::Y * height as f32);
            mesh.merge(&above).unwrap();
        }
        let mesh = TriangleMesh::read(&mesh).unwrap();
        let topology = Topology::new(&mesh).unwrap();
        let assembly = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
        let rest = topology.positions.clone();
        let spacing = rest_spacing(&rest, &topology.triangles, Mat3::IDENTITY);
        assert!((spacing * (side - 1) as f32 - 1.0).abs() < 1e-4);
        Self {
            assembly,
            rest: rest.to_vec(),
            distance: self_distance(0.01, spacing),
            contacts: Contacts::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            settings: StepSettings {
                dt: 1.0 / 60.0,
                substeps: 8,
                gravity: Vec3::NEG_Y * 9.81,
                damping: 0.2,
                compliance: Compliance {
                    shear: 1e-4,
                    bending: 1e-5,
                    ..Compliance::default()
                },
                tether_scale: f32::INFINITY,
                air: Air {
                    wind: Vec3::ZERO,
                    density: 1.2,
                    drag: 0.5,
                    lift: 0.25,
                    areal_density: 0.2,
                },
                surface: Surface {
                    thickness: 0.01,
                    friction: FRICTION,
                },
                internal_friction: 0.08,
                constraint_damping: ConstraintDamping {
                    bending: 0.03,
                    ..ConstraintDamping::default()
                },
                ..StepSettings::default()
            },
        }
    }

    /// Adds a floor at height 0.
    fn over_floor(side: u32) -> Self {
        let mut cloth = Self::new(side);
        cloth.colliders = vec![Collider::fixed(Shape::HalfSpace, Pose::ORIGIN, FRICTION)];
        cloth
    }

    /// Moves each particle to a function of its rest position.
    fn with_positions(mut self, at: impl Fn(Vec3) -> Vec3) -> Self {
        let positions: SoaVec3 = self.rest.iter().map(|&rest| at(rest)).collect();
        self.assembly.particles.reset(Vec3::ZERO, &positions);
        self
    }

    fn run(&mut self, threads: usize, collides: bool, steps: u32) {
        threads::with(threads, |workers| {
            for _ in 0..steps {
                let step_settings = StepSettings {
                    self_collision: collides.then_some(settings(
                        self.distance,
                        &self.rest,
                        &self.assembly.triangles.indices,
                    )),
                    ..self.settings
                };
                let input = StepInput {
                    pins: &self.pins,
                    colliders: &self.colliders,
                    ..StepInput::default()
                };
                let mut cloth = ClothState {
                    particles: &mut self.assembly.particles,
                    constraints: &mut self.assembly.constraints,
                    triangles: &self.assembly.triangles,
                    segments: None,
                    tethers: &Tethers::default(),
                    motion_constraints: &MotionConstraints::default(),
                    bodies: &mut Bodies::default(),
                    contacts: &mut self.contacts,
                };
                assert!(cloth.step(workers, &step_settings, &input));
            }
        });
    }

    fn at(&self, i: usize) -> Vec3 {
        self.assembly.particles.world_position(i)
    }

    /// Returns the smallest distance between two particles that must keep apart.
    fn nearest(&self) -> f32 {
        let apart = SEARCH_REACH * self.distance;
        let mut nearest = f32::INFINITY;
        for i in 0..self.rest.len() {
            for j in 0..i {
                if self.rest[i].distance(self.rest[j]) > apart {
                    nearest = nearest.min(self.at(i).distance(self.at(j)));
                }
            }
        }
        nearest
    }

    /// Returns the speed of the fastest particle, m/s.
    fn speed(&self) -> f32 {
        let p = &self.assembly.particles;
        let speeds = (0..p.len()).map(|i| p.velocity(i).length());
        speeds.fold(0.0, f32::max)
    }
}

/// The right half of a cloth falls onto the left one, at some height above the floor.
fn folded(at: Vec3) -> Vec3 {
    if at.x > 0.0 {
        Vec3::new(0.03 - at.x, 0.25, at.z + 0.013)
    } else {
        Vec3::new(at.x, 0.05, at.z)
    }
}

#[test]
fn a_folded_cloth_comes_to_rest_on_itself() {
    let mut cloth = TestCloth::over_floor(24).with_positions(|at| {
        // The fold is a half circle of the length of its part of the cloth.
        let bend = 0.1 * std::f32::consts::PI;
        let along = at.x + 0.5 * bend;
        if along < 0.0 {
            Vec3::new(along, 0.05, at.z)
        } else if along < bend {
            let angle = along / 0.1;
            Vec3::new(0.1 * angle.sin(), 0.15 - 0.1 * angle.cos(), at.z)
        } else {
            Vec3::new(bend - along, 0.25, at.z)
        }
    });
    cloth.run(0, true, 540);
    let before = cloth.assembly.particles.position.clone();
    cloth.run(0, true, 60);
    let nearest = cloth.nearest();
    assert!(
        nearest > 0.9 * cloth.distance,
        "{nearest} m apart, should be {} m",
        cloth.distance
    );
    // Distances, not `speed`: a particle that a taut constraint pulls into another in each substep, and that is
    // pushed out again, has a displacement but goes nowhere.
    let distances = (0..cloth.rest.len()).map(|i| cloth.at(i).distance(before.get(i)));
    let moved = distances.fold(0.0, f32::max);
    // The upper half creeps: 3 mm when this was written.
    assert!(moved < 5e-3, "moves by {moved} m in a second");
    // It has not just slid off: the upper layer is still above the lower one.
    let lies_on_top = |i: usize| {
        (0..cloth.rest.len()).any(|j| {
            let offset = cloth.at(i) - cloth.at(j);
            offset.y > 0.5 * cloth.distance && offset.with_y(0.0).length() < cloth.distance
        })
    };
    let layers = (0..cloth.rest.len()).filter(|&i| lies_on_top(i)).count();
    assert!(layers > 24 * 7, "{layers} particles lie on others");

    // Without self-collision the same cloth falls through itself.
    let mut through = TestCloth::over_floor(24).with_positions(folded);
    through.run(0, false, 600);
    assert!(through.nearest() < 0.5 * cloth.distance);
}

#[test]
fn without_contact_the_bits_are_those_without_self_collision() {
    for pinned in [false, true] {
        let run = |collides: bool| {
            let mut cloth = TestCloth::new(20);
            cloth.settings.air.wind = Vec3::new(0.5, 1.0, 0.3);
            if pinned {
                for particle in 0..20 {
                    cloth.assembly.particles.inverse_mass[particle as usize] = 0.0;
                    let position = cloth.at(particle as usize);
                    cloth.pins.push(PinTarget { particle, position });
                }
            }
            cloth.run(0, collides, 40);
            cloth.assembly.particles.state_hash()
        };
        assert_eq!(run(true), run(false));
    }
    // In the rest shape nothing moves.
    let mut still = TestCloth::new(20);
    still.settings.gravity = Vec3::ZERO;
    let before = still.assembly.particles.position.clone();
    still.run(0, true, 20);
    assert_eq!(still.assembly.particles.position, before);
}

#[test]
fn momentum_is_conserved() {
    // Two halves of a cloth that fly into each other, one heavier, without gravity and air.
    let mut cloth = TestCloth::new(12).with_positions(folded);
    cloth.assembly.constraints.retain(|_| false);
    cloth.settings.gravity = Vec3::ZERO;
    cloth.settings.damping = 0.0;
    cloth.settings.air.density = 0.0;
    let p = &mut cloth.assembly.particles;
    for i in 0..p.len() {
        let upper = p.position.y[i] > 0.1;
        if upper {
            p.inverse_mass[i] *= 0.5;
        }
        p.set_velocity(i, Vec3::new(0.1, if upper { -1.5 } else { 0.2 }, 0.0));
    }
    // All substeps have the same length, so displacements stand for velocities.
    let before = momentum_and_energy(&cloth.assembly.particles);
    cloth.run(0, true, 30);
    let after = momentum_and_energy(&cloth.assembly.particles);
    let lost = (after.0 - before.0).length();
    // Rounding, in some thousand contacts.
    assert!(lost < 3e-5 * before.0.length(), "{before:?}, {after:?}");
    assert!(
        after.2 < 0.8 * before.2,
        "they collided: {before:?}, {after:?}"
    );
}

/// Returns two particles that are not neighbours, after one substep with these displacements.
fn collide_two(positions: [Vec3; 2], displacements: [Vec3; 2], w: [f32; 2]) -> ParticleArrays {
    let mut p = ParticleArrays::new(Vec3::ZERO, positions.into_iter().collect(), w.to_vec());
    for (i, displacement) in displacements.into_iter().enumerate() {
        p.displacement.set(i, displacement);
        p.position.add(i, displacement);
    }
    p.predicted.copy_from(&p.position);
    let none = Corners::default();
    let settings = settings(0.1, &[Vec3::ZERO, Vec3::X], &none);
    SelfContactPairs::default().collide(
        &mut p,
        &settings,
        &mut WarmStart::default(),
        &SubstepTime::new(0.01, 1),
    );
    p
}

#[test]
fn particles_do_not_tunnel_through_each_other() {
    // Head on, each by a large fraction of the contact distance.
    let positions = [Vec3::ZERO, Vec3::new(0.12, 0.0, 0.0)];
    let p = collide_two(positions, [Vec3::X * 0.07, Vec3::X * -0.07], [1.0, 1.0]);
    // They stop a little nearer than they keep.
    let apart = p.position.get(1) - p.position.get(0);
    assert!((apart - Vec3::X * 0.09).length() < 1e-6, "{apart}");
    assert!(
        p.displacement.get(0).length() < 1e-7,
        "all of it was approach"
    );
    // A pinned particle stays, the other takes the whole push-out.
    let p = collide_two(positions, [Vec3::ZERO, Vec3::X * -0.07], [0.0, 1.0]);
    assert_eq!(p.position.get(0), Vec3::ZERO);
    assert!((p.position.get(1) - Vec3::X * 0.09).length() < 1e-6);
    // Two pinned particles are left alone.
    let p = collide_two(positions, [Vec3::ZERO, Vec3::X * -0.07], [0.0, 0.0]);
    assert_eq!(p.position.get(1), Vec3::X * (0.12 - 0.07));
    // Separating particles keep their motion.
    let p = collide_two(
        [Vec3::ZERO, Vec3::X * 0.11],
        [Vec3::X * -0.01, Vec3::X * 0.01],
        [1.0, 1.0],
    );
    assert_eq!(p.displacement.get(1), Vec3::X * 0.01);
}

#[test]
fn friction_holds_inside_its_cone_and_slows_outside() {
    // A particle is pressed 4 mm into a pinned one while it slides along it.
    let slide = |distance: f32| {
        let from = Vec3::new(0.0, 0.1, 0.0);
        let p = collide_two(
            [Vec3::ZERO, from],
            [Vec3::ZERO, Vec3::new(distance, -0.004, 0.0)],
            [0.0, 1.0],
        );
        p.displacement.get(1).x
    };
    // μ_s·d = 1.2 mm, μ_k·d = 0.8 mm; the normal rotates slightly with the slide.
    assert!(slide(0.001).abs() < 1e-4, "{}", slide(0.001));
    let left = slide(0.004);
    assert!((left - 0.0032).abs() < 2e-4, "{left}");
}

#[test]
fn threads_and_simd_levels_give_the_same_bits() {
    let run = |threads: usize| {
        let mut cloth = TestCloth::over_floor(100).with_positions(folded);
        cloth.run(threads, true, 12);
        assert!(cloth.assembly.particles.contacts > 0.0);
        cloth.assembly.particles.state_hash()
    };
    let expected = run(0);
    for threads in threads::COUNTS {
        assert_eq!(run(threads), expected, "{threads} threads");
    }
    same_bits(|| {
        let mut cloth = TestCloth::over_floor(25).with_positions(folded);
        cloth.run(0, true, 40);
        cloth.assembly.particles.position.bits().collect()
    });
}

/// Candidate pairs are reused only while no other pair can have come near.
#[test]
fn no_contact_is_missed_in_a_long_step() {
    for speed in [0.5, 3.0, 20.0, 200.0] {
        let mut cloth = TestCloth::new(16).with_positions(|at| {
            if at.x > 0.0 {
                Vec3::new(-at.x - 0.013, 0.4, at.z + 0.01)
            } else {
                at
            }
        });
        let rest = cloth.rest.clone();
        let is_right = |particle: u32| rest[particle as usize].x > 0.0;
        let constraints = &mut cloth.assembly.constraints;
        constraints.retain(|c| is_right(c.ends()[0]) == is_right(c.ends()[1]));
        cloth.settings.gravity = Vec3::ZERO;
        cloth.settings.air.density = 0.0;
        let p = &mut cloth.assembly.particles;
        let upper: Vec<bool> = p.position.y.iter().map(|&y| y > 0.2).collect();
        for (i, &upper) in upper.iter().enumerate() {
            p.set_velocity(i, Vec3::Y * if upper { -speed } else { 0.0 });
        }
        cloth.run(0, true, (0.6 / speed.min(3.0) * 60.0) as u32 + 5);
        let p = &cloth.assembly.particles;
        let middle = |wanted: bool| {
            let half = (0..p.len()).filter(|&i| upper[i] == wanted);
            let heights: Vec<f32> = half.map(|i| cloth.at(i).y).collect();
            heights.iter().sum::<f32>() / heights.len() as f32
        };
        let gap = middle(true) - middle(false);
        assert!(gap > 0.3 * cloth.distance, "{speed} m/s: {gap} m");
        assert!(middle(false) < -0.01, "{speed} m/s: they did not meet");
    }
}

#[test]
fn cloth_in_one_point_comes_apart_in_all_directions() {
    for side in [8, 20, 33] {
        let mut cloth = TestCloth::new(side).with_positions(|_| Vec3::ONE);
        cloth.run(0, true, 180);
        let (low, high) = cloth.assembly.particles.position.bounds().unwrap();
        assert!((high - low).min_element() > 0.15, "{side}: {}", high - low);
        assert!(cloth.speed() < 30.0, "{side}: {} m/s", cloth.speed());
    }
}

#[test]
fn sheets_in_one_place_come_apart_and_untangle() {
    let count = 40;
    let mut cloth = TestCloth::layers(8, count).with_positions(|at| at.with_y(0.0));
    cloth.settings.gravity = Vec3::ZERO;
    // Until they have come apart, the work of a step is bounded.
    let mut were_tangled = 0;
    for step in 0..240 {
        cloth.run(0, true, 1);
        let p = &cloth.assembly.particles;
        were_tangled += u32::from(p.is_tangled_everywhere);
        let forces = cloth.contacts.warm_start.own.len();
        let most = if p.is_tangled_everywhere {
            NEAR_IN_CRAMMED
        } else {
            MAX_NEAR
        } * p.len() as f32;
        assert!(forces as f32 <= most, "step {step}: {forces} forces");
    }
    assert!(were_tangled > 10, "{were_tangled} steps");
    let p = &cloth.assembly.particles;
    assert!(!p.is_tangled_everywhere && !p.is_tangled);
    let (low, high) = p.position.bounds().unwrap();
    let height = (high - low).y / (cloth.distance * count as f32);
    assert!(height > 0.5, "{height}");
    assert!(cloth.speed() < 10.0, "{} m/s", cloth.speed());
}

#[test]
fn invalid_distances_do_no_harm() {
    for distance in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 5.0, 1e30] {
        // All particles in one point, and a cloth with edges shorter than the distance.
        for crumpled in [false, true] {
            let mut cloth = TestCloth::new(20);
            if crumpled {
                cloth = cloth.with_positions(|_| Vec3::ONE);
            }
            cloth.distance = distance;
            cloth.run(0, true, 30);
            assert!(cloth.assembly.particles.is_finite());
            assert!(cloth.speed() < 50.0, "{distance}: {} m/s", cloth.speed());
        }
    }
    assert_eq!(self_distance(0.01, 1.0), 1.0);
    assert_eq!(self_distance(10.0, 1.0), 3.0);
    assert_eq!(self_distance(1.9, 1.0), 1.9);
    // A particle count different from that of the rest positions, and no particles.
    let mut contacts = SelfContactPairs::default();
    for count in [0, 1, 5] {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(count), vec![1.0; count]);
        contacts.collide(
            &mut p,
            &settings(1.0, &[Vec3::ZERO; 3], &Corners::default()),
            &mut WarmStart::default(),
            &SubstepTime::new(0.01, 1),
        );
        assert_eq!(p.position, SoaVec3::zeros(count));
    }
}
