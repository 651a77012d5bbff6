//! Aerodynamic forces on the triangles of a grid, row by row.
//!
//! A cell of the grid has the particles a and b in its upper row and d and e in its lower row. Its triangles are
//! a d e and e b a, or a d b and e b d: two corners of each are always the same, and the third is a lane-wise
//! select, so no particle index is read.

use super::{AirCoefficients, CornerRows, triangle_forces};
use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, LANES, dispatch, select, soa::SoaVec3},
    triangles::{GridTriangles, corners::BLOCK},
};
use std::ops::Range;
#[cfg(test)]
use {crate::solver::simd::select_vec3, bevy::math::Vec3};

/// Adds the acceleration by the air on the triangles of a grid. `area` has the area of every triangle of the
/// cloth, m².
pub(super) fn apply(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    cells: &GridTriangles,
    area: &[f32],
    coefficients: AirCoefficients,
) {
    let own = cells.layout.particles();
    let columns = cells.layout.columns as usize;
    // The cells between two bands are computed twice, so that no band writes to particles of another.
    let band = (PARTICLES_PER_PART / columns).max(4) * columns;
    let SoaVec3 { x, y, z } = &mut particles.acceleration;
    let [x, y, z] = [x, y, z].map(|plane| plane[own.clone()].chunks_mut(band));
    let grid = AirGrid {
        cells,
        area: &area[cells.triangles.clone()],
        x: planes(&particles.position, own.clone()),
        d: planes(&particles.displacement, own.clone()),
        w: &particles.inverse_mass[own],
        coefficients,
    };
    let bands = x.zip(y).zip(z).enumerate();
    workers.for_each_part(bands, |(number, ((x, y), z))| {
        dispatch(GridBand {
            grid,
            first: number * band / columns,
            acceleration: [x, y, z],
        });
    });
}

fn planes(vectors: &SoaVec3, range: Range<usize>) -> [&[f32]; 3] {
    vectors.planes().map(|plane| &plane[range.clone()])
}

/// Triangles of a grid and the state of its particles.
#[derive(Clone, Copy)]
struct AirGrid<'a> {
    cells: &'a GridTriangles,
    area: &'a [f32],
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    coefficients: AirCoefficients,
}

/// Consecutive rows of particles, beginning with row `first`: one part.
struct GridBand<'a> {
    grid: AirGrid<'a>,
    first: usize,
    acceleration: [&'a mut [f32]; 3],
}

/// Forces on up to [`BLOCK`] corners or triangles: x, y and z.
type ForceBlock = [[f32; BLOCK]; 3];

/// Scratch buffers for the two triangles of up to [`BLOCK`] cells, the left one (with a and d) first.
struct BandScratch {
    rows: [CornerRows; 2],
    area: [[f32; BLOCK]; 2],
    force: [ForceBlock; 2],
}

impl Kernel for GridBand<'_> {
    /// Computes the forces block by block and adds their accelerations.
    #[inline(always)]
    fn run(self) {
        let zero = [[0.0; BLOCK]; 3];
        // Forces on the corners a, b, d and e.
        let mut forces = [zero; 4];
        let mut scratch = BandScratch {
            rows: [[[0.0; BLOCK]; 9]; 2],
            area: [[0.0; BLOCK]; 2],
            force: [zero; 2],
        };
        let Self {
            grid,
            first,
            mut acceleration,
        } = self;
        let columns = grid.cells.layout.columns as usize;
        let end = first + acceleration[0].len() / columns;
        let last = end.min(grid.cells.layout.rows as usize - 1);
        for r in first.saturating_sub(1)..last {
            for c in (0..columns - 1).step_by(BLOCK) {
                let n = BLOCK.min(columns - 1 - c);
                let (above, below) = (r * columns + c, (r + 1) * columns + c);
                let cell = r * (columns - 1) + c;
                grid.forces(above, below, cell..cell + n, &mut scratch, &mut forces);
                let [a, b, d, e] = &forces;
                let corners = [
                    // Upper and lower row in turn: a load one element after a recent store to the same row is
                    // slow.
                    (above, a, r >= first),
                    (below, d, r + 1 < end),
                    (above + 1, b, r >= first),
                    (below + 1, e, r + 1 < end),
                ];
                for (particle, force, in_band) in corners {
                    if in_band {
                        let w = &grid.w[particle..particle + n];
                        let own = particle - first * columns;
                        for (acceleration, force) in acceleration.iter_mut().zip(force) {
                            add_accelerations(&mut acceleration[own..own + n], &force[..n], w);
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn add_accelerations(acceleration: &mut [f32], force: &[f32], w: &[f32]) {
    for ((a, f), w) in acceleration.iter_mut().zip(force).zip(w) {
        *a += f * w;
    }
}

impl AirGrid<'_> {
    /// Scalar reference of [`forces`](Self::forces): one cell after the other.
    #[cfg(test)]
    fn reference_forces(
        &self,
        above: usize,
        below: usize,
        cells: Range<usize>,
        to: &mut [ForceBlock; 4],
    ) {
        for k in 0..cells.len() {
            let forces = self.forces_of_cell(above + k, below + k, cells.start + k);
            for (to, force) in to.iter_mut().zip(forces) {
                for axis in 0..3 {
                    to[axis][k] = force[axis];
                }
            }
        }
    }

    /// Computes the forces on the corners of one cell from the indices of its particles a and d.
    #[cfg(test)]
    fn forces_of_cell(&self, above: usize, below: usize, cell: usize) -> [Vec3; 4] {
        let rises = self.cells.codes[cell] & GridTriangles::RISES != 0;
        let swapped = self.cells.codes[cell] & GridTriangles::SWAPPED != 0;
        let corners = [above, above + 1, below, below + 1];
        let [a, b, d, e] = corners.map(|i| Vec3::from(self.x.map(|plane| plane[i])));
        let [ma, mb, md, me] = corners.map(|i| Vec3::from(self.d.map(|plane| plane[i])));
        // The third corners.
        let (q, mq) = (select_vec3(rises, b, e), select_vec3(rises, mb, me));
        let (s, ms) = (select_vec3(rises, d, a), select_vec3(rises, md, ma));
        let area = [self.area[2 * cell], self.area[2 * cell + 1]];
        let coefficients = self.coefficients;
        let left = select(swapped, area[1], area[0]) * coefficients.force_per_velocity;
        let right = select(swapped, area[0], area[1]) * coefficients.force_per_velocity;
        let left = coefficients.velocity_change(ma + md + mq, d - a, q - a) * left;
        let right = coefficients.velocity_change(me + mb + ms, b - e, s - e) * right;
        let [rising_left, rising_right] =
            [left, right].map(|force| select_vec3(rises, force, Vec3::ZERO));
        let a = left + (right - rising_right);
        let b = right + rising_left;
        let d = left + rising_right;
        let e = right + (left - rising_left);
        [a, b, d, e]
    }

    /// Computes the forces on the corners of consecutive cells of a row, from the indices of particles a and d of
    /// the first cell and the indices of the cells.
    #[inline(always)]
    fn forces(
        &self,
        above: usize,
        below: usize,
        cells: Range<usize>,
        scratch: &mut BandScratch,
        to: &mut [ForceBlock; 4],
    ) {
        #[cfg(test)]
        if crate::solver::simd::levels::is_reference() {
            return self.reference_forces(above, below, cells, to);
        }
        // Rounded up to whole registers, as far as the arrays allow; the excess results are not used. The scalar
        // remainder of a row would otherwise cost as much as the rest of it.
        let n = cells.len().min(BLOCK);
        let available = (self.x[0].len() - below - 1).min(self.cells.codes.len() - cells.start);
        let n = n.next_multiple_of(LANES).min(BLOCK).min(available);
        let cells = cells.start..cells.start + n;
        let codes = &self.cells.codes[cells.clone()];
        let BandScratch { rows, area, force } = scratch;
        let (cell_areas, _) = self.area[2 * cells.start..2 * cells.end].as_chunks::<2>();
        let [left, right] = area.each_mut().map(|area| &mut area[..n]);
        select_areas(codes, &cell_areas[..n], left, right);
        let [left, right] = rows;
        for axis in 0..3 {
            let [displacement, ab, ac] = axis_rows(left, axis);
            let [displacement_right, ab_right, ac_right] = axis_rows(right, axis);
            edge_vectors(
                codes,
                cell_corners(self.x[axis], above, below, n),
                &mut ab[..n],
                &mut ac[..n],
                &mut ab_right[..n],
                &mut ac_right[..n],
            );
            sum_displacements(
                codes,
                cell_corners(self.d[axis], above, below, n),
                &mut displacement[..n],
                &mut displacement_right[..n],
            );
        }
        for ((rows, area), force) in rows.iter().zip(&*area).zip(&mut *force) {
            triangle_forces(self.coefficients, rows, &area[..n], force);
        }
        let [left, right] = force;
        let [a, b, d, e] = to;
        for axis in 0..3 {
            distribute_forces(
                codes,
                &left[axis][..n],
                &right[axis][..n],
                &mut a[axis][..n],
                &mut b[axis][..n],
                &mut d[axis][..n],
                &mut e[axis][..n],
            );
        }
    }
}

/// Returns the values of the corners a, b, d and e of `n` cells, from the indices of a and d of the first one.
#[inline(always)]
fn cell_corners(plane: &[f32], above: usize, below: usize, n: usize) -> [&[f32]; 4] {
    [
        &plane[above..above + n],
        &plane[above + 1..above + 1 + n],
        &plane[below..below + n],
        &plane[below + 1..below + 1 + n],
    ]
}

/// Returns the rows of one axis: displacement, ab, ac.
#[inline(always)]
fn axis_rows(rows: &mut CornerRows, axis: usize) -> [&mut [f32; BLOCK]; 3] {
    let [m0, m1, m2, b0, b1, b2, c0, c1, c2] = rows;
    match axis {
        0 => [m0, b0, c0],
        1 => [m1, b1, c1],
        _ => [m2, b2, c2],
    }
}

/// Sorts the areas of the triangles of each cell into left and right ones.
#[inline(always)]
fn select_areas(codes: &[u8], areas: &[[f32; 2]], left: &mut [f32], right: &mut [f32]) {
    let n = codes.len();
    let (areas, left, right) = (&areas[..n], &mut left[..n], &mut right[..n]);
    for k in 0..n {
        let swapped = codes[k] & GridTriangles::SWAPPED != 0;
        left[k] = select(swapped, areas[k][1], areas[k][0]);
        right[k] = select(swapped, areas[k][0], areas[k][1]);
    }
}

/// Computes one coordinate of two edge vectors of each triangle; q and s are the third corners.
#[inline(always)]
fn edge_vectors(
    codes: &[u8],
    [a, b, d, e]: [&[f32]; 4],
    ad: &mut [f32],
    aq: &mut [f32],
    eb: &mut [f32],
    es: &mut [f32],
) {
    let n = codes.len();
    let (a, b, d, e) = (&a[..n], &b[..n], &d[..n], &e[..n]);
    let (ad, aq, eb, es) = (&mut ad[..n], &mut aq[..n], &mut eb[..n], &mut es[..n]);
    for k in 0..n {
        let rises = codes[k] & GridTriangles::RISES != 0;
        ad[k] = d[k] - a[k];
        aq[k] = select(rises, b[k], e[k]) - a[k];
        eb[k] = b[k] - e[k];
        es[k] = select(rises, d[k], a[k]) - e[k];
    }
}

/// Sums one coordinate of the displacements of the corners of each triangle.
#[inline(always)]
fn sum_displacements(codes: &[u8], [a, b, d, e]: [&[f32]; 4], left: &mut [f32], right: &mut [f32]) {
    let n = codes.len();
    let (a, b, d, e) = (&a[..n], &b[..n], &d[..n], &e[..n]);
    let (left, right) = (&mut left[..n], &mut right[..n]);
    for k in 0..n {
        let rises = codes[k] & GridTriangles::RISES != 0;
        left[k] = a[k] + d[k] + select(rises, b[k], e[k]);
        right[k] = e[k] + b[k] + select(rises, d[k], a[k]);
    }
}

/// Distributes the forces on triangles to the corners of their cells.
#[inline(always)]
fn distribute_forces(
    codes: &[u8],
    left: &[f32],
    right: &[f32],
    a: &mut [f32],
    b: &mut [f32],
    d: &mut [f32],
    e: &mut [f32],
) {
    let n = codes.len();
    let (left, right) = (&left[..n], &right[..n]);
    let (a, b, d, e) = (&mut a[..n], &mut b[..n], &mut d[..n], &mut e[..n]);
    for k in 0..n {
        let rises = codes[k] & GridTriangles::RISES != 0;
        // Third corners: b of the left and d of the right triangle if the diagonal rises, otherwise e and a.
        let [rising_left, rising_right] =
            [left[k], right[k]].map(|force| select(rises, force, 0.0));
        a[k] = left[k] + (right[k] - rising_right);
        b[k] = right[k] + rising_left;
        d[k] = left[k] + rising_right;
        e[k] = right[k] + (left[k] - rising_left);
    }
}
