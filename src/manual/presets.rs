//! Presets: cloth and environment in files that are reloaded at run time.
//!
//! Requires the feature `presets`, which is on by default. An asset file `*.cloth.ron` contains a cloth and
//! optionally its environment. Omitted fields have their defaults; `like` starts from a fabric by name:
//!
//! ```ron
//! (
//!     cloth: (
//!         fabric: (like: "silk", drag: 0.6),
//!         self_collision: Particles,
//!     ),
//!     environment: (wind: (velocity: (0, 0, 4), gusts: 0.6), substeps: Every(0.001)),
//! )
//! ```
//!
//! `ClothPresetHandle` on an entity applies the cloth of a file, the resource `ClothEnvironmentHandle` applies its
//! environment to all cloths:
//!
//! ```no_run
//! # #[cfg(feature = "presets")]
//! # mod example {
//! use bevy::prelude::*;
//! use bevy_drape::{prelude::*, preset::{ClothEnvironmentHandle, ClothPresetHandle}};
//!
//! fn spawn(mut commands: Commands, assets: Res<AssetServer>, mut meshes: ResMut<Assets<Mesh>>) {
//!     let flag = assets.load("presets/flag.cloth.ron");
//!     commands.insert_resource(ClothEnvironmentHandle(flag.clone()));
//!     commands.spawn((
//!         ClothPresetHandle(flag),
//!         Pins::edge(ClothEdge::Left),
//!         Mesh3d(meshes.add(ClothGrid::vertical(1.8, 1.2, 48, 32))),
//!     ));
//! }
//! # }
//! ```
//!
//! The cloth follows the file: with Bevy's feature `file_watcher` as soon as it is saved, or when
//! `AssetServer::reload` is called. Errors are reported with file, line and field, and the previous settings stay.
//!
//! The panel saves, loads and reverts to such files, and copies its settings as Rust code; `ClothPreset::to_ron`,
//! `.save_asset(..)` and `.to_rust()` do the same in code. In the repository, `assets/presets` has examples, and
//! `cargo run --release --example preset` uses one.
//!
//! Fabrics in code: [fabric](super::fabric).
