use super::*;
use crate::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        Compliance, ConstraintGraph, Facets, Integration, Leader, ParticleArrays, Relaxation, Skin,
        Strength, Surface, ThreadSolver, Triangles, collide::collide_shared, integrate, relax,
    },
};
use bevy::math::{DVec3, Mat3, Quat};

const DT: f32 = 1.0 / 60.0;
const SUBSTEPS: u32 = 8;

fn at(translation: Vec3) -> Pose {
    Pose {
        rotation: Quat::IDENTITY,
        translation,
    }
}

/// A ball of this mass and radius.
fn ball(mass: f32, radius: f32, place: Vec3, velocity: Vec3) -> RigidBody {
    let inertia = 0.4 * mass * radius * radius;
    RigidBody {
        id: 1,
        motion: Motion {
            velocity,
            inverse_mass: Vec3::splat(1.0 / mass),
            inverse_inertia: Mat3::from_diagonal(Vec3::splat(1.0 / inertia)),
            ..Motion::still(at(place))
        },
        parts: vec![BodyPart {
            solid: Solid::Shape(Shape::Sphere { radius }),
            place: at(Vec3::ZERO),
            friction: Friction {
                fixed: 0.6,
                kinetic: 0.5,
            },
        }],
    }
}

/// A sheet in the xz plane, 1 m × 1 m.
struct Sheet {
    particles: ParticleArrays,
    constraints: ConstraintGraph,
    triangles: Triangles,
    facets: Facets,
    bodies: Bodies,
    gravity: Vec3,
}

impl Sheet {
    fn new(density: f32, bodies: impl IntoIterator<Item = RigidBody>) -> Self {
        let mesh = TriangleMesh::read(&ClothGrid::new(1.0, 1.0, 21, 21).into()).unwrap();
        let Assembly {
            particles,
            constraints,
            triangles,
            ..
        } = Topology::new(&mesh)
            .unwrap()
            .assemble(Vec3::ZERO, Mat3::IDENTITY, density);
        Self {
            particles,
            constraints,
            triangles,
            facets: Facets::default(),
            bodies: Bodies {
                list: bodies.into_iter().collect(),
                ..Bodies::default()
            },
            gravity: Vec3::ZERO,
        }
    }

    fn pin(&mut self, holds: impl Fn(Vec3) -> bool) {
        for i in 0..self.particles.len() {
            if holds(self.particles.position.get(i)) {
                self.particles.inverse_mass[i] = 0.0;
            }
        }
    }

    /// A step, after which each body goes on as an engine would move it.
    fn step(&mut self) {
        let Self {
            particles: p,
            constraints,
            triangles,
            facets,
            bodies,
            gravity,
        } = self;
        let leader = &mut Leader::alone();
        let surface = Surface {
            thickness: 0.01,
            friction: Friction {
                fixed: 0.5,
                kinetic: 0.4,
            },
        };
        let count = SUBSTEPS * bodies.plan(p, DT / SUBSTEPS as f32);
        p.begin_step(&[], count);
        bodies.begin_step(DT);
        bodies.share_masses(p);
        let dt = DT / count as f32;
        for substep in 0..count {
            let during = [substep, count];
            let by = Integration {
                gravity: *gravity,
                damping: 0.0,
                dt,
            };
            integrate(p, &by);
            bodies.lead(p, during, dt);
            if substep == 0 {
                constraints.prepare(p);
            }
            let by = Relaxation {
                compliance: Compliance::default(),
                threads: ThreadSolver::Direct,
                strain_limit: f32::INFINITY,
                iterations: 1,
                dt,
                strength: Strength::default(),
                to_come: count - 1 - substep,
                loads: false,
            };
            relax(p, constraints, &by);
            bodies.follow(p, during, dt);
            let mut skin = Skin {
                triangles,
                facets,
                surface,
            };
            if substep == 0 {
                (skin.facets).prepare(triangles, bodies.moving(), surface.thickness);
            }
            collide_shared(leader, p, skin.reborrow(), [], during);
            let touching = Touching {
                skin,
                #[cfg(feature = "parry")]
                meshes: &mut Default::default(),
                during,
                dt,
            };
            bodies.touch(leader, p, touching);
            bodies.release(p);
        }
        for body in &mut bodies.list {
            body.motion.seen = body.motion.pose;
        }
    }

    /// Momentum and angular momentum of all there is.
    fn momenta(&self) -> [DVec3; 2] {
        let p = &self.particles;
        let is_piece = |i: usize| self.bodies.held.iter().any(|h| h.particle == i as u32);
        let mut sum = [DVec3::ZERO; 2];
        for i in (0..p.len()).filter(|&i| !is_piece(i)) {
            let momentum = p.velocity(i).as_dvec3() / f64::from(p.inverse_mass[i]);
            // Verlet's velocity is that of the middle of the last substep.
            let place = (p.world_position(i) - p.displacement.get(i) * 0.5).as_dvec3();
            sum[0] += momentum;
            sum[1] += place.cross(momentum);
        }
        for body in &self.bodies.list {
            let motion = &body.motion;
            let momentum = (motion.velocity / motion.inverse_mass).as_dvec3();
            sum[0] += momentum;
            sum[1] += motion.pose.translation.as_dvec3().cross(momentum);
            sum[1] += (motion.inverse_inertia.inverse() * motion.spin).as_dvec3();
        }
        sum
    }
}

/// A sheet that is held along its edges, with something above it, and gravity.
fn net(density: f32, mut body: RigidBody) -> Sheet {
    let gravity = Vec3::NEG_Y * 9.81;
    body.motion.acceleration = gravity;
    let mut sheet = Sheet::new(density, [body]);
    sheet.gravity = gravity;
    sheet.pin(|at| at.x.abs().max(at.z.abs()) > 0.49);
    sheet
}

/// How far momenta are from what they were, as a share of this momentum.
fn drift(now: [DVec3; 2], before: [DVec3; 2], of: f64) -> [f64; 2] {
    [0, 1].map(|k| (now[k] - before[k]).length() / of)
}

#[test]
fn what_a_ball_loses_the_cloth_gets() {
    // From much heavier than the cloth, which weighs 0.2 kg, to much lighter, off its middle.
    for mass in [2.0, 0.2, 0.005] {
        let ball = ball(
            mass,
            0.1,
            Vec3::new(0.2, 0.3, 0.1),
            Vec3::new(1.0, -4.0, 0.0),
        );
        let mut sheet = Sheet::new(0.2, [ball]);
        let before = sheet.momenta();
        for _ in 0..30 {
            sheet.step();
        }
        let [momentum, angular] = drift(sheet.momenta(), before, f64::from(mass + 0.2) * 4.0);
        assert!(momentum < 1e-4, "{mass} kg: {momentum}");
        // Relaxation of cloth that nothing holds takes some of the angular momentum besides.
        assert!(angular < 0.05, "{mass} kg: {angular}");
        let velocity = sheet.bodies.list[0].motion.velocity;
        assert!(velocity.y > -3.9, "{mass} kg: {velocity}");
    }
}

#[test]
fn a_light_ball_does_not_bounce_off_heavy_cloth() {
    let ball = ball(0.01, 0.1, Vec3::Y * 0.15, Vec3::NEG_Y * 3.0);
    let mut sheet = Sheet::new(2.0, [ball]);
    let mut fastest = 0.0_f32;
    for _ in 0..60 {
        sheet.step();
        fastest = fastest.max(sheet.bodies.list[0].motion.velocity.y);
    }
    assert!(fastest < 0.3, "{fastest}");
}

#[test]
fn a_net_carries_a_ball_that_is_heavier_than_it() {
    // 1 kg in a net of 0.5 kg, held along its edges.
    let mut sheet = net(0.5, ball(1.0, 0.2, Vec3::Y * 0.22, Vec3::ZERO));
    let (mut impulse, mut fastest) = (0.0, 0.0_f32);
    for step in 0..300 {
        sheet.step();
        let motion = &sheet.bodies.list[0].motion;
        if step >= 180 {
            impulse += motion.impulse.y;
            fastest = fastest.max(motion.velocity.length());
        }
    }
    let motion = &sheet.bodies.list[0].motion;
    assert!(
        motion.pose.translation.y > -0.1,
        "{}",
        motion.pose.translation
    );
    assert!(fastest < 0.3, "{fastest} m/s");
    // What it is given in the mean is its weight.
    let weight = impulse / (120.0 * DT) / 9.81;
    assert!((weight - 1.0).abs() < 0.05, "{weight}");
}

#[test]
fn what_is_thrown_into_a_net_is_stopped_by_it() {
    // From a ball that weighs less than the net to one that is forty times as heavy.
    for (mass, speed, density) in [
        (0.5, 5.0, 0.8),
        (1.0, 5.0, 0.2),
        (2.0, 8.0, 0.8),
        (8.0, 5.0, 0.8),
        (8.0, 5.0, 0.2),
    ] {
        let ball = ball(mass, 0.15, Vec3::Y * 0.2, Vec3::NEG_Y * speed);
        let mut sheet = net(density, ball);
        let (mut lowest, mut fastest) = (0.0_f32, 0.0_f32);
        for _ in 0..60 {
            sheet.step();
            let motion = &sheet.bodies.list[0].motion;
            lowest = lowest.min(motion.pose.translation.y);
            fastest = fastest.max(motion.velocity.y);
        }
        let case = format!("{mass} kg at {speed} m/s into {density} kg");
        assert!(lowest > -0.2, "{case}: sank to {lowest} m");
        // Nor is it thrown back: it keeps less than three quarters of its energy.
        assert!(fastest < 0.87 * speed, "{case}: {fastest} m/s up");
    }
}

#[test]
fn a_body_hangs_on_the_cloth_that_is_pinned_to_it() {
    // 1 kg on a strip of 0.1 kg.
    let gravity = Vec3::NEG_Y * 9.81;
    let mut body = ball(1.0, 0.05, Vec3::new(0.55, 0.0, 0.0), Vec3::ZERO);
    body.motion.acceleration = gravity;
    let mut sheet = Sheet::new(0.1, [body]);
    sheet.gravity = gravity;
    sheet.pin(|at| at.x < -0.49);
    for i in 0..sheet.particles.len() {
        let place = sheet.particles.position.get(i);
        if place.x > 0.49 {
            sheet.bodies.held.push(Held {
                particle: i as u32,
                body: 0,
                place: place - Vec3::new(0.55, 0.0, 0.0),
                inverse_mass: 0.0,
            });
        }
    }
    let mut lowest = 0.0_f32;
    for _ in 0..240 {
        sheet.step();
        lowest = lowest.min(sheet.bodies.list[0].motion.pose.translation.y);
    }
    // It swings down through the lowest point; the strip is 1 m long and the ball 0.05 m below its end.
    assert!((-1.15..-1.0).contains(&lowest), "{lowest}");
}

#[test]
fn pieces_of_a_free_body_keep_its_momentum() {
    let body = ball(0.5, 0.1, Vec3::new(0.5, 0.0, 0.0), Vec3::new(2.0, 1.0, 0.0));
    let mut sheet = Sheet::new(0.2, [body]);
    for i in 0..sheet.particles.len() {
        let place = sheet.particles.position.get(i);
        if place.x > 0.49 && place.z.abs() < 0.2 {
            sheet.bodies.held.push(Held {
                particle: i as u32,
                body: 0,
                place: place - Vec3::new(0.5, 0.0, 0.0),
                inverse_mass: 0.0,
            });
        }
    }
    let before = sheet.momenta();
    for _ in 0..10 {
        sheet.step();
    }
    // The body, which came at 2.2 m/s, pulls the cloth along.
    let slower = sheet.bodies.list[0].motion.velocity.length();
    assert!(slower < 2.0, "{slower}");
    for _ in 0..50 {
        sheet.step();
    }
    let [momentum, _] = drift(sheet.momenta(), before, 1.0);
    // All flies away from the origin here, where places are less exact.
    assert!(momentum < 1e-3, "{momentum}");
}

#[test]
fn what_cannot_move_only_notes_what_it_would_get() {
    let mut body = ball(1.0, 0.2, Vec3::NEG_Y * 0.21, Vec3::ZERO);
    body.motion.asleep = true;
    let mut sheet = Sheet::new(0.5, [body]);
    sheet.gravity = Vec3::NEG_Y * 9.81;
    let mut pressed = 0.0_f32;
    for _ in 0..60 {
        sheet.step();
        pressed = pressed.min(sheet.bodies.list[0].motion.impulse.y);
    }
    let motion = &sheet.bodies.list[0].motion;
    assert!(pressed < -0.01, "{pressed}");
    assert_eq!(
        (motion.velocity, motion.pose),
        (Vec3::ZERO, at(Vec3::NEG_Y * 0.21))
    );
}
