//! Welds all vertices that share a position into one particle, so that UV seams and hard edges do not open.

use super::topology::NO_PARTICLE;
use bevy::{
    math::{DVec3, Vec3},
    platform::collections::HashMap,
};

/// Distance below which two vertices share a position, as a fraction of the size of the mesh. Exporters round
/// coordinates in the seventh digit; real details are far larger.
const TOLERANCE: f64 = 2e-6;

/// Result of welding.
pub(crate) struct WeldedVertices {
    /// Particle of each vertex; [`NO_PARTICLE`] for unused vertices.
    pub(crate) vertex_to_particle: Vec<u32>,
    /// Position of each particle, in mesh space, m.
    pub(crate) positions: Vec<Vec3>,
}

/// Welds the vertices of triangles. Particles are numbered in the order of their first vertices.
pub(crate) fn weld(vertices: &[Vec3], triangles: &[[u32; 3]]) -> WeldedVertices {
    let mut used = vec![false; vertices.len()];
    for &vertex in triangles.as_flattened() {
        used[vertex as usize] = true;
    }
    let used_positions = || {
        let pairs = vertices.iter().zip(&used);
        pairs.filter(|(_, used)| **used).map(|(v, _)| *v)
    };
    let low = used_positions().fold(Vec3::INFINITY, Vec3::min).as_dvec3();
    let high = used_positions()
        .fold(Vec3::NEG_INFINITY, Vec3::max)
        .as_dvec3();
    // In `f64`, since the size of a mesh may exceed `f32`.
    let tolerance = ((high - low).max_element() * TOLERANCE).max(f32::MIN_POSITIVE.into());

    let mut cells = Cells {
        low,
        tolerance,
        first: HashMap::default(),
        next: Vec::new(),
    };
    let mut positions: Vec<Vec3> = Vec::new();
    let particle_of = |(&vertex, &used): (&Vec3, &bool)| {
        if !used {
            return NO_PARTICLE;
        }
        let position = vertex.as_dvec3();
        cells.find(position, &positions).unwrap_or_else(|| {
            cells.add(position);
            positions.push(vertex);
            positions.len() as u32 - 1
        })
    };
    WeldedVertices {
        vertex_to_particle: vertices.iter().zip(&used).map(particle_of).collect(),
        positions,
    }
}

/// Particles by cells of space. Cells are much larger than the tolerance, so that a vertex is rarely near a border and
/// mostly one cell has to be searched.
struct Cells {
    low: DVec3,
    tolerance: f64,
    first: HashMap<[i64; 3], u32>,
    /// The next particle in the same cell, or [`END_OF_CELL`], for each particle.
    next: Vec<u32>,
}

impl Cells {
    fn cell_of(&self, position: DVec3) -> [i64; 3] {
        let cell = self.tolerance * 16.0;
        let offset = (position - self.low).to_array();
        // The odd offset keeps round coordinates off the borders.
        offset.map(|c| (c / cell + 0.371).floor() as i64)
    }

    /// Returns the particle at a position, if there is one.
    fn find(&self, position: DVec3, particles: &[Vec3]) -> Option<u32> {
        let from = self.cell_of(position - DVec3::splat(self.tolerance));
        let to = self.cell_of(position + DVec3::splat(self.tolerance));
        for x in from[0]..=to[0] {
            for y in from[1]..=to[1] {
                for z in from[2]..=to[2] {
                    let mut candidate = self.first.get(&[x, y, z]).copied();
                    while let Some(particle) = candidate {
                        let offset = particles[particle as usize].as_dvec3() - position;
                        if offset.abs().max_element() <= self.tolerance {
                            return Some(particle);
                        }
                        let next = self.next[particle as usize];
                        candidate = (next != END_OF_CELL).then_some(next);
                    }
                }
            }
        }
        None
    }

    /// Adds a particle.
    fn add(&mut self, position: DVec3) {
        let particle = self.next.len() as u32;
        let before = self.first.insert(self.cell_of(position), particle);
        self.next.push(before.unwrap_or(END_OF_CELL));
    }
}

/// Returns the positions of the corners of triangles, without duplicates, and the indices of each triangle's
/// corners among them.
#[cfg(feature = "parry")]
pub(crate) fn weld_triangles(
    vertices: &[Vec3],
    triangles: &[[u32; 3]],
) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let WeldedVertices {
        vertex_to_particle,
        positions,
    } = weld(vertices, triangles);
    let welded = triangles.iter();
    let welded = welded.map(|corners| corners.map(|i| vertex_to_particle[i as usize]));
    (positions, welded.collect())
}

/// Marks the end of the list of particles in a cell.
const END_OF_CELL: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_positions_are_one_particle() {
        let noise = Vec3::splat(5e-7);
        let vertices = [
            Vec3::ZERO,
            Vec3::X,
            Vec3::X + noise,
            Vec3::Y,
            Vec3::ZERO,
            Vec3::X * 0.999,
        ];
        let welded = weld(&vertices, &[[0, 1, 2], [3, 4, 5]]);
        assert_eq!(welded.vertex_to_particle, [0, 1, 1, 2, 0, 3]);
        assert_eq!(welded.positions.len(), 4);
    }

    #[test]
    fn far_away_and_tiny_meshes_keep_their_detail() {
        for (offset, size) in [
            (1000.0, 1.0),
            (0.0, 1e-6),
            (0.0, 1e6),
            (0.0, 1e-30),
            (0.0, f32::MAX),
        ] {
            let vertices: Vec<_> = (0..50)
                .map(|i| Vec3::splat(offset) + Vec3::X * (size * i as f32 / 49.0))
                .collect();
            let triangles: Vec<_> = (2..50).map(|i| [0, i - 1, i]).collect();
            let count = weld(&vertices, &triangles).positions.len();
            assert_eq!(count, 50, "size {size} at {offset}");
        }
    }

    #[test]
    fn vertices_without_a_triangle_are_no_particles() {
        let vertices = [Vec3::ZERO, Vec3::NAN, Vec3::X, Vec3::Y, Vec3::splat(1e9)];
        let welded = weld(&vertices, &[[0, 2, 3]]);
        assert_eq!(
            welded.vertex_to_particle,
            [0, NO_PARTICLE, 1, 2, NO_PARTICLE]
        );
        assert_eq!(welded.positions, [Vec3::ZERO, Vec3::X, Vec3::Y]);
    }
}
