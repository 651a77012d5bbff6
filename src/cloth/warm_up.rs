//! Warm-up: simulates cloth before it is first rendered.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Number of steps that a cloth simulates when it is built, before it is first rendered: a cape already hangs, a
/// tablecloth already lies. 60 are about a second. At most 1000, and at most 8 million divided by the number of particles: more
/// would stop the app for longer than a second.
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

/// Largest number of steps, and of steps times particles: more would block the frame for too long.
const MAX_STEPS: u32 = 1000;
const MAX_PARTICLE_STEPS: usize = 8_000_000;

impl ClothWarmUp {
    /// Returns the number of steps that a cloth of this many particles takes.
    pub(crate) fn steps(self, particles: usize) -> u32 {
        let affordable = MAX_PARTICLE_STEPS / particles.max(1);
        self.0.min(MAX_STEPS).min(affordable as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warm_up_ends_soon() {
        assert_eq!(ClothWarmUp(60).steps(256 * 256), 60);
        assert_eq!(ClothWarmUp(u32::MAX).steps(24 * 24), 1000);
        assert_eq!(ClothWarmUp(1000).steps(400 * 400), 50);
        assert_eq!(ClothWarmUp(1000).steps(0), 1000);
    }
}
