//! Tests candidate pairs of triangles, and changes the motion of particles until nothing crosses.
//!
//! The four particles of two features that would cross lose the relative motion that leads beyond their contact: they
//! collide without bouncing. What still crosses after some rounds becomes a zone whose particles move together, and a
//! larger one with what that crosses (Provot 1997; Bridson, Fedkiw and Anderson, "Robust Treatment of Collisions, Contact
//! and Friction for Cloth Animation", 2002).

use super::{
    moving_mesh::{MovingMesh, SharedMotion, for_each_features},
    time_of_contact::Features,
    triangle_pairs::{bounds, boxes_overlap, edge_crosses},
    zones::Zones,
};
use bevy::math::Vec3A;

/// Fraction of the way to a contact that particles may go.
const APPROACH: f64 = 0.8;

/// Rounds of tests. After the first ones, particles that still cross move together.
const ROUNDS: u32 = 64;
const FREE_ROUNDS: u32 = 8;

/// Largest number of tests of pairs of triangles per patch in a search: a bound on the work for cloth in a jam. Stacks and
/// crumples take up to 5.
const MAX_TESTS: usize = 256;

/// Gap of features that come no nearer, as a fraction of the distance that particles keep: wider than rounding can close.
const LEAST_GAP: f64 = 1e-3;

/// Response of features that would cross.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Response {
    /// They collide, and move together if that is not enough.
    Collide,
    /// They keep only a part of the motion relative to that of the held particles, or none, and so never leave their ways.
    Stop,
}

/// State of the motion after a search.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing crosses.
    Free,
    /// Something does, after all rounds.
    Crosses,
    /// The search was given up.
    Jammed,
}

/// Changes of the ways of particles.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// Whether the way of a particle was changed in the last round, in the running one, and since the last search.
    was_changed: Vec<bool>,
    is_changed: Vec<bool>,
    changed_since_search: Vec<bool>,
    /// Whether the way of a particle was changed at all.
    is_moved: Vec<bool>,
    /// Whether a particle is near an edge that crosses a triangle when the motion begins.
    is_tangled: Vec<bool>,
    zones: Zones,
}

impl Limits {
    /// Reserves memory for this number of particles.
    pub(super) fn reserve(&mut self, particles: usize) {
        for list in [
            &mut self.was_changed,
            &mut self.is_changed,
            &mut self.changed_since_search,
            &mut self.is_moved,
            &mut self.is_tangled,
        ] {
            list.reserve(particles);
        }
    }

    /// Lets all `count` particles go their whole way.
    pub(super) fn begin(&mut self, count: usize) {
        for list in [
            &mut self.is_changed,
            &mut self.is_moved,
            &mut self.is_tangled,
        ] {
            list.clear();
            list.resize(count, false);
        }
        for list in [&mut self.was_changed, &mut self.changed_since_search] {
            list.clear();
            list.resize(count, true);
        }
    }

    /// Returns whether the way of a particle was changed.
    pub(super) fn is_moved(&self, i: usize) -> bool {
        self.is_moved.get(i).copied().unwrap_or(false)
    }

    /// Returns whether a particle is near an edge that crosses a triangle when the motion begins.
    pub(super) fn is_tangled(&self, i: usize) -> bool {
        self.is_tangled.get(i).copied().unwrap_or(false)
    }

    /// Records that the way of a particle was changed.
    pub(super) fn mark_moved(&mut self, i: usize) {
        self.is_moved[i] = true;
    }

    /// Marks particles near edges that cross triangles of these pairs when the motion begins; all particles, if these are not
    /// all pairs. Returns whether there are any.
    pub(super) fn find_tangled(
        &mut self,
        mesh: &mut MovingMesh,
        candidates: &[[u32; 2]],
        is_complete: bool,
    ) -> bool {
        let mut any = false;
        for &pair in candidates {
            let is_marked = |&triangle: &u32| self.all_tangled(mesh.patches.around(triangle));
            if !pair.iter().all(is_marked) && is_tangled(mesh, pair) {
                if !is_complete {
                    self.is_tangled.fill(true);
                    return true;
                }
                self.mark_tangled(mesh, pair);
                any = true;
            }
        }
        any
    }

    /// Changes the ways of particles until none of these pairs of triangles cross each other.
    pub(super) fn find(
        &mut self,
        mesh: &mut MovingMesh,
        candidates: &[[u32; 2]],
        response: Response,
    ) -> Outcome {
        let mut tests = MAX_TESTS * mesh.patches.len();
        // Pairs whose ways are those of the last search do not cross.
        self.was_changed.copy_from_slice(&self.changed_since_search);
        self.changed_since_search.copy_from_slice(&self.is_changed);
        self.is_changed.fill(false);
        for round in 0..ROUNDS {
            if round == FREE_ROUNDS {
                self.zones.begin(mesh.start.len());
            }
            let is_free = round < FREE_ROUNDS;
            let mut found = false;
            for &pair in candidates {
                let corners = pair.map(|triangle| mesh.patches.corners(triangle));
                let corners = corners.as_flattened();
                if !self.any_changed(corners)
                    || self.all_tangled(corners)
                    || (!is_free && self.zones.move_together(corners, mesh.inverse_mass))
                {
                    continue;
                }
                if tests == 0 {
                    self.changed_since_search.fill(true);
                    return Outcome::Jammed;
                }
                tests -= 1;
                for_each_features(mesh, pair, |mesh, features, particles| {
                    if self.any_changed(&particles) {
                        found |= self.test(mesh, features, particles, response, is_free);
                    }
                });
            }
            if !is_free && response == Response::Collide {
                self.move_zones(mesh);
            }
            let changed = self.is_changed.iter().zip(&mut self.changed_since_search);
            let mut any = false;
            for (&is_changed, changed_since_search) in changed {
                any |= is_changed;
                *changed_since_search |= is_changed;
            }
            if !any {
                if found {
                    self.changed_since_search.fill(true);
                    return Outcome::Crosses;
                }
                return Outcome::Free;
            }
            std::mem::swap(&mut self.was_changed, &mut self.is_changed);
            self.is_changed.fill(false);
        }
        self.changed_since_search.fill(true);
        Outcome::Crosses
    }

    /// Returns whether all of these particles are near edges that cross triangles when the motion begins. Features of two triangles
    /// with such corners are not tested.
    fn all_tangled(&self, particles: &[u32]) -> bool {
        particles.iter().all(|&i| self.is_tangled[i as usize])
    }

    /// Returns whether the way of any of these particles was changed in the last round or in this one.
    fn any_changed(&self, particles: &[u32]) -> bool {
        particles
            .iter()
            .any(|&i| self.was_changed[i as usize] || self.is_changed[i as usize])
    }

    /// Marks the particles around two triangles, all those of their patches.
    fn mark_tangled(&mut self, mesh: &MovingMesh, pair: [u32; 2]) {
        for triangle in pair {
            for &i in mesh.patches.around(triangle) {
                self.is_tangled[i as usize] = true;
            }
        }
    }

    /// Returns whether both features are near edges that cross triangles when the motion begins.
    pub(super) fn are_tangled(&self, features: Features, particles: [u32; 4]) -> bool {
        let is_tangled = particles.map(|i| self.is_tangled[i as usize]);
        let (one, other) = is_tangled.split_at(features.first_particles());
        one.contains(&true) && other.contains(&true)
    }

    /// Tests two features. If they touch, their particles lose relative motion, or move together from now on. Returns
    /// whether they do.
    fn test(
        &mut self,
        mesh: &mut MovingMesh,
        features: Features,
        particles: [u32; 4],
        response: Response,
        is_free: bool,
    ) -> bool {
        if !mesh.may_touch(features, particles) || self.are_tangled(features, particles) {
            return false;
        }
        let at = |positions: &[Vec3A]| particles.map(|i| positions[i as usize].as_dvec3());
        let start = at(mesh.start);
        let motion = [start, at(mesh.end)];
        let least_gap = LEAST_GAP * f64::from(mesh.distance);
        // Features that end that near touch as well: rounding could let them cross.
        let closes = || features.closes(&motion, least_gap).then_some(1.0);
        let Some(time) = features.time_of_contact(&motion).or_else(closes) else {
            return false;
        };
        let is_least = features.distance(start) < least_gap;
        let fraction = if is_least { 0.0 } else { APPROACH * time };
        match (response, is_free) {
            (Response::Collide, true) => {
                let shared = mesh.shared_motion(particles);
                for i in particles {
                    self.share(mesh, i as usize, shared, fraction as f32);
                }
            }
            (Response::Collide, false) => self.zones.join(particles),
            (Response::Stop, _) => {
                let fraction = if is_free { fraction } else { 0.0 };
                let held = SharedMotion {
                    motion: mesh.held,
                    velocity: mesh.held,
                };
                for i in particles {
                    self.share(mesh, i as usize, held, fraction as f32);
                }
            }
        }
        true
    }

    /// Leaves a particle this fraction of its motion relative to a `shared` one.
    fn share(&mut self, mesh: &mut MovingMesh, i: usize, shared: SharedMotion, fraction: f32) {
        if mesh.inverse_mass[i] == 0.0 {
            return;
        }
        let relative = (mesh.end[i] - mesh.start[i] - shared.motion) * fraction;
        let end = mesh.start[i] + (shared.motion + relative);
        if end != mesh.end[i] {
            mesh.end[i] = end;
            mesh.relative_end[i] = end - mesh.common;
            mesh.velocity[i] = shared.velocity + (mesh.velocity[i] - shared.velocity) * fraction;
            self.is_changed[i] = true;
            self.is_moved[i] = true;
        }
    }

    /// Moves the particles of each zone together.
    fn move_zones(&mut self, mesh: &mut MovingMesh) {
        let mut zones = std::mem::take(&mut self.zones);
        for members in zones.changed() {
            let shared = mesh.shared_motion(members.iter().copied());
            for &i in members {
                self.share(mesh, i as usize, shared, 0.0);
            }
        }
        self.zones = zones;
    }
}

/// Returns whether an edge of one triangle crosses the other when the motion begins, or touches it.
fn is_tangled(mesh: &mut MovingMesh, pair: [u32; 2]) -> bool {
    let both = pair.map(|triangle| mesh.patches.corners(triangle));
    let at = both.map(|corners| corners.map(|i| mesh.start[i as usize]));
    let [one, other] = at.map(bounds);
    if !boxes_overlap(one, other, 0.0) {
        return false;
    }
    let mut is_tangled = false;
    for_each_features(mesh, pair, |mesh, features, particles| {
        let start = particles.map(|i| mesh.start[i as usize].as_dvec3());
        is_tangled |= features.distance(start) == 0.0;
    });
    let at = at.map(|corners| corners.map(|at| at.as_dvec3()));
    for [one, other] in [[0, 1], [1, 0]] {
        for k in 0..3 {
            let ends = [k, (k + 1) % 3];
            let is_apart = ends.iter().all(|&k| !both[other].contains(&both[one][k]));
            is_tangled |= is_apart && edge_crosses(ends.map(|k| at[one][k]), at[other]);
        }
    }
    is_tangled
}
