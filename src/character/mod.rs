//! Cloth on skeletons and on moving entities: where an animation or a reference entity carries a cloth, and how much
//! of that motion it feels; colliders, paint and rules for models.
//!
//! | file | contents |
//! |---|---|
//! | `inertia` | `ClothInertia`, teleports |
//! | `max_distance` | `ClothMaxDistance` and its backstop |
//! | `paint`, `multipliers` | `ClothPaint`, `ClothPart`; painted channels; painted mass and stiffness, bound to particles |
//! | `skeleton_colliders` | `SkeletonColliders`: capsules around the limbs of a skinned mesh, or its triangles |
//! | `limbs` | capsules of a skeleton, fitted to the vertices of each joint |
//! | `skinned_surface` | triangles of a skinned mesh as a collider |
//! | `rules` | `ClothRules`: cloth for models, by the names and glTF properties of their objects |
//! | `skin_weights`, `skeleton` | skin weights of particles; the joint that stands for the cloth itself |
//! | `frame_history`, `reference_frame`, `teleport` | motion of the reference frame in the last steps; targets of an animation; teleports |
//! | `animation_start` | moves new cloth to the first pose of an animation |
//! | `track_anchors` | tracks the transforms of anchors, joints and reference entities from frame to frame |
//! | `plugin` | types and systems of all of this |

pub(crate) mod animation_start;
pub(crate) mod frame_history;
pub(crate) mod inertia;
mod limbs;
pub(crate) mod max_distance;
pub(crate) mod multipliers;
pub(crate) mod paint;
pub(crate) mod plugin;
pub(crate) mod reference_frame;
pub(crate) mod rules;
pub(crate) mod skeleton;
pub(crate) mod skeleton_colliders;
pub(crate) mod skin_weights;
pub(crate) mod skinned_surface;
pub(crate) mod teleport;
pub(crate) mod track_anchors;

pub use crate::mesh::paint::{PerVertex, VertexChannel};
pub use inertia::{ClothInertia, ClothInertiaTemplate, Teleport, TeleportCloth};
pub use max_distance::{Backstop, ClothMaxDistance};
pub use paint::{ClothPaint, ClothPart};
pub use rules::{ClothRules, MeshNames};
pub use skeleton_colliders::{SkeletonColliders, SkeletonShape};
