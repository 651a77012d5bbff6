//! Straightens threads: whole ones at once, or as forces do where that is enough.
//!
//! At each inner particle of a thread that is even and straight at rest, the curve c = x₀ − 2x₁ + x₂ is
//! itself the constraint, with compliance α = ρ/B (see `bend`). It is linear, so that one solution of
//!
//! (KWKᵀ + α̃)λ = −c, Δx = WKᵀλ,
//!
//! is a whole step of implicit Euler for the bending of the thread, however stiff that is. Its matrix is
//! the same for x, y and z, and has five diagonals: neighbours share two particles (−2w₁ − 2w₂), those
//! after them one (w₂). It is factorised into LDLᵀ on the way there, and λ follows on the way back.
//! Solved one by one instead, stiff bends of a fine mesh would hardly resist at all: what one pass leaves
//! of a curve that extends over N particles grows with N⁴.
//!
//! Bends that give much more in a substep than the particles do, as those of most fabrics on a mesh for
//! games, hardly know of each other. There λ = −c/α̃ is as good, at a fraction of the cost.

use super::Tile;
use crate::solver::{relax::Softness, simd::select};

/// Where α̃ is at least so many times w₀ + 4w₁ + w₂, bends may act as forces. The largest eigenvalue of KWKᵀ
/// is 16w along a thread, so that warp and weft together would be unstable where 32w exceeds 4α̃, at 4/3.
pub(in crate::solver) const SOFT: f32 = 2.0;

/// A bend that gives next to nothing would leave the matrix without inverse in single precision.
pub(in crate::solver) const LEAST: f32 = 1.0 + 1e-6;

/// What is kept of one bend of each thread, on the way there for the way back: its numbers of L, and its λ
/// along x, y and z if it were the last one.
type Kept<const W: usize> = [[f32; W]; 5];

/// Straightens threads, from what each bend gives; one that gives less than nothing is not there.
/// `soft.alpha` is 1/(BΔt²).
#[inline(always)]
pub(super) fn straighten<const W: usize>(
    particles: &mut [Tile<W>],
    give: &[[f32; W]],
    soft: Softness,
    room: &mut [[f32; W]],
) {
    let (kept, _): (&mut [Kept<W>], _) = room.as_chunks_mut();
    let mut there = There::default();
    let rows = particles.windows(3).zip(give);
    for (own, kept) in rows.zip(&mut *kept) {
        let ([a, m, b], give) = own else {
            return;
        };
        there.go_on([a, m, b], give, soft, kept);
    }
    let count = give.len();
    let mut back = Back::default();
    for (tile, kept) in particles.iter_mut().skip(2).zip(&kept[..count]).rev() {
        back.go_on(tile, kept);
    }
    // The first two particles are the ends of few bends.
    let nothing = [[0.0; W]; 5];
    for tile in particles.iter_mut().take(2).rev() {
        back.go_on(tile, &nothing);
    }
}

/// The same where bends are soft: each pulls as it is curved now, as a force does, whatever the others do.
/// One sweep is enough, and what a bend resists is then exactly its stiffness.
#[inline(always)]
pub(super) fn straighten_softly<const W: usize>(
    particles: &mut [Tile<W>],
    give: &[[f32; W]],
    soft: Softness,
) {
    let [first, second, ..] = particles else {
        return;
    };
    let mut forces = Forces::from(first, second);
    for (i, give) in give.iter().enumerate() {
        let Some([a, m, b]) = particles.get_mut(i..i + 3) else {
            return;
        };
        forces.go_on(a, [m, b], give, soft);
    }
    // The last two particles are the ends of few bends.
    for tile in particles.iter_mut().skip(give.len()) {
        forces.end(tile);
    }
}

/// −λ of a bend that is solved as if there were no others, for each unit of its curve: 1/α̃, or 0 if it is
/// not there.
#[inline(always)]
pub(in crate::solver) fn pull(give: f32, soft: Softness) -> f32 {
    select(give > 0.0, 1.0 / (give * soft.alpha), 0.0)
}

/// Where a sweep of soft bends is.
struct Forces<const W: usize> {
    /// What the last bends give, and [`pull`] of it. Along most threads it stays the same.
    give: [f32; W],
    pull: [f32; W],
    x: Along<W>,
    y: Along<W>,
    z: Along<W>,
}

/// The same along one axis.
struct Along<const W: usize> {
    /// The way from the first particle of the next bend to the one behind.
    way: [f32; W],
    /// −λ of the last bend,
    last: [f32; W],
    /// and how much more that was than the one before.
    more: [f32; W],
}

impl<const W: usize> Forces<W> {
    /// At the first bend of threads that begin with these particles.
    #[inline(always)]
    fn from([x0, y0, z0, _]: &Tile<W>, [x1, y1, z1, _]: &Tile<W>) -> Self {
        Self {
            give: [-1.0; W],
            pull: [0.0; W],
            x: Along::from(x0, x1),
            y: Along::from(y0, y1),
            z: Along::from(z0, z1),
        }
    }

    /// Measures a bend and moves its first particle, which no later bend needs.
    #[inline(always)]
    fn go_on(
        &mut self,
        [x, y, z, w]: &mut Tile<W>,
        [[x0, y0, z0, _], [x1, y1, z1, _]]: [&Tile<W>; 2],
        give: &[f32; W],
        soft: Softness,
    ) {
        let mut other = 0;
        for (now, last) in give.iter().zip(&self.give) {
            other |= now.to_bits() ^ last.to_bits();
        }
        if other != 0 {
            self.give = *give;
            for (own, &give) in self.pull.iter_mut().zip(give) {
                *own = pull(give, soft);
            }
        }
        self.x.go_on(x, w, x0, x1, &self.pull);
        self.y.go_on(y, w, y0, y1, &self.pull);
        self.z.go_on(z, w, z0, z1, &self.pull);
    }

    /// Moves a particle behind all bends.
    #[inline(always)]
    fn end(&mut self, [x, y, z, w]: &mut Tile<W>) {
        self.x.end(x, w);
        self.y.end(y, w);
        self.z.end(z, w);
    }
}

impl<const W: usize> Along<W> {
    #[inline(always)]
    fn from(first: &[f32; W], second: &[f32; W]) -> Self {
        let mut way = [0.0; W];
        for k in 0..W {
            way[k] = second[k] - first[k];
        }
        Self {
            way,
            last: [0.0; W],
            more: [0.0; W],
        }
    }

    #[inline(always)]
    fn go_on(
        &mut self,
        x: &mut [f32; W],
        w: &[f32; W],
        middle: &[f32; W],
        end: &[f32; W],
        pull: &[f32; W],
    ) {
        for k in 0..W {
            let way = end[k] - middle[k];
            let force = pull[k] * (way - self.way[k]);
            let more = force - self.last[k];
            x[k] -= w[k] * (more - self.more[k]);
            self.way[k] = way;
            self.last[k] = force;
            self.more[k] = more;
        }
    }

    #[inline(always)]
    fn end(&mut self, x: &mut [f32; W], w: &[f32; W]) {
        for k in 0..W {
            let more = 0.0 - self.last[k];
            x[k] -= w[k] * (more - self.more[k]);
            self.last[k] = 0.0;
            self.more[k] = more;
        }
    }
}

/// The factorisation, and where it is: what the last two bends of each thread have left.
struct There<const W: usize> {
    /// Whether the last one is there (1 or 0), and the one before.
    there: [[f32; W]; 2],
    /// One over their pivots.
    u: [[f32; W]; 2],
    /// The last one's number of L, not yet divided.
    g: [f32; W],
    /// Their right sides, along x, y and z.
    z: [[[f32; W]; 3]; 2],
}

impl<const W: usize> Default for There<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            there: [[0.0; W]; 2],
            u: [[0.0; W]; 2],
            g: [0.0; W],
            z: [[[0.0; W]; 3]; 2],
        }
    }
}

impl<const W: usize> There<W> {
    /// Eliminates one bend of each thread.
    #[inline(always)]
    fn go_on(
        &mut self,
        [a, m, b]: [&Tile<W>; 3],
        give: &[f32; W],
        Softness { alpha, weakness }: Softness,
        kept: &mut Kept<W>,
    ) {
        let [l1, l2, qx, qy, qz] = kept;
        for k in 0..W {
            let [w0, w1, w2] = [a[3][k], m[3][k], b[3][k]];
            let masses = w0 + 4.0 * w1 + w2;
            let there = select((give[k] >= 0.0) & (masses > 0.0), 1.0, 0.0);
            let near = -2.0 * (w0 + w1) * (there * self.there[0][k]);
            let far = w0 * (there * self.there[1][k]);
            let second = far * self.u[1][k];
            let g = near - second * self.g[k];
            let first = g * self.u[0][k];
            let pivot = masses * (weakness * LEAST) + give[k] * alpha - first * g - second * far;
            let u = select(there > 0.0, 1.0 / pivot, 0.0);
            let cx = (a[0][k] - m[0][k]) + (b[0][k] - m[0][k]);
            let cy = (a[1][k] - m[1][k]) + (b[1][k] - m[1][k]);
            let cz = (a[2][k] - m[2][k]) + (b[2][k] - m[2][k]);
            let zx = cx - first * self.z[0][0][k] - second * self.z[1][0][k];
            let zy = cy - first * self.z[0][1][k] - second * self.z[1][1][k];
            let zz = cz - first * self.z[0][2][k] - second * self.z[1][2][k];
            l1[k] = first;
            l2[k] = second;
            qx[k] = zx * u;
            qy[k] = zy * u;
            qz[k] = zz * u;
            self.there[1][k] = self.there[0][k];
            self.there[0][k] = there;
            self.u[1][k] = self.u[0][k];
            self.u[0][k] = u;
            self.g[k] = g;
            self.z[1][0][k] = self.z[0][0][k];
            self.z[1][1][k] = self.z[0][1][k];
            self.z[1][2][k] = self.z[0][2][k];
            self.z[0][0][k] = zx;
            self.z[0][1][k] = zy;
            self.z[0][2][k] = zz;
        }
    }
}

/// The substitution, and where it is: λ of the two bends behind, along x, y and z, and what of it counts
/// in the equations before them.
struct Back<const W: usize> {
    lambda: [[[f32; W]; 3]; 2],
    /// The first numbers of L of the bend behind.
    near: [f32; W],
    /// The second numbers of L of both.
    far: [[f32; W]; 2],
}

impl<const W: usize> Default for Back<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            lambda: [[[0.0; W]; 3]; 2],
            near: [0.0; W],
            far: [[0.0; W]; 2],
        }
    }
}

impl<const W: usize> Back<W> {
    /// Substitutes at one bend of each thread and moves the particles at its far end.
    #[inline(always)]
    fn go_on(&mut self, tile: &mut Tile<W>, [l1, l2, qx, qy, qz]: &Kept<W>) {
        let [x, y, z, w] = tile;
        for (axis, (plane, q)) in [x, y, z].into_iter().zip([qx, qy, qz]).enumerate() {
            let [one, two] = &mut self.lambda;
            let (one, two) = (&mut one[axis], &mut two[axis]);
            for k in 0..W {
                let lambda = q[k] - self.near[k] * one[k] - self.far[1][k] * two[k];
                plane[k] -= w[k] * ((lambda - one[k]) + (two[k] - one[k]));
                two[k] = one[k];
                one[k] = lambda;
            }
        }
        for k in 0..W {
            self.near[k] = l1[k];
            self.far[1][k] = self.far[0][k];
            self.far[0][k] = l2[k];
        }
    }
}
