use super::*;
use crate::solver::{IntegrateSettings, SoaVec3, integrate};

fn particle(position: Vec3, displacement: Vec3) -> ParticleArrays {
    let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter([position]), vec![1.0]);
    p.displacement.set(0, displacement);
    p
}

fn rough(mu: f32) -> Friction {
    Friction {
        static_coefficient: mu,
        kinetic_coefficient: mu,
    }
}

fn floor(mu: f32) -> Collider {
    Collider::fixed(Shape::HalfSpace, Pose::ORIGIN, rough(mu))
}

fn surface(mu: f32) -> Surface {
    Surface {
        thickness: 0.0,
        friction: rough(mu),
    }
}

#[test]
fn a_push_out_adds_no_speed() {
    let mut p = particle(Vec3::NEG_Y * 0.5, Vec3::NEG_Y * 0.1);
    collide(&mut p, &[floor(0.0)], &surface(0.0), 0, 1);
    assert_eq!(p.position.get(0), Vec3::ZERO);
    assert_eq!(p.displacement.get(0), Vec3::ZERO);
}

#[test]
fn a_particle_already_leaving_is_not_slowed() {
    let mut p = particle(Vec3::NEG_Y * 0.01, Vec3::Y * 0.1);
    collide(&mut p, &[floor(0.0)], &surface(0.0), 0, 1);
    assert_eq!(p.displacement.get(0), Vec3::Y * 0.1);
}

#[test]
fn friction_sticks_or_slows() {
    // A push-out of 0.1 with μ = 0.5 removes at most 0.05 of the tangential displacement.
    let mut sticks = particle(Vec3::NEG_Y * 0.1, Vec3::new(0.04, -0.1, 0.0));
    collide(&mut sticks, &[floor(0.5)], &surface(0.5), 0, 1);
    assert_eq!(sticks.displacement.get(0), Vec3::ZERO);
    let mut slides = particle(Vec3::NEG_Y * 0.1, Vec3::new(0.2, -0.1, 0.0));
    collide(&mut slides, &[floor(0.5)], &surface(0.5), 0, 1);
    assert!((slides.displacement.get(0).x - 0.15).abs() < 1e-6);
}

#[test]
fn a_moving_collider_drags_cloth_along() {
    let end = Pose {
        translation: Vec3::new(0.3, 0.1, 0.0),
        ..Pose::ORIGIN
    };
    let belt = Collider {
        end,
        ..floor(100.0)
    };
    let mut p = particle(Vec3::ZERO, Vec3::ZERO);
    let free = IntegrateSettings {
        gravity: Vec3::ZERO,
        damping: 0.0,
        dt: 1.0 / 480.0,
    };
    for substep in 0..4 {
        integrate(&mut Workers::serial(), &mut p, &free);
        collide(&mut p, &[belt], &surface(100.0), substep, 4);
    }
    assert!((p.position.get(0) - end.translation).length() < 1e-6);
    assert!((p.displacement.get(0) - end.translation / 4.0).length() < 1e-6);
}

#[test]
fn a_teleported_collider_drags_no_cloth_along() {
    let far = Pose {
        translation: Vec3::X * 100.0,
        ..Pose::ORIGIN
    };
    let belt = Collider {
        start: far,
        ..floor(1.0)
    };
    assert_eq!(belt.without_teleport(1.0 / 60.0).start, Pose::ORIGIN);
}

#[test]
fn penetration_is_measured_from_the_surface() {
    let p = particle(Vec3::NEG_Y * 0.25, Vec3::ZERO);
    assert_eq!(deepest_penetration(&p, &[floor(0.0)]), 0.25);
    let above = particle(Vec3::Y, Vec3::ZERO);
    assert_eq!(deepest_penetration(&above, &[floor(0.0)]), 0.0);
}
