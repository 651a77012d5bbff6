//! Collision of cloths with colliders, rigid bodies and each other: components, and the search for everything near
//! a cloth before a step. The contacts themselves are solved in [`solver`](crate::solver).
//!
//! | file | contents |
//! |---|---|
//! | `collider` | [`ClothCollider`], primitive shapes; [`LastPose`] |
//! | `mesh_collider` | `ClothMeshCollider`, triangle meshes (feature `parry`) |
//! | `layers` | [`ClothLayers`] |
//! | `active_colliders` | finds primitive colliders and their motion in the coming step |
//! | `active_mesh_colliders` | triangle surfaces of the current step |
//! | `find_mesh_colliders` | builds the surfaces of mesh colliders, and finds their motion (feature `parry`) |
//! | `end_pause` | forgets the motion of colliders during a pause |
//! | `broad_phase` | finds islands of cloths that may touch |
//! | `bodies` | rigid bodies of a physics engine, and pins attached to them |
//! | `contacts` | contacts of a cloth |
//! | `plugin` | registration |

pub(crate) mod active_colliders;
pub(crate) mod active_mesh_colliders;
pub(crate) mod bodies;
pub(crate) mod broad_phase;
pub(crate) mod collider;
pub(crate) mod contacts;
pub(crate) mod end_pause;
#[cfg(feature = "parry")]
pub(crate) mod find_mesh_colliders;
pub(crate) mod layers;
#[cfg(feature = "parry")]
pub(crate) mod mesh_collider;
pub(crate) mod plugin;

pub use collider::{ClothCollider, LastPose};
pub use layers::ClothLayers;
#[cfg(feature = "parry")]
pub use mesh_collider::{ClothMeshCollider, ClothMeshShape};
