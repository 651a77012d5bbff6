//! Opening a cloth: tears across threads that carry too much, and cuts by a blade.
//!
//! A cloth opens at its particles: where the triangles around a particle no longer hang together, the
//! particle becomes several, one for each side, and every constraint goes with its side or is gone
//! (Müller et al., "Position Based Dynamics", 2007, section 4.5). A blade first divides the triangles
//! that it crosses, so that the cut is where the blade was, not along the nearest edges. Nothing gets
//! lost: area and mass are the same before and after, and each side moves on as it did.
//!
//! | file | what it does |
//! |---|---|
//! | `surgery` | the operation: opens edges, divides triangles, keeps the books |
//! | `changes` | what it has changed |
//! | `adjacency` | the triangles around each particle |
//! | `blade` | where a blade crosses the cloth |
//! | `across` | which edges open when a thread breaks |
//! | `mend` | what becomes of the constraints |
//! | `strand` | the same for ropes, which have no triangles |
//! | `overload` | which threads carry too much |

mod across;
mod adjacency;
mod blade;
mod changes;
mod mend;
mod overload;
mod strand;
mod surgery;
#[cfg(test)]
mod tests;

pub use blade::Blade;
pub use changes::{Changes, Corner, Fresh, Piece, Replaced};
pub use overload::{Carrier, Overload, TearLimit, overloaded};
pub use strand::split_strand;
pub use surgery::{Sheet, Surgery};
