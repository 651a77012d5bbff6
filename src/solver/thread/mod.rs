//! Threads side by side: one particle of each is a tile, and all loops go over the threads. Those of
//! sheets and those of other meshes differ only in how their particles are fetched.
//!
//! | file | what it holds |
//! |---|---|
//! | `lines` | solves whole threads at once |
//! | `bends` | straightens them |

mod bends;
mod lines;

use super::{relax::Softness, sheet::SheetSoftness, simd::select};
pub(super) use bends::{LEAST, SOFT, pull as bend_pull};
pub(super) use lines::{ALMOST, LONGEST, PUSH};

/// x, y, z and inverse mass of one particle of each of `W` threads.
pub(in crate::solver) type Tile<const W: usize> = [[f32; W]; 4];

/// Numbers of each thread that solving it needs room for, for every particle of it.
pub(in crate::solver) const ROOM: usize = 5;

/// The links of threads, one behind the other.
pub(in crate::solver) struct Links<'a, const W: usize> {
    /// Rest lengths, negative where there is no link.
    pub(in crate::solver) rest: &'a [[f32; W]],
    /// λ, or empty.
    pub(in crate::solver) lambda: &'a mut [[f32; W]],
}

impl<const W: usize> Links<'_, W> {
    /// Projects those between the particles at one place and the next ones.
    #[inline(always)]
    fn project(&mut self, particles: &mut [Tile<W>], i: usize, soft: Softness) {
        let (before, behind) = particles.split_at_mut(i + 1);
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
    fn relax(mut self, particles: &mut [Tile<W>], softness: Softness) {
        for first in 0..2 {
            for i in (first..self.rest.len()).step_by(2) {
                self.project(particles, i, softness);
            }
        }
    }

    /// Straightens threads, whole ones at once or with each bend as a force. Here the links are bends over one
    /// particle each, with what they give for rest lengths.
    #[inline(always)]
    pub(in crate::solver) fn bend(
        self,
        particles: &mut [Tile<W>],
        soft: Softness,
        whole: bool,
        room: &mut [[f32; W]],
    ) {
        if whole {
            bends::straighten(particles, self.rest, soft, room);
        } else {
            bends::straighten_softly(particles, self.rest, soft);
        }
    }

    /// Those of threads, all of each thread at once or one after the other; then those that are too long
    /// again.
    #[inline(always)]
    pub(in crate::solver) fn pull(
        self,
        particles: &mut [Tile<W>],
        soft: &SheetSoftness,
        stretch: Softness,
        room: &mut [[f32; W]],
    ) {
        let Links { rest, lambda } = self;
        let again = Links {
            rest,
            lambda: &mut *lambda,
        };
        if soft.direct {
            lines::solve_lines(particles, again, stretch, soft.share, room);
        } else {
            again.relax(particles, stretch);
        }
        if let Some(longest) = soft.longest {
            // What carries a thread at the limit of its fabric is none of its own tension.
            let lambda = if soft.limit.is_some() {
                &mut []
            } else {
                lambda
            };
            lines::limit_lines(particles, Links { rest, lambda }, longest, room);
        }
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
        let s = share::<false>(length, rest[k], pull[k], w0[k] + w1[k], soft);
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

/// By how much of their difference two particles of inverse mass 1 go apart, from their distance, the
/// rest length, α̃λ and the sum of their inverse masses. As in [`relax`](super::relax()), with one
/// division: s = (L − |d| − α̃λ)/((w₀ + w₁ + α̃)|d|). A constraint whose rest length is negative is not
/// there; with `SLACK`, distances below the rest length are allowed.
#[inline(always)]
pub(super) fn share<const SLACK: bool>(
    length: f32,
    rest: f32,
    pull: f32,
    masses: f32,
    Softness { alpha, weakness }: Softness,
) -> f32 {
    let below = (masses * weakness + alpha) * length;
    // Two particles at one place have no direction to be pushed in, and two pinned ones cannot be
    // pushed: chosen without a branch.
    let possible = (below > 0.0) & (rest >= 0.0) & (!SLACK | (length > rest));
    select(possible, (rest - length - pull) / below, 0.0)
}
