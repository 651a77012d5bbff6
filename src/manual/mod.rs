//! The manual: how to do things, chapter by chapter. What each type and field means is said where it is defined;
//! here is how they go together.
//!
//! | chapter | when to read it |
//! |---|---|
//! | [`first_cloth`] | at the beginning: a sheet, what holds it, what it falls on, what blows it about |
//! | [`fabric`] | it looks like paper and should look like silk; what to turn up when it stretches |
//! | [`characters`] | a cape from Blender, on a character that walks, runs and teleports |
//! | [`collisions`] | it goes through things, or through itself |
//! | [`air`] | wind, gusts, eddies, fans, calm behind walls, balloons |
//! | [`tearing_and_grabbing`] | the player is to cut it, tear it, hold it |
//! | [`own_code`] | your own forces and constraints, the solver without an app, rollback |
//! | [`performance`] | there are many cloths, or large ones, or a server |
//! | [`troubleshooting`] | something is wrong |
//! | [`from_bevy_silk`] | your game uses `bevy_silk` |
//!
//! Chapters may be read in any order but for the first. Their programs are tests: what is shown compiles, and
//! what needs no window has run. Units are metres, kilograms, seconds and newtons throughout; y is up.

pub mod air;
pub mod characters;
pub mod collisions;
pub mod fabric;
pub mod first_cloth;
pub mod from_bevy_silk;
pub mod own_code;
pub mod performance;
pub mod tearing_and_grabbing;
pub mod troubleshooting;
