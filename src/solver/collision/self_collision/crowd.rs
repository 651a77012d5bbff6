//! Crowds: much cloth in one place, as when all particles of a cloth are in one point, or a hundred cloths are created in one place.
//!
//! Each particle has hundreds of others around it there, and nearly all edges cross triangles. The search takes a sample of the
//! particles around it, contacts take turns, the untangling looks at some of the pairs, and the filter of crossings has nothing to
//! keep: a step takes about 20 times as long as that of the same cloth apart, and the cloth comes apart within two seconds.

use super::{SelfCollisionSettings, sorted_pairs::thin_out, untangle::Untangle};
use crate::solver::{particles::ParticleArrays, state::SubstepTime};

/// Number of near pairs per particle beyond which cloth is crammed into a small space, or in one place with other cloth. Stacks
/// and crumples have up to 2, a pile of 32 cloths up to 6; with a limit of 4 it collapses.
pub(super) const MAX_NEAR: f32 = 8.0;

/// Fraction of particles in crowds, of which only some pairs are known, beyond which cloth counts as crammed as well.
pub(super) const CROWDED: f32 = 0.25;

/// Number of near pairs per particle that are solved in a substep of crammed cloth, each time others, and of cloth that is tangled
/// everywhere: the work is bounded.
pub(super) const NEAR_IN_CRAMMED: f32 = 2.0;

/// Recovery distance per substep, as a fraction of the contact distance: particles that were too near each other
/// at the beginning of a substep move apart by no more, so that a cloth that begins in intersection does not jump. What they
/// approach in the substep comes on top of it.
const RECOVERY: f32 = 0.1;

/// Largest recovery distance of contacts that take turns: each pushes as far out as in all the substeps in which it has no
/// turn, so that crammed cloth comes apart as fast as if all were solved.
const MAX_RECOVERY: f32 = 0.8;

/// Largest number of searches for intersections in a step.
const MAX_SEARCHES: u32 = 8;

/// Crowd in the pairs of a cloth.
pub(super) struct Crowd {
    /// Number of particles of a flat cloth in the square of the distance that they keep, at least 1.
    pub(super) density: f32,
    /// Whether many particles are in crowded cells.
    pub(super) is_crowded: bool,
    /// Length of the longest edge at rest, m.
    pub(super) longest_edge: f32,
}

impl Crowd {
    /// Searches tangled cloth for intersections, and lets contacts take turns if the cloth is crammed or tangled everywhere. Returns
    /// the recovery distance of the contacts, as a fraction of the distance that particles keep.
    pub(super) fn bound_work(
        &self,
        p: &mut ParticleArrays,
        settings: &SelfCollisionSettings,
        near: &mut Vec<[u32; 2]>,
        untangle: &mut Untangle,
        time: &SubstepTime,
    ) -> f32 {
        let most = |pairs: f32| (pairs * self.density * p.len() as f32) as usize;
        let is_crammed = self.is_crowded || near.len() > most(MAX_NEAR);
        if !p.is_tangled {
            untangle.end();
        }
        let is_new = untangle.is_new();
        if p.is_tangled && time.index.is_multiple_of(time.count.div_ceil(MAX_SEARCHES)) {
            // Particles of thick cloth keep a distance from each other that is longer than its edges.
            let distance = settings.distance.min(self.longest_edge);
            untangle.find(p, settings.triangles, near, distance);
        }
        // Particles in one point have no intersections in the first substep.
        let is_unknown = p.is_tangled && is_crammed && is_new;
        let was_tangled = time.index > 0 && p.is_tangled_everywhere;
        let is_everywhere = was_tangled || is_unknown || untangle.is_everywhere();
        let turns = match is_crammed || is_everywhere {
            true => thin_out(near, most(NEAR_IN_CRAMMED), time),
            false => 1,
        };
        p.is_tangled_everywhere = is_everywhere;
        (RECOVERY * turns as f32).min(MAX_RECOVERY)
    }
}
