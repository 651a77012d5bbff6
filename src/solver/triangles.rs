//! The triangles of a cloth: they carry its mass and catch the wind.

use super::{corners::Corners, sheet::SheetLayout, soa::SoaVec3};
use bevy::math::Vec3;
use std::ops::Range;

/// Triangles between particles, and what each of them is at rest.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Saved", into = "Saved")
)]
pub struct Triangles {
    /// Particles at the corners.
    pub indices: Corners,
    /// Area at rest, m². A stretched triangle must not catch more wind or weigh more.
    pub rest_area: Vec<f32>,
    /// No edge is longer at rest, m. Cuts make edges shorter only.
    pub(super) longest_edge: f32,
    /// Those that are in the order of a sheet.
    pub(super) cells: Vec<Cells>,
}

/// Triangles as they are saved. Of those that are woven only the sheets are: the air adds up their
/// forces in an order of its own, which must be the same again.
#[cfg(feature = "serialize")]
#[derive(serde::Serialize, serde::Deserialize)]
struct Saved {
    indices: Corners,
    rest_area: Vec<f32>,
    longest_edge: f32,
    sheets: Vec<SheetLayout>,
}

#[cfg(feature = "serialize")]
impl From<Triangles> for Saved {
    fn from(triangles: Triangles) -> Self {
        Self {
            sheets: triangles.woven().iter().map(|cells| cells.layout).collect(),
            indices: triangles.indices,
            rest_area: triangles.rest_area,
            longest_edge: triangles.longest_edge,
        }
    }
}

#[cfg(feature = "serialize")]
impl From<Saved> for Triangles {
    fn from(saved: Saved) -> Self {
        let triangles = Self {
            indices: saved.indices,
            rest_area: saved.rest_area,
            longest_edge: saved.longest_edge,
            cells: Vec::new(),
        };
        triangles.woven_into(&saved.sheets)
    }
}

/// It does not matter which of them are known to be woven.
impl PartialEq for Triangles {
    fn eq(&self, other: &Self) -> bool {
        self.indices == other.indices && self.rest_area == other.rest_area
    }
}

/// Triangles that are the cells of a sheet, two for each, row by row.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    pub(super) layout: SheetLayout,
    /// Their numbers.
    pub(super) triangles: Range<usize>,
    /// Of each cell how it is cut.
    pub(super) codes: Vec<u8>,
}

impl Cells {
    /// The cut goes from below on the left to above on the right, otherwise the other way.
    pub(super) const RISES: u8 = 1;
    /// The triangle above the cut comes first.
    pub(super) const SWAPPED: u8 = 2;

    /// The triangles of a sheet, if they begin with this one.
    fn find(layout: SheetLayout, indices: &Corners, first: usize) -> Option<Self> {
        let [rows, columns] = [layout.rows as usize, layout.columns as usize];
        // One that was read from a file may be anything.
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
                let number = first + 2 * codes.len();
                let is = |number: usize, mut corners: [u32; 3]| {
                    let mut found = indices.at(number);
                    found.sort_unstable();
                    corners.sort_unstable();
                    found == corners
                };
                let (falling, rising) = ([[a, d, e], [a, e, b]], [[a, d, b], [b, d, e]]);
                let code = [(0, falling), (Self::RISES, rising)].into_iter();
                let code = code.flat_map(|(code, [lower, upper])| {
                    [(code, lower, upper), (code | Self::SWAPPED, upper, lower)]
                });
                let mut code =
                    code.filter(|&(_, first, second)| is(number, first) && is(number + 1, second));
                codes.push(code.next()?.0);
            }
        }
        Some(Self {
            layout,
            triangles,
            codes,
        })
    }
}

impl Triangles {
    /// Triangles of particles that are now in their rest places.
    pub fn new(indices: impl Into<Corners>, positions: &SoaVec3) -> Self {
        let mut triangles = Self {
            indices: indices.into(),
            rest_area: Vec::new(),
            longest_edge: 0.0,
            cells: Vec::new(),
        };
        triangles.set_rest(positions);
        triangles
    }

    /// The same, knowing of these sheets: triangles that lie in their order are faster.
    pub fn woven_into(mut self, sheets: &[SheetLayout]) -> Self {
        let mut first = 0;
        for &layout in sheets {
            if let Some(cells) = Cells::find(layout, &self.indices, first) {
                first = cells.triangles.end;
                self.cells.push(cells);
            }
        }
        self
    }

    /// Those that are still what they were when they were found.
    pub(super) fn woven(&self) -> &[Cells] {
        if self.indices.is_packed() {
            &self.cells
        } else {
            &[]
        }
    }

    /// Takes the areas and edges between these places as those at rest.
    pub fn set_rest(&mut self, positions: &SoaVec3) {
        let area = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|i| positions.get(i as usize));
            0.5 * (b - a).cross(c - a).length()
        };
        self.rest_area = self.indices.iter().map(area).collect();
        let longest = self.indices.iter().fold(0.0_f32, |longest, corners| {
            let [a, b, c] = corners.map(|i| positions.get(i as usize));
            let squares = [b - a, c - b, a - c].map(Vec3::length_squared);
            squares.into_iter().fold(longest, f32::max)
        });
        self.longest_edge = longest.sqrt();
    }

    /// The area that belongs to each particle, m²: a third of every triangle at it.
    ///
    /// A particle that has only triangles without area must still move with its neighbours, so it
    /// gets the mean of all. One without any triangle is no part of the cloth and gets 0.
    pub fn particle_areas(&self, particles: usize) -> Vec<f32> {
        let mut areas = vec![0.0; particles];
        let mut in_cloth = vec![false; particles];
        for (corners, area) in self.indices.iter().zip(&self.rest_area) {
            for i in corners {
                areas[i as usize] += area / 3.0;
                in_cloth[i as usize] = true;
            }
        }
        let count = in_cloth.iter().filter(|&&yes| yes).count().max(1);
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

/// 1/(area·density) for each area: the inverse masses of free particles, 1/kg. 0 where there is no
/// area. `areal_density` in kg/m².
pub fn inverse_masses(areas: &[f32], areal_density: f32) -> impl Iterator<Item = f32> + '_ {
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
    fn the_whole_area_is_shared_out() {
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
        assert_eq!(triangles.rest_area, [0.5, 0.0]);
        let areas = triangles.particle_areas(5);
        assert_eq!(areas[..3], [0.5 / 3.0; 3]);
        assert_eq!(areas[3], 0.125);
        assert_eq!(areas[4], 0.0);
        let w: Vec<_> = inverse_masses(&areas, 2.0).collect();
        assert_eq!(w[3], 4.0);
        assert_eq!(w[4], 0.0);
    }
}
