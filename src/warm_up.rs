//! Lets cloth settle before it is seen.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Lets a cloth take so many steps when it is built, before it is drawn for the first time: a cape hangs, a
/// tablecloth lies, and nobody sees it fall into place. Sixty are a second.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((Cloth::default(), Pins::edge(ClothEdge::Top), WarmUp(90)));
/// # }
/// ```
///
/// All that is around it stands still meanwhile, at the wind of that moment. It meets primitives
/// ([`ClothCollider`](crate::ClothCollider)), and mesh colliders that were there before it, but no other cloth,
/// and systems of yours in [`ClothSubstep`](crate::ClothSubstep) do not run. The steps are taken in one frame:
/// they take as long as those that are seen. At most 1000.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct WarmUp(pub u32);

/// More would be a program that hangs.
pub(crate) const MOST_STEPS: u32 = 1000;
