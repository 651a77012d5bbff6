//! Motion constraints.

use super::*;
use crate::solver::simd::levels;

/// Returns the projection of a particle at `x`, with a target that moves from the origin to x = 1.
fn projected(x: Vec3, constraints: MotionConstraints, during: [u32; 2]) -> Vec3 {
    let mut p = ParticleArrays::new(Vec3::ZERO, [x].into_iter().collect(), vec![1.0]);
    constraints.solve(&mut Workers::serial(), &mut p, during);
    p.position.get(0)
}

fn constraints(max_distance: f32) -> MotionConstraints {
    MotionConstraints {
        start_targets: SoaVec3::zeros(1),
        end_targets: [Vec3::X].into_iter().collect(),
        max_distances: vec![max_distance],
        backstop: None,
    }
}

#[test]
fn particles_stay_within_max_distance_of_their_moving_target() {
    // At the end of the second of four substeps the target is halfway.
    let target = Vec3::X * 0.5;
    let far = target + Vec3::Y * 3.0;
    assert_eq!(
        projected(far, constraints(0.25), [1, 4]),
        target + Vec3::Y * 0.25
    );
    let near = target + Vec3::Z * 0.2;
    assert_eq!(projected(near, constraints(0.25), [1, 4]), near);
    assert_eq!(projected(far, constraints(f32::INFINITY), [1, 4]), far);
    assert_eq!(projected(far, constraints(0.0), [3, 4]), Vec3::X);
    assert_eq!(projected(target, constraints(0.0), [1, 4]), target);
}

#[test]
fn pinned_and_additional_particles_are_not_moved() {
    let far = Vec3::Y * 9.0;
    let positions = [far, far].into_iter().collect();
    let mut p = ParticleArrays::new(Vec3::ZERO, positions, vec![0.0, 1.0]);
    constraints(0.1).solve(&mut Workers::serial(), &mut p, [0, 1]);
    assert_eq!([p.position.get(0), p.position.get(1)], [far, far]);
}

#[test]
fn a_backstop_keeps_particles_in_front() {
    let back = |distance| MotionConstraints {
        backstop: Some(BackstopSpheres {
            normal: [Vec3::Z].into_iter().collect(),
            distance: vec![distance],
            radius: 2.0,
        }),
        ..constraints(1.0)
    };
    let target = Vec3::X;
    let behind = target - Vec3::Z * 0.5;
    // Straight behind, the particle moves to the surface of the sphere.
    let out = projected(behind, back(0.1), [0, 1]);
    assert!((out - (target - Vec3::Z * 0.1)).length() < 1e-6, "{out}");
    // A backstop farther behind does not act.
    assert_eq!(projected(behind, back(0.6), [0, 1]), behind);
    assert_eq!(projected(behind, back(f32::INFINITY), [0, 1]), behind);
    // The maximum distance has priority over the backstop.
    let strict = MotionConstraints {
        max_distances: vec![0.3],
        ..back(-0.8)
    };
    let out = projected(behind, strict, [0, 1]);
    assert!((out - (target + Vec3::Z * 0.3)).length() < 1e-6, "{out}");
}

#[test]
fn all_levels_give_the_same_bits() {
    let n = 103;
    let wave = |k: usize, frequency: f32| (k as f32 * frequency).sin();
    let vectors = |frequency: f32| -> SoaVec3 {
        (0..n)
            .map(|k| {
                Vec3::new(
                    wave(k, frequency),
                    wave(k, frequency + 0.3),
                    wave(k, frequency + 0.7),
                )
            })
            .collect()
    };
    for backstop in [false, true] {
        let constraints = MotionConstraints {
            start_targets: vectors(0.1),
            end_targets: vectors(0.11),
            max_distances: (0..n)
                .map(|k| {
                    if k % 7 == 0 {
                        f32::INFINITY
                    } else {
                        0.2 * wave(k, 1.0).abs()
                    }
                })
                .collect(),
            backstop: backstop.then(|| BackstopSpheres {
                normal: vectors(0.9)
                    .iter()
                    .map(|n| n.normalize_or(Vec3::Y))
                    .collect(),
                distance: (0..n)
                    .map(|k| {
                        if k % 5 == 0 {
                            f32::INFINITY
                        } else {
                            0.1 * wave(k, 2.0)
                        }
                    })
                    .collect(),
                radius: 0.7,
            }),
        };
        let bits = levels::same_bits(|| {
            let masses = (0..n).map(|k| f32::from(u8::from(k % 11 > 0))).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, vectors(0.4), masses);
            constraints.solve(&mut Workers::serial(), &mut p, [1, 3]);
            p.position.bits().collect()
        });
        assert_eq!(bits.len(), 3 * n);
    }
}
