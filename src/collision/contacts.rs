//! Contacts of cloths with themselves, other cloths and colliders.

#[cfg(feature = "debug")]
use crate::cloth::particles::ClothParticles;
use crate::solver::{self, SubstepTime};
use crate::{
    cloth::{Cloth, SelfCollision, components::ClothBody},
    mesh::Topology,
};
use bevy::prelude::*;

/// Contacts of a cloth. Derived from the other components in each step.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothContacts {
    pub(crate) contacts: solver::Contacts,
    /// Frame for which the mean particle spacing at rest was measured, and that spacing, m.
    spacing: Option<(Mat3, f32)>,
}

impl ClothContacts {
    /// Discards cached contacts, after particles or their rest positions changed.
    pub(crate) fn forget(&mut self) {
        self.contacts.self_pairs.forget();
    }

    /// Returns the particle pairs in contact, within this tolerance, m.
    #[cfg(feature = "debug")]
    pub(crate) fn touching<'a>(
        &'a self,
        particles: &'a ClothParticles,
        tolerance: f32,
    ) -> impl Iterator<Item = [u32; 2]> + 'a {
        self.contacts
            .self_pairs
            .touching(&particles.position, tolerance)
    }

    /// Returns the minimum distance kept from itself and other cloths, m; `None` if it collides with no cloth.
    pub(crate) fn distance(
        &mut self,
        cloth: &Cloth,
        body: &ClothBody,
        time: &SubstepTime,
    ) -> Option<f32> {
        if cloth.self_collision == SelfCollision::Off || !body.update_rate.collides() {
            if self.spacing.is_some() {
                // Frees the memory as well.
                *self = Self::default();
            }
            return None;
        }
        let to_world = body.tether_source.to_world;
        let spacing = match self.spacing {
            Some((frame, spacing)) if frame == to_world => spacing,
            _ => {
                // Of the whole cloth: a tear does not change the distance.
                let Topology {
                    positions,
                    triangles,
                    ..
                } = &body.topology;
                let spacing = solver::rest_spacing(positions, triangles, to_world);
                self.spacing = Some((to_world, spacing));
                spacing
            }
        };
        let thickness = body.ramped(cloth, time).thickness + 2.0 * body.radius();
        Some(solver::self_distance(thickness, spacing))
    }
}
