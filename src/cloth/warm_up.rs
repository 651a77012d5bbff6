//! Warm-up: simulates cloth before it is first rendered.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Number of steps that a cloth simulates when it is built, before it is first rendered: a cape already hangs, a
/// tablecloth already lies. 60 are about a second. At most 1000.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{cloth::ClothWarmUp, prelude::*};
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((Cloth::default(), Pins::edge(ClothEdge::Top), ClothWarmUp(90)));
/// # }
/// ```
///
/// The surroundings do not move meanwhile, and the wind is that of the moment. The cloth collides with primitives
/// (`ClothCollider`), and with mesh colliders that existed before it, but not with other cloth. Your own systems in
/// [`ClothSubstep`](crate::cloth::ClothSubstep) do not run. All steps run in one frame, each at the cost of a normal
/// step.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothWarmUp(pub u32);

/// Largest number of steps: more would block the frame for too long.
pub(crate) const MAX_STEPS: u32 = 1000;
