//! Keeps cloth from passing through itself and other cloth: at the end of a step, and more often if the cloth is fast, the
//! motion of particles is cut short where an edge would pass through an edge, or a particle through a triangle.
//!
//! Contacts keep particles apart, but only as well as constraints and colliders let them. The filter guarantees the rest:
//! if no edge crosses a triangle when a step begins, none does when it ends. It takes particles to move along straight
//! lines from the begin of the step to its end; which way they took does not matter, as long as one is free of crossings.
//! Where it is not, the four particles of the two features lose the relative motion that leads beyond their contact, and the
//! features next to them are tested again, until nothing crosses. Particles that touch a collider, or nearly, count as heavy: it moves
//! them, and others make way. All others keep their bits, so cloth that slides is not braked.
//!
//! Features that end very near each other keep a gap in the substeps of the next step ([`near_features`]), so that cloth that is
//! pressed together leaves the filter nothing to do.
//!
//! Cloth of which most might cross most keeps its common motion, and as much of the rest as can be searched. If it is tangled
//! already, it moves freely for the rest of the step, and that with a quarter of the pairs; cloth that is tangled everywhere is not
//! even searched.
//!
//! Edges that cross a triangle already when the step begins may move freely, so that they can be brought back
//! (`self_collision/untangle.rs`). Pinned particles are never stopped.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the filter: cloths that move together |
//! | `candidates` | pairs of triangles that may touch, searched again only where ways have changed |
//! | `common_motion` | mean motion of the pinned particles, and median motion |
//! | `fans` | triangles around a particle of which no two cross |
//! | `limits` | tests the candidates, and limits the motion of their particles |
//! | `motion_start` | positions when the step began |
//! | `moving_mesh` | moving triangles, and the pairs of their features |
//! | `near_features` | contacts of features that are very near each other, in each substep |
//! | `near_patch` | moving triangles of a patch that is near others |
//! | `patches` | connected triangles that are tested together |
//! | `patch_motion` | their swept bounding boxes, and the directions that all of them face |
//! | `sweep` | broad phase: overlapping pairs of patches |
//! | `triangle_pairs` | narrow phase: overlapping pairs of triangles that no plane separates |
//! | `time_of_contact` | continuous collision detection of two features |
//! | `zones` | particles that move together |

mod candidates;
mod common_motion;
mod fans;
mod limits;
mod motion_start;
mod moving_mesh;
mod near_features;
mod near_patch;
mod patch_motion;
mod patches;
mod sweep;
mod time_of_contact;
mod triangle_pairs;
mod zones;

use self::{
    candidates::Candidates,
    common_motion::{mean_of_pinned, median},
    limits::{Limits, Outcome, Response},
    moving_mesh::MovingMesh,
    near_features::NearFeatures,
    patch_motion::Motion,
    patches::Patches,
};
use crate::solver::{particles::ParticleArrays, triangles::corners::Corners};
use bevy::math::{Vec3, Vec3A};
pub(crate) use motion_start::MotionStart;
pub(crate) use near_features::FeatureCloth;

/// Inverse mass of a particle that touches a collider, relative to the real one.
const MOBILITY_AT_COLLIDERS: f32 = 1e-3;

/// Searches for pairs in a step after which features that would cross no longer collide, but stop relative to the common
/// motion; and those after which all cloth of the filter moves as one body, which crosses nothing. Changed ways may lead to
/// other pairs.
const COLLIDING_SEARCHES: u32 = 3;
const MAX_SEARCHES: u32 = 12;

/// Searches with more pairs or tests than allowed, after which all cloth of the filter moves as one body.
const MAX_JAMS: u32 = 12;

/// Divisor of the largest numbers of pairs of triangles for tangled cloth: beyond, it moves freely.
const TANGLED_DIVISOR: usize = 4;

/// Filter of the motion of one cloth, or of several that touch each other, in a step; and scratch buffers.
///
/// Except for rounding, it follows from the positions, so it is not part of the state of a cloth: what it knows of near features
/// from the last step can be found again ([`find_near_features`](Self::find_near_features)).
#[derive(Clone, Debug, Default)]
pub(crate) struct CrossingFilter {
    parts: Vec<Part>,
    /// Number of parts added in this step.
    added: usize,
    /// Whether the patches are those of the parts.
    is_current: bool,
    patches: Patches,
    /// Positions of all particles when the step began, and as far as they may go, relative to the origin of the first
    /// part, m.
    start: Vec<Vec3A>,
    end: Vec<Vec3A>,
    /// `end` without the common motion.
    relative_end: Vec<Vec3A>,
    /// Displacement of each particle in a step at its velocity, m.
    velocity: Vec<Vec3A>,
    /// Inverse masses, 1/kg; 0 for particles that go their whole way in any case.
    inverse_mass: Vec<f32>,
    /// Motion of most particles in the step, m.
    common: Vec3A,
    /// Particles that touch a collider.
    touching: Vec<u32>,
    /// Motion of the particles that are pinned, or else of most that touch a collider, or else of most, m. As one body that
    /// moves with them, cloth crosses nothing.
    held: Vec3A,
    /// Sum of the common motions of all steps before, m.
    frame: Vec3A,
    /// Whether any cloth was tangled, as far as is known; and whether everywhere: then all of the filter moves freely.
    was_tangled: bool,
    is_tangled_everywhere: bool,
    candidates: Candidates,
    limits: Limits,
    near_features: NearFeatures,
    /// Distance that particles keep, m.
    distance: f32,
}

/// Cloth for the filter.
#[derive(Clone, Copy)]
pub(crate) struct FilteredCloth<'a> {
    pub(crate) particles: &'a ParticleArrays,
    /// Begin of its motion.
    pub(crate) start: &'a MotionStart,
    pub(crate) triangles: &'a Corners,
    /// Number that tells it from others, the same in each step.
    pub(crate) id: u64,
}

impl<'a> FilteredCloth<'a> {
    /// Returns a cloth that touches no other.
    pub(crate) fn alone(
        particles: &'a ParticleArrays,
        start: &'a MotionStart,
        triangles: &'a Corners,
    ) -> Self {
        Self {
            particles,
            start,
            triangles,
            id: 0,
        }
    }
}

/// Cloth in the filter.
#[derive(Clone, Debug)]
struct Part {
    id: u64,
    /// Index of its first particle.
    first: usize,
    /// Number of particles.
    len: usize,
    triangles: Corners,
    origin: Vec3,
}

impl Part {
    /// Returns whether this is a cloth, with the same particles and triangles.
    fn is_of(&self, cloth: &FilteredCloth) -> bool {
        self.id == cloth.id
            && self.len == cloth.particles.len()
            && self.triangles.is_copy_of(cloth.triangles)
    }
}

impl CrossingFilter {
    /// Prepares the filter for the steps of one cloth, so that the first one takes no longer than others.
    pub(crate) fn prepare(&mut self, cloth: FilteredCloth, distance: f32) {
        self.begin();
        self.add(cloth, false);
        self.find_limits(distance);
    }

    /// Begins the filter of a step, for the cloths to be added.
    pub(crate) fn begin(&mut self) {
        self.added = 0;
        (self.was_tangled, self.is_tangled_everywhere) = (false, false);
        self.start.clear();
        self.end.clear();
        self.velocity.clear();
        self.inverse_mass.clear();
        self.touching.clear();
    }

    /// Adds a cloth at the end of its motion, or one that does not move.
    pub(crate) fn add(&mut self, cloth: FilteredCloth, moves: bool) {
        let (p, triangles) = (cloth.particles, cloth.triangles);
        let start = moves.then_some(cloth.start);
        if moves && p.is_tangled {
            self.was_tangled = true;
            self.is_tangled_everywhere |= p.is_tangled_everywhere;
        }
        let (first, len) = (self.start.len(), p.len());
        let known = self.parts.get(self.added);
        let is_known = known.is_some_and(|part| part.first == first && part.is_of(&cloth));
        if !is_known {
            self.parts.truncate(self.added);
            self.is_current = false;
            self.parts.push(Part {
                id: cloth.id,
                first,
                len,
                triangles: triangles.clone(),
                origin: p.origin,
            });
        }
        let part = &mut self.parts[self.added];
        if self.added == 0 {
            self.frame -= Vec3A::from(p.origin - part.origin);
        }
        part.origin = p.origin;
        self.added += 1;
        let shift = Vec3A::from(p.origin - self.parts[0].origin);
        let end = p.position.iter().map(|at| Vec3A::from(at) + shift);
        self.end.extend(end);
        match start.filter(|start| start.positions.len() == len) {
            Some(start) => {
                (self.start).extend(start.positions.iter().map(|at| at + shift));
                let substeps = start.substeps.max(1) as f32;
                let velocities = p.displacement.iter().map(|d| Vec3A::from(d) * substeps);
                self.velocity.extend(velocities);
                let masses = p.inverse_mass.iter().enumerate();
                for (i, &inverse_mass) in masses {
                    let touches = p.contact_normal.get(i) != Vec3::ZERO;
                    let mobility = if touches { MOBILITY_AT_COLLIDERS } else { 1.0 };
                    self.inverse_mass.push(mobility * inverse_mass);
                    if touches {
                        self.touching.push((first + i) as u32);
                    }
                }
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
        let is_finite = || self.end.iter().chain(&self.start).all(|at| at.is_finite());
        if self.is_tangled_everywhere || !is_finite() {
            self.limits.begin(0);
            self.near_features.clear();
            // The cloth is put back.
            self.near_features.is_known = self.is_tangled_everywhere;
            return;
        }
        self.update_patches();
        let motion = Motion {
            start: &self.start,
            end: &self.end,
        };
        let pinned = mean_of_pinned(motion, &self.inverse_mass);
        self.common = pinned.unwrap_or_else(|| median(motion, 0..self.start.len()));
        self.held = match &self.touching[..] {
            touching if pinned.is_none() && !touching.is_empty() => {
                median(motion, touching.iter().map(|&i| i as usize))
            }
            _ => self.common,
        };
        self.relative_end.clear();
        let relative = self.end.iter().map(|end| end - self.common);
        self.relative_end.extend(relative);
        let distance = distance.min(self.diagonal());
        self.limits.begin(self.end.len());
        self.is_tangled_everywhere = self.limit(distance);
        self.frame += self.common;
        self.distance = distance;
        match self.is_tangled_everywhere {
            true => self.near_features.clear(),
            false => {
                let (patches, pairs) = (&self.patches, self.candidates.pairs());
                (self.near_features).find(patches, &self.end, distance, pairs, &self.limits);
            }
        }
    }

    /// Discards the features that are near each other.
    pub(crate) fn forget_near_features(&mut self) {
        self.near_features.is_known = false;
    }

    /// Finds the features of these cloths that are near each other where their motion begins, unless they are known from the end
    /// of the last one.
    pub(crate) fn find_near_features<'a>(
        &mut self,
        cloths: impl Iterator<Item = FilteredCloth<'a>> + Clone,
    ) {
        let matches = |(part, cloth): (&Part, FilteredCloth)| {
            let is_filtered = cloth.start.is_filtered || !cloth.start.is_used();
            is_filtered && part.is_of(&cloth)
        };
        if self.near_features.is_known
            && cloths.clone().count() == self.parts.len()
            && self.parts.iter().zip(cloths.clone()).all(matches)
        {
            return;
        }
        self.begin();
        let mut distance = f32::INFINITY;
        for cloth in cloths {
            let (p, start) = (cloth.particles, cloth.start);
            self.add(cloth, false);
            if !start.is_used() {
                continue;
            }
            distance = distance.min(start.distance);
            let shift = Vec3A::from(p.origin - self.parts[0].origin);
            let first = self.start.len() - p.len();
            for positions in [&mut self.start[first..], &mut self.end[first..]] {
                for (to, at) in positions.iter_mut().zip(&start.positions) {
                    *to = at + shift;
                }
            }
        }
        self.find_limits(distance);
    }

    /// Keeps features of the cloths of the last filtered motion apart that were near each other then: after the contacts of
    /// particles in a substep.
    pub(crate) fn keep_features_apart(&self, cloths: &mut [FeatureCloth]) {
        (self.near_features).keep_apart(&self.parts, cloths, self.distance);
    }

    /// Cuts the triangles of all cloths into patches, if these are others than in the last step.
    fn update_patches(&mut self) {
        if std::mem::replace(&mut self.is_current, true) {
            return;
        }
        let shifted = self.parts.iter().flat_map(|part| {
            let first = part.first as u32;
            let triangles = part.triangles.within(part.len);
            triangles.map(move |corners| corners.map(|i| i + first))
        });
        self.patches = Patches::new(self.end.len(), shifted.collect());
        self.frame = Vec3A::ZERO;
        self.candidates.begin(&self.patches);
        self.limits.reserve(self.end.len());
        self.near_features.reserve(self.end.len());
        self.touching.reserve(self.end.len());
    }

    /// Searches for pairs of triangles and changes the ways of their particles, until none of them cross. Returns whether the cloth
    /// is tangled, and there are too many.
    fn limit(&mut self, distance: f32) -> bool {
        let (mut response, mut is_free) = (Response::Collide, true);
        let (mut searches, mut jams) = (0, 0);
        let mut is_tangled = None;
        let mut divisor = if self.was_tangled { TANGLED_DIVISOR } else { 1 };
        while searches < MAX_SEARCHES && jams < MAX_JAMS {
            let ways = Motion {
                start: &self.start,
                end: &self.relative_end,
            };
            let has_new =
                (self.candidates).update(&self.patches, ways, self.frame, distance, divisor);
            let pairs = self.candidates.pairs();
            if pairs.is_empty() || !(searches == 0 || has_new) && is_free {
                return false;
            }
            let mut mesh = MovingMesh {
                patches: &self.patches,
                start: &self.start,
                end: &mut self.end,
                relative_end: &mut self.relative_end,
                common: self.common,
                held: self.held,
                velocity: &mut self.velocity,
                inverse_mass: &self.inverse_mass,
                distance,
            };
            let is_complete = self.candidates.is_complete();
            if is_tangled.is_none() {
                let found = self.limits.find_tangled(&mut mesh, pairs, is_complete);
                if !found && !is_complete && divisor > 1 {
                    // It has come free.
                    divisor = 1;
                    continue;
                }
                is_tangled = Some(found);
            }
            let mut outcome = Outcome::Jammed;
            if is_complete {
                searches += 1;
                outcome = self.limits.find(&mut mesh, pairs, response);
            }
            is_free = outcome == Outcome::Free;
            match outcome {
                // There is nothing to keep, and cloth that stops would stay as it is.
                Outcome::Jammed if is_tangled == Some(true) => return true,
                Outcome::Jammed => {
                    jams += 1;
                    self.shorten();
                }
                Outcome::Free if searches < COLLIDING_SEARCHES => {}
                Outcome::Free | Outcome::Crosses => response = Response::Stop,
            }
        }
        self.move_as_one();
        false
    }

    /// Halves the longest motion relative to the common one, of all free particles: none keeps a longer one.
    fn shorten(&mut self) {
        let free = |i: &usize| self.inverse_mass[*i] > 0.0;
        let way = |i: usize| (self.relative_end[i] - self.start[i]).length();
        let particles = 0..self.start.len();
        let longest = particles.clone().filter(free).map(way).fold(0.0, f32::max);
        let max = 0.5 * longest;
        for i in particles {
            let relative = self.relative_end[i] - self.start[i];
            if self.inverse_mass[i] > 0.0 && relative.length() > max {
                let fraction = max / relative.length();
                self.relative_end[i] = self.start[i] + relative * fraction;
                self.end[i] = self.relative_end[i] + self.common;
                self.velocity[i] = self.common + (self.velocity[i] - self.common) * fraction;
                self.limits.mark_moved(i);
            }
        }
    }

    /// Leaves all free particles the motion of those that are held alone.
    fn move_as_one(&mut self) {
        for i in 0..self.end.len() {
            if self.inverse_mass[i] > 0.0 {
                self.end[i] = self.start[i] + self.held;
                self.velocity[i] = self.held;
                self.limits.mark_moved(i);
            }
        }
    }

    /// Moves the particles of an added cloth that have to stop as far as they may go, and slows them accordingly; records
    /// whether the cloth is tangled. The next motion starts here.
    pub(crate) fn apply(&self, part: usize, p: &mut ParticleArrays, start: &mut MotionStart) {
        let Some(part) = self.parts.get(part) else {
            return;
        };
        if self.is_tangled_everywhere {
            p.is_tangled |= (part.first..part.first + part.len).any(|k| self.limits.is_tangled(k));
            p.is_tangled_everywhere = p.is_tangled;
            return start.restart(p);
        }
        let shift = part.origin - self.parts[0].origin;
        let substeps = start.substeps.max(1) as f32;
        p.is_tangled = false;
        for i in 0..part.len {
            let k = part.first + i;
            p.is_tangled |= self.limits.is_tangled(k);
            if self.limits.is_moved(k) {
                let position = Vec3::from(self.end[k]) - shift;
                let displacement = Vec3::from(self.velocity[k]) / substeps;
                p.displacement.set(i, displacement);
                p.position.set(i, position);
                p.predicted.set(i, position);
            }
        }
        start.restart(p);
    }

    /// Returns the diagonal of the box around all particles when the step began, m.
    fn diagonal(&self) -> f32 {
        let from = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let at = self.start.iter();
        let (low, high) = at.fold(from, |(low, high), &at| (low.min(at), high.max(at)));
        (high - low).length()
    }
}

#[cfg(test)]
mod tests;
