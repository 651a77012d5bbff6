//! Constraint damping: the resistance of the fabric grows with the rate of stretch, shear and bending.
//!
//! As in a Kelvin–Voigt body, stress is that of the strain ε + τε̇, with a retardation time τ. The second term
//! is applied once per fixed step Δt. For edges and diagonals of the compliance α between x₀ and x₁ with the
//! velocities v₀ and v₁, with n = (x₁ − x₀)/|x₁ − x₀|:
//!
//! λ = −n·(v₁ − v₀)/(w₀ + w₁ + α/τΔt), v₀ −= w₀λn, v₁ += w₁λn,
//!
//! one after the other. Each is a whole step of implicit Euler and stable for every τ. Momentum and angular
//! momentum are conserved. Rigid constraints have no strain to damp. For bending see `bend_damping`.

use crate::solver::{
    constraints::{
        bend_damping::damp_bending, compliance::Compliance, constraint::ConstraintKind,
        graph::ConstraintGraph,
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
};

/// Retardation times τ of a fabric, by which stress is ahead of strain, s; 0 is no damping.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ConstraintDamping {
    /// Retardation time of elastic edges, s.
    pub stretch: f32,
    /// Retardation time of diagonals with compliance, s.
    pub shear: f32,
    /// Retardation time of bending, s.
    pub bending: f32,
}

/// Damps the strains of a fabric with this compliance over a fixed step of `dt` seconds. Call it after
/// [`ConstraintGraph::prepare`].
pub(crate) fn damp_strains(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    compliance: &Compliance,
    damping: &ConstraintDamping,
    dt: f32,
) {
    let (bending, time) = (compliance.bending, damping.bending);
    damp_bending(workers, particles, constraints, bending, time, dt);
    for (kind, time) in [
        (ConstraintKind::Shear, damping.shear),
        (ConstraintKind::Structural, damping.stretch),
    ] {
        let is_compliant = match kind {
            ConstraintKind::Structural => compliance.is_elastic(),
            _ => compliance.shear > 0.0,
        };
        if is_compliant && time > 0.0 {
            let compliance_scale = 1.0 / (time * dt);
            for ([a, b], compliance) in constraints.compliances(kind, compliance) {
                damp_link(
                    particles,
                    [a as usize, b as usize],
                    compliance * compliance_scale,
                );
            }
        }
    }
}

/// Damps one link. `damping_compliance` is α/τΔt.
fn damp_link(particles: &mut ParticleArrays, [a, b]: [usize; 2], damping_compliance: f32) {
    let [w0, w1] = [particles.inverse_mass[a], particles.inverse_mass[b]];
    let along = particles.position.get(b) - particles.position.get(a);
    let [v0, v1] = [particles.displacement.get(a), particles.displacement.get(b)];
    let square = along.x * along.x + along.y * along.y + along.z * along.z;
    let denominator = (w0 + w1 + damping_compliance) * square;
    // Rigid links and links without length are not damped.
    if damping_compliance > 0.0 && w0 + w1 > 0.0 && square > 0.0 && denominator.is_finite() {
        let d = v1 - v0;
        let factor = (d.x * along.x + d.y * along.y + d.z * along.z) / denominator;
        particles.displacement.set(a, v0 + along * (w0 * factor));
        particles.displacement.set(b, v1 - along * (w1 * factor));
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

    /// Velocities after damping of the ends of one link of a fabric with a retardation time of 0.1 s.
    fn damped(compliance: f32, speeds: [Vec3; 2]) -> [Vec3; 2] {
        let rest: SoaVec3 = [Vec3::ZERO, Vec3::X].into_iter().collect();
        let mut graph = ConstraintGraph::new(&rest, &[(ConstraintKind::Structural, 0, 1)]);
        let mut p = ParticleArrays::new(Vec3::ZERO, rest, vec![2.0, 6.0]);
        for (i, speed) in speeds.into_iter().enumerate() {
            p.displacement.set(i, speed);
        }
        let damping = ConstraintDamping {
            stretch: 0.1,
            ..ConstraintDamping::default()
        };
        let compliance = Compliance::of_stretch(compliance);
        damp_strains(
            &mut Workers::serial(),
            &mut p,
            &mut graph,
            &compliance,
            &damping,
            DT,
        );
        [0, 1].map(|i| p.displacement.get(i))
    }

    #[test]
    fn a_link_loses_speed_as_implicit_euler_predicts() {
        // d(ẋ)/dt = −wτẋ/α.
        for compliance in [1e-4_f32, 0.02, 3.0] {
            let [a, b] = damped(compliance, [Vec3::ZERO, Vec3::X]);
            let expected = 1.0 / (1.0 + 8.0 * 0.1 * DT / compliance);
            assert!(((b - a).x - expected).abs() < 1e-5, "{compliance}");
            assert!((a / 2.0 + b / 6.0 - Vec3::X / 6.0).length() < 1e-6);
        }
    }

    #[test]
    fn motion_without_strain_is_not_damped() {
        let turns = [-Vec3::Y, Vec3::Y];
        assert_eq!(damped(0.1, turns), turns);
        let together = [Vec3::ONE; 2];
        assert_eq!(damped(0.1, together), together);
        let apart = [Vec3::ZERO, Vec3::X];
        assert_eq!(damped(0.0, apart), apart, "a rigid link");
    }

    /// Stretch and shear of a grid have separate damping, each for its own strain only.
    #[test]
    fn stretch_and_shear_are_damped_apart() {
        let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 20, 20));
        let topology = Topology::new(&TriangleMesh::read(&mesh).unwrap()).unwrap();
        let kept = |moves: fn(Vec3) -> Vec3, damping: ConstraintDamping| {
            let parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2);
            let (mut p, mut graph) = (parts.particles, parts.constraints);
            for i in 0..p.len() {
                p.displacement.set(i, moves(p.position.get(i)));
            }
            let compliance = Compliance {
                shear: 0.01,
                ..Compliance::of_stretch(0.01)
            };
            graph.prepare(&p);
            let energy = |p: &ParticleArrays| -> f32 {
                (0..p.len())
                    .map(|i| p.displacement.get(i).length_squared())
                    .sum()
            };
            let before = energy(&p);
            damp_strains(
                &mut Workers::serial(),
                &mut p,
                &mut graph,
                &compliance,
                &damping,
                DT,
            );
            energy(&p) / before
        };
        let [stretches, shears]: [fn(Vec3) -> Vec3; 2] = [
            |at| Vec3::X * (20.0 * at.x).sin(),
            |at| Vec3::X * (20.0 * at.z).sin(),
        ];
        let of_stretch = ConstraintDamping {
            stretch: 0.1,
            ..ConstraintDamping::default()
        };
        let of_shear = ConstraintDamping {
            shear: 0.1,
            ..ConstraintDamping::default()
        };
        for (moves, damping, range) in [
            (stretches, of_stretch, 0.0..0.5),
            (shears, of_shear, 0.0..0.5),
            (shears, of_stretch, 0.9999..1.0001),
        ] {
            let kept = kept(moves, damping);
            assert!(range.contains(&kept), "{damping:?}: {kept}");
        }
        assert_eq!(kept(stretches, ConstraintDamping::default()), 1.0);
    }
}
