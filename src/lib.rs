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

pub mod manual;
pub mod mesh;
pub mod params;
pub mod solver;

mod build;
mod character;
mod cloth;
mod collision;
mod commands;
#[cfg(feature = "debug")]
mod debug;
mod diagnostics;
#[cfg(any(feature = "avian", feature = "rapier"))]
mod engines;
mod grab;
mod lod;
#[cfg(feature = "panel")]
pub mod panel;
#[cfg(feature = "picking")]
mod picking;
mod pins;
mod plugin;
#[cfg(feature = "presets")]
mod preset;
mod pressure;
mod proxy;
mod render;
mod rope;
mod sleep;
mod snapshot;
mod step;
mod tearing;
mod time;
mod wind;

pub use character::inertia::{ClothInertia, Teleport, TeleportCloth};
pub use character::max_distance::{Backstop, ClothMaxDistance};
pub use character::paint::{ClothPaint, ClothPart, PerVertex, VertexChannel};
pub use character::rules::{ClothRules, MeshNames};
pub use character::skeleton_colliders::SkeletonColliders;
pub use cloth::components::{ClothBuildFailed, ClothConstraints, ClothParticles, ClothSource};
pub use cloth::fabric::Fabric;
pub use cloth::planar::PlanarCloth;
pub use cloth::settings::{
    ClothGravity, ClothMaxThreads, ClothSubsteps, Wind, WindOcclusion, WindTime, WindTurbulence,
};
pub use cloth::warm_up::ClothWarmUp;
pub use cloth::{Cloth, ClothReady, ResetCloth, SelfCollision};
pub use collision::collider::{ClothCollider, LastPose};
pub use collision::layers::ClothLayers;
#[cfg(feature = "parry")]
pub use collision::mesh_collider::{ClothMeshCollider, ClothMeshShape};
pub use commands::ClothCommands;
#[cfg(feature = "debug")]
pub use debug::{ClothDebugPlugin, ClothGizmoGroup, ClothGizmos};
pub use diagnostics::{ClothDiagnosticsPlugin, ClothStats};
#[cfg(feature = "avian")]
pub use engines::AvianClothPlugin;
#[cfg(feature = "rapier")]
pub use engines::RapierClothPlugin;
pub use grab::{ClothGrabbed, ClothGrabs, ClothReleased, DragCloth, Grab, GrabCloth, ReleaseCloth};
pub use lod::{
    ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, ClothsPerFrame, LodLevel,
};
#[cfg(feature = "panel")]
pub use panel::{ClothPanel, ClothPanelPlugin};
#[cfg(feature = "picking")]
pub use picking::{
    ClothHit, ClothInteractionPlugin, ClothPointers, ClothTool, ClothTools, HoveredEdge,
    HoveredEdges,
};
pub use pins::template::{ClothInertiaTemplate, PinsTemplate};
pub use pins::{ClothCorner, ClothEdge, Pin, PinAnchor, PinPredicate, PinSelector, Pins};
pub use plugin::{ClothPlugin, ClothSubstep, ClothSubstepTime, ClothSystems};
#[cfg(feature = "presets")]
pub use preset::{
    ClothEnvironment, ClothEnvironmentHandle, ClothPreset, ClothPresetError, ClothPresetHandle,
    rust_code,
};
pub use pressure::ClothPressure;
pub use proxy::{ClothProxy, ClothProxyTemplate};
pub use rope::Rope;
pub use sleep::{ClothSleeping, TIME_TO_SLEEP};
pub use snapshot::{ClothSnapshot, SnapshotError};
pub use solver::{
    Falloff, StretchSolver, ZoneFlow, ZoneShape,
    topology::{Blade, TearLimit},
};
pub use tearing::{
    ClothTearing, ClothTorn, CutCloth, ResistanceFunction, ShredCloth, TearCause, TearEdge,
    TearResistance, TornEdge,
};
pub use time::{ClothClock, ClothTime, cloth_step_due};
pub use wind::zone::{LocalWind, WindZone};

/// Names that most programs need.
pub mod prelude {
    #[cfg(feature = "avian")]
    pub use crate::AvianClothPlugin;
    #[cfg(feature = "parry")]
    pub use crate::ClothMeshCollider;
    #[cfg(feature = "rapier")]
    pub use crate::RapierClothPlugin;
    pub use crate::mesh::{ClothGrid, Diagonals};
    pub use crate::{
        Cloth, ClothBudget, ClothCollider, ClothCommands, ClothCorner, ClothEdge, ClothGravity,
        ClothInertia, ClothInertiaTemplate, ClothLayers, ClothLod, ClothMaxDistance, ClothPaint,
        ClothPart, ClothPaused, ClothPlugin, ClothPressure, ClothProxy, ClothReady, ClothRules,
        ClothSleeping, ClothSubsteps, ClothTearing, ClothTime, ClothTorn, ClothViewer, ClothWarmUp,
        Fabric, PerVertex, Pin, PinAnchor, PinSelector, Pins, PinsTemplate, PlanarCloth,
        ResetCloth, Rope, SelfCollision, SkeletonColliders, StretchSolver, Teleport, TeleportCloth,
        VertexChannel, Wind, WindOcclusion, WindTurbulence, WindZone,
    };
    #[cfg(feature = "debug")]
    pub use crate::{ClothDebugPlugin, ClothGizmos};
    #[cfg(feature = "presets")]
    pub use crate::{ClothEnvironment, ClothEnvironmentHandle, ClothPreset, ClothPresetHandle};
    #[cfg(feature = "picking")]
    pub use crate::{ClothInteractionPlugin, ClothPointers, ClothTool, ClothTools};
    #[cfg(feature = "panel")]
    pub use crate::{ClothPanel, ClothPanelPlugin};
}

/// Compiles the programs in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
