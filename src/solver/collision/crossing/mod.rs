//! Keeps cloth from passing through itself and other cloth: at the end of a step, the motion of particles is cut short
//! where an edge would pass through an edge, or a particle through a triangle.
//!
//! Contacts keep particles apart, but only as well as constraints and colliders let them. The filter guarantees the rest:
//! if no edge crosses a triangle when a step begins, none does when it ends. It takes particles to move along straight
//! lines from the begin of the step to its end; which way they took does not matter, as long as one is free of crossings.
//! Where it is not, the four particles of the two features lose the relative motion that leads beyond their contact, and the
//! features next to them are tested again, until nothing crosses. Particles that touch a collider, or nearly, count as heavy: it moves
//! them, and others make way. All others keep their bits, so cloth that slides is not braked.
//!
//! Edges that cross a triangle already when the step begins may move freely, so that they can be brought back
//! (`self_collision/untangle.rs`). Pinned particles are never stopped.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the filter: cloths that move together, and candidate pairs of triangles |
//! | `limits` | tests the candidates, and limits the motion of their particles |
//! | `motion_start` | positions when the step began |
//! | `patches` | connected triangles that are tested together |
//! | `sweep` | broad phase: overlapping pairs of patches |
//! | `triangle_pairs` | narrow phase: overlapping pairs of triangles that no plane separates |
//! | `time_of_contact` | continuous collision detection of two features |
//! | `zones` | particles that move together |

mod limits;
mod motion_start;
mod patches;
mod sweep;
mod time_of_contact;
mod triangle_pairs;
mod zones;

use self::{
    limits::{GAP, Limits, MovingMesh, Response},
    patches::{MeasureMotion, Motion, PatchMotion, Patches},
    sweep::Sweep,
    triangle_pairs::NearPatches,
};
use crate::solver::{
    particles::ParticleArrays,
    simd::{LANES, dispatch},
    triangles::corners::Corners,
};
use bevy::math::{DVec3, Vec3, Vec3A};
pub(crate) use motion_start::MotionStart;

/// Distance by which particles may move before pairs are searched again, as a fraction of the distance that particles
/// keep. It turns triangles so little that they still face the same directions.
const MARGIN: f32 = 0.03;

/// Inverse mass of a particle that touches a collider, relative to the real one.
const MOBILITY_AT_COLLIDERS: f32 = 1e-3;

/// Largest number of searches for pairs in a step: ways that have changed may lead to others. After the last one, ways only
/// become shorter.
const MAX_SEARCHES: u32 = 4;

/// Largest number of pairs of patches per patch, and of pairs of triangles per patch. Cloth in which more are near each
/// other is pressed into a point; beyond it, crossings are possible.
const MAX_PATCH_PAIRS: usize = 64;
const MAX_TRIANGLE_PAIRS: usize = 512;

/// Filter of the motion of one cloth, or of several that touch each other, in a step; and scratch buffers.
///
/// It follows from the positions, so it is not part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub(crate) struct CrossingFilter {
    parts: Vec<Part>,
    /// Number of parts added in this step.
    added: usize,
    /// Whether the patches are those of the parts.
    is_current: bool,
    patches: Patches,
    sweep: Sweep,
    near: NearPatches,
    /// Positions of all particles when the step began, and as far as they may go, relative to the origin of the first
    /// part, m.
    start: Vec<Vec3A>,
    end: Vec<Vec3A>,
    /// `end` without the mean motion.
    relative_end: Vec<Vec3A>,
    /// Displacement of each particle in a step at its velocity, m.
    velocity: Vec<Vec3A>,
    /// Inverse masses, 1/kg; 0 for particles that go their whole way in any case.
    inverse_mass: Vec<f32>,
    mean: Vec3A,
    /// Centre of all particles when the step began, m.
    centre: Vec3A,
    /// Begin and end of the ways for which `candidates` were found, without the mean motion, relative to the centre. They
    /// hold as long as both are no farther away than the margin, or ways only become shorter.
    searched: [Vec<Vec3A>; 2],
    /// Particles of which the way has changed by more than the margin, and patches with such particles.
    has_moved: Vec<bool>,
    is_stale: Vec<bool>,
    measured: Vec<PatchMotion>,
    /// Directions that each patch and all its neighbours face, one bit for each; and those of the search before.
    faced: Vec<u32>,
    last_faced: Vec<u32>,
    patch_pairs: Vec<[u32; 2]>,
    /// Pairs of triangles, as indices of lanes, that may touch.
    candidates: Vec<[u32; 2]>,
    limits: Limits,
}

/// Cloth in the filter.
#[derive(Clone, Debug)]
struct Part {
    /// Index of its first particle.
    first: usize,
    /// Number of particles.
    len: usize,
    triangles: Corners,
    origin: Vec3,
}

impl CrossingFilter {
    /// Begins the filter of a step, for the cloths to be added.
    pub(crate) fn begin(&mut self) {
        self.added = 0;
        self.start.clear();
        self.end.clear();
        self.velocity.clear();
        self.inverse_mass.clear();
    }

    /// Adds a cloth at the end of its step, which began with `start`; without it, the cloth does not move in this step.
    pub(crate) fn add(
        &mut self,
        p: &ParticleArrays,
        start: Option<&MotionStart>,
        triangles: &Corners,
    ) {
        let (first, len) = (self.start.len(), p.len());
        let known = self.parts.get(self.added);
        let is_known = known.is_some_and(|part| {
            part.first == first && part.len == len && part.triangles.is_copy_of(triangles)
        });
        if !is_known {
            self.parts.truncate(self.added);
            self.is_current = false;
            self.parts.push(Part {
                first,
                len,
                triangles: triangles.clone(),
                origin: p.origin,
            });
        }
        self.parts[self.added].origin = p.origin;
        self.added += 1;
        let shift = Vec3A::from(p.origin - self.parts[0].origin);
        let end = p.position.iter().map(|at| Vec3A::from(at) + shift);
        self.end.extend(end);
        match start.filter(|start| start.positions.len() == len) {
            Some(start) => {
                (self.start).extend(start.positions.iter().map(|at| at + shift));
                let substeps = start.substeps as f32;
                let velocities = p.displacement.iter().map(|d| Vec3A::from(d) * substeps);
                self.velocity.extend(velocities);
                let masses = p.inverse_mass.iter().enumerate();
                (self.inverse_mass).extend(masses.map(|(i, &w)| {
                    let touches = p.contact_normal.get(i) != Vec3::ZERO;
                    w * if touches { MOBILITY_AT_COLLIDERS } else { 1.0 }
                }));
            }
            None => {
                self.start.extend_from_slice(&self.end[first..]);
                self.velocity.resize(first + len, Vec3A::ZERO);
                self.inverse_mass.resize(first + len, 0.0);
            }
        }
    }

    /// Finds how far the particles of the added cloths may go. `distance` is the distance that particles keep, m.
    pub(crate) fn find_limits(&mut self, distance: f32) {
        if self.parts.len() != self.added {
            self.parts.truncate(self.added);
            self.is_current = false;
        }
        if !self.end.iter().chain(&self.start).all(|at| at.is_finite()) {
            self.limits.begin(0);
            return;
        }
        if !self.is_current {
            self.is_current = true;
            let shifted = self.parts.iter().flat_map(|part| {
                let (first, len) = (part.first as u32, part.len as u32);
                let in_range = move |corners: &[u32; 3]| corners.iter().all(|&i| i < len);
                let triangles = part.triangles.iter().filter(in_range);
                triangles.map(move |corners| corners.map(|i| i + first))
            });
            self.patches = Patches::new(self.end.len(), shifted.collect());
            self.searched[0].clear();
            self.measured.clear();
            self.measured
                .resize(self.patches.len(), PatchMotion::default());
            // No later step allocates, unless cloth is crumpled.
            self.patch_pairs.reserve(32 * self.patches.len());
            self.candidates.reserve(32 * self.patches.len());
            self.near.reserve(self.patches.len());
            self.limits.reserve(self.end.len());
        }
        self.mean = mean(&self.end) - mean(&self.start);
        self.centre = mean(&self.start);
        self.relative_end.clear();
        let relative = self.end.iter().map(|end| end - self.mean);
        self.relative_end.extend(relative);
        let distance = distance.min(self.diagonal());
        self.limits.begin(self.end.len());
        self.limit(distance);
    }

    /// Searches for pairs of triangles and changes the ways of their particles, until none of them cross.
    fn limit(&mut self, distance: f32) {
        let mut response = Response::Collide;
        for search in 1..=MAX_SEARCHES {
            let has_new = self.update_candidates(distance);
            if self.candidates.is_empty() {
                break;
            }
            let mut mesh = MovingMesh {
                patches: &self.patches,
                start: &self.start,
                end: &mut self.end,
                relative_end: &mut self.relative_end,
                mean: self.mean,
                velocity: &mut self.velocity,
                inverse_mass: &self.inverse_mass,
                distance,
            };
            if search == 1 {
                self.limits.separate_all(&mut mesh, &self.candidates);
            } else if !has_new && response == Response::Collide {
                break;
            }
            let is_free = self.limits.find(&mut mesh, &self.candidates, response);
            if response == Response::Stop {
                break;
            }
            if !is_free || search + 1 == MAX_SEARCHES {
                response = Response::Stop;
            }
        }
    }

    /// Moves the particles of an added cloth that have to stop as far as they may go, and slows them accordingly. The step
    /// had `substeps` substeps.
    pub(crate) fn apply(&self, part: usize, p: &mut ParticleArrays, substeps: u32) {
        let Some(part) = self.parts.get(part) else {
            return;
        };
        let shift = part.origin - self.parts[0].origin;
        for i in 0..part.len {
            let k = part.first + i;
            if self.limits.is_moved(k) {
                let position = Vec3::from(self.end[k]) - shift;
                let displacement = Vec3::from(self.velocity[k]) / substeps.max(1) as f32;
                p.displacement.set(i, displacement);
                p.position.set(i, position);
                p.predicted.set(i, position);
            }
        }
    }

    /// Returns the diagonal of the box around all particles when the step began, m.
    fn diagonal(&self) -> f32 {
        let from = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let at = self.start.iter();
        let (low, high) = at.fold(from, |(low, high), &at| (low.min(at), high.max(at)));
        (high - low).length()
    }

    /// Searches for pairs of triangles again, if one of them has left the way of the last search. Returns whether any has.
    fn update_candidates(&mut self, distance: f32) -> bool {
        let (margin, gap) = (MARGIN * distance, GAP * distance);
        if !self.find_stale(margin) {
            return false;
        }
        let [start, end] = &self.searched;
        let motion = Motion { start, end };
        dispatch(MeasureMotion {
            patches: &self.patches,
            is_stale: &self.is_stale,
            motion,
            margin: margin + 0.5 * gap,
            measured: &mut self.measured,
        });
        self.find_faced();
        let Self {
            patches,
            sweep,
            near,
            searched: [start, end],
            is_stale,
            measured,
            faced,
            patch_pairs,
            candidates,
            ..
        } = self;
        let motion = Motion { start, end };
        patch_pairs.clear();
        let max_patch_pairs = MAX_PATCH_PAIRS * patches.len();
        sweep.find_pairs(measured, max_patch_pairs, patch_pairs);
        // Neighbours that face a common direction, as all patches around them do, are parts of one smooth surface.
        patch_pairs.retain(|&[a, b]| {
            let faced = faced[a as usize] & faced[b as usize];
            (is_stale[a as usize] || is_stale[b as usize])
                && (faced == 0 || !patches.neighbours(a).contains(&b))
        });
        let curved = (0..).zip(&*measured).zip(&*is_stale);
        let curved = curved.filter(|&((_, motion), &is_stale)| is_stale && motion.facing == 0);
        patch_pairs.extend(curved.map(|((patch, _), _)| [patch; 2]));
        let is_stale = |&triangle: &u32| is_stale[triangle as usize / LANES];
        candidates.retain(|pair| !pair.iter().any(is_stale));
        let max_pairs = MAX_TRIANGLE_PAIRS * patches.len();
        let margins = [margin, gap];
        near.find_pairs(patches, motion, margins, patch_pairs, max_pairs, candidates);
        true
    }

    /// Finds the directions that patches and all their neighbours face. A patch for which they change is searched again.
    fn find_faced(&mut self) {
        let Self {
            faced, last_faced, ..
        } = self;
        std::mem::swap(faced, last_faced);
        faced.clear();
        faced.extend(self.measured.iter().map(|motion| motion.facing));
        for (patch, one) in self.measured.iter().enumerate() {
            for &other in self.patches.neighbours(patch as u32) {
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

    /// Finds the patches with particles of which the way is not that of the last search. Returns whether there are any.
    fn find_stale(&mut self, margin: f32) -> bool {
        let count = self.start.len();
        let [start, end] = &mut self.searched;
        let is_first = start.len() != count;
        for list in [&mut *start, &mut *end] {
            list.resize(count, Vec3A::ZERO);
        }
        self.has_moved.clear();
        let ways = self.start.iter().zip(&self.relative_end);
        let known = start.iter_mut().zip(end);
        self.has_moved.extend(ways.zip(known).map(|(way, known)| {
            let [start, end] = [way.0 - self.centre, way.1 - self.centre];
            let apart = (start - *known.0).abs().max((end - *known.1).abs());
            let has_moved = is_first || apart.max_element() > margin;
            if has_moved {
                (*known.0, *known.1) = (start, end);
            }
            has_moved
        }));
        if !self.has_moved.contains(&true) {
            return false;
        }
        let has_moved = |corner: &u32| self.has_moved[*corner as usize];
        let patches = self.patches.triangles.iter();
        self.is_stale.clear();
        (self.is_stale).extend(patches.map(|patch| patch.as_flattened().iter().any(has_moved)));
        true
    }
}

/// Returns the mean of some vectors.
fn mean(vectors: &[Vec3A]) -> Vec3A {
    let sum: DVec3 = vectors.iter().map(|at| at.as_dvec3()).sum();
    (sum / vectors.len().max(1) as f64).as_vec3a()
}

#[cfg(test)]
mod tests;
