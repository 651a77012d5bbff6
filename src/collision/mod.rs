//! TODO: what this module contains.

pub(crate) mod active_colliders;
#[cfg(feature = "parry")]
pub(crate) mod active_mesh_colliders;
pub(crate) mod bodies;
pub(crate) mod broad_phase;
pub(crate) mod collider;
pub(crate) mod layers;
#[cfg(feature = "parry")]
pub(crate) mod mesh_collider;

pub use collider::{ClothCollider, LastPose};
pub use layers::ClothLayers;
#[cfg(feature = "parry")]
pub use mesh_collider::{ClothMeshCollider, ClothMeshShape};
