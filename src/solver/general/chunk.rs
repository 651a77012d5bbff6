//! Solves constraints in chunks: fetch, compute, move.

use super::places::{Places, turn};
use crate::solver::{batches::Batch, relax::Softness, thread::share};
use bevy::math::Vec4;

/// Constraints of a chunk: enough that their loops run freely, few enough that all that lies between
/// the loops stays in the nearest cache (32 and 128 are slower, by a few per cent).
const CHUNK: usize = 64;

/// What lies between the loops: differences d = x₁ − x₀ of a chunk, and both inverse masses, which
/// become how far both ends go along d.
pub(super) struct Chunks {
    x: [f32; CHUNK],
    y: [f32; CHUNK],
    z: [f32; CHUNK],
    w: [[f32; CHUNK]; 2],
}

impl Default for Chunks {
    fn default() -> Self {
        Self {
            x: [0.0; CHUNK],
            y: [0.0; CHUNK],
            z: [0.0; CHUNK],
            w: [[0.0; CHUNK]; 2],
        }
    }
}

impl Chunks {
    /// Solves batches in their order.
    #[inline(always)]
    pub(super) fn solve_batches(
        &mut self,
        places: &mut impl Places,
        batches: &mut [Batch],
        softness: &impl Fn(&Batch) -> Softness,
    ) {
        for batch in batches {
            let soft = softness(batch);
            let (pairs, rest, lambda) = (&batch.pairs, &batch.rest, &mut batch.lambda);
            if batch.independent {
                self.solve(places, pairs, rest, lambda, soft);
            } else {
                solve_singly(places, pairs, rest, lambda, soft);
            }
        }
    }

    /// Solves constraints that share no particle. `lambda` may be empty.
    #[inline(always)]
    fn solve(
        &mut self,
        places: &mut impl Places,
        pairs: &[[u32; 2]],
        rest: &[f32],
        lambda: &mut [f32],
        soft: Softness,
    ) {
        let (chunks, tail) = pairs.as_chunks::<CHUNK>();
        let (rests, rest_tail) = rest.as_chunks::<CHUNK>();
        let mut lambdas = lambda.chunks_mut(CHUNK);
        // The length of most chunks is known when this is compiled, which unrolls the loops.
        for (pairs, rest) in chunks.iter().zip(rests) {
            let lambda = lambdas.next().unwrap_or_default();
            self.solve_chunk(places, pairs, rest, lambda, soft);
        }
        let lambda = lambdas.next().unwrap_or_default();
        self.solve_chunk(places, tail, rest_tail, lambda, soft);
    }

    #[inline(always)]
    fn solve_chunk(
        &mut self,
        places: &mut impl Places,
        pairs: &[[u32; 2]],
        rest: &[f32],
        lambda: &mut [f32],
        soft: Softness,
    ) {
        self.fetch(places, pairs);
        self.compute(rest, lambda, soft);
        self.put(places, pairs);
    }

    #[inline(always)]
    fn fetch(&mut self, places: &impl Places, pairs: &[[u32; 2]]) {
        let Self { x, y, z, w } = self;
        let [w0, w1] = w;
        let (fours, tail) = pairs.as_chunks::<4>();
        let xs = x.as_chunks_mut::<4>().0.iter_mut();
        let ys = y.as_chunks_mut::<4>().0;
        let zs = z.as_chunks_mut::<4>().0;
        let w0s = w0.as_chunks_mut::<4>().0;
        let w1s = w1.as_chunks_mut::<4>().0;
        for (((((pairs, x), y), z), w0), w1) in
            fours.iter().zip(xs).zip(ys).zip(zs).zip(w0s).zip(w1s)
        {
            let a = pairs.map(|[a, _]| places.fetch(a));
            let b = pairs.map(|[_, b]| places.fetch(b));
            let [dx, dy, dz, _] = turn([b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3]]);
            *x = dx.to_array();
            *y = dy.to_array();
            *z = dz.to_array();
            *w0 = turn(a)[3].to_array();
            *w1 = turn(b)[3].to_array();
        }
        for (k, pair) in (pairs.len() - tail.len()..).zip(tail) {
            let [a, b] = pair.map(|i| places.fetch(i));
            let d = b - a;
            (x[k], y[k], z[k]) = (d.x, d.y, d.z);
            (w0[k], w1[k]) = (a.w, b.w);
        }
    }

    #[inline(always)]
    fn compute(&mut self, rest: &[f32], lambda: &mut [f32], soft: Softness) {
        let n = rest.len();
        let (x, y, z) = (&self.x[..n], &self.y[..n], &self.z[..n]);
        let [w0, w1] = &mut self.w;
        let (w0, w1) = (&mut w0[..n], &mut w1[..n]);
        if lambda.is_empty() {
            for k in 0..n {
                let length = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
                let share = share::<false>(length, rest[k], 0.0, w0[k] + w1[k], soft);
                w0[k] *= share;
                w1[k] *= share;
            }
        } else {
            let lambda = &mut lambda[..n];
            for k in 0..n {
                let length = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
                let pull = soft.alpha * lambda[k];
                let share = share::<false>(length, rest[k], pull, w0[k] + w1[k], soft);
                lambda[k] += share * length;
                w0[k] *= share;
                w1[k] *= share;
            }
        }
    }

    #[inline(always)]
    fn put(&self, places: &mut impl Places, pairs: &[[u32; 2]]) {
        let (fours, tail) = pairs.as_chunks::<4>();
        let [w0, w1] = &self.w;
        let w = w0.as_chunks::<4>().0.iter().zip(w1.as_chunks::<4>().0);
        for (pairs, (w0, w1)) in fours.iter().zip(w) {
            for k in 0..4 {
                part(places, pairs[k], [w0[k], w1[k]]);
            }
        }
        for (k, &pair) in (pairs.len() - tail.len()..).zip(tail) {
            part(places, pair, [w0[k], w1[k]]);
        }
    }
}

/// Moves two particles apart, so far along their difference.
#[inline(always)]
fn part(places: &mut impl Places, [a, b]: [u32; 2], [s0, s1]: [f32; 2]) {
    // What is in the places of the masses is no difference, and they stay as they are.
    const WITHOUT_MASS: Vec4 = Vec4::new(1.0, 1.0, 1.0, 0.0);
    let (at_a, at_b) = (places.fetch(a), places.fetch(b));
    let d = (at_b - at_a) * WITHOUT_MASS;
    places.put(a, at_a - d * s0);
    places.put(b, at_b + d * s1);
}

/// Solves constraints one after the other, which may share particles: the plain formula.
#[inline(always)]
pub(super) fn solve_singly(
    places: &mut impl Places,
    pairs: &[[u32; 2]],
    rest: &[f32],
    lambda: &mut [f32],
    soft: Softness,
) {
    for (k, (&[a, b], &rest)) in pairs.iter().zip(rest).enumerate() {
        let (at_a, at_b) = (places.fetch(a), places.fetch(b));
        let (d, w) = (at_b.truncate() - at_a.truncate(), [at_a.w, at_b.w]);
        let length = (d.x * d.x + d.y * d.y + d.z * d.z).sqrt();
        let pull = lambda.get(k).map_or(0.0, |lambda| soft.alpha * lambda);
        let share = share::<false>(length, rest, pull, w[0] + w[1], soft);
        if let Some(lambda) = lambda.get_mut(k) {
            *lambda += share * length;
        }
        places.put(a, (at_a.truncate() - d * (w[0] * share)).extend(w[0]));
        places.put(b, (at_b.truncate() + d * (w[1] * share)).extend(w[1]));
    }
}
