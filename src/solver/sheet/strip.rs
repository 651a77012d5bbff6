//! A strip: neighbouring threads of warp or weft, copied together so that what is solved together
//! lies together. Warp is copied, weft is turned; both are then solved by the same loops.

use super::{
    lines::{Kept, solve_lines},
    project::{Planes, Row, project},
};
use crate::solver::relax::Softness;

/// x, y, z and inverse mass of one particle of each of `W` threads.
pub(super) type Tile<const W: usize> = [[f32; W]; 4];

/// The links of the threads of a strip, one behind the other.
pub(super) struct Links<'a, const W: usize> {
    pub(super) rest: &'a [[f32; W]],
    /// λ, or empty.
    pub(super) lambda: &'a mut [[f32; W]],
}

impl<const W: usize> Links<'_, W> {
    /// Projects those between the particles at one place and those `reach` farther on.
    #[inline(always)]
    fn project(&mut self, particles: &mut [Tile<W>], i: usize, reach: usize, softness: Softness) {
        let (before, behind) = particles.split_at_mut(i + reach);
        let [xa, ya, za, wa] = &mut before[i];
        let [xb, yb, zb, wb] = &mut behind[0];
        let a = Row {
            x: xa,
            y: ya,
            z: za,
            w: wa,
        };
        let b = Row {
            x: xb,
            y: yb,
            z: zb,
            w: wb,
        };
        let lambda = self.lambda.get_mut(i).map_or(&mut [][..], |l| &mut l[..]);
        project::<false>(a, b, &self.rest[i], lambda, softness);
    }

    /// Every second one, then the others: none has a particle in common with the one before, so that
    /// the processor need not wait.
    #[inline(always)]
    pub(super) fn relax(mut self, particles: &mut [Tile<W>], softness: Softness) {
        for first in 0..2 {
            for i in (first..self.rest.len()).step_by(2) {
                self.project(particles, i, 1, softness);
            }
        }
    }

    /// The same for links over two threads, by twos.
    #[inline(always)]
    pub(super) fn bend(mut self, particles: &mut [Tile<W>], softness: Softness) {
        let count = self.rest.len();
        for first in [0, 2] {
            for i in (first..count).step_by(4) {
                self.project(particles, i, 2, softness);
                if i + 1 < count {
                    self.project(particles, i + 1, 2, softness);
                }
            }
        }
    }

    /// All links of each thread at once.
    #[inline(always)]
    pub(super) fn solve(
        self,
        particles: &mut [Tile<W>],
        softness: Softness,
        share: f32,
        kept: &mut [Kept<W>],
    ) {
        solve_lines(particles, self, softness, share, kept);
    }
}

/// Copies threads of warp, the first of them in column `start`.
#[inline(always)]
pub(super) fn copy_warp<const W: usize>(
    from: &Planes,
    columns: usize,
    start: usize,
    to: &mut [Tile<W>],
) {
    for (plane, axis) in [&*from.x, &*from.y, &*from.z, from.w].into_iter().zip(0..) {
        for (row, tile) in plane.chunks_exact(columns).zip(&mut *to) {
            tile[axis].copy_from_slice(&row[start..start + W]);
        }
    }
}

/// Writes them back.
#[inline(always)]
pub(super) fn write_warp<const W: usize>(
    from: &[Tile<W>],
    to: &mut Planes,
    columns: usize,
    start: usize,
) {
    for (plane, axis) in [&mut *to.x, &mut *to.y, &mut *to.z].into_iter().zip(0..) {
        for (row, tile) in plane.chunks_exact_mut(columns).zip(from) {
            row[start..start + W].copy_from_slice(&tile[axis]);
        }
    }
}
