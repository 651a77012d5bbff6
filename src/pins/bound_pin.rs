//! Pinned particle with its position in the frame of its anchor.

use super::PinAnchor;
use crate::solver::PinTarget;
use bevy::{math::Affine3A, prelude::*};

/// Pinned particle with its position in the frame of its anchor.
///
/// World positions are stored as an origin and a small offset from it: far from the world's origin a single vector
/// would be rounded to millimetres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BoundPin {
    pub(crate) particle: u32,
    pub(crate) anchor: PinAnchor,
    /// Position in the frame of the anchor, m; `None` until the anchor exists.
    offset: Option<Vec3>,
    /// Last position, m from `held_origin`: kept without the anchor.
    held: Vec3,
    held_origin: Vec3,
}

impl BoundPin {
    /// Pins a particle at `position`, relative to `origin`, m.
    pub(crate) fn new(particle: u32, anchor: PinAnchor, position: Vec3, origin: Vec3) -> Self {
        Self {
            particle,
            anchor,
            offset: None,
            held: position,
            held_origin: origin,
        }
    }

    /// Sets the position in the frame of the anchor, wherever the particle is now.
    pub(crate) fn with_offset(self, offset: Vec3) -> Self {
        Self {
            offset: Some(offset),
            ..self
        }
    }

    /// Returns the same pin for a copy of its particle.
    pub(crate) fn for_copy(self, particle: u32) -> Self {
        Self { particle, ..self }
    }

    /// Returns the target of the particle, relative to `origin`, m. `anchor` maps the frame of the anchor, if
    /// there is one, to the world, relative to the same origin. The pin moves with the anchor from the first call
    /// that has one.
    pub(crate) fn target(&mut self, anchor: Option<Affine3A>, origin: Vec3) -> PinTarget {
        self.held += self.held_origin - origin;
        self.held_origin = origin;
        if let Some(affine) = anchor {
            let to_anchor = Vec3::from(affine.translation);
            let offset = *self.offset.get_or_insert_with(|| {
                let offset = affine.matrix3.inverse() * (self.held - to_anchor);
                // An anchor with a scale of 0 has no inverse; use its origin.
                if offset.is_finite() {
                    offset
                } else {
                    Vec3::ZERO
                }
            });
            let held = affine.matrix3 * offset + to_anchor;
            if held.is_finite() {
                self.held = held;
            }
        }
        PinTarget {
            particle: self.particle,
            position: self.held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_or_missing_anchor_leaves_the_pin_where_it_was() {
        let position = Vec3::new(1.0, 2.0, 0.0);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, position, Vec3::ZERO);
        let anchor = Affine3A::from_translation(Vec3::X);
        assert_eq!(pin.target(Some(anchor), Vec3::ZERO).position, position);
        for gone in [Some(Affine3A::from_translation(Vec3::NAN)), None] {
            assert_eq!(pin.target(gone, Vec3::ZERO).position, position);
            // The same position relative to another origin.
            let shifted = pin.target(gone, Vec3::X).position;
            assert_eq!(shifted, Vec3::Y * 2.0);
        }
        let back = Affine3A::from_translation(Vec3::new(1.0, 5.0, 0.0));
        let followed = pin.target(Some(back), Vec3::ZERO).position;
        assert_eq!(followed, Vec3::new(1.0, 7.0, 0.0));
    }

    #[test]
    fn far_away_pins_are_not_rounded() {
        let far = Vec3::new(16384.0, 0.0, -8192.0);
        let position = Vec3::new(0.123_456_7, 0.3, 0.765_432_1);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, position, far);
        assert_eq!(pin.target(Some(Affine3A::IDENTITY), far).position, position);
    }
}
