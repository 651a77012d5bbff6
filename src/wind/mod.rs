//! Wind: the same for all cloths, with gusts and turbulence, and local in zones.
//!
//! | file | contents |
//! |---|---|
//! | `settings` | resources: [`Wind`], [`WindTurbulence`], [`WindOcclusion`] and [`WindTime`] |
//! | `zone` | [`WindZone`], and [`LocalWind`], which samples the wind at a position |
//! | `active_zones` | finds all zones before a step |
//! | `plugin` | registration |

pub(crate) mod active_zones;
pub(crate) mod plugin;
pub(crate) mod settings;
pub(crate) mod zone;

pub use crate::solver::{Falloff, ZoneFlow, ZoneShape};
pub use settings::{Wind, WindOcclusion, WindTime, WindTurbulence};
pub use zone::{LocalWind, WindZone};
