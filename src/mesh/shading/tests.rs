use super::*;
use crate::solver::{SoaVec3, simd::levels::same_bits};
use bevy::math::Quat;

/// Returns vectors of many directions and lengths.
fn some(count: usize, seed: usize) -> SoaVec3 {
    let part = |k: usize| (k * seed % 103) as f32 * 0.07 - 3.5;
    (0..count)
        .map(|i| Vec3::new(part(i), part(i + 5), part(i + 70)))
        .collect()
}

fn bits(vectors: impl IntoIterator<Item = Vec3>) -> impl Iterator<Item = u32> {
    let parts = vectors.into_iter().flat_map(|v| v.to_array());
    parts.map(f32::to_bits)
}

#[test]
fn positions_are_equal_at_all_simd_levels() {
    for count in [0, 1, 63, 64, 200] {
        let mut particles = ParticleArrays::new(Vec3::ZERO, some(count, 17), vec![1.0; count]);
        particles.position = some(count, 31);
        let turn = Mat3::from_quat(Quat::from_rotation_y(0.7));
        let frame = RenderFrame {
            alpha: 0.3,
            offset: Vec3::new(0.1, -2.0, 5.0),
            to_frame: turn * 0.5,
            shifts: &some(count, 53).iter().skip(1).collect::<Vec<_>>(),
        };
        same_bits(|| {
            let mut positions = vec![Vec3A::ONE; 7];
            let bounds = frame.transform(&particles, &mut positions);
            assert_eq!((positions.len(), bounds.is_none()), (count, count == 0));
            let (low, high) = bounds.unwrap_or_default();
            let inside = |v: &Vec3A| Vec3::from(*v).cmpge(low) & Vec3::from(*v).cmple(high);
            assert!(positions.iter().all(|v| inside(v).all()));
            bits(positions.into_iter().map(Vec3::from).chain([low, high])).collect()
        });
    }
}

#[test]
fn normalized_vectors_are_equal_at_all_simd_levels() {
    let mut vectors: Vec<Vec3A> = some(150, 17).iter().map(Vec3A::from).collect();
    vectors[3] = Vec3A::ZERO;
    vectors[70] = Vec3A::splat(f32::NAN);
    vectors[71] = Vec3A::X * f32::MAX;
    vectors[72] = Vec3A::X * 1e-30;
    let units = same_bits(|| {
        let mut vectors = vectors.clone();
        normalize(&mut vectors);
        bits(vectors.into_iter().map(Vec3::from)).collect()
    });
    let unit = |i: usize| Vec3::from_slice(&[0, 1, 2].map(|k| f32::from_bits(units[3 * i + k])));
    for i in 0..150 {
        let lost = [3, 70, 71, 72].contains(&i);
        let length = unit(i).length();
        assert!(
            if lost {
                length == 0.0
            } else {
                (length - 1.0).abs() < 1e-6
            },
            "{i}: {length}"
        );
    }
}
