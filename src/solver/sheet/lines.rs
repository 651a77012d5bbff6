//! Solves whole threads at once.
//!
//! Relaxation carries a load only from one particle to the next in each pass, which is why fine
//! cloth is rubber: the stretch grows with the square of the particles in a row. A thread, though, is
//! a chain, and the linear system of a chain of constraints is tridiagonal: with n_i the unit vector
//! of link i, C_i = |d_i| − L_i and w_i the inverse mass between links i−1 and i,
//!
//! (w_i + w_{i+1} + α̃)λ_i − w_i(n_{i−1}·n_i)λ_{i−1} − w_{i+1}(n_i·n_{i+1})λ_{i+1} = −C_i − α̃λ,
//!
//! solved exactly by one sweep there and one back (Thomas 1949). One Newton step for the whole
//! thread costs about as much as two projections of each link. Taking warp and weft in turn is an
//! alternating-direction line relaxation (Peaceman, Rachford 1955): what was left after eight
//! substeps of a 128² cloth draped over a ball fell from 2.0 % mean stretch to 0.16 %.
//!
//! A thread pulls, but it does not push: where λ would push, only the error of the link itself may,
//! as in relaxation. Otherwise folded cloth would stand like a board. Cutting λ off on the way back
//! solves the system with this inequality (Brennan, Schwartz 1977).
//!
//! Neighbouring threads are solved side by side: every loop goes over the links at one place of all
//! threads of a strip.

use super::project::Bundle;
use crate::solver::{columns::Columns, relax::Softness};

/// What is kept of the way there for the way back, and of the last link.
#[derive(Default)]
pub(super) struct LineScratch {
    /// Of each link of all threads side by side: the unit vectors n (x, y, z); the right side after
    /// elimination, divided by the pivot; what of λ_{i} counts in the equation of link i−1, divided by
    /// its pivot; the most that a link may push. They stand together, so that they are not a multiple
    /// of 4 KiB apart, where they would drive one another out of the cache.
    links: Vec<f32>,
    /// One over the pivot of the last link.
    u: Vec<f32>,
    /// The right side of the last link after elimination.
    b: Vec<f32>,
    /// λ of the link behind.
    lambda: Vec<f32>,
    /// λn of the link behind.
    gx: Vec<f32>,
    gy: Vec<f32>,
    gz: Vec<f32>,
    zero: Vec<f32>,
}

impl LineScratch {
    /// Makes room for strips of `width` threads of `length` particles.
    pub(super) fn fit(&mut self, width: usize, length: usize) {
        if self.links.len() < 6 * width * length {
            self.links.resize(6 * width * length, 0.0);
        }
        for row in [
            &mut self.u,
            &mut self.b,
            &mut self.lambda,
            &mut self.gx,
            &mut self.gy,
            &mut self.gz,
            &mut self.zero,
        ] {
            if row.len() < width {
                row.resize(width, 0.0);
            }
        }
    }
}

/// How much of its own error a link may push. In a long thread the pivot is about half of both masses,
/// so that one half would be a projection; a little less drapes with the least strain (measured at
/// 64², 128² and 256²: 0.15 and 1 give a fifth to two thirds more).
pub(super) const PUSH: f32 = 0.3;

/// The links of threads side by side, among all rest lengths of their family.
#[derive(Clone, Copy)]
pub(super) struct Strip {
    /// How many threads.
    pub(super) width: usize,
    /// Particles of each thread.
    pub(super) length: usize,
    /// The first link of the first thread.
    pub(super) rest_start: usize,
    /// From one link of a thread to the next.
    pub(super) rest_stride: usize,
}

impl Strip {
    #[inline(always)]
    pub(super) fn links(&self, i: usize) -> std::ops::Range<usize> {
        let first = self.rest_start + i * self.rest_stride;
        first..first + self.width
    }
}

/// Solves the threads of a strip and applies a share of the corrections. `lambda` may be empty.
#[inline(always)]
pub(super) fn solve_lines(
    threads: &mut Bundle,
    strip: Strip,
    rest: &[f32],
    lambda: &mut Columns,
    softness: Softness,
    share: f32,
    scratch: &mut LineScratch,
) {
    let Strip { width, length, .. } = strip;
    let links = length - 1;
    let LineScratch {
        links: kept,
        u,
        b,
        lambda: last,
        gx,
        gy,
        gz,
        zero,
    } = scratch;
    for row in [
        &mut *u, &mut *b, &mut *last, &mut *gx, &mut *gy, &mut *gz, &mut *zero,
    ] {
        row[..width].fill(0.0);
    }

    for i in 0..links {
        let (before, here) = kept.split_at_mut(i * 6 * width);
        let [px, py, pz] = if i == 0 {
            [&zero[..width]; 3]
        } else {
            let [px, py, pz, ..] = six(&before[(i - 1) * 6 * width..], width);
            [px, py, pz]
        };
        let [nx, ny, nz, q, f, push] = six_mut(here, width);
        let pull = if lambda.is_empty() {
            &zero[..width]
        } else {
            &*lambda.row(i)
        };
        let [from, to] = threads.rows(i, i + 1);
        there(
            from.x,
            from.y,
            from.z,
            from.w,
            to.x,
            to.y,
            to.z,
            to.w,
            &rest[strip.links(i)],
            pull,
            px,
            py,
            pz,
            nx,
            ny,
            nz,
            q,
            f,
            push,
            &mut u[..width],
            &mut b[..width],
            softness,
        );
    }
    for i in (0..links).rev() {
        let [nx, ny, nz, q, _, push] = six(&kept[i * 6 * width..], width);
        let behind = if i + 1 < links {
            &kept[((i + 1) * 6 + 4) * width..][..width]
        } else {
            &zero[..width]
        };
        let far = threads.row(i + 1);
        back(
            far.x,
            far.y,
            far.z,
            far.w,
            nx,
            ny,
            nz,
            q,
            push,
            behind,
            &mut last[..width],
            &mut gx[..width],
            &mut gy[..width],
            &mut gz[..width],
            share,
        );
        if !lambda.is_empty() {
            for (sum, delta) in lambda.row(i).iter_mut().zip(&last[..width]) {
                *sum += delta * share;
            }
        }
    }
    // The first particles have a link on one side only.
    let first = threads.row(0);
    for (plane, g) in [(first.x, &*gx), (first.y, &*gy), (first.z, &*gz)] {
        for ((x, w), g) in plane.iter_mut().zip(first.w).zip(g) {
            *x -= w * g;
        }
    }
}

/// Six rows that follow one another.
#[inline(always)]
fn six(rows: &[f32], width: usize) -> [&[f32]; 6] {
    let row = |i: usize| &rows[i * width..][..width];
    [row(0), row(1), row(2), row(3), row(4), row(5)]
}

#[inline(always)]
fn six_mut(rows: &mut [f32], width: usize) -> [&mut [f32]; 6] {
    let (a, rest) = rows.split_at_mut(width);
    let (b, rest) = rest.split_at_mut(width);
    let (c, rest) = rest.split_at_mut(width);
    let (d, rest) = rest.split_at_mut(width);
    let (e, rest) = rest.split_at_mut(width);
    [a, b, c, d, e, &mut rest[..width]]
}

/// Elimination at one link of each thread.
#[inline(always)]
fn there(
    x0: &[f32],
    y0: &[f32],
    z0: &[f32],
    w0: &[f32],
    x1: &[f32],
    y1: &[f32],
    z1: &[f32],
    w1: &[f32],
    rest: &[f32],
    pull: &[f32],
    px: &[f32],
    py: &[f32],
    pz: &[f32],
    nx: &mut [f32],
    ny: &mut [f32],
    nz: &mut [f32],
    q: &mut [f32],
    f: &mut [f32],
    push: &mut [f32],
    u: &mut [f32],
    b: &mut [f32],
    Softness { alpha, weakness }: Softness,
) {
    let n = rest.len();
    let (x0, y0, z0, w0) = (&x0[..n], &y0[..n], &z0[..n], &w0[..n]);
    let (x1, y1, z1, w1) = (&x1[..n], &y1[..n], &z1[..n], &w1[..n]);
    let (px, py, pz, pull) = (&px[..n], &py[..n], &pz[..n], &pull[..n]);
    let (nx, ny, nz) = (&mut nx[..n], &mut ny[..n], &mut nz[..n]);
    let (q, f, push) = (&mut q[..n], &mut f[..n], &mut push[..n]);
    let (u, b) = (&mut u[..n], &mut b[..n]);
    for k in 0..n {
        let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        // What is not there has no direction: it neither pulls nor passes anything on.
        let there = (length > 0.0) & (rest[k] >= 0.0);
        let inverse = if there { 1.0 / length } else { 0.0 };
        let error = rest[k] - length - alpha * pull[k];
        let error = if there { error } else { 0.0 };
        let (ax, ay, az) = (dx * inverse, dy * inverse, dz * inverse);
        let coupling = w0[k] * (ax * px[k] + ay * py[k] + az * pz[k]);
        let share = coupling * u[k];
        let pivot = (w0[k] + w1[k]) * weakness + alpha - share * coupling;
        let inverse = if pivot > 0.0 { 1.0 / pivot } else { 0.0 };
        let right = error + share * b[k];
        nx[k] = ax;
        ny[k] = ay;
        nz[k] = az;
        f[k] = share;
        q[k] = right * inverse;
        push[k] = error.max(0.0) * inverse * PUSH;
        u[k] = inverse;
        b[k] = right;
    }
}

/// Substitution at one link of each thread, and what it does to the particles at the far ends.
#[inline(always)]
fn back(
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    w: &[f32],
    nx: &[f32],
    ny: &[f32],
    nz: &[f32],
    q: &[f32],
    push: &[f32],
    f: &[f32],
    lambda: &mut [f32],
    gx: &mut [f32],
    gy: &mut [f32],
    gz: &mut [f32],
    share: f32,
) {
    let n = q.len();
    let (x, y, z, w) = (&mut x[..n], &mut y[..n], &mut z[..n], &w[..n]);
    let (nx, ny, nz, f, push) = (&nx[..n], &ny[..n], &nz[..n], &f[..n], &push[..n]);
    let (lambda, gx, gy, gz) = (&mut lambda[..n], &mut gx[..n], &mut gy[..n], &mut gz[..n]);
    for k in 0..n {
        let l = (q[k] + f[k] * lambda[k]).min(push[k]);
        lambda[k] = l;
        let l = l * share;
        let (ax, ay, az) = (l * nx[k], l * ny[k], l * nz[k]);
        x[k] += w[k] * (ax - gx[k]);
        y[k] += w[k] * (ay - gy[k]);
        z[k] += w[k] * (az - gz[k]);
        gx[k] = ax;
        gy[k] = ay;
        gz[k] = az;
    }
}
