//! Triangles of a cloth, for its mass and for aerodynamic forces.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`Triangles`], areas, particle masses |
//! | `corners` | compressed corner indices |
//! | `grid_layout` | range of particles that forms a grid |

pub(crate) mod corners;
pub(crate) mod grid_layout;

use crate::solver::{
    shared::Shared,
    simd::soa::SoaVec3,
    triangles::{corners::Corners, grid_layout::GridLayout},
};
use std::ops::Range;

/// Triangles between particles, with their rest areas.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "SavedTriangles", into = "SavedTriangles")
)]
pub struct Triangles {
    /// Particles at the corners.
    pub indices: Corners,
    /// Rest area, m². A stretched triangle must not catch more wind or weigh more.
    pub rest_area: Shared<Vec<f32>>,
    /// Upper bound of the rest lengths of all edges, m. Cuts make edges shorter only.
    pub(super) longest_edge: f32,
    /// Ranges of triangles in the order of a grid.
    pub(super) cells: Vec<GridTriangles>,
}

/// Serialized form of [`Triangles`]. For triangles in grids only the layouts are stored: air forces on a grid are
/// summed in a specific order, which must be the same after loading.
#[cfg(feature = "serialize")]
#[derive(serde::Serialize, serde::Deserialize)]
struct SavedTriangles {
    indices: Corners,
    rest_area: Shared<Vec<f32>>,
    longest_edge: f32,
    grids: Vec<GridLayout>,
}

#[cfg(feature = "serialize")]
impl From<Triangles> for SavedTriangles {
    fn from(triangles: Triangles) -> Self {
        Self {
            grids: triangles
                .in_grids()
                .iter()
                .map(|cells| cells.layout)
                .collect(),
            indices: triangles.indices,
            rest_area: triangles.rest_area,
            longest_edge: triangles.longest_edge,
        }
    }
}

#[cfg(feature = "serialize")]
impl From<SavedTriangles> for Triangles {
    fn from(saved: SavedTriangles) -> Self {
        let triangles = Self {
            indices: saved.indices,
            rest_area: saved.rest_area,
            longest_edge: saved.longest_edge,
            cells: Vec::new(),
        };
        triangles.with_grids(&saved.grids)
    }
}

/// Grids are derived data and not compared.
impl PartialEq for Triangles {
    fn eq(&self, other: &Self) -> bool {
        self.indices == other.indices && self.rest_area == other.rest_area
    }
}

/// Triangles that are the cells of a grid, two per cell, row by row.
#[derive(Clone, Debug)]
pub(super) struct GridTriangles {
    pub(super) layout: GridLayout,
    /// Indices of the triangles.
    pub(super) triangles: Range<usize>,
    /// Diagonal and triangle order of each cell, as a combination of [`RISES`](Self::RISES) and
    /// [`SWAPPED`](Self::SWAPPED).
    pub(super) codes: Shared<Vec<u8>>,
}

impl GridTriangles {
    /// The diagonal goes from the lower left to the upper right corner, where lower is the next row; otherwise
    /// from the upper left to the lower right.
    pub(super) const RISES: u8 = 1;
    /// The triangle with the right side of the cell comes before the one with the left side.
    pub(super) const SWAPPED: u8 = 2;

    /// Returns the triangles of a grid, if they begin with triangle `first` and are in grid order.
    fn find(layout: GridLayout, indices: &Corners, first: usize) -> Option<Self> {
        let [rows, columns] = [layout.rows as usize, layout.columns as usize];
        // A layout read from a file may have any values.
        let cells = [rows, columns].map(|side| side.saturating_sub(1));
        let count = cells[0].checked_mul(cells[1]).filter(|&count| count > 0)?;
        let triangles = first..first.checked_add(count.checked_mul(2)?)?;
        layout
            .first
            .checked_add(u32::try_from(rows.checked_mul(columns)?).ok()?)?;
        if triangles.end > indices.len() {
            return None;
        }
        let mut codes = Vec::with_capacity(count);
        for r in 0..rows - 1 {
            for c in 0..columns - 1 {
                let a = layout.first + (r * columns + c) as u32;
                let (b, d) = (a + 1, a + layout.columns);
                let e = d + 1;
                let index = first + 2 * codes.len();
                let has_corners = |index: usize, mut corners: [u32; 3]| {
                    let mut found = indices.at(index);
                    found.sort_unstable();
                    corners.sort_unstable();
                    found == corners
                };
                let (falling, rising) = ([[a, d, e], [a, e, b]], [[a, d, b], [b, d, e]]);
                let code = [(0, falling), (Self::RISES, rising)].into_iter();
                let code = code.flat_map(|(code, [left, right])| {
                    [(code, left, right), (code | Self::SWAPPED, right, left)]
                });
                let mut code = code.filter(|&(_, first, second)| {
                    has_corners(index, first) && has_corners(index + 1, second)
                });
                codes.push(code.next()?.0);
            }
        }
        Some(Self {
            layout,
            triangles,
            codes: codes.into(),
        })
    }
}

impl Triangles {
    /// Creates triangles with the current positions as the rest shape.
    pub fn new(indices: impl Into<Corners>, positions: &SoaVec3) -> Self {
        let mut triangles = Self {
            indices: indices.into(),
            rest_area: Shared::default(),
            longest_edge: 0.0,
            cells: Vec::new(),
        };
        triangles.set_rest(positions);
        triangles
    }

    /// Lets future clones share areas and grids until one of them changes these.
    pub(crate) fn share(&mut self) {
        self.rest_area.share();
        self.cells.iter_mut().for_each(|cells| cells.codes.share());
    }

    /// Registers these grids: triangles in grid order are evaluated faster.
    pub fn with_grids(mut self, grids: &[GridLayout]) -> Self {
        let mut first = 0;
        for &layout in grids {
            if let Some(cells) = GridTriangles::find(layout, &self.indices, first) {
                first = cells.triangles.end;
                self.cells.push(cells);
            }
        }
        self
    }

    /// Returns the triangles in grids, or none if triangles have changed since.
    pub(super) fn in_grids(&self) -> &[GridTriangles] {
        if self.indices.is_packed() {
            &self.cells
        } else {
            &[]
        }
    }

    /// Sets the rest areas and edge lengths from these positions.
    pub fn set_rest(&mut self, positions: &SoaVec3) {
        let area = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|i| positions.get(i as usize));
            0.5 * (b - a).cross(c - a).length()
        };
        self.rest_area = self.indices.iter().map(area).collect();
        self.longest_edge = self.indices.longest_edge(positions);
    }

    /// Returns the area assigned to each particle, m²: a third of each triangle at the particle.
    ///
    /// A particle that has only triangles without area must still move with its neighbours, so it gets the mean
    /// area. A particle without any triangle does not belong to the cloth and gets 0.
    pub(crate) fn particle_areas(&self, particles: usize) -> Vec<f32> {
        let mut areas = vec![0.0; particles];
        let mut in_cloth = vec![false; particles];
        for (corners, area) in self.indices.iter().zip(&self.rest_area) {
            for i in corners {
                areas[i as usize] += area / 3.0;
                in_cloth[i as usize] = true;
            }
        }
        let count = in_cloth.iter().filter(|&&is_used| is_used).count().max(1);
        let mean = areas.iter().sum::<f32>() / count as f32;
        let mean = if mean > 0.0 { mean } else { 1.0 };
        for (area, in_cloth) in areas.iter_mut().zip(in_cloth) {
            if in_cloth && *area == 0.0 {
                *area = mean;
            }
        }
        areas
    }
}

/// Returns 1/(area·density) for each area: the inverse masses of free particles, 1/kg. 0 where the area is 0.
/// `areal_density` in kg/m².
pub(crate) fn inverse_masses(areas: &[f32], areal_density: f32) -> impl Iterator<Item = f32> + '_ {
    areas.iter().map(move |area| {
        let mass = area * areal_density;
        if mass > 0.0 { 1.0 / mass } else { 0.0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Vec3;

    #[test]
    fn the_whole_area_is_distributed() {
        let positions: SoaVec3 = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::Y,
            Vec3::X * 2.0,
            Vec3::splat(9.0),
        ]
        .into_iter()
        .collect();
        // The second triangle has no area, the last particle no triangle.
        let triangles = Triangles::new(vec![[0, 1, 2], [0, 1, 3]], &positions);
        assert_eq!(*triangles.rest_area, [0.5, 0.0]);
        let areas = triangles.particle_areas(5);
        assert_eq!(areas[..3], [0.5 / 3.0; 3]);
        assert_eq!(areas[3], 0.125);
        assert_eq!(areas[4], 0.0);
        let w: Vec<_> = inverse_masses(&areas, 2.0).collect();
        assert_eq!(w[3], 4.0);
        assert_eq!(w[4], 0.0);
    }
}
