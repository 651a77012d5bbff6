//! Hashes that identify the mesh a cloth was built from and the state of its constraints and areas. They are the
//! same on all machines.

use crate::{
    cloth::shape::ClothShape,
    mesh::{MeshBinding, Topology},
    solver::{Constraint, ConstraintGraph, Pose},
};
use bevy::math::Vec3;

/// Identifies the data from which a cloth was built.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BuildFingerprint {
    /// Fingerprint of the mesh.
    pub(crate) mesh: u64,
    /// Fingerprint of the constraints and areas.
    pub(crate) shape: ShapeFingerprint,
}

impl BuildFingerprint {
    /// Computes the fingerprint of a cloth that has just been built.
    pub(crate) fn new(
        shape: &ClothShape,
        binding: Option<&MeshBinding>,
        constraints: &ConstraintGraph,
    ) -> Self {
        Self {
            mesh: mesh_print(&shape.topology, binding),
            shape: ShapeFingerprint::of(constraints, shape),
        }
    }
}

/// Fingerprint of constraints and areas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ShapeFingerprint {
    constraints: u64,
    areas: u64,
}

impl ShapeFingerprint {
    pub(crate) fn of(constraints: &ConstraintGraph, shape: &ClothShape) -> Self {
        let mut areas = Fingerprint::default();
        areas.numbers(&shape.area);
        areas.numbers(&shape.triangles.rest_area);
        Self {
            constraints: constraints_print(constraints),
            areas: areas.0,
        }
    }

    /// Returns whether it is the fingerprint of these constraints.
    pub(crate) fn has_constraints(self, constraints: &ConstraintGraph) -> bool {
        self.constraints == constraints_print(constraints)
    }
}

fn constraints_print(constraints: &ConstraintGraph) -> u64 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.word(constraints.coarse_levels() as u64);
    for constraint in constraints.iter() {
        fingerprint.pair(constraint.ends());
        let rest = match constraint {
            Constraint::Distance(distance) => distance.rest_length,
            Constraint::Bend(bend) => {
                fingerprint.pair(bend.stencil().middle);
                bend.rho()
            }
        };
        let kind = constraint.kind() as u64;
        fingerprint.word(kind << 32 | u64::from(rest.to_bits()));
    }
    fingerprint.0
}

fn mesh_print(topology: &Topology, binding: Option<&MeshBinding>) -> u64 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.word(topology.positions.len() as u64);
    for position in &topology.positions {
        fingerprint.vector(*position);
    }
    for particle in topology.vertex_to_particle.iter() {
        fingerprint.word(particle.into());
    }
    for [a, b, c] in topology.triangles.iter() {
        fingerprint.pair([a, b]);
        fingerprint.word(c.into());
    }
    if let Some(binding) = binding {
        binding
            .fingerprint_words()
            .for_each(|word| fingerprint.word(word));
    }
    fingerprint.0
}

/// Order-dependent 64-bit hash of words. Changing any single word changes the value.
#[derive(Clone)]
pub(crate) struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    pub(crate) fn word(&mut self, word: u64) {
        // FxHash's multiplier and rotation, as in rustc; sufficient for equality checks.
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub(crate) fn vector(&mut self, vector: Vec3) {
        self.numbers(&vector.to_array());
    }

    pub(crate) fn pose(&mut self, pose: &Pose) {
        self.numbers(&pose.rotation.to_array());
        self.vector(pose.translation);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0
    }

    fn pair(&mut self, [a, b]: [u32; 2]) {
        self.word(u64::from(a) << 32 | u64::from(b));
    }

    pub(crate) fn numbers(&mut self, numbers: &[f32]) {
        for number in numbers {
            self.word(number.to_bits().into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ConstraintKind, SoaVec3};

    fn fingerprint(lengths: [f32; 3], pairs: &[(ConstraintKind, u32, u32)]) -> u64 {
        let places: SoaVec3 = lengths.iter().map(|&x| Vec3::X * x).collect();
        constraints_print(&ConstraintGraph::new(&places, pairs))
    }

    #[test]
    fn every_bit_of_the_constraints_counts() {
        use ConstraintKind::{Shear, Structural};
        let pairs = [(Structural, 0, 1), (Structural, 1, 2)];
        let at = [0.0, 1.0, 2.0];
        let whole = fingerprint(at, &pairs);
        assert_eq!(whole, fingerprint(at, &pairs));
        let others = [
            fingerprint(at, &pairs[..1]),
            fingerprint(at, &[(Shear, 0, 1), pairs[1]]),
            fingerprint([0.0, 1.0, 2.0 + f32::EPSILON * 2.0], &pairs),
            fingerprint(at, &[(Structural, 0, 2), pairs[1]]),
        ];
        assert!(others.iter().all(|&other| other != whole), "{others:?}");
    }
}
