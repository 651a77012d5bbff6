//! The work-sharing code of the solver, on the types of loom.

#[path = "sync.rs"]
mod sync;
#[allow(dead_code, unreachable_pub, unused_imports)]
#[path = "../../src/solver/parallel/workers.rs"]
pub(crate) mod workers;
