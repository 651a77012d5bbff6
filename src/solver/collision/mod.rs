//! TODO: what this module contains.

pub mod bodies;
mod broad_phase;
mod ccd;
pub mod cloth_contacts;
pub mod collider;
#[cfg(feature = "parry")]
pub mod mesh;
mod narrow_phase;
pub mod ray;
pub mod self_collision;
pub mod shape;
pub(in crate::solver) mod triangle_contacts;
