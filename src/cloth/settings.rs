//! Resources for all cloths: gravity, substeps, threads, and where cloths are built.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Gravitational acceleration of all cloths, m/s². Default −9.81 along y; each component −200 to 200.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothGravity(pub Vec3);

impl Default for ClothGravity {
    fn default() -> Self {
        Self(Vec3::NEG_Y * 9.81)
    }
}

/// Substeps into which each step is divided, by default one every 1/480 s: 8 at 60 steps per second, 16 at 30.
/// Stiffness grows with the square of their number, cost in proportion. May change at any time; greater stiffness is
/// then ramped up over several steps, so that cloth does not snap back.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ClothSubsteps {
    /// A substep every so many seconds, 0.001 to 0.1 s: their number is the step divided by this time, rounded up from a
    /// fraction of 0.4 on, 1 to [`MAX`](Self::MAX). Cloth moves in the same way and costs as much per second, whatever the
    /// rate of the steps.
    Every(f32),
    /// This many substeps per step, 1 to 100, whatever its length.
    PerStep(u32),
}

impl ClothSubsteps {
    /// Largest number of substeps of a step. Fast or heavy things in contact with a cloth multiply a lower number, up to 160.
    pub const MAX: u32 = 100;

    /// Returns the number of substeps of a step that lasts this many seconds.
    pub fn count(self, step: f32) -> u32 {
        let count = match self {
            Self::Every(seconds) => (step / seconds - 0.4).ceil() as u32,
            Self::PerStep(count) => count,
        };
        count.clamp(1, Self::MAX)
    }
}

impl Default for ClothSubsteps {
    fn default() -> Self {
        Self::Every(1.0 / 480.0)
    }
}

/// Maximum number of CPU threads that work on cloths at the same time, at least 1. Default all: the threads of
/// Bevy's compute pool, and the one that runs the schedule. Results do not depend on it.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothMaxThreads(pub usize);

impl Default for ClothMaxThreads {
    fn default() -> Self {
        Self(usize::MAX)
    }
}

/// Where cloths are built from their meshes.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::cloth::ClothBuildMode;
/// # let mut app = App::new();
/// app.insert_resource(ClothBuildMode::Immediate);
/// ```
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ClothBuildMode {
    /// On Bevy's pool for asynchronous computations, while the app goes on. The mesh is rendered as it is until the cloth
    /// is ready; [`ClothReady`](super::ClothReady) tells when. A cloth whose mesh asset has changed goes on as it was until
    /// then. A cloth starts where its entity is when it is ready, so the bits of its steps do not depend on when that is.
    #[default]
    Background,
    /// In the frame in which mesh and skeleton are loaded. For tests and loading screens: a cloth of 256 × 256 particles
    /// takes some 100 ms.
    Immediate,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn substeps_follow_from_the_length_of_a_step() {
        let default = ClothSubsteps::default();
        let rates = [1, 10, 24, 30, 50, 60, 64, 120, 144, 240, 480, 1000];
        let counts = rates.map(|rate| default.count(1.0 / rate as f32));
        assert_eq!(counts, [100, 48, 20, 16, 10, 8, 8, 4, 3, 2, 1, 1]);
        assert_eq!(default.count(0.0), 1);
        for step in [0.0, 0.01, 1.0] {
            assert_eq!(ClothSubsteps::PerStep(12).count(step), 12);
            assert_eq!(ClothSubsteps::PerStep(0).count(step), 1);
        }
        assert_eq!(ClothSubsteps::Every(f32::NAN).count(0.1), 1);
        assert_eq!(ClothSubsteps::Every(0.0).count(0.1), ClothSubsteps::MAX);
    }
}
