//! One pass over all constraints of a sheet, cut into parts that share no particle.
//!
//! Diagonals are taken by every second row, then the others: a part is some pairs of rows. Of warp a
//! part is some columns, of weft some rows. The cut depends on the sheet alone.

use super::{
    Sheet, SheetLayout,
    family::Family,
    groups::{Groups, LANES},
    project::{Planes, project},
    strip::{GroupLinks, copy_warp, write_warp},
    transpose::{turn_back, turn_weft},
    twin,
};
use crate::solver::{
    aligned::AlignedVec,
    columns::Columns,
    crew::{Leader, PART, Parts},
    relax::{Points, Softness},
    simd::{Kernel, SimdLevel, dispatch},
    split::split,
    thread::{ROOM, Tile},
};
use std::{cell::RefCell, ops::Range};

/// Room for work: the particles of a strip, and what is kept of each of its links.
#[derive(Default)]
struct Scratch {
    tiles: AlignedVec,
    kept: AlignedVec,
}

impl Scratch {
    /// Makes room for threads of so many particles.
    fn fit(&mut self, length: usize) {
        for (room, numbers) in [(&mut self.tiles, 4), (&mut self.kept, ROOM)] {
            if room.len() < numbers * length * LANES {
                room.resize(numbers * length * LANES, 0.0);
            }
        }
    }
}

thread_local! {
    /// One for each thread, whatever cloths it works on: it stays in the cache.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Sheets with more particles along a side need their long distances in every substep: in every second
/// one, a 128² cloth draped over a ball is as good, but a 256² one is stretched by a tenth more.
pub(super) const EVERY_TIME: u32 = 160;

/// How soft the constraints of a sheet are, and how its threads are solved.
#[derive(Clone, Copy)]
pub(in crate::solver) struct SheetSoftness {
    pub(in crate::solver) warp: Softness,
    pub(in crate::solver) weft: Softness,
    pub(in crate::solver) shear: Softness,
    /// α̃ is 1/(BΔt²); what each bend gives comes to it. `None` if it bends freely, or has been straightened
    /// in this substep.
    pub(in crate::solver) bend: Option<Softness>,
    /// Whole threads at once; otherwise every second link of them, then the others.
    pub(in crate::solver) direct: bool,
    /// Which share of its correction a whole thread gets.
    pub(in crate::solver) share: f32,
    /// What multiple of its rest length the fabric lets no thread exceed, if there is such a limit.
    pub(in crate::solver) limit: Option<f32>,
    /// Threads with links that are longer than this multiple of their rest lengths are solved again: at the
    /// limit, or where folds have kept them from being pulled.
    pub(in crate::solver) longest: Option<f32>,
    /// Long distances are held too, as threads are or at the limit,
    pub(in crate::solver) coarse: bool,
    /// those of small sheets if it is their turn.
    pub(in crate::solver) is_turn: bool,
    /// Nothing but bends, and of the ways of particles instead of their places.
    pub(in crate::solver) damping: bool,
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
    if soft.coarse && (soft.is_turn || layout.rows.max(layout.columns) > EVERY_TIME) {
        sheet.hold_long_distances(leader, &mut planes, soft);
    }
    let stiff = sheet.is_stiff(&soft);
    let [down, up, bend_warp, warp, bend_weft, weft] = &mut sheet.families;
    if !soft.damping {
        diagonals(leader, &mut planes, &layout, [down, up], soft.shear);
    }
    warps(leader, &mut planes, &layout, [bend_warp, warp], stiff, soft);
    wefts(leader, &mut planes, &layout, [bend_weft, weft], stiff, soft);
}

/// Both diagonals of the cells between every second pair of rows, then of those between the others.
fn diagonals(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    families: [&mut Family; 2],
    softness: Softness,
) {
    let [down, up] = families;
    if down.len() + up.len() == 0 {
        return;
    }
    let columns = layout.columns as usize;
    let groups = Groups::of(columns - 1);
    let stored = groups.stored();
    let pairs = (PART / (2 * columns)).max(1);
    for first in 0..2 {
        let size = 2 * pairs * stored;
        let [down, up] = [&mut *down, &mut *up].map(|family| {
            let rest = family.rest.get(first * stored..).unwrap_or_default();
            let lambda = family.lambda.get_mut(first * stored..).unwrap_or_default();
            let parts = rest.chunks(size);
            let own = move |part: usize| part * size..((part + 1) * size).min(rest.len());
            let own = (0..parts.len()).map(own);
            parts.zip(split(lambda, own))
        });
        let rows = planes.parts(first * columns, 2 * pairs * columns);
        leader.each(rows.zip(down).zip(up), |((planes, down), up)| {
            dispatch(Diagonals {
                planes,
                columns,
                groups,
                down,
                up,
                softness,
            });
        });
    }
}

/// Particles of a bunch of rows.
const BUNCH: usize = 1024;

/// The diagonals between the rows of some pairs.
struct Diagonals<'a> {
    planes: Planes<'a>,
    columns: usize,
    groups: Groups,
    /// Rest lengths and λ from the first row of the first pair on, with what is between the pairs.
    down: (&'a [f32], &'a mut [f32]),
    up: (&'a [f32], &'a mut [f32]),
    softness: Softness,
}

impl Kernel for Diagonals<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            mut planes,
            columns,
            groups,
            mut down,
            mut up,
            softness,
        } = self;
        let stored = groups.stored();
        // All groups that begin where the one before ends can be taken as one, the last one alone.
        let whole = stored - groups.size();
        let last = groups.start(groups.len() - 1);
        let rows = down.0.len() / stored;
        // Some pairs of rows at a time, so that nothing is loaded again while it is still on its way to
        // the cache, but all is still there.
        let bunch = (BUNCH / columns).max(2).next_multiple_of(2);
        for first in (0..rows).step_by(bunch) {
            for ((rest, lambda), shift) in [(&mut down, [0, 1]), (&mut up, [1, 0])] {
                for (start, of) in [(0, 0..whole), (last, whole..stored)] {
                    for pair in (first..rows.min(first + bunch)).step_by(2) {
                        let own = pair * stored + of.start..pair * stored + of.end;
                        let a = pair * columns + shift[0] + start;
                        let b = (pair + 1) * columns + shift[1] + start;
                        let [a, b] = planes.rows(a, b, of.len());
                        let rest = &rest[own.clone()];
                        project::<false>(a, b, rest, part(lambda, own), softness);
                    }
                }
            }
        }
    }

    /// The twin is that of the whole pass.
    fn run_scalar(self) {
        self.run();
    }
}

/// The λ of some constraints, or none.
#[inline(always)]
fn part(all: &mut [f32], range: Range<usize>) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[range] }
}

/// Bending and stretching along columns.
fn warps(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    [bend, warp]: [&mut Family; 2],
    stiff: bool,
    soft: SheetSoftness,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let groups = Groups::of(columns);
    let strips = |plane| Columns::all(plane, columns).strips(groups.ranges());
    let places = strips(planes.x).zip(strips(planes.y)).zip(strips(planes.z));
    let fibres = fibres(groups, rows, [bend, warp], stiff);
    let w = planes.w;
    leader.each(places.zip(fibres), |(((x, y), z), fibres)| {
        let start = groups.start(fibres.groups.start);
        let w = &w[start..];
        solve(
            Warp { x, y, z, w, start },
            groups,
            rows,
            fibres,
            soft,
            soft.warp,
        );
    });
}

/// The same along rows.
fn wefts(
    leader: &mut Leader,
    planes: &mut Planes,
    layout: &SheetLayout,
    [bend, weft]: [&mut Family; 2],
    stiff: bool,
    soft: SheetSoftness,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let groups = Groups::of(rows);
    let rows = groups.ranges();
    let particles = rows.map(move |rows| rows.start * columns..rows.end * columns);
    let fibres = fibres(groups, columns, [bend, weft], stiff);
    leader.each(planes.split(particles).zip(fibres), |(planes, fibres)| {
        let start = groups.start(fibres.groups.start);
        solve(
            Weft { planes, start },
            groups,
            columns,
            fibres,
            soft,
            soft.weft,
        );
    });
}

/// What some groups of threads are made of.
struct Fibres<'a> {
    groups: Range<usize>,
    /// Whether bends are solved all at once.
    stiff: bool,
    bend: GroupLinks<'a>,
    thread: GroupLinks<'a>,
}

/// Cuts bend constraints and threads, of so many particles each, into parts.
fn fibres<'a>(
    groups: Groups,
    length: usize,
    [bend, thread]: [&'a mut Family; 2],
    stiff: bool,
) -> impl Parts<Item = Fibres<'a>> {
    let size = groups.size();
    let links = |family: &'a mut Family, reach: usize| {
        let count = length.saturating_sub(reach) * size;
        let own = move |part: Range<usize>| part.start * count..part.end * count;
        let has_any = family.len() > 0;
        let rest = if has_any { &family.rest[..] } else { &[] };
        let lambda = split(&mut family.lambda, groups.parts().map(own));
        let parts = groups.parts().zip(lambda);
        parts.map(move |(part, lambda)| GroupLinks {
            rest: rest.get(own(part)).unwrap_or_default(),
            lambda,
        })
    };
    let (bend, thread) = (links(bend, 2), links(thread, 1));
    let parts = groups.parts().zip(bend.zip(thread));
    parts.map(move |(groups, (bend, thread))| Fibres {
        groups,
        stiff,
        bend,
        thread,
    })
}

/// Where the particles of threads are.
trait Place {
    /// Copies those of `W` threads, from thread number `start` of the sheet on.
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]);
    /// Writes them back.
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]);
}

/// Some columns, the first of which is number `start` of the sheet.
struct Warp<'a> {
    x: Columns<'a>,
    y: Columns<'a>,
    z: Columns<'a>,
    /// From the first of these columns on.
    w: &'a [f32],
    start: usize,
}

impl Place for Warp<'_> {
    #[inline(always)]
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]) {
        let start = start - self.start;
        let stride = self.x.stride();
        for (tile, w) in to.iter_mut().zip(self.w.chunks(stride)) {
            tile[3].copy_from_slice(&w[start..start + W]);
        }
        for (plane, axis) in [&mut self.x, &mut self.y, &mut self.z].into_iter().zip(0..) {
            copy_warp(plane, start, axis, to);
        }
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]) {
        let start = start - self.start;
        for (plane, axis) in [&mut self.x, &mut self.y, &mut self.z].into_iter().zip(0..) {
            write_warp(plane, start, axis, from);
        }
    }
}

/// Some rows, the first of which is number `start` of the sheet.
struct Weft<'a> {
    planes: Planes<'a>,
    start: usize,
}

impl Place for Weft<'_> {
    #[inline(always)]
    fn copy<const W: usize>(&mut self, start: usize, to: &mut [Tile<W>]) {
        turn_weft(&self.planes, to.len(), start - self.start, to);
    }

    #[inline(always)]
    fn write<const W: usize>(&mut self, start: usize, from: &[Tile<W>]) {
        turn_back(from, &mut self.planes, from.len(), start - self.start);
    }
}

/// Solves some threads of so many particles, group by group.
fn solve<P: Place>(
    place: P,
    groups: Groups,
    length: usize,
    fibres: Fibres,
    soft: SheetSoftness,
    stretch: Softness,
) {
    SCRATCH.with_borrow_mut(|scratch| {
        scratch.fit(length);
        dispatch(Threads {
            place,
            groups,
            length,
            fibres,
            soft,
            stretch,
            scratch,
        });
    });
}

struct Threads<'a, P> {
    place: P,
    groups: Groups,
    length: usize,
    fibres: Fibres<'a>,
    soft: SheetSoftness,
    /// Of its threads.
    stretch: Softness,
    scratch: &'a mut Scratch,
}

impl<P: Place> Kernel for Threads<'_, P> {
    #[inline(always)]
    fn run(self) {
        match self.groups.size() {
            LANES => self.solve::<LANES>(),
            4 => self.solve::<4>(),
            _ => self.solve::<1>(),
        }
    }

    /// The twin is that of the whole pass.
    fn run_scalar(self) {
        self.run();
    }
}

impl<P: Place> Threads<'_, P> {
    #[inline(always)]
    fn solve<const W: usize>(mut self) {
        let soft = self.soft;
        let (tiles, _) = self.scratch.tiles.as_chunks_mut::<W>();
        let (tiles, _) = tiles.as_chunks_mut::<4>();
        let tiles = &mut tiles[..self.length];
        let (kept, _) = self.scratch.kept.as_chunks_mut::<W>();
        let Fibres {
            groups,
            stiff,
            mut bend,
            mut thread,
        } = self.fibres;
        for (number, group) in groups.enumerate() {
            let start = self.groups.start(group);
            self.place.copy(start, tiles);
            if let Some(by) = soft.bend
                && let Some(bend) = bend.of_group::<W>(number, self.length.saturating_sub(2))
            {
                bend.bend(tiles, by, stiff, kept);
            }
            if !soft.damping
                && let Some(thread) = thread.of_group::<W>(number, self.length - 1)
            {
                thread.pull(tiles, &soft, self.stretch, kept);
            }
            self.place.write(start, tiles);
        }
    }
}

#[cfg(test)]
mod tests;
