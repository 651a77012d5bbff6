//! TODO: what this module contains.

pub(in crate::solver) mod columns;
pub(in crate::solver) mod split;
pub mod workers;
