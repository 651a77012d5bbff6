use super::*;
use std::sync::LazyLock;

static NO_TRIANGLES: LazyLock<Corners> = LazyLock::new(Default::default);
static REST: LazyLock<Vec<Vec3>> = LazyLock::new(|| grid(0.0).collect());

const FRICTION: Friction = Friction {
    static_coefficient: 0.3,
    kinetic_coefficient: 0.2,
};

/// Positions of 5 × 5 particles, 0.1 m apart, at this height.
fn grid(height: f32) -> impl Iterator<Item = Vec3> {
    (0..25).map(move |i| Vec3::new((i % 5) as f32 * 0.1, height, (i / 5) as f32 * 0.1))
}

/// A flat cloth at this height above an origin, that moves down by `fall` in a substep.
fn flat_cloth(origin: Vec3, height: f32, fall: f32, w: f32) -> ParticleArrays {
    let mut p = ParticleArrays::new(origin, grid(height).collect(), vec![w; 25]);
    p.displacement.fill(Vec3::NEG_Y * fall);
    p.position.add_all(Vec3::NEG_Y * fall);
    p.predicted.copy_from(&p.position);
    p
}

/// Lets cloths collide that keep these distances. Returns whether each has touched another.
fn collide<const N: usize>(
    cloths: [&mut ParticleArrays; N],
    distances: [f32; N],
    is_due: [bool; N],
) -> [bool; N] {
    let mut k = 0;
    let mut touched = [false; N];
    let mut warm_starts = [(); N].map(|()| WarmStart::default());
    let mut forces = warm_starts.iter_mut();
    let mut flags = touched.iter_mut();
    let mut cloths = cloths.map(|particles| {
        k += 1;
        IslandCloth {
            particles,
            settings: SelfCollisionSettings {
                distance: distances[k - 1],
                friction: FRICTION,
                rest: &REST,
                to_world: Mat3::IDENTITY,
                triangles: &NO_TRIANGLES,
            },
            is_due: is_due[k - 1],
            touched: flags.next().unwrap(),
            warm_start: forces.next().unwrap(),
            id: k as u64,
        }
    });
    IslandContacts::default().collide(&mut cloths, |_, _| true, &SubstepTime::new(0.01, 1));
    touched
}

#[test]
fn colliding_cloths_keep_apart_and_conserve_momentum() {
    for origin in [Vec3::ZERO, Vec3::new(3.0, -2.0, 7.0)] {
        let mut below = flat_cloth(Vec3::ZERO, 0.0, 0.0, 1.0);
        // The same world position, relative to another origin.
        let mut above = flat_cloth(origin, 0.11, 0.05, 4.0);
        above.position.add_all(-origin);
        above.predicted.copy_from(&above.position);
        let touched = collide([&mut below, &mut above], [0.1; 2], [true; 2]);
        assert_eq!(touched, [true; 2]);
        for i in 0..25 {
            let apart = above.world_position(i) - below.world_position(i);
            assert!((0.089..0.1).contains(&apart.y), "{apart}");
        }
        let momentum: f32 = (0..25)
            .map(|i| below.displacement.y[i] + 0.25 * above.displacement.y[i])
            .sum();
        assert!((momentum + 25.0 * 0.25 * 0.05).abs() < 1e-5, "{momentum}");
        // The light cloth takes most of the correction.
        assert!(below.displacement.y[12] > -0.02);
    }
}

#[test]
fn two_cloths_keep_the_larger_distance() {
    // The distances of the lower and the middle cloth are less than the spacing of their particles.
    let distances = [0.04, 0.05, 0.1];
    let heights = |is_due: [bool; 3]| {
        let mut all = [0.0, 0.03, 0.11].map(|height| flat_cloth(Vec3::ZERO, height, 0.0, 1.0));
        all[2].displacement.fill(Vec3::NEG_Y * 0.01);
        let touched = collide(all.each_mut(), distances, is_due);
        (all.map(|p| p.position.y[12]), touched)
    };
    let ([low, middle, high], touched) = heights([true; 3]);
    assert_eq!(touched, [true; 3]);
    // They move apart by a tenth of the distance per substep.
    assert!((low + 0.0025).abs() < 1e-5, "{low}");
    assert!(high - middle > 0.085, "{middle}, {high}");
    // A cloth that does not take the substep touches nothing.
    let (heights, touched) = heights([true, false, true]);
    assert_eq!(heights, [0.0, 0.03, 0.11]);
    assert_eq!(touched, [false; 3]);
}

#[test]
fn distant_cloths_are_left_alone() {
    let mut a = flat_cloth(Vec3::ZERO, 0.0, 0.01, 1.0);
    for height in [0.3, 5.0] {
        let mut b = flat_cloth(Vec3::X, height, 0.0, 1.0);
        b.position.add_all(Vec3::NEG_X);
        b.predicted.copy_from(&b.position);
        let before = (a.clone(), b.clone());
        let touched = collide([&mut a, &mut b], [0.1; 2], [true; 2]);
        assert_eq!(touched, [false; 2]);
        assert_eq!((&a, &b), (&before.0, &before.1));
    }
    let mut empty = ParticleArrays::default();
    assert_eq!(
        collide([&mut a, &mut empty], [0.1; 2], [true; 2]),
        [false; 2]
    );
    let mut b = a.clone();
    for distance in [0.0, f32::NAN, f32::INFINITY] {
        let touched = collide([&mut a, &mut b], [distance; 2], [true; 2]);
        assert_eq!(touched, [false; 2]);
    }
}

#[test]
fn two_cloths_in_the_same_position_separate_slowly() {
    let mut a = flat_cloth(Vec3::ZERO, 0.0, 0.0, 1.0);
    let mut b = a.clone();
    let touched = collide([&mut a, &mut b], [0.1; 2], [true; 2]);
    assert_eq!(touched, [true; 2]);
    for p in [&a, &b] {
        assert!(p.is_finite());
        let max_offset = p
            .position
            .y
            .iter()
            .fold(0.0, |max: f32, y| max.max(y.abs()));
        assert!(max_offset > 0.0 && max_offset < 0.1, "{max_offset}");
        assert!(p.displacement.iter().all(|d| d.length() < 1e-3));
    }
}
