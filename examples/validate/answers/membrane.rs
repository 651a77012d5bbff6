//! Stretch and shear of fabric, on any mesh.

use super::{Experiment, Row};
use crate::{
    mesh_layout::MeshLayout,
    sample::{Sample, as_the_plugin},
    strip::{DENSITY, Strip},
};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::{Cloth, Fabric},
    mesh::{ClothGrid, TriangleMesh},
    solver::{Compliance, StretchSolver},
};

/// Gravity, m/s². Loads on shear constraints propagate by one cell per iteration, which adds about gΔt²N²/2 to
/// the stretch of N cells. This is small here, since the fabrics are soft and light; more substeps would add only
/// rounding errors.
const GRAVITY: f64 = 1.0;
const SUBSTEPS: u32 = 12;
const ITERATIONS: u32 = 2;

/// Particles measured together.
#[derive(Clone, Copy)]
enum Line {
    Row,
    Column,
}

/// Piece of fabric that hangs from y = 0, a grid of cells.
struct Panel {
    sample: Sample,
    cells: [usize; 2],
    size: [f64; 2],
}

impl Panel {
    fn new(cells: [usize; 2], size: [f64; 2]) -> Self {
        let [columns, rows] = cells;
        let position = |i: usize| {
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
            positions: (0..(columns + 1) * (rows + 1)).map(position).collect(),
            triangles: triangles.collect(),
            out_of_range: 0,
        };
        let mut sample = Sample::of_mesh(&mesh, DENSITY as f32);
        assert_eq!(sample.constraints.grids().count(), 1);
        sample.settings.tether_scale = f32::INFINITY;
        sample.settings.substeps = SUBSTEPS;
        sample.settings.iterations = ITERATIONS;
        sample.settings.damping = 4.0;
        sample.settings.stretch_solver = StretchSolver::GaussSeidel;
        sample.settings.gravity = Vec3::NEG_Y * GRAVITY as f32;
        Self {
            sample,
            cells,
            size,
        }
    }

    /// Returns whether the warp is vertical.
    fn warp_is_vertical(&self) -> bool {
        let sheet = self.sample.constraints.grids().next().unwrap();
        let first = sheet.first as usize;
        self.sample.at(first).y == self.sample.at(first + 1).y
    }

    /// Pins all particles that the predicate selects.
    fn pin_where(&mut self, is_pinned: impl Fn(Vec3) -> bool) {
        for i in 0..self.sample.particles.len() {
            if is_pinned(self.sample.at(i)) {
                self.sample.pin(i as u32);
            }
        }
    }

    /// Returns the mean displacement of each row, or column, after ten seconds, m downwards.
    fn displacements(mut self, by: Line) -> Vec<f64> {
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
        let visited = sums.into_iter().filter(|(_, count)| *count > 0.0);
        visited.map(|(sum, count)| sum / count).collect()
    }
}

/// ΔL = σgL²/2Y: the strain at each height is the weight below divided by the stiffness. Measured in the lower
/// half, because pins at the top prevent lateral contraction, which makes the upper part stiffer.
pub(crate) fn stretch() -> Vec<Row> {
    let row = |(cells, size, [hanging, across], shear): ([usize; 2], [f64; 2], [f64; 2], f64)| {
        let mut panel = Panel::new(cells, size);
        let [down, aside] = [hanging, across].map(|stiffness| stiffness.recip() as f32);
        let [warp, weft] = if panel.warp_is_vertical() {
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
        let label = format!(
            "{c} × {r} cells on {} × {} m, {hanging} N/m down, {across} across, shear {shear}, m",
            size[0], size[1],
        );
        let sunk = panel.displacements(Line::Row);
        Row::near(label, expected, sunk[r] - sunk[r / 2], 0.01)
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
        // Narrow panels: half of their chains are borders.
        ([1, 16], [0.0625, 1.0], [5.0, 5.0], 1.0),
        ([2, 16], [0.0625, 1.0], [5.0, 5.0], 1.0),
        // Different stiffness in both directions, and hard to shear.
        ([24, 24], plain, [5.0, 15.0], 2.5),
        ([24, 24], plain, [15.0, 5.0], 2.5),
        ([24, 24], plain, [5.0, 5.0], 4.5),
        // Harder to shear than to stretch in one direction.
        ([16, 16], plain, [5.0, 1000.0], 1000.0),
    ]
    .map(row)
    .into()
}

/// A panel pinned at one side sags at the other by σgW²/2G: the weight beyond each position shears it. Measured as
/// the difference of two fabrics, in which the remaining stretch of rigid chains cancels.
pub(crate) fn shear() -> Vec<Row> {
    let row = |(cells, size, stiffness): ([usize; 2], [f64; 2], f64)| {
        let sinks = |stiffness: f64| {
            let mut panel = Panel::new(cells, size);
            panel.sample.settings.compliance.shear = stiffness.recip() as f32;
            panel.pin_where(|at| at.x == 0.0);
            panel.displacements(Line::Column)[cells[0]]
        };
        let by = |stiffness: f64| DENSITY * GRAVITY * size[0] * size[0] / (2.0 * stiffness);
        let [c, r] = cells;
        let stiffer = 2.0 * stiffness;
        let label = format!(
            "{c} × {r} cells on {} × {} m, {stiffness} N/m less {stiffer} N/m, m",
            size[0], size[1]
        );
        let expected = by(stiffness) - by(stiffer);
        Row::near(label, expected, sinks(stiffness) - sinks(stiffer), 0.03)
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

/// The same fabric as equilateral triangles, without grids.
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
        sample.settings.stretch_solver = StretchSolver::GaussSeidel;
        sample.settings.substeps = SUBSTEPS;
        sample.settings.iterations = ITERATIONS;
        sample.settings.compliance = Compliance::of_stretch(stiffness.recip() as f32);
        for &i in &rows[0] {
            sample.pin(i as u32);
        }
        sample.run(10.0);
        let whole = step * links as f64;
        let last = rows[links].iter().map(|&i| f64::from(sample.at(i).x));
        let stretched = last.sum::<f64>() / rows[links].len() as f64 - whole;
        let expected = DENSITY * GRAVITY * whole * whole / (2.0 * stiffness);
        let label = format!("{links} rows of triangles, m");
        Row::near(label, expected, stretched, 0.03)
    };
    [16, 32].map(row).into()
}

/// Sheets of the elastic presets hang from one side, with the settings of the plugin.
pub(crate) fn stretch_of_presets() -> Vec<Row> {
    let grids = [16, 32].map(|side| stretch_on(MeshLayout::Grid, side));
    [grids.concat(), stretch_on(MeshLayout::Irregular, 32)].concat()
}

/// The same on larger grids and on irregular meshes.
pub(crate) const FULL: &[Experiment] = &[Experiment {
    name: "stretch of presets, all meshes",
    source: "u = σg(sL − s²/2)/Y (Hooke)",
    run: || {
        let grids = [64, 128].map(|side| stretch_on(MeshLayout::Grid, side));
        let irregular = [16, 32, 64, 128].map(|side| stretch_on(MeshLayout::Irregular, side));
        [grids.concat(), irregular.concat()].concat()
    },
}];

fn stretch_on(layout: MeshLayout, side: u32) -> Vec<Row> {
    let elastic = Fabric::PRESETS.iter().filter_map(|&(name, fabric)| {
        let [warp, weft] = [fabric.warp_stiffness?, fabric.weft_stiffness?];
        Some((name, fabric, [("along", warp), ("across", weft)]))
    });
    let rows = elastic.flat_map(|(name, fabric, directions)| {
        directions.map(|(direction, stiffness)| {
            hang(name, fabric, layout, side, direction, stiffness.into())
        })
    });
    rows.collect()
}

/// Compares the elongation of the lower half of a hanging sheet of 1 m with ΔL = σgL²/2Y.
fn hang(
    name: &str,
    fabric: Fabric,
    layout: MeshLayout,
    side: u32,
    direction: &str,
    stiffness: f64,
) -> Row {
    let mesh = TriangleMesh::read(&ClothGrid::vertical(1.0, 1.0, side, side).into());
    let topology = layout.topology(mesh.expect("a grid has triangles"));
    let mut sample = Sample::of_topology(&topology, fabric.areal_density);
    let is_across = direction == "across";
    let cloth = Cloth {
        fabric,
        ..Cloth::default()
    };
    sample.settings = as_the_plugin(&cloth);
    let down = if is_across { Vec3::NEG_X } else { Vec3::NEG_Y };
    sample.settings.gravity = down * 9.81;
    let rest: Vec<f64> = (0..sample.particles.len())
        .map(|i| f64::from(sample.at(i).dot(down)))
        .collect();
    for (i, height) in rest.iter().enumerate() {
        if *height < -0.4999 {
            sample.pin(i as u32);
        }
    }
    sample.run(10.0);
    // Least squares over the particles of the lower half: u = u₀ + a(sL − s²/2), with s the distance from the middle.
    let (mut n, mut sx, mut sy, mut sxx, mut sxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, &height) in rest.iter().enumerate().filter(|(_, height)| **height > 0.0) {
        let x = height * 0.5 - 0.5 * height * height;
        let y = f64::from(sample.at(i).dot(down)) - height;
        (n, sx, sy, sxx, sxy) = (n + 1.0, sx + x, sy + y, sxx + x * x, sxy + x * y);
    }
    let slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    let expected = f64::from(fabric.areal_density) * 9.81 / stiffness;
    let excess = 100.0 * (slope / expected - 1.0).abs();
    let label = format!("{name} {side}² {layout} {direction}: off by, %");
    Row::at_most(label, 5.0, excess)
}
