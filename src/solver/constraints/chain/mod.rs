//! Chains of constraints, solved side by side: a tile holds one particle of each chain, and all loops run over
//! the chains. The chains of grids and of other meshes differ only in how their particles are gathered.
//!
//! | file | contents |
//! |---|---|
//! | `stretch` | stretch constraints of whole chains |
//! | `bending` | bending constraints of whole chains |

pub(super) mod bending;
pub(super) mod stretch;

use crate::solver::{
    constraints::{
        points::{ChainParams, Regularization},
        stretch_solver::StretchSolver,
    },
    simd::select,
};
pub(in crate::solver) use bending::MIN_EXPLICIT_RATIO;
pub(in crate::solver) use stretch::support_factor;

/// x, y, z and inverse mass of one particle of each of `W` chains.
pub(in crate::solver) type Tile<const W: usize> = [[f32; W]; 4];

/// Normal of the contact of one particle of each of `W` chains; zero without contact.
pub(in crate::solver) type NormalTile<const W: usize> = [[f32; W]; 3];

/// Size of the scratch buffer of a chain, in numbers per particle.
pub(in crate::solver) const SCRATCH_PER_PARTICLE: usize = 5;

/// The constraints along `W` chains, in order.
pub(in crate::solver) struct ChainLinks<'a, const W: usize> {
    /// Rest lengths, m, or ρ of bends, m²; negative where there is no constraint.
    pub(in crate::solver) rest: &'a [[f32; W]],
    /// Lagrange multipliers λ, or empty.
    pub(in crate::solver) lambda: &'a mut [[f32; W]],
}

impl<const W: usize> ChainLinks<'_, W> {
    /// Projects link `i` of each chain.
    #[inline(always)]
    fn project(&mut self, particles: &mut [Tile<W>], i: usize, regularization: Regularization) {
        let (before, behind) = particles.split_at_mut(i + 1);
        let (a, b) = (&mut before[i], &mut behind[0]);
        match self.lambda.get_mut(i) {
            Some(lambda) => {
                let alpha_lambda = lambda.map(|lambda| regularization.alpha * lambda);
                let delta = project(a, b, &self.rest[i], &alpha_lambda, regularization);
                for k in 0..W {
                    lambda[k] += delta[k];
                }
            }
            None => {
                project(a, b, &self.rest[i], &[0.0; W], regularization);
            }
        }
    }

    /// Projects the even links, then the odd ones: consecutive projections share no particle, so they do not
    /// wait for each other.
    #[inline(always)]
    fn solve_gauss_seidel(mut self, particles: &mut [Tile<W>], regularization: Regularization) {
        for first in 0..2 {
            for i in (first..self.rest.len()).step_by(2) {
                self.project(particles, i, regularization);
            }
        }
    }

    /// Solves bending, `implicit`ly for each chain as a whole or with each bend as a force. Here the links are
    /// three-point bends, with ρ in place of rest lengths.
    #[inline(always)]
    pub(in crate::solver) fn solve_bending(
        self,
        particles: &mut [Tile<W>],
        regularization: Regularization,
        implicit: bool,
        scratch: &mut [[f32; W]],
    ) {
        if implicit {
            bending::solve_bending(particles, self.rest, regularization, scratch);
        } else {
            bending::apply_bending_forces(particles, self.rest, regularization);
        }
    }

    /// Solves stretch, directly for each chain as a whole, by Gauss–Seidel or not at all, and enforces the strain limit. `normals`
    /// are those of contacts, which are changed, or empty.
    #[inline(always)]
    pub(in crate::solver) fn solve_stretch(
        self,
        particles: &mut [Tile<W>],
        normals: &mut [NormalTile<W>],
        params: &ChainParams,
        stretch: Regularization,
        scratch: &mut [[f32; W]],
    ) {
        let ChainLinks { rest, lambda } = self;
        let links = ChainLinks {
            rest,
            lambda: &mut *lambda,
        };
        match params.solver {
            Some(StretchSolver::Direct) => stretch::solve_stretch(
                particles,
                normals,
                links,
                stretch,
                params.relaxation_factor,
                scratch,
            ),
            Some(StretchSolver::GaussSeidel) => links.solve_gauss_seidel(particles, stretch),
            None => {}
        }
        if let Some(limit) = params.stretch_limit {
            // The force that holds a chain at the strain limit is not part of its elastic tension.
            let lambda = &mut [];
            stretch::limit_strain(
                particles,
                normals,
                ChainLinks { rest, lambda },
                limit,
                scratch,
            );
        }
    }
}

/// Projects the link between two particles of each chain, from its rest length and α̃λ. Returns Δλ.
#[inline(always)]
fn project<const W: usize>(
    a: &mut Tile<W>,
    b: &mut Tile<W>,
    rest: &[f32; W],
    alpha_lambda: &[f32; W],
    regularization: Regularization,
) -> [f32; W] {
    let ([x0, y0, z0, w0], [x1, y1, z1, w1]) = (*a, *b);
    let mut delta = [0.0; W];
    for k in 0..W {
        let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let s = projection_factor(
            length,
            rest[k],
            alpha_lambda[k],
            w0[k] + w1[k],
            regularization,
        );
        delta[k] = s * length;
        let (s0, s1) = (w0[k] * s, w1[k] * s);
        a[0][k] = x0[k] - s0 * dx;
        a[1][k] = y0[k] - s0 * dy;
        a[2][k] = z0[k] - s0 * dz;
        b[0][k] = x1[k] + s1 * dx;
        b[1][k] = y1[k] + s1 * dy;
        b[2][k] = z1[k] + s1 * dz;
    }
    delta
}

/// Returns Δλ/|d| of a distance constraint, the displacement per unit of inverse mass as a fraction of the
/// difference d: s = (L − |d| − α̃λ)/((w₀ + w₁ + α̃)|d|), as in `relax`, with one division.
/// `masses` is w₀ + w₁. A negative rest length means that there is no constraint.
#[inline(always)]
pub(in crate::solver) fn projection_factor(
    length: f32,
    rest: f32,
    alpha_lambda: f32,
    masses: f32,
    Regularization {
        alpha,
        diagonal_scale,
    }: Regularization,
) -> f32 {
    let below = (masses * diagonal_scale + alpha) * length;
    // Coincident particles have no direction of correction, and pinned ones cannot move: selected without a
    // branch.
    let possible = (below > 0.0) & (rest >= 0.0);
    select(possible, (rest - length - alpha_lambda) / below, 0.0)
}
