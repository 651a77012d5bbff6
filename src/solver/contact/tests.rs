use super::*;
use crate::solver::{
    Collider, Friction, ParticleArrays, Pose, SoaVec3, Surface, collide, shape::tests::SHAPES,
    simd::levels::same_bits,
};
use bevy::math::Quat;

const COUNT: usize = 1000;

/// Numbers from −1 to 1 that look random.
fn noise(i: usize, stream: usize) -> f32 {
    let mixed = (i * 7919 + stream * 104_729) % 65_537;
    (mixed * mixed % 65_537) as f32 / 32_768.5 - 1.0
}

/// A sheet of a few metres in waves, row by row, as cloth lies in memory; every ninth is pinned.
fn particles() -> ParticleArrays {
    let place = |i: usize| {
        let (column, row) = ((i % 40) as f32, (i / 40) as f32);
        let wave = 0.3 * noise(i / 7, 1) + 0.01 * noise(i, 2);
        Vec3::new(0.1 * column - 2.0, wave, 0.1 * row - 1.2)
    };
    let w = (0..COUNT).map(|i| f32::from(i % 9 != 0)).collect();
    let mut p = ParticleArrays::new(Vec3::X, (0..COUNT).map(place).collect(), w);
    p.displacement = (0..COUNT)
        .map(|i| Vec3::new(noise(i, 3), noise(i, 4), noise(i, 5)) * 0.02)
        .collect();
    p
}

fn pose(k: usize) -> Pose {
    let axis = Vec3::new(noise(k, 6), noise(k, 7), noise(k, 8)).normalize();
    Pose {
        rotation: Quat::from_axis_angle(axis, 3.0 * noise(k, 9)),
        translation: Vec3::new(2.0 * noise(k, 10), noise(k, 11), 2.0 * noise(k, 12)),
    }
}

/// Of each shape some that stand, some that move, most of them somewhere in the sheet.
fn colliders() -> Vec<Collider> {
    (0..81)
        .map(|k| {
            let (start, mut end) = (pose(k), pose(k));
            if k % 3 == 0 {
                end.translation += Vec3::new(0.1, 0.2, -0.1);
                end.rotation *= Quat::from_rotation_x(0.2);
            }
            let friction = Friction {
                fixed: 0.5 * (k % 5) as f32,
                kinetic: 0.1 * (k % 7) as f32,
            };
            Collider {
                shape: SHAPES[k % SHAPES.len()],
                start,
                end,
                friction,
                hollow: k / SHAPES.len() % 3 == 2,
            }
        })
        .collect()
}

fn surface(thickness: f32) -> Surface {
    Surface {
        thickness,
        friction: Friction {
            fixed: 0.4,
            kinetic: 0.3,
        },
    }
}

fn bits(p: &ParticleArrays) -> Vec<u32> {
    p.position.bits().chain(p.displacement.bits()).collect()
}

/// The scalar twin with every collider, none passed by.
fn plain(p: &ParticleArrays, colliders: &[Collider], by: &Surface) -> ParticleArrays {
    let mut p = p.clone();
    let obstacle = |collider| Obstacle::new(collider, by, p.origin, 1, 4);
    let obstacles: Vec<_> = colliders.iter().map(obstacle).collect();
    let (x, d) = (&mut p.position, &mut p.displacement);
    let contacts = Contacts {
        x: [&mut x.x, &mut x.y, &mut x.z],
        d: [&mut d.x, &mut d.y, &mut d.z],
        w: &p.inverse_mass,
        obstacles: &obstacles,
        boxes: &Boxes::default(),
    };
    contacts.run_scalar();
    p
}

#[test]
fn all_levels_give_the_bits_of_the_plain_formula() {
    let before = particles();
    let colliders = colliders();
    for thickness in [0.0, 0.03, 0.5] {
        let by = surface(thickness);
        for chosen in colliders.chunks(1).chain([&colliders[..]]) {
            let expected = plain(&before, chosen, &by);
            let bits_at_level = same_bits(|| {
                let mut p = before.clone();
                collide(&mut p, chosen, &by, 1, 4);
                bits(&p)
            });
            assert!(bits_at_level == bits(&expected), "{chosen:?}");
        }
        // Half-spaces apart, each collider touches some but not all.
        let touched = |c: &Collider| {
            let after = plain(&before, &[*c], &by);
            let pairs = before.position.iter().zip(after.position.iter());
            pairs.filter(|(a, b)| a != b).count()
        };
        let counts: Vec<usize> = colliders.iter().map(touched).collect();
        let some = counts.iter().filter(|&&n| n > 0 && n < COUNT).count();
        assert!(some >= 50, "{counts:?}");
    }
}

#[test]
fn what_is_passed_by_touches_nothing() {
    // A single particle is its own bounding box: it may be passed by where it is farther than the
    // thickness, and must not be where it is not.
    let by = surface(0.05);
    for (shape, hollow) in SHAPES
        .iter()
        .flat_map(|&shape| [(shape, false), (shape, true)])
    {
        let (mut passed, mut touching) = (0, 0);
        for i in 0..4000 {
            let at = Vec3::new(noise(i, 21), noise(i, 22), noise(i, 23)) * 0.7;
            let fixed = Collider::fixed(shape, pose(i % 50), Friction::default());
            let collider = Collider { hollow, ..fixed };
            let place = collider.start.translation + at;
            let p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter([place]), vec![1.0]);
            let obstacle = Obstacle::new(&collider, &by, Vec3::ZERO, 0, 1);
            let touches = bits(&plain(&p, &[collider], &by)) != bits(&p);
            let may_touch = obstacle.may_touch(&[place.to_array(); 2]);
            assert!(may_touch || !touches, "{shape:?} at {at}");
            passed += u32::from(!may_touch);
            touching += u32::from(touches);
        }
        assert!(
            passed > 100 && touching > 100,
            "{shape:?}, hollow {hollow}: {passed}, {touching}"
        );
    }
}
