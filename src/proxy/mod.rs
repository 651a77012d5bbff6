//! [`ClothProxy`]: fine meshes rendered in place of a coarse cloth.

pub(crate) mod bind;
pub(crate) mod plugin;
pub(crate) mod write_mesh;

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Makes the [`Mesh3d`] of the same entity, a fine mesh, follow a coarse cloth. The mesh must lie where the cloth
/// lies at rest. A few hundred particles can move tens of thousands of vertices, with pockets and seams.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, proxy::ClothProxy};
/// # fn spawn(mut commands: Commands, coarse: Handle<Mesh>, fine: Handle<Mesh>) {
/// // Without a material the cloth itself is not rendered.
/// let cloth = commands.spawn((Cloth::default(), Mesh3d(coarse))).id();
/// commands.spawn((ClothProxy { cloth }, Mesh3d(fine)));
/// # }
/// ```
///
/// The proxy is bound once both meshes are loaded, in the current poses of both entities; meshes of one skeleton
/// are bound in their bind poses. Each vertex is bound to the nearest triangle of the cloth. Like the cloth, the
/// proxy gets a mesh of its own, and its original mesh back when the component is removed. Tears of the cloth do
/// not open it. In `bsn!` the cloth is named in the scene: `ClothProxy { cloth: #Cape }`.
#[derive(Component, FromTemplate, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform)]
pub struct ClothProxy {
    /// Cloth entity to follow.
    #[entities]
    pub cloth: Entity,
}

impl Default for ClothProxy {
    fn default() -> Self {
        Self {
            cloth: Entity::PLACEHOLDER,
        }
    }
}
