//! From a mesh to a cloth and back.
//!
//! | file | what it does |
//! |---|---|
//! | `read` | takes positions and triangles out of a [`Mesh`](bevy::mesh::Mesh), or says why it cannot |
//! | `weld` | makes one particle of all vertices that share a position |
//! | `topology` | finds threads, quads and bend pairs in the triangles |
//! | `assemble` | turns them into particles and constraints |
//! | `part` | cloth that is a part of its mesh |
//! | `nearest` | finds the triangle that is nearest to a point |
//! | `proxy` | a fine mesh that follows a coarse cloth |
//! | `binding` | writes positions, normals and tangents of the cloth back into its mesh |
//! | `shading` | the loops over particles and vertices that this takes in every frame |
//! | `limb` | fits a capsule around points |
//! | `open` | opens the mesh where its cloth has opened |
//! | `numbers` | lists that are mostly 0, 1, 2 and so on |
//! | `tangents` | the tangents of triangles in terms of their sides |
//! | `vertex` | what a vertex gets that comes between two others |
//! | `grid` | builds sheets of cloth |
//! | `tube`, `spline` | draws ropes: the mesh of a smooth curve through particles |
//!
//! Knows Bevy's meshes and the solver's types; no ECS.

pub mod assemble;
pub mod binding;
pub mod grid;
mod limb;
mod nearest;
pub(crate) mod numbers;
mod open;
mod part;
pub mod proxy;
pub mod read;
pub mod shading;
mod spline;
mod tangents;
pub mod topology;
pub mod tube;
mod vertex;
mod weave;
mod weld;

pub use assemble::Assembly;
pub use binding::MeshBinding;
pub use grid::{ClothGrid, Diagonals};
pub use limb::Limb;
pub use numbers::Numbers;
pub(crate) use open::as_triangle_list;
pub use proxy::{FineMesh, ProxyBinding, smooth_normals};
pub use read::{MeshError, TriangleMesh};
pub use shading::Frame;
pub use topology::Topology;
pub use tube::Tube;
#[cfg(feature = "parry")]
pub(crate) use weld::weld_triangles;
