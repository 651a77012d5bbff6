//! Contacts: friction cone, capstan, penetration.

use super::Row;
use crate::{
    contact_scenes::layers_on_slope,
    sample::{Sample, vacuum},
};
use bevy::math::{Quat, Vec3};
use bevy_drape::solver::{
    Collider, Friction, Pose, Shape, StepSettings, Surface, deepest_penetration,
};
use std::f32::consts::PI;

/// Friction of cloth on a slope.
const MU: f32 = 0.5;
const ON_SLOPE: Friction = Friction {
    static_coefficient: MU,
    kinetic_coefficient: MU,
};

/// Returns a sheet on a plane inclined towards +x by this angle.
fn on_slope(degrees: f32) -> Sample {
    let mut sample = Sample::sheet(6);
    let slope = Quat::from_rotation_z(-degrees.to_radians());
    for i in 0..sample.particles.len() {
        let position = slope * sample.at(i);
        sample.particles.set_world_position(i, position);
    }
    let pose = Pose {
        rotation: slope,
        translation: Vec3::ZERO,
    };
    sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, ON_SLOPE)];
    sample.settings = StepSettings {
        substeps: 4,
        surface: Surface {
            thickness: 0.0,
            friction: ON_SLOPE,
        },
        ..vacuum()
    };
    sample
}

/// Returns the distance that it slides in 2 s, m.
fn slid(degrees: f32) -> f64 {
    let mut sample = on_slope(degrees);
    sample.run(2.0);
    let n = sample.particles.len();
    let way = (0..n).map(|i| sample.at(i)).sum::<Vec3>().length() / n as f32;
    f64::from(way)
}

/// Returns the threshold between two values at which a predicate becomes true, by bisection.
fn threshold([mut no, mut yes]: [f32; 2], halvings: u32, is_so: impl Fn(f32) -> bool) -> f64 {
    for _ in 0..halvings {
        let middle = (no + yes) / 2.0;
        if is_so(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    f64::from((no + yes) / 2.0)
}

pub(crate) fn friction_cone() -> Vec<Row> {
    let limit = f64::from(MU.atan().to_degrees());
    let found = threshold([10.0, 50.0], 10, |degrees| slid(degrees) > 1e-3);
    let mut rows = vec![Row::within("slips from, °", limit, found, 0.5)];
    for degrees in [35.0_f32, 45.0, 70.0] {
        let angle = f64::from(degrees).to_radians();
        let expected = 9.81 * (angle.sin() - f64::from(MU) * angle.cos());
        let label = format!("acceleration down {degrees}°, m/s²");
        rows.push(Row::near(label, expected, slid(degrees) / 2.0, 0.02));
    }
    rows
}

/// Returns the distances that each layer of a stack has slid after half a second and after two, m.
fn layers_slid(count: u32, degrees: f32) -> [Vec<f64>; 2] {
    let mut sheets = layers_on_slope(count, degrees, ON_SLOPE);
    let start = sheets.at();
    [30, 90].map(|steps| {
        (0..steps).for_each(|_| sheets.step());
        let now = sheets.at();
        let size = now.len() / count as usize;
        let ways = now.chunks(size).zip(start.chunks(size));
        let way = |(now, start): (&[Vec3], &[Vec3])| {
            now.iter().sum::<Vec3>().distance(start.iter().sum()) / size as f32
        };
        ways.map(|layer| f64::from(way(layer))).collect()
    })
}

/// Stacks of cloth on a slope stick as a single one does, and slide as fast.
pub(crate) fn layers_on_a_slope() -> Vec<Row> {
    let mut rows = Vec::new();
    for count in [2, 5] {
        for degrees in [10.0, 24.0] {
            let [early, late] = layers_slid(count, degrees);
            let crept = late.iter().zip(&early).map(|(late, early)| late - early);
            let label = format!("{count} layers at {degrees}°: creep in 1.5 s, mm");
            rows.push(Row::at_most(label, 2.0, 1e3 * crept.fold(0.0, f64::max)));
        }
        for degrees in [30.0_f32, 40.0] {
            let angle = f64::from(degrees).to_radians();
            let acceleration = 9.81 * (angle.sin() - f64::from(MU) * angle.cos());
            let [_, late] = layers_slid(count, degrees);
            let label = format!("{count} layers at {degrees}°: slide of the top in 2 s, m");
            rows.push(Row::near(
                label,
                2.0 * acceleration,
                late[count as usize - 1],
                0.1,
            ));
        }
    }
    rows
}

/// Friction coefficient of a rope around a bar.
const ROPE_FRICTION: f32 = 0.3;

/// Returns whether a rope over a bar, half a turn around it, slips with this ratio of the forces at its ends.
fn slips_around_bar(ratio: f32) -> bool {
    const RADIUS: f32 = 0.2;
    // Numbers of links on each side of the bar, and on it.
    const BESIDE: usize = 4;
    const AROUND: usize = 32;
    let link = RADIUS * PI / AROUND as f32;
    let positions: Vec<Vec3> = (0..=AROUND + 2 * BESIDE)
        .map(|i| {
            let along = (i as f32 - BESIDE as f32) * link;
            let angle = (along / RADIUS).clamp(0.0, PI);
            let down = (-along).max(along - RADIUS * PI).max(0.0);
            Vec3::new(-angle.cos() * RADIUS, angle.sin() * RADIUS - down, 0.0)
        })
        .collect();
    let last = positions.len() - 1;
    let mut sample = Sample::chain(&positions);
    let friction = Friction {
        static_coefficient: ROPE_FRICTION,
        kinetic_coefficient: ROPE_FRICTION,
    };
    let pose = Pose {
        rotation: Quat::from_rotation_x(PI / 2.0),
        translation: Vec3::ZERO,
    };
    let bar = Shape::Capsule {
        radius: RADIUS,
        half_length: 1.0,
    };
    sample.colliders = vec![Collider::fixed(bar, pose, friction)];
    sample.settings = StepSettings {
        dt: 1.0 / 480.0,
        gravity: Vec3::ZERO,
        surface: Surface {
            thickness: 0.0,
            friction,
        },
        ..vacuum()
    };
    let gain = Vec3::NEG_Y * 10.0 * sample.settings.dt;
    let mut pull = |steps: u32| {
        for _ in 0..steps {
            for (end, gain) in [(0, gain), (last, gain * ratio)] {
                let velocity = sample.particles.velocity(end);
                sample.particles.set_velocity(end, velocity + gain);
            }
            sample.step();
        }
        sample.at(last).y
    };
    // The rope becomes taut first.
    let taut = pull(240);
    taut - pull(480) > 5e-3
}

pub(crate) fn capstan() -> Vec<Row> {
    let expected = f64::from(ROPE_FRICTION * PI).exp();
    let found = threshold([1.0, 6.0], 9, slips_around_bar);
    vec![Row::near("T₂/T₁, φ = π, μ = 0.3", expected, found, 0.05)]
}

pub(crate) fn drape() -> Vec<Row> {
    let at = |translation| Pose {
        rotation: Quat::from_rotation_y(0.3),
        translation,
    };
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let floor = Collider::fixed(Shape::HalfSpace, at(Vec3::NEG_Y), friction);
    let solid = |shape, position| Collider::fixed(shape, at(position), friction);
    let ball = solid(Shape::Sphere { radius: 0.3 }, Vec3::NEG_Y * 0.7);
    let limb = Shape::Capsule {
        radius: 0.1,
        half_length: 0.3,
    };
    let limb = solid(limb, Vec3::new(0.3, -0.8, 0.3));
    let half_size = Vec3::splat(0.2);
    let cuboid = solid(Shape::Cuboid { half_size }, Vec3::NEG_Y * 0.8);
    let row = |(label, colliders): (&str, Vec<Collider>)| {
        let mut sample = Sample::sheet(32);
        sample.settings = StepSettings {
            substeps: 8,
            surface: Surface {
                thickness: 0.01,
                friction,
            },
            ..vacuum()
        };
        sample.colliders = colliders;
        let mut deepest = 0.0_f32;
        for _ in 0..300 {
            sample.step();
            deepest = deepest.max(deepest_penetration(&sample.particles, &sample.colliders));
        }
        let lowest = (0..1024).map(|i| sample.at(i).y).fold(0.0, f32::min);
        assert!(lowest < -0.9, "it hangs at {lowest} m");
        let label = format!("deepest penetration, {label}, m");
        Row::at_most(label, 0.0, f64::from(deepest))
    };
    [
        ("ball, limb and floor", vec![floor, ball, limb]),
        ("box and floor", vec![floor, cuboid]),
    ]
    .map(row)
    .into()
}
