//! Registers building, rebuilding and resetting of cloths and ropes.

use crate::{
    build::{
        check_settings::check_settings,
        check_target::{check_components, check_event},
        check_tear_limit::check_tear_limit,
        from_mesh::build,
        from_rope::{build_ropes, remove_rope_components},
        rebuild::{rebuild_changed_meshes, rebuild_replaced_meshes, restore_source_mesh},
        reset::{place, reset},
        shared::SharedShapes,
    },
    character::inertia::TeleportCloth,
    cloth::{
        ResetCloth,
        planar_constraint::check_planes,
        schedule::{BuildSystems, FrameSchedule, PrepareSystems, StepSchedule},
    },
    grab::{DragCloth, GrabCloth, ReleaseCloth},
    tearing::{CutCloth, ShredCloth, TearEdge},
};
use bevy::prelude::*;

/// Builds cloths and ropes each frame, and checks their settings before each step.
pub(crate) struct BuildPlugin;

impl Plugin for BuildPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<SharedShapes>();
        app.add_systems(
            StepSchedule::Prepare,
            (check_settings, check_planes, check_components)
                .chain()
                .in_set(PrepareSystems::CheckSettings),
        )
        .add_systems(
            FrameSchedule::Build,
            (
                rebuild_replaced_meshes.in_set(BuildSystems::ReplacedMeshes),
                rebuild_changed_meshes.in_set(BuildSystems::ChangedMeshes),
                build.in_set(BuildSystems::Cloths),
                build_ropes.in_set(BuildSystems::Ropes),
            ),
        )
        .add_observer(reset)
        .add_observer(check_tear_limit)
        .add_observer(place)
        .add_observer(restore_source_mesh)
        .add_observer(remove_rope_components)
        .add_observer(check_event::<ResetCloth>)
        .add_observer(check_event::<GrabCloth>)
        .add_observer(check_event::<DragCloth>)
        .add_observer(check_event::<ReleaseCloth>)
        .add_observer(check_event::<TeleportCloth>)
        .add_observer(check_event::<CutCloth>)
        .add_observer(check_event::<TearEdge>)
        .add_observer(check_event::<ShredCloth>);
    }
}
