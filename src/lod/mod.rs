//! Level of detail, culling, pause and time budget of cloths.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | components and resources for users |
//! | `choose_level` | chooses the level of each cloth before a step, and measures the cost of steps |
//! | `plugin` | registration |

pub(crate) mod choose_level;
pub(crate) mod plugin;

pub use crate::cloth::{
    activity::{ClothCulled, ClothPaused},
    update_rate::LodLevel,
};

use crate::{character::inertia::Teleport, cloth::settings::ClothSubsteps};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Level of detail of cloths by their distance from the viewer. Default: full detail at any distance.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{lod::ClothLod, prelude::*};
/// # let mut app = App::new();
/// app.insert_resource(ClothLod::standard());
/// ```
///
/// Distances are from the nearest [`ClothViewer`], or from the nearest active camera if there is none, to the
/// bounding sphere of a cloth, in metres. A grabbed cloth has full detail. Without viewers and cameras, as on a
/// server, all cloths have.
///
/// The level of detail depends on cameras, so two machines may not compute the same bits. Where they must, leave
/// it at the default.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothLod {
    /// Reduced levels of detail, in any order. The one with the largest `beyond` below the distance of a cloth
    /// applies. Default none.
    pub levels: Vec<LodLevel>,
    /// Distance beyond which cloths are culled, m: they are not simulated and move rigidly with their entity. At
    /// least 0; default infinity.
    pub cull_beyond: f32,
    /// Whether to cull cloths that, together with their [`ClothProxy`](crate::proxy::ClothProxy) meshes, have been
    /// visible to no camera and no shadow-casting light for a quarter of a second. Default `false`.
    pub cull_unseen: bool,
    /// Hysteresis: fraction of the distance of a level by which a cloth must come closer to get the detail back,
    /// so that it does not flicker between two levels. 0 to 1, default 0.1.
    pub hysteresis: f32,
    /// State in which a culled cloth resumes: in the shape it had, or reset to its rest shape. Default
    /// [`Teleport::Keep`].
    pub on_return: Teleport,
}

impl Default for ClothLod {
    fn default() -> Self {
        Self {
            levels: Vec::new(),
            cull_beyond: f32::INFINITY,
            cull_unseen: false,
            hysteresis: 0.1,
            on_return: Teleport::Keep,
        }
    }
}

impl ClothLod {
    /// Returns levels for characters of human size: half the substeps and no self-collision beyond 12 m; a step
    /// every 2 updates beyond 25 m; every 4 beyond 50 m; culled beyond 100 m and where not visible.
    pub fn standard() -> Self {
        let level = |beyond, every| LodLevel {
            beyond,
            substeps: ClothSubsteps::Every(1.0 / 240.0),
            iterations: 1,
            self_collision: false,
            every,
        };
        Self {
            levels: vec![level(12.0, 1), level(25.0, 2), level(50.0, 4)],
            cull_beyond: 100.0,
            cull_unseen: true,
            ..default()
        }
    }

    /// Returns whether it never reduces detail.
    pub(crate) fn is_idle(&self) -> bool {
        self.levels.is_empty() && self.cull_beyond == f32::INFINITY && !self.cull_unseen
    }

    /// Copies the levels, sorted by distance.
    pub(crate) fn sort(&self, levels: &mut Vec<LodLevel>) {
        levels.clone_from(&self.levels);
        levels.sort_by(|a, b| a.beyond.total_cmp(&b.beyond));
    }

    /// Returns the number of sorted levels exceeded at this distance, given the number before. NaN exceeds none.
    pub(crate) fn levels_passed(&self, levels: &[LodLevel], distance: f32, was: u32) -> u32 {
        let passed = (0..)
            .zip(levels)
            .filter(|&(k, level)| self.is_beyond(distance, level.beyond, k < was));
        passed.count() as u32
    }

    /// Returns whether a cloth at this distance is culled, given whether it was.
    pub(crate) fn culls(&self, distance: f32, was: bool) -> bool {
        self.is_beyond(distance, self.cull_beyond, was)
    }

    fn is_beyond(&self, distance: f32, limit: f32, was: bool) -> bool {
        let factor = 1.0 - self.hysteresis.clamp(0.0, 1.0);
        distance >= if was { limit * factor } else { limit }
    }
}

/// Position from which [`ClothLod`] measures distances: put it on a player or a camera. Without any, all active
/// cameras count.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform)]
pub struct ClothViewer;

/// Time budget of all cloths. Default: no limit.
///
/// When their steps take longer for a while, all cloths drop to the next level of [`ClothLod`], and to another one
/// if that is not enough; this is logged. When there is time again, they regain one level after the other. If
/// [`ClothLod`] has no levels, those of [`ClothLod::standard`] are used, without their distances.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothBudget {
    /// Maximum time per frame for the steps of all cloths, ms. Above 0; default infinity.
    pub milliseconds: f32,
    /// Number of levels that all cloths are below the one for their distance, because time was short. Written by
    /// the plugin.
    pub levels_lost: u32,
}

impl Default for ClothBudget {
    fn default() -> Self {
        Self {
            milliseconds: f32::INFINITY,
            levels_lost: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_level_exceeded_applies() {
        let mut lod = ClothLod::standard();
        lod.levels.reverse();
        let mut levels = Vec::new();
        lod.sort(&mut levels);
        let at = |distance| lod.levels_passed(&levels, distance, 0);
        assert_eq!([0.0, 11.9, 12.0, 30.0, 1e9].map(at), [0, 0, 1, 2, 3]);
        assert_eq!(at(f32::NAN), 0);
        assert!(levels.iter().map(|level| level.every).eq([1, 2, 4]));
        assert!(!lod.is_idle() && ClothLod::default().is_idle());
    }

    #[test]
    fn hysteresis_delays_the_return_of_detail() {
        let lod = ClothLod::standard();
        let at = |distance, was| lod.levels_passed(&lod.levels, distance, was);
        assert_eq!(at(11.5, 0), 0);
        assert_eq!(at(11.5, 1), 1);
        assert_eq!(at(10.5, 1), 0);
        assert!(!lod.culls(95.0, false));
        assert!(lod.culls(95.0, true));
        assert!(!lod.culls(89.0, true));
    }
}
