//! The force of the air on the triangles of a sheet, row by row.
//!
//! A cell of the grid has the particles a and b above and d and e below. Its triangles are a d e and
//! e b a, or a d b and e b d: two corners of each are always the same, and which one the third is, is
//! chosen number by number, so that no particle has to be looked up.

use super::{Catch, Rows, forces};
use crate::solver::{
    corners::BLOCK,
    crew::{Leader, PART},
    particles::ParticleArrays,
    simd::{Kernel, LANES, dispatch, select},
    soa::SoaVec3,
    triangles::Cells,
};
use bevy::math::Vec3;
use std::ops::Range;

/// Adds the acceleration by the air on the triangles of a sheet. `area` are those of all triangles.
pub(super) fn apply(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    cells: &Cells,
    area: &[f32],
    by: Catch,
) {
    let own = cells.layout.particles();
    let columns = cells.layout.columns as usize;
    // The cells between two bands are computed twice, so that no band writes into another.
    let band = (PART / columns).max(4) * columns;
    let SoaVec3 { x, y, z } = &mut particles.acceleration;
    let [x, y, z] = [x, y, z].map(|plane| plane[own.clone()].chunks_mut(band));
    let sheet = Sheet {
        cells,
        area: &area[cells.triangles.clone()],
        x: planes(&particles.position, own.clone()),
        d: planes(&particles.displacement, own.clone()),
        w: &particles.inverse_mass[own],
        by,
    };
    let bands = x.zip(y).zip(z).enumerate();
    leader.each(bands, |(number, ((x, y), z))| {
        dispatch(Band {
            sheet,
            first: number * band / columns,
            acceleration: [x, y, z],
        });
    });
}

fn planes(of: &SoaVec3, own: Range<usize>) -> [&[f32]; 3] {
    [&of.x[own.clone()], &of.y[own.clone()], &of.z[own]]
}

#[derive(Clone, Copy)]
struct Sheet<'a> {
    cells: &'a Cells,
    area: &'a [f32],
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    by: Catch,
}

/// Some rows of particles.
struct Band<'a> {
    sheet: Sheet<'a>,
    first: usize,
    acceleration: [&'a mut [f32]; 3],
}

/// Forces on the particles at the corners of some cells.
struct Forces {
    a: [[f32; BLOCK]; 3],
    b: [[f32; BLOCK]; 3],
    d: [[f32; BLOCK]; 3],
    e: [[f32; BLOCK]; 3],
}

/// Room for the two triangles of some cells, the one below the cut first.
struct Room {
    rows: [Rows; 2],
    area: [[f32; BLOCK]; 2],
    force: [[[f32; BLOCK]; 3]; 2],
}

impl Kernel for Band<'_> {
    #[inline(always)]
    fn run(self) {
        self.blow::<false>();
    }

    fn run_scalar(self) {
        self.blow::<true>();
    }
}

impl Band<'_> {
    /// Finds the forces block by block, or one by one, and gives them to the particles.
    #[inline(always)]
    fn blow<const ONE_BY_ONE: bool>(self) {
        let nothing = [[0.0; BLOCK]; 3];
        let mut forces = Forces {
            a: nothing,
            b: nothing,
            d: nothing,
            e: nothing,
        };
        let mut room = Room {
            rows: [[[0.0; BLOCK]; 9]; 2],
            area: [[0.0; BLOCK]; 2],
            force: [nothing; 2],
        };
        let Self {
            sheet,
            first,
            mut acceleration,
        } = self;
        let columns = sheet.cells.layout.columns as usize;
        let end = first + acceleration[0].len() / columns;
        let last = end.min(sheet.cells.layout.rows as usize - 1);
        for r in first.saturating_sub(1)..last {
            for c in (0..columns - 1).step_by(BLOCK) {
                let n = BLOCK.min(columns - 1 - c);
                let (above, below) = (r * columns + c, (r + 1) * columns + c);
                let cell = r * (columns - 1) + c;
                if ONE_BY_ONE {
                    sheet.forces_one_by_one(above, below, cell..cell + n, &mut forces);
                } else {
                    sheet.forces(above, below, cell..cell + n, &mut room, &mut forces);
                }
                let corners = [
                    // Above and below in turn: what was just stored is slow to load one number farther on.
                    (above, &forces.a, r >= first),
                    (below, &forces.d, r + 1 < end),
                    (above + 1, &forces.b, r >= first),
                    (below + 1, &forces.e, r + 1 < end),
                ];
                for (particle, force, here) in corners {
                    if here {
                        let w = &sheet.w[particle..particle + n];
                        let own = particle - first * columns;
                        for (acceleration, force) in acceleration.iter_mut().zip(force) {
                            give(&mut acceleration[own..own + n], &force[..n], w);
                        }
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn give(acceleration: &mut [f32], force: &[f32], w: &[f32]) {
    for ((a, f), w) in acceleration.iter_mut().zip(force).zip(w) {
        *a += f * w;
    }
}

impl Sheet<'_> {
    fn forces_one_by_one(&self, above: usize, below: usize, cells: Range<usize>, to: &mut Forces) {
        for k in 0..cells.len() {
            let [a, b, d, e] = self.of_cell(above + k, below + k, cells.start + k);
            for axis in 0..3 {
                to.a[axis][k] = a[axis];
                to.b[axis][k] = b[axis];
                to.d[axis][k] = d[axis];
                to.e[axis][k] = e[axis];
            }
        }
    }

    /// The forces on the corners of one cell, given its first particles above and below.
    fn of_cell(&self, above: usize, below: usize, cell: usize) -> [[f32; 3]; 4] {
        let at = |planes: [&[f32]; 3], i: usize| planes.map(|plane| plane[i]);
        let corners = |planes| {
            [
                at(planes, above),
                at(planes, above + 1),
                at(planes, below),
                at(planes, below + 1),
            ]
        };
        let code = self.cells.codes[cell];
        let area = [self.area[2 * cell], self.area[2 * cell + 1]];
        cell_forces(self.by, code, area, corners(self.x), corners(self.d))
    }

    /// The forces on the corners of some cells side by side, given the first particles above and below
    /// and the numbers of the cells.
    #[inline(always)]
    fn forces(
        &self,
        above: usize,
        below: usize,
        cells: Range<usize>,
        room: &mut Room,
        to: &mut Forces,
    ) {
        // Whole registers, if there is so much behind, whatever it is: what remains of a row would
        // otherwise cost as much as all the rest.
        let n = cells.len().min(BLOCK);
        let behind = (self.x[0].len() - below - 1).min(self.cells.codes.len() - cells.start);
        let n = n.next_multiple_of(LANES).min(BLOCK).min(behind);
        let cells = cells.start..cells.start + n;
        let codes = &self.cells.codes[cells.clone()];
        let Room { rows, area, force } = room;
        let (of_cells, _) = self.area[2 * cells.start..2 * cells.end].as_chunks::<2>();
        let [lower, upper] = area.each_mut().map(|area| &mut area[..n]);
        areas(codes, &of_cells[..n], lower, upper);
        let [lower, upper] = rows;
        for axis in 0..3 {
            let (x, d) = (self.x[axis], self.d[axis]);
            let [moved, ab, ac] = three(lower, axis);
            let [moved_upper, ab_upper, ac_upper] = three(upper, axis);
            corners(
                codes,
                [&x[above..above + n], &x[above + 1..above + 1 + n]],
                [&x[below..below + n], &x[below + 1..below + 1 + n]],
                &mut ab[..n],
                &mut ac[..n],
                &mut ab_upper[..n],
                &mut ac_upper[..n],
            );
            movement(
                codes,
                [&d[above..above + n], &d[above + 1..above + 1 + n]],
                [&d[below..below + n], &d[below + 1..below + 1 + n]],
                &mut moved[..n],
                &mut moved_upper[..n],
            );
        }
        for ((rows, area), force) in rows.iter().zip(&*area).zip(&mut *force) {
            forces(self.by, rows, &area[..n], force);
        }
        let [lower, upper] = force;
        for axis in 0..3 {
            share(
                codes,
                &lower[axis][..n],
                &upper[axis][..n],
                &mut to.a[axis][..n],
                &mut to.b[axis][..n],
                &mut to.d[axis][..n],
                &mut to.e[axis][..n],
            );
        }
    }
}

/// The rows of one coordinate: moved, ab, ac.
#[inline(always)]
fn three(rows: &mut Rows, axis: usize) -> [&mut [f32; BLOCK]; 3] {
    let [m0, m1, m2, b0, b1, b2, c0, c1, c2] = rows;
    match axis {
        0 => [m0, b0, c0],
        1 => [m1, b1, c1],
        _ => [m2, b2, c2],
    }
}

#[inline(always)]
fn areas(codes: &[u8], areas: &[[f32; 2]], lower: &mut [f32], upper: &mut [f32]) {
    let n = codes.len();
    let (areas, lower, upper) = (&areas[..n], &mut lower[..n], &mut upper[..n]);
    for k in 0..n {
        let swapped = codes[k] & Cells::SWAPPED != 0;
        lower[k] = select(swapped, areas[k][1], areas[k][0]);
        upper[k] = select(swapped, areas[k][0], areas[k][1]);
    }
}

/// One coordinate of two sides of each triangle.
#[inline(always)]
fn corners(
    codes: &[u8],
    [a, b]: [&[f32]; 2],
    [d, e]: [&[f32]; 2],
    ad: &mut [f32],
    aq: &mut [f32],
    eb: &mut [f32],
    es: &mut [f32],
) {
    let n = codes.len();
    let (a, b, d, e) = (&a[..n], &b[..n], &d[..n], &e[..n]);
    let (ad, aq, eb, es) = (&mut ad[..n], &mut aq[..n], &mut eb[..n], &mut es[..n]);
    for k in 0..n {
        let rises = codes[k] & Cells::RISES != 0;
        ad[k] = d[k] - a[k];
        aq[k] = select(rises, b[k], e[k]) - a[k];
        eb[k] = b[k] - e[k];
        es[k] = select(rises, d[k], a[k]) - e[k];
    }
}

/// By how much the corners of each triangle have moved along one coordinate.
#[inline(always)]
fn movement(
    codes: &[u8],
    [a, b]: [&[f32]; 2],
    [d, e]: [&[f32]; 2],
    lower: &mut [f32],
    upper: &mut [f32],
) {
    let n = codes.len();
    let (a, b, d, e) = (&a[..n], &b[..n], &d[..n], &e[..n]);
    let (lower, upper) = (&mut lower[..n], &mut upper[..n]);
    for k in 0..n {
        let rises = codes[k] & Cells::RISES != 0;
        lower[k] = a[k] + d[k] + select(rises, b[k], e[k]);
        upper[k] = e[k] + b[k] + select(rises, d[k], a[k]);
    }
}

/// Shares the forces on triangles out among the corners of their cells.
#[inline(always)]
fn share(
    codes: &[u8],
    lower: &[f32],
    upper: &[f32],
    a: &mut [f32],
    b: &mut [f32],
    d: &mut [f32],
    e: &mut [f32],
) {
    let n = codes.len();
    let (lower, upper) = (&lower[..n], &upper[..n]);
    let (a, b, d, e) = (&mut a[..n], &mut b[..n], &mut d[..n], &mut e[..n]);
    for k in 0..n {
        let rises = codes[k] & Cells::RISES != 0;
        // Each is at a third corner as well, there or at the one across.
        let [rising_lower, rising_upper] =
            [lower[k], upper[k]].map(|force| select(rises, force, 0.0));
        a[k] = lower[k] + (upper[k] - rising_upper);
        b[k] = upper[k] + rising_lower;
        d[k] = lower[k] + rising_upper;
        e[k] = upper[k] + (lower[k] - rising_lower);
    }
}

/// The forces on the corners a, b, d and e of a cell.
fn cell_forces(
    by: Catch,
    code: u8,
    area: [f32; 2],
    x: [[f32; 3]; 4],
    moved: [[f32; 3]; 4],
) -> [[f32; 3]; 4] {
    let rises = code & Cells::RISES != 0;
    let swapped = code & Cells::SWAPPED != 0;
    let choose = |choose, a: Vec3, b: Vec3| {
        Vec3::new(
            select(choose, a.x, b.x),
            select(choose, a.y, b.y),
            select(choose, a.z, b.z),
        )
    };
    let [a, b, d, e] = x.map(Vec3::from_array);
    let [ma, mb, md, me] = moved.map(Vec3::from_array);
    // The third corners.
    let (q, mq) = (choose(rises, b, e), choose(rises, mb, me));
    let (s, ms) = (choose(rises, d, a), choose(rises, md, ma));
    let lower = select(swapped, area[1], area[0]) * by.third;
    let upper = select(swapped, area[0], area[1]) * by.third;
    let lower = by.gained(ma + md + mq, d - a, q - a) * lower;
    let upper = by.gained(me + mb + ms, b - e, s - e) * upper;
    let (of_lower, of_upper) = (
        choose(rises, lower, Vec3::ZERO),
        choose(rises, upper, Vec3::ZERO),
    );
    let a = lower + (upper - of_upper);
    let b = upper + of_lower;
    let d = lower + of_upper;
    let e = upper + (lower - of_lower);
    [a, b, d, e].map(|force| force.to_array())
}
