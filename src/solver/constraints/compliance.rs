//! Converts the stiffness of a fabric to the compliance of its constraints, independently of the mesh.
//!
//! A constraint of length ℓ that represents a strip of fabric of width b has the compliance ℓ/(Yb), with the
//! stiffness Y of the fabric in N/m. Its aspect ℓ/b is 1 for square cells, so compliances do not change with the
//! size of cells.
//!
//! All constraints of a grid in one direction have one aspect. It follows from energy: stretched by ε, a fabric of
//! area A stores YAε²/2, and springs of stiffness k store kΣℓ²ε²/2, so k = YA/Σℓ². (For one edge between two
//! triangles that is k = YA/ℓ², as in Van Gelder, "Approximate Simulation of Elastic Membranes by Triangulated
//! Spring Meshes", 1998.) Sheared by γ, a cell of area A with the diagonals D stores GAγ²/2, and its diagonals,
//! which change by ±Aγ/D, store kγ²A²/D².
//!
//! Diagonals of grids of elastic fabric resist shear alone (`grid/diagonals.rs`).
//!
//! Constraints outside grids have the mean aspect of the whole cloth: edges run in two directions if its cells
//! have diagonals, in three otherwise. Their diagonals resist stretch too, and edges are softened accordingly, see
//! [`compensate_diagonals`](Aspects::compensate_diagonals).

use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        graph::{ConstraintGraph, distance},
        grid::GridConstraints,
        list::Slots,
    },
    simd::soa::SoaVec3,
    triangles::{corners::Corners, grid_layout::GridLayout},
};

/// Compliance of a fabric in stretch and shear, m/N (the reciprocal of its stiffness, which is the force per
/// metre of width and unit of strain; 0 is rigid), and its stiffness in bending. The compliance of a distance
/// constraint is this times length over width of the strip of fabric that it represents, which is 1 for square
/// cells (`ConstraintGraph::measure_aspects`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Compliance {
    /// Compliance from row to row of a grid, m/N.
    pub warp: f32,
    /// Compliance along the rows of a grid, m/N. Edges outside grids have the mean stiffness of warp and weft.
    pub weft: f32,
    /// Compliance of diagonals, m/N.
    pub shear: f32,
    /// Bending stiffness, N·m (bending moment per width and curvature); 0 bends freely.
    pub bending: f32,
}

impl Compliance {
    /// Creates a fabric with the same compliance along warp and weft, rigid in shear, without bending stiffness.
    pub fn of_stretch(compliance: f32) -> Self {
        Self {
            warp: compliance,
            weft: compliance,
            ..Self::default()
        }
    }

    /// Returns the compliance of distance constraints of one kind, m/N; for structural ones that of the mean
    /// stiffness of warp and weft.
    pub fn of(&self, kind: ConstraintKind) -> f32 {
        match kind {
            // For equal values the mean is exact to the last bit.
            ConstraintKind::Structural if self.warp == self.weft => self.warp,
            ConstraintKind::Structural if self.warp.min(self.weft) <= 0.0 => 0.0,
            ConstraintKind::Structural => 2.0 / (self.warp.recip() + self.weft.recip()),
            ConstraintKind::Shear => self.shear,
            // The compliance of a bend differs from place to place in the mesh: ρ/B.
            ConstraintKind::Bend => 0.0,
        }
    }

    /// Returns whether warp or weft has compliance.
    pub fn is_elastic(&self) -> bool {
        self.warp > 0.0 || self.weft > 0.0
    }

    /// Returns the strain limit of elastic edges, if it has an effect: not while loads are recorded, because they would lack the
    /// force that the limit carries.
    pub(in crate::solver) fn effective_limit(
        &self,
        limit: f32,
        records_loads: bool,
    ) -> Option<f32> {
        (self.is_elastic() && limit.is_finite() && !records_loads).then_some(limit)
    }
}

/// Compliance used in place of 0 (rigid), which has no reciprocal, m/N.
const MIN_COMPLIANCE: f32 = 1e-9;

/// Diagonals that would leave edges less than this fraction of the stiffness of the fabric are softened: their
/// stiffness is multiplied by [`SHEAR_REDUCTION`] up to [`MAX_SHEAR_REDUCTIONS`] times.
const MIN_STIFFNESS_FRACTION: f64 = 0.1;
const SHEAR_REDUCTION: f64 = 0.5;
const MAX_SHEAR_REDUCTIONS: usize = 40;

/// Iterations for the stiffness of edges. The error is a few thousandths where diagonals are very stiff, less
/// elsewhere.
const ITERATIONS: usize = 20;

/// Largest valid aspect; its reciprocal is the smallest.
const MAX_ASPECT: f32 = 1e6;

/// Length over width of the strips that constraints represent: warp, weft and diagonals.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Aspects {
    pub(in crate::solver) warp: f32,
    pub(in crate::solver) weft: f32,
    pub(in crate::solver) shear: f32,
    /// r²: cells are r times as long along weft as along warp.
    pub(in crate::solver) oblong: f32,
    /// Fraction of the triangles that are halves of cells with diagonals.
    pub(in crate::solver) with_diagonals: f32,
}

impl Default for Aspects {
    /// Aspects of square cells.
    fn default() -> Self {
        Self {
            warp: 1.0,
            weft: 1.0,
            shear: 1.0,
            oblong: 1.0,
            with_diagonals: 1.0,
        }
    }
}

impl Aspects {
    /// Computes aspects from ratios of sums over the fabric, in the order of the fields; invalid ratios, as of a
    /// mesh without area, become 1.
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
            ..Self::default()
        }
    }

    /// Converts the compliance of a fabric to that of each constraint, m/N, in cells with or without diagonals.
    pub(in crate::solver) fn constraint_compliance(
        &self,
        fabric: &Compliance,
        diagonals: bool,
    ) -> Compliance {
        let [warp, weft, shear] = if diagonals && fabric.is_elastic() {
            self.compensate_diagonals(fabric)
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

    /// Returns compliances of warp, weft and diagonals, m/N, that together give the compliance of the fabric: diagonals
    /// resist stretch too.
    ///
    /// With the strains ε and η along warp and weft, and cells r times as long along weft as along warp, edges of
    /// the stiffnesses u and v and diagonals store (uε² + vη² + G(ε/r + rη)²)/2. A fabric pulled along the warp
    /// alone is free to become narrower, so its stiffness is u + (G/r²)v/(v + Gr²), and correspondingly along the
    /// weft.
    ///
    /// In a mesh where only a part of the cells has diagonals, they resist by that part of G.
    ///
    /// Diagonals alone may be stiffer than the fabric along warp or weft. They are then made softer than
    /// requested: correct stretch takes precedence over correct shear.
    fn compensate_diagonals(&self, fabric: &Compliance) -> [f32; 3] {
        let [warp, weft, mut shear] = [fabric.warp, fabric.weft, fabric.shear]
            .map(|compliance| f64::from(compliance.max(MIN_COMPLIANCE)).recip());
        let square = f64::from(self.oblong);
        let part = f64::from(self.with_diagonals);
        let (mut u, mut v) = (warp, weft);
        for _ in 0..MAX_SHEAR_REDUCTIONS {
            let [by_warp, by_weft] = [part * shear / square, part * shear * square];
            (u, v) = (0.5 * warp, 0.5 * weft);
            for _ in 0..ITERATIONS {
                let next_u = (warp - by_warp * v / (v + by_weft)).max(0.0);
                let next_v = (weft - by_weft * u / (u + by_warp)).max(0.0);
                // Damped by one half: with stiff diagonals the iteration would oscillate.
                u = 0.5 * (u + next_u);
                v = 0.5 * (v + next_v);
            }
            if u > MIN_STIFFNESS_FRACTION * warp && v > MIN_STIFFNESS_FRACTION * weft {
                break;
            }
            shear *= SHEAR_REDUCTION;
        }
        let all = [(fabric.warp, u), (fabric.weft, v), (fabric.shear, shear)];
        all.map(|(target, stiffness)| {
            // Rigid directions stay rigid, unless they had to be softened.
            let compliance = stiffness.recip() as f32;
            if target <= 0.0 && compliance <= 2.0 * MIN_COMPLIANCE {
                0.0
            } else {
                compliance
            }
        })
    }

    pub(in crate::solver) fn is_sound(&self) -> bool {
        let all = [self.warp, self.weft, self.shear, self.oblong];
        all.into_iter().all(is_usable) && (0.0..=1.0).contains(&self.with_diagonals)
    }

    /// Computes the aspects of a grid from its rest positions.
    pub(in crate::solver) fn from_rest_shape(layout: &GridLayout, positions: &SoaVec3) -> Self {
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
        // Mean square length of the edges of `chains` chains with `particles` particles each.
        let mean =
            |sum: f64, chains: usize, particles: usize| sum / (chains * (particles - 1)) as f64;
        let oblong = [mean(weft, rows, columns), mean(warp, columns, rows)];
        Self::of([[warp, area], [weft, area], [shear, area], oblong])
    }
}

fn is_usable(ratio: f32) -> bool {
    (MAX_ASPECT.recip()..MAX_ASPECT).contains(&ratio)
}

impl ConstraintGraph {
    /// Measures the aspects of all constraints from the rest positions and the triangles. Without a call, the
    /// aspects are those of square cells.
    pub(crate) fn measure_aspects(&mut self, positions: &SoaVec3, triangles: &Corners) {
        for grid in &mut self.grids {
            grid.aspects = Aspects::from_rest_shape(&grid.layout, positions);
        }
        if self.general.has_no_distances() {
            // For constraints that leave grids when the cloth is torn.
            if let Some(GridConstraints { aspects, .. }) = self.grids.first() {
                let mean = 0.5 * (aspects.warp + aspects.weft);
                self.aspects = Aspects {
                    warp: mean,
                    weft: mean,
                    shear: aspects.shear,
                    ..Aspects::default()
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
        // Diagonals are sides of triangles but not edges: two sides of each pair of triangles.
        let diagonals = self.count(ConstraintKind::Shear) as f64;
        let with_diagonals = (diagonals / triangles.len() as f64).min(1.0);
        let directions = 3.0 - with_diagonals;
        let structural = [squares(ConstraintKind::Structural), directions * area];
        // A cell has twice the area of one of its triangles, and as many diagonals as triangles.
        let mean = squares(ConstraintKind::Shear) / diagonals;
        let cell = 2.0 * area / triangles.len() as f64;
        self.aspects = Aspects {
            with_diagonals: with_diagonals as f32,
            ..Aspects::of([structural, structural, [2.0 * cell, mean], [1.0, 1.0]])
        };
    }

    /// Returns the compliance of distance constraints outside grids, m/N, for this fabric. All edges have the mean stiffness of
    /// warp and weft.
    pub(in crate::solver) fn compliance_outside_grids(&self, fabric: &Compliance) -> Compliance {
        let mut kinds = self.general.batches().map(|batch| batch.list.kind);
        let diagonals = kinds.any(|kind| kind == ConstraintKind::Shear);
        let own = self.aspects.constraint_compliance(fabric, diagonals);
        let mean = own.of(ConstraintKind::Structural);
        Compliance {
            warp: mean,
            weft: mean,
            ..own
        }
    }

    /// Iterates over the distance constraints of one kind and their compliances, m/N.
    pub(in crate::solver) fn compliances(
        &self,
        kind: ConstraintKind,
        compliance: &Compliance,
    ) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let compliance = *compliance;
        let in_grids = self.grids.iter().flat_map(move |grid| {
            let sets = grid.sets.iter().filter(move |set| set.list.kind == kind);
            let grid_compliance = grid.compliance(&compliance);
            sets.flat_map(move |set| {
                let own = set.direction.compliance(&grid_compliance);
                let slots = Slots::Grid(&grid.layout, set.direction);
                set.list.occupied().map(move |slot| (slots.ends(slot), own))
            })
        });
        let own = self.compliance_outside_grids(&compliance).of(kind);
        let others = self.outside_grids(kind);
        in_grids.chain(others.map(move |(pair, _)| (pair, own)))
    }

    /// Sets one aspect for all constraints outside grids: for a rope, the length of a link over the width of the
    /// fabric that the rope represents.
    pub(crate) fn set_aspect(&mut self, aspect: f32) {
        self.aspects = Aspects {
            warp: aspect,
            weft: aspect,
            shear: aspect,
            ..Aspects::default()
        };
    }
}

#[cfg(test)]
mod tests;
