//! Builds cloth from meshes, and writes cloth back into meshes. Depends on Bevy's meshes and the solver's
//! types, not on the ECS.
//!
//! | file | contents |
//! |---|---|
//! | `read` | reads positions and triangles of a [`Mesh`](bevy::mesh::Mesh), or returns why it cannot |
//! | `direction` | directions of vectors that may be too short to have one |
//! | `sanitize` | corrects meshes of users where they cannot be drawn |
//! | `weld` | makes one particle of all vertices that share a position |
//! | `topology` | finds edges, quads and bend stencils in the triangles |
//! | `find_grids` | finds grids among the quads, and orders particles for locality |
//! | `assemble` | builds the solver's particles and constraints |
//! | `paint` | reads painted values; channels and predicates that select vertices |
//! | `part` | cloth that covers only a part of its mesh |
//! | `nearest` | finds the triangle nearest to a point |
//! | `proxy` | binds a fine render mesh to a coarse cloth; its `follow_cloth` moves the vertices |
//! | `binding` | writes positions, normals and tangents of the cloth back into its mesh |
//! | `shading` | loops over particles and vertices of the mesh write, run every frame |
//! | `limb` | fits tapered capsules to points |
//! | `tear_mesh` | opens the mesh along tears of its cloth |
//! | `compact_indices` | list of indices that takes no memory while it is the identity |
//! | `tangents` | tangents of triangles in terms of their sides |
//! | `vertex` | attributes of new vertices between two others |
//! | `grid` | builder for rectangular meshes |
//! | `tube`, `spline` | meshes of ropes: a tube along a smooth curve through particles |

pub mod assemble;
pub mod binding;
pub(crate) mod compact_indices;
mod direction;
mod find_grids;
pub mod grid;
mod limb;
mod nearest;
pub(crate) mod paint;
mod part;
pub mod proxy;
pub mod read;
mod sanitize;
pub mod shading;
mod spline;
mod tangents;
mod tear_mesh;
pub mod topology;
pub mod tube;
mod vertex;
mod weld;

pub use assemble::Assembly;
pub use binding::MeshBinding;
pub(crate) use binding::normals_of;
pub use compact_indices::CompactIndices;
pub(crate) use direction::direction_or_up;
pub use grid::{ClothGrid, Diagonals};
pub use limb::Limb;
pub use proxy::{FineMesh, ProxyBinding, smooth_normals};
pub use read::{MeshError, TriangleMesh};
pub(crate) use sanitize::sanitize_mesh;
pub use shading::RenderFrame;
pub use topology::Topology;
pub use tube::Tube;
#[cfg(feature = "parry")]
pub(crate) use weld::weld_triangles;
pub(crate) use weld::{WeldedVertices, weld};
