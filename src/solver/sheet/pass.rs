//! One pass over all constraints of a sheet.

use super::{
    Sheet, SheetLayout,
    coarse::CoarseScratch,
    family::{BLOCK, Family},
    lines::{LineScratch, Strip, solve_lines},
    project::{Planes, project},
    transpose::transpose,
    twin,
};
use crate::solver::{
    relax::{Points, Softness},
    simd::{Kernel, dispatch},
};

/// Threads of warp that are solved side by side.
const STRIP: usize = 64;

/// Room for work.
#[derive(Default)]
pub(in crate::solver) struct Scratch {
    lines: LineScratch,
    coarse: CoarseScratch,
    /// Some rows, turned into columns: x, y, z, w.
    turned: [Vec<f32>; 4],
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
        let [rows, columns] = [layout.rows as usize, layout.columns as usize];
        self.lines.fit(STRIP.min(columns), rows);
        self.lines.fit(BLOCK.min(rows), columns);
        self.coarse.fit(layout);
        for plane in &mut self.turned {
            let size = columns * BLOCK.min(rows);
            if plane.len() < size {
                plane.resize(size, 0.0);
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
            let [_, _, _, warp, _, weft] = &sheet.families;
            let threads = [&weft.rest[..], &warp.rest[..]];
            let hierarchy = &mut sheet.coarse;
            let (stretch, shear) = (soft.stretch, soft.shear);
            hierarchy.hold(&mut planes, columns, threads, stretch, shear, coarse);
        }
        let [down, up, bend_warp, warp, bend_weft, weft] = &mut sheet.families;
        diagonals(&mut planes, columns, down, [0, 1], soft.shear);
        diagonals(&mut planes, columns, up, [1, 0], soft.shear);
        warps(
            &mut planes,
            &layout,
            bend_warp,
            warp,
            soft,
            &mut scratch.lines,
        );
        wefts(&mut planes, &layout, bend_weft, weft, soft, scratch);
    }

    fn run_scalar(self) {
        let coarse = &mut self.scratch.coarse;
        twin::pass(self.planes, self.sheet, self.softness, coarse);
    }
}

/// The constraints of a row, or none.
#[inline(always)]
fn part(all: &mut [f32], range: std::ops::Range<usize>) -> &mut [f32] {
    if all.is_empty() { all } else { &mut all[range] }
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
    let rows = family.rest.len() / links;
    for first in 0..2 {
        for r in (first..rows).step_by(2) {
            let range = r * links..(r + 1) * links;
            let [a, b] = planes.rows(r * columns + from, (r + 1) * columns + to, links);
            let rest = &family.rest[range.clone()];
            project::<false>(a, b, rest, part(&mut family.lambda, range), softness);
        }
    }
}

/// Bending and stretching along columns, strip by strip.
#[inline(always)]
fn warps(
    planes: &mut Planes,
    layout: &SheetLayout,
    bend: &mut Family,
    warp: &mut Family,
    soft: SheetSoftness,
    scratch: &mut LineScratch,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    for start in (0..columns).step_by(STRIP) {
        let strip = Strip {
            start,
            stride: columns,
            width: STRIP.min(columns - start),
            length: rows,
            rest_start: start,
            rest_stride: columns,
        };
        bends_along(planes, strip, bend, soft.bend);
        threads_along(planes, strip, warp, soft, scratch);
    }
}

/// The same along rows, which are turned into columns block by block.
#[inline(always)]
fn wefts(
    planes: &mut Planes,
    layout: &SheetLayout,
    bend: &mut Family,
    weft: &mut Family,
    soft: SheetSoftness,
    scratch: &mut Scratch,
) {
    let [rows, columns] = [layout.rows as usize, layout.columns as usize];
    let [x, y, z, w] = &mut scratch.turned;
    for first in (0..rows).step_by(BLOCK) {
        let height = BLOCK.min(rows - first);
        let block = first * columns..(first + height) * columns;
        for (turned, plane) in [
            (&mut *x, &*planes.x),
            (&mut *y, &*planes.y),
            (&mut *z, &*planes.z),
            (&mut *w, planes.w),
        ] {
            let plane = &plane[block.clone()];
            transpose(plane, columns, turned, height, height, columns);
        }
        let mut turned = Planes { x, y, z, w };
        let strip = Strip {
            start: 0,
            stride: height,
            width: height,
            length: columns,
            rest_start: first * (columns - 1),
            rest_stride: height,
        };
        let bends = Strip {
            rest_start: first * columns.saturating_sub(2),
            ..strip
        };
        bends_along(&mut turned, bends, bend, soft.bend);
        threads_along(&mut turned, strip, weft, soft, &mut scratch.lines);
        for (turned, plane) in [
            (&*x, &mut *planes.x),
            (&*y, &mut *planes.y),
            (&*z, &mut *planes.z),
        ] {
            let plane = &mut plane[block.clone()];
            transpose(turned, height, plane, columns, columns, height);
        }
    }
}

#[inline(always)]
fn bends_along(planes: &mut Planes, strip: Strip, family: &mut Family, softness: Softness) {
    if family.len() == 0 {
        return;
    }
    for first in [0, 2] {
        for i in (first..strip.length.saturating_sub(2)).step_by(4) {
            pairs_at(planes, strip, i, 2, family, softness);
            if i + 3 < strip.length {
                pairs_at(planes, strip, i + 1, 2, family, softness);
            }
        }
    }
}

#[inline(always)]
fn threads_along(
    planes: &mut Planes,
    strip: Strip,
    family: &mut Family,
    soft: SheetSoftness,
    scratch: &mut LineScratch,
) {
    if family.len() == 0 {
        return;
    }
    if soft.direct {
        let (rest, lambda) = (&family.rest, &mut family.lambda);
        let softness = soft.stretch;
        solve_lines(planes, strip, rest, lambda, softness, soft.share, scratch);
        return;
    }
    for first in 0..2 {
        for i in (first..strip.length - 1).step_by(2) {
            pairs_at(planes, strip, i, 1, family, soft.stretch);
        }
    }
}

/// The constraints between the particles at one place of all threads and those `reach` farther on.
#[inline(always)]
fn pairs_at(
    planes: &mut Planes,
    strip: Strip,
    i: usize,
    reach: usize,
    family: &mut Family,
    softness: Softness,
) {
    let links = strip.links(i);
    let a = strip.start + i * strip.stride;
    let [a, b] = planes.rows(a, a + reach * strip.stride, strip.width);
    let rest = &family.rest[links.clone()];
    project::<false>(a, b, rest, part(&mut family.lambda, links), softness);
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
