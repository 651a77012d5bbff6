//! One pass over all constraints of a sheet.

use super::{
    Sheet, SheetLayout,
    coarse::CoarseScratch,
    family::{Family, Groups, LANES},
    project::{Planes, project},
    strip::{Links, Tile, copy_warp, write_warp},
    transpose::{turn_back, turn_weft},
    twin,
};
use crate::solver::{
    relax::{Points, Softness},
    simd::{Kernel, dispatch},
};

/// Room for work.
#[derive(Default)]
pub(in crate::solver) struct Scratch {
    coarse: CoarseScratch,
    /// The particles of a strip, and what is kept of each of its links.
    tiles: Vec<f32>,
    kept: Vec<f32>,
}

/// It holds nothing that is worth comparing.
impl PartialEq for Scratch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Nor worth copying.
impl Clone for Scratch {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scratch")
    }
}

impl Scratch {
    fn fit(&mut self, layout: &SheetLayout) {
        self.coarse.fit(layout);
        let lines = layout.rows.max(layout.columns) as usize * LANES;
        for (room, numbers) in [(&mut self.tiles, 4), (&mut self.kept, 6)] {
            if room.len() < numbers * lines {
                room.resize(numbers * lines, 0.0);
            }
        }
    }
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
    points: &mut Points,
    sheet: &mut Sheet,
    softness: SheetSoftness,
    scratch: &mut Scratch,
) {
    scratch.fit(&sheet.layout);
    let particles = sheet.layout.particles();
    let planes = Planes {
        x: &mut points.x[particles.clone()],
        y: &mut points.y[particles.clone()],
        z: &mut points.z[particles.clone()],
        w: &points.w[particles],
    };
    dispatch(SheetPass {
        planes,
        sheet,
        softness,
        scratch,
    });
}

struct SheetPass<'a> {
    planes: Planes<'a>,
    sheet: &'a mut Sheet,
    softness: SheetSoftness,
    scratch: &'a mut Scratch,
}

impl Kernel for SheetPass<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            mut planes,
            sheet,
            softness: soft,
            scratch,
        } = self;
        let layout = sheet.layout;
        let columns = layout.columns as usize;
        if soft.coarse {
            let coarse = &mut scratch.coarse;
            let hierarchy = &mut sheet.coarse;
            let (stretch, shear) = (soft.stretch, soft.shear);
            hierarchy.hold(&mut planes, columns, stretch, shear, coarse);
        }
        let [down, up, bend_warp, warp, bend_weft, weft] = &mut sheet.families;
        diagonals(&mut planes, columns, down, [0, 1], soft.shear);
        diagonals(&mut planes, columns, up, [1, 0], soft.shear);
        for is_weft in [false, true] {
            let (bend, thread) = if is_weft {
                (&mut *bend_weft, &mut *weft)
            } else {
                (&mut *bend_warp, &mut *warp)
            };
            if bend.len() + thread.len() == 0 {
                continue;
            }
            let strips = Strips {
                planes: &mut planes,
                layout: &layout,
                bend,
                thread,
                soft,
            };
            let threads = if is_weft { layout.rows } else { layout.columns };
            match (Groups::of(threads as usize).size(), is_weft) {
                (LANES, false) => strips.warp::<LANES>(scratch),
                (LANES, true) => strips.weft::<LANES>(scratch),
                (4, false) => strips.warp::<4>(scratch),
                (4, true) => strips.weft::<4>(scratch),
                (_, false) => strips.warp::<1>(scratch),
                (_, true) => strips.weft::<1>(scratch),
            }
        }
    }

    fn run_scalar(self) {
        let coarse = &mut self.scratch.coarse;
        twin::pass(self.planes, self.sheet, self.softness, coarse);
    }
}

#[inline(always)]
fn diagonals(
    planes: &mut Planes,
    columns: usize,
    family: &mut Family,
    [from, to]: [usize; 2],
    softness: Softness,
) {
    if family.len() == 0 {
        return;
    }
    let links = columns - 1;
    let groups = Groups::of(links);
    let stored = groups.len() * groups.size();
    // All groups that begin where the one before ends can be taken as one, the last one alone.
    let last = groups.start(groups.len() - 1);
    let rows = family.rest.len() / stored;
    for first in 0..2 {
        for r in (first..rows).step_by(2) {
            let rest = r * stored..(r + 1) * stored;
            let (rest, lambda) = (&family.rest[rest.clone()], part(&mut family.lambda, rest));
            let whole = stored - groups.size();
            let (a, b) = (r * columns + from, (r + 1) * columns + to);
            for (start, of) in [(0, 0..whole), (last, whole..stored)] {
                let [a, b] = planes.rows(a + start, b + start, of.len());
                let lambda = part(&mut *lambda, of.clone());
                project::<false>(a, b, &rest[of], lambda, softness);
            }
        }
    }
}

/// The λ of some constraints, or none.
#[inline(always)]
fn part(all: &mut [f32], range: std::ops::Range<usize>) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[range] }
}

/// The strips of warp or of weft.
struct Strips<'a, 'b> {
    planes: &'a mut Planes<'b>,
    layout: &'a SheetLayout,
    bend: &'a mut Family,
    thread: &'a mut Family,
    soft: SheetSoftness,
}

impl Strips<'_, '_> {
    #[inline(always)]
    fn warp<const W: usize>(mut self, scratch: &mut Scratch) {
        let [rows, columns] = [self.layout.rows as usize, self.layout.columns as usize];
        let groups = Groups::of(columns);
        for group in 0..groups.len() {
            let start = groups.start(group);
            let tiles = tiles::<W>(&mut scratch.tiles, rows);
            copy_warp(self.planes, columns, start, tiles);
            self.solve(group, tiles, &mut scratch.kept);
            write_warp(tiles, self.planes, columns, start);
        }
    }

    #[inline(always)]
    fn weft<const W: usize>(mut self, scratch: &mut Scratch) {
        let [rows, columns] = [self.layout.rows as usize, self.layout.columns as usize];
        let groups = Groups::of(rows);
        for group in 0..groups.len() {
            let start = groups.start(group);
            let tiles = tiles::<W>(&mut scratch.tiles, columns);
            turn_weft(self.planes, columns, start, tiles);
            self.solve(group, tiles, &mut scratch.kept);
            turn_back(tiles, self.planes, columns, start);
        }
    }

    /// Bending and stretching of one strip.
    #[inline(always)]
    fn solve<const W: usize>(&mut self, group: usize, tiles: &mut [Tile<W>], kept: &mut [f32]) {
        let length = tiles.len();
        if self.bend.len() > 0 {
            links(self.bend, group, length - 2).bend(tiles, self.soft.bend);
        }
        if self.thread.len() > 0 {
            let links = links(self.thread, group, length - 1);
            if self.soft.direct {
                let (kept, _) = kept.as_chunks_mut::<W>();
                let (kept, _) = kept.as_chunks_mut::<6>();
                links.solve(tiles, self.soft.stretch, self.soft.share, kept);
            } else {
                links.relax(tiles, self.soft.stretch);
            }
        }
    }
}

#[inline(always)]
fn tiles<const W: usize>(room: &mut [f32], length: usize) -> &mut [Tile<W>] {
    let (tiles, _) = room.as_chunks_mut::<W>();
    let (tiles, _) = tiles.as_chunks_mut::<4>();
    &mut tiles[..length]
}

/// The links of a strip of threads that have so many.
#[inline(always)]
fn links<const W: usize>(family: &mut Family, strip: usize, count: usize) -> Links<'_, W> {
    let (rest, _) = family.rest.as_chunks::<W>();
    let (lambda, _) = family.lambda.as_chunks_mut::<W>();
    let of = strip * count..(strip + 1) * count;
    Links {
        rest: &rest[of.clone()],
        lambda: if lambda.is_empty() {
            lambda
        } else {
            &mut lambda[of]
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::SheetLayout;
    use crate::solver::{
        Compliance, ConstraintGraph, ConstraintKind, ParticleArrays, Relaxation, SimdLevel,
        SoaVec3, Strength, ThreadSolver, relax,
    };
    use bevy::math::Vec3;

    /// A sheet with all six families, disturbed, with pins and holes.
    fn sheet(columns: u32, rows: u32) -> (ParticleArrays, ConstraintGraph) {
        let place = |i: u32| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0);
        let rest: SoaVec3 = (0..columns * rows).map(place).collect();
        let mut pairs = Vec::new();
        for i in 0..columns * rows {
            let (r, c) = (i / columns, i % columns);
            let mut pair = |there: bool, kind, from: u32, to: u32| {
                if there {
                    pairs.push((kind, from, to));
                }
            };
            pair(c + 1 < columns, ConstraintKind::Structural, i, i + 1);
            pair(r + 1 < rows, ConstraintKind::Structural, i, i + columns);
            pair(c + 2 < columns, ConstraintKind::Bend, i, i + 2);
            pair(r + 2 < rows, ConstraintKind::Bend, i, i + 2 * columns);
            let inside = c + 1 < columns && r + 1 < rows;
            pair(inside, ConstraintKind::Shear, i, i + columns + 1);
            pair(inside, ConstraintKind::Shear, i + 1, i + columns);
        }
        let layout = SheetLayout {
            first: 0,
            columns,
            rows,
        };
        let mut graph = ConstraintGraph::woven(&rest, &pairs, &[layout]);
        assert_eq!(graph.sheets().count(), 1);
        assert!(graph.batches.is_empty());
        assert_eq!(graph.len(), pairs.len());
        let hole = columns * rows / 2;
        graph.retain(|c| c.particles[0] != hole);
        let moved = rest
            .iter()
            .enumerate()
            .map(|(i, v)| v * 1.02 + Vec3::splat((i * i % 13) as f32 * 0.01))
            .collect();
        let w = (0..columns * rows).map(|i| (i % 5) as f32).collect();
        (ParticleArrays::new(Vec3::ZERO, moved, w), graph)
    }

    fn settings(threads: ThreadSolver, iterations: u32) -> Relaxation {
        Relaxation {
            compliance: Compliance {
                stretch: 1e-5,
                shear: 1e-4,
                bend: 1e-3,
            },
            threads,
            iterations,
            dt: 0.01,
            strength: Strength::part(0.8),
            loads: false,
        }
    }

    /// What the loops over rows give, at every level that this processor has, is what the formulas
    /// give one constraint at a time.
    #[test]
    fn rows_give_the_bits_of_single_constraints_at_every_level() {
        for (columns, rows) in [(2, 2), (20, 20), (33, 70), (70, 5), (100, 40)] {
            for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
                for iterations in [1, 3] {
                    let mut expected = None;
                    for level in SimdLevel::ALL {
                        if !level.force() {
                            continue;
                        }
                        let (mut p, mut graph) = sheet(columns, rows);
                        graph.prepare(&p);
                        relax(&mut p, &mut graph, &settings(threads, iterations));
                        assert!(p.position.is_finite());
                        let expected = expected.get_or_insert(p.clone());
                        assert!(
                            *expected == p,
                            "{columns}×{rows}, {threads:?}, {iterations} iterations, {level:?}"
                        );
                    }
                    SimdLevel::best().force();
                }
            }
        }
    }

    /// Relaxed, a sheet is what its constraints are without a sheet, but for their order; both must
    /// come to the same end.
    #[test]
    fn a_sheet_comes_to_rest_where_single_constraints_do() {
        let (p, mut woven) = sheet(12, 9);
        woven.retain(|c| c.kind != ConstraintKind::Bend);
        let pairs: Vec<_> = woven
            .iter()
            .map(|c| (c.kind, c.particles[0], c.particles[1]))
            .collect();
        let rest: SoaVec3 = (0..108)
            .map(|i| Vec3::new((i % 12) as f32, (i / 12) as f32, 0.0))
            .collect();
        let mut single = ConstraintGraph::new(&rest, &pairs);
        let end = |graph: &mut ConstraintGraph, threads| {
            let mut p = p.clone();
            p.inverse_mass.fill(1.0);
            graph.prepare(&p);
            let by = Relaxation {
                compliance: Compliance::default(),
                strength: Strength::default(),
                ..settings(threads, 3000)
            };
            relax(&mut p, graph, &by);
            crate::solver::measure_stretch(&p, graph).max
        };
        for threads in [ThreadSolver::Direct, ThreadSolver::Relaxation] {
            assert!(end(&mut woven, threads).abs() < 1e-4);
            assert!(end(&mut single, threads).abs() < 1e-4);
        }
    }

    /// Momentum is kept, long distances included.
    #[test]
    fn nobody_is_pushed_who_does_not_push() {
        let (mut p, mut graph) = sheet(40, 30);
        for (i, w) in p.inverse_mass.iter_mut().enumerate() {
            *w = 1.0 + (i % 7) as f32;
        }
        for x in &mut p.position.x {
            *x *= 1.1;
        }
        let centre = |p: &ParticleArrays| {
            let sum = p.position.iter().zip(&p.inverse_mass);
            sum.fold(bevy::math::DVec3::ZERO, |sum, (x, w)| {
                sum + x.as_dvec3() / f64::from(*w)
            })
        };
        let before = (centre(&p), p.position.clone());
        graph.prepare(&p);
        relax(&mut p, &mut graph, &settings(ThreadSolver::Direct, 1));
        assert_ne!(p.position, before.1);
        let mass: f64 = p.inverse_mass.iter().map(|w| f64::from(1.0 / w)).sum();
        let drift = (centre(&p) - before.0).length() / mass;
        assert!(drift < 2e-6, "{drift} m");
    }
}
