//! TODO: what this module contains.

pub(crate) mod interpolation;
pub(crate) mod pose;
pub(crate) mod write_mesh;
