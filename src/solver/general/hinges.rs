//! Solves bends between particles anywhere, one after the other.

use super::places::Places;
use crate::solver::{bend::Hinge, relax::Softness};
use bevy::math::Vec4;

/// Δλ = −C/(Σwᵢ|Kᵢ|² + α̃), Δxᵢ = wᵢKᵢΔλ·c/|c|, with one division where the cloth is flat at rest: there
/// C·c/|c| is c itself. `soft.alpha` is 1/(BΔt²).
#[inline(always)]
pub(super) fn solve_hinges(
    places: &mut impl Places,
    hinges: &[Hinge],
    soft: Softness,
    damping: bool,
) {
    for hinge in hinges {
        let particles = hinge.at.particles();
        let [a, m, n, b] = particles.map(|i| places.fetch(i));
        let [ka, km, kn, kb] = hinge.weights;
        let [wa, wm, wn, wb] = [a.w * ka, m.w * km, n.w * kn, b.w * kb];
        let masses = wa * ka + wm * km + wn * kn + wb * kb;
        let below = masses * soft.weakness + hinge.give * soft.alpha;
        let at = [a, m, n, b].map(Vec4::truncate);
        let curve = hinge.curve(at);
        let share = if damping || hinge.rest == 0.0 {
            1.0
        } else {
            let length = (curve.x * curve.x + curve.y * curve.y + curve.z * curve.z).sqrt();
            // Without a curve it has no direction.
            if length > 0.0 {
                let side = hinge.side(at, curve);
                (length - side * hinge.rest) / length
            } else {
                0.0
            }
        };
        if masses > 0.0 {
            let by = curve * (share / below);
            places.put(particles[0], (at[0] - by * wa).extend(a.w));
            places.put(particles[1], (at[1] - by * wm).extend(m.w));
            if !hinge.at.is_along() {
                places.put(particles[2], (at[2] - by * wn).extend(n.w));
            }
            places.put(particles[3], (at[3] - by * wb).extend(b.w));
        }
    }
}
