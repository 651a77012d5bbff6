//! TODO: what this module contains.

pub(crate) mod check_settings;
pub(crate) mod from_mesh;
pub(crate) mod from_rope;
pub(crate) mod rebuild;
pub(crate) mod reset;
