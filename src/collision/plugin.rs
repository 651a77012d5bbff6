//! Registers colliders and the broad phase.

#[cfg(feature = "parry")]
use crate::collision::{
    find_mesh_colliders::{MeshSurfaces, find_mesh_colliders, mark_changed_meshes},
    mesh_collider::{self, ClothMeshCollider},
};
use crate::{
    cloth::schedule::{PrepareSystems, StepSchedule},
    collision::{
        active_colliders::{ActiveColliders, find_colliders},
        broad_phase::{ClothIslands, find_cloth_islands},
        collider::{self, ClothCollider, LastPose},
        end_pause::end_pause,
        layers::ClothLayers,
    },
};
use bevy::prelude::*;

/// Finds colliders and islands of cloths before each step.
pub(crate) struct CollisionPlugin;

impl Plugin for CollisionPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothCollider>()
            .register_type::<LastPose>()
            .register_type::<ClothLayers>()
            .init_resource::<ActiveColliders>()
            .init_resource::<ClothIslands>()
            .add_systems(
                StepSchedule::Prepare,
                (
                    end_pause.in_set(PrepareSystems::EndPause),
                    // In every update: colliders that moved while cloths were paused must not make up
                    // for that motion in one step.
                    find_colliders.in_set(PrepareSystems::Colliders),
                    find_cloth_islands.in_set(PrepareSystems::ClothIslands),
                ),
            )
            .add_observer(collider::forget_last_pose);
        #[cfg(feature = "parry")]
        self.add_mesh_colliders(app);
    }
}

#[cfg(feature = "parry")]
impl CollisionPlugin {
    fn add_mesh_colliders(&self, app: &mut App) {
        app.register_type::<ClothMeshCollider>()
            .init_resource::<MeshSurfaces>()
            .add_systems(
                StepSchedule::Prepare,
                // Before the primitives: those write `LastPose` of an entity with both kinds of collider.
                find_mesh_colliders
                    .after(PrepareSystems::EndPause)
                    .before(PrepareSystems::Colliders),
            )
            .add_systems(
                First,
                mark_changed_meshes.run_if(
                    any_with_component::<ClothMeshCollider>
                        .and_then(resource_exists::<Assets<Mesh>>),
                ),
            )
            .add_observer(mesh_collider::forget_last_pose);
    }
}
