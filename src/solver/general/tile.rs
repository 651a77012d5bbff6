//! Threads side by side: one particle of each is a tile, and all loops go over the threads.
//!
//! The system of a thread and how it is solved is told in `sheet/lines.rs`; this is the same
//! elimination for threads that were fetched from anywhere.

use super::chunk::share;
use crate::solver::{relax::Softness, sheet::PUSH};

/// x, y, z and inverse mass of one particle of each of `W` threads.
pub(super) type Tile<const W: usize> = [[f32; W]; 4];

/// What is kept of one link of each thread, on the way there for the way back.
pub(super) type Kept<const W: usize> = [[f32; W]; 6];

/// The links of threads, one behind the other.
pub(super) struct Links<'a, const W: usize> {
    /// Rest lengths, negative where there is no link.
    pub(super) rest: &'a [[f32; W]],
    /// λ, or empty.
    pub(super) lambda: &'a mut [[f32; W]],
}

impl<const W: usize> Links<'_, W> {
    /// Projects those between the particles at one place and those `reach` farther on.
    #[inline(always)]
    fn project(&mut self, particles: &mut [Tile<W>], i: usize, reach: usize, soft: Softness) {
        let (before, behind) = particles.split_at_mut(i + reach);
        let (a, b) = (&mut before[i], &mut behind[0]);
        match self.lambda.get_mut(i) {
            Some(lambda) => {
                let pull = lambda.map(|lambda| soft.alpha * lambda);
                let delta = project(a, b, &self.rest[i], &pull, soft);
                for k in 0..W {
                    lambda[k] += delta[k];
                }
            }
            None => {
                project(a, b, &self.rest[i], &[0.0; W], soft);
            }
        }
    }

    /// Every second one, then the others: none has a particle in common with the one before, so that
    /// the processor need not wait.
    #[inline(always)]
    pub(super) fn relax(mut self, particles: &mut [Tile<W>], softness: Softness) {
        for first in 0..2 {
            for i in (first..self.rest.len()).step_by(2) {
                self.project(particles, i, 1, softness);
            }
        }
    }

    /// The same for links over two threads, by twos.
    #[inline(always)]
    pub(super) fn bend(mut self, particles: &mut [Tile<W>], softness: Softness) {
        let count = self.rest.len();
        for first in [0, 2] {
            for i in (first..count).step_by(4) {
                self.project(particles, i, 2, softness);
                if i + 1 < count {
                    self.project(particles, i + 1, 2, softness);
                }
            }
        }
    }

    /// All links of each thread at once.
    #[inline(always)]
    pub(super) fn solve(
        self,
        particles: &mut [Tile<W>],
        softness: Softness,
        share: f32,
        kept: &mut [Kept<W>],
    ) {
        solve_lines(particles, self, softness, share, kept);
    }
}

/// Projects links between two particles of each thread, from their rest lengths and α̃λ. Returns Δλ.
#[inline(always)]
fn project<const W: usize>(
    a: &mut Tile<W>,
    b: &mut Tile<W>,
    rest: &[f32; W],
    pull: &[f32; W],
    soft: Softness,
) -> [f32; W] {
    let ([x0, y0, z0, w0], [x1, y1, z1, w1]) = (*a, *b);
    let mut delta = [0.0; W];
    for k in 0..W {
        let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
        let length = (dx * dx + dy * dy + dz * dz).sqrt();
        let s = share(length, rest[k], pull[k], w0[k] + w1[k], soft);
        delta[k] = s * length;
        let (s0, s1) = (w0[k] * s, w1[k] * s);
        a[0][k] = x0[k] - s0 * dx;
        a[1][k] = y0[k] - s0 * dy;
        a[2][k] = z0[k] - s0 * dz;
        b[0][k] = x1[k] + s1 * dx;
        b[1][k] = y1[k] + s1 * dy;
        b[2][k] = z1[k] + s1 * dz;
    }
    delta
}

/// Solves the threads of a strip and applies a share of the corrections.
#[inline(always)]
pub(super) fn solve_lines<const W: usize>(
    particles: &mut [Tile<W>],
    links: Links<W>,
    softness: Softness,
    share: f32,
    kept: &mut [Kept<W>],
) {
    let Links { rest, lambda } = links;
    let mut there = There::default();
    let mut ends = particles.windows(2);
    for (i, (rest, kept)) in rest.iter().zip(&mut *kept).enumerate() {
        let Some([from, to]) = ends.next() else {
            return;
        };
        let pull = lambda.get(i).unwrap_or(&[0.0; W]);
        there.go_on(from, to, rest, pull, softness, kept);
    }
    let mut back = Back::default();
    let Some((first, others)) = particles.split_first_mut() else {
        return;
    };
    let behind = others.iter_mut().zip(kept.iter());
    let mut lambda = lambda.iter_mut();
    for (to, kept) in behind.take(rest.len()).rev() {
        back.go_on(to, kept, share);
        if let Some(sum) = lambda.next_back() {
            for (sum, delta) in sum.iter_mut().zip(&back.lambda) {
                *sum += delta * share;
            }
        }
    }
    // The first particles have a link on one side only.
    let [x, y, z, w] = first;
    for (plane, g) in [(x, &back.gx), (y, &back.gy), (z, &back.gz)] {
        for ((x, w), g) in plane.iter_mut().zip(&*w).zip(g) {
            *x -= w * g;
        }
    }
}

/// The elimination, and where it is: what the last link of each thread has left.
struct There<const W: usize> {
    /// Its unit vector n.
    nx: [f32; W],
    ny: [f32; W],
    nz: [f32; W],
    /// One over its pivot.
    u: [f32; W],
    /// Its right side.
    b: [f32; W],
}

impl<const W: usize> Default for There<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            nx: [0.0; W],
            ny: [0.0; W],
            nz: [0.0; W],
            u: [0.0; W],
            b: [0.0; W],
        }
    }
}

impl<const W: usize> There<W> {
    /// Eliminates one link of each thread.
    #[inline(always)]
    fn go_on(
        &mut self,
        [x0, y0, z0, w0]: &Tile<W>,
        [x1, y1, z1, w1]: &Tile<W>,
        rest: &[f32; W],
        pull: &[f32; W],
        Softness { alpha, weakness }: Softness,
        [nx, ny, nz, q, f, push]: &mut Kept<W>,
    ) {
        for k in 0..W {
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let length = (dx * dx + dy * dy + dz * dz).sqrt();
            // What is not there has no direction: it neither pulls nor passes anything on.
            let there = (length > 0.0) & (rest[k] >= 0.0);
            let inverse = if there { 1.0 / length } else { 0.0 };
            let error = rest[k] - length - alpha * pull[k];
            let error = if there { error } else { 0.0 };
            let (ax, ay, az) = (dx * inverse, dy * inverse, dz * inverse);
            let coupling = w0[k] * (ax * self.nx[k] + ay * self.ny[k] + az * self.nz[k]);
            let share = coupling * self.u[k];
            let pivot = (w0[k] + w1[k]) * weakness + alpha - share * coupling;
            let inverse = if pivot > 0.0 { 1.0 / pivot } else { 0.0 };
            let right = error + share * self.b[k];
            nx[k] = ax;
            ny[k] = ay;
            nz[k] = az;
            q[k] = right * inverse;
            f[k] = share;
            push[k] = error.max(0.0) * inverse * PUSH;
            self.nx[k] = ax;
            self.ny[k] = ay;
            self.nz[k] = az;
            self.u[k] = inverse;
            self.b[k] = right;
        }
    }
}

/// The substitution, and where it is: what the link behind has left.
struct Back<const W: usize> {
    lambda: [f32; W],
    /// λn, as far as it is applied.
    gx: [f32; W],
    gy: [f32; W],
    gz: [f32; W],
    /// What of its λ counts in the equation before, divided by that one's pivot.
    f: [f32; W],
}

impl<const W: usize> Default for Back<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            lambda: [0.0; W],
            gx: [0.0; W],
            gy: [0.0; W],
            gz: [0.0; W],
            f: [0.0; W],
        }
    }
}

impl<const W: usize> Back<W> {
    /// Substitutes at one link of each thread and moves the particles at its far end.
    #[inline(always)]
    fn go_on(
        &mut self,
        [x, y, z, w]: &mut Tile<W>,
        [nx, ny, nz, q, f, push]: &Kept<W>,
        share: f32,
    ) {
        for k in 0..W {
            let l = (q[k] + self.f[k] * self.lambda[k]).min(push[k]);
            self.lambda[k] = l;
            self.f[k] = f[k];
            let l = l * share;
            let (ax, ay, az) = (l * nx[k], l * ny[k], l * nz[k]);
            x[k] += w[k] * (ax - self.gx[k]);
            y[k] += w[k] * (ay - self.gy[k]);
            z[k] += w[k] * (az - self.gz[k]);
            self.gx[k] = ax;
            self.gy[k] = ay;
            self.gz[k] = az;
        }
    }
}
