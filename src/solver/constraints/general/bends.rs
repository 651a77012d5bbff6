//! Solves bend constraints given by particle indices, one after the other.

use super::particle_access::{ParticleAccess, WITHOUT_MASS};
use crate::solver::constraints::{bend_batch::BendBatch, points::Regularization};

/// Solves Δλ = −C/(Σwᵢ|Kᵢ|² + α̃), Δxᵢ = wᵢKᵢΔλ·c/|c|, with one division where the cloth is flat at rest: there
/// C·c/|c| is c itself. `regularization.alpha` is 1/(BΔt²).
#[inline(always)]
pub(super) fn solve_bends(
    access: &mut impl ParticleAccess,
    bends: &BendBatch,
    regularization: Regularization,
    damping: bool,
) {
    for (bend, rho) in bends.shapes.iter().zip(&bends.list.rest) {
        let particles = bend.stencil.particles();
        let [a, m, n, b] = access.load_four(particles);
        let [ka, km, kn, kb] = bend.weights;
        let [wa, wm, wn, wb] = [a.w * ka, m.w * km, n.w * kn, b.w * kb];
        let masses = wa * ka + wm * km + wn * kn + wb * kb;
        let denominator = masses * regularization.diagonal_scale + rho * regularization.alpha;
        let curvature = bend.curvature([a, m, n, b]) * WITHOUT_MASS;
        let factor = if damping || bend.rest == 0.0 {
            1.0
        } else {
            let curvature = curvature.truncate();
            let length =
                (curvature.x * curvature.x + curvature.y * curvature.y + curvature.z * curvature.z)
                    .sqrt();
            // Zero curvature has no direction.
            if length > 0.0 {
                let positions = [a.truncate(), m.truncate(), n.truncate(), b.truncate()];
                let sign = bend.fold_sign(positions, curvature);
                (length - sign * bend.rest) / length
            } else {
                0.0
            }
        };
        if masses > 0.0 {
            let correction = curvature * (factor / denominator);
            access.store(particles[0], a - correction * wa);
            access.store(particles[1], m - correction * wm);
            if !bend.stencil.is_three_point() {
                access.store(particles[2], n - correction * wn);
            }
            access.store(particles[3], b - correction * wb);
        }
    }
}
