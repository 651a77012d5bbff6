//! One pass over all constraints of a sheet, cut into parts that share no particle.
//!
//! Diagonals are taken by every second row, then the others: a part is some pairs of rows. Warp is
//! taken by strips of columns, weft by blocks of rows. The cut depends on the sheet alone.

use super::{
    Sheet, SheetLayout,
    family::{BLOCK, Family},
    lines::{LineScratch, Strip, solve_lines},
    project::{Bundle, Planes, project},
    transpose::transpose,
    twin,
};
use crate::solver::{
    columns::Columns,
    crew::{Leader, PART, Parts},
    relax::{Points, Softness},
    simd::{Kernel, SimdLevel, dispatch},
};
use std::cell::RefCell;

/// Threads of warp that are solved side by side.
const STRIP: usize = 64;

/// Room for work.
#[derive(Default)]
struct Scratch {
    lines: LineScratch,
    /// Some rows, turned into columns: x, y, z, w.
    turned: [Vec<f32>; 4],
    /// A strip of columns, row by row: x, y, z of each row.
    strip: Vec<f32>,
}

thread_local! {
    /// One for each thread, whatever cloths it works on: it stays in the cache.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// How soft the constraints of a sheet are, and how its threads are solved.
#[derive(Clone, Copy)]
pub(in crate::solver) struct SheetSoftness {
    pub(in crate::solver) stretch: Softness,
    pub(in crate::solver) shear: Softness,
    pub(in crate::solver) bend: Softness,
    /// Whole threads at once; otherwise every second link of them, then the others.
    pub(in crate::solver) direct: bool,
    /// Which share of its correction a whole thread gets.
    pub(in crate::solver) share: f32,
    /// Long distances are held too.
    pub(in crate::solver) coarse: bool,
}

/// Solves all constraints of a sheet once.
pub(in crate::solver) fn relax_sheet(
    leader: &mut Leader,
    points: &mut Points,
    sheet: &mut Sheet,
    soft: SheetSoftness,
) {
    let particles = sheet.layout.particles();
    let mut planes = Planes {
        x: &mut points.x[particles.clone()],
        y: &mut points.y[particles.clone()],
        z: &mut points.z[particles.clone()],
        w: &points.w[particles],
    };
    if SimdLevel::current() == SimdLevel::Scalar {
        twin::pass(planes, sheet, soft);
        return;
    }
    let layout = sheet.layout;
    if soft.coarse {
        sheet.hold_long_distances(leader, &mut planes, soft);
    }
    let [down, up, bend_warp, warp, bend_weft, weft] = &mut sheet.families;
    diagonals(leader, &mut planes, &layout, down, [0, 1], soft.shear);
    diagonals(leader, &mut planes, &layout, up, [1, 0], soft.shear);
    warps(leader, &mut planes, &layout, bend_warp, warp, soft);
    wefts(leader, &mut planes, &layout, bend_weft, weft, soft);
}

/// Parts of the Lagrange multipliers of a family, of `size` each; of none as many as there may be, all
/// empty.
fn parts_of(lambda: &mut [f32], size: usize, count: usize) -> impl Parts<Item = &mut [f32]> {
    let parts = lambda.chunks_mut(size.max(1));
    let count = if parts.len() > 0 { parts.len() } else { count };
    Lambdas { parts, count }
}

struct Lambdas<'a> {
    parts: std::slice::ChunksMut<'a, f32>,
    count: usize,
}

impl<'a> Iterator for Lambdas<'a> {
    type Item = &'a mut [f32];

    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        Some(self.parts.next().unwrap_or_default())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl DoubleEndedIterator for Lambdas<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        Some(self.parts.next_back().unwrap_or_default())
    }
}

impl ExactSizeIterator for Lambdas<'_> {}

/// The rest lengths of a family, or nothing if it has no constraints.
fn some(count: usize, rest: &[f32]) -> &[f32] {
    if count == 0 { &[] } else { rest }
}

/// The constraints between two rows or places, or none.
#[inline(always)]
fn part(all: &mut [f32], range: std::ops::Range<usize>) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[range] }
}

fn diagonals(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    family: &mut Family,
    shift: [usize; 2],
    softness: Softness,
) {
    if family.len() == 0 {
        return;
    }
    let columns = layout.columns as usize;
    let links = columns - 1;
    let pairs = (PART / (2 * columns)).max(1);
    for first in 0..2 {
        let rest = family.rest.get(first * links..).unwrap_or_default();
        let rest = rest.chunks(2 * pairs * links);
        let lambda = family.lambda.get_mut(first * links..).unwrap_or_default();
        let lambda = parts_of(lambda, 2 * pairs * links, rest.len());
        let rows = planes.parts(first * columns, 2 * pairs * columns);
        leader.each(rows.zip(rest).zip(lambda), |((planes, rest), lambda)| {
            dispatch(Diagonals {
                planes,
                columns,
                shift,
                rest,
                lambda,
                softness,
            });
        });
    }
}

/// The diagonals between the rows of some pairs.
struct Diagonals<'a> {
    planes: Planes<'a>,
    columns: usize,
    /// Where in the upper and the lower row they begin.
    shift: [usize; 2],
    /// From the first row of the first pair on, with what is between the pairs.
    rest: &'a [f32],
    lambda: &'a mut [f32],
    softness: Softness,
}

impl Kernel for Diagonals<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            mut planes,
            columns,
            shift: [from, to],
            rest,
            lambda,
            softness,
        } = self;
        let links = columns - 1;
        for r in (0..rest.len() / links).step_by(2) {
            let range = r * links..(r + 1) * links;
            let [a, b] = planes.rows(r * columns + from, (r + 1) * columns + to, links);
            let rest = &rest[range.clone()];
            project::<false>(a, b, rest, part(lambda, range), softness);
        }
    }

    /// The twin is that of the whole pass.
    fn run_scalar(self) {
        self.run();
    }
}

/// Bending and stretching along columns.
fn warps(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    bend: &mut Family,
    warp: &mut Family,
    soft: SheetSoftness,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let strips = |plane| Columns::all(plane, columns).strips(STRIP);
    let places = strips(planes.x).zip(strips(planes.y)).zip(strips(planes.z));
    let (bends, links) = (bend.len(), warp.len());
    let lambdas = strips(&mut bend.lambda).zip(strips(&mut warp.lambda));
    let parts = places.zip(lambdas);
    let (bend, warp) = (some(bends, &bend.rest), some(links, &warp.rest));
    let w = planes.w;
    let copied = !leader.is_alone();
    leader.each(parts, |(((x, y), z), (bend_lambda, lambda))| {
        let (start, width) = (x.column(), x.width());
        let strip = Strip {
            width,
            length: rows,
            rest_start: start,
            rest_stride: columns,
        };
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.lines.fit(width, rows);
            let Scratch {
                lines, strip: copy, ..
            } = scratch;
            dispatch(Warps {
                planes: [x, y, z],
                w: &w[start..],
                columns,
                copy: copied.then_some(copy),
                bend: Links {
                    strip,
                    rest: bend,
                    lambda: bend_lambda,
                },
                links: Links {
                    strip,
                    rest: warp,
                    lambda,
                },
                soft,
                scratch: lines,
            });
        });
    });
}

/// The same along rows, which are turned into columns block by block.
fn wefts(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    bend: &mut Family,
    weft: &mut Family,
    soft: SheetSoftness,
) {
    let columns = layout.columns as usize;
    let (links, bends) = (columns - 1, columns.saturating_sub(2));
    let (bend_count, count) = (bend.len(), weft.len());
    let blocks = (layout.rows as usize).div_ceil(BLOCK);
    let lambdas = parts_of(&mut bend.lambda, BLOCK * bends, blocks).zip(parts_of(
        &mut weft.lambda,
        BLOCK * links,
        blocks,
    ));
    let parts = planes.parts(0, BLOCK * columns).zip(lambdas).enumerate();
    let (bend, weft) = (some(bend_count, &bend.rest), some(count, &weft.rest));
    leader.each(parts, |(number, (planes, (bend_lambda, lambda)))| {
        let height = planes.w.len() / columns;
        let first = number * BLOCK;
        let strip = Strip {
            width: height,
            length: columns,
            rest_start: first * links,
            rest_stride: height,
        };
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.lines.fit(height, columns);
            for plane in &mut scratch.turned {
                if plane.len() < columns * height {
                    plane.resize(columns * height, 0.0);
                }
            }
            dispatch(Turned {
                planes,
                columns,
                height,
                bend: Links {
                    strip: Strip {
                        rest_start: first * bends,
                        ..strip
                    },
                    rest: bend,
                    lambda: Columns::all(bend_lambda, height),
                },
                links: Links {
                    strip,
                    rest: weft,
                    lambda: Columns::all(lambda, height),
                },
                soft,
                scratch,
            });
        });
    });
}

/// Constraints along threads side by side.
struct Links<'a> {
    strip: Strip,
    /// Of the whole family; empty if it has no constraints.
    rest: &'a [f32],
    /// Of these threads, place by place; or without rows.
    lambda: Columns<'a>,
}

/// Bending and stretching of some threads.
struct Threads<'a> {
    threads: Bundle<'a>,
    bend: Links<'a>,
    links: Links<'a>,
    soft: SheetSoftness,
    scratch: &'a mut LineScratch,
}

impl Threads<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            mut threads,
            mut bend,
            mut links,
            soft,
            scratch,
        } = self;
        bends_along(&mut threads, &mut bend, soft.bend);
        threads_along(&mut threads, &mut links, soft, scratch);
    }
}

/// Bending and stretching along some columns.
struct Warps<'a> {
    planes: [Columns<'a>; 3],
    /// From the first particle of the strip on.
    w: &'a [f32],
    columns: usize,
    /// Where to work on a copy of the strip. Strips are only parts of rows, so that cores that work on
    /// neighbouring ones take memory from each other all the time, not least by reading ahead: at 256²
    /// two threads on the strips themselves were slower than one.
    copy: Option<&'a mut Vec<f32>>,
    bend: Links<'a>,
    links: Links<'a>,
    soft: SheetSoftness,
    scratch: &'a mut LineScratch,
}

impl Kernel for Warps<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            mut planes,
            w,
            columns,
            copy,
            bend,
            links,
            soft,
            scratch,
        } = self;
        let Strip { width, length, .. } = links.strip;
        let size = 3 * width * length;
        let mut copy = copy.map(|copy| {
            copy.resize(size.max(copy.len()), 0.0);
            &mut copy[..size]
        });
        if let Some(copy) = &mut copy {
            for (i, row) in copy.chunks_exact_mut(3 * width).enumerate() {
                for (own, plane) in row.chunks_exact_mut(width).zip(&mut planes) {
                    own.copy_from_slice(plane.row(i));
                }
            }
        }
        let [x, y, z] = match &mut copy {
            Some(copy) => Columns::all(copy, 3 * width).three(),
            None => planes.each_mut().map(Columns::lend),
        };
        let threads = Bundle {
            x,
            y,
            z,
            w,
            width,
            stride: columns,
        };
        let work = Threads {
            threads,
            bend,
            links,
            soft,
            scratch,
        };
        work.run();
        if let Some(copy) = copy {
            for (i, row) in copy.chunks_exact(3 * width).enumerate() {
                for (own, plane) in row.chunks_exact(width).zip(&mut planes) {
                    plane.row(i).copy_from_slice(own);
                }
            }
        }
    }

    /// The twin is that of the whole pass.
    fn run_scalar(self) {
        self.run();
    }
}

/// Bending and stretching along some rows.
struct Turned<'a> {
    planes: Planes<'a>,
    columns: usize,
    height: usize,
    bend: Links<'a>,
    links: Links<'a>,
    soft: SheetSoftness,
    scratch: &'a mut Scratch,
}

impl Kernel for Turned<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            planes,
            columns,
            height,
            bend,
            links,
            soft,
            scratch,
        } = self;
        let Scratch { lines, turned, .. } = scratch;
        let [x, y, z, w] = turned
            .each_mut()
            .map(|plane| &mut plane[..columns * height]);
        for (turned, plane) in [
            (&mut *x, &*planes.x),
            (&mut *y, &*planes.y),
            (&mut *z, &*planes.z),
            (&mut *w, planes.w),
        ] {
            transpose(plane, columns, turned, height, height, columns);
        }
        let threads = Bundle {
            x: Columns::all(x, height),
            y: Columns::all(y, height),
            z: Columns::all(z, height),
            w,
            width: height,
            stride: height,
        };
        let work = Threads {
            threads,
            bend,
            links,
            soft,
            scratch: lines,
        };
        work.run();
        for (turned, plane) in [(x, planes.x), (y, planes.y), (z, planes.z)] {
            transpose(turned, height, plane, columns, columns, height);
        }
    }

    /// The twin is that of the whole pass.
    fn run_scalar(self) {
        self.run();
    }
}

#[inline(always)]
fn bends_along(threads: &mut Bundle, bend: &mut Links, softness: Softness) {
    let length = bend.strip.length;
    if bend.rest.is_empty() {
        return;
    }
    for first in [0, 2] {
        for i in (first..length.saturating_sub(2)).step_by(4) {
            pairs_at(threads, bend, i, 2, softness);
            if i + 3 < length {
                pairs_at(threads, bend, i + 1, 2, softness);
            }
        }
    }
}

#[inline(always)]
fn threads_along(
    threads: &mut Bundle,
    links: &mut Links,
    soft: SheetSoftness,
    scratch: &mut LineScratch,
) {
    let Links {
        strip,
        rest,
        lambda,
    } = links;
    if rest.is_empty() {
        return;
    }
    if soft.direct {
        let softness = soft.stretch;
        solve_lines(threads, *strip, rest, lambda, softness, soft.share, scratch);
        return;
    }
    for first in 0..2 {
        for i in (first..links.strip.length - 1).step_by(2) {
            pairs_at(threads, links, i, 1, soft.stretch);
        }
    }
}

/// The constraints between the particles at one place of all threads and those `reach` farther on.
#[inline(always)]
fn pairs_at(threads: &mut Bundle, links: &mut Links, i: usize, reach: usize, softness: Softness) {
    let [a, b] = threads.rows(i, i + reach);
    let rest = &links.rest[links.strip.links(i)];
    project::<false>(a, b, rest, links.lambda.row_if_any(i), softness);
}

#[cfg(test)]
mod tests;
