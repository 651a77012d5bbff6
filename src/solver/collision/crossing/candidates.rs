//! Pairs of triangles that may touch in a step.

use super::{
    near_features::GAP,
    patch_motion::{MeasureMotion, Motion, PatchMotion},
    patches::Patches,
    sweep::Sweep,
    triangle_pairs::NearPatches,
};
use crate::solver::simd::{LANES, dispatch};
use bevy::math::Vec3A;

/// Distance by which particles may move before pairs are searched again, as a fraction of the distance that particles
/// keep.
const MARGIN: f32 = 0.03;

/// Fraction of patches that are searched alone; if more have left their ways, all are.
const MAX_STALE: f32 = 0.3;

/// Largest number of pairs of patches per patch, of pairs of triangles per patch, and of those of which the gap is measured. Cloth
/// in which more may touch moves apart very fast, or is pressed into a point: its motion has to become shorter. Stacks and
/// crumples have up to 7, 5 and 28.
const MAX_PATCH_PAIRS: usize = 64;
const MAX_TRIANGLE_PAIRS: usize = 128;
const MAX_MEASURED: usize = 512;

/// Pairs of triangles that may touch, and the state of the search for them.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidates {
    /// As indices of lanes, sorted.
    pairs: Vec<[u32; 2]>,
    /// Whether the last search found all pairs.
    is_complete: bool,
    /// Begin and end of the ways for which `pairs` were found, without the common motion, relative to the frame that moves with it. They hold as
    /// long as both are no farther away than the margin.
    searched: [Vec<Vec3A>; 2],
    /// Distance that particles kept in that search, m, and divisor of the largest numbers of pairs.
    distance: f32,
    divisor: usize,
    /// Particles of which the way has changed by more than the margin, and patches with such particles.
    has_moved: Vec<bool>,
    is_stale: Vec<bool>,
    measured: Vec<PatchMotion>,
    /// Directions that each patch and all its neighbours face, one bit for each; and those of the search before.
    faced: Vec<u32>,
    last_faced: Vec<u32>,
    patch_pairs: Vec<[u32; 2]>,
    sweep: Sweep,
    near: NearPatches,
}

impl Candidates {
    /// Begins the search in other patches.
    pub(super) fn begin(&mut self, patches: &Patches) {
        let count = patches.len();
        self.searched[0].clear();
        self.pairs.clear();
        self.is_complete = true;
        self.measured.clear();
        self.measured.resize(count, PatchMotion::default());
        // No later step allocates, unless cloth is crumpled.
        self.patch_pairs.reserve(8 * count);
        self.pairs.reserve(8 * count);
        self.near.reserve(patches);
    }

    /// Returns the pairs of triangles, as indices of lanes.
    pub(super) fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Returns whether these are all pairs. If not, the next search begins anew.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Searches for pairs again in patches that have left their ways of the last search. `ways` are those of all particles
    /// without their common motion, and `frame` what they have moved by that before. The largest numbers of pairs of triangles
    /// are divided by `divisor`. Returns whether any patch has left its way.
    pub(super) fn update(
        &mut self,
        patches: &Patches,
        ways: Motion,
        frame: Vec3A,
        distance: f32,
        divisor: usize,
    ) -> bool {
        let (margin, gap) = (MARGIN * distance, GAP * distance);
        if (self.distance, self.divisor) != (distance, divisor) {
            (self.distance, self.divisor) = (distance, divisor);
            self.searched[0].clear();
        }
        if !self.find_stale(patches, ways, frame, margin) {
            return false;
        }
        let [start, end] = &self.searched;
        dispatch(MeasureMotion {
            patches,
            is_stale: &self.is_stale,
            motion: Motion { start, end },
            search_margin: margin,
            margin: margin + 0.5 * gap,
            measured: &mut self.measured,
        });
        self.find_faced(patches);
        let has_all_patches = self.find_patch_pairs(patches);
        let is_stale = |&triangle: &u32| self.is_stale[triangle as usize / LANES];
        self.pairs.retain(|pair| !pair.iter().any(is_stale));
        let most = [MAX_TRIANGLE_PAIRS, MAX_MEASURED].map(|most| most * patches.len() / divisor);
        let [start, end] = &self.searched;
        let has_all_triangles = self.near.find_pairs(
            patches,
            (Motion { start, end }, &self.measured),
            [margin, gap],
            &self.patch_pairs,
            most,
            &mut self.pairs,
        );
        self.is_complete = has_all_patches && has_all_triangles;
        if !self.is_complete {
            self.searched[0].clear();
        }
        // Their order must not depend on when they were found.
        self.pairs.sort_unstable();
        true
    }

    /// Finds the patches with particles of which the way is not that of the last search. Returns whether there are any.
    fn find_stale(&mut self, patches: &Patches, ways: Motion, frame: Vec3A, margin: f32) -> bool {
        let count = ways.start.len();
        let [start, end] = &mut self.searched;
        let is_first = start.len() != count;
        for list in [&mut *start, &mut *end] {
            list.resize(count, Vec3A::ZERO);
        }
        let moved = |way: &Vec3A| *way - frame;
        self.has_moved.clear();
        let known = start.iter_mut().zip(&mut *end);
        self.has_moved.extend(
            ways.start
                .iter()
                .zip(ways.end)
                .zip(known)
                .map(|(way, known)| {
                    let way = [moved(way.0), moved(way.1)];
                    let apart = (way[0] - *known.0).abs().max((way[1] - *known.1).abs());
                    let has_moved = is_first || apart.max_element() > margin;
                    if has_moved {
                        [*known.0, *known.1] = way;
                    }
                    has_moved
                }),
        );
        if !self.has_moved.contains(&true) {
            return false;
        }
        let has_moved = |corner: &u32| self.has_moved[*corner as usize];
        let patches = patches.triangles.iter();
        self.is_stale.clear();
        (self.is_stale).extend(patches.map(|patch| patch.as_flattened().iter().any(has_moved)));
        // All of them together take less time than a few more in each step.
        let stale = self.is_stale.iter().filter(|&&is_stale| is_stale).count();
        if stale as f32 > MAX_STALE * self.is_stale.len() as f32 {
            self.is_stale.fill(true);
            for (known, ways) in [(start, ways.start), (end, ways.end)] {
                known.clear();
                known.extend(ways.iter().map(moved));
            }
        }
        true
    }

    /// Finds the directions that patches and all their neighbours face. A patch for which they change is searched again.
    fn find_faced(&mut self, patches: &Patches) {
        let Self {
            faced, last_faced, ..
        } = self;
        std::mem::swap(faced, last_faced);
        faced.clear();
        faced.extend(self.measured.iter().map(|motion| motion.facing));
        for (patch, one) in self.measured.iter().enumerate() {
            for &other in patches.neighbours(patch as u32) {
                let other = other as usize;
                faced[patch] &= self.measured[other].facing;
                faced[other] &= one.facing;
            }
        }
        let both = faced.iter().zip(last_faced);
        for (is_stale, (now, before)) in self.is_stale.iter_mut().zip(both) {
            *is_stale |= now != before;
        }
    }

    /// Collects the pairs of patches to be searched, with those of a patch and itself. Returns whether these are all.
    fn find_patch_pairs(&mut self, patches: &Patches) -> bool {
        let Self {
            patch_pairs,
            is_stale,
            faced,
            measured,
            ..
        } = self;
        patch_pairs.clear();
        let max_pairs = MAX_PATCH_PAIRS * patches.len();
        let is_complete = (self.sweep).find_pairs(measured, max_pairs, patch_pairs);
        // Neighbours that face a common direction, as all patches around them do, are parts of one smooth surface.
        patch_pairs.retain(|&[a, b]| {
            let faced = faced[a as usize] & faced[b as usize];
            (is_stale[a as usize] || is_stale[b as usize])
                && measured[a as usize].may_touch(&measured[b as usize])
                && (faced == 0 || !patches.neighbours(a).contains(&b))
        });
        // A fold in a neighbour may bring parts of a patch together that all face one direction.
        let curved = (0..).zip(&*faced).zip(&*is_stale);
        let curved = curved.filter(|&((_, faced), &is_stale)| is_stale && *faced == 0);
        patch_pairs.extend(curved.map(|((patch, _), _)| [patch; 2]));
        is_complete
    }
}
