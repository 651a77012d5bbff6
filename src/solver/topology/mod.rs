//! Topology edits of a cloth: tears across overloaded edges, and cuts by a blade.
//!
//! A cloth is split at its particles: where the triangles around a particle are no longer connected, the particle
//! is duplicated, one copy per connected part, and every constraint moves to its part or is removed (Müller et
//! al., "Position Based Dynamics", 2007, section 4.5). A blade first divides the triangles it crosses, so the cut
//! follows the blade and not the nearest edges. Area, mass and velocity of each side are preserved.
//!
//! | file | contents |
//! |---|---|
//! | `topology_edit` | the edit itself: splits edges, divides triangles, records the changes |
//! | `changes` | record of what an edit has changed |
//! | `adjacency` | the triangles around each particle |
//! | `blade` | cuts along a swept blade |
//! | `tear_edge` | tears across an edge |
//! | `edit_neighbourhood` | edges and diagonals around an edit, before and after |
//! | `update_constraints` | moves, divides and removes constraints after an edit |
//! | `rope` | splits ropes, which have no triangles |
//! | `overload` | finds overloaded edges |

mod adjacency;
mod blade;
mod changes;
mod edit_neighbourhood;
mod overload;
mod rope;
mod tear_edge;
#[cfg(test)]
mod tests;
mod topology_edit;
mod update_constraints;

pub use blade::Blade;
pub use changes::{
    BoundaryPoint, NewParticle, TopologyChanges, TrianglePiece, TriangleReplacement,
};
pub use overload::{CrossSection, Overload, TearLimit, overloaded};
pub(crate) use rope::split_rope;
pub use topology_edit::{EditTarget, TopologyEdit};
