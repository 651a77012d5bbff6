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
use crate::solver::{particles::ParticleArrays, simd::dispatch, triangles::corners::Corners};
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
    /// Begin and end of the ways for which `candidates` were found. They hold as long as both are no farther away than the
    /// margin, or ways only become shorter.
    searched: [Vec<Vec3A>; 2],
    measured: Vec<PatchMotion>,
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

    /// Finds how far the particles of the added cloths may go. `distance` is the distance that particles keep, m. Returns
    /// whether any has to stop early.
    pub(crate) fn find_limits(&mut self, distance: f32) -> bool {
        if self.parts.len() != self.added {
            self.parts.truncate(self.added);
            self.is_current = false;
        }
        if !self.end.iter().chain(&self.start).all(|at| at.is_finite()) {
            self.limits.begin(0);
            return false;
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
            // No later step allocates, unless cloth is crumpled.
            self.patch_pairs.reserve(32 * self.patches.len());
            self.candidates.reserve(32 * self.patches.len());
            self.near.reserve(self.patches.len());
            self.limits.reserve(self.end.len());
        }
        self.mean = self.mean_motion();
        self.relative_end.clear();
        let relative = self.end.iter().map(|end| end - self.mean);
        self.relative_end.extend(relative);
        let distance = distance.min(self.diagonal());
        self.limits.begin(self.end.len());
        self.limit(distance);
        self.limits.any_moved()
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

    /// Returns the mean displacement of the particles, m.
    fn mean_motion(&self) -> Vec3A {
        let both = self.end.iter().zip(&self.start);
        let sum: DVec3 = both.map(|(end, start)| (end - start).as_dvec3()).sum();
        (sum / self.end.len().max(1) as f64).as_vec3a()
    }

    /// Searches for pairs of triangles again, unless those of the last search still hold. Returns whether it did.
    fn update_candidates(&mut self, distance: f32) -> bool {
        let (margin, gap) = (MARGIN * distance, GAP * distance);
        let is_near = |at: &[Vec3A], from: &[Vec3A]| {
            let both = at.iter().zip(from);
            let farthest = both.fold(Vec3A::ZERO, |most, (at, from)| most.max((at - from).abs()));
            farthest.max_element() <= margin
        };
        let [start, end] = &self.searched;
        let same = start.len() == self.start.len();
        if same && is_near(&self.start, start) && is_near(&self.relative_end, end) {
            return false;
        }
        let Self {
            patches,
            sweep,
            near,
            measured,
            patch_pairs,
            candidates,
            ..
        } = self;
        self.searched[0].clone_from(&self.start);
        self.searched[1].clone_from(&self.relative_end);
        let motion = Motion {
            start: &self.start,
            end: &self.relative_end,
        };
        dispatch(MeasureMotion {
            patches,
            motion,
            margin: margin + 0.5 * gap,
            measured,
        });
        patch_pairs.clear();
        sweep.find_pairs(measured, MAX_PATCH_PAIRS * patches.len(), patch_pairs);
        // Neighbours that face a common direction are parts of one smooth surface.
        patch_pairs.retain(|&[a, b]| {
            let faced = measured[a as usize].facing & measured[b as usize].facing;
            faced == 0 || !patches.neighbours(a).contains(&b)
        });
        let curved = (0..)
            .zip(&*measured)
            .filter(|(_, motion)| motion.facing == 0);
        patch_pairs.extend(curved.map(|(patch, _)| [patch; 2]));
        candidates.clear();
        let max_pairs = MAX_TRIANGLE_PAIRS * patches.len();
        let margins = [margin, gap];
        near.find_pairs(patches, motion, margins, patch_pairs, max_pairs, candidates);
        true
    }
}

#[cfg(test)]
mod tests;
