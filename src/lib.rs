#![cfg_attr(docsrs, feature(doc_cfg))]
//! Cloth for [Bevy](https://bevy.org): add [`ClothPlugin`], put [`Cloth`](cloth::Cloth) on a mesh, and it drapes,
//! flutters, collides, tears and can be grabbed.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!         .add_systems(Startup, set_up)
//!         .run();
//! }
//!
//! fn set_up(
//!     mut commands: Commands,
//!     mut meshes: ResMut<Assets<Mesh>>,
//!     mut materials: ResMut<Assets<StandardMaterial>>,
//! ) {
//!     commands.spawn((
//!         Cloth::default(),
//!         Pins::top_corners(),
//!         Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 64, 64))),
//!         // Both sides of a cloth are visible.
//!         MeshMaterial3d(materials.add(StandardMaterial {
//!             double_sided: true,
//!             cull_mode: None,
//!             ..default()
//!         })),
//!     ));
//!     let light = Transform::from_xyz(2.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
//!     commands.spawn((DirectionalLight::default(), light));
//!     commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 5.0)));
//! }
//! ```
//!
//! # Where to look
//!
//! [`manual`] tells how to do things, chapter by chapter, from a [first cloth](manual::first_cloth) to
//! [troubleshooting](manual::troubleshooting). [`prelude`] has the names of a page of user code.
//!
//! | module | contents |
//! |---|---|
//! | [`cloth`] | [`Cloth`](cloth::Cloth), [`Fabric`](cloth::Fabric), particles and constraints, gravity, substeps, the sets of systems |
//! | [`pins`] | particles held by a transform |
//! | [`collision`] | colliders, layers |
//! | [`wind`] | wind, zones, turbulence, occlusion |
//! | [`character`] | cloth on skeletons and moving entities: max distance, inertia, teleports, paint, rules for models |
//! | [`rope`], [`proxy`], [`pressure`] | lines, fine meshes that follow coarse cloth, enclosed air |
//! | [`tearing`], [`grab`], `picking` | cuts, tears and grabs, from code or by pointer (feature `picking`) |
//! | [`sleep`], [`lod`], [`time`] | cloths at rest, level of detail, pause and slow motion |
//! | [`snapshot`], `preset` | saved state, settings in files (feature `presets`) |
//! | `panel`, `debug`, [`diagnostics`] | egui panel (feature `panel`), gizmos (feature `debug`), measurements |
//! | `engines` | coupling with Avian and Rapier (features `avian`, `rapier`) |
//! | [`params`] | name, unit, range and effect of every number |
//! | [`mesh`], [`solver`] | conversion of meshes to cloth and back; the numerics alone, without an app |
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
mod label;
mod plugin;
mod render;
mod step;

pub use commands::ClothCommands;
pub use plugin::ClothPlugin;

/// Compiles the programs in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
