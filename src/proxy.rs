//! Fine meshes that are drawn in place of a coarse cloth.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Lets a fine mesh follow a coarse cloth: give it to an entity with a [`Mesh3d`] that lies where the cloth
/// does at rest. Some hundred particles then move tens of thousands of vertices, pockets, seams and all.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, coarse: Handle<Mesh>, fine: Handle<Mesh>) {
/// // Without a material the cloth itself is not drawn.
/// let cloth = commands.spawn((Cloth::default(), Mesh3d(coarse))).id();
/// commands.spawn((ClothProxy { cloth }, Mesh3d(fine)));
/// # }
/// ```
///
/// It is bound when both meshes are loaded, by where both entities then are; meshes of one skeleton by where
/// they were modelled. Each vertex belongs to the triangle that is nearest. Like the cloth it gets a mesh of
/// its own, and its first one back when the component goes. Tears of the cloth do not open it. In `bsn!` the
/// cloth is one that the scene names: `ClothProxy { cloth: #Cape }`.
#[derive(Component, FromTemplate, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform)]
pub struct ClothProxy {
    /// The cloth that it follows.
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
