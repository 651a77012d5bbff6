use super::*;
use crate::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        Air, Body, Collider, Compliance, Friction, PinTarget, Pose, Retardation, Shape, SoaVec3,
        StepSettings, Surface, Tethers, ThreadSolver, crew::threads, simd::levels::same_bits,
        step_shared,
    },
};
use bevy::math::{Quat, Vec3};

const FRICTION: Friction = Friction {
    fixed: 0.3,
    kinetic: 0.2,
};

/// A square sheet of 1 m, and how it collides with itself.
struct Sheet {
    cloth: Assembly,
    rest: Vec<Vec3>,
    distance: f32,
    contacts: SelfContacts,
    pins: Vec<PinTarget>,
    colliders: Vec<Collider>,
    settings: StepSettings,
}

impl Sheet {
    fn new(side: u32) -> Self {
        let mesh = TriangleMesh::read(&ClothGrid::new(1.0, 1.0, side, side).into()).unwrap();
        let topology = Topology::new(&mesh).unwrap();
        let cloth = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
        let rest = topology.positions.clone();
        let spacing = rest_spacing(&rest, &topology.triangles, Mat3::IDENTITY);
        assert!((spacing * (side - 1) as f32 - 1.0).abs() < 1e-4);
        Self {
            cloth,
            rest,
            distance: self_distance(0.01, spacing),
            contacts: SelfContacts::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            settings: StepSettings {
                dt: 1.0 / 60.0,
                substeps: 8,
                iterations: 1,
                strain_limit: f32::INFINITY,
                threads: ThreadSolver::Direct,
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
                retardation: Retardation {
                    bending: 0.03,
                    ..Retardation::default()
                },
            },
        }
    }

    /// Over a floor.
    fn over_floor(side: u32) -> Self {
        let pose = Pose {
            rotation: Quat::IDENTITY,
            translation: Vec3::ZERO,
        };
        let mut sheet = Self::new(side);
        sheet.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, FRICTION)];
        sheet
    }

    /// Puts each particle at a place that follows from its place at rest.
    fn place(mut self, at: impl Fn(Vec3) -> Vec3) -> Self {
        let places: SoaVec3 = self.rest.iter().map(|&rest| at(rest)).collect();
        self.cloth.particles.reset(Vec3::ZERO, &places);
        self
    }

    fn run(&mut self, threads: usize, collides: bool, steps: u32) {
        threads::with(threads, |leader| {
            for _ in 0..steps {
                let by = SelfCollision {
                    distance: self.distance,
                    friction: FRICTION,
                    rest: &self.rest,
                    to_world: Mat3::IDENTITY,
                    triangles: None,
                };
                let body = Body {
                    particles: &mut self.cloth.particles,
                    constraints: &mut self.cloth.constraints,
                    triangles: &self.cloth.triangles,
                    tethers: &Tethers::default(),
                    pins: &self.pins,
                    self_contacts: collides.then_some((&mut self.contacts, by)),
                };
                assert!(step_shared(leader, body, &self.colliders, &self.settings));
            }
        });
    }

    fn at(&self, i: usize) -> Vec3 {
        self.cloth.particles.world_position(i)
    }

    /// The least distance of two particles that are to keep apart.
    fn nearest(&self) -> f32 {
        let apart = NEIGHBOURS * self.distance;
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

    /// How fast the fastest particle is, m/s.
    fn speed(&self) -> f32 {
        let p = &self.cloth.particles;
        let speeds = (0..p.len()).map(|i| p.velocity(i).length());
        speeds.fold(0.0, f32::max)
    }
}

/// The right half of a sheet comes down on the left one, some height above a floor.
fn folded(at: Vec3) -> Vec3 {
    if at.x > 0.0 {
        Vec3::new(0.03 - at.x, 0.25, at.z + 0.013)
    } else {
        Vec3::new(at.x, 0.05, at.z)
    }
}

#[test]
fn a_folded_cloth_comes_to_rest_on_itself() {
    let mut sheet = Sheet::over_floor(24).place(|at| {
        // The fold is a half circle as long as its part of the sheet.
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
    sheet.run(0, true, 540);
    let before = sheet.cloth.particles.position.clone();
    sheet.run(0, true, 60);
    let nearest = sheet.nearest();
    assert!(
        nearest > 0.9 * sheet.distance,
        "{nearest} m apart, should be {} m",
        sheet.distance
    );
    // How far, not `speed`: a particle that a taut thread pulls into another in each substep, and that
    // is pushed out again, has a displacement but goes nowhere.
    let ways = (0..sheet.rest.len()).map(|i| sheet.at(i).distance(before.get(i)));
    let way = ways.fold(0.0, f32::max);
    // The upper half creeps: 3 mm when this was written.
    assert!(way < 5e-3, "moves by {way} m in a second");
    // It has not just slid off: what lies on top is over what lies below.
    let over = |i: usize| {
        (0..sheet.rest.len()).any(|j| {
            let way = sheet.at(i) - sheet.at(j);
            way.y > 0.5 * sheet.distance && way.with_y(0.0).length() < sheet.distance
        })
    };
    let layers = (0..sheet.rest.len()).filter(|&i| over(i)).count();
    assert!(layers > 24 * 7, "{layers} particles lie on others");

    // Without it the same cloth falls through itself.
    let mut through = Sheet::over_floor(24).place(folded);
    through.run(0, false, 600);
    assert!(through.nearest() < 0.5 * sheet.distance);
}

#[test]
fn what_does_not_touch_itself_moves_to_the_bit_as_without() {
    for pinned in [false, true] {
        let run = |collides: bool| {
            let mut sheet = Sheet::new(20);
            sheet.settings.air.wind = Vec3::new(0.5, 1.0, 0.3);
            if pinned {
                for particle in 0..20 {
                    sheet.cloth.particles.inverse_mass[particle as usize] = 0.0;
                    let position = sheet.at(particle as usize);
                    sheet.pins.push(PinTarget { particle, position });
                }
            }
            sheet.run(0, collides, 40);
            sheet.cloth.particles.state_hash()
        };
        assert_eq!(run(true), run(false));
    }
    // And at rest nothing moves.
    let mut still = Sheet::new(20);
    still.settings.gravity = Vec3::ZERO;
    let before = still.cloth.particles.position.clone();
    still.run(0, true, 20);
    assert_eq!(still.cloth.particles.position, before);
}

#[test]
fn momentum_is_kept() {
    // Two halves of a sheet in space that fly into each other, one heavier, without air.
    let mut sheet = Sheet::new(12).place(folded);
    sheet.cloth.constraints.retain(|_| false);
    sheet.settings.gravity = Vec3::ZERO;
    sheet.settings.damping = 0.0;
    sheet.settings.air.density = 0.0;
    let p = &mut sheet.cloth.particles;
    for i in 0..p.len() {
        let upper = p.position.y[i] > 0.1;
        if upper {
            p.inverse_mass[i] *= 0.5;
        }
        p.set_velocity(i, Vec3::new(0.1, if upper { -1.5 } else { 0.2 }, 0.0));
    }
    let sums = |p: &ParticleArrays| {
        let (mut momentum, mut energy) = (bevy::math::DVec3::ZERO, 0.0);
        for i in 0..p.len() {
            let (m, v) = (1.0 / p.inverse_mass[i], p.velocity(i).as_dvec3());
            momentum += v * f64::from(m);
            energy += 0.5 * f64::from(m) * v.length_squared();
        }
        (momentum, energy)
    };
    // The displacement that a velocity makes is that of the last substep.
    let before = sums(&sheet.cloth.particles);
    sheet.run(0, true, 30);
    let after = sums(&sheet.cloth.particles);
    let lost = (after.0 - before.0).length();
    assert!(lost < 1e-5 * before.0.length(), "{before:?}, {after:?}");
    assert!(after.1 < 0.8 * before.1, "they met: {before:?}, {after:?}");
}

/// Two particles that are no neighbours, and how they are after one substep of these displacements.
fn meet(places: [Vec3; 2], ways: [Vec3; 2], w: [f32; 2]) -> ParticleArrays {
    let mut p = ParticleArrays::new(Vec3::ZERO, places.into_iter().collect(), w.to_vec());
    for (i, way) in ways.into_iter().enumerate() {
        p.displacement.set(i, way);
        p.position.add(i, way);
    }
    p.predicted.copy_from(&p.position);
    let by = SelfCollision {
        distance: 0.1,
        friction: FRICTION,
        rest: &[Vec3::ZERO, Vec3::X],
        to_world: Mat3::IDENTITY,
        triangles: None,
    };
    SelfContacts::default().collide(&mut p, &by, 0);
    p
}

#[test]
fn particles_do_not_skip_each_other() {
    // Head on, each by a good part of the distance that they keep.
    let places = [Vec3::ZERO, Vec3::new(0.12, 0.0, 0.0)];
    let p = meet(places, [Vec3::X * 0.07, Vec3::X * -0.07], [1.0, 1.0]);
    let apart = p.position.get(1) - p.position.get(0);
    assert!((apart - Vec3::X * 0.1).length() < 1e-6, "{apart}");
    assert!(
        p.displacement.get(0).length() < 1e-7,
        "all of it was approach"
    );
    // A pinned one stays, the other goes all the way.
    let p = meet(places, [Vec3::ZERO, Vec3::X * -0.07], [0.0, 1.0]);
    assert_eq!(p.position.get(0), Vec3::ZERO);
    assert!((p.position.get(1) - Vec3::X * 0.1).length() < 1e-6);
    // Two pinned ones are left alone.
    let p = meet(places, [Vec3::ZERO, Vec3::X * -0.07], [0.0, 0.0]);
    assert_eq!(p.position.get(1), Vec3::X * (0.12 - 0.07));
    // What goes apart goes on.
    let p = meet(
        [Vec3::ZERO, Vec3::X * 0.11],
        [Vec3::X * -0.01, Vec3::X * 0.01],
        [1.0, 1.0],
    );
    assert_eq!(p.displacement.get(1), Vec3::X * 0.01);
}

#[test]
fn friction_holds_inside_its_cone_and_slows_outside() {
    // One is pressed 4 mm deep into a pinned one while it slides along it.
    let slide = |by: f32| {
        let from = Vec3::new(0.0, 0.1, 0.0);
        let p = meet(
            [Vec3::ZERO, from],
            [Vec3::ZERO, Vec3::new(by, -0.004, 0.0)],
            [0.0, 1.0],
        );
        p.displacement.get(1).x
    };
    // μ_s·d = 1.2 mm, μ_k·d = 0.8 mm; the normal turns a little with the slide.
    assert!(slide(0.001).abs() < 1e-4, "{}", slide(0.001));
    let left = slide(0.004);
    assert!((left - 0.0032).abs() < 2e-4, "{left}");
}

#[test]
fn threads_and_simd_levels_give_the_same_bits() {
    let run = |threads: usize| {
        let mut sheet = Sheet::over_floor(100).place(folded);
        sheet.run(threads, true, 12);
        assert!(!sheet.contacts.is_empty());
        sheet.cloth.particles.state_hash()
    };
    let expected = run(0);
    for threads in threads::COUNTS {
        assert_eq!(run(threads), expected, "{threads} threads");
    }
    same_bits(|| {
        let mut sheet = Sheet::over_floor(25).place(folded);
        sheet.run(0, true, 40);
        sheet.cloth.particles.position.bits().collect()
    });
}

/// Pairs are kept only while nothing can have come near that is not among them.
#[test]
fn nothing_is_missed_in_a_long_step() {
    for speed in [0.5, 3.0, 20.0, 200.0] {
        let mut sheet = Sheet::new(16).place(|at| {
            if at.x > 0.0 {
                Vec3::new(-at.x - 0.013, 0.4, at.z + 0.01)
            } else {
                at
            }
        });
        let rest = sheet.rest.clone();
        let is_right = |particle: u32| rest[particle as usize].x > 0.0;
        let constraints = &mut sheet.cloth.constraints;
        constraints.retain(|c| is_right(c.particles[0]) == is_right(c.particles[1]));
        sheet.settings.gravity = Vec3::ZERO;
        sheet.settings.air.density = 0.0;
        let p = &mut sheet.cloth.particles;
        let upper: Vec<bool> = p.position.y.iter().map(|&y| y > 0.2).collect();
        for (i, &upper) in upper.iter().enumerate() {
            p.set_velocity(i, Vec3::Y * if upper { -speed } else { 0.0 });
        }
        sheet.run(0, true, (0.6 / speed.min(3.0) * 60.0) as u32 + 5);
        let p = &sheet.cloth.particles;
        let middle = |wanted: bool| {
            let of = (0..p.len()).filter(|&i| upper[i] == wanted);
            let heights: Vec<f32> = of.map(|i| sheet.at(i).y).collect();
            heights.iter().sum::<f32>() / heights.len() as f32
        };
        let gap = middle(true) - middle(false);
        assert!(gap > 0.3 * sheet.distance, "{speed} m/s: {gap} m");
        assert!(middle(false) < -0.01, "{speed} m/s: they did not meet");
    }
}

#[test]
fn bad_numbers_do_no_harm() {
    for distance in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e-30, 5.0, 1e30] {
        // All in one place, and a sheet whose edges are shorter than that.
        for crumpled in [false, true] {
            let mut sheet = Sheet::new(20);
            if crumpled {
                sheet = sheet.place(|_| Vec3::ONE);
            }
            sheet.distance = distance;
            sheet.run(0, true, 30);
            assert!(sheet.cloth.particles.is_finite());
            assert!(sheet.speed() < 50.0, "{distance}: {} m/s", sheet.speed());
        }
    }
    assert_eq!(self_distance(0.01, 1.0), 1.0);
    assert_eq!(self_distance(10.0, 1.0), 3.0);
    assert_eq!(self_distance(1.9, 1.0), 1.9);
    // Another number of particles than there are places at rest, and none at all.
    let mut contacts = SelfContacts::default();
    for count in [0, 1, 5] {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(count), vec![1.0; count]);
        let by = SelfCollision {
            distance: 1.0,
            friction: FRICTION,
            rest: &[Vec3::ZERO; 3],
            to_world: Mat3::IDENTITY,
            triangles: None,
        };
        contacts.collide(&mut p, &by, 0);
        assert_eq!(p.position, SoaVec3::zeros(count));
    }
}
