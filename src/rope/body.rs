//! State of a built rope besides its particles and constraints, and its topology.

use super::{Rope, RopeLayout, layout::polyline_length};
use crate::mesh::{CompactIndices, Topology, tube::mean_scale};
use crate::solver::{
    BendStencil, Constraint, ConstraintGraph, ConstraintKind, Corners, RopeSegments, SoaVec3,
};
use bevy::prelude::*;

/// Data from which the lengths of a rope are computed, only on ropes. Written when the rope is built; read when it is
/// reset, and to find out whether it must be built again.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub(crate) struct RopeBody {
    /// Rope that it was built from, as the user wrote it.
    pub(crate) built_from: Rope,
    points: Vec<Vec3>,
    slack: f32,
    /// Diameter in the frame of the entity, m.
    thickness: f32,
    particles: u32,
}

impl RopeBody {
    /// Creates the data of a rope with valid numbers.
    pub(crate) fn new(built_from: Rope, rope: &Rope, layout: &RopeLayout) -> Self {
        Self {
            built_from,
            points: rope.points.clone(),
            slack: layout.slack,
            thickness: rope.thickness,
            particles: rope.particles,
        }
    }

    /// Returns the segments of the uncut rope, with lengths and diameter by the entity's scale, and sets the rest
    /// lengths of the constraints: a rope is straight at rest. It resists bending and stretching as a strip of its
    /// fabric as wide as its circumference.
    pub(crate) fn rest_segments(
        &self,
        to_world: Mat3,
        constraints: &mut ConstraintGraph,
    ) -> RopeSegments {
        let ends: Vec<[u32; 2]> = (1..self.particles).map(|i| [i - 1, i]).collect();
        let length = length_in_world(&self.points, self.slack, to_world);
        let segment = (length / ends.len() as f64) as f32;
        let diameter = self.thickness * mean_scale(to_world);
        let links = constraints.iter().filter_map(Constraint::distance);
        let rest: Vec<f32> = links
            .map(|c| segment * c.particles[0].abs_diff(c.particles[1]) as f32)
            .collect();
        let lengths = constraints.rest_lengths_mut().zip(rest);
        lengths.for_each(|(length, rest)| *length = rest);
        let circumference = std::f32::consts::PI * diameter;
        for rho in constraints.bend_rhos_mut() {
            *rho = segment * segment * segment / circumference;
        }
        constraints.set_aspect(segment / circumference);
        RopeSegments {
            rest_length: vec![segment; ends.len()],
            ends,
            diameter,
        }
    }
}

/// Returns the rest length in the world, m, of a rope through points of its entity's frame.
pub(crate) fn length_in_world(points: &[Vec3], slack: f32, to_world: Mat3) -> f64 {
    let polyline: Vec<Vec3> = points.iter().map(|&point| to_world * point).collect();
    polyline_length(&polyline) * f64::from(slack)
}

/// Builds the topology of a rope: one particle per vertex, a structural constraint between neighbours, a bend
/// constraint at every particle but the ends.
pub(super) fn topology(positions: Vec<Vec3>) -> Topology {
    let count = positions.len() as u32;
    Topology {
        vertex_to_particle: CompactIndices::identity(count as usize),
        positions: positions.into(),
        triangles: Corners::default(),
        constraints: (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect(),
        bends: (2..count)
            .map(|i| BendStencil::three_point([i - 2, i - 1, i]))
            .collect(),
        grids: Vec::new(),
    }
}

impl RopeLayout {
    /// Builds the topology and the constraints of the rope. Their rest lengths are set by [`RopeBody::rest_segments`].
    pub(crate) fn build_topology(self) -> (Topology, ConstraintGraph) {
        // Batched along a straight line, the shape at rest: all constraints have one direction there, so few
        // batches.
        let straight: SoaVec3 = (0..self.positions.len())
            .map(|i| Vec3::X * i as f32)
            .collect();
        let mut topology = topology(self.positions);
        let pairs = std::mem::take(&mut topology.constraints);
        let mut constraints = ConstraintGraph::new(&straight, &pairs);
        constraints.add_bends(&straight, &std::mem::take(&mut topology.bends));
        (topology, constraints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(rope: &Rope, to_world: Mat3) -> (RopeSegments, ConstraintGraph) {
        let layout = RopeLayout::new(rope, Vec3::NEG_Y).unwrap();
        let body = RopeBody::new(rope.clone(), rope, &layout);
        let (_, mut constraints) = layout.build_topology();
        let segments = body.rest_segments(to_world, &mut constraints);
        (segments, constraints)
    }

    #[test]
    fn rest_lengths_add_up_to_the_requested_length() {
        let corner = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)];
        for (rope, scale, length) in [
            (Rope::new(corner, 12), 1.0, 2.0),
            (Rope::new(corner, 12), 3.0, 6.0),
            (
                Rope {
                    length: Some(5.0),
                    ..Rope::new(corner, 12)
                },
                2.0,
                10.0,
            ),
        ] {
            let (segments, constraints) = built(&rope, Mat3::from_diagonal(Vec3::splat(scale)));
            let structural = constraints.of_kind(ConstraintKind::Structural);
            let total: f32 = structural.map(|(_, rest)| rest).sum();
            assert!((total - length).abs() < 1e-5, "{total} m of {length} m");
            assert!((segments.diameter - 0.03 * scale).abs() < 2e-6);
            let bends = constraints.iter().filter_map(Constraint::bend);
            let rhos: Vec<f32> = bends.map(|bend| bend.rho()).collect();
            assert_eq!(rhos.len(), 10);
            let rho = (length / 11.0_f32).powi(3) / (std::f32::consts::PI * 0.03 * scale);
            assert!(rhos.iter().all(|own| (own / rho - 1.0).abs() < 1e-5));
        }
    }

    #[test]
    fn two_particles_make_a_rope() {
        let (segments, constraints) = built(&Rope::between(Vec3::ZERO, Vec3::Y, 2), Mat3::IDENTITY);
        assert_eq!(constraints.len(), 1);
        assert_eq!(segments.rest_length, [1.0]);
    }
}
