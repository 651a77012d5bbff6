//! Solves whole threads at once.
//!
//! Relaxation carries a load only from one particle to the next in each pass, which is why fine
//! cloth is rubber: the stretch grows with the square of the particles in a row. A thread, though, is
//! a chain, and the linear system of a chain of constraints is tridiagonal: with n_i the unit vector
//! of link i, C_i = |d_i| − L_i and w_i the inverse mass between links i−1 and i,
//!
//! (w_i + w_{i+1} + α̃)λ_i − w_i(n_{i−1}·n_i)λ_{i−1} − w_{i+1}(n_i·n_{i+1})λ_{i+1} = −C_i − α̃λ,
//!
//! solved exactly by one sweep there and one back (Thomas 1949). Each equation is multiplied by |d_i| here,
//! and solved for λ_i/|d_i|: then d_i stands where n_i does, and nothing is divided by a length. One
//! Newton step for the whole thread costs about as much as two projections of each link. Taking warp and
//! weft in turn is an alternating-direction line relaxation (Peaceman, Rachford 1955): the mean
//! stretch of a 128² cloth draped over a ball, at eight substeps, is 0.33 % and not 3.9 %.
//!
//! A thread pulls, but it does not push: where λ would push, only the error of the link itself may,
//! as in relaxation. Otherwise folded cloth would stand like a board. Cutting λ off on the way back
//! solves the system with this inequality (Brennan, Schwartz 1977) where all that push lie behind all that
//! pull. Elsewhere elimination has counted on what is not pushed after all, and a link behind a fold may be left
//! stretched, for ever: by 22 % in a 64² cloth that lies on a ball. So threads with links that are
//! longer than [`LONGEST`] are solved again without those that are too short. What is left, since taut
//! links count on growing up to that limit: the worst link is 3 % too long at 64², 5 % at 128², up to 17 % at 256².
//!
//! Neighbouring threads are solved side by side: every loop goes over the links at one place of all
//! threads of a strip.

use super::{Links, Tile};
use crate::solver::{relax::Softness, simd::select};

/// How much of its own error a link may push. In a long thread the pivot is about half of both masses,
/// so that one half would be a projection; a little less drapes with the least strain (measured at
/// 64², 128² and 256²: 0.15 and 1 give a fifth to two thirds more).
pub(in crate::solver) const PUSH: f32 = 0.3;

/// Links that are almost as long as their limit are solved with those that are longer, because pulling
/// these back may bring those over it. Shorter ones may not take part: elimination goes on from a link
/// as if that one pulled too.
pub(in crate::solver) const ALMOST: f32 = 0.98;

/// Threads that do not give are solved again if a link is longer than so many times its rest length: times
/// [`ALMOST`], that is just below 1, so that all links that are taut take part.
pub(in crate::solver) const LONGEST: f32 = 1.02;

/// How a strip is solved.
struct By<const W: usize> {
    softness: Softness,
    /// Only links take part that are longer than so many times their rest length.
    from: f32,
    /// Rest lengths are so many times as long.
    longer: f32,
    /// [`PUSH`], or 0 where links may be as short as they like.
    push: f32,
    /// Which share of its corrections each thread gets.
    share: [f32; W],
}

/// What is kept of one link of each thread, on the way there for the way back: its λ if it were the last
/// one, how much of the λ before it depends on its own, and the most that it may push.
type Kept<const W: usize> = [[f32; W]; 3];

/// Solves the threads of a strip and applies a share of the corrections.
#[inline(always)]
pub(super) fn solve_lines<const W: usize>(
    particles: &mut [Tile<W>],
    links: Links<W>,
    softness: Softness,
    share: f32,
    room: &mut [[f32; W]],
) {
    let by = By {
        softness,
        from: 0.0,
        longer: 1.0,
        push: PUSH,
        share: [share; W],
    };
    solve(particles, links, &by, room);
}

/// Pulls links back that are longer than `limit` times their rest length, all of a thread at once.
/// Threads without such links stay as they are.
#[inline(always)]
pub(super) fn limit_lines<const W: usize>(
    particles: &mut [Tile<W>],
    links: Links<W>,
    limit: f32,
    room: &mut [[f32; W]],
) {
    let mut too_long = [0.0_f32; W];
    for (ends, rest) in particles.windows(2).zip(links.rest) {
        let [[x0, y0, z0, _], [x1, y1, z1, _]] = [ends[0], ends[1]];
        for k in 0..W {
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let most = rest[k] * limit;
            let over = (dx * dx + dy * dy + dz * dz > most * most) & (rest[k] >= 0.0);
            too_long[k] = select(over, 1.0, too_long[k]);
        }
    }
    if too_long == [0.0; W] {
        return;
    }
    let by = By {
        softness: Softness::TAUT,
        from: limit * ALMOST,
        longer: limit,
        push: 0.0,
        share: too_long,
    };
    solve(particles, links, &by, room);
}

#[inline(always)]
fn solve<const W: usize>(
    particles: &mut [Tile<W>],
    links: Links<W>,
    by: &By<W>,
    room: &mut [[f32; W]],
) {
    let Links { rest, lambda } = links;
    let (kept, _): (&mut [Kept<W>], _) = room.as_chunks_mut();
    let mut there = There::default();
    let mut ends = particles.windows(2);
    for (i, (rest, kept)) in rest.iter().zip(&mut *kept).enumerate() {
        let Some([from, to]) = ends.next() else {
            return;
        };
        let pull = lambda.get(i).unwrap_or(&[0.0; W]);
        there.go_on(from, to, rest, pull, by, kept);
    }
    let mut back = Back::default();
    let mut lambda = lambda.iter_mut();
    for (i, kept) in kept[..rest.len()].iter().enumerate().rev() {
        let Some([from, to]) = particles.get_mut(i..i + 2) else {
            return;
        };
        back.go_on(from, to, kept, &by.share, lambda.next_back());
    }
    // The first particles have a link on one side only.
    if let Some([x, y, z, w]) = particles.first_mut() {
        for (plane, g) in [(x, &back.gx), (y, &back.gy), (z, &back.gz)] {
            for ((x, w), g) in plane.iter_mut().zip(&*w).zip(g) {
                *x -= w * g;
            }
        }
    }
}

/// The elimination, and where it is: what the last link of each thread has left.
struct There<const W: usize> {
    /// Its way d.
    dx: [f32; W],
    dy: [f32; W],
    dz: [f32; W],
    /// One over its pivot.
    u: [f32; W],
    /// Its right side.
    b: [f32; W],
}

impl<const W: usize> Default for There<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            dx: [0.0; W],
            dy: [0.0; W],
            dz: [0.0; W],
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
        &By {
            softness: Softness { alpha, weakness },
            from,
            longer,
            push: most_push,
            ..
        }: &By<W>,
        [q, f, push]: &mut Kept<W>,
    ) {
        for k in 0..W {
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let square = dx * dx + dy * dy + dz * dz;
            let length = square.sqrt();
            // What is not there has neither pivot nor error: it neither pulls nor passes anything on.
            let there = (length > rest[k] * from) & (rest[k] >= 0.0);
            let error = (rest[k] * longer - length - alpha * pull[k]) * length;
            let error = select(there, error, 0.0);
            let coupling = w0[k] * (dx * self.dx[k] + dy * self.dy[k] + dz * self.dz[k]);
            let share = coupling * self.u[k];
            let pivot = ((w0[k] + w1[k]) * weakness + alpha) * square - share * coupling;
            let inverse = select(there & (pivot > 0.0), 1.0 / pivot, 0.0);
            let right = error + share * self.b[k];
            q[k] = right * inverse;
            f[k] = share;
            push[k] = error.max(0.0) * inverse * most_push;
            self.dx[k] = dx;
            self.dy[k] = dy;
            self.dz[k] = dz;
            self.u[k] = inverse;
            self.b[k] = right;
        }
    }
}

/// The substitution, and where it is: what the link behind has left.
struct Back<const W: usize> {
    lambda: [f32; W],
    /// λd, as far as it is applied.
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
    /// Substitutes at one link of each thread and moves the particles at its far end. The particles at
    /// both ends are still where they were on the way there.
    #[inline(always)]
    fn go_on(
        &mut self,
        [x0, y0, z0, _]: &Tile<W>,
        [x, y, z, w]: &mut Tile<W>,
        [q, f, push]: &Kept<W>,
        share: &[f32; W],
        sum: Option<&mut [f32; W]>,
    ) {
        if let Some(sum) = sum {
            for k in 0..W {
                let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
                let l = (q[k] + self.f[k] * self.lambda[k]).min(push[k]) * share[k];
                sum[k] += l * (dx * dx + dy * dy + dz * dz).sqrt();
            }
        }
        for k in 0..W {
            let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
            let l = (q[k] + self.f[k] * self.lambda[k]).min(push[k]);
            self.lambda[k] = l;
            self.f[k] = f[k];
            let l = l * share[k];
            let (ax, ay, az) = (l * dx, l * dy, l * dz);
            x[k] += w[k] * (ax - self.gx[k]);
            y[k] += w[k] * (ay - self.gy[k]);
            z[k] += w[k] * (az - self.gz[k]);
            self.gx[k] = ax;
            self.gy[k] = ay;
            self.gz[k] = az;
        }
    }
}
