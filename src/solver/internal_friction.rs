//! Friction within the fabric: what yarns lose by rubbing on each other, so that cloth comes to rest
//! instead of swinging on and on.
//!
//! As between dry bodies it does not depend on how fast they move: each particle loses so much speed a
//! second, up to all that it has. Seen from where? From the motion of the whole: cloth that only moves
//! and turns as a rigid body does not rub. For cloth without pins that motion is the one with the same
//! momentum and angular momentum, and what friction takes of the two is given back, so that both are
//! kept, while energy is only lost: what is taken is opposite to the motion within the cloth, what is
//! given back has none of it. Pinned cloth is seen from its pins.
//!
//! It is a model and no measured law: the bending of fabrics shows such a friction as hysteresis, the
//! moment 2HB of Kawabata (1980), but here it acts on motion, not on bending.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not more")]
#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use super::{
    crew::PART,
    particles::ParticleArrays,
    rigid::{Body, Lanes, Motion, add_up, give_back, share_of},
    simd::{Kernel, LANES, dispatch, select},
};
use bevy::math::DVec3;

/// Slows all that moves within the cloth by this deceleration, m/s², during a fixed step of `dt`
/// seconds. To be called before the step.
pub fn apply_internal_friction(p: &mut ParticleArrays, deceleration: f32, dt: f32) {
    // As a displacement during a substep.
    let most = deceleration * dt * p.last_dt;
    if !(most > 0.0) || p.is_empty() {
        return;
    }
    if let Some(motion) = motion_of_pins(p) {
        slow(p, &motion, most);
        return;
    }
    let body = Body::of(p);
    let motion = body.motion(body.momentum, body.angular_momentum);
    let [momentum, angular_momentum] = slow(p, &motion, most);
    let lost = body.motion(momentum, angular_momentum + body.centre.cross(momentum));
    give_back(p, &lost);
}

/// How the pins move on the mean; `None` if there are none.
fn motion_of_pins(p: &ParticleArrays) -> Option<Motion> {
    let (mut way, mut count) = (DVec3::ZERO, 0_u32);
    // Few are pinned. A stretch of memory where none is is passed by at once.
    for (group, masses) in p.inverse_mass.chunks(64).enumerate() {
        let pinned: u32 = masses.iter().map(|&w| u32::from(w == 0.0)).sum();
        if pinned == 0 {
            continue;
        }
        for (i, &w) in (64 * group..).zip(masses) {
            if w == 0.0 {
                way += p.displacement.get(i).as_dvec3();
                count += 1;
            }
        }
    }
    (count > 0).then(|| Motion {
        way: (way / f64::from(count)).as_vec3(),
        ..Motion::default()
    })
}

/// Slows all particles by at most `most`, as seen from this motion. Returns what momentum and angular
/// momentum around its centre they have lost.
fn slow(p: &mut ParticleArrays, motion: &Motion, most: f32) -> [DVec3; 2] {
    let mut sums = [0.0; 6];
    let parts = p.position.chunks(PART).zip(p.displacement.chunks_mut(PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PART)) {
        let mut lanes = [[0.0; LANES]; 6];
        dispatch(Slow {
            x,
            d,
            w,
            motion: *motion,
            most,
            lanes: &mut lanes,
        });
        add_up(&lanes, &mut sums);
    }
    let [px, py, pz, lx, ly, lz] = sums;
    [DVec3::new(px, py, pz), DVec3::new(lx, ly, lz)]
}

/// What friction takes of the displacement of a particle.
#[inline(always)]
fn lost(x: [f32; 3], d: [f32; 3], w: f32, motion: &Motion, most: f32) -> [f32; 3] {
    let seen_from = motion.at(x);
    let r = [
        d[0] - seen_from[0],
        d[1] - seen_from[1],
        d[2] - seen_from[2],
    ];
    let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let share = select(length > most, most / length, 1.0);
    let share = select(w > 0.0, share, 0.0);
    [r[0] * share, r[1] * share, r[2] * share]
}

struct Slow<'a> {
    x: [&'a [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    motion: Motion,
    most: f32,
    lanes: &'a mut Lanes<6>,
}

impl Slow<'_> {
    #[inline(always)]
    fn one(&mut self, i: usize, lane: usize) {
        let x = self.x.map(|x| x[i]);
        let w = self.w[i];
        let d = [self.d[0][i], self.d[1][i], self.d[2][i]];
        let lost = lost(x, d, w, &self.motion, self.most);
        for (d, lost) in self.d.iter_mut().zip(lost) {
            d[i] -= lost;
        }
        let share = share_of(x, lost, w, self.motion.centre.into());
        for (lanes, share) in self.lanes.iter_mut().zip(&share[4..10]) {
            lanes[lane] += share;
        }
    }
}

impl Kernel for Slow<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let whole = n - n % LANES;
        let (motion, most) = (self.motion, self.most);
        let mut sums = *self.lanes;
        let [dx, dy, dz] = &mut self.d;
        let [x, y, z] = self.x.map(|x| &x[..n]);
        let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
        for start in (0..whole).step_by(LANES) {
            let at = start..start + LANES;
            let (x, y, z) = (&x[at.clone()], &y[at.clone()], &z[at.clone()]);
            let (dx, dy, dz) = (
                &mut dx[at.clone()],
                &mut dy[at.clone()],
                &mut dz[at.clone()],
            );
            let w = &self.w[at];
            for lane in 0..LANES {
                let place = [x[lane], y[lane], z[lane]];
                let d = [dx[lane], dy[lane], dz[lane]];
                let lost = lost(place, d, w[lane], &motion, most);
                dx[lane] -= lost[0];
                dy[lane] -= lost[1];
                dz[lane] -= lost[2];
                let share = share_of(place, lost, w[lane], motion.centre.into());
                for (sum, share) in sums.iter_mut().zip(&share[4..10]) {
                    sum[lane] += share;
                }
            }
        }
        *self.lanes = sums;
        (whole..n).for_each(|i| self.one(i, i - whole));
    }

    fn run_scalar(mut self) {
        (0..self.w.len()).for_each(|i| self.one(i, i % LANES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{SoaVec3, rigid::kept, simd::levels::same_bits};
    use bevy::math::Vec3;

    const DT: f32 = 1.0 / 60.0;

    fn part(k: u32) -> f32 {
        (k * 29 % 101) as f32 * 0.037 - 1.8
    }

    /// Particles here and there, of various masses, that fly about.
    fn swarm(count: u32, pinned: bool) -> ParticleArrays {
        let some = |from: u32| -> SoaVec3 {
            let vector = |i| Vec3::new(part(i), part(3 * i + 7), part(7 * i + 31));
            (from..from + count).map(vector).collect()
        };
        let mass = |i: u32| {
            if pinned && i % 50 == 3 {
                0.0
            } else {
                1.0 + (i % 4) as f32
            }
        };
        let w = (0..count).map(mass).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, some(5), w);
        p.displacement = some(17);
        p
    }

    #[test]
    fn it_takes_energy_but_no_momentum() {
        let mut p = swarm(203, false);
        let (momentum, angular, mut energy) = kept(&p);
        // Not so often that nothing is left to take.
        for _ in 0..20 {
            apply_internal_friction(&mut p, 1e3, DT);
            let now = kept(&p);
            assert!((now.0 - momentum).length() < 1e-5 * momentum.length());
            assert!((now.1 - angular).length() < 1e-5 * angular.length());
            assert!(now.2 < energy);
            energy = now.2;
        }
    }

    #[test]
    fn a_rigid_motion_goes_on_and_all_else_ends() {
        let mut p = swarm(100, false);
        // More than there is to take.
        apply_internal_friction(&mut p, 1e9, DT);
        let body = Body::of(&p);
        let motion = body.motion(body.momentum, body.angular_momentum);
        let before = p.displacement.clone();
        for i in 0..100 {
            let rigid = Vec3::from(motion.at(p.position.get(i).into()));
            assert!((before.get(i) - rigid).length() < 1e-5, "{i}");
        }
        apply_internal_friction(&mut p, 1e9, DT);
        for i in 0..100 {
            assert!((before.get(i) - p.displacement.get(i)).length() < 1e-5);
        }
    }

    #[test]
    fn ropes_and_single_particles_may_move_as_they_like() {
        for count in [1, 2, 7] {
            let places: SoaVec3 = (0..count).map(|i| Vec3::X * i as f32).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![1.0; count]);
            // It falls and turns around z.
            p.displacement = (0..count)
                .map(|i| Vec3::new(0.1, i as f32 - 2.0, 0.0))
                .collect();
            let before = p.displacement.clone();
            apply_internal_friction(&mut p, 1e9, DT);
            for i in 0..count {
                let change = before.get(i) - p.displacement.get(i);
                assert!(change.length() < 1e-5, "{i} of {count}: {change}");
            }
        }
    }

    #[test]
    fn it_takes_what_it_may_and_pinned_cloth_is_seen_from_its_pins() {
        let places = [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, places, vec![0.0, 1.0, 1.0]);
        for (i, speed) in [1.0, 3.0, 1.001].into_iter().enumerate() {
            p.set_velocity(i, Vec3::Z * speed);
        }
        apply_internal_friction(&mut p, 0.6, DT);
        for (i, speed) in [1.0, 2.99, 1.0].into_iter().enumerate() {
            assert!((p.velocity(i) - Vec3::Z * speed).length() < 1e-6, "{i}");
        }
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        for (count, pinned) in [(203, false), (203, true), (7, false), (9000, false)] {
            same_bits(|| {
                let mut p = swarm(count, pinned);
                for _ in 0..3 {
                    apply_internal_friction(&mut p, 2e2, DT);
                }
                p.displacement.bits().collect()
            });
        }
    }
}
