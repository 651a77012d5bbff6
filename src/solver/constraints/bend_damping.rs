//! Damps bending: the resistance of the fabric grows with the rate of bending.
//!
//! The moment of a Kelvin–Voigt beam is B(κ + τκ̇), with the curvature κ and a retardation time τ. The second
//! term is applied once per fixed step Δt, by the bend solver applied to velocities instead of positions: with K
//! as in `chain::bending`, which maps positions to curvatures, and α = ρ/B of each bend,
//!
//! (KWKᵀ + α/τΔt)λ = −Kv, Δv = WKᵀλ,
//!
//! is a whole step of implicit Euler. Rigid motion has no curvature: momentum is conserved, and angular momentum
//! too up to the existing curvature of the chains. Short waves are damped fastest: vibrations from one particle
//! to the next vanish within a few steps, visible waves are hardly damped.

use crate::solver::{
    constraints::{
        general::{SolvedKind, relax_general},
        graph::ConstraintGraph,
        grid::relax_grid,
        points::{PassParams, Points, Regularization},
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
};

/// Damps the bending of a fabric with this bending stiffness, N·m, and retardation time, s, over a fixed step
/// of `dt` seconds. Call it after [`ConstraintGraph::prepare`].
pub(crate) fn damp_bending(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    stiffness: f32,
    retardation_time: f32,
    dt: f32,
) {
    let damping = stiffness * retardation_time * dt;
    if damping.is_nan() || damping <= 0.0 {
        return;
    }
    let params = PassParams {
        bend: Some(Regularization {
            alpha: 1.0 / damping,
            diagonal_scale: 1.0,
        }),
        is_damping: true,
        shear: None,
        is_pure_shear: false,
        chains: None,
        edges: None,
        is_reversed: false,
    };
    let mut points = Points::of(&mut particles.displacement, &particles.inverse_mass);
    let (general, all) = (&mut constraints.general, &SolvedKind::ALL);
    relax_general(workers, &mut points, general, all, [params].into_iter());
    for grid in &mut constraints.grids {
        relax_grid(workers, &mut points, grid, params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{ClothGrid, Topology, TriangleMesh},
        solver::{BendStencil, ConstraintKind, SoaVec3},
    };
    use bevy::{
        math::{Mat3, Vec3},
        mesh::Mesh,
    };

    const STIFFNESS: f32 = 1e-4;
    const RETARDATION_TIME: f32 = 0.05;
    const DT: f32 = 1.0 / 60.0;
    const STEP: f32 = 0.02;
    const MASS: f32 = 4e-6;

    /// A straight chain along x that represents a strip 1 m wide.
    fn chain(count: u32) -> (ParticleArrays, ConstraintGraph) {
        let positions: SoaVec3 = (0..count).map(|i| Vec3::X * (STEP * i as f32)).collect();
        let particles = ParticleArrays::new(
            Vec3::ZERO,
            positions.clone(),
            vec![1.0 / MASS; count as usize],
        );
        let pairs: Vec<_> = (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        let mut graph = ConstraintGraph::new(&positions, &pairs);
        let bends: Vec<_> = (2..count)
            .map(|i| BendStencil::three_point([i - 2, i - 1, i]))
            .collect();
        graph.add_bends(&positions, &bends);
        graph.prepare(&particles);
        (particles, graph)
    }

    fn damp(particles: &mut ParticleArrays, graph: &mut ConstraintGraph) {
        damp_bending(
            &mut Workers::serial(),
            particles,
            graph,
            STIFFNESS,
            RETARDATION_TIME,
            DT,
        );
    }

    #[test]
    fn momentum_and_angular_momentum_are_kept() {
        let (mut p, mut graph) = chain(40);
        for i in 0..40 {
            let shake = Vec3::new((i % 7) as f32, (i % 5) as f32, (i % 3) as f32) - 2.0;
            p.displacement.set(i, shake * 1e-3);
        }
        let sums = |p: &ParticleArrays| {
            let at = |i: usize| (p.position.get(i), p.displacement.get(i));
            let all = (0..40).map(at);
            all.fold([Vec3::ZERO; 2], |[linear, angular], (x, d)| {
                [linear + d, angular + x.cross(d)]
            })
        };
        let before = sums(&p);
        damp(&mut p, &mut graph);
        let after = sums(&p);
        for (before, after) in before.into_iter().zip(after) {
            assert!(before.distance(after) < 1e-6, "{before} became {after}");
        }
        // Rigid rotation is not damped.
        let (mut p, mut graph) = chain(40);
        for i in 0..40 {
            p.displacement.set(i, Vec3::Y * (0.01 * i as f32));
        }
        let before = p.displacement.clone();
        damp(&mut p, &mut graph);
        for i in 0..40 {
            assert!(before.get(i).distance(p.displacement.get(i)) < 1e-6);
        }
    }

    /// A wave in a strip of fabric loses the fraction Bτk⁴/σ of its velocity per second, with k = 2 sin(q/2)/h
    /// for a phase of q from one particle to the next, h apart.
    #[test]
    fn waves_fade_at_the_analytic_rate() {
        let (length, density) = (400, 0.2);
        let mesh = Mesh::from(ClothGrid::new(
            STEP * 3.0,
            STEP * (length - 1) as f32,
            4,
            length,
        ));
        let topology = Topology::new(&TriangleMesh::read(&mesh).unwrap()).unwrap();
        for waves in [0.05_f32, 0.3, 1.0, 1.5, 3.1] {
            let parts = topology.assemble(Vec3::ZERO, Mat3::IDENTITY, density);
            let (mut p, mut graph) = (parts.particles, parts.constraints);
            graph.prepare(&p);
            let wave = |i: usize| 1e-3 * (waves * (i / 4) as f32).sin();
            for i in 0..p.len() {
                p.displacement.set(i, Vec3::Y * wave(i));
            }
            damp(&mut p, &mut graph);
            let k = 2.0 * (0.5 * waves).sin() / STEP;
            let expected = 1.0 / (1.0 + STIFFNESS * RETARDATION_TIME * DT * k.powi(4) / density);
            // Far from the ends, where the wave is large.
            let middle = 4 * length as usize / 2;
            let range = middle - 200..middle + 200;
            let middle = range.max_by(|&a, &b| wave(a).abs().total_cmp(&wave(b).abs()));
            let middle = middle.unwrap();
            let kept = p.displacement.get(middle).y / wave(middle);
            // The particles of a grid do not all have the same mass, which matters for the shortest waves.
            if waves < 2.0 {
                let message = format!("{waves}: {kept}, not {expected}");
                assert!((kept - expected).abs() < 0.02, "{message}");
            } else {
                assert!(kept.abs() < 0.25, "{waves}: {kept}");
            }
        }
    }
}
