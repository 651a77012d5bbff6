//! TODO: what this module contains.

pub(crate) mod active_zones;
pub(crate) mod zone;

pub use crate::{
    cloth::settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    solver::{Falloff, ZoneFlow, ZoneShape},
};
pub use zone::{LocalWind, WindZone};
