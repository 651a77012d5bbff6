//! TODO: what this module contains.

pub(crate) mod frame_history;
pub(crate) mod inertia;
pub(crate) mod max_distance;
pub(crate) mod paint;
pub(crate) mod reference_frame;
pub(crate) mod rules;
pub(crate) mod skeleton;
pub(crate) mod skeleton_colliders;
pub(crate) mod skin_weights;

pub use crate::pins::template::ClothInertiaTemplate;
pub use inertia::{ClothInertia, Teleport, TeleportCloth};
pub use max_distance::{Backstop, ClothMaxDistance};
pub use paint::{ClothPaint, ClothPart, PerVertex, VertexChannel};
pub use rules::{ClothRules, MeshNames};
pub use skeleton_colliders::SkeletonColliders;
