//! Collision of cloth with shapes, triangle surfaces, rigid bodies, itself and other cloths. Contacts with
//! colliders are resolved at position level: push-out, then Coulomb friction on the displacement; those of cloth with cloth by
//! impulses, with those of the last substep to begin with.
//!
//! | file | contents |
//! |---|---|
//! | `shape` | collider shapes and their signed distances |
//! | `collider` | colliders, and the collision stage of a substep |
//! | `broad_phase` | bounding boxes of colliders against one box, many at a time |
//! | `narrow_phase` | contacts of particles: detection, push-out, friction |
//! | `ccd` | continuous collision detection: stops fast particles at the time of impact |
//! | `triangle_contacts` | cloth triangles against colliders smaller than a triangle |
//! | `edge_contacts` | links of the cloth against the edges of boxes and cylinders |
//! | `mesh` | triangle surfaces: convex hulls, meshes, heightfields, skinned meshes |
//! | `bodies` | two-way coupling with rigid bodies |
//! | `self_collision` | contacts between the particles of one cloth, untangling |
//! | `cloth_contacts` | contacts of cloths that touch each other |
//! | `crossing` | keeps edges from passing through triangles |
//! | `ray` | ray casts on a cloth |

pub mod bodies;
mod broad_phase;
mod ccd;
pub mod cloth_contacts;
pub mod collider;
pub(in crate::solver) mod crossing;
mod edge_contacts;
pub mod mesh;
mod narrow_phase;
pub mod ray;
pub mod self_collision;
pub mod shape;
pub(in crate::solver) mod triangle_contacts;
