//! Cloth in two dimensions.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Keeps a [`Cloth`](crate::Cloth) in a plane: the one through the translation of its entity, across
/// [`normal`](Self::normal). What would push its particles out of the plane has no effect; in the
/// plane they move, collide and hold together as ever. Pinned particles stay where they are pinned.
///
/// The plane goes with the [`Transform`]. May be added, changed and removed at any time; a cloth that
/// is not in its plane is brought there at once.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
/// let mesh = meshes.add(ClothGrid::vertical(1.0, 1.0, 2, 2));
/// commands.spawn((Cloth::default(), PlanarCloth::default(), Mesh3d(mesh)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform)]
pub struct PlanarCloth {
    /// What the plane is across, in the frame of the entity; its length does not matter. Default z.
    /// One that is 0 or not finite is reported in the log and the cloth stays free.
    pub normal: Vec3,
}

impl Default for PlanarCloth {
    fn default() -> Self {
        Self { normal: Vec3::Z }
    }
}
