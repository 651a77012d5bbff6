//! Rendering of cloths: interpolates between the last two steps, and writes the meshes.
//!
//! | file | contents |
//! |---|---|
//! | `interpolation` | time of a frame between two steps; view of a cloth in the space of a mesh |
//! | `pose` | interpolation factor and motion of each cloth; `RenderFrame` in `mesh/shading.rs` interpolates |
//! | `own_mesh` | mesh that follows a cloth, and its mapping from particles to vertices |
//! | `skin_motion` | motion of particles with the joints of their skeleton |
//! | `write_mesh` | writes meshes and bounding boxes |
//! | `plugin` | registration |

pub(crate) mod interpolation;
pub(crate) mod own_mesh;
pub(crate) mod plugin;
pub(crate) mod pose;
mod skin_motion;
pub(crate) mod write_mesh;
