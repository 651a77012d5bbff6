//! Constraint projection: each constraint in turn moves its particles so that it is satisfied.
//!
//! With compliance 0 this is Jakobsen's "Advanced Character Physics" (2001); with compliance it is
//! XPBD (Macklin, Müller, Chentanez 2016), and with one iteration per substep it is "Small Steps in
//! Physics Simulation" (Macklin et al. 2019). The code is the same.

use crate::solver::{
    constraints::{
        coloring::Batch,
        compliance::Compliance,
        constraint::ConstraintKind,
        general::{SolvedKind, relax_general},
        graph::ConstraintGraph,
        grid::relax_grid,
        points::{ChainParams, PassParams, Points, Regularization, StretchLimit, Supported},
        stretch_solver::{ELASTIC_REGULARIZATION_FRACTION, RIGID_REGULARIZATION, StretchSolver},
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
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
    /// Number of iterations over all constraints. In each, directly solved chains are solved twice.
    pub iterations: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// Relaxation factor ω of all corrections, normally 1. It hardly changes a constraint whose α̃ exceeds its inverse
    /// masses by far.
    pub relaxation_factor: f32,
    /// Regularization of directly solved chains, relative to the inverse mass of a link, normally
    /// [`RIGID_REGULARIZATION`]. Chains with compliance take a twentieth of it.
    pub chain_regularization: f32,
    /// Whether to record the multiplier of each structural constraint, for `ConstraintGraph::add_loads`. Rigid fabric on irregular
    /// meshes then has a compliance of 3·10⁻⁶ m/N.
    pub loads: bool,
}

impl Default for RelaxSettings {
    /// Settings of a rigid cloth without bending stiffness, in one of 8 substeps at 60 Hz.
    fn default() -> Self {
        Self {
            compliance: Compliance::default(),
            stretch_solver: StretchSolver::Direct,
            strain_limit: f32::INFINITY,
            iterations: 1,
            dt: 1.0 / 480.0,
            relaxation_factor: 1.0,
            chain_regularization: RIGID_REGULARIZATION,
            loads: false,
        }
    }
}

/// Smallest α̃ of fabric that coarse levels solve as elastic, 1/kg: any less is rigid, and its reciprocal may be no number.
const MIN_ALPHA: f32 = 1e-20;

/// Smallest compliance of edges with coarse levels whose loads are recorded, m/N. A load of 400 N/m stretches them by 0.12 %.
const MIN_LOAD_COMPLIANCE: f32 = 3e-6;

/// Solves all constraints: distances in each iteration, bends in the first one only, because they are so compliant that
/// its error is negligible and further iterations would not make them stiffer.
///
/// For a constraint of rest length L between x₀ and x₁ with inverse masses w₀ and w₁ and
/// compliance α, with d = x₁ − x₀, C = |d| − L and α̃ = α/Δt²:
/// Δλ = −(C + α̃λ) / (w₀ + w₁ + α̃), x₀ −= w₀Δλ·d/|d|, x₁ += w₁Δλ·d/|d|,
/// where λ is the sum of the Δλ of this substep. Where coarse levels carry the load of elastic fabric, λ of edges begins with it.
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
    clear_multipliers(constraints, settings);
    let compliance = &settings.compliance;
    let mut outside_grids = constraints.compliance_outside_grids(compliance);
    let has_levels =
        settings.stretch_solver == StretchSolver::Direct && !constraints.coarse.is_empty();
    if settings.loads && has_levels {
        // λ of coarse levels is only measured where they are elastic.
        outside_grids.warp = outside_grids.warp.max(MIN_LOAD_COMPLIANCE);
        outside_grids.weft = outside_grids.weft.max(MIN_LOAD_COMPLIANCE);
    }
    let ConstraintGraph {
        grids,
        general,
        coarse,
        ..
    } = constraints;
    let mut points = Points::with_contacts(particles);
    if has_levels {
        let alpha = outside_grids.of(ConstraintKind::Structural) / (settings.dt * settings.dt);
        match alpha > MIN_ALPHA {
            true => coarse.solve_elastic(workers, &mut points, general, alpha),
            false => coarse.solve(workers, &mut points),
        }
    }
    if grids.is_empty() {
        let params = settings.passes();
        let params = params.map(|pass| settings.params(pass, &outside_grids));
        relax_general(workers, &mut points, general, &SolvedKind::ALL, params);
    } else {
        for pass in settings.passes() {
            let params = settings.params(pass, &outside_grids);
            let mut kinds = SolvedKind::ALL;
            if pass.is_reversed {
                kinds.reverse();
            }
            let [first, last] = kinds;
            let mut relax_kind = |workers: &mut Workers, points: &mut Points, kind| {
                relax_general(workers, points, general, &[kind], [params].into_iter());
            };
            relax_kind(workers, &mut points, first);
            for grid in &mut *grids {
                let params = settings.params(pass, &grid.compliance(compliance));
                relax_grid(workers, &mut points, grid, params);
            }
            relax_kind(workers, &mut points, last);
        }
    }
    limit_edge_strain(&mut points, general.batches(), settings.stretch_limit());
    constraints.angular_momentum.record(workers, particles);
}

/// Shortens edges that are longer than the limit allows, once along all chains.
pub(super) fn limit_strain(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    limit: StretchLimit,
) {
    let ConstraintGraph { grids, general, .. } = constraints;
    let params = PassParams {
        bend: None,
        is_damping: false,
        shear: None,
        is_pure_shear: false,
        chains: Some(ChainParams {
            warp: Regularization::STRAIN_LIMIT,
            weft: Regularization::STRAIN_LIMIT,
            solver: None,
            relaxation_factor: 1.0,
            stretch_limit: Some(limit),
        }),
        edges: None,
        is_reversed: false,
    };
    let mut points = Points::with_contacts(particles);
    for grid in grids {
        relax_grid(workers, &mut points, grid, params);
    }
    let chains = &[SolvedKind::ChainsAndEdges];
    relax_general(workers, &mut points, general, chains, [params].into_iter());
    limit_edge_strain(&mut points, general.batches(), Some(limit));
}

/// A pass over the constraints.
#[derive(Clone, Copy)]
struct Pass {
    /// Whether bends are solved.
    bends: bool,
    /// Whether chains are solved in reverse order, without diagonals and edges that belong to no chain.
    is_reversed: bool,
}

impl RelaxSettings {
    /// Returns the passes of a substep.
    ///
    /// Verlet extrapolates: a substep is x⁺ = P(2x − x⁻), with P the product of all projections. A mode with the
    /// eigenvalue p of P is multiplied by r in each substep, with r² − 2pr + p = 0. If p is real, it lies between 0 and
    /// 1, and |r| = √p ≤ 1: no mode grows. The eigenvalues of a product of three or more projections are real for
    /// certain only if it is a palindrome. In the order shear, warp, weft they are complex, and folds tremble for ever,
    /// at up to 0.3 m/s. So directly solved chains are solved twice per iteration, the first time in reverse: in a grid
    /// weft, warp, shear, warp, weft.
    fn passes(&self) -> impl ExactSizeIterator<Item = Pass> + use<> {
        let direct = self.stretch_solver == StretchSolver::Direct;
        let per_iteration = if direct { 2 } else { 1 };
        let count = self.iterations.saturating_mul(per_iteration);
        (0..count).map(move |number| Pass {
            bends: number == 0,
            is_reversed: direct && number.is_multiple_of(2),
        })
    }

    /// Returns the parameters of a pass over constraints of this compliance, m/N.
    fn params(&self, pass: Pass, compliance: &Compliance) -> PassParams {
        let inverse_dt2 = 1.0 / (self.dt * self.dt);
        let omega = self.relaxation_factor;
        let regularization = |compliance: f32| Regularization {
            alpha: compliance * inverse_dt2,
            diagonal_scale: 1.0 / omega,
        };
        let direct = self.stretch_solver == StretchSolver::Direct;
        let along_chains = |compliance: f32| Regularization {
            diagonal_scale: match direct {
                true if compliance > 0.0 => {
                    1.0 + ELASTIC_REGULARIZATION_FRACTION * self.chain_regularization
                }
                true => 1.0 + self.chain_regularization,
                false => 1.0 / omega,
            },
            ..regularization(compliance)
        };
        let bending = self.compliance.bending;
        let edge = compliance.of(ConstraintKind::Structural);
        PassParams {
            bend: (pass.bends && bending > 0.0).then(|| Regularization {
                alpha: inverse_dt2 / bending,
                diagonal_scale: 1.0 / omega,
            }),
            is_damping: false,
            shear: (!pass.is_reversed).then(|| regularization(compliance.shear)),
            is_pure_shear: self.compliance.is_elastic(),
            chains: Some(ChainParams {
                warp: along_chains(compliance.warp),
                weft: along_chains(compliance.weft),
                solver: Some(self.stretch_solver),
                relaxation_factor: omega,
                stretch_limit: self.stretch_limit(),
            }),
            edges: (!pass.is_reversed).then(|| regularization(edge)),
            is_reversed: pass.is_reversed,
        }
    }

    /// Returns the strain limit of elastic edges, if they have one.
    fn stretch_limit(&self) -> Option<StretchLimit> {
        let limit = (self.compliance).effective_limit(self.strain_limit, self.loads);
        limit.map(|strain| StretchLimit {
            ratio: 1.0 + strain,
            supported: Supported::Free,
        })
    }
}

/// Sets all multipliers λ to 0, or removes them where they are not needed.
fn clear_multipliers(constraints: &mut ConstraintGraph, settings: &RelaxSettings) {
    let passes = settings.passes().len();
    let compliance = &settings.compliance;
    // A constraint that is solved once reads λ = 0, and nothing reads its λ afterwards.
    let needs_lambda = |kind| match kind {
        ConstraintKind::Structural => settings.loads || (compliance.is_elastic() && passes > 1),
        _ => compliance.of(kind) > 0.0 && settings.iterations > 1,
    };
    for (_, list) in constraints.lists_mut() {
        list.clear_lambda(needs_lambda(list.kind));
    }
}

/// Enforces the strain limit on edges that belong to no chain, one edge after the other: few are at the limit.
fn limit_edge_strain<'a>(
    points: &mut Points,
    batches: impl IntoIterator<Item = &'a Batch>,
    limit: Option<StretchLimit>,
) {
    let Some(StretchLimit { ratio, .. }) = limit else {
        return;
    };
    let is_edge = |batch: &&Batch| batch.list.kind == ConstraintKind::Structural;
    for batch in batches.into_iter().filter(is_edge) {
        for (&[a, b], &rest) in batch.pairs.iter().zip(&batch.list.rest) {
            let (a, b, most) = (a as usize, b as usize, rest * ratio);
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
            stretch_solver: StretchSolver::GaussSeidel,
            iterations,
            dt: 0.01,
            ..RelaxSettings::default()
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
            let settings = RelaxSettings {
                compliance,
                dt: 0.1,
                ..rigid(iterations)
            };
            relax(&mut Workers::serial(), &mut p, &mut graph, &settings);
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
            relaxation_factor: 0.25,
            ..rigid(1)
        };
        relax(&mut Workers::serial(), &mut p, &mut graph, &settings);
        assert_eq!(p.position.get(1), Vec3::X * 1.75);
    }
}
