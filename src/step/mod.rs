//! The step of all cloths, in the order in which the other modules act on a cloth: preparation, substeps, end.
//! Everything here calls the solver and the other modules; a step of one cloth is read here from top to bottom.
//!
//! | file | contents |
//! |---|---|
//! | `plugin` | registration, and the choice between the fused loop and the schedule of a substep |
//! | `query` | components of a cloth that a step reads and writes, and how it lends them to the solver |
//! | `prepare` | begins the step: applies changed components, finds the targets of pins, and the air |
//! | `substeps` | runs the substeps, in the fused loop or in the schedule |
//! | `stages` | stages of a substep for cloth entities |
//! | `crossings` | keeps the cloths of an island from passing through each other |
//! | `finish` | ends the step: checks the state, and puts cloths to sleep |
//! | `warm_up` | takes whole steps of new cloths before they are rendered first |

mod crossings;
pub(crate) mod finish;
pub(crate) mod plugin;
pub(crate) mod prepare;
pub(crate) mod query;
pub(crate) mod stages;
pub(crate) mod substeps;
pub(crate) mod warm_up;
