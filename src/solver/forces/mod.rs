//! TODO: what this module contains.

pub mod aero;
pub mod gusts;
pub mod internal_friction;
pub mod occlusion;
pub mod pressure;
pub mod rope_drag;
pub mod turbulence;
pub mod wind_field;
pub mod zones;
