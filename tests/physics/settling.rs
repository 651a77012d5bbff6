//! Cloth settles.

use crate::{Sample, as_the_plugin};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::Cloth,
    sleep::TIME_TO_SLEEP,
    solver::{Collider, Friction, Pose, Shape, SoaVec3, measure_stretch},
};

/// Returns a sheet 2 m wide with the plugin's defaults that falls on these shapes over a floor.
fn drape(side: u32, shapes: &[(Shape, Pose)]) -> Sample {
    let cloth = Cloth::default();
    let mut sample = Sample::sheet(side);
    // `sheet` is 1 m wide.
    let positions = sample.particles.position.iter();
    let positions: SoaVec3 = positions.map(|position| position * 2.0).collect();
    sample.particles.reset(Vec3::Y * 1.5, &positions);
    sample.constraints.set_rest_lengths(&positions);
    sample.triangles.set_rest(&positions);
    for w in &mut sample.particles.inverse_mass {
        *w /= 4.0;
    }
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let floor = (Shape::HalfSpace, at(Vec3::ZERO));
    let all = shapes.iter().copied().chain([floor]);
    sample.colliders = all
        .map(|(shape, pose)| Collider::fixed(shape, pose, friction))
        .collect();
    sample.settings = as_the_plugin(&cloth);
    sample
}

fn at(translation: Vec3) -> Pose {
    Pose {
        rotation: Quat::IDENTITY,
        translation,
    }
}

/// Returns the ball of the scene `drape`.
fn ball() -> (Shape, Pose) {
    (Shape::Sphere { radius: 0.5 }, at(Vec3::Y * 0.5))
}

/// Largest distance of a particle from where it was, m.
fn farthest(now: &SoaVec3, before: &SoaVec3) -> f32 {
    let both = now.iter().zip(before.iter());
    both.map(|(now, before)| now.distance(before))
        .fold(0.0, f32::max)
}

#[test]
fn drapes_come_to_rest_on_every_shape() {
    let cloth = Cloth::default();
    let lying = Pose {
        rotation: Quat::from_rotation_z(std::f32::consts::FRAC_PI_2),
        translation: Vec3::Y * 0.6,
    };
    let capsule = Shape::Capsule {
        radius: 0.25,
        half_length: 0.6,
    };
    let small = |radius, x, y, z| (Shape::Sphere { radius }, at(Vec3::new(x, y, z)));
    let balls = [
        small(0.3, -0.5, 0.5, -0.2),
        small(0.35, 0.5, 0.6, -0.3),
        small(0.25, 0.1, 0.7, 0.5),
    ];
    for (name, shapes) in [
        ("ball", &[ball()][..]),
        ("capsule", &[(capsule, lying)]),
        ("three balls", &balls),
    ] {
        for side in [32, 64, 100] {
            let mut sample = drape(side, shapes);
            sample.run(6.0);
            let (before, origin) = (sample.particles.position.clone(), sample.particles.origin);
            sample.run(TIME_TO_SLEEP);
            assert_eq!(sample.particles.origin, origin);
            // No particle goes farther than a sleeping cloth may: 2.5 mm.
            let moved = farthest(&sample.particles.position, &before);
            let allowed = cloth.sleep_speed * TIME_TO_SLEEP;
            assert!(moved < allowed, "{name}, {side}²: {moved} m");
            // Nor does any tremble visibly in place: up to 3 mm/s are usual, 0.3 m/s with chains solved only once.
            let step = farthest(&sample.particles.position, &sample.particles.previous);
            let speed = step / sample.settings.dt;
            assert!(speed < 0.015, "{name}, {side}²: {speed} m/s");
        }
    }
}

/// A chain must be tight only where it is taut, however many folds the rest of it has.
#[test]
fn no_edge_of_a_drape_stays_stretched() {
    let mut sample = drape(64, &[ball()]);
    sample.run(5.0);
    // The ball presses.
    for _ in 0..30 {
        sample.step();
        let stretch = measure_stretch(&sample.particles, &sample.constraints);
        assert!(stretch.max < 0.06, "{stretch:?}");
        assert!(stretch.mean < 0.004, "{stretch:?}");
    }
}

#[test]
fn internal_friction_does_not_slow_a_rigid_fall() {
    let mut sample = Sample::sheet(12);
    sample.settings.substeps = 4;
    sample.settings.internal_friction = 5.0;
    sample.run(2.0);
    for i in 0..144 {
        let fallen = -f64::from(sample.at(i).y);
        // ½·9.81·2²
        crate::assert_near("fall", fallen, 19.62, 2e-5);
    }
}
