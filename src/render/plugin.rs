//! Registers the rendering of cloths.

use crate::{
    cloth::schedule::{FrameSchedule, WriteSystems},
    render::{pose::find_render_poses, write_mesh::write_mesh},
};
use bevy::prelude::*;

/// Interpolates between steps, and writes the meshes of cloths each frame.
pub(crate) struct RenderPlugin;

impl Plugin for RenderPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            FrameSchedule::WriteMesh,
            (
                find_render_poses.in_set(WriteSystems::RenderPose),
                write_mesh.in_set(WriteSystems::ClothMeshes),
            ),
        );
    }
}
