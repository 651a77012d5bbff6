//! From a topology to what the solver works on.

use super::topology::Topology;
use crate::solver::{ConstraintGraph, ParticleArrays, SoaVec3, Triangles, inverse_masses};
use bevy::math::{Mat3, Vec3};

/// A cloth, ready for the solver.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Assembly {
    /// Its particles, all free and at rest.
    pub particles: ParticleArrays,
    /// What holds them together.
    pub constraints: ConstraintGraph,
    /// What carries the mass and catches the wind.
    pub triangles: Triangles,
    /// Area that belongs to each particle, m².
    pub areas: Vec<f32>,
}

impl Topology {
    /// The rest positions in world axes, m. `to_world` turns and scales mesh space.
    pub fn rest_in_world(&self, to_world: Mat3) -> SoaVec3 {
        self.positions.iter().map(|&p| to_world * p).collect()
    }

    /// The constraints of particles that are now in these rest places. If their list is empty they are
    /// found in the triangles again.
    pub fn constraints_at(&self, rest: &SoaVec3) -> ConstraintGraph {
        let found;
        let (pairs, bends) = if self.constraints.is_empty() {
            found = self.find_constraints();
            (&found.0, &found.1)
        } else {
            (&self.constraints, &self.bends)
        };
        let mut graph = ConstraintGraph::woven(rest, pairs, &self.sheets);
        graph.add_bends(rest, bends);
        graph.measure_aspects(rest, &self.triangles);
        graph
    }

    /// Puts a cloth of this shape at `origin` (m), of a fabric of `areal_density` (kg/m²).
    /// `to_world` turns and scales mesh space into world axes; what it makes of the mesh is the rest
    /// state.
    pub fn assemble(&self, origin: Vec3, to_world: Mat3, areal_density: f32) -> Assembly {
        let rest = self.rest_in_world(to_world);
        let triangles = Triangles::new(self.triangles.clone(), &rest).woven_into(&self.sheets);
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
