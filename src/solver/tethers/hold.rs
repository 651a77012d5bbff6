//! Pulls particles back into reach, many at a time.

use super::{BLOCK, Piece, Tethers};
use crate::solver::{
    crew::{Leader, PART},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, select},
};
use std::cell::RefCell;

/// Pulls every particle x that is farther than its tether, of length r, from its anchor a:
/// x ← a + (x − a)·r·scale/|x − a|. With several such tethers it takes the mean of their
/// corrections. Pinned particles stay where they are. An infinite scale holds nothing, nor do the
/// tethers of a cloth that had more particles.
pub fn hold_tethers(particles: &mut ParticleArrays, tethers: &Tethers, scale: f32) {
    hold_tethers_shared(&mut Leader::alone(), particles, tethers, scale);
}

/// [`hold_tethers`], shared with the leader's helpers.
pub(crate) fn hold_tethers_shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    tethers: &Tethers,
    scale: f32,
) {
    let reaches = scale < f32::INFINITY && tethers.particles <= particles.len();
    if !reaches || tethers.is_empty() {
        return;
    }
    ANCHORS.with_borrow_mut(|anchors| {
        let at = &mut particles.position;
        // A copy of their own: others move the particles around them in the meantime.
        for (copy, plane) in anchors.iter_mut().zip([&at.x, &at.y, &at.z]) {
            copy.clear();
            copy.extend(tethers.anchors.iter().map(|&i| plane[i as usize]));
        }
        let anchors = anchors.each_ref().map(|plane| &plane[..]);
        let parts = at.chunks_mut(PART).zip(particles.inverse_mass.chunks(PART));
        leader.each(parts.enumerate(), |(number, (x, w))| {
            dispatch(Hold {
                tethers,
                scale,
                anchors,
                first: number * PART,
                x,
                w,
            });
        });
    });
}

thread_local! {
    /// Room for the positions of the anchors.
    static ANCHORS: RefCell<[Vec<f32>; 3]> = RefCell::default();
}

/// Particles that are neighbours in memory, and what holds them.
struct Hold<'a> {
    tethers: &'a Tethers,
    scale: f32,
    /// Where all anchors are.
    anchors: [&'a [f32]; 3],
    /// The number of the first particle, a multiple of [`BLOCK`].
    first: usize,
    x: [&'a mut [f32]; 3],
    w: &'a [f32],
}

/// What the tethers of a block ask for.
struct Sums {
    x: [f32; BLOCK],
    y: [f32; BLOCK],
    z: [f32; BLOCK],
    count: [f32; BLOCK],
}

impl Kernel for Hold<'_> {
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
            let pieces = &tethers.pieces[begin..end];
            let whole = |piece: &Piece| !piece.row && piece.count as usize == last - first;
            if let [a, b] = pieces
                && whole(a)
                && whole(b)
            {
                // As under two pinned corners: all is done at once, without sums in memory.
                let [x, y, z] = x
                    .each_mut()
                    .map(|plane| &mut plane[first - from..last - from]);
                let w = &w[first - from..last - from];
                let to = |piece: &Piece| Common {
                    anchor: anchors.map(|plane| plane[piece.anchor as usize]),
                    length: &tethers.slots[piece.slot as usize].length[first..last],
                };
                pull_both(to(a), to(b), scale, x, y, z, w);
                continue;
            }
            let mut sums = Sums {
                x: [0.0; BLOCK],
                y: [0.0; BLOCK],
                z: [0.0; BLOCK],
                count: [0.0; BLOCK],
            };
            for piece in pieces {
                let start = piece.start as usize;
                let own = start - from..start - from + piece.count as usize;
                let own = Own {
                    place: x.each_ref().map(|plane| &plane[own.clone()]),
                    w: &w[own],
                    length: &tethers.slots[piece.slot as usize].length[start..],
                    scale,
                };
                sums.add(own, anchors, piece, start - first);
            }
            for (plane, sum) in x.iter_mut().zip([&sums.x, &sums.y, &sums.z]) {
                let rows = plane[first - from..last - from].iter_mut();
                for ((x, sum), count) in rows.zip(sum).zip(&sums.count) {
                    *x += sum / count.max(1.0);
                }
            }
        }
    }

    fn run_scalar(self) {
        let Self {
            tethers,
            scale,
            anchors,
            first,
            mut x,
            w,
        } = self;
        for i in 0..w.len().min(tethers.particles.saturating_sub(first)) {
            let at = bevy::math::Vec3::from(x.each_ref().map(|plane| plane[i]));
            let mut sum = bevy::math::Vec3::ZERO;
            let mut count = 0.0;
            for (anchor, length) in tethers.of((first + i) as u32) {
                let number = tethers.anchors.partition_point(|&other| other < anchor);
                let d = at - bevy::math::Vec3::from(anchors.map(|plane| plane[number]));
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

impl Sums {
    /// Adds the corrections of a piece that begins at place `from` of the block.
    #[inline(always)]
    fn add(&mut self, own: Own, anchors: [&[f32]; 3], piece: &Piece, from: usize) {
        let (count, anchor) = (piece.count as usize, piece.anchor as usize);
        let to = from + count;
        let sums = [
            &mut self.x[from..to],
            &mut self.y[from..to],
            &mut self.z[from..to],
            &mut self.count[from..to],
        ];
        if piece.row {
            let anchors = anchors.map(|plane| &plane[anchor..anchor + count]);
            own.pull(sums, count, |k| {
                [anchors[0][k], anchors[1][k], anchors[2][k]]
            });
        } else {
            let anchor = anchors.map(|plane| plane[anchor]);
            own.pull(sums, count, |_| anchor);
        }
    }
}

/// The tethers of all particles of a block that lead to the same anchor.
#[derive(Clone, Copy)]
struct Common<'a> {
    anchor: [f32; 3],
    length: &'a [f32],
}

/// Pulls particles that have both of these tethers and no others.
#[inline(always)]
fn pull_both(
    a: Common,
    b: Common,
    scale: f32,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    w: &[f32],
) {
    let n = w.len();
    let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let (of_a, of_b) = (&a.length[..n], &b.length[..n]);
    for k in 0..n {
        let at = [x[k], y[k], z[k]];
        let (by_a, pulls_a) = correction(at, a.anchor, of_a[k] * scale, w[k]);
        let (by_b, pulls_b) = correction(at, b.anchor, of_b[k] * scale, w[k]);
        // One half is exact, so this is the mean to the bit.
        let share = select(pulls_a + pulls_b > 1.0, 0.5, 1.0);
        x[k] += (by_a[0] + by_b[0]) * share;
        y[k] += (by_a[1] + by_b[1]) * share;
        z[k] += (by_a[2] + by_b[2]) * share;
    }
}

/// By how much a tether pulls a particle, and whether it does: 1 or 0.
#[inline(always)]
fn correction([x, y, z]: [f32; 3], anchor: [f32; 3], reach: f32, w: f32) -> ([f32; 3], f32) {
    let (dx, dy, dz) = (x - anchor[0], y - anchor[1], z - anchor[2]);
    let distance = (dx * dx + dy * dy + dz * dz).sqrt();
    // Chosen without a branch; what is not far enough away gets a factor of 0.
    let pulls = (distance > reach) & (w > 0.0);
    let factor = select(pulls, reach / distance - 1.0, 0.0);
    (
        [dx * factor, dy * factor, dz * factor],
        select(pulls, 1.0, 0.0),
    )
}

/// What a piece reads of its particles.
struct Own<'a> {
    place: [&'a [f32]; 3],
    w: &'a [f32],
    length: &'a [f32],
    scale: f32,
}

impl Own<'_> {
    #[inline(always)]
    fn pull(&self, sums: [&mut [f32]; 4], count: usize, anchor: impl Fn(usize) -> [f32; 3]) {
        let [x, y, z] = self.place.map(|plane| &plane[..count]);
        let (w, length) = (&self.w[..count], &self.length[..count]);
        let [sum_x, sum_y, sum_z, number] = sums.map(|sum| &mut sum[..count]);
        for k in 0..count {
            let anchor = anchor(k);
            let reach = length[k] * self.scale;
            let (by, pulls) = correction([x[k], y[k], z[k]], anchor, reach, w[k]);
            sum_x[k] += by[0];
            sum_y[k] += by[1];
            sum_z[k] += by[2];
            number[k] += pulls;
        }
    }
}
