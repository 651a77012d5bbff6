//! The triangles of a cloth: they carry its mass and catch the wind.

use super::{corners::Corners, soa::SoaVec3};

/// Triangles between particles, and what each of them is at rest.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Triangles {
    /// Particles at the corners.
    pub indices: Corners,
    /// Area at rest, m². A stretched triangle must not catch more wind or weigh more.
    pub rest_area: Vec<f32>,
}

impl Triangles {
    /// Triangles of particles that are now in their rest places.
    pub fn new(indices: impl Into<Corners>, positions: &SoaVec3) -> Self {
        let mut triangles = Self {
            indices: indices.into(),
            rest_area: Vec::new(),
        };
        triangles.set_rest(positions);
        triangles
    }

    /// Takes the areas between these places as the new rest areas.
    pub fn set_rest(&mut self, positions: &SoaVec3) {
        let area = |corners: [u32; 3]| {
            let [a, b, c] = corners.map(|i| positions.get(i as usize));
            0.5 * (b - a).cross(c - a).length()
        };
        self.rest_area = self.indices.iter().map(area).collect();
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
