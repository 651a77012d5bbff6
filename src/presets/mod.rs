//! Cloth and its surroundings in files, `*.cloth.ron`: loaded as assets, followed when they change, saved.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes |
//! | `file` | text to values and back, and what is wrong with a text |
//! | `load` | Bevy's side of that: the loader, and saving beside the other assets |
//! | `follow` | the systems that keep cloths and settings to their files |
//! | `rust_code` | values as Rust |

mod file;
mod follow;
mod load;
mod rust_code;

pub use file::ClothPresetError;
pub use rust_code::rust_code;

pub(crate) use follow::AwaitsPreset;
#[cfg(feature = "panel")]
pub(crate) use {follow::reason, load::EXTENSION};

use crate::{
    cloth::Cloth,
    plugin::ClothSystems,
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion},
};
use bevy::{ecs::template::FromTemplate, prelude::*};
use serde::{Deserialize, Serialize};

/// A cloth in a file, `*.cloth.ron`, and if wanted the world around it.
///
/// What is not written has its default, `()` is all of it. What is misspelt or out of range is told with
/// file, line and column, and nothing is taken from that file.
///
/// ```ron
/// (
///     cloth: (
///         fabric: (like: "silk", drag: 0.6),
///         damping: 0.1,
///     ),
///     settings: (
///         wind: (velocity: (0, 0, 4), gusts: 0.6),
///         substeps: 12,
///     ),
/// )
/// ```
///
/// [`ClothFrom`] makes a cloth of it, [`ClothSettingsFrom`] the world.
#[derive(Asset, Reflect, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[reflect(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClothPreset {
    /// The cloth. [`Pins`](crate::Pins) and the like belong to its entity.
    pub cloth: Cloth,
    /// The world around it. Default `None`: it stays as it is.
    pub settings: Option<ClothSettings>,
}

/// The resources that say how all cloths move, as one value. How fast time goes and how many threads work on
/// it is not among them: that belongs to the game and its machine.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[reflect(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClothSettings {
    /// Gravity, m/s². Default −9.81 along y; each component −200 to 200.
    pub gravity: ClothGravity,
    /// The wind. By default there is none.
    pub wind: Wind,
    /// Eddies in it. By default there are none.
    pub turbulence: Turbulence,
    /// Whether colliders keep it off. By default they do not.
    pub wind_occlusion: WindOcclusion,
    /// Substeps of each step, 1 to 100, default 8.
    pub substeps: Substeps,
}

impl ClothSettings {
    /// Those of a world, or the default where it has none.
    pub fn of(world: &World) -> Self {
        fn one<T: Resource + Copy + Default>(world: &World) -> T {
            world.get_resource().copied().unwrap_or_default()
        }
        Self {
            gravity: one(world),
            wind: one(world),
            turbulence: one(world),
            wind_occlusion: one(world),
            substeps: one(world),
        }
    }

    /// Gives them to a world.
    pub fn apply(self, world: &mut World) {
        world.insert_resource(self.gravity);
        world.insert_resource(self.wind);
        world.insert_resource(self.turbulence);
        world.insert_resource(self.wind_occlusion);
        world.insert_resource(self.substeps);
    }
}

/// The [`Cloth`] of this entity is that of a file, also when the file changes. Brings `Cloth` along.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, mesh: Handle<Mesh>) {
/// commands.spawn((
///     ClothFrom(assets.load("presets/flag.cloth.ron")),
///     Pins::edge(ClothEdge::Left),
///     Mesh3d(mesh),
/// ));
/// # }
/// ```
///
/// The cloth is built once the file is loaded, or cannot be: then it is what its `Cloth` says, and the log
/// says why. Your own edits of `Cloth` stay until the cloth in the file is another one; insert `ClothFrom`
/// again to take it anew. A file that has become unreadable changes nothing.
///
/// With Bevy's feature `file_watcher` a change is seen when it is saved; `AssetServer::reload` does without.
#[derive(
    Component, FromTemplate, Reflect, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut,
)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(Cloth)]
pub struct ClothFrom(pub Handle<ClothPreset>);

/// [`ClothGravity`], [`Wind`], [`Turbulence`], [`WindOcclusion`] and [`Substeps`] are those of a file, also
/// when the file changes. Your own edits of them stay until its settings are others.
#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
pub struct ClothSettingsFrom(pub Handle<ClothPreset>);

/// Adds all of this to an app that has assets, once.
pub(crate) fn add_to(app: &mut App) {
    let world = app.world();
    if !world.contains_resource::<AssetServer>() || world.contains_resource::<Assets<ClothPreset>>()
    {
        return;
    }
    app.init_asset::<ClothPreset>()
        .register_asset_reflect::<ClothPreset>()
        .init_asset_loader::<load::Loader>()
        .init_resource::<follow::Failures>()
        .register_type::<ClothFrom>()
        .register_type::<ClothSettingsFrom>()
        .add_observer(follow::forget)
        .add_systems(
            PostUpdate,
            (
                follow::hear,
                follow::follow,
                follow::follow_settings.run_if(resource_exists::<ClothSettingsFrom>),
            )
                .chain()
                .before(ClothSystems::Build),
        );
}
