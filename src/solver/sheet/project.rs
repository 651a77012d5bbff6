//! Projects constraints between the particles of two rows: the a ends in one, the b ends in the
//! other, so that no two constraints share a particle.

use crate::solver::{crew::Parts, relax::Softness, split::split, thread::share};
use std::ops::Range;

/// The places of some particles in memory that are neighbours there, and their inverse masses.
pub(super) struct Row<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) z: &'a mut [f32],
    pub(super) w: &'a [f32],
}

/// The planes of a number of particles.
pub(super) struct Planes<'a> {
    pub(super) x: &'a mut [f32],
    pub(super) y: &'a mut [f32],
    pub(super) z: &'a mut [f32],
    pub(super) w: &'a [f32],
}

impl Planes<'_> {
    /// Parts of `size` particles, the last one of what is left, from a particle on.
    pub(super) fn parts(&mut self, from: usize, size: usize) -> impl Parts<Item = Planes<'_>> {
        let x = self.x[from..].chunks_mut(size);
        let places = x
            .zip(self.y[from..].chunks_mut(size))
            .zip(self.z[from..].chunks_mut(size));
        let parts = places.zip(self.w[from..].chunks(size));
        parts.map(|(((x, y), z), w)| Planes { x, y, z, w })
    }

    /// The particles at these ranges, each of which begins where the one before ends.
    pub(super) fn split(
        &mut self,
        ranges: impl Parts<Item = Range<usize>> + Clone,
    ) -> impl Parts<Item = Planes<'_>> {
        let part = |plane| split(plane, ranges.clone());
        let places = part(self.x).zip(part(self.y)).zip(part(self.z));
        let w = self.w;
        let parts = places.zip(ranges);
        parts.map(move |(((x, y), z), own)| Planes {
            x,
            y,
            z,
            w: &w[own],
        })
    }

    /// Two rows of `n` particles that do not overlap, the first starting at `a`, the second, behind
    /// it, at `b`.
    #[inline(always)]
    pub(super) fn rows(&mut self, a: usize, b: usize, n: usize) -> [Row<'_>; 2] {
        let (xa, xb) = self.x.split_at_mut(b);
        let (ya, yb) = self.y.split_at_mut(b);
        let (za, zb) = self.z.split_at_mut(b);
        [
            Row {
                x: &mut xa[a..a + n],
                y: &mut ya[a..a + n],
                z: &mut za[a..a + n],
                w: &self.w[a..a + n],
            },
            Row {
                x: &mut xb[..n],
                y: &mut yb[..n],
                z: &mut zb[..n],
                w: &self.w[b..b + n],
            },
        ]
    }
}

/// Solves the constraints between two rows; those whose rest length is negative are not there.
/// With `SLACK`, distances below the rest length are allowed. `lambda` may be empty.
///
/// As in [`relax`](crate::solver::relax()), with one division: s = (L − |d| − α̃λ)/((w₀ + w₁ + α̃)|d|),
/// x₀ −= w₀s·d, x₁ += w₁s·d, λ += s|d|.
#[inline(always)]
pub(super) fn project<const SLACK: bool>(
    a: Row,
    b: Row,
    rest: &[f32],
    lambda: &mut [f32],
    softness: Softness,
) {
    if lambda.is_empty() {
        without_lambda::<SLACK>(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, rest, softness);
    } else {
        with_lambda(
            a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, rest, lambda, softness,
        );
    }
}

// The rows come one by one: only then does the compiler know that they do not overlap.
#[inline(always)]
fn without_lambda<const SLACK: bool>(
    xa: &mut [f32],
    ya: &mut [f32],
    za: &mut [f32],
    wa: &[f32],
    xb: &mut [f32],
    yb: &mut [f32],
    zb: &mut [f32],
    wb: &[f32],
    rest: &[f32],
    softness: Softness,
) {
    let n = rest.len();
    let (xa, ya, za, wa) = (&mut xa[..n], &mut ya[..n], &mut za[..n], &wa[..n]);
    let (xb, yb, zb, wb) = (&mut xb[..n], &mut yb[..n], &mut zb[..n], &wb[..n]);
    for k in 0..n {
        let (dx, dy, dz) = (xb[k] - xa[k], yb[k] - ya[k], zb[k] - za[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let s = share::<SLACK>(length, rest[k], 0.0, wa[k] + wb[k], softness);
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
    softness: Softness,
) {
    let n = rest.len();
    let (xa, ya, za, wa) = (&mut xa[..n], &mut ya[..n], &mut za[..n], &wa[..n]);
    let (xb, yb, zb, wb) = (&mut xb[..n], &mut yb[..n], &mut zb[..n], &wb[..n]);
    let lambda = &mut lambda[..n];
    for k in 0..n {
        let (dx, dy, dz) = (xb[k] - xa[k], yb[k] - ya[k], zb[k] - za[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let pull = softness.alpha * lambda[k];
        let s = share::<false>(length, rest[k], pull, wa[k] + wb[k], softness);
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
