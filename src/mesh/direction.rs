//! Directions of vectors that may be too short for `f32` to have one.

use bevy::math::{Vec3, Vec3A};

/// Smallest length of a vector that has a direction: the squares of much smaller ones have few digits in `f32`.
pub(super) const SHORTEST: f32 = 1e-15;

/// Returns the direction of a vector; `None` if it is too short or too long to have one in `f32`.
pub(super) fn direction(vector: Vec3A) -> Option<Vec3A> {
    let inverse = 1.0 / vector.length();
    (inverse > 0.0 && inverse < 1.0 / SHORTEST).then(|| vector * inverse)
}

/// Returns the direction of a normal; upwards if it has none.
pub(crate) fn direction_or_up(normal: Vec3) -> Vec3 {
    direction(normal.into()).map_or(Vec3::Y, Vec3::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_has_unit_length_or_there_is_none() {
        // The squares of the first are not 0, but have few digits.
        for length in [4e-23, 1e-19, 1e-30, 1e-40, 0.0, 1e-14, 1e10, 1e25, f32::NAN] {
            let vector = Vec3A::new(length, -length, 0.0);
            let is_long_enough = (1e-15..1e19).contains(&length);
            assert_eq!(direction(vector).is_some(), is_long_enough, "{length}");
            let unit = direction_or_up(vector.into());
            assert!((unit.length() - 1.0).abs() < 1e-6, "{length}: {unit}");
        }
    }
}
