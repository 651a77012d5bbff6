//! A hand holds a cloth: points of it are drawn to a place that moves.
//!
//! Each is an attachment C = Σ bᵢxᵢ − target with a compliance (XPBD, Macklin et al. 2016, for a
//! constraint that is a vector), solved once a substep after all others. What keeps it from tearing
//! at the cloth is the strength of the hand: Δλ is at most force·Δt².
//!
//! A particle of a fine cloth weighs a fifth of a gram. Whatever force the whole cloth hangs by, f, moves it by
//! f·Δt²/m within one substep: by 20 cm, were it held alone, out of the cloth as a horn. So as long as
//! constraints and hands are solved, what is held weighs as much more as keeps the greatest force from
//! moving it by more than 2 mm: that is the mass of the hand ([`InHand`]). With it, what is held can lag behind the
//! place where the hand wants it, and comes there no faster than the hand can stop it.

use super::particles::ParticleArrays;
use bevy::math::Vec3;

/// How far the greatest force of a hand moves within a substep what it holds, m.
const GIVES: f32 = 0.002;

/// Most that what is held weighs more in a hand, kg: what a hand weighs.
const HAND: f32 = 0.5;

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
        self.parts()
            .map(|(i, weight)| particles.position.get(i) * weight)
            .sum()
    }

    /// Where it was when the substep began.
    fn start(&self, p: &ParticleArrays) -> Vec3 {
        self.parts()
            .map(|(i, weight)| (p.predicted.get(i) - p.displacement.get(i)) * weight)
            .sum()
    }

    fn parts(&self) -> impl Iterator<Item = (usize, f32)> {
        let particles = self.particles.map(|i| i as usize);
        particles.into_iter().zip(self.weights)
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

/// The own inverse masses of particles that weigh more while they are in hands, 1/kg.
#[derive(Clone, Debug, Default)]
pub struct InHand(Vec<(u32, f32)>);

impl InHand {
    /// What is held takes part in the mass of a hand, until [`Self::give_back`]. Before constraints are
    /// solved; `dt` is the length of the substep, s.
    pub fn take(&mut self, p: &mut ParticleArrays, handles: &[Handle], grip: &Grip, dt: f32) {
        let hand = (grip.force * dt * dt / GIVES).min(HAND) / handles.len().max(1) as f32;
        for (i, weight) in handles.iter().flat_map(Handle::parts) {
            let own = p.inverse_mass[i];
            if own > 0.0 && weight > 0.0 {
                self.0.push((i as u32, own));
                p.inverse_mass[i] = own / (1.0 + own * hand * weight);
            }
        }
    }

    /// Particles have their own masses again.
    pub fn give_back(&mut self, p: &mut ParticleArrays) {
        // Of one that was taken several times, the first is its own.
        for (i, own) in self.0.drain(..).rev() {
            p.inverse_mass[i as usize] = own;
        }
    }
}

/// Draws the handles to a hand that was at one target when the substep began and is at the other now, relative to
/// the particles' origin, m. `dt` is the length of the substep, s.
pub fn hold(
    particles: &mut ParticleArrays,
    handles: &[Handle],
    grip: &Grip,
    [before, now]: [Vec3; 2],
    dt: f32,
) {
    let alpha = grip.compliance / (dt * dt);
    let most = grip.force * dt * dt / handles.len().max(1) as f32;
    for handle in handles {
        let mass: f32 = handle
            .parts()
            .map(|(i, weight)| particles.inverse_mass[i] * weight * weight)
            .sum();
        // Nothing that is held moves: all of it is pinned.
        if mass <= 0.0 {
            continue;
        }
        // From where it was, seen from the hand, it comes so far that the hand can stop it there.
        let late = handle.start(particles) - (before + handle.offset);
        let (way, brakes) = (late.length(), most * mass);
        let left = if way > brakes {
            late * (1.0 - (brakes / way).sqrt())
        } else {
            Vec3::ZERO
        };
        let wanted = now + handle.offset + left;
        let error = handle.position(particles) - wanted;
        let lambda = (error / (mass + alpha)).clamp_length_max(most);
        for (i, weight) in handle.parts() {
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
    use crate::solver::{Integration, SoaVec3, integrate, update_displacements};

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
        hold(&mut p, &[MIDDLE], &strong, [target; 2], 0.01);
        assert!((MIDDLE.position(&p) - target).length() < 1e-6);
        assert_eq!(p.position.get(2), Vec3::Y, "a pinned particle stays");

        // 1 kg each, 2 N: together they get 2 N · Δt² of motion times mass.
        let weak = Grip {
            compliance: 0.0,
            force: 2.0,
        };
        let mut p = three([1.0; 3]);
        let above = MIDDLE.position(&p) + Vec3::Z * 3.0;
        hold(&mut p, &[MIDDLE], &weak, [above; 2], 0.01);
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
        hold(&mut p, &[MIDDLE], &grip, [Vec3::splat(9.0); 2], 0.01);
        hold(&mut p, &[], &grip, [Vec3::ZERO; 2], 0.01);
        assert_eq!(p, before);
    }

    #[test]
    fn a_hand_that_jumps_is_followed_and_not_overshot() {
        let dt = 1.0 / 480.0;
        let grip = Grip {
            compliance: 1e-4,
            force: 20.0,
        };
        // Particles of a gram that nothing else holds.
        let mut p = three([1000.0; 3]);
        let mut in_hand = InHand::default();
        let (begin, jump) = (MIDDLE.position(&p), Vec3::X * 0.5);
        let by = Integration {
            gravity: Vec3::ZERO,
            damping: 0.0,
            dt,
        };
        let mut before = begin;
        for substep in 0..240 {
            integrate(&mut p, &by);
            in_hand.take(&mut p, &[MIDDLE], &grip, dt);
            assert!(p.inverse_mass.iter().all(|&w| w < 200.0));
            hold(&mut p, &[MIDDLE], &grip, [before, begin + jump], dt);
            in_hand.give_back(&mut p);
            update_displacements(&mut p);
            assert_eq!(p.inverse_mass[..3], [1000.0; 3]);
            before = begin + jump;
            let way = (MIDDLE.position(&p) - begin).x;
            assert!(way < 0.51, "{way} m in substep {substep}");
            assert!(way > 0.499 || substep < 120, "{way} m in substep {substep}");
        }
    }

    #[test]
    fn each_has_its_own_mass_again_that_several_hands_have_held() {
        let mut p = three([3.0, 5.0, 0.0]);
        let before = p.clone();
        let mut in_hand = InHand::default();
        for force in [20.0, f32::INFINITY, 0.0] {
            let grip = Grip {
                compliance: 0.0,
                force,
            };
            in_hand.take(&mut p, &[MIDDLE, MIDDLE], &grip, 0.01);
        }
        assert!(p.inverse_mass[0] < 2.0 && p.inverse_mass[1] < 4.0);
        assert_eq!(p.inverse_mass[2], 0.0, "a pinned one stays pinned");
        in_hand.give_back(&mut p);
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
