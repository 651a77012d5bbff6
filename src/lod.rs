//! How much work cloths are worth: level of detail, culling, pause, and a limit on time.

use crate::{sleep::ClothSleeping, world_motion::Teleport};
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// How much work cloths are worth, by their distance from whoever looks at them. Default: all of it, always.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let mut app = App::new();
/// app.insert_resource(ClothLod::standard());
/// ```
///
/// Distances are from the nearest [`ClothViewer`], or from the nearest active camera if there is none, to the
/// ball around a cloth, in metres. A cloth that somebody grabs has all its detail. Where nobody looks, as on
/// a server, all have.
///
/// What a cloth is worth depends on cameras, so that two machines may not get the same bits. Leave it at the
/// default where they must.
#[derive(Resource, Reflect, Clone, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothLod {
    /// What is done for cloths that are farther away than each of these. The farthest that a cloth is
    /// beyond counts, in whatever order they are. Default none.
    pub levels: Vec<LodLevel>,
    /// Cloths beyond this stand still, m: they are carried along by their entity as a rigid thing. 0 and
    /// more; default infinity.
    pub cull_beyond: f32,
    /// Cloths that no camera and no light with shadows has seen for a quarter of a second, nor what follows them
    /// ([`ClothProxy`](crate::ClothProxy)), stand still likewise. Default `false`.
    pub cull_unseen: bool,
    /// A cloth gets its detail back when it is nearer by this share than where it lost it, so that it does not
    /// flicker between two levels. 0 to 1, default 0.1.
    pub hysteresis: f32,
    /// What becomes of a cloth that stood still when it moves again: it goes on in the shape in which it was
    /// carried along, or starts anew in its rest shape. Default [`Teleport::Keep`].
    pub on_return: Teleport,
}

/// What is done for cloths from some distance on.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct LodLevel {
    /// From this distance on, m. 0 or more, default 0.
    pub beyond: f32,
    /// At most so many substeps in a step. At least 1; default 8.
    pub substeps: u32,
    /// At most so many relaxation passes in a substep. At least 1; default 1.
    pub iterations: u32,
    /// Whether it collides with itself and other cloths, if it is to. Default `true`.
    pub self_collision: bool,
    /// It takes a step that is so many times as long, once in so many fixed updates; between them it is drawn
    /// on its way. 1 to 6, default 1.
    pub every: u32,
}

impl Default for LodLevel {
    fn default() -> Self {
        Self {
            beyond: 0.0,
            substeps: 8,
            iterations: 1,
            self_collision: true,
            every: 1,
        }
    }
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

/// Fewer steps than one in so many updates would be seen.
pub(crate) const MOST_UPDATES: u32 = 6;

impl ClothLod {
    /// For characters of human size: at most 4 substeps beyond 12 m, and no self-collision; half of the
    /// steps beyond 25 m; a quarter beyond 50 m; nothing beyond 100 m, and nothing where nobody looks.
    pub fn standard() -> Self {
        let level = |beyond, substeps, every| LodLevel {
            beyond,
            substeps,
            iterations: 1,
            self_collision: false,
            every,
        };
        Self {
            levels: vec![level(12.0, 4, 1), level(25.0, 4, 2), level(50.0, 4, 4)],
            cull_beyond: 100.0,
            cull_unseen: true,
            ..default()
        }
    }

    /// Whether it asks for anything.
    pub(crate) fn is_idle(&self) -> bool {
        self.levels.is_empty() && self.cull_beyond == f32::INFINITY && !self.cull_unseen
    }

    /// Brings the levels into the order of their distances.
    pub(crate) fn sort(&self, levels: &mut Vec<LodLevel>) {
        levels.clone_from(&self.levels);
        levels.sort_by(|a, b| a.beyond.total_cmp(&b.beyond));
    }

    /// How many of the sorted levels are nearer than this, given how many it was beyond. NaN is near.
    pub(crate) fn passed(&self, levels: &[LodLevel], distance: f32, was: u32) -> u32 {
        let passed = (0..)
            .zip(levels)
            .filter(|&(k, level)| self.is_beyond(distance, level.beyond, k < was));
        passed.count() as u32
    }

    /// Whether what is so far away is culled, given whether it was.
    pub(crate) fn culls(&self, distance: f32, was: bool) -> bool {
        self.is_beyond(distance, self.cull_beyond, was)
    }

    fn is_beyond(&self, distance: f32, limit: f32, was: bool) -> bool {
        let gain = 1.0 - self.hysteresis.clamp(0.0, 1.0);
        distance >= if was { limit * gain } else { limit }
    }
}

/// From where cloths are looked at, for [`ClothLod`]: put it on a player or a camera. With none of these, all
/// active cameras look.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform)]
pub struct ClothViewer;

/// Put it on a cloth to have it stand still, and take it off to have it go on, from the same shape. Unlike culled
/// cloth it stays where it is in the world.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[component(storage = "SparseSet")]
pub struct ClothPaused;

/// On cloths that stand still because of [`ClothLod`].
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[component(storage = "SparseSet", clone_behavior = Ignore)]
pub struct ClothCulled;

/// Cloths that move.
pub(crate) type InMotion = (
    Without<ClothSleeping>,
    Without<ClothPaused>,
    Without<ClothCulled>,
);

/// How much time cloths may take. Default: as much as they need.
///
/// When their steps take longer for a while, all cloths go on to the next level of [`ClothLod`], and to
/// another one if that is not enough; the log says so. When there is time again they come back, one level
/// after the other. If [`ClothLod`] has no levels, those of [`ClothLod::standard`] are used, without their
/// distances.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothBudget {
    /// How long the steps of all cloths may take in a frame, ms. Above 0; default infinity.
    pub milliseconds: f32,
    /// How many levels all cloths are below what their distance says, for want of time. Written by the
    /// plugin.
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

/// How many particles are built in a frame: more cloths than that which are spawned at once are built in
/// the frames that follow, in their order. At least one is built in each frame. Default 8192, which take
/// about 10 ms.
#[derive(Resource, Reflect, Clone, Copy, Debug, PartialEq, Eq, Deref, DerefMut)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothsPerFrame(pub usize);

impl Default for ClothsPerFrame {
    fn default() -> Self {
        Self(8192)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_level_that_a_cloth_is_beyond_counts() {
        let mut lod = ClothLod::standard();
        lod.levels.reverse();
        let mut levels = Vec::new();
        lod.sort(&mut levels);
        let at = |distance| lod.passed(&levels, distance, 0);
        assert_eq!([0.0, 11.9, 12.0, 30.0, 1e9].map(at), [0, 0, 1, 2, 3]);
        assert_eq!(at(f32::NAN), 0);
        assert!(levels.iter().map(|level| level.every).eq([1, 2, 4]));
        assert!(!lod.is_idle() && ClothLod::default().is_idle());
    }

    #[test]
    fn detail_comes_back_later_than_it_went() {
        let lod = ClothLod::standard();
        let at = |distance, was| lod.passed(&lod.levels, distance, was);
        assert_eq!(at(11.5, 0), 0);
        assert_eq!(at(11.5, 1), 1);
        assert_eq!(at(10.5, 1), 0);
        assert!(!lod.culls(95.0, false));
        assert!(lod.culls(95.0, true));
        assert!(!lod.culls(89.0, true));
    }
}
