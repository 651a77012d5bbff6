//! Restores the angular momentum that relaxation removes from a free cloth.
//!
//! Relaxation projects along the constraints as they are at the end of a substep, not at its beginning. With the
//! displacement d = x − x₋, the angular momentum Σm·x×d, which is Σm·x₋×d, changes by Σm·x₋×Δ where particles are
//! moved by Δ: a cloth that rotates by the angle ωΔts in a substep loses the fraction (ωΔts)² of its angular
//! momentum. The loss is accumulated during a step and restored at its end as a rigid rotation, which strains
//! nothing; not earlier, because until then contacts need to know where particles came from. The momentum lost by
//! rounding is restored with it.
//!
//! This applies only to free cloth. Pins exchange angular momentum with the cloth; and friction that holds a cloth
//! at rest compensates for the loss within the same substep, so restoring it would rotate a cloth that lies still
//! (measured: a drape of 64 × 64 rotated at 0.9 mm/s). Parts of a torn cloth are treated as one body: the loss of
//! one part is distributed over all of them.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::{
        ParticleArrays,
        rigid_motion::{BestFitBody, LaneSums, add_lane_sums, add_rigid_motion, cross},
    },
    simd::{Kernel, LANES, dispatch},
};
use bevy::math::{DVec3, Vec3};

/// Number of sums: momentum and angular momentum.
const SUMS: usize = 6;

/// Momentum and angular momentum that a cloth has lost in the current step.
#[derive(Clone, Debug, Default)]
pub(in crate::solver) struct AngularMomentumTracker {
    /// Whether no particle is pinned.
    free: bool,
    /// Lost momentum, kg·m, and lost angular momentum about the origin, kg·m², with displacements per substep in
    /// place of velocities. A gain is negative.
    lost: [DVec3; 2],
    /// Gain of each part of the particles.
    parts: Vec<[f64; SUMS]>,
}

/// The tracker is not part of the state of a cloth between two steps.
impl PartialEq for AngularMomentumTracker {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl AngularMomentumTracker {
    /// Starts the accumulation. Must be called once per step, before the first relaxation.
    pub(in crate::solver) fn begin(&mut self, p: &ParticleArrays) {
        self.free = !p.inverse_mass.contains(&0.0);
        self.lost = [DVec3::ZERO; 2];
        let parts = if self.free {
            p.len().div_ceil(PARTICLES_PER_PART)
        } else {
            0
        };
        self.parts.resize(parts, [0.0; SUMS]);
    }

    /// Records the effect of relaxation. Must be called before displacements are updated.
    pub(in crate::solver) fn record(&mut self, workers: &mut Workers, p: &ParticleArrays) {
        let [momentum, angular] = self.gain_since_integration(workers, p);
        self.lost[0] -= momentum;
        self.lost[1] -= angular;
    }

    /// Excludes the motion since integration from the next [`record`](Self::record): it precedes relaxation.
    pub(in crate::solver) fn exclude(&mut self, workers: &mut Workers, p: &ParticleArrays) {
        let [momentum, angular] = self.gain_since_integration(workers, p);
        self.lost[0] += momentum;
        self.lost[1] += angular;
    }

    /// Returns the momentum and angular momentum gained since integration.
    fn gain_since_integration(&mut self, workers: &mut Workers, p: &ParticleArrays) -> [DVec3; 2] {
        if !self.free || p.is_empty() || p.len().div_ceil(PARTICLES_PER_PART) != self.parts.len() {
            return [DVec3::ZERO; 2];
        }
        let origin = p.position.get(0);
        let positions = p
            .position
            .chunks(PARTICLES_PER_PART)
            .zip(p.predicted.chunks(PARTICLES_PER_PART));
        let parts = positions.zip(p.displacement.chunks(PARTICLES_PER_PART));
        let parts = parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
        let parts = parts.zip(&mut self.parts);
        workers.for_each_part(parts, |((((x, predicted), d), w), sums)| {
            let mut lanes = [[0.0; LANES]; SUMS];
            dispatch(MomentumGain {
                x,
                predicted,
                d,
                w,
                origin,
                lanes: &mut lanes,
            });
            *sums = [0.0; SUMS];
            add_lane_sums(&lanes, sums);
        });
        let mut gained = [0.0; SUMS];
        // In part order, regardless of which worker computed each part.
        for part in &self.parts {
            for (sum, part) in gained.iter_mut().zip(part) {
                *sum += part;
            }
        }
        let [px, py, pz, lx, ly, lz] = gained;
        let momentum = DVec3::new(px, py, pz);
        let angular = DVec3::new(lx, ly, lz) + origin.as_dvec3().cross(momentum);
        [momentum, angular]
    }

    /// Restores nothing in this step, and records nothing more.
    pub(in crate::solver) fn forget(&mut self) {
        self.free = false;
    }

    /// Restores the accumulated loss.
    pub(in crate::solver) fn restore(&mut self, p: &mut ParticleArrays) {
        let [momentum, angular] = std::mem::take(&mut self.lost);
        let any = momentum != DVec3::ZERO || angular != DVec3::ZERO;
        if self.free && any && momentum.is_finite() && angular.is_finite() {
            let body = BestFitBody::fit(p);
            let angular = angular - body.origin.as_dvec3().cross(momentum);
            add_rigid_motion(p, &body.motion(momentum, angular));
        }
    }
}

/// Sums m·Δ and m·(x₋ − o)×Δ.
struct MomentumGain<'a> {
    x: [&'a [f32]; 3],
    predicted: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    origin: Vec3,
    lanes: &'a mut LaneSums<SUMS>,
}

/// Returns the contribution of a particle.
#[inline(always)]
fn particle_gain(x: [f32; 3], p: [f32; 3], d: [f32; 3], w: f32, o: Vec3) -> [f32; SUMS] {
    let before = [p[0] - d[0] - o.x, p[1] - d[1] - o.y, p[2] - d[2] - o.z];
    let m = 1.0 / w;
    let [mx, my, mz] = [m * (x[0] - p[0]), m * (x[1] - p[1]), m * (x[2] - p[2])];
    let [lx, ly, lz] = cross(before, [mx, my, mz]);
    [mx, my, mz, lx, ly, lz]
}

impl MomentumGain<'_> {
    #[inline(always)]
    fn add(&mut self, i: usize, lane: usize) {
        let (x, p, d) = (
            self.x.map(|x| x[i]),
            self.predicted.map(|p| p[i]),
            self.d.map(|d| d[i]),
        );
        let gain = particle_gain(x, p, d, self.w[i], self.origin);
        for (lanes, gain) in self.lanes.iter_mut().zip(gain) {
            lanes[lane] += gain;
        }
    }
}

impl Kernel for MomentumGain<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let whole = n - n % LANES;
        let ([x, y, z], [px, py, pz]) = (self.x, self.predicted);
        let ([dx, dy, dz], w, o) = (self.d, self.w, self.origin);
        // Separate variables: an array of arrays would stay in memory instead of registers.
        let [mut ax, mut ay, mut az, mut bx, mut by, mut bz] = *self.lanes;
        for start in (0..whole).step_by(LANES) {
            let at = start..start + LANES;
            let (x, y, z) = (&x[at.clone()], &y[at.clone()], &z[at.clone()]);
            let (px, py, pz) = (&px[at.clone()], &py[at.clone()], &pz[at.clone()]);
            let (dx, dy, dz) = (&dx[at.clone()], &dy[at.clone()], &dz[at.clone()]);
            let w = &w[at];
            for lane in 0..LANES {
                let x = [x[lane], y[lane], z[lane]];
                let p = [px[lane], py[lane], pz[lane]];
                let d = [dx[lane], dy[lane], dz[lane]];
                let [mx, my, mz, lx, ly, lz] = particle_gain(x, p, d, w[lane], o);
                ax[lane] += mx;
                ay[lane] += my;
                az[lane] += mz;
                bx[lane] += lx;
                by[lane] += ly;
                bz[lane] += lz;
            }
        }
        *self.lanes = [ax, ay, az, bx, by, bz];
        (whole..n).for_each(|i| self.add(i, i - whole));
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        (0..self.w.len()).for_each(|i| self.add(i, i % LANES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        SoaVec3, parallel::workers::threads, particles::rigid_motion::momentum_and_energy,
        simd::levels::same_bits, update_displacements,
    };

    /// Moving particles at pseudo-random positions, after pairwise corrections by a relaxation.
    fn after_relaxation(count: u32) -> ParticleArrays {
        let part = |k: u32| (k * 29 % 101) as f32 * 0.02 - 1.0;
        let some = |from: u32| -> SoaVec3 {
            let vector = |i| Vec3::new(part(i), part(3 * i + 7), part(7 * i + 31));
            (from..from + count).map(vector).collect()
        };
        let w = (0..count).map(|i| 1.0 + (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, some(5), w);
        p.displacement = some(17);
        // Pairs are pulled together: momentum is conserved.
        for i in (1..count as usize).step_by(2) {
            let pull = (p.position.get(i) - p.position.get(i - 1)) * 0.1;
            let [a, b] = [i - 1, i].map(|i| p.inverse_mass[i]);
            p.position.add(i - 1, pull * a);
            p.position.add(i, pull * -b);
        }
        p
    }

    fn record_and_restore(p: &mut ParticleArrays, tracker: &mut AngularMomentumTracker) {
        tracker.begin(p);
        tracker.record(&mut Workers::serial(), p);
        update_displacements(p);
        tracker.restore(p);
    }

    #[test]
    fn angular_momentum_is_restored() {
        let mut p = after_relaxation(1000);
        let mut before = p.clone();
        before.position.copy_from(&p.predicted);
        let expected = momentum_and_energy(&before);
        let mut without = p.clone();
        update_displacements(&mut without);
        let lost = (momentum_and_energy(&without).1 - expected.1).length();
        record_and_restore(&mut p, &mut AngularMomentumTracker::default());
        let (momentum, angular, _) = momentum_and_energy(&p);
        assert!((momentum - expected.0).length() < 1e-3);
        assert!(lost > 1.0, "{lost}");
        assert!((angular - expected.1).length() < 1e-4 * lost);
    }

    #[test]
    fn pinned_cloth_is_left_alone() {
        let mut p = after_relaxation(100);
        p.inverse_mass[7] = 0.0;
        let mut without = p.clone();
        update_displacements(&mut without);
        record_and_restore(&mut p, &mut AngularMomentumTracker::default());
        assert_eq!(p.state_hash(), without.state_hash());
    }

    #[test]
    fn few_particles_and_nan_do_no_harm() {
        for count in 0..5 {
            let mut p = after_relaxation(count);
            record_and_restore(&mut p, &mut AngularMomentumTracker::default());
            assert!(p.is_finite(), "{count}");
        }
        let mut p = after_relaxation(50);
        p.position.x[3] = f32::NAN;
        record_and_restore(&mut p, &mut AngularMomentumTracker::default());
        assert!(p.displacement.get(4).is_finite());
    }

    #[test]
    fn levels_and_threads_give_the_same_bits() {
        for count in [1, 15, 16, 17, 100] {
            same_bits(|| {
                let mut p = after_relaxation(count);
                record_and_restore(&mut p, &mut AngularMomentumTracker::default());
                p.displacement.bits().collect()
            });
        }
        let lost = |workers: &mut Workers| {
            let p = after_relaxation(3 * PARTICLES_PER_PART as u32 + 5);
            let mut tracker = AngularMomentumTracker::default();
            tracker.begin(&p);
            tracker.record(workers, &p);
            tracker.lost.map(|lost| lost.to_array().map(f64::to_bits))
        };
        let expected = lost(&mut Workers::serial());
        for count in threads::COUNTS {
            assert_eq!(threads::with(count, lost), expected, "{count}");
        }
    }
}
