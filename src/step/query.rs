//! Components of a cloth that a step reads and writes.

use crate::solver::{ClothState, Collider, PinTarget, SelfCollisionSettings, SubstepTime};
use crate::{
    character::{
        frame_history::ReferenceFrame, inertia::ClothInertia, max_distance::ClothMaxDistance,
        multipliers::MeshPaint, paint::ClothPaint, skin_weights::SkinWeights,
    },
    cloth::{
        Cloth,
        body::{ClothBody, RampedSettings},
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        planar::PlanarCloth,
        shape::ClothShape,
        update_rate::UpdateRate,
    },
    collision::{
        bodies::ClothBodies,
        contacts::{ClothContacts, self_collision_settings},
        layers::ClothLayers,
    },
    grab::ClothGrabs,
    label::EntityLabel,
    pins::{BoundPins, Pins},
    pressure::{ClothPressure, enclosed_air::EnclosedVolume},
    sleep::SleepTimer,
    tearing::ClothTearing,
};
use bevy::{ecs::query::QueryData, prelude::*};

/// Components of a cloth that a step reads and writes: those of the user first, then the state of the cloth.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct StepQuery {
    pub(crate) label: EntityLabel,
    pub(crate) cloth: &'static Cloth,
    pub(crate) pins: Option<&'static Pins>,
    pub(crate) tearing: Option<&'static ClothTearing>,
    pub(crate) pressure: Option<&'static ClothPressure>,
    pub(crate) paint: Option<&'static ClothPaint>,
    pub(crate) max_distance: Option<&'static ClothMaxDistance>,
    pub(crate) inertia: Option<&'static ClothInertia>,
    pub(crate) layers: Option<&'static ClothLayers>,
    pub(crate) planar: Option<&'static PlanarCloth>,
    pub(crate) grabs: &'static ClothGrabs,
    pub(crate) particles: &'static mut ClothParticles,
    pub(crate) constraints: &'static mut ClothConstraints,
    pub(crate) body: &'static mut ClothBody,
    pub(crate) rate: &'static mut UpdateRate,
    pub(crate) shape: &'static ClothShape,
    pub(crate) multipliers: &'static mut ParticleMultipliers,
    pub(crate) bound_pins: &'static mut BoundPins,
    pub(crate) frame: &'static mut ReferenceFrame,
    pub(crate) skin: Option<&'static mut SkinWeights>,
    pub(crate) mesh_paint: &'static MeshPaint,
    pub(crate) volume: &'static mut EnclosedVolume,
    pub(crate) bodies: &'static mut ClothBodies,
    pub(crate) contacts: &'static mut ClothContacts,
    pub(crate) sleep_timer: &'static mut SleepTimer,
}

/// State of a cloth in the solver, and the lists beside it to which inputs of a step refer.
pub(crate) struct LentState<'a> {
    pub(crate) state: ClothState<'a>,
    /// Targets of the pins in this step.
    pub(crate) pin_targets: &'a [PinTarget],
    /// Colliders selected for this step.
    pub(crate) colliders: &'a [Collider],
}

impl<'w> StepQueryItem<'w, '_> {
    /// Lends the state of the cloth to the solver.
    pub(crate) fn lend(&mut self) -> LentState<'_> {
        let contacts = self.contacts.bypass_change_detection();
        LentState {
            state: ClothState {
                particles: &mut self.particles.0,
                constraints: &mut self.constraints.bypass_change_detection().0,
                triangles: &self.shape.triangles,
                segments: self.shape.segments.as_ref(),
                tethers: &self.body.tethers,
                motion_constraints: &self.frame.motion_constraints,
                bodies: &mut self.bodies.bypass_change_detection().0,
                contacts: &mut contacts.contacts,
            },
            pin_targets: &self.bound_pins.targets,
            colliders: &contacts.collider_buffer,
        }
    }

    /// Returns the ramped settings of this step.
    pub(crate) fn ramped(&self, time: &SubstepTime) -> RampedSettings {
        let iterations = self.rate.iterations(self.cloth.iterations);
        self.body.ramped(self.cloth, self.shape, time, iterations)
    }

    /// Returns the settings of contacts of the cloth with itself and with other cloth; `None` if there are none.
    pub(crate) fn self_collision(
        &mut self,
        time: &SubstepTime,
    ) -> Option<SelfCollisionSettings<'w>> {
        let (cloth, shape) = (self.cloth, self.shape);
        let contacts = self.contacts.bypass_change_detection();
        let distance = contacts.distance(cloth, &self.body, shape, &self.rate, time)?;
        Some(self_collision_settings(cloth, shape, distance))
    }

    /// Recomputes all inverse masses.
    pub(crate) fn set_masses(&mut self, areal_density: f32) {
        self.body.areal_density = areal_density;
        let pinned = self.bound_pins.particles();
        (self.multipliers).set_masses(&mut self.particles, self.shape, pinned, areal_density);
    }

    /// Recomputes the masses of a cloth that was restored because of non-finite numbers, and logs that once until the
    /// cloth has been valid for a while.
    pub(crate) fn report_invalid_state(&mut self) {
        self.set_masses(self.body.areal_density);
        if std::mem::replace(&mut self.body.error_cooldown, ERROR_COOLDOWN) == 0 {
            error!(
                "cloth {}: has a position or force that is not finite or beyond 16 777 km, and was put \
                 back into its last valid state; look for NaN, infinity and huge numbers in what \
                 your systems write to its ClothParticles and ClothConstraints",
                self.label
            );
        }
    }
}

/// Number of valid steps after which another non-finite state of the same cloth is logged again.
const ERROR_COOLDOWN: u32 = 60;
