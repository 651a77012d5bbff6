//! Particles around a cell of the spatial hash, side by side: they are compared with each particle of the cell.

use super::SpatialHash;
use crate::solver::simd::LANES;
use std::ops::Range;

/// Largest number of particles. Together with [`MAX_PAIRS`](super::MAX_PAIRS) it keeps the cost linear in the number of
/// particles for a cloth crumpled into one point. Cells are only slightly larger than the search distance, so the limit is
/// reached only there, and in piles of cloth that is three times as thick as its particles are apart.
pub(super) const MAX_CANDIDATES: usize = 512;

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

    /// Gathers the particles of these ranges. Clears `complete` if they are too many.
    #[inline(always)]
    pub(super) fn gather(
        &mut self,
        hash: &SpatialHash,
        ranges: &[Range<u32>],
        complete: &mut bool,
    ) {
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
                if self.len > MAX_CANDIDATES {
                    self.len = MAX_CANDIDATES;
                    *complete = false;
                    return;
                }
            }
        }
    }

    /// Returns the components of the position and rest position of one of them.
    #[inline(always)]
    pub(super) fn of(&self, k: usize) -> [f32; 6] {
        let [x, y, z, u, v, w] = &self.planes;
        [x[k], y[k], z[k], u[k], v[k], w[k]]
    }
}
