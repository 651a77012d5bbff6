#![cfg_attr(docsrs, feature(doc_cfg))]
//! Cloth for [Bevy](https://bevy.org): add [`ClothPlugin`], put [`Cloth`] on a mesh, and it drapes,
//! flutters, collides, tears and can be grabbed.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!     .add_systems(Startup, |mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>| {
//!         commands.spawn((
//!             Cloth::default(),
//!             Pins::top_corners(),
//!             Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 64, 64))),
//!         ));
//!     })
//!     .run();
//! ```
//!
//! # Where to look
//!
//! - [`manual`]: how to do things, chapter by chapter, from a [first cloth](manual::first_cloth) to
//!   [what may go wrong](manual::troubleshooting).
//! - On an entity: [`Cloth`] and its [`Fabric`] (material), or [`Rope`]; [`Pins`] (fixed particles),
//!   [`ClothCollider`] (primitive shapes) and `ClothMeshCollider` (triangle meshes, feature `parry`),
//!   [`ClothLayers`] (collision layers), [`ClothPressure`] (enclosed air), [`WindZone`] (local wind).
//! - Resources: [`ClothGravity`], [`Wind`], [`WindTurbulence`], [`WindOcclusion`], [`ClothSubsteps`],
//!   [`ClothTime`], [`ClothMaxThreads`].
//! - `ClothPreset` (feature `presets`): settings of cloth and environment in files, reloaded when they change.
//! - [`ClothSleeping`]: marks cloths at rest.
//! - [`ClothReady`], [`ResetCloth`]: events. [`ClothTearing`], [`ClothCommands`]: cut, tear and grab cloth from
//!   code; `ClothInteractionPlugin` (feature `picking`) does it with the mouse.
//! - [`ClothParticles`] and [`ClothConstraints`]: the state of the solver, components that your own systems may
//!   read and write; see [`ClothSystems`] and [`ClothSubstep`] for the order.
//! - [`solver`]: the numerics alone, without an app. [`mesh`]: conversion of meshes to cloth and back.
//!
//! Units are metres, kilograms, seconds and newtons throughout.

pub mod character;
pub mod cloth;
pub mod collision;
#[cfg(feature = "debug")]
pub mod debug;
pub mod diagnostics;
#[cfg(any(feature = "avian", feature = "rapier"))]
pub mod engines;
pub mod grab;
pub mod lod;
pub mod manual;
pub mod mesh;
#[cfg(feature = "panel")]
pub mod panel;
pub mod params;
#[cfg(feature = "picking")]
pub mod picking;
pub mod pins;
pub mod prelude;
#[cfg(feature = "presets")]
pub mod preset;
pub mod pressure;
pub mod proxy;
pub mod rope;
pub mod sleep;
pub mod snapshot;
pub mod solver;
pub mod tearing;
pub mod time;
pub mod wind;

mod build;
mod commands;
mod plugin;
mod render;
mod step;

pub use commands::ClothCommands;
pub use plugin::ClothPlugin;

/// Compiles the programs in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
