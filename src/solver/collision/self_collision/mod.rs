//! Self-collision of a cloth: its particles keep a distance from each other. Cloths that touch each other are solved as
//! one ([`cloth_contacts`](super::cloth_contacts)).
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the phase: candidate pairs and when to search for them again |
//! | `settings` | parameters, and the distances of particles on which they depend |
//! | `spatial_hash` | broad phase: searches for near pairs |
//! | `sorted_pairs` | candidate pairs, and the near ones among them, in a fixed order |
//! | `motion_bins` | relative motion since the last search |
//! | `relative_motion` | speed of near particles relative to each other, and its limit |
//! | `contact_particles` | particles near each other, side by side for a substep |
//! | `contact_direction` | directions in which they push each other apart |
//! | `contact_response` | impulses, friction and push-out of two touching particles |
//! | `crowd` | bounds the work where much cloth is in one place |
//! | `warm_start` | impulses of the last substep, with which the next one begins |
//! | `surface_normals` | normals of the cloth, along which its layers push each other apart |
//! | `untangle` | brings edges back that have passed through triangles |
//!
//! The search distance exceeds the contact distance by a skin (Verlet, 1967). The search is repeated only among
//! particles that may have moved relative to former neighbours by more than the skin: for a cloth that hangs, or
//! falls as a whole, it runs once; where a cloth hits the ground, only there. Within a substep each near pair is
//! tested along its whole path, so particles do not tunnel through each other. Particles faster than
//! `MAX_DISPLACEMENT` relative to the mean of the cloth are slowed, so the contacts missed in a substep are
//! grazing ones only: pairs that met with a depth of more than 18 % are still near at its end.
//!
//! The set of near pairs and the order in which they are solved depend on the positions alone, not on when the
//! search ran, so a restored snapshot continues with the same bits. (The exception is cloth so crammed that the search hits its
//! limits, or tangled everywhere.)

mod contact_direction;
mod contact_particles;
mod contact_response;
mod crowd;
mod motion_bins;
mod relative_motion;
mod settings;
mod sorted_pairs;
mod spatial_hash;
mod surface_normals;
mod untangle;
mod warm_start;

use crate::solver::{particles::ParticleArrays, simd::soa::SoaVec3, state::SubstepTime};
use bevy::math::Mat3;
use contact_particles::ContactParticles;
use contact_response::ContactResponse;
pub(super) use contact_response::PairRules;
use crowd::{CROWDED, Crowd};
use motion_bins::{MotionBins, MotionThresholds, Staleness};
use relative_motion::measure_way;
use settings::density;
pub use settings::{SelfCollisionSettings, rest_spacing, self_distance};
use sorted_pairs::{SortedPairs, merge};
use spatial_hash::SpatialHash;
use surface_normals::SurfaceNormals;
use untangle::Untangle;
pub use warm_start::{ContactForce, WarmStart};

/// Margin of near pairs, as a fraction of the contact distance: pairs are solved if they end the substep within (1 + this)
/// of the contact distance, because they may have met on the way, or may be pushed together by others.
const NEAR_MARGIN: f32 = 0.25;

/// Width of the skin for the pair search, as a fraction of the contact distance. A wider skin is valid for longer,
/// but adds pairs along an edge chain that touch only where the cloth is folded sharply.
const SKIN: f32 = 0.5;

/// Reach of a full search, as a multiple of the contact distance, and least distance at rest of particles that collide. Neighbours
/// and close parts of a rest shape with tight curves do not, and flat cloth has no candidates.
const SEARCH_REACH: f32 = 1.0 + NEAR_MARGIN + SKIN;

/// Minimum side of the bins in which relative motion is measured, as a multiple of the contact distance.
const BIN: f32 = 3.0;

/// All particles are searched again once the partial searches since the last full one have covered this multiple
/// of the particle count.
const FULL_SEARCH_AFTER: usize = 1;

/// Cells are slightly larger than the search distance, so that no rounding puts a pair two cells apart.
const CELL_MARGIN: f32 = 1.001;

/// Candidate pairs of particles of a cloth that may touch, and scratch buffers for their search.
///
/// They follow from the positions, so they are not part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub struct SelfContactPairs {
    hash: SpatialHash,
    motion: MotionBins,
    /// Candidates of the last full search.
    pairs: SortedPairs,
    /// Near pairs among the particles whose candidates are stale.
    stale_pairs: SortedPairs,
    /// Parameters and result of the last full search.
    last_search: Option<LastSearch>,
    /// Rest positions in world axes, and the mean distance of neighbours and the longest edge there, m.
    rest: SoaVec3,
    spacing: f32,
    longest_edge: f32,
    /// Particles for which pairs have to be searched again.
    stale_particles: Vec<u32>,
    /// Scratch buffer: pairs as found, and merged.
    scratch: Vec<[u32; 2]>,
    untangle: Untangle,
    /// Near pairs without those ignored by the untangling.
    kept_pairs: Vec<[u32; 2]>,
    /// Positions at the beginning of the current part of a step.
    part_start: SoaVec3,
    normals: SurfaceNormals,
    /// Scratch buffer: particles of the near pairs.
    contact_particles: ContactParticles,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct LastSearch {
    distance: f32,
    to_world: Mat3,
    /// Whether the search found all pairs.
    is_complete: bool,
    /// Whether many particles are in crowds.
    is_crowded: bool,
    /// Number of particles covered by partial searches since.
    particles_searched: usize,
}

impl SelfContactPairs {
    /// Discards the candidate pairs and the triangle index. Must be called when rest positions or triangles have
    /// changed without a change of their number.
    pub(crate) fn forget(&mut self) {
        self.last_search = None;
        self.normals.clear();
        self.untangle.forget();
    }

    /// Keeps the particles of a cloth apart in a substep, after relaxation and before colliders.
    ///
    /// Returns whether any particle was moved. Does nothing if `settings` has no positive distance, or rest
    /// positions for another number of particles. Does not depend on threads or SIMD levels. Non-finite positions
    /// are left unchanged.
    pub fn collide(
        &mut self,
        p: &mut ParticleArrays,
        settings: &SelfCollisionSettings,
        warm_start: &mut WarmStart,
        time: &SubstepTime,
    ) -> bool {
        let mut friction = settings.friction;
        // It touches no other cloth.
        warm_start.with_others.clear();
        if !settings.begin_contacts(p) {
            warm_start.clear();
            return false;
        }
        self.solve(p, settings, &mut friction, warm_start, time)
    }

    /// Finds the contacts of particles with these settings, except for their friction, and solves them. Displacements must
    /// be up to date. Returns whether any particle was moved.
    pub(super) fn solve(
        &mut self,
        p: &mut ParticleArrays,
        settings: &SelfCollisionSettings,
        rules: &mut impl PairRules,
        warm_start: &mut WarmStart,
        time: &SubstepTime,
    ) -> bool {
        if p.is_tangled {
            self.untangle.prepare(p.len(), settings.triangles);
        }
        if self.last_search.is_none() {
            warm_start.reserve(p.len());
        }
        self.update_pairs(p, settings, time.index);
        let Self {
            pairs,
            stale_pairs,
            scratch,
            untangle,
            kept_pairs,
            part_start,
            spacing,
            longest_edge,
            normals,
            contact_particles,
            last_search,
            ..
        } = self;
        let reach = (1.0 + NEAR_MARGIN) * settings.distance;
        let mut near = pairs.find_near(&p.position, reach);
        if stale_pairs.len() > 0 {
            merge(near, stale_pairs.find_near(&p.position, reach), scratch);
            near = scratch;
        }
        rules.retain(near);
        p.touches_cloth |= !near.is_empty();
        p.contacts += near.len() as f32 / p.len() as f32;
        let crowd = Crowd {
            density: density(settings.distance, *spacing),
            is_crowded: last_search.is_some_and(|last| last.is_crowded),
            longest_edge: *longest_edge,
        };
        let recovery = crowd.bound_work(p, settings, near, untangle, time);
        measure_way(p, near, part_start, time);
        normals.update_once(p, settings.triangles, near, time.index == 0);
        let response = ContactResponse {
            distance: settings.distance,
            normals,
            dt: time.substep,
            recovery,
        };
        if !(p.is_tangled && untangle.has_intersections()) {
            return response.solve(p, near, rules, warm_start, contact_particles);
        }
        untangle.keep_contacts(near, kept_pairs);
        response.solve(p, kept_pairs, rules, warm_start, contact_particles);
        untangle.resolve(p, settings.distance);
        true
    }

    /// Searches for the candidate pairs.
    pub(crate) fn update(&mut self, p: &ParticleArrays, settings: &SelfCollisionSettings) {
        if settings.fits(p) {
            self.update_pairs(p, settings, 0);
        }
    }

    /// Updates the candidate pairs, searching only as far as they are stale.
    fn update_pairs(&mut self, p: &ParticleArrays, settings: &SelfCollisionSettings, substep: u32) {
        // Where all is tangled, particles move so far that each substep would search all of them.
        if substep != 0 && p.is_tangled_everywhere && self.last_search.is_some() {
            return;
        }
        self.stale_pairs.clear();
        let Some(last_search) = &mut self.last_search else {
            return self.search_all(p, settings);
        };
        let same = self.motion.start.len() == p.len()
            && last_search.distance == settings.distance
            && last_search.to_world == settings.to_world;
        if !same || (!last_search.is_complete && substep == 0) {
            return self.search_all(p, settings);
        }
        let thresholds = MotionThresholds {
            near: (1.0 + NEAR_MARGIN) * settings.distance,
            skin: SKIN * settings.distance,
            bin: BIN * settings.distance,
        };
        match self.motion.update(&p.position, thresholds) {
            Staleness::Nowhere => {}
            Staleness::Somewhere => {
                self.motion.stale_particles(&mut self.stale_particles);
                last_search.particles_searched += self.stale_particles.len();
                if last_search.particles_searched > FULL_SEARCH_AFTER * p.len() {
                    return self.search_all(p, settings);
                }
                let reach = thresholds.near;
                let particles = self.stale_particles.iter().copied();
                let Self {
                    hash,
                    scratch,
                    spacing,
                    ..
                } = self;
                hash.sort(&p.position, particles, CELL_MARGIN * reach, &self.rest);
                let density = density(settings.distance, *spacing);
                let min_rest = SEARCH_REACH * settings.distance;
                let found = hash.find_pairs(reach, min_rest, density, scratch);
                last_search.is_complete &= found.is_complete;
                self.stale_pairs.set(p.len(), scratch);
            }
            Staleness::Everywhere => self.search_all(p, settings),
        }
    }

    /// Searches for pairs among all particles.
    fn search_all(&mut self, p: &ParticleArrays, settings: &SelfCollisionSettings) {
        let n = p.len();
        let same_axes = self
            .last_search
            .is_some_and(|last_search| last_search.to_world == settings.to_world);
        if !same_axes || self.rest.len() != n {
            self.rest = settings
                .rest
                .iter()
                .map(|&rest| settings.to_world * rest)
                .collect();
            self.spacing = rest_spacing(settings.rest, settings.triangles, settings.to_world);
            self.longest_edge = settings.triangles.longest_edge(&self.rest);
            self.hash.reserve(n);
            self.pairs.reserve(n, 2);
            self.stale_pairs.reserve(n, 1);
            clear_and_reserve(&mut self.stale_particles, n);
            clear_and_reserve(&mut self.scratch, 2 * n);
            self.contact_particles.reserve(n);
            self.normals.reserve(n);
        }
        self.motion.begin(&p.position);
        let reach = SEARCH_REACH * settings.distance;
        let particles = 0..n as u32;
        self.hash
            .sort(&p.position, particles, CELL_MARGIN * reach, &self.rest);
        let found = self.hash.find_pairs(
            reach,
            reach,
            density(settings.distance, self.spacing),
            &mut self.scratch,
        );
        self.pairs.set(n, &self.scratch);
        self.last_search = Some(LastSearch {
            distance: settings.distance,
            to_world: settings.to_world,
            is_complete: found.is_complete,
            is_crowded: found.in_crowds as f32 > CROWDED * n as f32,
            particles_searched: 0,
        });
    }
}

/// Removes all items of a list and reserves memory for this number of them.
fn clear_and_reserve<T>(list: &mut Vec<T>, capacity: usize) {
    list.clear();
    list.reserve(capacity);
}

#[cfg(test)]
mod tests;
