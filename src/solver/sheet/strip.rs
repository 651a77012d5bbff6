//! A strip: neighbouring threads of warp or weft, copied together so that what is solved together
//! lies together. Warp is copied, weft is turned; both are then solved by the same loops.

use crate::solver::{
    columns::Columns,
    thread::{Links, Tile},
};

/// Links of the threads of some groups, group by group.
pub(super) struct GroupLinks<'a> {
    /// Rest lengths, or empty if there are no links.
    pub(super) rest: &'a [f32],
    /// λ, or empty.
    pub(super) lambda: &'a mut [f32],
}

impl GroupLinks<'_> {
    /// Those of one group, `count` in each thread, if there are any.
    #[inline(always)]
    pub(super) fn of_group<const W: usize>(
        &mut self,
        group: usize,
        count: usize,
    ) -> Option<Links<'_, W>> {
        let (rest, _) = self.rest.as_chunks::<W>();
        let (lambda, _) = self.lambda.as_chunks_mut::<W>();
        let of = group * count..(group + 1) * count;
        let rest = rest.get(of.clone())?;
        let lambda = lambda.get_mut(of).unwrap_or_default();
        Some(Links { rest, lambda })
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
