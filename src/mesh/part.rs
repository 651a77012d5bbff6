//! Cloth that is a part of its mesh.

use super::{
    read::TriangleMesh,
    topology::{NO_PARTICLE, Topology},
};
use bevy::math::Vec3;

impl TriangleMesh {
    /// Leaves the triangles that have a corner which is meant. Returns, for each vertex, whether it is only
    /// a corner of them: there the part is sewn to the rest.
    pub fn keep_part(&mut self, is_meant: impl Fn(usize) -> bool) -> Vec<bool> {
        let meant: Vec<bool> = (0..self.positions.len()).map(is_meant).collect();
        let has_any = |corners: &[u32; 3]| corners.iter().any(|&v| meant[v as usize]);
        self.triangles.retain(has_any);
        meant.into_iter().map(|meant| !meant).collect()
    }
}

impl Topology {
    /// The particles all of whose vertices are on a seam.
    pub fn on_seam(&self, on_seam: &[bool]) -> Vec<u32> {
        let mut sewn = vec![true; self.positions.len()];
        for (particle, on_seam) in self.vertex_to_particle.iter().zip(on_seam) {
            if particle != NO_PARTICLE && !on_seam {
                sewn[particle as usize] = false;
            }
        }
        let all = (0..).zip(sewn);
        all.filter(|(_, sewn)| *sewn).map(|(i, _)| i).collect()
    }

    /// The corners of the box around the vertices that are no part of the cloth, if there are any.
    pub fn box_around_rest(&self, vertices: &[Vec3]) -> Option<[Vec3; 2]> {
        let outside = self.vertex_to_particle.iter().zip(vertices);
        let outside = outside.filter(|(particle, at)| *particle == NO_PARTICLE && at.is_finite());
        outside.fold(None, |around: Option<[Vec3; 2]>, (_, &at)| {
            let [low, high] = around.unwrap_or([at, at]);
            Some([low.min(at), high.max(at)])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::ClothGrid;

    #[test]
    fn a_part_is_sewn_on_where_it_ends() {
        // Rows at y = 1, 0.5, 0, of which the last is meant.
        let mut mesh = TriangleMesh::read(&ClothGrid::vertical(1.0, 1.0, 3, 3).into()).unwrap();
        let vertices = mesh.positions.clone();
        let low = vertices.iter().fold(f32::INFINITY, |low, at| low.min(at.y));
        let on_seam = mesh.keep_part(|v| vertices[v].y <= low);
        assert_eq!(mesh.triangles.len(), 4);
        let topology = Topology::new(&mesh).unwrap();
        assert_eq!(topology.positions.len(), 6);
        assert_eq!(topology.on_seam(&on_seam), [0, 1, 2]);
        let [from, to] = topology.box_around_rest(&vertices).unwrap();
        assert_eq!([from.y, to.y], [low + 1.0, low + 1.0]);
    }
}
