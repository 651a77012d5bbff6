//! Builds the solver's particles, constraints and triangles from a topology.

use super::topology::Topology;
use crate::solver::{ConstraintGraph, ParticleArrays, SoaVec3, Triangles, inverse_masses};
use bevy::math::{Mat3, Vec3};

/// Cloth in the form that the solver works on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Particles, all free and at rest.
    pub particles: ParticleArrays,
    /// Distance and bend constraints.
    pub constraints: ConstraintGraph,
    /// Triangles, from which mass and air forces follow.
    pub triangles: Triangles,
    /// Area of cloth that belongs to each particle, m².
    pub areas: Vec<f32>,
}

impl Topology {
    /// Returns the rest positions in world axes, m. `to_world` rotates and scales mesh space.
    pub fn rest_in_world(&self, to_world: Mat3) -> SoaVec3 {
        self.positions.iter().map(|&p| to_world * p).collect()
    }

    /// Builds the constraints for particles with these rest positions, m. If their list is empty they are found
    /// in the triangles again.
    pub fn constraints_at(&self, rest: &SoaVec3) -> ConstraintGraph {
        let found;
        let (pairs, bends) = if self.constraints.is_empty() {
            found = self.find_constraints();
            (&found.0, &found.1)
        } else {
            (&self.constraints, &self.bends)
        };
        let mut graph = ConstraintGraph::with_grids(rest, pairs, &self.grids);
        graph.add_bends(rest, bends);
        graph.measure_aspects(rest, &self.triangles);
        graph.add_coarse_levels(rest, &self.triangles);
        graph
    }

    /// Returns the triangles of particles with these rest positions, m.
    pub(crate) fn triangles_at(&self, rest: &SoaVec3) -> Triangles {
        Triangles::new(self.triangles.clone(), rest).with_grids(&self.grids)
    }

    /// Builds a cloth of this shape at `origin` (m), of a fabric of `areal_density` (kg/m²).
    /// `to_world` rotates and scales mesh space into world axes; the mesh so transformed is the rest state.
    pub fn assemble(&self, origin: Vec3, to_world: Mat3, areal_density: f32) -> Assembly {
        let rest = self.rest_in_world(to_world);
        let triangles = self.triangles_at(&rest);
        let areas = triangles.particle_areas(rest.len());
        let masses = inverse_masses(&areas, areal_density).collect();
        Assembly {
            constraints: self.constraints_at(&rest),
            particles: ParticleArrays::new(origin, rest, masses),
            triangles,
            areas,
        }
    }
}
