//! Pinned particles of a cloth, with their positions in the frames of their anchors.

use super::{PinAnchor, Pins, bind::NO_PINS};
use crate::solver::{PinTarget, particles::is_within_reach};
use bevy::{math::Affine3A, prelude::*};

/// Pinned particles of a cloth. Written when the cloth is built, reset, torn or restored, and at the beginning of a
/// step when `Pins` or max distances change; each step writes the targets. Read by the step, sleep, the tracking of
/// anchors and the coupling with physics engines.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct BoundPins {
    pub(crate) pins: Vec<BoundPin>,
    /// Targets of the pins in this fixed step.
    pub(crate) targets: Vec<PinTarget>,
    /// `Pins` from which `pins` was resolved.
    pub(crate) bound_from: Pins,
    /// Particles on the seam with the rigid part of the mesh: pinned regardless of `Pins`.
    pub(crate) seam: Vec<u32>,
    /// Anchors without a usable transform that were reported; the cloth itself even if nothing is pinned to it.
    pub(crate) lost_anchors: Vec<Entity>,
}

impl BoundPins {
    /// Returns whether the pins were resolved from these `Pins`, or from none.
    pub(crate) fn are_bound_from(&self, pins: Option<&Pins>) -> bool {
        self.bound_from == *pins.unwrap_or(&NO_PINS)
    }

    /// Returns the pinned particles.
    pub(crate) fn particles(&self) -> impl Iterator<Item = u32> + '_ {
        self.pins.iter().map(|pin| pin.particle)
    }

    /// Returns the entities to which particles are pinned, once per pin.
    pub(crate) fn anchors(&self) -> impl Iterator<Item = Entity> + '_ {
        self.pins.iter().filter_map(|pin| pin.anchor.entity())
    }

    /// Returns the entity to which all pins are anchored, or `cloth` if they have several anchors or there are no pins;
    /// `None` if any pin is anchored to the world.
    pub(crate) fn common_anchor(&self, cloth: Entity) -> Option<Entity> {
        let mut anchor = None;
        for pin in &self.pins {
            match (pin.anchor, anchor) {
                (PinAnchor::World, _) => return None,
                (PinAnchor::Entity(other), None) => anchor = Some(other),
                (PinAnchor::Entity(other), Some(one)) if other == one => {}
                // Several anchors.
                _ => anchor = Some(cloth),
            }
        }
        Some(anchor.unwrap_or(cloth))
    }

    /// Moves all pins, which have no targets yet, to another origin.
    pub(crate) fn move_to(&mut self, origin: Vec3) {
        for pin in &mut self.pins {
            pin.held_origin = origin;
        }
    }

    /// Adds a pin for a copy of a particle, if that is pinned.
    pub(crate) fn copy(&mut self, source: u32, copy: u32) {
        let pin = self.pins.iter().find(|pin| pin.particle == source);
        if let Some(pin) = pin.copied() {
            self.pins.push(BoundPin {
                particle: copy,
                ..pin
            });
        }
        let target = self.targets.iter().find(|t| t.particle == source);
        if let Some(target) = target.copied() {
            self.targets.push(PinTarget {
                particle: copy,
                ..target
            });
        }
    }
}

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
    /// Last target, relative to `held_origin`, m: remains the target while the anchor does not exist.
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
            if is_within_reach(held) {
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
