//! Resources for all cloths: gravity, substeps and threads.

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

/// Number of substeps per fixed step, 1 to 100, default 8. Stiffness grows with its square, cost in proportion.
/// May change at any time; greater stiffness is then ramped up over several steps, so that cloth does not snap
/// back.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothSubsteps(pub u32);

impl Default for ClothSubsteps {
    fn default() -> Self {
        Self(8)
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
