//! A strip: neighbouring threads of warp or weft, copied together so that what is solved together
//! lies together. Warp is copied, weft is turned; both are then solved by the same loops.

use super::{
    lines::{Kept, solve_lines},
    project::{Row, project},
};
use crate::solver::{columns::Columns, relax::Softness};

/// x, y, z and inverse mass of one particle of each of `W` threads.
pub(super) type Tile<const W: usize> = [[f32; W]; 4];

/// Links of the threads of some groups, group by group.
pub(super) struct Links<'a> {
    /// Rest lengths, or empty if there are no links.
    pub(super) rest: &'a [f32],
    /// λ, or empty.
    pub(super) lambda: &'a mut [f32],
}

impl Links<'_> {
    /// Those of one group, `count` in each thread, if there are any.
    #[inline(always)]
    pub(super) fn of_group<const W: usize>(
        &mut self,
        group: usize,
        count: usize,
    ) -> Option<GroupLinks<'_, W>> {
        let (rest, _) = self.rest.as_chunks::<W>();
        let (lambda, _) = self.lambda.as_chunks_mut::<W>();
        let of = group * count..(group + 1) * count;
        let rest = rest.get(of.clone())?;
        let lambda = lambda.get_mut(of).unwrap_or_default();
        Some(GroupLinks { rest, lambda })
    }
}

/// The links of `W` threads, one behind the other.
pub(super) struct GroupLinks<'a, const W: usize> {
    pub(super) rest: &'a [[f32; W]],
    /// λ, or empty.
    pub(super) lambda: &'a mut [[f32; W]],
}

impl<const W: usize> GroupLinks<'_, W> {
    /// Projects those between the particles at one place and those `reach` farther on.
    #[inline(always)]
    fn project(&mut self, particles: &mut [Tile<W>], i: usize, reach: usize, softness: Softness) {
        let (before, behind) = particles.split_at_mut(i + reach);
        let [a, b] = [&mut before[i], &mut behind[0]].map(|[x, y, z, w]| Row { x, y, z, w });
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

/// Copies one coordinate of `W` columns, from column `start` on.
#[inline(always)]
pub(super) fn copy_warp<const W: usize>(
    from: &mut Columns,
    start: usize,
    axis: usize,
    to: &mut [Tile<W>],
) {
    for (r, tile) in to.iter_mut().enumerate() {
        tile[axis].copy_from_slice(&from.row(r)[start..start + W]);
    }
}

/// Writes it back.
#[inline(always)]
pub(super) fn write_warp<const W: usize>(
    to: &mut Columns,
    start: usize,
    axis: usize,
    from: &[Tile<W>],
) {
    for (r, tile) in from.iter().enumerate() {
        to.row(r)[start..start + W].copy_from_slice(&tile[axis]);
    }
}
