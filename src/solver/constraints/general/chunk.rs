//! Solves distance constraints in chunks: gather, compute, scatter.

use super::particle_access::{ParticleAccess, WITHOUT_MASS};
use crate::solver::constraints::{
    chain::projection_factor,
    coloring::Batch,
    points::{Regularization, transpose},
};

/// Constraints per chunk: enough for full SIMD throughput of the loops, few enough that the buffer between the
/// loops stays in the nearest cache (32 and 128 are slower by a few per cent).
const CHUNK: usize = 64;

/// Buffer between the loops: differences d = x₁ − x₀ of a chunk, and both inverse masses, which are replaced by
/// the displacements of both ends along d.
pub(super) struct ChunkBuffer {
    x: [f32; CHUNK],
    y: [f32; CHUNK],
    z: [f32; CHUNK],
    w: [[f32; CHUNK]; 2],
}

impl Default for ChunkBuffer {
    fn default() -> Self {
        Self {
            x: [0.0; CHUNK],
            y: [0.0; CHUNK],
            z: [0.0; CHUNK],
            w: [[0.0; CHUNK]; 2],
        }
    }
}

impl ChunkBuffer {
    /// Solves batches in order.
    #[inline(always)]
    pub(super) fn solve_batches(
        &mut self,
        access: &mut impl ParticleAccess,
        batches: &mut [Batch],
        regularization: Regularization,
    ) {
        for batch in batches {
            let (pairs, rest, lambda) = (&batch.pairs, &batch.list.rest, &mut batch.list.lambda);
            if batch.independent {
                self.solve(access, pairs, rest, lambda, regularization);
            } else {
                solve_sequentially(access, pairs, rest, lambda, regularization);
            }
        }
    }

    /// Solves constraints that share no particle. `lambda` may be empty.
    #[inline(always)]
    fn solve(
        &mut self,
        access: &mut impl ParticleAccess,
        pairs: &[[u32; 2]],
        rest: &[f32],
        lambda: &mut [f32],
        regularization: Regularization,
    ) {
        let (chunks, tail) = pairs.as_chunks::<CHUNK>();
        let (rests, rest_tail) = rest.as_chunks::<CHUNK>();
        let mut lambdas = lambda.chunks_mut(CHUNK);
        // Full chunks have a length known at compile time, which unrolls the loops.
        for (pairs, rest) in chunks.iter().zip(rests) {
            let lambda = lambdas.next().unwrap_or_default();
            self.solve_chunk(access, pairs, rest, lambda, regularization);
        }
        let lambda = lambdas.next().unwrap_or_default();
        self.solve_chunk(access, tail, rest_tail, lambda, regularization);
    }

    #[inline(always)]
    fn solve_chunk(
        &mut self,
        access: &mut impl ParticleAccess,
        pairs: &[[u32; 2]],
        rest: &[f32],
        lambda: &mut [f32],
        regularization: Regularization,
    ) {
        self.gather(access, pairs);
        self.compute(rest, lambda, regularization);
        self.scatter(access, pairs);
    }

    #[inline(always)]
    fn gather(&mut self, access: &impl ParticleAccess, pairs: &[[u32; 2]]) {
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
            let [[a0, b0], [a1, b1], [a2, b2], [a3, b3]] = *pairs;
            let a = access.load_four([a0, a1, a2, a3]);
            let b = access.load_four([b0, b1, b2, b3]);
            let [dx, dy, dz, _] = transpose([b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3]]);
            *x = dx.to_array();
            *y = dy.to_array();
            *z = dz.to_array();
            *w0 = transpose(a)[3].to_array();
            *w1 = transpose(b)[3].to_array();
        }
        for (k, pair) in (pairs.len() - tail.len()..).zip(tail) {
            let [a, b] = pair.map(|i| access.load(i));
            let d = b - a;
            (x[k], y[k], z[k]) = (d.x, d.y, d.z);
            (w0[k], w1[k]) = (a.w, b.w);
        }
    }

    #[inline(always)]
    fn compute(&mut self, rest: &[f32], lambda: &mut [f32], regularization: Regularization) {
        let n = rest.len();
        let (x, y, z) = (&self.x[..n], &self.y[..n], &self.z[..n]);
        let [w0, w1] = &mut self.w;
        let (w0, w1) = (&mut w0[..n], &mut w1[..n]);
        if lambda.is_empty() {
            for k in 0..n {
                let length = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
                let s = projection_factor(length, rest[k], 0.0, w0[k] + w1[k], regularization);
                w0[k] *= s;
                w1[k] *= s;
            }
        } else {
            let lambda = &mut lambda[..n];
            for k in 0..n {
                let length = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
                let alpha_lambda = regularization.alpha * lambda[k];
                let s =
                    projection_factor(length, rest[k], alpha_lambda, w0[k] + w1[k], regularization);
                lambda[k] += s * length;
                w0[k] *= s;
                w1[k] *= s;
            }
        }
    }

    #[inline(always)]
    fn scatter(&self, access: &mut impl ParticleAccess, pairs: &[[u32; 2]]) {
        let (fours, tail) = pairs.as_chunks::<4>();
        let [w0, w1] = &self.w;
        let w = w0.as_chunks::<4>().0.iter().zip(w1.as_chunks::<4>().0);
        for (pairs, (w0, w1)) in fours.iter().zip(w) {
            for k in 0..4 {
                move_apart(access, pairs[k], [w0[k], w1[k]]);
            }
        }
        for (k, &pair) in (pairs.len() - tail.len()..).zip(tail) {
            move_apart(access, pair, [w0[k], w1[k]]);
        }
    }
}

/// Moves two particles apart, each by its own multiple of their difference.
#[inline(always)]
fn move_apart(access: &mut impl ParticleAccess, [a, b]: [u32; 2], [s0, s1]: [f32; 2]) {
    let (at_a, at_b) = (access.load(a), access.load(b));
    let d = (at_b - at_a) * WITHOUT_MASS;
    access.store(a, at_a - d * s0);
    access.store(b, at_b + d * s1);
}

/// Solves constraints one after the other; they may share particles. Also the scalar reference.
#[inline(always)]
pub(super) fn solve_sequentially(
    access: &mut impl ParticleAccess,
    pairs: &[[u32; 2]],
    rest: &[f32],
    lambda: &mut [f32],
    regularization: Regularization,
) {
    for (k, (&[a, b], &rest)) in pairs.iter().zip(rest).enumerate() {
        let (at_a, at_b) = (access.load(a), access.load(b));
        let (d, w) = (at_b.truncate() - at_a.truncate(), [at_a.w, at_b.w]);
        let length = (d.x * d.x + d.y * d.y + d.z * d.z).sqrt();
        let alpha_lambda = lambda
            .get(k)
            .map_or(0.0, |lambda| regularization.alpha * lambda);
        let s = projection_factor(length, rest, alpha_lambda, w[0] + w[1], regularization);
        if let Some(lambda) = lambda.get_mut(k) {
            *lambda += s * length;
        }
        access.store(a, (at_a.truncate() - d * (w[0] * s)).extend(w[0]));
        access.store(b, (at_b.truncate() + d * (w[1] * s)).extend(w[1]));
    }
}
