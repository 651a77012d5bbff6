//! Projects constraints between the particles of two rows: all a ends lie in one row, all b ends in the
//! other, so no two constraints share a particle.

use crate::solver::{
    constraints::{chain::projection_factor, points::Regularization},
    parallel::{split::split, workers::PartIterator},
};
use std::ops::Range;

/// Positions and inverse masses of particles that are contiguous in memory.
pub(super) struct ParticleRow<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) z: &'a mut [f32],
    pub(super) w: &'a [f32],
}

/// Positions and inverse masses of some particles, as structure of arrays.
pub(super) struct ParticlePlanes<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) z: &'a mut [f32],
    pub(super) w: &'a [f32],
    /// Normals of contacts, if there are any.
    pub(super) normals: Option<[&'a [f32]; 3]>,
}

impl ParticlePlanes<'_> {
    /// Divides the particles from `from` on into parts of `size` particles; the last part may be smaller.
    pub(super) fn parts(
        &mut self,
        from: usize,
        size: usize,
    ) -> impl PartIterator<Item = ParticlePlanes<'_>> {
        let x = self.x[from..].chunks_mut(size);
        let positions = x
            .zip(self.y[from..].chunks_mut(size))
            .zip(self.z[from..].chunks_mut(size));
        let parts = positions.zip(self.w[from..].chunks(size));
        parts.map(|(((x, y), z), w)| ParticlePlanes {
            x,
            y,
            z,
            w,
            // Diagonals do not need them.
            normals: None,
        })
    }

    /// Divides the particles into these ranges, each of which must begin where the one before ends.
    pub(super) fn split(
        &mut self,
        ranges: impl PartIterator<Item = Range<usize>> + Clone,
    ) -> impl PartIterator<Item = ParticlePlanes<'_>> {
        let part = |plane| split(plane, ranges.clone());
        let positions = part(self.x).zip(part(self.y)).zip(part(self.z));
        let (w, normals) = (self.w, self.normals);
        let parts = positions.zip(ranges);
        parts.map(move |(((x, y), z), own)| ParticlePlanes {
            x,
            y,
            z,
            w: &w[own.clone()],
            normals: normals.map(|planes| planes.map(|plane| &plane[own.clone()])),
        })
    }

    /// Returns two rows of `n` particles that do not overlap, the first from particle `a` on, the second,
    /// behind it, from `b` on.
    #[inline(always)]
    pub(super) fn rows(&mut self, a: usize, b: usize, n: usize) -> [ParticleRow<'_>; 2] {
        let (xa, xb) = self.x.split_at_mut(b);
        let (ya, yb) = self.y.split_at_mut(b);
        let (za, zb) = self.z.split_at_mut(b);
        [
            ParticleRow {
                x: &mut xa[a..a + n],
                y: &mut ya[a..a + n],
                z: &mut za[a..a + n],
                w: &self.w[a..a + n],
            },
            ParticleRow {
                x: &mut xb[..n],
                y: &mut yb[..n],
                z: &mut zb[..n],
                w: &self.w[b..b + n],
            },
        ]
    }
}

/// Solves the constraints between two rows; a negative rest length marks a missing constraint. `lambda` may be empty.
///
/// As in `relax`, with one division: s = (L − |d| − α̃λ)/((w₀ + w₁ + α̃)|d|),
/// x₀ −= w₀s·d, x₁ += w₁s·d, λ += s|d|.
#[inline(always)]
pub(super) fn project(
    a: ParticleRow,
    b: ParticleRow,
    rest: &[f32],
    lambda: &mut [f32],
    regularization: Regularization,
) {
    if lambda.is_empty() {
        without_lambda(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, rest, regularization);
    } else {
        with_lambda(
            a.x,
            a.y,
            a.z,
            a.w,
            b.x,
            b.y,
            b.z,
            b.w,
            rest,
            lambda,
            regularization,
        );
    }
}

// One parameter per slice: only then does the compiler know that they do not overlap.
#[inline(always)]
fn without_lambda(
    xa: &mut [f32],
    ya: &mut [f32],
    za: &mut [f32],
    wa: &[f32],
    xb: &mut [f32],
    yb: &mut [f32],
    zb: &mut [f32],
    wb: &[f32],
    rest: &[f32],
    regularization: Regularization,
) {
    let n = rest.len();
    let (xa, ya, za, wa) = (&mut xa[..n], &mut ya[..n], &mut za[..n], &wa[..n]);
    let (xb, yb, zb, wb) = (&mut xb[..n], &mut yb[..n], &mut zb[..n], &wb[..n]);
    for k in 0..n {
        let (dx, dy, dz) = (xb[k] - xa[k], yb[k] - ya[k], zb[k] - za[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let s = projection_factor(length, rest[k], 0.0, wa[k] + wb[k], regularization);
        let (sa, sb) = (wa[k] * s, wb[k] * s);
        xa[k] -= sa * dx;
        ya[k] -= sa * dy;
        za[k] -= sa * dz;
        xb[k] += sb * dx;
        yb[k] += sb * dy;
        zb[k] += sb * dz;
    }
}

#[inline(always)]
fn with_lambda(
    xa: &mut [f32],
    ya: &mut [f32],
    za: &mut [f32],
    wa: &[f32],
    xb: &mut [f32],
    yb: &mut [f32],
    zb: &mut [f32],
    wb: &[f32],
    rest: &[f32],
    lambda: &mut [f32],
    regularization: Regularization,
) {
    let n = rest.len();
    let (xa, ya, za, wa) = (&mut xa[..n], &mut ya[..n], &mut za[..n], &wa[..n]);
    let (xb, yb, zb, wb) = (&mut xb[..n], &mut yb[..n], &mut zb[..n], &wb[..n]);
    let lambda = &mut lambda[..n];
    for k in 0..n {
        let (dx, dy, dz) = (xb[k] - xa[k], yb[k] - ya[k], zb[k] - za[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let pull = regularization.alpha * lambda[k];
        let s = projection_factor(length, rest[k], pull, wa[k] + wb[k], regularization);
        let (sa, sb) = (wa[k] * s, wb[k] * s);
        xa[k] -= sa * dx;
        ya[k] -= sa * dy;
        za[k] -= sa * dz;
        xb[k] += sb * dx;
        yb[k] += sb * dy;
        zb[k] += sb * dz;
        lambda[k] += s * length;
    }
}
