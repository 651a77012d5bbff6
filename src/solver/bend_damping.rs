//! Damps bending: fabric that is bent faster resists more.
//!
//! The moment of a Kelvin–Voigt beam is B(κ + τκ̇), with the curvature κ and a retardation time τ. Its second
//! part is taken once in a fixed step Δt, by what bends do to places, done to velocities: with K as in
//! `thread::bends`, which tells curves from places, and α = ρ/B of each bend,
//!
//! (KWKᵀ + α/τΔt)λ = −Kv, Δv = WKᵀλ,
//!
//! is a whole step of implicit Euler. What a cloth does as a whole has no curve: momentum is kept, and so is
//! angular momentum but for what the threads are curved already. The shorter the waves, the sooner they are
//! gone: what trembles from one particle to the next in a few steps, what can be seen hardly at all.

use super::{
    batches::Batch,
    constraints::ConstraintGraph,
    crew::Leader,
    general::{General, GeneralSoftness, relax_general},
    particles::ParticleArrays,
    relax::{Points, Softness},
    sheet::{SheetSoftness, relax_sheet},
};

/// Damps the bending of fabric with this bending stiffness, N·m, and retardation time, s, over a fixed step
/// of `dt` seconds. To be called after [`ConstraintGraph::prepare`].
pub fn damp_bending(
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    stiffness: f32,
    retardation: f32,
    dt: f32,
) {
    damp_bending_shared(
        &mut Leader::alone(),
        particles,
        constraints,
        stiffness,
        retardation,
        dt,
    );
}

/// [`damp_bending`], shared with the leader's helpers.
pub(crate) fn damp_bending_shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    stiffness: f32,
    retardation: f32,
    dt: f32,
) {
    let damping = stiffness * retardation * dt;
    if damping.is_nan() || damping <= 0.0 {
        return;
    }
    let soft = SheetSoftness {
        warp: Softness::TAUT,
        weft: Softness::TAUT,
        shear: Softness::TAUT,
        bend: Some(Softness {
            alpha: 1.0 / damping,
            weakness: 1.0,
        }),
        direct: true,
        share: 1.0,
        limit: None,
        longest: None,
        coarse: false,
        is_turn: false,
        damping: true,
    };
    let mut points = Points::of(&mut particles.displacement, &particles.inverse_mass);
    let all = General {
        hinges: &constraints.hinges,
        strands: &mut constraints.strands,
        ..General::default()
    };
    let softness = GeneralSoftness {
        of_batch: |_: &Batch| Softness::TAUT,
        of_strands: soft,
    };
    relax_general(&mut points, all, 1, softness);
    for sheet in &mut constraints.sheets {
        relax_sheet(leader, &mut points, sheet, soft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mesh::{ClothGrid, Topology, TriangleMesh},
        solver::{Bend, ConstraintKind, SoaVec3},
    };
    use bevy::{
        math::{Mat3, Vec3},
        mesh::Mesh,
    };

    const STIFFNESS: f32 = 1e-4;
    const RETARDATION: f32 = 0.05;
    const DT: f32 = 1.0 / 60.0;
    const STEP: f32 = 0.02;
    const MASS: f32 = 4e-6;

    /// A straight chain along x, as of a strip that is 1 m wide.
    fn chain(count: u32) -> (ParticleArrays, ConstraintGraph) {
        let places: SoaVec3 = (0..count).map(|i| Vec3::X * (STEP * i as f32)).collect();
        let particles =
            ParticleArrays::new(Vec3::ZERO, places.clone(), vec![1.0 / MASS; count as usize]);
        let pairs: Vec<_> = (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        let mut graph = ConstraintGraph::new(&places, &pairs);
        let bends: Vec<_> = (2..count).map(|i| Bend::along([i - 2, i - 1, i])).collect();
        graph.add_bends(&places, &bends);
        graph.prepare(&particles);
        (particles, graph)
    }

    fn damp(particles: &mut ParticleArrays, graph: &mut ConstraintGraph) {
        damp_bending(particles, graph, STIFFNESS, RETARDATION, DT);
    }

    #[test]
    fn momentum_and_turning_are_kept() {
        let (mut p, mut graph) = chain(40);
        for i in 0..40 {
            let shake = Vec3::new((i % 7) as f32, (i % 5) as f32, (i % 3) as f32) - 2.0;
            p.displacement.set(i, shake * 1e-3);
        }
        let sums = |p: &ParticleArrays| {
            let at = |i: usize| (p.position.get(i), p.displacement.get(i));
            let all = (0..40).map(at);
            all.fold([Vec3::ZERO; 2], |[sum, turn], (x, d)| {
                [sum + d, turn + x.cross(d)]
            })
        };
        let before = sums(&p);
        damp(&mut p, &mut graph);
        let after = sums(&p);
        for (before, after) in before.into_iter().zip(after) {
            assert!(before.distance(after) < 1e-6, "{before} became {after}");
        }
        // What turns as a whole is not slowed.
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

    /// A wave in a strip of fabric loses Bτk⁴/σ of its speed each second, with k = 2 sin(q/2)/h for q from
    /// one particle to the next, h apart.
    #[test]
    fn waves_fade_as_they_should() {
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
            let expected = 1.0 / (1.0 + STIFFNESS * RETARDATION * DT * k.powi(4) / density);
            // Far from the ends, where the wave is large.
            let middle = 4 * length as usize / 2;
            let range = middle - 200..middle + 200;
            let middle = range.max_by(|&a, &b| wave(a).abs().total_cmp(&wave(b).abs()));
            let middle = middle.unwrap();
            let kept = p.displacement.get(middle).y / wave(middle);
            // Particles of a grid do not all weigh the same, which the shortest waves notice.
            if waves < 2.0 {
                let message = format!("{waves}: {kept}, not {expected}");
                assert!((kept - expected).abs() < 0.02, "{message}");
            } else {
                assert!(kept.abs() < 0.25, "{waves}: {kept}");
            }
        }
    }
}
