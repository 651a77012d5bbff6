use super::*;
use crate::solver::{
    Collider, Friction, ParticleArrays, Pose, SoaVec3, Surface, collide,
    collision::shape::tests::SHAPES,
    math::noise::{noise, noise_point},
    simd::levels::same_bits,
};
use bevy::math::Quat;

const COUNT: usize = 1000;

/// Creates a wavy cloth of a few metres, row by row as cloth lies in memory, with every ninth particle pinned.
fn particles() -> ParticleArrays {
    let position = |i: usize| {
        let (column, row) = ((i % 40) as f32, (i / 40) as f32);
        let wave = 0.3 * noise(i / 7, 1) + 0.01 * noise(i, 2);
        Vec3::new(0.1 * column - 2.0, wave, 0.1 * row - 1.2)
    };
    let w = (0..COUNT).map(|i| f32::from(i % 9 != 0)).collect();
    let mut p = ParticleArrays::new(Vec3::X, (0..COUNT).map(position).collect(), w);
    p.displacement = (0..COUNT).map(|i| noise_point(i, 3) * 0.02).collect();
    p
}

fn pose(k: usize) -> Pose {
    let axis = noise_point(k, 6).normalize();
    Pose {
        rotation: Quat::from_axis_angle(axis, 3.0 * noise(k, 9)),
        translation: Vec3::new(2.0 * noise(k, 10), noise(k, 11), 2.0 * noise(k, 12)),
    }
}

/// Creates colliders of each shape, some at rest and some moving, most of them within the cloth.
fn colliders() -> Vec<Collider> {
    (0..81)
        .map(|k| {
            let (start, mut end) = (pose(k), pose(k));
            if k % 3 == 0 {
                end.translation += Vec3::new(0.1, 0.2, -0.1);
                end.rotation *= Quat::from_rotation_x(0.2);
            }
            let friction = Friction {
                static_coefficient: 0.5 * (k % 5) as f32,
                kinetic_coefficient: 0.1 * (k % 7) as f32,
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
            static_coefficient: 0.4,
            kinetic_coefficient: 0.3,
        },
    }
}

fn bits(p: &ParticleArrays) -> Vec<u32> {
    let vectors = [&p.position, &p.displacement, &p.contact_normal];
    vectors.into_iter().flat_map(|v| v.bits()).collect()
}

/// Runs the scalar reference with all colliders, without skipping any.
fn reference(p: &ParticleArrays, colliders: &[Collider], surface: &Surface) -> ParticleArrays {
    let mut p = p.clone();
    let at_substep = |collider| ColliderAtSubstep::new(collider, surface, p.origin, [1, 4]);
    let colliders: Vec<_> = colliders.iter().map(at_substep).collect();
    let (x, d) = (&mut p.position, &mut p.displacement);
    let normals = &mut p.contact_normal;
    let contacts = Contacts {
        normals: normals.planes_mut().map(|plane| &mut **plane),
        x: x.planes_mut().map(|plane| &mut **plane),
        d: d.planes_mut().map(|plane| &mut **plane),
        w: &p.inverse_mass,
        colliders: &colliders,
        boxes: &Boxes::default(),
    };
    contacts.run_reference();
    p
}

#[test]
fn all_simd_levels_give_the_bits_of_the_scalar_reference() {
    let before = particles();
    let colliders = colliders();
    for thickness in [0.0, 0.03, 0.5] {
        let surface = surface(thickness);
        for chosen in colliders.chunks(1).chain([&colliders[..]]) {
            let expected = reference(&before, chosen, &surface);
            let bits_at_level = same_bits(|| {
                let mut p = before.clone();
                collide(&mut p, chosen, &surface, 1, 4);
                bits(&p)
            });
            assert!(bits_at_level == bits(&expected), "{chosen:?}");
        }
        // Except for half-spaces, each collider touches some but not all particles.
        let touched = |c: &Collider| {
            let after = reference(&before, &[*c], &surface);
            let pairs = before.position.iter().zip(after.position.iter());
            pairs.filter(|(a, b)| a != b).count()
        };
        let counts: Vec<usize> = colliders.iter().map(touched).collect();
        let some = counts.iter().filter(|&&n| n > 0 && n < COUNT).count();
        assert!(some >= 50, "{counts:?}");
    }
}

#[test]
fn a_skipped_collider_has_no_contact() {
    // A single particle is its own bounding box: the collider may be skipped where the particle is farther away
    // than twice the thickness, and must not be skipped elsewhere.
    let surface = surface(0.025);
    for (shape, hollow) in SHAPES
        .iter()
        .flat_map(|&shape| [(shape, false), (shape, true)])
    {
        let (mut skipped, mut touching) = (0, 0);
        for i in 0..4000 {
            let at = noise_point(i, 21) * 0.7;
            let fixed = Collider::fixed(shape, pose(i % 50), Friction::default());
            let collider = Collider { hollow, ..fixed };
            let position = collider.start.translation + at;
            let p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter([position]), vec![1.0]);
            let at_substep = ColliderAtSubstep::new(&collider, &surface, Vec3::ZERO, [0, 1]);
            let touches = bits(&reference(&p, &[collider], &surface)) != bits(&p);
            let may_touch = at_substep.may_touch(&[position.to_array(); 2]);
            assert!(may_touch || !touches, "{shape:?} at {at}");
            skipped += u32::from(!may_touch);
            touching += u32::from(touches);
        }
        assert!(
            skipped > 100 && touching > 100,
            "{shape:?}, hollow {hollow}: {skipped}, {touching}"
        );
    }
}
