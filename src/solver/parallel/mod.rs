//! Splits the work of a step over threads, with the same bits on any number of them.
//!
//! | file | contents |
//! |---|---|
//! | `workers` | the threads of a cloth, and the parts of its work |
//! | `sync` | the types by which threads communicate |
//! | `split` | parts of a slice, of different lengths; parts of a range |
//! | `columns` | strips of columns of a plane, which several threads may write |

pub(in crate::solver) mod columns;
pub(in crate::solver) mod split;
mod sync;
pub mod workers;
