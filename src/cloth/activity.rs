//! Components that stop the simulation of a cloth, and the query filter for cloths that are simulated.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Marker for a sleeping cloth: it is not simulated and costs almost nothing. The plugin inserts it on cloths
/// that have come to rest, see [`Cloth::sleep_speed`](crate::cloth::Cloth::sleep_speed), and removes it as soon as
/// something may move them:
///
/// - its own components change: `Cloth`, `Pins`, `ClothTearing`, `ClothPressure`, `PlanarCloth`, `ClothLayers`;
///   writing an equal value is not a change;
/// - an anchor of its pins moves, or its own transform where pins or max distances depend on that;
/// - a system writes its [`ClothParticles`](crate::cloth::ClothParticles) or
///   [`ClothConstraints`](crate::cloth::ClothConstraints), with any values;
/// - it is grabbed, cut or reset;
/// - a cloth close enough for contact is awake, where both have self-collision and matching layers: such cloths
///   fall asleep and wake together;
/// - a collider on matching layers comes near, moves nearby, leaves, or changes; likewise wind zones;
/// - gravity, wind, turbulence, substeps or the length of the fixed step change. Cloth in gusts and turbulence
///   never sleeps; in a steady wind it does.
///
/// Query with `Without<ClothSleeping>` for moving cloths. Remove it to wake a cloth yourself; insert it to stop a
/// cloth until one of the above happens.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
// Inserted and removed more often than queried.
#[component(storage = "SparseSet", clone_behavior = Ignore)]
pub struct ClothSleeping;

/// Pauses a cloth: insert it to stop the cloth, remove it to resume in the same shape. Unlike culled cloth, paused
/// cloth stays where it is in the world.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[component(storage = "SparseSet")]
pub struct ClothPaused;

/// Marker for cloths that `ClothLod` has culled.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[component(storage = "SparseSet", clone_behavior = Ignore)]
pub struct ClothCulled;

/// Query filter: cloths that are simulated.
pub(crate) type InMotion = (
    Without<ClothSleeping>,
    Without<ClothPaused>,
    Without<ClothCulled>,
);
