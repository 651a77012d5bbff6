//! Contacts of cloths with themselves, other cloths and colliders.

use crate::solver::{self, Collider, SelfCollisionSettings, SubstepTime};
use crate::{
    cloth::{
        Cloth, SelfCollision, body::ClothBody, particles::ClothParticles, shape::ClothShape,
        update_rate::UpdateRate,
    },
    mesh::Topology,
};
use bevy::prelude::*;

/// Contacts of a cloth. Derived from the other components in each step: written by the broad phase, the substeps and
/// the end of the step, read by gizmos.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothContacts {
    pub(crate) contacts: solver::Contacts,
    /// Scratch buffer for the colliders of a step: near ones, or all of them relative to the motion of the reference
    /// frame.
    pub(crate) collider_buffer: Vec<Collider>,
    /// Frame for which the mean particle spacing at rest was measured, and that spacing, m.
    spacing: Option<(Mat3, f32)>,
}

impl ClothContacts {
    /// Returns the minimum distance kept from itself and other cloths, m; `None` if it collides with no cloth.
    pub(crate) fn distance(
        &mut self,
        cloth: &Cloth,
        body: &ClothBody,
        shape: &ClothShape,
        rate: &UpdateRate,
        time: &SubstepTime,
    ) -> Option<f32> {
        if cloth.self_collision == SelfCollision::Off || !rate.collides() {
            if self.spacing.is_some() {
                // Frees the memory as well.
                self.contacts = default();
                self.spacing = None;
            }
            return None;
        }
        let iterations = rate.iterations(cloth.iterations);
        let ramped = body.ramped(cloth, shape, time, iterations);
        Some(self.self_distance(ramped.thickness, shape))
    }

    /// Returns the distance that the particles of a cloth of this thickness keep from each other, m.
    fn self_distance(&mut self, thickness: f32, shape: &ClothShape) -> f32 {
        let to_world = shape.to_world;
        let spacing = match self.spacing {
            Some((frame, spacing)) if frame == to_world => spacing,
            _ => {
                // Of the whole cloth: a tear does not change the distance.
                let Topology {
                    positions,
                    triangles,
                    ..
                } = &shape.topology;
                let spacing = solver::rest_spacing(positions, triangles, to_world);
                self.spacing = Some((to_world, spacing));
                spacing
            }
        };
        solver::self_distance(thickness + 2.0 * shape.radius(), spacing)
    }

    /// Searches for the first contacts of a cloth with itself, so that its first step takes no longer than others.
    pub(crate) fn prepare_self_collision(
        &mut self,
        cloth: &Cloth,
        particles: &ClothParticles,
        shape: &ClothShape,
    ) {
        if cloth.self_collision == SelfCollision::On {
            let distance = self.self_distance(shape.thickness(&cloth.fabric), shape);
            let settings = self_collision_settings(cloth, shape, distance);
            self.contacts.prepare_self_collision(particles, &settings);
        }
    }
}

/// Returns the settings of contacts of a cloth with itself and with other cloth, which keep this distance, m.
pub(crate) fn self_collision_settings<'a>(
    cloth: &Cloth,
    shape: &'a ClothShape,
    distance: f32,
) -> SelfCollisionSettings<'a> {
    SelfCollisionSettings {
        distance,
        friction: cloth.fabric.surface().friction,
        rest: shape.rest(),
        to_world: shape.to_world,
        triangles: &shape.triangles.indices,
    }
}
