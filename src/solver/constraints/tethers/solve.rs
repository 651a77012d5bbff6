//! Projection of tethers, vectorized over particles.

use super::{BLOCK, TetherRun, Tethers};
use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, select},
};
#[cfg(test)]
use bevy::math::Vec3;
use std::cell::RefCell;

/// Pulls every particle x that is farther than the length r of its tether from its anchor a: x ← a + (x −
/// a)·r·scale/|x − a|. With several such tethers it applies the mean of their corrections. Pinned particles are
/// not moved. Does nothing with an infinite scale, or if the tethers belong to a cloth with more particles.
pub(crate) fn solve_tethers(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    tethers: &Tethers,
    scale: f32,
) {
    let is_active = scale < f32::INFINITY && tethers.particles <= particles.len();
    if !is_active || tethers.is_empty() {
        return;
    }
    ANCHORS.with_borrow_mut(|anchors| {
        let at = &mut particles.position;
        // A copy, because other workers move the particles meanwhile.
        for (copy, plane) in anchors.iter_mut().zip(at.planes()) {
            copy.clear();
            copy.extend(tethers.anchors.iter().map(|&i| plane[i as usize]));
        }
        let anchors = anchors.each_ref().map(|plane| &plane[..]);
        let chunks = at
            .chunks_mut(PARTICLES_PER_PART)
            .zip(particles.inverse_mass.chunks(PARTICLES_PER_PART));
        workers.for_each_part(chunks.enumerate(), |(chunk, (x, w))| {
            dispatch(TetherKernel {
                tethers,
                scale,
                anchors,
                first: chunk * PARTICLES_PER_PART,
                x,
                w,
            });
        });
    });
}

thread_local! {
    /// Scratch buffer for the positions of the anchors.
    static ANCHORS: RefCell<[Vec<f32>; 3]> = RefCell::default();
}

/// Consecutive particles and their tethers.
struct TetherKernel<'a> {
    tethers: &'a Tethers,
    scale: f32,
    /// Positions of all anchors.
    anchors: [&'a [f32]; 3],
    /// Index of the first particle, a multiple of [`BLOCK`].
    first: usize,
    x: [&'a mut [f32]; 3],
    w: &'a [f32],
}

/// Sums of the corrections of the particles of a block, and their number.
struct CorrectionSums {
    x: [f32; BLOCK],
    y: [f32; BLOCK],
    z: [f32; BLOCK],
    count: [f32; BLOCK],
}

impl Kernel for TetherKernel<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            tethers,
            scale,
            anchors,
            first: from,
            mut x,
            w,
        } = self;
        let blocks = from / BLOCK..(from + w.len()).div_ceil(BLOCK).min(tethers.ends.len());
        for block in blocks {
            let end = tethers.ends[block] as usize;
            let begin = block.checked_sub(1).map_or(0, |b| tethers.ends[b] as usize);
            if begin == end {
                continue;
            }
            let first = block * BLOCK;
            let last = (first + BLOCK).min(tethers.particles);
            let own = first - from..last - from;
            let runs = &tethers.runs[begin..end];
            let covers_block =
                |run: &TetherRun| !run.consecutive_anchors && run.count as usize == last - first;
            if let [a, b] = runs
                && covers_block(a)
                && covers_block(b)
            {
                // A common case, such as a cloth with two pinned corners: evaluated at once, without sums in
                // memory.
                let [x, y, z] = x.each_mut().map(|plane| &mut plane[own.clone()]);
                let shared = |run: &TetherRun| SharedAnchor {
                    anchor: anchors.map(|plane| plane[run.anchor as usize]),
                    length: &tethers.slots[run.slot as usize][first..last],
                };
                pull_both(shared(a), shared(b), scale, x, y, z, &w[own]);
                continue;
            }
            let mut sums = CorrectionSums::ZERO;
            for run in runs {
                let start = run.start as usize;
                let range = start - from..start - from + run.count as usize;
                let particles = RunParticles {
                    position: x.each_ref().map(|plane| &plane[range.clone()]),
                    w: &w[range],
                    length: &tethers.slots[run.slot as usize][start..],
                    scale,
                };
                sums.add(particles, anchors, run, start - first);
            }
            for (plane, sum) in x.iter_mut().zip([&sums.x, &sums.y, &sums.z]) {
                let values = plane[own.clone()].iter_mut();
                for ((x, sum), count) in values.zip(sum).zip(&sums.count) {
                    *x += sum / count.max(1.0);
                }
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let Self {
            tethers,
            scale,
            anchors,
            first,
            mut x,
            w,
        } = self;
        for i in 0..w.len().min(tethers.particles.saturating_sub(first)) {
            let at = Vec3::from(x.each_ref().map(|plane| plane[i]));
            let mut sum = Vec3::ZERO;
            let mut count = 0.0;
            for (anchor, length) in tethers.for_particle((first + i) as u32) {
                let index = tethers.anchors.partition_point(|&other| other < anchor);
                let d = at - Vec3::from(anchors.map(|plane| plane[index]));
                let distance = (d.x * d.x + d.y * d.y + d.z * d.z).sqrt();
                let reach = length * scale;
                if distance > reach && w[i] > 0.0 {
                    sum += d * (reach / distance - 1.0);
                    count += 1.0;
                }
            }
            if count > 0.0 {
                for (plane, to) in x.iter_mut().zip((at + sum / count).to_array()) {
                    plane[i] = to;
                }
            }
        }
    }
}

impl CorrectionSums {
    const ZERO: Self = Self {
        x: [0.0; BLOCK],
        y: [0.0; BLOCK],
        z: [0.0; BLOCK],
        count: [0.0; BLOCK],
    };

    /// Adds the corrections of a run that begins at index `from` of the block.
    #[inline(always)]
    fn add(&mut self, particles: RunParticles, anchors: [&[f32]; 3], run: &TetherRun, from: usize) {
        let (count, anchor) = (run.count as usize, run.anchor as usize);
        let to = from + count;
        let sums = [
            &mut self.x[from..to],
            &mut self.y[from..to],
            &mut self.z[from..to],
            &mut self.count[from..to],
        ];
        if run.consecutive_anchors {
            let anchors = anchors.map(|plane| &plane[anchor..anchor + count]);
            particles.pull(sums, count, |k| {
                [anchors[0][k], anchors[1][k], anchors[2][k]]
            });
        } else {
            let anchor = anchors.map(|plane| plane[anchor]);
            particles.pull(sums, count, |_| anchor);
        }
    }
}

/// Tethers of all particles of a block to a common anchor.
#[derive(Clone, Copy)]
struct SharedAnchor<'a> {
    anchor: [f32; 3],
    length: &'a [f32],
}

/// Pulls particles that have exactly these two tethers.
#[inline(always)]
fn pull_both(
    a: SharedAnchor,
    b: SharedAnchor,
    scale: f32,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    w: &[f32],
) {
    let n = w.len();
    let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let (length_a, length_b) = (&a.length[..n], &b.length[..n]);
    for k in 0..n {
        let at = [x[k], y[k], z[k]];
        let (delta_a, pulls_a) = correction(at, a.anchor, length_a[k] * scale, w[k]);
        let (delta_b, pulls_b) = correction(at, b.anchor, length_b[k] * scale, w[k]);
        // One half is exact, so this is the mean to the bit.
        let weight = select(pulls_a + pulls_b > 1.0, 0.5, 1.0);
        x[k] += (delta_a[0] + delta_b[0]) * weight;
        y[k] += (delta_a[1] + delta_b[1]) * weight;
        z[k] += (delta_a[2] + delta_b[2]) * weight;
    }
}

/// Returns the correction of a particle by a tether, and 1 if the tether is taut, else 0.
#[inline(always)]
fn correction([x, y, z]: [f32; 3], anchor: [f32; 3], reach: f32, w: f32) -> ([f32; 3], f32) {
    let (dx, dy, dz) = (x - anchor[0], y - anchor[1], z - anchor[2]);
    let distance = (dx * dx + dy * dy + dz * dz).sqrt();
    // Without a branch; a slack tether gets a factor of 0.
    let pulls = (distance > reach) & (w > 0.0);
    let factor = select(pulls, reach / distance - 1.0, 0.0);
    (
        [dx * factor, dy * factor, dz * factor],
        select(pulls, 1.0, 0.0),
    )
}

/// Data of the particles of a run.
struct RunParticles<'a> {
    position: [&'a [f32]; 3],
    w: &'a [f32],
    length: &'a [f32],
    scale: f32,
}

impl RunParticles<'_> {
    #[inline(always)]
    fn pull(&self, sums: [&mut [f32]; 4], count: usize, anchor: impl Fn(usize) -> [f32; 3]) {
        let [x, y, z] = self.position.map(|plane| &plane[..count]);
        let (w, length) = (&self.w[..count], &self.length[..count]);
        let [sum_x, sum_y, sum_z, pull_count] = sums.map(|sum| &mut sum[..count]);
        for k in 0..count {
            let anchor = anchor(k);
            let reach = length[k] * self.scale;
            let (delta, pulls) = correction([x[k], y[k], z[k]], anchor, reach, w[k]);
            sum_x[k] += delta[0];
            sum_y[k] += delta[1];
            sum_z[k] += delta[2];
            pull_count[k] += pulls;
        }
    }
}
