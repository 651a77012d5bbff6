//! Registers the core: components and settings of cloth, and the order of all system sets.

use crate::cloth::{
    Cloth, ClothReady, ResetCloth,
    add_schedules::add_schedules,
    planar::PlanarCloth,
    schedule::{ClothStepSchedule, ClothSubstepTime},
    settings::{ClothBuildMode, ClothGravity, ClothMaxThreads, ClothSubsteps},
    source::{ClothBuildFailed, ClothSource},
    warm_up::ClothWarmUp,
    workers::ClothWorkers,
};
use bevy::prelude::*;

/// Registers the components and settings of cloth, and adds the schedules and system sets of all other plugins.
pub(crate) struct CorePlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for CorePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Cloth>()
            .register_type::<ClothSource>()
            .register_type::<ClothBuildFailed>()
            .register_type::<ClothReady>()
            .register_type::<ResetCloth>()
            .register_type::<ClothWarmUp>()
            .register_type::<PlanarCloth>()
            .register_type::<ClothGravity>()
            .register_type::<ClothSubsteps>()
            .register_type::<ClothMaxThreads>()
            .register_type::<ClothBuildMode>()
            .init_resource::<ClothGravity>()
            .init_resource::<ClothSubsteps>()
            .init_resource::<ClothMaxThreads>()
            .init_resource::<ClothBuildMode>()
            .init_resource::<ClothWorkers>()
            .init_resource::<ClothSubstepTime>()
            .insert_resource(self.schedule);
        add_schedules(app, self.schedule);
    }
}
