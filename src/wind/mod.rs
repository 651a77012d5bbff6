//! TODO: what this module contains.

pub(crate) mod active_zones;
pub(crate) mod zone;
