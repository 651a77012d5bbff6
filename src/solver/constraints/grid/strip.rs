//! Strips: neighbouring chains of warp or weft, copied so that values of one SIMD loop are contiguous. Warp
//! is copied as it is, weft is transposed; both are then solved by the same loops.

use crate::solver::{
    constraints::chain::{ChainLinks, Tile},
    parallel::columns::Columns,
};

/// Constraints along the chains of some groups, group by group.
pub(super) struct GroupConstraints<'a> {
    /// Rest lengths, or empty if there are no constraints.
    pub(super) rest: &'a [f32],
    /// λ, or empty.
    pub(super) lambda: &'a mut [f32],
}

impl GroupConstraints<'_> {
    /// Returns the constraints of one group, `count` per chain, if there are any.
    #[inline(always)]
    pub(super) fn of_group<const W: usize>(
        &mut self,
        group: usize,
        count: usize,
    ) -> Option<ChainLinks<'_, W>> {
        let (rest, _) = self.rest.as_chunks::<W>();
        let (lambda, _) = self.lambda.as_chunks_mut::<W>();
        let range = group * count..(group + 1) * count;
        let rest = rest.get(range.clone())?;
        let lambda = lambda.get_mut(range).unwrap_or_default();
        Some(ChainLinks { rest, lambda })
    }
}

/// Copies one coordinate of `W` columns into tiles, from column `start` on.
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

/// Writes one coordinate of `W` columns back from tiles, from column `start` on.
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
