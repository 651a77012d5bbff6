//! [`PlanarCloth`]: cloth in two dimensions.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Constrains a [`Cloth`](crate::cloth::Cloth) to the plane through the translation of its entity with this
/// [`normal`](Self::normal). Forces and contacts perpendicular to the plane have no effect; within the plane the
/// cloth moves, collides and holds together as usual. Pinned particles stay at their pins.
///
/// The plane moves with the [`Transform`]. May be added, changed and removed at any time; cloth that is not in its
/// plane is moved there at once.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{cloth::PlanarCloth, prelude::*};
/// # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
/// let mesh = meshes.add(ClothGrid::vertical(1.0, 1.0, 2, 2));
/// commands.spawn((Cloth::default(), PlanarCloth::default(), Mesh3d(mesh)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform)]
pub struct PlanarCloth {
    /// Normal of the plane in the local space of the entity, of any length. Default +z. If it is 0 or not finite,
    /// the cloth is not constrained, with an error in the log.
    pub normal: Vec3,
}

impl Default for PlanarCloth {
    fn default() -> Self {
        Self { normal: Vec3::Z }
    }
}
