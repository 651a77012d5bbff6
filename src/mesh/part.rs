//! Cloth that covers only a part of its mesh.

use super::{
    read::TriangleMesh,
    topology::{NO_PARTICLE, Topology},
};
use bevy::math::Vec3;

impl TriangleMesh {
    /// Keeps the triangles with at least one selected corner. Returns for each vertex whether it is not
    /// selected: where such vertices are corners of kept triangles, the part is sewn to the rest of the mesh.
    pub fn keep_part(&mut self, is_selected: impl Fn(usize) -> bool) -> Vec<bool> {
        let selected: Vec<bool> = (0..self.positions.len()).map(is_selected).collect();
        let has_selected = |corners: &[u32; 3]| corners.iter().any(|&v| selected[v as usize]);
        self.triangles.retain(has_selected);
        selected.into_iter().map(|selected| !selected).collect()
    }
}

impl Topology {
    /// Returns the particles with all their vertices on the seam.
    pub fn on_seam(&self, on_seam: &[bool]) -> Vec<u32> {
        let mut on_seam_only = vec![true; self.positions.len()];
        for (particle, on_seam) in self.vertex_to_particle.iter().zip(on_seam) {
            if particle != NO_PARTICLE && !on_seam {
                on_seam_only[particle as usize] = false;
            }
        }
        let all = (0..).zip(on_seam_only);
        let seam = all.filter(|(_, on_seam_only)| *on_seam_only);
        seam.map(|(i, _)| i).collect()
    }

    /// Returns the bounding box (lowest and highest corner) of the vertices that are not part of the cloth, if
    /// there are any.
    pub fn bounds_outside_cloth(&self, vertices: &[Vec3]) -> Option<[Vec3; 2]> {
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
    fn a_part_is_sewn_to_the_rest_along_its_border() {
        // Rows at y = 1, 0.5 and 0; the last one is selected.
        let mut mesh = TriangleMesh::read(&ClothGrid::vertical(1.0, 1.0, 3, 3).into()).unwrap();
        let vertices = mesh.positions.clone();
        let low = vertices.iter().fold(f32::INFINITY, |low, at| low.min(at.y));
        let on_seam = mesh.keep_part(|v| vertices[v].y <= low);
        assert_eq!(mesh.triangles.len(), 4);
        let topology = Topology::new(&mesh).unwrap();
        assert_eq!(topology.positions.len(), 6);
        assert_eq!(topology.on_seam(&on_seam), [0, 1, 2]);
        let [from, to] = topology.bounds_outside_cloth(&vertices).unwrap();
        assert_eq!([from.y, to.y], [low + 1.0, low + 1.0]);
    }
}
