//! Robust collisions: containers, colliders smaller than a cell, speeds of 100 m/s, turning and pinching
//! colliders.

use crate::{Sample, vacuum};
use bevy::math::{Quat, Vec3};
use bevy_drape::cloth::Fabric;
use bevy_drape::solver::{
    Collider, Compliance, Friction, Pose, Shape, StepSettings, Surface, deepest_penetration,
};

const ROUGH: Friction = Friction {
    static_coefficient: 0.5,
    kinetic_coefficient: 0.4,
};

fn at(translation: Vec3) -> Pose {
    Pose {
        rotation: Quat::IDENTITY,
        translation,
    }
}

fn fixed(shape: Shape, position: Vec3) -> Collider {
    Collider::fixed(shape, at(position), ROUGH)
}

/// Returns settings for 60 Hz with 8 substeps.
fn default_settings(thickness: f32) -> StepSettings<'static> {
    StepSettings {
        substeps: 8,
        damping: 0.2,
        surface: Surface {
            thickness,
            friction: ROUGH,
        },
        compliance: Compliance {
            bending: Fabric::default().bending_stiffness,
            ..Compliance::default()
        },
        ..vacuum()
    }
}

fn count(sample: &Sample) -> usize {
    sample.particles.len()
}

const LIMB: Shape = Shape::TaperedCapsule {
    radius_bottom: 0.3,
    radius_top: 0.1,
    half_length: 0.3,
};

#[test]
fn cloth_lies_on_every_shape_without_penetration() {
    let lying = Quat::from_rotation_z(1.3);
    for (shape, rotation) in [
        (LIMB, lying),
        (LIMB, Quat::IDENTITY),
        (
            Shape::Cylinder {
                radius: 0.2,
                half_height: 0.3,
            },
            lying,
        ),
        (
            Shape::Cylinder {
                radius: 0.3,
                half_height: 0.1,
            },
            Quat::IDENTITY,
        ),
        (
            Shape::Cone {
                radius: 0.4,
                half_height: 0.3,
            },
            Quat::IDENTITY,
        ),
    ] {
        let mut sample = Sample::sheet(24);
        sample.settings = default_settings(0.01);
        let pose = Pose {
            rotation,
            translation: Vec3::NEG_Y * 0.5,
        };
        let floor = fixed(Shape::HalfSpace, Vec3::NEG_Y);
        sample.colliders = vec![floor, Collider::fixed(shape, pose, ROUGH)];
        for step in 0..180 {
            sample.step();
            let depth = deepest_penetration(&sample.particles, &sample.colliders);
            assert!(depth < 1e-6, "{shape:?}, step {step}: {depth} m");
        }
        let highest = (0..count(&sample)).map(|i| sample.at(i).y);
        let highest = highest.fold(f32::NEG_INFINITY, f32::max);
        assert!(
            highest > -0.75,
            "{shape:?} does not stop the cloth: {highest} m"
        );
    }
}

#[test]
fn containers_keep_cloth_in() {
    let shapes = [
        Shape::Sphere { radius: 0.8 },
        Shape::Capsule {
            radius: 0.75,
            half_length: 0.2,
        },
        Shape::Cuboid {
            half_size: Vec3::new(0.6, 0.5, 0.6),
        },
        Shape::TaperedCapsule {
            radius_bottom: 0.8,
            radius_top: 0.5,
            half_length: 0.3,
        },
        Shape::Cylinder {
            radius: 0.75,
            half_height: 0.4,
        },
        Shape::Cone {
            radius: 1.6,
            half_height: 0.8,
        },
    ];
    for shape in shapes {
        let mut sample = Sample::sheet(24);
        sample.settings = default_settings(0.01);
        let mut bottom = f32::INFINITY;
        // Shaken sideways after the cloth has settled.
        let pose = |step: u32| {
            let time = step.saturating_sub(90) as f32 / 60.0;
            at(Vec3::X * 0.4 * (8.0 * time).sin())
        };
        for step in 0..240 {
            sample.colliders = vec![Collider {
                end: pose(step + 1),
                hollow: true,
                ..Collider::fixed(shape, pose(step), ROUGH)
            }];
            sample.step();
            let depth = deepest_penetration(&sample.particles, &sample.colliders);
            assert!(depth < 1e-6, "{shape:?}, step {step}: {depth} m outside");
            let low = (0..count(&sample)).map(|i| sample.at(i).y);
            bottom = low.fold(bottom, f32::min);
        }
        assert!(bottom < -0.35, "{shape:?}: not fallen, {bottom} m");
    }
}

/// Returns the height of the cloth at x and z, m, treating the cloth as a heightfield; `None` beside it.
fn height(sample: &Sample, x: f32, z: f32) -> Option<f32> {
    sample.triangles.indices.iter().find_map(|corners| {
        let [a, b, c] = corners.map(|i| sample.at(i as usize));
        let area = |p: [f32; 2], q: [f32; 2], r: [f32; 2]| {
            (q[0] - p[0]) * (r[1] - p[1]) - (r[0] - p[0]) * (q[1] - p[1])
        };
        let flat = |v: Vec3| [v.x, v.z];
        let whole = area(flat(a), flat(b), flat(c));
        let weights = [
            area([x, z], flat(b), flat(c)) / whole,
            area(flat(a), [x, z], flat(c)) / whole,
            area(flat(a), flat(b), [x, z]) / whole,
        ];
        let inside = weights.iter().all(|&weight| weight >= -1e-5);
        inside.then(|| a.y * weights[0] + b.y * weights[1] + c.y * weights[2])
    })
}

/// Returns a sheet with cells of 1/9 m, pinned along its whole boundary.
fn drum() -> Sample {
    let mut sample = Sample::sheet(10);
    sample.settings = default_settings(0.0);
    for i in 0..100 {
        let (row, column) = (i / 10, i % 10);
        if [0, 9].contains(&row) || [0, 9].contains(&column) {
            sample.pin(i);
        }
    }
    sample
}

const CELL: f32 = 1.0 / 9.0;

/// Lowers a collider onto the drum until it presses the cloth down by about 0.03 m, and rests there. `reach` is
/// the distance from the collider's centre to its lowest point, m.
fn press(shape: Shape, rotation: Quat, over: Vec3, speed: f32, reach: f32) {
    let mut sample = drum();
    let pose = |height: f32| Pose {
        rotation,
        translation: Vec3::new(over.x, height, over.z),
    };
    let lowest = reach - 0.03;
    let mut y = 0.3 + speed / 120.0;
    let mut rested = 0;
    while rested < 40 {
        let next = (y - speed / 60.0).max(lowest);
        rested += u32::from(next == lowest);
        sample.colliders = vec![Collider {
            end: pose(next),
            ..Collider::fixed(shape, pose(y), ROUGH)
        }];
        sample.step();
        y = next;
        let cloth = height(&sample, over.x, over.z).expect("above the cloth");
        assert!(
            cloth < y - 0.2 * reach,
            "{shape:?} over {over} at {speed} m/s, at {y}: the cloth is at {cloth}"
        );
    }
    let cloth = height(&sample, over.x, over.z).unwrap();
    assert!(cloth > -0.2, "the cloth has come loose: {cloth}");
}

#[test]
fn a_ball_of_a_third_of_a_cell_does_not_slip_through() {
    let radius = CELL / 6.0;
    // At the centre of a cell, on its diagonal; at the centre of a triangle; and at other positions.
    for over in [[0.5, 0.5], [0.3, 0.6], [0.1, 0.45], [0.9, 0.2]] {
        let over = Vec3::new(over[0] * CELL, 0.0, over[1] * CELL);
        for speed in [0.5, 5.0, 30.0, 100.0] {
            press(
                Shape::Sphere { radius },
                Quat::IDENTITY,
                over,
                speed,
                radius,
            );
        }
    }
}

#[test]
fn thin_capsules_do_not_slip_through_either() {
    let radius = CELL / 8.0;
    let over = Vec3::new(0.4, 0.0, 0.3) * CELL;
    for (radius_bottom, radius_top) in [(radius, radius), (radius, radius / 2.0)] {
        let half_length = CELL / 2.0;
        let shape = if radius_bottom == radius_top {
            Shape::Capsule {
                radius,
                half_length,
            }
        } else {
            Shape::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            }
        };
        for speed in [0.5, 5.0, 100.0] {
            // Upright, and lying between the structural edges.
            press(shape, Quat::IDENTITY, over, speed, half_length + radius);
            let lying = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
            press(shape, lying, over, speed, radius_top);
        }
    }
}

/// Returns cloth that falls at 100 m/s onto a collider at the origin.
fn falling_at_100(side: u32, shape: Shape, rotation: Quat) -> Sample {
    let mut sample = Sample::sheet(side);
    sample.settings = default_settings(0.01);
    for i in 0..count(&sample) {
        let position = sample.at(i) + Vec3::Y * 1.03;
        sample.particles.set_world_position(i, position);
        sample.particles.set_velocity(i, Vec3::NEG_Y * 100.0);
    }
    let pose = Pose {
        rotation,
        translation: Vec3::ZERO,
    };
    sample.colliders = vec![Collider::fixed(shape, pose, ROUGH)];
    sample
}

#[test]
fn cloth_at_100_metres_a_second_stops_at_plates() {
    // So wide that the cloth does not slide off, which happens at up to 40 m/s.
    let plate = Vec3::new(20.0, 0.01, 20.0);
    let upright = Quat::IDENTITY;
    let wheel = Shape::Cylinder {
        radius: 20.0,
        half_height: 0.01,
    };
    for (shape, rotation) in [
        (Shape::HalfSpace, upright),
        (Shape::Cuboid { half_size: plate }, upright),
        (
            Shape::Cuboid { half_size: plate },
            Quat::from_rotation_z(0.5),
        ),
        (wheel, upright),
        (wheel, Quat::from_rotation_x(-0.3)),
    ] {
        let mut sample = falling_at_100(32, shape, rotation);
        let up = rotation * Vec3::Y;
        for step in 0..20 {
            sample.step();
            for i in 0..count(&sample) {
                let above = sample.at(i).dot(up);
                assert!(
                    above > 0.0,
                    "{shape:?}, step {step}: {i} is {above} m above"
                );
            }
        }
    }
}

#[test]
fn cloth_at_100_metres_a_second_stops_at_round_things() {
    let lying = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    for (shape, rotation, radius) in [
        (Shape::Sphere { radius: 0.1 }, Quat::IDENTITY, 0.1),
        (Shape::Sphere { radius: 0.25 }, Quat::IDENTITY, 0.25),
        (
            Shape::Capsule {
                radius: 0.1,
                half_length: 0.8,
            },
            lying,
            0.1,
        ),
        (
            Shape::TaperedCapsule {
                radius_bottom: 0.15,
                radius_top: 0.1,
                half_length: 0.8,
            },
            lying,
            0.1,
        ),
    ] {
        let mut sample = falling_at_100(33, shape, rotation);
        // One substep per step, to check each of them.
        sample.settings.dt /= 8.0;
        sample.settings.substeps = 1;
        let over: Vec<usize> = (0..count(&sample))
            .filter(|&i| sample.at(i).x.hypot(sample.at(i).z) < 0.5 * radius)
            .collect();
        for substep in 0..80 {
            let before = sample.particles.position.clone();
            let origin = sample.particles.origin;
            sample.step();
            // No particle has gone through: its path was never inside.
            for i in 0..count(&sample) {
                let (from, to) = (origin + before.get(i), sample.at(i));
                let deepest = (0..=32)
                    .map(|k| from.lerp(to, k as f32 / 32.0))
                    .map(|position| shape.distance(rotation.inverse() * position).0)
                    .fold(f32::INFINITY, f32::min);
                assert!(
                    deepest > -0.02 * radius,
                    "{shape:?}, substep {substep}: {i} went {deepest} m deep from {from} to {to}"
                );
            }
            // Particles that hit the collider in substep 4 lie on top before they slide off.
            for &i in over.iter().filter(|_| substep < 6) {
                let position = sample.at(i);
                assert!(
                    position.y > 0.0,
                    "{shape:?}, {substep}: {i} is at {position}"
                );
            }
        }
    }
}

#[test]
fn a_ball_at_100_metres_a_second_goes_through_no_particle() {
    const RADIUS: f32 = 0.1;
    for (speed, is_pinned) in [(100.0, false), (100.0, true), (190.0, false), (190.0, true)] {
        let mut sample = Sample::sheet(33);
        sample.settings = default_settings(0.01);
        sample.settings.dt /= 8.0;
        sample.settings.substeps = 1;
        // Vertical, and pinned by its upper edge in two of the cases.
        for i in 0..count(&sample) {
            let position = sample.at(i);
            let upright = Vec3::new(position.x, -position.z, 0.0);
            sample.particles.set_world_position(i, upright);
            if is_pinned && i < 33 {
                sample.particles.inverse_mass[i] = 0.0;
            }
        }
        let in_its_path: Vec<usize> = (0..count(&sample))
            .filter(|&i| sample.at(i).length() < 0.08)
            .collect();
        assert!(in_its_path.len() > 15);
        let centre = |substep: u32| Vec3::Z * (speed * substep as f32 / 480.0 - 0.5);
        let mut hit = false;
        for substep in 0..12 {
            let [from, to] = [substep, substep + 1].map(centre);
            sample.colliders = vec![Collider {
                end: at(to),
                ..Collider::fixed(Shape::Sphere { radius: RADIUS }, at(from), ROUGH)
            }];
            let before = sample.particles.position.clone();
            let origin = sample.particles.origin;
            sample.step();
            for i in (0..count(&sample)).filter(|&i| sample.particles.inverse_mass[i] > 0.0) {
                // The path relative to the ball.
                let (start, end) = (origin + before.get(i) - from, sample.at(i) - to);
                let nearest = (0..=32).map(|k| start.lerp(end, k as f32 / 32.0).length());
                let nearest = nearest.fold(f32::INFINITY, f32::min);
                assert!(
                    nearest > 0.98 * RADIUS,
                    "{speed} m/s, substep {substep}: {i} was {nearest} m from the centre"
                );
            }
            if !hit && to.z > 0.0 {
                hit = true;
                // The ball has passed no particle; some are pushed aside.
                for &i in &in_its_path {
                    let z = sample.at(i).z;
                    assert!(z > to.z - RADIUS, "{i} is at {z} m, the ball at {} m", to.z);
                }
            }
        }
        assert!(hit);
    }
}

#[test]
fn continuous_collision_detection_does_not_affect_slow_cloth() {
    // Two plates with the same top: one thin enough to be passed through, and a thick one.
    let [thin, thick] = [0.02, 2.0].map(|height| {
        let mut sample = Sample::sheet(12);
        sample.settings = default_settings(0.01);
        let half_size = Vec3::new(2.0, height / 2.0, 2.0);
        let centre = Vec3::NEG_Y * (0.125 + height / 2.0);
        sample.colliders = vec![fixed(Shape::Cuboid { half_size }, centre)];
        sample.run(1.0);
        sample
    });
    let ys = |sample: &Sample| (0..144).map(|i| sample.at(i).y).collect::<Vec<_>>();
    for (thin, thick) in ys(&thin).into_iter().zip(ys(&thick)) {
        assert!((thin - thick).abs() < 1e-6, "{thin}, {thick}");
    }
}

#[test]
fn a_cloth_on_a_turntable_turns_with_it() {
    let shape = Shape::Cylinder {
        radius: 0.8,
        half_height: 0.05,
    };
    let mut sample = Sample::sheet(16);
    sample.settings = default_settings(0.005);
    // 1.7 rad/s: at the corners this requires a friction coefficient of 0.2.
    let speed = 1.7;
    let pose = |step: u32| Pose {
        rotation: Quat::from_rotation_y(speed * step as f32 / 60.0),
        translation: Vec3::NEG_Y * 0.06,
    };
    for step in 0..240 {
        sample.colliders = vec![Collider {
            end: pose(step + 1),
            ..Collider::fixed(shape, pose(step), ROUGH)
        }];
        sample.step();
    }
    // Angular momentum over moment of inertia; all masses but those of the rim are equal.
    let (mut momentum, mut inertia) = (0.0, 0.0);
    for i in 0..count(&sample) {
        let position = sample.at(i);
        momentum += position.cross(sample.particles.velocity(i)).y;
        inertia += position.x * position.x + position.z * position.z;
    }
    let got = momentum / inertia;
    assert!((got / speed - 1.0).abs() < 0.03, "{got} rad/s of {speed}");
    let first = sample.at(0);
    let radius = first.x.hypot(first.z);
    assert!(
        (radius - 0.5_f32.hypot(0.5)).abs() < 0.02,
        "slid to {radius} m"
    );
}

#[test]
fn pinched_cloth_stays_finite_and_does_not_jitter() {
    let upright = Quat::IDENTITY;
    let lying = Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
    let half_size = Vec3::splat(0.3);
    let block = (Shape::Cuboid { half_size }, upright);
    let ball = (Shape::Sphere { radius: 0.3 }, upright);
    let limb = Shape::Capsule {
        radius: 0.3,
        half_length: 0.2,
    };
    let limb = (limb, lying);
    // Smallest gaps: narrower than the cloth needs, closed, and overlapping colliders.
    let all = [0.01, 0.0, -0.05];
    for (upper, lower, gaps) in [
        (block, block, &all[..]),
        (ball, ball, &all),
        (ball, block, &all),
        // Where the capsule overlaps the block, the cloth between them is driven along the capsule without end.
        (limb, block, &all[..2]),
    ] {
        for &closest in gaps {
            let mut sample = Sample::sheet(24);
            sample.settings = default_settings(0.01);
            let mut fastest: f32 = 0.0;
            for step in 0..180 {
                let gap = |step: u32| (0.3 - 0.3 * step as f32 / 60.0).max(closest);
                let moving = |(shape, rotation), side: f32| {
                    let pose = |step: u32| Pose {
                        rotation,
                        translation: Vec3::Y * side * (0.3 + gap(step) / 2.0),
                    };
                    Collider {
                        end: pose(step + 1),
                        ..Collider::fixed(shape, pose(step), ROUGH)
                    }
                };
                sample.colliders = vec![moving(upper, 1.0), moving(lower, -1.0)];
                let before = sample.particles.position.clone();
                let origin = sample.particles.origin;
                sample.step();
                // Only particles between the colliders; the others hang and swing. Displacement instead of
                // velocity: a particle that each substep pushes into a collider and out again has a velocity, but
                // does not move.
                for i in (0..count(&sample)).filter(|_| step >= 120) {
                    let position = sample.at(i);
                    if position.x.abs() < 0.2 && position.z.abs() < 0.2 {
                        let displacement = position - (origin + before.get(i));
                        fastest = fastest.max(displacement.length() * 60.0);
                    }
                }
            }
            assert!(
                fastest < 0.7,
                "{upper:?} on {lower:?}, {closest} m: {fastest} m/s"
            );
            for i in 0..count(&sample) {
                assert!(sample.at(i).length() < 1.0, "{i} is at {}", sample.at(i));
            }
        }
    }
}
