//! A pinned particle and where it must go.

use super::PinAnchor;
use crate::solver::PinTarget;
use bevy::prelude::*;

/// A pinned particle with its place in the frame of its anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BoundPin {
    pub(crate) particle: u32,
    pub(crate) anchor: PinAnchor,
    /// Its place in the frame of the anchor (in the world for [`PinAnchor::World`]), m.
    pub(crate) offset: Vec3,
    /// Where it was last held in the world, m: it stays there if the anchor is gone.
    pub(crate) held_at: Vec3,
}

impl BoundPin {
    /// Pins a particle that is at `place` in the world, to an anchor with this transform.
    pub(crate) fn new(
        particle: u32,
        anchor: PinAnchor,
        place: Vec3,
        transform: &GlobalTransform,
    ) -> Self {
        let offset = transform.affine().inverse().transform_point3(place);
        Self {
            particle,
            anchor,
            // An anchor without a size has no inverse; its origin is as good as any place.
            offset: if offset.is_finite() {
                offset
            } else {
                Vec3::ZERO
            },
            held_at: place,
        }
    }

    /// Where the solver must put the particle, relative to `origin`.
    pub(crate) fn target(&mut self, transform: &GlobalTransform, origin: Vec3) -> PinTarget {
        let held_at = transform.transform_point(self.offset);
        if held_at.is_finite() {
            self.held_at = held_at;
        }
        self.hold(origin)
    }

    /// The same for a pin whose anchor is gone: it stays.
    pub(crate) fn hold(&self, origin: Vec3) -> PinTarget {
        PinTarget {
            particle: self.particle,
            position: self.held_at - origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_anchor_that_breaks_leaves_the_pin_where_it_was() {
        let anchor = GlobalTransform::from_xyz(1.0, 0.0, 0.0);
        let mut pin = BoundPin::new(0, PinAnchor::Cloth, Vec3::new(1.0, 2.0, 0.0), &anchor);
        assert_eq!(pin.offset, Vec3::Y * 2.0);
        let broken = GlobalTransform::from_xyz(f32::NAN, 0.0, 0.0);
        let held = pin.target(&broken, Vec3::ZERO).position;
        assert_eq!(held, Vec3::new(1.0, 2.0, 0.0));
    }
}
