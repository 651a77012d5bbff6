//! TODO: what this module contains.

mod angular_momentum;
pub mod bend;
pub mod bend_damping;
pub(in crate::solver) mod chain;
pub(in crate::solver) mod coloring;
mod compliance;
pub mod damping;
pub(in crate::solver) mod edit;
pub(in crate::solver) mod general;
pub mod geodesic;
pub mod grab;
pub mod graph;
pub(in crate::solver) mod grid;
pub mod motion;
pub mod plane;
pub(in crate::solver) mod points;
pub mod ramp;
pub mod stretch;
pub mod stretch_solver;
pub mod tethers;
