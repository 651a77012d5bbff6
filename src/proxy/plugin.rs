//! Registers proxy meshes.

use crate::{
    cloth::schedule::{BuildSystems, FrameSchedule, WriteSystems},
    proxy::{
        ClothProxy,
        bind::{bind_proxies, restore_proxy_mesh, unbind_proxies},
        write_mesh::write_proxies,
    },
};
use bevy::prelude::*;

/// Binds proxy meshes to cloths, and writes them each frame.
pub(crate) struct ProxyPlugin;

impl Plugin for ProxyPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothProxy>()
            .add_systems(
                FrameSchedule::Build,
                (
                    unbind_proxies.in_set(BuildSystems::UnbindProxies),
                    bind_proxies.in_set(BuildSystems::BindProxies),
                ),
            )
            .add_systems(
                FrameSchedule::WriteMesh,
                write_proxies.in_set(WriteSystems::ProxyMeshes),
            )
            .add_observer(restore_proxy_mesh);
    }
}
