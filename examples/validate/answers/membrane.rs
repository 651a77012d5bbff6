//! Stretch and shear of fabric, whatever its mesh.

use super::Row;
use crate::{
    sample::Sample,
    strip::{DENSITY, Strip},
};
use bevy::math::Vec3;
use bevy_drape::{
    mesh::TriangleMesh,
    solver::{Compliance, ThreadSolver},
};

/// m/s². What diagonals carry goes on by one cell in a pass, which adds about gΔts²N²/2 to what N cells give.
/// Here it is little, since fabrics are soft and weigh little; more substeps would have nothing but rounding to add.
const GRAVITY: f64 = 1.0;
const SUBSTEPS: u32 = 20;

/// What is measured together.
#[derive(Clone, Copy)]
enum Line {
    Row,
    Column,
}

/// A piece of fabric that hangs from y = 0, a grid of so many cells.
struct Panel {
    sample: Sample,
    cells: [usize; 2],
    size: [f64; 2],
}

impl Panel {
    fn new(cells: [usize; 2], size: [f64; 2]) -> Self {
        let [columns, rows] = cells;
        let place = |i: usize| {
            let [x, y] = [i % (columns + 1), i / (columns + 1)];
            let at = |i: usize, cells: usize, size: f64| (size * i as f64 / cells as f64) as f32;
            Vec3::new(at(x, columns, size[0]), -at(y, rows, size[1]), 0.0)
        };
        let number = |c: usize, r: usize| (r * (columns + 1) + c) as u32;
        let quads = (0..rows).flat_map(|r| (0..columns).map(move |c| [c, r]));
        let triangles = quads.flat_map(|[c, r]| {
            let [a, b] = [number(c, r), number(c + 1, r)];
            let [d, e] = [number(c, r + 1), number(c + 1, r + 1)];
            [[a, d, b], [b, d, e]]
        });
        let mesh = TriangleMesh {
            positions: (0..(columns + 1) * (rows + 1)).map(place).collect(),
            triangles: triangles.collect(),
            out_of_range: 0,
        };
        let mut sample = Sample::of_mesh(&mesh, DENSITY as f32);
        assert_eq!(sample.constraints.sheets().count(), 1);
        sample.settings.tether_scale = f32::INFINITY;
        sample.settings.substeps = SUBSTEPS;
        sample.settings.damping = 4.0;
        sample.settings.threads = ThreadSolver::Relaxation;
        sample.settings.gravity = Vec3::NEG_Y * GRAVITY as f32;
        Self {
            sample,
            cells,
            size,
        }
    }

    /// Which of its threads hang down: warp, or weft.
    fn warp_hangs(&self) -> bool {
        let sheet = self.sample.constraints.sheets().next().unwrap();
        let first = sheet.first as usize;
        self.sample.at(first).y == self.sample.at(first + 1).y
    }

    /// Pins all particles for which this holds.
    fn pin_where(&mut self, held: impl Fn(Vec3) -> bool) {
        for i in 0..self.sample.particles.len() {
            if held(self.sample.at(i)) {
                self.sample.pin(i as u32);
            }
        }
    }

    /// How far all rows, or all columns, have sunk on average after ten seconds, m.
    fn sinks(mut self, by: Line) -> Vec<f64> {
        let [columns, rows] = self.cells.map(|cells| cells + 1);
        let start: Vec<Vec3> = (0..rows * columns).map(|i| self.sample.at(i)).collect();
        self.sample.run(10.0);
        let line = |at: Vec3| match by {
            Line::Row => -f64::from(at.y) / self.size[1] * (rows - 1) as f64,
            Line::Column => f64::from(at.x) / self.size[0] * (columns - 1) as f64,
        };
        let mut sums = vec![(0.0, 0.0); rows.max(columns)];
        for (i, &from) in start.iter().enumerate() {
            let (sum, count) = &mut sums[line(from).round() as usize];
            *sum += f64::from(from.y - self.sample.at(i).y);
            *count += 1.0;
        }
        let there = sums.into_iter().filter(|(_, count)| *count > 0.0);
        there.map(|(sum, count)| sum / count).collect()
    }
}

/// ΔL = σgL²/2Y: the strain at each place is the weight below it over the stiffness. Measured in the lower
/// half: what is held at the top cannot become narrower there, and is stiffer for it.
pub(crate) fn stretch() -> Vec<Row> {
    let row = |(cells, size, [hanging, across], shear): ([usize; 2], [f64; 2], [f64; 2], f64)| {
        let mut panel = Panel::new(cells, size);
        let [down, aside] = [hanging, across].map(|stiffness| stiffness.recip() as f32);
        let [warp, weft] = if panel.warp_hangs() {
            [down, aside]
        } else {
            [aside, down]
        };
        panel.sample.settings.compliance = Compliance {
            warp,
            weft,
            shear: shear.recip() as f32,
            bending: 0.0,
        };
        panel.pin_where(|at| at.y == 0.0);
        let half = 0.5 * size[1];
        let expected = DENSITY * GRAVITY * half * half / (2.0 * hanging);
        let [c, r] = cells;
        let what = format!(
            "{c} × {r} cells on {} × {} m, {hanging} N/m down, {across} across, shear {shear}, m",
            size[0], size[1],
        );
        let sunk = panel.sinks(Line::Row);
        Row::near(what, expected, sunk[r] - sunk[r / 2], 0.03)
    };
    let [plain, tall, wide] = [[1.0, 1.0], [0.5, 1.0], [2.0, 1.0]];
    [
        ([16, 16], plain, [5.0, 5.0], 1.0),
        ([32, 32], plain, [5.0, 5.0], 1.0),
        // Cells that are not square.
        ([32, 32], tall, [5.0, 5.0], 1.0),
        ([32, 16], wide, [5.0, 5.0], 1.0),
        ([24, 12], plain, [5.0, 5.0], 0.5),
        ([12, 24], plain, [5.0, 5.0], 0.5),
        // Narrow ones: half of their threads are edges.
        ([1, 16], [0.0625, 1.0], [5.0, 5.0], 1.0),
        ([2, 16], [0.0625, 1.0], [5.0, 5.0], 1.0),
        // Two directions that are not alike, and hard to shear.
        ([24, 24], plain, [5.0, 15.0], 2.5),
        ([24, 24], plain, [15.0, 5.0], 2.5),
        ([24, 24], plain, [5.0, 5.0], 4.5),
        // Harder to shear than to stretch along one thread.
        ([16, 16], plain, [5.0, 1000.0], 1000.0),
    ]
    .map(row)
    .into()
}

/// A panel held at one side sinks at the other by σgW²/2G: it is sheared by the weight beyond each place. Of
/// two fabrics, so that what rigid threads still give is not in the difference.
pub(crate) fn shear() -> Vec<Row> {
    let row = |(cells, size, stiffness): ([usize; 2], [f64; 2], f64)| {
        let sinks = |stiffness: f64| {
            let mut panel = Panel::new(cells, size);
            panel.sample.settings.compliance.shear = stiffness.recip() as f32;
            panel.pin_where(|at| at.x == 0.0);
            panel.sinks(Line::Column)[cells[0]]
        };
        let by = |stiffness: f64| DENSITY * GRAVITY * size[0] * size[0] / (2.0 * stiffness);
        let [c, r] = cells;
        let stiffer = 2.0 * stiffness;
        let what = format!(
            "{c} × {r} cells on {} × {} m, {stiffness} N/m less {stiffer} N/m, m",
            size[0], size[1]
        );
        let expected = by(stiffness) - by(stiffer);
        Row::near(what, expected, sinks(stiffness) - sinks(stiffer), 0.03)
    };
    [
        ([8, 8], [1.0, 1.0], 2.5),
        ([16, 16], [1.0, 1.0], 2.5),
        ([24, 24], [1.0, 1.0], 2.5),
        ([16, 16], [0.5, 1.0], 1.25),
        ([12, 24], [1.0, 1.0], 2.5),
        ([24, 12], [1.0, 1.0], 2.5),
    ]
    .map(row)
    .into()
}

/// The same fabric in equilateral triangles, which are no grid.
pub(crate) fn stretch_of_triangles() -> Vec<Row> {
    let row = |links: usize| {
        let (length, stiffness) = (1.0_f64, 10.0_f64);
        let Strip {
            mut sample,
            rows,
            step,
        } = Strip::triangles(links, length);
        sample.settings.gravity = Vec3::X * GRAVITY as f32;
        sample.settings.damping = 4.0;
        sample.settings.threads = ThreadSolver::Relaxation;
        sample.settings.substeps = SUBSTEPS;
        sample.settings.compliance = Compliance::of_threads(stiffness.recip() as f32);
        for &i in &rows[0] {
            sample.pin(i as u32);
        }
        sample.run(10.0);
        let whole = step * links as f64;
        let last = rows[links].iter().map(|&i| f64::from(sample.at(i).x));
        let stretched = last.sum::<f64>() / rows[links].len() as f64 - whole;
        let expected = DENSITY * GRAVITY * whole * whole / (2.0 * stiffness);
        let what = format!("{links} rows of triangles, m");
        Row::near(what, expected, stretched, 0.03)
    };
    [16, 32].map(row).into()
}
