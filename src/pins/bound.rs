//! A pinned particle and where it must go.

use super::PinAnchor;
use crate::solver::PinTarget;
use bevy::{math::Affine3A, prelude::*};

/// A pinned particle with its place in the frame of its anchor.
///
/// World places are pairs of an origin and a small vector from it: far from the world's origin a
/// single vector would be rounded to millimetres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BoundPin {
    pub(crate) particle: u32,
    pub(crate) anchor: PinAnchor,
    /// Its place in the frame of the anchor, m; not known before the anchor has been seen.
    offset: Option<Vec3>,
    /// Where it was last held, m from `held_origin`: it stays there without its anchor.
    held: Vec3,
    held_origin: Vec3,
}

impl BoundPin {
    /// Pins a particle that is at `place`, relative to `origin`, m.
    pub(crate) fn new(particle: u32, anchor: PinAnchor, place: Vec3, origin: Vec3) -> Self {
        Self {
            particle,
            anchor,
            offset: None,
            held: place,
            held_origin: origin,
        }
    }

    /// Pins a particle to where its anchor has this place of its own frame, wherever the particle is now.
    pub(crate) fn to_rest(self, rest: Vec3) -> Self {
        Self {
            offset: Some(rest),
            ..self
        }
    }

    /// The same pin for a copy of its particle.
    pub(crate) fn for_copy(self, particle: u32) -> Self {
        Self { particle, ..self }
    }

    /// Where the solver must put the particle, relative to `origin`, m. `anchor` is what takes the frame of
    /// its anchor, if it has one, into the world, relative to the same origin. It takes the pin along from
    /// the first time it is seen.
    pub(crate) fn target(&mut self, anchor: Option<Affine3A>, origin: Vec3) -> PinTarget {
        self.held += self.held_origin - origin;
        self.held_origin = origin;
        if let Some(affine) = anchor {
            let to_anchor = Vec3::from(affine.translation);
            let offset = *self.offset.get_or_insert_with(|| {
                let offset = affine.matrix3.inverse() * (self.held - to_anchor);
                // An anchor without a size has no inverse; its origin is as good as any place.
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
    fn an_anchor_that_breaks_leaves_the_pin_where_it_was() {
        let place = Vec3::new(1.0, 2.0, 0.0);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, place, Vec3::ZERO);
        let anchor = Affine3A::from_translation(Vec3::X);
        assert_eq!(pin.target(Some(anchor), Vec3::ZERO).position, place);
        for gone in [Some(Affine3A::from_translation(Vec3::NAN)), None] {
            assert_eq!(pin.target(gone, Vec3::ZERO).position, place);
            // The same place from another origin.
            let moved = pin.target(gone, Vec3::X).position;
            assert_eq!(moved, Vec3::Y * 2.0);
        }
        let back = Affine3A::from_translation(Vec3::new(1.0, 5.0, 0.0));
        let taken = pin.target(Some(back), Vec3::ZERO).position;
        assert_eq!(taken, Vec3::new(1.0, 7.0, 0.0));
    }

    #[test]
    fn far_away_pins_are_not_rounded() {
        let far = Vec3::new(16384.0, 0.0, -8192.0);
        let place = Vec3::new(0.123_456_7, 0.3, 0.765_432_1);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, place, far);
        assert_eq!(pin.target(Some(Affine3A::IDENTITY), far).position, place);
    }
}
