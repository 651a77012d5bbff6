//! Presets: cloth and its environment in files, `*.cloth.ron`, loaded as assets, reloaded on changes, and saved.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | public types |
//! | `file` | parsing and writing of text, and its errors |
//! | `load` | asset loader, and saving to the asset folder |
//! | `apply` | systems that apply files to cloths and to the environment |
//! | `rust_code` | values as Rust code |

mod apply;
mod file;
mod load;
mod rust_code;

pub use file::ClothPresetError;
pub use rust_code::rust_code;

use crate::{
    cloth::{
        Cloth,
        add_schedules::{add_single_threaded, never, run},
        schedule::ClothSystems,
        settings::{ClothGravity, ClothSubsteps},
    },
    wind::settings::{Wind, WindOcclusion, WindTurbulence},
};
use bevy::{
    ecs::{schedule::ScheduleLabel, template::FromTemplate},
    prelude::*,
};
use serde::{Deserialize, Serialize};
#[cfg(feature = "panel")]
pub(crate) use {apply::load_error_message, load::EXTENSION};

/// Cloth in a file, `*.cloth.ron`, and optionally its environment.
///
/// Omitted fields have their defaults; `()` is the default preset. A misspelt field is reported with file, line
/// and column, a number out of range with file and field, and such a file is not applied.
///
/// ```ron
/// (
///     cloth: (
///         fabric: (like: "silk", drag: 0.6),
///         damping: 0.1,
///     ),
///     environment: (
///         wind: (velocity: (0, 0, 4), gusts: 0.6),
///         substeps: Every(0.001),
///     ),
/// )
/// ```
///
/// [`ClothPresetHandle`] applies it to a cloth, [`ClothEnvironmentHandle`] applies its environment to the world.
#[derive(Asset, Reflect, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[reflect(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClothPreset {
    /// Cloth. [`Pins`](crate::pins::Pins) and other components are not part of a preset.
    pub cloth: Cloth,
    /// Environment of all cloths. Default `None`: the environment stays as it is.
    pub environment: Option<ClothEnvironment>,
}

/// Environment of all cloths, the resources that determine their motion, as one value. Without
/// [`ClothTime`](crate::time::ClothTime) and [`ClothMaxThreads`](crate::cloth::ClothMaxThreads), which depend on the game and
/// the machine.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[reflect(Default, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClothEnvironment {
    /// Gravity, m/s². Default −9.81 along y; each component −200 to 200.
    pub gravity: ClothGravity,
    /// Global wind. Default none.
    pub wind: Wind,
    /// Turbulence of the wind. Default none.
    pub turbulence: WindTurbulence,
    /// Occlusion of the wind by colliders. Default none.
    pub wind_occlusion: WindOcclusion,
    /// Substeps into which each step is divided. Default one every 1/480 s.
    pub substeps: ClothSubsteps,
}

impl ClothEnvironment {
    /// Returns the environment of a world, with defaults for missing resources.
    pub fn of(world: &World) -> Self {
        fn copy<T: Resource + Copy + Default>(world: &World) -> T {
            world.get_resource().copied().unwrap_or_default()
        }
        Self {
            gravity: copy(world),
            wind: copy(world),
            turbulence: copy(world),
            wind_occlusion: copy(world),
            substeps: copy(world),
        }
    }

    /// Inserts the resources into a world.
    pub fn apply(self, world: &mut World) {
        world.insert_resource(self.gravity);
        world.insert_resource(self.wind);
        world.insert_resource(self.turbulence);
        world.insert_resource(self.wind_occlusion);
        world.insert_resource(self.substeps);
    }
}

/// Applies a preset to the [`Cloth`] of the same entity, again whenever the file changes. Requires `Cloth`.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, preset::ClothPresetHandle};
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, mesh: Handle<Mesh>) {
/// commands.spawn((
///     ClothPresetHandle(assets.load("presets/flag.cloth.ron")),
///     Pins::edge(ClothEdge::Left),
///     Mesh3d(mesh),
/// ));
/// # }
/// ```
///
/// The cloth is built once loading has finished. If loading fails, the cloth is built as its `Cloth` component
/// says, and the reason is logged. Later edits of `Cloth` last until the cloth in the file changes; to undo them,
/// insert `ClothPresetHandle` again. A file that has become unreadable changes nothing.
///
/// With Bevy's feature `file_watcher` changes are applied when the file is saved; without it, call
/// `AssetServer::reload`.
#[derive(
    Component, FromTemplate, Reflect, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut,
)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(Cloth)]
pub struct ClothPresetHandle(pub Handle<ClothPreset>);

/// Applies the environment of a preset, [`ClothGravity`], [`Wind`], [`WindTurbulence`], [`WindOcclusion`] and
/// [`ClothSubsteps`], again whenever the file changes. Later edits of these resources last until the environment
/// in the file changes.
#[derive(Resource, Reflect, Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
pub struct ClothEnvironmentHandle(pub Handle<ClothPreset>);

/// Schedule of the systems that apply presets, run by one system: their commands would otherwise make the executor of
/// [`PostUpdate`] switch threads in every frame, even while there are no presets.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ApplyPresets;

/// Registers presets in an app that has an asset server.
pub(crate) struct PresetPlugin;

impl Plugin for PresetPlugin {
    fn build(&self, app: &mut App) {
        add_to(app);
    }

    fn finish(&self, app: &mut App) {
        // Again, in case `AssetPlugin` was added after this plugin.
        add_to(app);
    }
}

/// Adds preset assets and systems to an app that has an asset server, once.
fn add_to(app: &mut App) {
    let world = app.world();
    if !world.contains_resource::<AssetServer>() || world.contains_resource::<Assets<ClothPreset>>()
    {
        return;
    }
    app.init_asset::<ClothPreset>()
        .register_asset_reflect::<ClothPreset>()
        .init_asset_loader::<load::ClothPresetLoader>()
        .init_resource::<apply::PresetLoadFailures>()
        .register_type::<ClothPresetHandle>()
        .register_type::<ClothEnvironmentHandle>()
        .add_observer(apply::forget_applied_preset);
    add_single_threaded(app, ApplyPresets);
    app.add_systems(
        ApplyPresets,
        (
            apply::collect_load_failures,
            apply::apply_cloth_presets,
            apply::apply_environment.run_if(resource_exists::<ClothEnvironmentHandle>),
        )
            .chain(),
    )
    .add_systems(
        PostUpdate,
        (
            run(ApplyPresets)
                .run_if(
                    any_with_component::<ClothPresetHandle>
                        .or_else(resource_exists::<ClothEnvironmentHandle>),
                )
                .ambiguous_with_all(),
            declare_access.run_if(never),
        )
            .before(ClothSystems::Build),
    );
}

/// Declares what [`ApplyPresets`] reads and writes, for Bevy's detection of ambiguous orders.
fn declare_access(
    _: Query<(&ClothPresetHandle, &mut Cloth)>,
    _: (
        ResMut<ClothGravity>,
        ResMut<Wind>,
        ResMut<WindTurbulence>,
        ResMut<WindOcclusion>,
        ResMut<ClothSubsteps>,
    ),
) {
}
