//! Forces on the particles: of the air around a cloth and inside it, and of friction within the fabric.
//!
//! | file | contents |
//! |---|---|
//! | `step_air` | forces of the air in a step and its substeps |
//! | `wind_field` | local wind at each particle |
//! | `zones` | local wind: fans, explosions, vortices |
//! | `turbulence` | turbulent wind: noise in space and time |
//! | `gusts` | variation of the wind over time |
//! | `occlusion` | shelter from the wind behind colliders |
//! | `aero` | aerodynamic drag and lift, per triangle |
//! | `rope_drag` | aerodynamic drag on ropes, per segment |
//! | `pressure` | pressure of enclosed air |
//! | `internal_friction` | friction between the yarns of the fabric |

pub mod aero;
pub mod gusts;
pub mod internal_friction;
pub mod occlusion;
pub mod pressure;
pub mod rope_drag;
pub mod step_air;
pub mod turbulence;
pub mod wind_field;
pub mod zones;
