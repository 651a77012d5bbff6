//! Particles around a cell of the spatial hash, side by side: they are compared with each particle of the cell.

use super::SpatialHash;
use crate::solver::simd::LANES;
use std::ops::Range;

/// Largest number of particles. In piles of cloth that is three times as thick as its particles are apart there are about 700.
pub(super) const MAX_CANDIDATES: usize = 1024;

/// Particles around a cell, those of the cell first.
pub(super) struct Neighbourhood {
    /// Number of particles. The rest of the arrays is padding.
    pub(super) len: usize,
    /// Index of each particle.
    pub(super) particles: [u32; MAX_CANDIDATES + LANES],
    /// Components of their positions and rest positions, m.
    pub(super) planes: [[f32; MAX_CANDIDATES + LANES]; 6],
}

impl Neighbourhood {
    pub(super) const EMPTY: Self = Self {
        len: 0,
        particles: [0; MAX_CANDIDATES + LANES],
        planes: [[0.0; MAX_CANDIDATES + LANES]; 6],
    };

    /// Gathers the particles of these ranges, at most [`MAX_CANDIDATES`].
    #[inline(always)]
    pub(super) fn gather(&mut self, hash: &SpatialHash, ranges: &[Range<u32>]) {
        let SpatialHash {
            at,
            rest,
            particles,
            ..
        } = hash;
        let [x, y, z] = at.planes();
        let [u, v, w] = rest.planes();
        let planes = [x, y, z, u, v, w];
        self.len = 0;
        for range in ranges {
            for first in (range.start as usize..range.end as usize).step_by(LANES) {
                let to = self.len..self.len + LANES;
                // Registers as a whole: the next range overwrites what is too much.
                for (own, all) in self.planes.iter_mut().zip(planes) {
                    own[to.clone()].copy_from_slice(&all[first..first + LANES]);
                }
                self.particles[to].copy_from_slice(&particles[first..first + LANES]);
                self.len += LANES.min(range.end as usize - first);
            }
        }
    }

    /// Gathers the first `own` particles of these ranges, and `others` evenly from the rest of them. `turn` tells with which
    /// to begin.
    pub(super) fn sample(
        &mut self,
        hash: &SpatialHash,
        ranges: &[Range<u32>],
        [own, others]: [usize; 2],
        turn: usize,
    ) {
        let total: usize = ranges.iter().map(ExactSizeIterator::len).sum();
        let rest = total - own;
        let turn = turn % others;
        let evenly = (0..others).map(|k| own + (k * rest + turn * rest / others) / others);
        self.len = 0;
        for mut at in (0..own).chain(evenly) {
            // In the first range that it does not skip.
            let mut holds = |range: &&Range<u32>| {
                let holds = at < range.len();
                at -= if holds { 0 } else { range.len() };
                holds
            };
            let Some(range) = ranges.iter().find(&mut holds) else {
                return;
            };
            let from = range.start as usize + at;
            let planes = hash.at.planes().into_iter().chain(hash.rest.planes());
            for (to, all) in self.planes.iter_mut().zip(planes) {
                to[self.len] = all[from];
            }
            self.particles[self.len] = hash.particles[from];
            self.len += 1;
        }
    }

    /// Returns the components of the position and rest position of one of them.
    #[inline(always)]
    pub(super) fn of(&self, k: usize) -> [f32; 6] {
        let [x, y, z, u, v, w] = &self.planes;
        [x[k], y[k], z[k], u[k], v[k], w[k]]
    }
}
