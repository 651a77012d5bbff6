//! From the stiffness of a fabric to that of its constraints, whatever the mesh.
//!
//! A constraint of length ℓ that stands for a strip of fabric as wide as b has the compliance ℓ/(Yb), with the
//! stiffness Y of the fabric in N/m. Its aspect ℓ/b is 1 where cells are square, so that compliances do not
//! change with the size of cells.
//!
//! One aspect serves all constraints of a sheet in one direction. It follows from energy: stretched by ε, a
//! fabric of area A holds YAε²/2, and springs of stiffness k hold kΣℓ²ε²/2, so that k = YA/Σℓ². (For one edge
//! between two triangles that is k = YA/ℓ², as in Van Gelder, "Approximate Simulation of Elastic Membranes by
//! Triangulated Spring Meshes", 1998.) Sheared by γ, a cell of area A with the diagonals D holds GAγ²/2, and
//! its diagonals, which change by ±Aγ/D, hold kγ²A²/D².
//!
//! Diagonals resist being stretched too; threads are as much softer, see
//! [`threads_beside_diagonals`](Aspects::threads_beside_diagonals).
//!
//! What is in no sheet has the mean of the whole cloth: one aspect for threads in two directions, if its cells
//! have diagonals, or in three.

use super::{
    constraints::{Compliance, ConstraintGraph, ConstraintKind, distance},
    corners::Corners,
    sheet::{Sheet, SheetLayout},
    soa::SoaVec3,
};

/// What stands for rigid in numbers, m/N.
const RIGID: f32 = 1e-9;

/// Diagonals that would leave threads less than this share of the stiffness of the fabric are made softer, in
/// strides.
const LEAST: f64 = 0.1;
const STRIDE: f64 = 0.5;
const STRIDES: usize = 40;

/// Enough for a few thousandths where diagonals are very stiff, for more elsewhere.
const ROUNDS: usize = 20;

/// No cell is so many times as long as wide.
const MOST: f32 = 1e6;

/// Length over width, of threads in both directions and of diagonals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Aspects {
    pub(super) warp: f32,
    pub(super) weft: f32,
    pub(super) shear: f32,
    /// r²: cells are r times as long along the weft as along the warp.
    pub(super) oblong: f32,
}

impl Default for Aspects {
    /// Those of squares.
    fn default() -> Self {
        Self {
            warp: 1.0,
            weft: 1.0,
            shear: 1.0,
            oblong: 1.0,
        }
    }
}

impl Aspects {
    /// From sums over the fabric, of warp, weft, shear and how oblong cells are; what has no area is as
    /// squares are.
    fn of(ratios: [[f64; 2]; 4]) -> Self {
        let [warp, weft, shear, oblong] = ratios.map(|[above, below]| {
            let ratio = (above / below) as f32;
            if is_usable(ratio) { ratio } else { 1.0 }
        });
        Self {
            warp,
            weft,
            shear,
            oblong,
        }
    }

    /// From what a fabric gives to what each constraint gives, m/N, in cells with or without diagonals.
    pub(super) fn constraints(&self, fabric: &Compliance, diagonals: bool) -> Compliance {
        let [warp, weft, shear] = if diagonals && fabric.is_elastic() {
            self.threads_beside_diagonals(fabric)
        } else {
            [fabric.warp, fabric.weft, fabric.shear]
        };
        Compliance {
            warp: self.warp * warp,
            weft: self.weft * weft,
            shear: self.shear * shear,
            bending: fabric.bending,
        }
    }

    /// How much threads must give in both directions, and diagonals, m/N, so that they give together what the
    /// fabric does: diagonals resist being stretched too.
    ///
    /// With the strains ε and η along warp and weft, and cells r times as long along the weft as along the
    /// warp, threads of the stiffnesses u and v and diagonals hold (uε² + vη² + G(ε/r + rη)²)/2. A fabric that
    /// is pulled along the warp alone is free to become narrower, so that it has the stiffness
    /// u + (G/r²)v/(v + Gr²), and the same with all turned around along the weft.
    ///
    /// Diagonals alone may be stiffer than a fabric is to be along a thread. Then they are softer than asked
    /// for: how a fabric stretches comes before how it shears.
    fn threads_beside_diagonals(&self, fabric: &Compliance) -> [f32; 3] {
        let [warp, weft, mut shear] = [fabric.warp, fabric.weft, fabric.shear]
            .map(|compliance| f64::from(compliance.max(RIGID)).recip());
        let square = f64::from(self.oblong);
        let (mut u, mut v) = (warp, weft);
        for _ in 0..STRIDES {
            let [by_warp, by_weft] = [shear / square, shear * square];
            (u, v) = (0.5 * warp, 0.5 * weft);
            for _ in 0..ROUNDS {
                let next_u = (warp - by_warp * v / (v + by_weft)).max(0.0);
                let next_v = (weft - by_weft * u / (u + by_warp)).max(0.0);
                // Half of the way: stiff diagonals would let them swing.
                u = 0.5 * (u + next_u);
                v = 0.5 * (v + next_v);
            }
            if u > LEAST * warp && v > LEAST * weft {
                break;
            }
            shear *= STRIDE;
        }
        let all = [(fabric.warp, u), (fabric.weft, v), (fabric.shear, shear)];
        all.map(|(wanted, stiffness)| {
            // What is rigid stays so, unless it had to become softer.
            let gives = stiffness.recip() as f32;
            if wanted <= 0.0 && gives <= 2.0 * RIGID {
                0.0
            } else {
                gives
            }
        })
    }

    pub(super) fn is_sound(&self) -> bool {
        let all = [self.warp, self.weft, self.shear, self.oblong];
        all.into_iter().all(is_usable)
    }

    /// Those of a sheet at rest.
    pub(super) fn of_sheet(layout: &SheetLayout, positions: &SoaVec3) -> Self {
        let [rows, columns] = [layout.rows as usize, layout.columns as usize];
        let at = |r: usize, c: usize| layout.first as usize + r * columns + c;
        let square = |a: usize, b: usize| {
            let length = f64::from(distance(positions, a as u32, b as u32));
            length * length
        };
        let (mut warp, mut weft, mut shear, mut area) = (0.0, 0.0, 0.0, 0.0);
        for r in 0..rows {
            for c in 0..columns {
                if r + 1 < rows {
                    warp += square(at(r, c), at(r + 1, c));
                }
                if c + 1 < columns {
                    weft += square(at(r, c), at(r, c + 1));
                }
                if r + 1 < rows && c + 1 < columns {
                    let ends = [[at(r, c), at(r + 1, c + 1)], [at(r, c + 1), at(r + 1, c)]];
                    let [down, up] = ends
                        .map(|[a, b]| positions.get(b).as_dvec3() - positions.get(a).as_dvec3());
                    let cell = 0.5 * down.cross(up).length();
                    let both = down.length_squared().recip() + up.length_squared().recip();
                    area += cell;
                    if both.is_finite() {
                        shear += cell * cell * both;
                    }
                }
            }
        }
        // Of one thread each: there is one more of them than cells side by side.
        let mean = |sum: f64, along: usize, across: usize| sum / (along * (across - 1)) as f64;
        let oblong = [mean(weft, rows, columns), mean(warp, columns, rows)];
        Self::of([[warp, area], [weft, area], [shear, area], oblong])
    }
}

fn is_usable(ratio: f32) -> bool {
    (MOST.recip()..MOST).contains(&ratio)
}

impl ConstraintGraph {
    /// Takes from particles at their rest positions and the triangles between them what the stiffness of a
    /// fabric means for each constraint. Without this, constraints give as those of square cells do.
    pub fn measure_aspects(&mut self, positions: &SoaVec3, triangles: &Corners) {
        for sheet in &mut self.sheets {
            sheet.aspects = Aspects::of_sheet(&sheet.layout, positions);
        }
        if self.batches.is_empty() && self.strands.is_empty() {
            // What leaves sheets when the cloth is torn.
            if let Some(Sheet { aspects, .. }) = self.sheets.first() {
                let mean = 0.5 * (aspects.warp + aspects.weft);
                self.aspects = Aspects {
                    warp: mean,
                    weft: mean,
                    shear: aspects.shear,
                    oblong: 1.0,
                };
            }
            return;
        }
        let at = |i: u32| positions.get(i as usize).as_dvec3();
        let areas = triangles
            .iter()
            .map(|[a, b, c]| 0.5 * (at(b) - at(a)).cross(at(c) - at(a)).length());
        let area: f64 = areas.sum();
        let squares = |kind| -> f64 {
            let lengths = self.of_kind(kind).map(|(_, rest)| f64::from(rest));
            lengths.map(|length| length * length).sum()
        };
        // Of all sides of triangles, diagonals are no threads: two of each pair of triangles.
        let diagonals = self.count(ConstraintKind::Shear) as f64;
        let directions = 3.0 - (diagonals / triangles.len() as f64).min(1.0);
        let threads = [squares(ConstraintKind::Structural), directions * area];
        // A cell has twice the area of its triangles, and as many diagonals as those.
        let mean = squares(ConstraintKind::Shear) / diagonals;
        let cell = 2.0 * area / triangles.len() as f64;
        self.aspects = Aspects::of([threads, threads, [2.0 * cell, mean], [1.0, 1.0]]);
    }

    /// What distance constraints that are in no sheet give, m/N, in this fabric.
    pub(super) fn gives(&self, fabric: &Compliance) -> Compliance {
        let mut kinds = self.batches.iter().map(|batch| batch.kind);
        let diagonals = kinds.any(|kind| kind == ConstraintKind::Shear);
        self.aspects.constraints(fabric, diagonals)
    }

    /// The distance constraints of one kind, and what each of them gives, m/N.
    pub(super) fn compliances(
        &self,
        kind: ConstraintKind,
        compliance: &Compliance,
    ) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let compliance = *compliance;
        let woven = self.sheets.iter().flat_map(move |sheet| {
            let families = sheet.families.iter().filter(move |f| f.kind() == kind);
            let gives = sheet.gives(&compliance);
            families.flat_map(move |family| {
                let own = family.weave().compliance(&gives);
                let pairs = family.iter(&sheet.layout);
                pairs.map(move |(_, constraint)| (constraint.particles, own))
            })
        });
        let own = self.gives(&compliance).of(kind);
        let others = self.outside_sheets(kind);
        woven.chain(others.map(move |(pair, _)| (pair, own)))
    }

    /// One aspect for all constraints: of a rope, the length of a link over the width of fabric that it is
    /// made of.
    pub fn set_aspect(&mut self, aspect: f32) {
        self.aspects = Aspects {
            warp: aspect,
            weft: aspect,
            shear: aspect,
            oblong: 1.0,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{ClothGrid, Topology, TriangleMesh};
    use bevy::{
        math::{Mat3, Vec3},
        mesh::Mesh,
    };

    #[test]
    fn square_cells_have_the_aspect_of_their_edges() {
        for side in [2, 9, 40] {
            let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, side, side));
            let topology = Topology::new(&TriangleMesh::read(&mesh).unwrap()).unwrap();
            let graph = topology
                .assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2)
                .constraints;
            // Threads of an edge carry half a cell, and all share what that takes away.
            let thread = side as f32 / (side - 1) as f32;
            let found = graph.sheets[0].aspects;
            for (found, expected) in [
                (found.warp, thread),
                (found.weft, thread),
                (found.shear, 1.0),
            ] {
                assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
            }
        }
    }

    #[test]
    fn nothing_has_the_aspects_of_squares() {
        let mut graph = ConstraintGraph::new(
            &[Vec3::ZERO, Vec3::X].into_iter().collect(),
            &[(ConstraintKind::Structural, 0, 1)],
        );
        graph.measure_aspects(&SoaVec3::default(), &Corners::default());
        assert_eq!(graph.aspects, Aspects::default());
    }
}
