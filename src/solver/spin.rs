//! What relaxation takes of the angular momentum of a cloth, and how it gets that back.
//!
//! Relaxation pulls along the threads as they are at the end of a substep, not at its beginning. With the
//! displacement d = x − x₋, the angular momentum Σm·x×d, which is Σm·x₋×d, changes by Σm·x₋×Δ where particles
//! are moved by Δ: a cloth that turns by the angle ωΔts in a substep loses the share (ωΔts)² of its spin.
//! That is summed up during a step, and given back at its end as the turn of a rigid body, which strains
//! nothing; not before, for until then contacts need to know where particles came from. What of the
//! momentum is lost by rounding is given back with it.
//!
//! This is for cloth that is free. Pins take what angular momentum they like; and friction that holds a cloth
//! at rest has made up for the loss in the same substep, so that giving it back would turn what lies still
//! (measured: a drape of 64 × 64 turned at 0.9 mm/s). Pieces of a torn cloth are treated as one body: what
//! one has lost, all get a share of.

#![allow(
    clippy::needless_range_loop,
    reason = "lanes of many arrays side by side"
)]

use super::{
    crew::{Leader, PART},
    particles::ParticleArrays,
    rigid::{Body, Lanes, add_up, cross, give_back},
    simd::{Kernel, LANES, dispatch},
};
use bevy::math::{DVec3, Vec3};

/// Momentum and angular momentum.
const SUMS: usize = 6;

/// What a cloth has lost in the running step.
#[derive(Clone, Debug, Default)]
pub(super) struct Spin {
    /// Nothing is pinned.
    free: bool,
    /// Momentum, kg·m, and angular momentum around the origin, kg·m², as displacements during a substep have
    /// them; what it has gained is below 0.
    lost: [DVec3; 2],
    /// What each part of the particles has gained.
    parts: Vec<[f64; SUMS]>,
}

/// It is no part of the state of a cloth between two steps.
impl PartialEq for Spin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Spin {
    /// To be called once a step, before the first relaxation.
    pub(super) fn begin(&mut self, p: &ParticleArrays) {
        self.free = !p.inverse_mass.contains(&0.0);
        self.lost = [DVec3::ZERO; 2];
        let parts = if self.free { p.len().div_ceil(PART) } else { 0 };
        self.parts.resize(parts, [0.0; SUMS]);
    }

    /// Notes what relaxation has just done, before displacements are brought up to date.
    pub(super) fn note(&mut self, leader: &mut Leader, p: &ParticleArrays) {
        let [momentum, angular] = self.gained(leader, p);
        self.lost[0] -= momentum;
        self.lost[1] -= angular;
    }

    /// Notes that what has moved since integration was not moved by relaxation, which is to come.
    pub(super) fn disregard(&mut self, leader: &mut Leader, p: &ParticleArrays) {
        let [momentum, angular] = self.gained(leader, p);
        self.lost[0] += momentum;
        self.lost[1] += angular;
    }

    /// What has been gained since integration.
    fn gained(&mut self, leader: &mut Leader, p: &ParticleArrays) -> [DVec3; 2] {
        if !self.free || p.is_empty() || p.len().div_ceil(PART) != self.parts.len() {
            return [DVec3::ZERO; 2];
        }
        let origin = p.position.get(0);
        let places = p.position.chunks(PART).zip(p.predicted.chunks(PART));
        let parts = places.zip(p.displacement.chunks(PART));
        let parts = parts.zip(p.inverse_mass.chunks(PART));
        let parts = parts.zip(&mut self.parts);
        leader.each(parts, |((((x, predicted), d), w), sums)| {
            let mut lanes = [[0.0; LANES]; SUMS];
            dispatch(Gained {
                x,
                predicted,
                d,
                w,
                origin,
                lanes: &mut lanes,
            });
            *sums = [0.0; SUMS];
            add_up(&lanes, sums);
        });
        let mut gained = [0.0; SUMS];
        // In their order, whoever has summed them up.
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

    /// Gives nothing back in this step, and need not note anything any more.
    pub(super) fn forget(&mut self) {
        self.free = false;
    }

    /// Gives back what was lost.
    pub(super) fn give_back(&mut self, p: &mut ParticleArrays) {
        let [momentum, angular] = std::mem::take(&mut self.lost);
        let any = momentum != DVec3::ZERO || angular != DVec3::ZERO;
        if self.free && any && momentum.is_finite() && angular.is_finite() {
            let body = Body::of(p);
            let angular = angular - body.origin.as_dvec3().cross(momentum);
            give_back(p, &body.motion(momentum, angular));
        }
    }
}

/// Sums up m·Δ and m·(x₋ − o)×Δ.
struct Gained<'a> {
    x: [&'a [f32]; 3],
    predicted: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    w: &'a [f32],
    origin: Vec3,
    lanes: &'a mut Lanes<SUMS>,
}

/// What a particle adds.
#[inline(always)]
fn gain(x: [f32; 3], p: [f32; 3], d: [f32; 3], w: f32, o: Vec3) -> [f32; SUMS] {
    let before = [p[0] - d[0] - o.x, p[1] - d[1] - o.y, p[2] - d[2] - o.z];
    let m = 1.0 / w;
    let [mx, my, mz] = [m * (x[0] - p[0]), m * (x[1] - p[1]), m * (x[2] - p[2])];
    let [lx, ly, lz] = cross(before, [mx, my, mz]);
    [mx, my, mz, lx, ly, lz]
}

impl Gained<'_> {
    #[inline(always)]
    fn add(&mut self, i: usize, lane: usize) {
        let (x, p, d) = (
            self.x.map(|x| x[i]),
            self.predicted.map(|p| p[i]),
            self.d.map(|d| d[i]),
        );
        let gain = gain(x, p, d, self.w[i], self.origin);
        for (lanes, gain) in self.lanes.iter_mut().zip(gain) {
            lanes[lane] += gain;
        }
    }
}

impl Kernel for Gained<'_> {
    #[inline(always)]
    fn run(mut self) {
        let n = self.w.len();
        let whole = n - n % LANES;
        let ([x, y, z], [px, py, pz]) = (self.x, self.predicted);
        let ([dx, dy, dz], w, o) = (self.d, self.w, self.origin);
        // Each by its name: lists of lists would stay in memory.
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
                let [mx, my, mz, lx, ly, lz] = gain(x, p, d, w[lane], o);
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

    fn run_scalar(mut self) {
        (0..self.w.len()).for_each(|i| self.add(i, i % LANES));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        SoaVec3, crew::threads, rigid::kept, simd::levels::same_bits, update_displacements,
    };

    /// Particles here and there that fly about, and what relaxation has made of where they were to be.
    fn moved(count: u32) -> ParticleArrays {
        let part = |k: u32| (k * 29 % 101) as f32 * 0.02 - 1.0;
        let some = |from: u32| -> SoaVec3 {
            let vector = |i| Vec3::new(part(i), part(3 * i + 7), part(7 * i + 31));
            (from..from + count).map(vector).collect()
        };
        let w = (0..count).map(|i| 1.0 + (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, some(5), w);
        p.displacement = some(17);
        // Pairs are pulled together: momentum is kept.
        for i in (1..count as usize).step_by(2) {
            let way = (p.position.get(i) - p.position.get(i - 1)) * 0.1;
            let [a, b] = [i - 1, i].map(|i| p.inverse_mass[i]);
            p.position.add(i - 1, way * a);
            p.position.add(i, way * -b);
        }
        p
    }

    fn give_back_all(p: &mut ParticleArrays, spin: &mut Spin) {
        spin.begin(p);
        spin.note(&mut Leader::alone(), p);
        update_displacements(p);
        spin.give_back(p);
    }

    #[test]
    fn angular_momentum_is_what_it_was() {
        let mut p = moved(1000);
        let mut before = p.clone();
        before.position.copy_from(&p.predicted);
        let expected = kept(&before);
        let mut without = p.clone();
        update_displacements(&mut without);
        let lost = (kept(&without).1 - expected.1).length();
        give_back_all(&mut p, &mut Spin::default());
        let (momentum, angular, _) = kept(&p);
        assert!((momentum - expected.0).length() < 1e-3);
        assert!(lost > 1.0, "{lost}");
        assert!((angular - expected.1).length() < 1e-4 * lost);
    }

    #[test]
    fn pinned_cloth_is_left_alone() {
        let mut p = moved(100);
        p.inverse_mass[7] = 0.0;
        let mut without = p.clone();
        update_displacements(&mut without);
        give_back_all(&mut p, &mut Spin::default());
        assert_eq!(p.state_hash(), without.state_hash());
    }

    #[test]
    fn few_particles_and_numbers_that_are_none_do_no_harm() {
        for count in 0..5 {
            let mut p = moved(count);
            give_back_all(&mut p, &mut Spin::default());
            assert!(p.is_finite(), "{count}");
        }
        let mut p = moved(50);
        p.position.x[3] = f32::NAN;
        give_back_all(&mut p, &mut Spin::default());
        assert!(p.displacement.get(4).is_finite());
    }

    #[test]
    fn levels_and_threads_give_the_same_bits() {
        for count in [1, 15, 16, 17, 100] {
            same_bits(|| {
                let mut p = moved(count);
                give_back_all(&mut p, &mut Spin::default());
                p.displacement.bits().collect()
            });
        }
        let of = |leader: &mut Leader| {
            let p = moved(3 * PART as u32 + 5);
            let mut spin = Spin::default();
            spin.begin(&p);
            spin.note(leader, &p);
            spin.lost.map(|lost| lost.to_array().map(f64::to_bits))
        };
        let expected = of(&mut Leader::alone());
        for count in threads::COUNTS {
            assert_eq!(threads::with(count, of), expected, "{count}");
        }
    }
}
