use super::*;
use crate::{
    mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
    solver::{
        ClothState, ConstraintGraph, Contacts, MotionConstraints, ParticleArrays, StepInput,
        StepSettings, SubstepTime, Surface, Tethers, Triangles, Workers,
    },
};
use bevy::math::{DVec3, Mat3};

const DT: f32 = 1.0 / 60.0;
const SUBSTEPS: u32 = 8;

/// Creates a ball of this mass, kg, and radius, m.
fn ball(mass: f32, radius: f32, position: Vec3, velocity: Vec3) -> RigidBody {
    let inertia = 0.4 * mass * radius * radius;
    RigidBody {
        id: 1,
        motion: BodyMotion {
            velocity,
            inverse_mass: Vec3::splat(1.0 / mass),
            inverse_inertia: Mat3::from_diagonal(Vec3::splat(1.0 / inertia)),
            ..BodyMotion::still(Pose::from_translation(position))
        },
        parts: vec![BodyPart {
            solid: Solid::Shape(Shape::Sphere { radius }),
            local_pose: Pose::ORIGIN,
            friction: Friction {
                static_coefficient: 0.6,
                kinetic_coefficient: 0.5,
            },
        }],
    }
}

/// Square cloth in the xz plane, 1 m × 1 m, with bodies near it.
struct TestCloth {
    particles: ParticleArrays,
    constraints: ConstraintGraph,
    triangles: Triangles,
    contacts: Contacts,
    bodies: Bodies,
    gravity: Vec3,
}

impl TestCloth {
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
            contacts: Contacts::default(),
            bodies: Bodies {
                list: bodies.into_iter().collect(),
                ..Bodies::default()
            },
            gravity: Vec3::ZERO,
        }
    }

    fn pin(&mut self, is_pinned: impl Fn(Vec3) -> bool) {
        for i in 0..self.particles.len() {
            if is_pinned(self.particles.position.get(i)) {
                self.particles.inverse_mass[i] = 0.0;
            }
        }
    }

    /// Runs one fixed step. The bodies keep their state, as if an engine had moved them the same way.
    fn step(&mut self) {
        let Self {
            particles,
            constraints,
            triangles,
            contacts,
            bodies,
            gravity,
        } = self;
        let workers = &mut Workers::serial();
        let count = SUBSTEPS * bodies.plan_substeps(particles, DT / SUBSTEPS as f32);
        let settings = StepSettings {
            dt: DT,
            substeps: count,
            gravity: *gravity,
            surface: Surface {
                thickness: 0.01,
                friction: Friction {
                    static_coefficient: 0.5,
                    kinetic_coefficient: 0.4,
                },
            },
            ..StepSettings::default()
        };
        let mut cloth = ClothState {
            particles,
            constraints,
            triangles,
            segments: None,
            tethers: &Tethers::default(),
            motion_constraints: &MotionConstraints::default(),
            bodies: &mut *bodies,
            contacts,
        };
        let input = StepInput::default();
        cloth.begin_step(workers, &settings, &input);
        for time in SubstepTime::new(DT, count).substeps() {
            cloth.substep(workers, &settings, &input, &time);
        }
        for body in &mut bodies.list {
            body.motion.cloth_pose = body.motion.pose;
        }
    }

    /// Returns the total momentum and angular momentum of cloth and bodies.
    fn momenta(&self) -> [DVec3; 2] {
        let p = &self.particles;
        let is_attached = |i: usize| {
            let mut attachments = self.bodies.attachments.iter();
            attachments.any(|a| a.particle == i as u32)
        };
        let mut sum = [DVec3::ZERO; 2];
        for i in (0..p.len()).filter(|&i| !is_attached(i)) {
            let momentum = p.velocity(i).as_dvec3() / f64::from(p.inverse_mass[i]);
            // A Verlet velocity belongs to the middle of the last substep.
            let position = (p.world_position(i) - p.displacement.get(i) * 0.5).as_dvec3();
            sum[0] += momentum;
            sum[1] += position.cross(momentum);
        }
        for body in &self.bodies.list {
            let motion = &body.motion;
            let momentum = (motion.velocity / motion.inverse_mass).as_dvec3();
            sum[0] += momentum;
            sum[1] += motion.pose.translation.as_dvec3().cross(momentum);
            sum[1] += (motion.inverse_inertia.inverse() * motion.angular_velocity).as_dvec3();
        }
        sum
    }
}

/// Creates a cloth pinned along its edges, with a body above it, under gravity.
fn net(density: f32, mut body: RigidBody) -> TestCloth {
    let gravity = Vec3::NEG_Y * 9.81;
    body.motion.acceleration = gravity;
    let mut cloth = TestCloth::new(density, [body]);
    cloth.gravity = gravity;
    cloth.pin(|at| at.x.abs().max(at.z.abs()) > 0.49);
    cloth
}

/// Returns the changes of both momenta, relative to `reference`.
fn relative_change(now: [DVec3; 2], before: [DVec3; 2], reference: f64) -> [f64; 2] {
    [0, 1].map(|k| (now[k] - before[k]).length() / reference)
}

#[test]
fn momentum_lost_by_a_ball_goes_to_the_cloth() {
    // Balls much heavier to much lighter than the cloth (0.2 kg), off its centre.
    for mass in [2.0, 0.2, 0.005] {
        let ball = ball(
            mass,
            0.1,
            Vec3::new(0.2, 0.3, 0.1),
            Vec3::new(1.0, -4.0, 0.0),
        );
        let mut cloth = TestCloth::new(0.2, [ball]);
        let before = cloth.momenta();
        for _ in 0..30 {
            cloth.step();
        }
        let [momentum, angular] =
            relative_change(cloth.momenta(), before, f64::from(mass + 0.2) * 4.0);
        assert!(momentum < 1e-4, "{mass} kg: {momentum}");
        // Constraint projection of free cloth removes some angular momentum as well.
        assert!(angular < 0.05, "{mass} kg: {angular}");
        let velocity = cloth.bodies.list[0].motion.velocity;
        assert!(velocity.y > -3.9, "{mass} kg: {velocity}");
    }
}

#[test]
fn a_light_ball_does_not_bounce_off_heavy_cloth() {
    let ball = ball(0.01, 0.1, Vec3::Y * 0.15, Vec3::NEG_Y * 3.0);
    let mut cloth = TestCloth::new(2.0, [ball]);
    let mut fastest = 0.0_f32;
    for _ in 0..60 {
        cloth.step();
        fastest = fastest.max(cloth.bodies.list[0].motion.velocity.y);
    }
    assert!(fastest < 0.3, "{fastest}");
}

#[test]
fn a_net_carries_a_ball_heavier_than_itself() {
    // 1 kg in a net of 0.5 kg, pinned along its edges.
    let mut cloth = net(0.5, ball(1.0, 0.2, Vec3::Y * 0.22, Vec3::ZERO));
    let (mut impulse, mut fastest) = (0.0, 0.0_f32);
    for step in 0..300 {
        cloth.step();
        let motion = &cloth.bodies.list[0].motion;
        if step >= 180 {
            impulse += motion.impulse.y;
            fastest = fastest.max(motion.velocity.length());
        }
    }
    let motion = &cloth.bodies.list[0].motion;
    assert!(
        motion.pose.translation.y > -0.1,
        "{}",
        motion.pose.translation
    );
    assert!(fastest < 0.3, "{fastest} m/s");
    // The mean impulse balances the weight.
    let weight = impulse / (120.0 * DT) / 9.81;
    assert!((weight - 1.0).abs() < 0.05, "{weight}");
}

#[test]
fn momentum_that_a_body_does_not_receive_is_no_velocity() {
    for (mass, speed) in [(0.5, 5.0), (8.0, 5.0)] {
        let ball = ball(mass, 0.15, Vec3::Y * 0.2, Vec3::NEG_Y * speed);
        let mut cloth = net(0.2, ball);
        let mut fastest = 0.0_f32;
        for _ in 0..90 {
            cloth.step();
            let p = &cloth.particles;
            let speeds = (0..p.len()).map(|i| p.velocity(i).length());
            fastest = speeds.fold(fastest, f32::max);
        }
        assert!(fastest < 3.0 * speed, "{mass} kg: {fastest} m/s");
    }
}

#[test]
fn a_net_stops_a_ball_thrown_into_it() {
    // From a ball lighter than the net to one forty times as heavy.
    for (mass, speed, density) in [
        (0.5, 5.0, 0.8),
        (1.0, 5.0, 0.2),
        (2.0, 8.0, 0.8),
        (8.0, 5.0, 0.8),
        (8.0, 5.0, 0.2),
    ] {
        let ball = ball(mass, 0.15, Vec3::Y * 0.2, Vec3::NEG_Y * speed);
        let mut cloth = net(density, ball);
        let (mut lowest, mut fastest) = (0.0_f32, 0.0_f32);
        for _ in 0..60 {
            cloth.step();
            let motion = &cloth.bodies.list[0].motion;
            lowest = lowest.min(motion.pose.translation.y);
            fastest = fastest.max(motion.velocity.y);
        }
        let case = format!("{mass} kg at {speed} m/s into {density} kg");
        assert!(lowest > -0.2, "{case}: sank to {lowest} m");
        // Nor does the net throw it back: the ball keeps less than three quarters of its energy.
        assert!(fastest < 0.87 * speed, "{case}: {fastest} m/s up");
    }
}

#[test]
fn a_body_hangs_from_the_cloth_pinned_to_it() {
    // 1 kg on a strip of 0.1 kg.
    let gravity = Vec3::NEG_Y * 9.81;
    let mut body = ball(1.0, 0.05, Vec3::new(0.55, 0.0, 0.0), Vec3::ZERO);
    body.motion.acceleration = gravity;
    let mut cloth = TestCloth::new(0.1, [body]);
    cloth.gravity = gravity;
    cloth.pin(|at| at.x < -0.49);
    for i in 0..cloth.particles.len() {
        let position = cloth.particles.position.get(i);
        if position.x > 0.49 {
            cloth.bodies.attachments.push(BodyAttachment {
                particle: i as u32,
                body: 0,
                local_position: position - Vec3::new(0.55, 0.0, 0.0),
                inverse_mass: 0.0,
            });
        }
    }
    let mut lowest = 0.0_f32;
    for _ in 0..240 {
        cloth.step();
        lowest = lowest.min(cloth.bodies.list[0].motion.pose.translation.y);
    }
    // The ball swings through its lowest point; the strip is 1 m long and the ball 0.05 m below its end.
    assert!((-1.15..-1.0).contains(&lowest), "{lowest}");
}

#[test]
fn momentum_is_conserved_with_particles_pinned_to_a_free_body() {
    let body = ball(0.5, 0.1, Vec3::new(0.5, 0.0, 0.0), Vec3::new(2.0, 1.0, 0.0));
    let mut cloth = TestCloth::new(0.2, [body]);
    for i in 0..cloth.particles.len() {
        let position = cloth.particles.position.get(i);
        if position.x > 0.49 && position.z.abs() < 0.2 {
            cloth.bodies.attachments.push(BodyAttachment {
                particle: i as u32,
                body: 0,
                local_position: position - Vec3::new(0.5, 0.0, 0.0),
                inverse_mass: 0.0,
            });
        }
    }
    let before = cloth.momenta();
    for _ in 0..10 {
        cloth.step();
    }
    // The body, initially at 2.2 m/s, pulls the cloth along.
    let speed = cloth.bodies.list[0].motion.velocity.length();
    assert!(speed < 2.0, "{speed}");
    for _ in 0..50 {
        cloth.step();
    }
    let [momentum, _] = relative_change(cloth.momenta(), before, 1.0);
    // Body and cloth fly away from the origin, so positions lose precision.
    assert!(momentum < 1e-3, "{momentum}");
}

#[test]
fn a_sleeping_body_records_impulses_without_moving() {
    let mut body = ball(1.0, 0.2, Vec3::NEG_Y * 0.21, Vec3::ZERO);
    body.motion.asleep = true;
    let mut cloth = TestCloth::new(0.5, [body]);
    cloth.gravity = Vec3::NEG_Y * 9.81;
    let mut pressed = 0.0_f32;
    for _ in 0..60 {
        cloth.step();
        pressed = pressed.min(cloth.bodies.list[0].motion.impulse.y);
    }
    let motion = &cloth.bodies.list[0].motion;
    assert!(pressed < -0.01, "{pressed}");
    assert_eq!(
        (motion.velocity, motion.pose),
        (Vec3::ZERO, Pose::from_translation(Vec3::NEG_Y * 0.21))
    );
}
