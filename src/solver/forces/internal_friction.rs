//! Internal friction of the fabric: energy lost by yarns that rub on each other, so that cloth comes to rest
//! instead of swinging on and on.
//!
//! As in dry friction, the force does not depend on speed: each particle loses a constant speed per second, at
//! most all of its speed relative to the motion of the whole. A cloth that only translates and rotates as a rigid
//! body does not rub. For cloth without pins, the reference is the rigid motion with the same momentum and angular
//! momentum, and the momentum and angular momentum removed by friction are restored. Both are conserved while
//! energy only decreases: the removed velocity is opposite to the motion within the cloth, and the restored rigid
//! motion has no component of it. For pinned cloth, the reference is the mean motion of the pins.
//!
//! This is a model and not a measured law: the bending of fabrics shows such friction as hysteresis, the moment
//! 2HB of Kawabata (1980), but here it acts on motion, not on bending.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "NaN must not pass")]
#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use crate::solver::{
    parallel::workers::PARTICLES_PER_PART,
    particles::{
        ParticleArrays, for_each_pinned,
        rigid_motion::{
            BestFitBody, LaneSums, RigidMotion, add_lane_sums, add_rigid_motion, particle_sums,
        },
    },
    simd::{Kernel, LANES, dispatch, select},
};
use bevy::math::DVec3;

/// Slows all motion within the cloth by this deceleration, m/s², during a fixed step of `dt` seconds. Must be
/// called before the step.
pub(crate) fn apply_internal_friction(p: &mut ParticleArrays, deceleration: f32, dt: f32) {
    // As a displacement per substep.
    let max_loss = deceleration * dt * p.last_dt;
    if !(max_loss > 0.0) || p.is_empty() {
        return;
    }
    if let Some(motion) = mean_pin_motion(p) {
        slow_down(p, &motion, max_loss);
        return;
    }
    let body = BestFitBody::fit(p);
    let motion = body.motion(body.momentum, body.angular_momentum);
    let [momentum, angular_momentum] = slow_down(p, &motion, max_loss);
    let lost = body.motion(momentum, angular_momentum + body.centre.cross(momentum));
    add_rigid_motion(p, &lost);
}

/// Returns the mean motion of the pins; `None` if there are none.
fn mean_pin_motion(p: &ParticleArrays) -> Option<RigidMotion> {
    let (mut sum, mut count) = (DVec3::ZERO, 0_u32);
    for_each_pinned(&p.inverse_mass, |i| {
        sum += p.displacement.get(i).as_dvec3();
        count += 1;
    });
    (count > 0).then(|| RigidMotion {
        translation: (sum / f64::from(count)).as_vec3(),
        ..RigidMotion::default()
    })
}

/// Reduces the displacement of all particles relative to this motion by at most `max_loss`. Returns the lost
/// momentum, and the lost angular momentum about the centre of the motion.
fn slow_down(p: &mut ParticleArrays, motion: &RigidMotion, max_loss: f32) -> [DVec3; 2] {
    let mut sums = [0.0; 6];
    let parts = p
        .position
        .chunks(PARTICLES_PER_PART)
        .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
    for ((x, d), w) in parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART)) {
        let mut lanes = [[0.0; LANES]; 6];
        dispatch(FrictionKernel {
            x,
            d,
            w,
            motion: *motion,
            max_loss,
            lanes: &mut lanes,
        });
        add_lane_sums(&lanes, &mut sums);
    }
    let [px, py, pz, lx, ly, lz] = sums;
    [DVec3::new(px, py, pz), DVec3::new(lx, ly, lz)]
}

/// Returns the part of the displacement of a particle that friction removes.
#[inline(always)]
fn friction_loss(
    x: [f32; 3],
    d: [f32; 3],
    w: f32,
    motion: &RigidMotion,
    max_loss: f32,
) -> [f32; 3] {
    let rigid = motion.displacement_at(x);
    let r = [d[0] - rigid[0], d[1] - rigid[1], d[2] - rigid[2]];
    let length = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let fraction = select(length > max_loss, max_loss / length, 1.0);
    let fraction = select(w > 0.0, fraction, 0.0);
    [r[0] * fraction, r[1] * fraction, r[2] * fraction]
}

struct FrictionKernel<'a> {
    x: [&'a [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    motion: RigidMotion,
    max_loss: f32,
    lanes: &'a mut LaneSums<6>,
}

impl FrictionKernel<'_> {
    #[inline(always)]
    fn slow_particle(&mut self, i: usize, lane: usize) {
        let x = self.x.map(|x| x[i]);
        let w = self.w[i];
        let d = [self.d[0][i], self.d[1][i], self.d[2][i]];
        let lost = friction_loss(x, d, w, &self.motion, self.max_loss);
        for (d, lost) in self.d.iter_mut().zip(lost) {
            d[i] -= lost;
        }
        let terms = particle_sums(x, lost, w, self.motion.centre.into());
        for (lanes, term) in self.lanes.iter_mut().zip(&terms[4..10]) {
            lanes[lane] += term;
        }
    }
}

impl Kernel for FrictionKernel<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let whole = n - n % LANES;
        let (motion, max_loss) = (self.motion, self.max_loss);
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
                let position = [x[lane], y[lane], z[lane]];
                let d = [dx[lane], dy[lane], dz[lane]];
                let lost = friction_loss(position, d, w[lane], &motion, max_loss);
                dx[lane] -= lost[0];
                dy[lane] -= lost[1];
                dz[lane] -= lost[2];
                let terms = particle_sums(position, lost, w[lane], motion.centre.into());
                for (sum, term) in sums.iter_mut().zip(&terms[4..10]) {
                    sum[lane] += term;
                }
            }
        }
        *self.lanes = sums;
        (whole..n).for_each(|i| self.slow_particle(i, i - whole));
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        (0..self.w.len()).for_each(|i| self.slow_particle(i, i % LANES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        SoaVec3, particles::rigid_motion::momentum_and_energy, simd::levels::same_bits,
    };
    use bevy::math::Vec3;

    const DT: f32 = 1.0 / 60.0;

    fn part(k: u32) -> f32 {
        (k * 29 % 101) as f32 * 0.037 - 1.8
    }

    /// Moving particles of various masses at pseudo-random positions.
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
    fn internal_friction_removes_energy_but_no_momentum() {
        let mut p = swarm(203, false);
        let (momentum, angular, mut energy) = momentum_and_energy(&p);
        // Few enough steps that some motion within the cloth remains.
        for _ in 0..20 {
            apply_internal_friction(&mut p, 1e3, DT);
            let now = momentum_and_energy(&p);
            assert!((now.0 - momentum).length() < 1e-5 * momentum.length());
            assert!((now.1 - angular).length() < 1e-5 * angular.length());
            assert!(now.2 < energy);
            energy = now.2;
        }
    }

    #[test]
    fn rigid_motion_continues_and_all_other_motion_ends() {
        let mut p = swarm(100, false);
        // More than all motion within the cloth.
        apply_internal_friction(&mut p, 1e9, DT);
        let body = BestFitBody::fit(&p);
        let motion = body.motion(body.momentum, body.angular_momentum);
        let before = p.displacement.clone();
        for i in 0..100 {
            let rigid = Vec3::from(motion.displacement_at(p.position.get(i).into()));
            assert!((before.get(i) - rigid).length() < 1e-5, "{i}");
        }
        apply_internal_friction(&mut p, 1e9, DT);
        for i in 0..100 {
            assert!((before.get(i) - p.displacement.get(i)).length() < 1e-5);
        }
    }

    #[test]
    fn rigid_motion_of_ropes_and_single_particles_is_unaffected() {
        for count in [1, 2, 7] {
            let positions: SoaVec3 = (0..count).map(|i| Vec3::X * i as f32).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; count]);
            // The rope moves along x and y and rotates about z.
            p.displacement = (0..count)
                .map(|i| Vec3::new(0.1, i as f32 - 2.0, 0.0))
                .collect();
            let before = p.displacement.clone();
            apply_internal_friction(&mut p, 1e9, DT);
            for i in 0..count {
                let difference = before.get(i) - p.displacement.get(i);
                assert!(difference.length() < 1e-5, "{i} of {count}: {difference}");
            }
        }
    }

    #[test]
    fn the_deceleration_is_limited_and_relative_to_the_pins() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y].into_iter().collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, positions, vec![0.0, 1.0, 1.0]);
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
