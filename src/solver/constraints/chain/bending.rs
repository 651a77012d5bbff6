//! Solves the bending constraints of whole chains, implicitly or as forces.
//!
//! At each inner particle of a chain that is evenly spaced and straight at rest, the curvature vector
//! c = x₀ − 2x₁ + x₂ is itself the constraint, with compliance α = ρ/B (see `bend`). The constraint is linear,
//! so one solution of
//!
//! (KWKᵀ + α̃)λ = −c, Δx = WKᵀλ,
//!
//! is a whole step of implicit Euler for the bending of the chain, however stiff it is. The matrix is the same
//! for x, y and z and pentadiagonal: adjacent bends share two particles (−2w₁ − 2w₂), the next ones share one
//! (w₂). It is factorised into LDLᵀ in the forward sweep, and λ follows in the backward sweep. Solved one by
//! one instead, stiff bends of a fine mesh would have almost no effect: the error that one pass leaves of a
//! bend that extends over N particles grows with N⁴.
//!
//! Bends that are much more compliant within a substep than their particles, as those of most fabrics on game
//! meshes, are nearly independent of each other. For them λ = −c/α̃ is as good, at a fraction of the cost.

use super::Tile;
use crate::solver::{constraints::points::Regularization, simd::select};

/// Smallest ratio of α̃ to w₀ + 4w₁ + w₂ at which bends may act as forces. The largest eigenvalue of KWKᵀ is
/// 16w along a chain, so warp and weft together would be unstable where 32w exceeds 4α̃, at a ratio of 4/3.
pub(in crate::solver) const MIN_EXPLICIT_RATIO: f32 = 2.0;

/// Factor on the diagonal of KWKᵀ: with almost no compliance the matrix would be singular in single precision.
pub(in crate::solver) const BEND_DIAGONAL_SCALE: f32 = 1.0 + 1e-6;

/// Results of eliminating one bend of each chain, stored for back substitution: its two entries of L, and its
/// λ along x, y and z if the bend were the last one.
type EliminatedBend<const W: usize> = [[f32; W]; 5];

/// Solves the bends of each chain implicitly as one system. `rho` is ρ of each bend, m², negative where there
/// is no bend; `regularization.alpha` is 1/(BΔt²).
#[inline(always)]
pub(super) fn solve_bending<const W: usize>(
    particles: &mut [Tile<W>],
    rho: &[[f32; W]],
    regularization: Regularization,
    scratch: &mut [[f32; W]],
) {
    let (eliminated, _): (&mut [EliminatedBend<W>], _) = scratch.as_chunks_mut();
    let mut elimination = BendElimination::default();
    let rows = particles.windows(3).zip(rho);
    for (own, eliminated) in rows.zip(&mut *eliminated) {
        let ([a, m, b], rho) = own else {
            return;
        };
        elimination.eliminate([a, m, b], rho, regularization, eliminated);
    }
    let count = rho.len();
    let mut substitution = BendSubstitution::default();
    for (tile, eliminated) in particles.iter_mut().skip(2).zip(&eliminated[..count]).rev() {
        substitution.substitute(tile, eliminated);
    }
    // The first two particles of a chain belong to fewer than three bends.
    let absent = [[0.0; W]; 5];
    for tile in particles.iter_mut().take(2).rev() {
        substitution.substitute(tile, &absent);
    }
}

/// Applies each bend as a force from the current curvature, independently of the others; for compliant bends
/// ([`MIN_EXPLICIT_RATIO`]). One sweep is enough, and the resistance is exactly the bending stiffness.
#[inline(always)]
pub(super) fn apply_bending_forces<const W: usize>(
    particles: &mut [Tile<W>],
    rho: &[[f32; W]],
    regularization: Regularization,
) {
    let [first, second, ..] = particles else {
        return;
    };
    let mut forces = BendForces::from(first, second);
    for (i, rho) in rho.iter().enumerate() {
        let Some([a, m, b]) = particles.get_mut(i..i + 3) else {
            return;
        };
        forces.advance(a, [m, b], rho, regularization);
    }
    // The last two particles of a chain belong to fewer than three bends.
    for tile in particles.iter_mut().skip(rho.len()) {
        forces.finish(tile);
    }
}

/// Returns −λ per unit of c of a bend that is solved independently: 1/α̃, or 0 if the bend is absent.
#[inline(always)]
pub(in crate::solver) fn bend_force_factor(rho: f32, regularization: Regularization) -> f32 {
    select(rho > 0.0, 1.0 / (rho * regularization.alpha), 0.0)
}

/// State of a sweep that applies bends as forces.
struct BendForces<const W: usize> {
    /// ρ of the last bends, m², and [`bend_force_factor`] of it, recomputed only where ρ changes: along most
    /// chains it is constant.
    rho: [f32; W],
    force_factor: [f32; W],
    x: AxisBendForces<W>,
    y: AxisBendForces<W>,
    z: AxisBendForces<W>,
}

/// State of a sweep along one axis.
struct AxisBendForces<const W: usize> {
    /// Difference between the middle particle of the next bend and its first particle.
    difference: [f32; W],
    /// −λ of the last bend.
    last: [f32; W],
    /// Increase of −λ from the bend before the last one to the last one.
    increase: [f32; W],
}

impl<const W: usize> BendForces<W> {
    /// Starts at the first bend of chains that begin with these two particles.
    #[inline(always)]
    fn from([x0, y0, z0, _]: &Tile<W>, [x1, y1, z1, _]: &Tile<W>) -> Self {
        Self {
            rho: [-1.0; W],
            force_factor: [0.0; W],
            x: AxisBendForces::from(x0, x1),
            y: AxisBendForces::from(y0, y1),
            z: AxisBendForces::from(z0, z1),
        }
    }

    /// Computes the force of a bend and moves its first particle, which no later bend needs.
    #[inline(always)]
    fn advance(
        &mut self,
        [x, y, z, w]: &mut Tile<W>,
        [[x0, y0, z0, _], [x1, y1, z1, _]]: [&Tile<W>; 2],
        rho: &[f32; W],
        regularization: Regularization,
    ) {
        let mut differing_bits = 0;
        for (now, last) in rho.iter().zip(&self.rho) {
            differing_bits |= now.to_bits() ^ last.to_bits();
        }
        if differing_bits != 0 {
            self.rho = *rho;
            for (own, &rho) in self.force_factor.iter_mut().zip(rho) {
                *own = bend_force_factor(rho, regularization);
            }
        }
        self.x.advance(x, w, x0, x1, &self.force_factor);
        self.y.advance(y, w, y0, y1, &self.force_factor);
        self.z.advance(z, w, z0, z1, &self.force_factor);
    }

    /// Moves a particle behind the first particle of the last bend.
    #[inline(always)]
    fn finish(&mut self, [x, y, z, w]: &mut Tile<W>) {
        self.x.finish(x, w);
        self.y.finish(y, w);
        self.z.finish(z, w);
    }
}

impl<const W: usize> AxisBendForces<W> {
    #[inline(always)]
    fn from(first: &[f32; W], second: &[f32; W]) -> Self {
        let mut difference = [0.0; W];
        for k in 0..W {
            difference[k] = second[k] - first[k];
        }
        Self {
            difference,
            last: [0.0; W],
            increase: [0.0; W],
        }
    }

    #[inline(always)]
    fn advance(
        &mut self,
        x: &mut [f32; W],
        w: &[f32; W],
        middle: &[f32; W],
        end: &[f32; W],
        force_factor: &[f32; W],
    ) {
        for k in 0..W {
            let difference = end[k] - middle[k];
            let force = force_factor[k] * (difference - self.difference[k]);
            let increase = force - self.last[k];
            x[k] -= w[k] * (increase - self.increase[k]);
            self.difference[k] = difference;
            self.last[k] = force;
            self.increase[k] = increase;
        }
    }

    #[inline(always)]
    fn finish(&mut self, x: &mut [f32; W], w: &[f32; W]) {
        for k in 0..W {
            let increase = 0.0 - self.last[k];
            x[k] -= w[k] * (increase - self.increase[k]);
            self.last[k] = 0.0;
            self.increase[k] = increase;
        }
    }
}

/// State of the factorisation after the last two bends of each chain; the last bend comes first.
struct BendElimination<const W: usize> {
    /// 1 where the bend is present, 0 where it is absent.
    active: [[f32; W]; 2],
    /// Reciprocals of the pivots.
    u: [[f32; W]; 2],
    /// First entry of L of the last bend, not yet divided by the pivot.
    g: [f32; W],
    /// Right-hand sides along x, y and z.
    z: [[[f32; W]; 3]; 2],
}

impl<const W: usize> Default for BendElimination<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            active: [[0.0; W]; 2],
            u: [[0.0; W]; 2],
            g: [0.0; W],
            z: [[[0.0; W]; 3]; 2],
        }
    }
}

impl<const W: usize> BendElimination<W> {
    /// Eliminates one bend of each chain.
    #[inline(always)]
    fn eliminate(
        &mut self,
        [a, m, b]: [&Tile<W>; 3],
        rho: &[f32; W],
        Regularization {
            alpha,
            diagonal_scale,
        }: Regularization,
        eliminated: &mut EliminatedBend<W>,
    ) {
        let [l1, l2, qx, qy, qz] = eliminated;
        for k in 0..W {
            let [w0, w1, w2] = [a[3][k], m[3][k], b[3][k]];
            let masses = w0 + 4.0 * w1 + w2;
            let active = select((rho[k] >= 0.0) & (masses > 0.0), 1.0, 0.0);
            let near = -2.0 * (w0 + w1) * (active * self.active[0][k]);
            let far = w0 * (active * self.active[1][k]);
            let second = far * self.u[1][k];
            let g = near - second * self.g[k];
            let first = g * self.u[0][k];
            let pivot = masses * (diagonal_scale * BEND_DIAGONAL_SCALE) + rho[k] * alpha
                - first * g
                - second * far;
            let u = select(active > 0.0, 1.0 / pivot, 0.0);
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
            self.active[1][k] = self.active[0][k];
            self.active[0][k] = active;
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

/// State of the back substitution: λ of the two bends behind, along x, y and z, and its coefficients in the
/// equations of the bends before them.
struct BendSubstitution<const W: usize> {
    lambda: [[[f32; W]; 3]; 2],
    /// First entry of L of the bend behind.
    near: [f32; W],
    /// Second entries of L of both bends behind.
    far: [[f32; W]; 2],
}

impl<const W: usize> Default for BendSubstitution<W> {
    #[inline(always)]
    fn default() -> Self {
        Self {
            lambda: [[[0.0; W]; 3]; 2],
            near: [0.0; W],
            far: [[0.0; W]; 2],
        }
    }
}

impl<const W: usize> BendSubstitution<W> {
    /// Substitutes one bend of each chain and moves the particles at its far end.
    #[inline(always)]
    fn substitute(&mut self, tile: &mut Tile<W>, [l1, l2, qx, qy, qz]: &EliminatedBend<W>) {
        let [planes @ .., w] = tile;
        // By index: iterators over the axes are not always inlined, and then not compiled for the SIMD level.
        for axis in 0..3 {
            let (plane, q) = (&mut planes[axis], [qx, qy, qz][axis]);
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
