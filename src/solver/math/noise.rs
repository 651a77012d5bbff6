//! Pseudo-random numbers.

use bevy::math::Vec3;

/// Returns a pseudo-random number from −1 to 1.
pub(in crate::solver) fn noise(i: usize, stream: usize) -> f32 {
    let mixed = (i as u64 % 65_537 * 7919 + stream as u64 * 104_729) % 65_537;
    (mixed * mixed % 65_537) as f32 / 32_768.5 - 1.0
}

/// Returns a pseudo-random point in a cube with a side of 2.
pub(in crate::solver) fn noise_point(i: usize, stream: usize) -> Vec3 {
    Vec3::from([0, 1, 2].map(|axis| noise(i, stream + axis)))
}
