//! Damps strain: fabric that is stretched, sheared or bent faster resists more.
//!
//! As in a Kelvin–Voigt body, stress is that of the strain ε + τε̇, with a retardation time τ. The second part
//! is taken once in a fixed step Δt. For threads and diagonals of the compliance α between x₀ and x₁, moving at
//! v₀ and v₁, with n = (x₁ − x₀)/|x₁ − x₀|:
//!
//! λ = −n·(v₁ − v₀)/(w₀ + w₁ + α/τΔt), v₀ −= w₀λn, v₁ += w₁λn,
//!
//! one after the other: each is a whole step of implicit Euler, so that no time is too long. Momentum and
//! angular momentum are kept. What is rigid has no strain to damp. For bending see `bend_damping`.

use super::{
    bend_damping::damp_bending_shared,
    constraints::{Compliance, ConstraintGraph, ConstraintKind},
    crew::Leader,
    particles::ParticleArrays,
};

/// By how long stress is ahead of strain, s; 0 is no damping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Retardation {
    /// Of threads that give.
    pub stretch: f32,
    /// Of diagonals that give.
    pub shear: f32,
    /// Of bending.
    pub bending: f32,
}

/// Damps the strains of fabric with this compliance over a fixed step of `dt` seconds. To be called after
/// [`ConstraintGraph::prepare`].
pub fn damp_strains(
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    compliance: &Compliance,
    retardation: &Retardation,
    dt: f32,
) {
    damp_strains_shared(
        &mut Leader::alone(),
        particles,
        constraints,
        compliance,
        retardation,
        dt,
    );
}

/// [`damp_strains`], that of bending shared with the leader's helpers.
pub(crate) fn damp_strains_shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    compliance: &Compliance,
    retardation: &Retardation,
    dt: f32,
) {
    let (bending, time) = (compliance.bending, retardation.bending);
    damp_bending_shared(leader, particles, constraints, bending, time, dt);
    for (kind, time) in [
        (ConstraintKind::Shear, retardation.shear),
        (ConstraintKind::Structural, retardation.stretch),
    ] {
        let gives = match kind {
            ConstraintKind::Structural => compliance.is_elastic(),
            _ => compliance.shear > 0.0,
        };
        if gives && time > 0.0 {
            let softer = 1.0 / (time * dt);
            for ([a, b], compliance) in constraints.compliances(kind, compliance) {
                damp(particles, [a as usize, b as usize], compliance * softer);
            }
        }
    }
}

/// Damps one link. `softness` is α/τΔt.
fn damp(particles: &mut ParticleArrays, [a, b]: [usize; 2], softness: f32) {
    let [w0, w1] = [particles.inverse_mass[a], particles.inverse_mass[b]];
    let along = particles.position.get(b) - particles.position.get(a);
    let [v0, v1] = [particles.displacement.get(a), particles.displacement.get(b)];
    let square = along.x * along.x + along.y * along.y + along.z * along.z;
    let below = (w0 + w1 + softness) * square;
    // What is rigid, or has no direction, is left alone.
    if softness > 0.0 && w0 + w1 > 0.0 && square > 0.0 && below.is_finite() {
        let d = v1 - v0;
        let share = (d.x * along.x + d.y * along.y + d.z * along.z) / below;
        particles.displacement.set(a, v0 + along * (w0 * share));
        particles.displacement.set(b, v1 - along * (w1 * share));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{ClothGrid, Topology, TriangleMesh},
        solver::SoaVec3,
    };
    use bevy::{
        math::{Mat3, Vec3},
        mesh::Mesh,
    };

    const DT: f32 = 1.0 / 60.0;

    /// One link of a fabric that damps for 0.1 s.
    fn damped(compliance: f32, speeds: [Vec3; 2]) -> [Vec3; 2] {
        let rest: SoaVec3 = [Vec3::ZERO, Vec3::X].into_iter().collect();
        let mut graph = ConstraintGraph::new(&rest, &[(ConstraintKind::Structural, 0, 1)]);
        let mut p = ParticleArrays::new(Vec3::ZERO, rest, vec![2.0, 6.0]);
        for (i, speed) in speeds.into_iter().enumerate() {
            p.displacement.set(i, speed);
        }
        let retardation = Retardation {
            stretch: 0.1,
            ..Retardation::default()
        };
        let compliance = Compliance::of_threads(compliance);
        damp_strains(&mut p, &mut graph, &compliance, &retardation, DT);
        [0, 1].map(|i| p.displacement.get(i))
    }

    #[test]
    fn a_link_loses_what_implicit_euler_says() {
        // d(ẋ)/dt = −wτẋ/α.
        for compliance in [1e-4_f32, 0.02, 3.0] {
            let [a, b] = damped(compliance, [Vec3::ZERO, Vec3::X]);
            let expected = 1.0 / (1.0 + 8.0 * 0.1 * DT / compliance);
            assert!(((b - a).x - expected).abs() < 1e-5, "{compliance}");
            assert!((a / 2.0 + b / 6.0 - Vec3::X / 6.0).length() < 1e-6);
        }
    }

    #[test]
    fn what_does_not_strain_is_not_damped() {
        let turns = [-Vec3::Y, Vec3::Y];
        assert_eq!(damped(0.1, turns), turns);
        let together = [Vec3::ONE; 2];
        assert_eq!(damped(0.1, together), together);
        let apart = [Vec3::ZERO, Vec3::X];
        assert_eq!(damped(0.0, apart), apart, "what is rigid");
    }

    /// Each direction of a sheet has its own damping, and only the strain that it is for.
    #[test]
    fn stretch_and_shear_are_damped_apart() {
        let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 20, 20));
        let topology = Topology::new(&TriangleMesh::read(&mesh).unwrap()).unwrap();
        let kept = |moves: fn(Vec3) -> Vec3, retardation: Retardation| {
            let parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
            let (mut p, mut graph) = (parts.particles, parts.constraints);
            for i in 0..p.len() {
                p.displacement.set(i, moves(p.position.get(i)));
            }
            let compliance = Compliance {
                shear: 0.01,
                ..Compliance::of_threads(0.01)
            };
            graph.prepare(&p);
            let energy = |p: &ParticleArrays| -> f32 {
                (0..p.len())
                    .map(|i| p.displacement.get(i).length_squared())
                    .sum()
            };
            let before = energy(&p);
            damp_strains(&mut p, &mut graph, &compliance, &retardation, DT);
            energy(&p) / before
        };
        let [stretches, shears]: [fn(Vec3) -> Vec3; 2] = [
            |at| Vec3::X * (20.0 * at.x).sin(),
            |at| Vec3::X * (20.0 * at.z).sin(),
        ];
        let of_stretch = Retardation {
            stretch: 0.1,
            ..Retardation::default()
        };
        let of_shear = Retardation {
            shear: 0.1,
            ..Retardation::default()
        };
        for (moves, retardation, range) in [
            (stretches, of_stretch, 0.0..0.5),
            (shears, of_shear, 0.0..0.5),
            (shears, of_stretch, 0.9999..1.0001),
        ] {
            let kept = kept(moves, retardation);
            assert!(range.contains(&kept), "{retardation:?}: {kept}");
        }
        assert_eq!(kept(stretches, Retardation::default()), 1.0);
    }
}
