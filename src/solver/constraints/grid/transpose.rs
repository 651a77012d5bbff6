//! Transposition of arrays, so that weft (along rows) is solved by the loops for warp (along columns).

use super::project::ParticlePlanes;
use crate::solver::constraints::chain::Tile;
use bevy::math::{Mat4, Vec4};

/// Writes the transpose of `rows` × `columns` values. Rows of the source begin `from_stride` values apart,
/// rows of the target `to_stride`.
#[inline(always)]
pub(super) fn transpose(
    from: &[f32],
    from_stride: usize,
    to: &mut [f32],
    to_stride: usize,
    rows: usize,
    columns: usize,
) {
    let whole = [rows - rows % 4, columns - columns % 4];
    for r in (0..whole[0]).step_by(4) {
        let row = |i: usize| &from[(r + i) * from_stride..][..whole[1]];
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)].map(|row| row.as_chunks::<4>().0);
        let below = &mut to[r..];
        for (number, (((a, b), c), d)) in a.iter().zip(b).zip(c).zip(d).enumerate() {
            let tile = Mat4::from_cols(
                Vec4::from_array(*a),
                Vec4::from_array(*b),
                Vec4::from_array(*c),
                Vec4::from_array(*d),
            );
            let tile = tile.transpose();
            let first = number * 4 * to_stride;
            let below = &mut below[first..first + 3 * to_stride + 4];
            below[..4].copy_from_slice(&tile.x_axis.to_array());
            below[to_stride..to_stride + 4].copy_from_slice(&tile.y_axis.to_array());
            below[2 * to_stride..2 * to_stride + 4].copy_from_slice(&tile.z_axis.to_array());
            below[3 * to_stride..].copy_from_slice(&tile.w_axis.to_array());
        }
    }
    for r in 0..rows {
        let first = if r < whole[0] { whole[1] } else { 0 };
        for c in first..columns {
            to[c * to_stride + r] = from[r * from_stride + c];
        }
    }
}

/// Transposes `W` weft chains into tiles, from row `start` on, so that they lie in memory as warp does.
#[inline(always)]
pub(super) fn transpose_weft<const W: usize>(
    from: &ParticlePlanes,
    columns: usize,
    start: usize,
    to: &mut [Tile<W>],
) {
    let to = to.as_flattened_mut().as_flattened_mut();
    let first = start * columns;
    for (plane, axis) in [&*from.x, &*from.y, &*from.z, from.w].into_iter().zip(0..) {
        let rows = &plane[first..first + W * columns];
        transpose(rows, columns, &mut to[axis * W..], 4 * W, W, columns);
    }
}

/// Transposes the positions of `W` weft chains back from tiles, from row `start` on.
#[inline(always)]
pub(super) fn transpose_back<const W: usize>(
    from: &[Tile<W>],
    to: &mut ParticlePlanes,
    columns: usize,
    start: usize,
) {
    let from = from.as_flattened().as_flattened();
    let first = start * columns;
    for (plane, axis) in [&mut *to.x, &mut *to.y, &mut *to.z].into_iter().zip(0..) {
        let rows = &mut plane[first..first + W * columns];
        transpose(&from[axis * W..], 4 * W, rows, columns, columns, W);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        for (rows, columns) in [(1, 1), (4, 4), (3, 9), (9, 3), (32, 21), (13, 14)] {
            let from: Vec<f32> = (0..rows * (columns + 3)).map(|i| i as f32).collect();
            let mut to = vec![-1.0; columns * (rows + 2)];
            transpose(&from, columns + 3, &mut to, rows + 2, rows, columns);
            for r in 0..rows {
                for c in 0..columns {
                    assert_eq!(to[c * (rows + 2) + r], from[r * (columns + 3) + c]);
                }
            }
        }
    }
}
