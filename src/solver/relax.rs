//! Constraint projection: each constraint in turn moves its particles so that it is satisfied.
//!
//! With compliance 0 this is Jakobsen's "Advanced Character Physics" (2001); with compliance it is
//! XPBD (Macklin, Müller, Chentanez 2016), and with one iteration per substep it is "Small Steps in
//! Physics Simulation" (Macklin et al. 2019). The code is the same.

use crate::solver::{
    constraints::{
        chain::RIGID_LENGTH_LIMIT,
        coloring::Batch,
        general::{GeneralConstraints, GeneralSolveParams, relax_general},
        graph::{Compliance, ConstraintGraph, ConstraintKind},
        grid::{GridSolveParams, relax_grid},
        points::{Points, Regularization},
        ramp::RelaxationFactor,
        stretch_solver::StretchSolver,
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::aligned::AlignedVec,
};

/// Settings of [`relax`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaxSettings {
    /// Compliance of the fabric.
    pub compliance: Compliance,
    /// Solver for stretch constraints.
    pub stretch_solver: StretchSolver,
    /// Largest allowed strain of elastic stretch constraints, as a fraction of their rest length; infinity means
    /// no limit. Not applied while `loads` are recorded, because a force that the limit carries is not in λ.
    pub strain_limit: f32,
    /// Number of iterations over all constraints.
    pub iterations: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// Relaxation factor ω of all corrections, normally 1. With compliance it has an effect only where it is the
    /// softer of the two.
    pub relaxation_factor: RelaxationFactor,
    /// Number of substeps of this step that follow. The coarse levels of grids of up to about 128 particles along
    /// each side are solved in every second substep, including the last: the chains of these grids are short
    /// enough to be solved directly without the coarse level in between.
    pub substeps_left: u32,
    /// Whether to record the multiplier of each structural constraint, for `ConstraintGraph::add_loads`.
    pub loads: bool,
}

/// Solves all constraints: distances in each iteration, bends in the first one only. The compliance of bends
/// exceeds the error that one iteration leaves by far, so further iterations would not make them stiffer.
///
/// For a constraint of rest length L between x₀ and x₁ with inverse masses w₀ and w₁ and
/// compliance α, with d = x₁ − x₀, C = |d| − L and α̃ = α/Δt²:
/// Δλ = −(C + α̃λ) / (w₀ + w₁ + α̃), x₀ −= w₀Δλ·d/|d|, x₁ += w₁Δλ·d/|d|,
/// where λ is the sum of the Δλ of this substep.
///
/// The strain limit of elastic chains is then enforced on each chain as a whole: links may be shorter than the
/// limit, but not longer (Provot, "Deformation Constraints in a Mass-Spring Model to Describe Rigid Cloth
/// Behavior", 1995).
///
/// A cloth without pins loses angular momentum by this; [`ConstraintGraph::finish`] restores it at the end of the
/// step.
pub fn relax(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    settings: &RelaxSettings,
) {
    relax_constraints(workers, particles, constraints, settings);
    constraints.angular_momentum.record(workers, particles);
}

fn relax_constraints(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    settings: &RelaxSettings,
) {
    let RelaxSettings {
        compliance,
        iterations,
        dt,
        relaxation_factor,
        strain_limit,
        ..
    } = *settings;
    let inverse_dt2 = 1.0 / (dt * dt);
    let regularization = |compliance: f32| Regularization {
        alpha: compliance * inverse_dt2,
        diagonal_scale: 1.0 / relaxation_factor.get(),
    };
    let direct = settings.stretch_solver == StretchSolver::Direct;
    let chain_regularization = |compliance: f32| Regularization {
        diagonal_scale: if direct {
            1.0 + relaxation_factor.regularization()
        } else {
            1.0 / relaxation_factor.get()
        },
        ..regularization(compliance)
    };
    let elastic = compliance.is_elastic();
    let limited = elastic && strain_limit.is_finite() && !settings.loads;
    let limit = limited.then_some(1.0 + strain_limit);
    let resolve = direct && !elastic && relaxation_factor.is_rigid();
    let resolve_above = limit.or(resolve.then_some(RIGID_LENGTH_LIMIT));
    let with_bends = GridSolveParams {
        // Replaced by the values of each grid.
        warp: Regularization::RIGID,
        weft: Regularization::RIGID,
        shear: Regularization::RIGID,
        bend: (compliance.bending > 0.0).then(|| Regularization {
            alpha: inverse_dt2 / compliance.bending,
            diagonal_scale: 1.0 / relaxation_factor.get(),
        }),
        direct,
        stretch_limit: limit,
        resolve_above,
        // Forces carried by the coarse level are missing in λ, so it is off while loads are recorded. Elastic
        // chains without a strain limit have no largest length that it could enforce.
        coarse: (limited || direct && !elastic) && relaxation_factor.is_rigid() && !settings.loads,
        coarse_on_small_grids: settings.substeps_left.is_multiple_of(2),
        relaxation_factor: relaxation_factor.get(),
        damping_only: false,
    };
    let outside_grids = constraints.compliance_outside_grids(&compliance);
    let ConstraintGraph {
        batches,
        chain_batches,
        grids,
        bends,
        ..
    } = constraints;

    // With one iteration λ is 0 when it is read, and it is not read again.
    let needs_lambda = |kind| {
        let is_compliant = match kind {
            ConstraintKind::Structural => elastic,
            _ => compliance.of(kind) > 0.0,
        };
        let records_load = settings.loads && kind == ConstraintKind::Structural;
        records_load || (is_compliant && iterations > 1)
    };
    let clear = |lambda: &mut AlignedVec, needed: bool, len: usize| {
        lambda.clear();
        lambda.resize(if needed { len } else { 0 }, 0.0);
    };
    for batch in batches.iter_mut() {
        let needed = needs_lambda(batch.kind);
        clear(&mut batch.lambda, needed, batch.pairs.len());
    }
    for set in grids.iter_mut().flat_map(|grid| &mut grid.sets) {
        let (needed, len) = (needs_lambda(set.kind()), set.rest.len());
        clear(&mut set.lambda, needed, len);
    }
    for list in chain_batches
        .iter_mut()
        .flat_map(|chain_batch| &mut chain_batch.by_kind)
    {
        let (needed, len) = (needs_lambda(list.kind), list.rest.len());
        clear(&mut list.lambda, needed, len);
    }

    let mut points = Points::of(&mut particles.position, &particles.inverse_mass);
    // Edges outside grids are neither warp nor weft.
    let edge = outside_grids.of(ConstraintKind::Structural);
    let chain_warp = chain_regularization(edge);
    let [edge, diagonal] = [edge, outside_grids.shear].map(regularization);
    let general_params = |grid_params: GridSolveParams| GeneralSolveParams {
        batch_regularization: |batch: &Batch| match batch.kind {
            ConstraintKind::Structural => edge,
            _ => diagonal,
        },
        chain_params: GridSolveParams {
            warp: chain_warp,
            ..grid_params
        },
    };
    let without_bends = GridSolveParams {
        bend: None,
        ..with_bends
    };
    // The order is always the same: reversing it in every other pass removes its bias, but pumps energy into the
    // cloth. Stretch constraints come last, because the last ones are satisfied best.
    let first_structural =
        batches.partition_point(|batch| batch.kind != ConstraintKind::Structural);
    let (before, after) = batches.split_at_mut(first_structural);
    if grids.is_empty() {
        let first = iterations.min(1);
        for (passes, params) in [(first, with_bends), (iterations - first, without_bends)] {
            let all = GeneralConstraints {
                bends,
                before: &mut *before,
                chain_batches: &mut *chain_batches,
                after: &mut *after,
            };
            relax_general(&mut points, all, passes, general_params(params));
        }
        return limit_edge_strain(&mut points, after, limit);
    }
    for iteration in 0..iterations {
        let params = if iteration == 0 {
            with_bends
        } else {
            without_bends
        };
        let before_grids = GeneralConstraints {
            bends,
            before: &mut *before,
            ..GeneralConstraints::default()
        };
        relax_general(&mut points, before_grids, 1, general_params(params));
        for grid in &mut *grids {
            let compliance = grid.compliance(&compliance);
            let params = GridSolveParams {
                warp: chain_regularization(compliance.warp),
                weft: chain_regularization(compliance.weft),
                shear: regularization(compliance.shear),
                ..params
            };
            relax_grid(workers, &mut points, grid, params);
        }
        let structural = GeneralConstraints {
            chain_batches: &mut *chain_batches,
            after: &mut *after,
            ..GeneralConstraints::default()
        };
        relax_general(&mut points, structural, 1, general_params(params));
    }
    limit_edge_strain(&mut points, after, limit);
}

/// Enforces the strain limit on edges that belong to no chain, one edge after the other: few are at the limit.
fn limit_edge_strain(points: &mut Points, batches: &[Batch], limit: Option<f32>) {
    let Some(limit) = limit else {
        return;
    };
    for batch in batches {
        for (&[a, b], &rest) in batch.pairs.iter().zip(&batch.rest) {
            let (a, b, most) = (a as usize, b as usize, rest * limit);
            let [dx, dy, dz] = [&points.x, &points.y, &points.z].map(|plane| plane[b] - plane[a]);
            let square = dx * dx + dy * dy + dz * dz;
            let (wa, wb) = (points.w[a], points.w[b]);
            if square > most * most && wa + wb > 0.0 {
                let length = square.sqrt();
                let factor = (most - length) / ((wa + wb) * length);
                for (plane, d) in [&mut points.x, &mut points.y, &mut points.z]
                    .into_iter()
                    .zip([dx, dy, dz])
                {
                    plane[a] -= wa * factor * d;
                    plane[b] += wb * factor * d;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ConstraintKind, SoaVec3};
    use bevy::math::Vec3;

    fn pair(w: [f32; 2], length: f32) -> (ParticleArrays, ConstraintGraph) {
        let rest: SoaVec3 = [Vec3::ZERO, Vec3::X].into_iter().collect();
        let graph = ConstraintGraph::new(&rest, &[(ConstraintKind::Structural, 0, 1)]);
        let stretched = [Vec3::ZERO, Vec3::X * length].into_iter().collect();
        (
            ParticleArrays::new(Vec3::ZERO, stretched, w.to_vec()),
            graph,
        )
    }

    fn rigid(iterations: u32) -> RelaxSettings {
        RelaxSettings {
            compliance: Compliance::default(),
            stretch_solver: StretchSolver::GaussSeidel,
            strain_limit: f32::INFINITY,
            iterations,
            dt: 0.01,
            relaxation_factor: RelaxationFactor::default(),
            substeps_left: 0,
            loads: false,
        }
    }

    #[test]
    fn the_lighter_particle_moves_more() {
        let (mut p, mut graph) = pair([1.0, 3.0], 3.0);
        relax(&mut Workers::serial(), &mut p, &mut graph, &rigid(1));
        assert_eq!(p.position.get(0), Vec3::X * 0.5);
        assert_eq!(p.position.get(1), Vec3::X * 1.5);
    }

    #[test]
    fn a_pinned_particle_leaves_the_whole_correction_to_its_partner() {
        let (mut p, mut graph) = pair([0.0, 7.0], 3.0);
        relax(&mut Workers::serial(), &mut p, &mut graph, &rigid(1));
        assert_eq!(p.position.get(0), Vec3::ZERO);
        assert_eq!(p.position.get(1), Vec3::X);
    }

    #[test]
    fn pinned_pairs_and_coincident_particles_do_not_move() {
        for (w, length) in [([0.0, 0.0], 2.0), ([1.0, 1.0], 0.0)] {
            let (mut p, mut graph) = pair(w, length);
            let before = p.clone();
            relax(&mut Workers::serial(), &mut p, &mut graph, &rigid(3));
            assert_eq!(p.position, before.position);
        }
    }

    #[test]
    fn compliance_does_not_depend_on_the_iterations() {
        // For one constraint XPBD returns the implicit solution C/(1 + (w₀+w₁)/α̃) at once, and further
        // iterations must not stiffen it.
        let compliance = Compliance::of_stretch(0.001);
        let alpha = 0.001_f32 / (0.1 * 0.1);
        let left = 0.5 / (1.0 + 2.0 / alpha);
        for iterations in [1, 2, 20] {
            let (mut p, mut graph) = pair([1.0, 1.0], 1.5);
            relax(
                &mut Workers::serial(),
                &mut p,
                &mut graph,
                &RelaxSettings {
                    compliance,
                    stretch_solver: StretchSolver::GaussSeidel,
                    strain_limit: f32::INFINITY,
                    iterations,
                    dt: 0.1,
                    relaxation_factor: RelaxationFactor::default(),
                    substeps_left: 0,
                    loads: false,
                },
            );
            let error = p.position.get(1).x - p.position.get(0).x - 1.0;
            assert!(
                (error - left).abs() < 1e-6,
                "{iterations} iterations: {error} instead of {left}"
            );
        }
    }

    #[test]
    fn relaxation_factor_scales_the_correction() {
        let (mut p, mut graph) = pair([0.0, 1.0], 2.0);
        let settings = RelaxSettings {
            relaxation_factor: RelaxationFactor::with_factor(0.25),
            ..rigid(1)
        };
        relax(&mut Workers::serial(), &mut p, &mut graph, &settings);
        assert_eq!(p.position.get(1), Vec3::X * 1.75);
    }
}
