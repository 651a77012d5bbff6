//! The manual: how to do things with this crate, chapter by chapter. Each type and field is documented where it is
//! defined; the manual shows how they work together.
//!
//! | chapter | subject |
//! |---|---|
//! | [`first_cloth`] | start here: a sheet, pins, a collider, wind |
//! | [`what_to_write`] | table: task, and the code for it |
//! | [`fabric`] | making cloth look like silk instead of paper; keeping it from stretching |
//! | [`presets`] | cloth and environment in files that are reloaded at run time |
//! | [`characters`] | a cape from Blender on a character that walks, runs and teleports |
//! | [`collisions`] | colliders, self-collision, physics engines |
//! | [`air`] | wind, gusts, eddies, fans, shelter behind walls, balloons |
//! | [`tearing_and_grabbing`] | letting players and code cut, tear and grab cloth |
//! | [`own_code`] | your own forces and constraints, the solver without an app, rollback |
//! | [`performance`] | many cloths, large cloths, servers |
//! | [`methods`] | numerical methods, their sources, and the reasons for the design |
//! | [`promises`] | what never happens, what is clamped, what is told, and how each is tested |
//! | [`troubleshooting`] | symptoms, causes and remedies |
//! | [`from_bevy_silk`] | porting a game from `bevy_silk` |
//!
//! Read the first chapter first, the others in any order. Their programs are tests: all of them compile, and those
//! that need no window run. Units are metres, kilograms, seconds and newtons throughout; y is up.

pub mod air;
pub mod characters;
pub mod collisions;
pub mod fabric;
pub mod first_cloth;
pub mod from_bevy_silk;
pub mod methods;
pub mod own_code;
pub mod performance;
pub mod presets;
pub mod promises;
pub mod tearing_and_grabbing;
pub mod troubleshooting;
pub mod what_to_write;
