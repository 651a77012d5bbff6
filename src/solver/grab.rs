//! A hand holds a cloth: points of it are drawn to a place that moves.
//!
//! Each is an attachment C = Σ bᵢxᵢ − target with a compliance (XPBD, Macklin et al. 2016, for a
//! constraint that is a vector), solved once a substep after all others. What keeps it from tearing
//! at the cloth is the strength of the hand: Δλ is at most force·Δt². No mass changes, so that the
//! cloth keeps its velocity when it is let go.

use super::particles::ParticleArrays;
use bevy::math::Vec3;

/// A point of a cloth that is held.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Handle {
    /// Particles that it lies between. One may stand several times.
    pub particles: [u32; 3],
    /// Their shares, which add up to 1.
    pub weights: [f32; 3],
    /// Where it is held, from the hand, m.
    pub offset: Vec3,
}

impl Handle {
    /// Where it is, relative to the particles' origin, m.
    pub fn position(&self, particles: &ParticleArrays) -> Vec3 {
        let parts = self.particles.iter().zip(self.weights);
        parts
            .map(|(&i, weight)| particles.position.get(i as usize) * weight)
            .sum()
    }
}

/// How a hand holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Grip {
    /// How much the cloth gives in the hand, m/N.
    pub compliance: f32,
    /// Most that the hand pulls, N, shared by all handles.
    #[cfg_attr(feature = "serialize", serde(with = "super::bits"))]
    pub force: f32,
}

/// Draws the handles to a hand at `target`, relative to the particles' origin, m. `dt` is the length
/// of the substep, s.
pub fn hold(
    particles: &mut ParticleArrays,
    handles: &[Handle],
    grip: &Grip,
    target: Vec3,
    dt: f32,
) {
    let alpha = grip.compliance / (dt * dt);
    let most = grip.force * dt * dt / handles.len().max(1) as f32;
    for handle in handles {
        let error = handle.position(particles) - (target + handle.offset);
        let parts = handle
            .particles
            .map(|i| i as usize)
            .into_iter()
            .zip(handle.weights);
        let mass: f32 = parts
            .clone()
            .map(|(i, weight)| particles.inverse_mass[i] * weight * weight)
            .sum();
        // Nothing that is held moves: all of it is pinned.
        if mass <= 0.0 {
            continue;
        }
        let lambda = error / (mass + alpha);
        let length = lambda.length();
        let lambda = if length > most {
            lambda * (most / length)
        } else {
            lambda
        };
        for (i, weight) in parts {
            let way = lambda * (particles.inverse_mass[i] * weight);
            particles.position.add(i, -way);
        }
    }
}

/// The point of a triangle that is nearest to another point, as shares of its corners (Ericson,
/// "Real-Time Collision Detection", 2005, section 5.1.5).
pub fn nearest_on_triangle(point: Vec3, [a, b, c]: [Vec3; 3]) -> [f32; 3] {
    let (ab, ac, ap) = (b - a, c - a, point - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = point - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let v = d1 / (d1 - d3);
        return [1.0 - v, v, 0.0];
    }
    let cp = point - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let w = d2 / (d2 - d6);
        return [1.0 - w, 0.0, w];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let w = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - w, w];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;

    fn three(w: [f32; 3]) -> ParticleArrays {
        let places: SoaVec3 = [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().collect();
        ParticleArrays::new(Vec3::ZERO, places, w.to_vec())
    }

    const MIDDLE: Handle = Handle {
        particles: [0, 1, 2],
        weights: [0.5, 0.25, 0.25],
        offset: Vec3::ZERO,
    };

    #[test]
    fn a_strong_hand_has_the_very_point_and_a_weak_one_pulls_with_its_force() {
        let target = Vec3::new(0.0, 0.0, 3.0);
        let strong = Grip {
            compliance: 0.0,
            force: f32::INFINITY,
        };
        let mut p = three([1.0, 2.0, 0.0]);
        hold(&mut p, &[MIDDLE], &strong, target, 0.01);
        assert!((MIDDLE.position(&p) - target).length() < 1e-6);
        assert_eq!(p.position.get(2), Vec3::Y, "a pinned particle stays");

        // 1 kg each, 2 N: together they get 2 N · Δt² of motion times mass.
        let weak = Grip {
            compliance: 0.0,
            force: 2.0,
        };
        let mut p = three([1.0; 3]);
        let above = MIDDLE.position(&p) + Vec3::Z * 3.0;
        hold(&mut p, &[MIDDLE], &weak, above, 0.01);
        let moved: f32 = (0..3).map(|i| p.position.get(i).z).sum();
        assert!((moved - 2.0 * 0.01 * 0.01).abs() < 1e-9);
    }

    #[test]
    fn nothing_happens_where_all_is_pinned() {
        let mut p = three([0.0; 3]);
        let before = p.clone();
        let grip = Grip {
            compliance: 0.0,
            force: f32::INFINITY,
        };
        hold(&mut p, &[MIDDLE], &grip, Vec3::splat(9.0), 0.01);
        hold(&mut p, &[], &grip, Vec3::ZERO, 0.01);
        assert_eq!(p, before);
    }

    #[test]
    fn the_nearest_point_is_nearest() {
        let corners = [
            Vec3::ZERO,
            Vec3::new(2.0, 0.0, 0.0),
            Vec3::new(0.0, 0.0, 2.0),
        ];
        let at = |[u, v, w]: [f32; 3]| corners[0] * u + corners[1] * v + corners[2] * w;
        for x in -3..=4 {
            for z in -3..=4 {
                let point = Vec3::new(x as f32, 1.0, z as f32);
                let weights = nearest_on_triangle(point, corners);
                let sum: f32 = weights.iter().sum();
                assert!((sum - 1.0).abs() < 1e-6 && weights.iter().all(|w| *w >= 0.0));
                let best = (at(weights) - point).length();
                for u in 0..=20 {
                    for v in 0..=20 - u {
                        let (u, v) = (u as f32 / 20.0, v as f32 / 20.0);
                        let other = (at([1.0 - u - v, u, v]) - point).length();
                        assert!(best <= other + 1e-5, "{point}: {best} > {other}");
                    }
                }
            }
        }
    }
}
