//! Solves the stretch constraints of whole chains directly.
//!
//! Gauss–Seidel carries a load only from one particle to the next in each pass, so fine cloth behaves like
//! rubber: the stretch grows with the square of the particles in a row. The constraints of a chain, however,
//! form a tridiagonal linear system: with n_i the unit vector of link i, C_i = |d_i| − L_i and w_i the inverse
//! mass between links i−1 and i,
//!
//! (w_i + w_{i+1} + α̃)λ_i − w_i(n_{i−1}·n_i)λ_{i−1} − w_{i+1}(n_i·n_{i+1})λ_{i+1} = −C_i − α̃λ,
//!
//! solved exactly by one forward elimination and one back substitution (Thomas 1949). Each equation is
//! multiplied by |d_i| here and solved for λ_i/|d_i|: d_i then takes the place of n_i, and nothing is divided
//! by a length. One Newton step for a whole chain costs about as much as two projections of each link. Solving
//! warp and weft alternately is an alternating-direction line relaxation (Peaceman, Rachford 1955): the mean
//! stretch of a 128² cloth draped over a ball, at eight substeps with two solves each, is 0.33 % instead of 3.9 %.
//!
//! A chain pulls but does not push: where λ would push, only the link's own error may push, as in
//! Gauss–Seidel. Otherwise folded cloth would be as stiff as a board. Clamping λ during back substitution
//! solves the system with this inequality (Brennan, Schwartz 1977) if all pushing links lie behind all pulling
//! links. Elsewhere elimination has relied on pushes that are then clamped, and a link behind a fold would
//! remain stretched permanently: by 22 % in a 64² cloth that lies on a ball. So a link that is too long pulls at
//! least by a part of its own error, whatever the links around it do.
//!
//! Neighbouring chains are solved side by side: every loop runs over the links at one index of all chains of
//! a strip.

use super::{ChainLinks, Tile};
use crate::solver::{constraints::points::Regularization, simd::select};

/// Largest fraction of its own error that a link may correct by pushing. In a long chain the pivot is about half of
/// the sum of both inverse masses, so this is a full projection.
pub(in crate::solver) const PUSH_FRACTION: f32 = 0.5;

/// Smallest fraction of its own error that a link corrects by pulling. Without it, the worst link of 30 drapes (36² to
/// 120²) is 6.2 % too long (median; 3.8 % with it), and folds may tremble; with 0.5, which gives 3.6 %, small damped
/// sheets between pins and colliders tremble.
pub(in crate::solver) const PULL_FRACTION: f32 = 0.25;

/// Fraction of the length limit above which a link takes part when a limit is enforced: pulling longer links
/// back may push these over it. Shorter links are left out, because elimination treats every link as pulling.
pub(in crate::solver) const NEAR_LIMIT: f32 = 0.98;

/// Parameters of one solve of a strip of chains.
struct StretchParams<const W: usize> {
    regularization: Regularization,
    /// Length above which a link takes part, as a multiple of its rest length.
    active_above: f32,
    /// Factor on all rest lengths.
    rest_scale: f32,
    /// [`PUSH_FRACTION`], or 0 if links may be shorter than their rest length.
    push_fraction: f32,
    /// [`PULL_FRACTION`], or 0.
    pull_fraction: f32,
    /// Factor ω on the corrections of each chain.
    relaxation_factor: [f32; W],
}

/// Results of eliminating one link of each chain, stored for back substitution: λ if the link were the last
/// one; the coefficient of its λ in the equation of the link before, divided by the pivot there; and the upper bound
/// of λ.
type EliminatedLink<const W: usize> = [[f32; W]; 3];

/// Solves the chains of a strip and applies the corrections times `relaxation_factor`.
#[inline(always)]
pub(super) fn solve_stretch<const W: usize>(
    particles: &mut [Tile<W>],
    links: ChainLinks<W>,
    regularization: Regularization,
    relaxation_factor: f32,
    scratch: &mut [[f32; W]],
) {
    let params = StretchParams {
        regularization,
        active_above: 0.0,
        rest_scale: 1.0,
        push_fraction: PUSH_FRACTION,
        pull_fraction: PULL_FRACTION,
        relaxation_factor: [relaxation_factor; W],
    };
    solve_tridiagonal(particles, links, &params, scratch);
}

/// Pulls back links longer than `limit` times their rest length, solving each chain as a whole. Chains
/// without such links are not moved.
#[inline(always)]
pub(super) fn limit_strain<const W: usize>(
    particles: &mut [Tile<W>],
    links: ChainLinks<W>,
    limit: f32,
    scratch: &mut [[f32; W]],
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
    let params = StretchParams {
        regularization: Regularization::STRAIN_LIMIT,
        active_above: limit * NEAR_LIMIT,
        rest_scale: limit,
        push_fraction: 0.0,
        pull_fraction: 0.0,
        relaxation_factor: too_long,
    };
    solve_tridiagonal(particles, links, &params, scratch);
}

#[inline(always)]
fn solve_tridiagonal<const W: usize>(
    particles: &mut [Tile<W>],
    links: ChainLinks<W>,
    params: &StretchParams<W>,
    scratch: &mut [[f32; W]],
) {
    let ChainLinks { rest, lambda } = links;
    let (eliminated, _): (&mut [EliminatedLink<W>], _) = scratch.as_chunks_mut();
    let mut elimination = StretchElimination {
        dx: [0.0; W],
        dy: [0.0; W],
        dz: [0.0; W],
        u: [0.0; W],
        b: [0.0; W],
    };
    let mut ends = particles.windows(2);
    for (i, (rest, eliminated)) in rest.iter().zip(&mut *eliminated).enumerate() {
        let Some([from, to]) = ends.next() else {
            return;
        };
        let lambda_sum = lambda.get(i).unwrap_or(&[0.0; W]);
        elimination.eliminate(from, to, rest, lambda_sum, params, eliminated);
    }
    let mut substitution = StretchSubstitution {
        lambda: [0.0; W],
        gx: [0.0; W],
        gy: [0.0; W],
        gz: [0.0; W],
        f: [0.0; W],
    };
    let mut lambda = lambda.iter_mut();
    for (i, eliminated) in eliminated[..rest.len()].iter().enumerate().rev() {
        let Some([from, to]) = particles.get_mut(i..i + 2) else {
            return;
        };
        substitution.substitute(
            from,
            to,
            eliminated,
            &params.relaxation_factor,
            lambda.next_back(),
        );
    }
    // The first particle of each chain has a link on one side only.
    if let Some([x, y, z, w]) = particles.first_mut() {
        for (plane, g) in [
            (x, &substitution.gx),
            (y, &substitution.gy),
            (z, &substitution.gz),
        ] {
            for ((x, w), g) in plane.iter_mut().zip(&*w).zip(g) {
                *x -= w * g;
            }
        }
    }
}

/// State of the forward elimination after the last link of each chain.
struct StretchElimination<const W: usize> {
    /// Difference d between the ends of the link.
    dx: [f32; W],
    dy: [f32; W],
    dz: [f32; W],
    /// Reciprocal of the pivot.
    u: [f32; W],
    /// Right-hand side.
    b: [f32; W],
}

impl<const W: usize> StretchElimination<W> {
    /// Eliminates one link of each chain.
    #[inline(always)]
    fn eliminate(
        &mut self,
        [x0, y0, z0, w0]: &Tile<W>,
        [x1, y1, z1, w1]: &Tile<W>,
        rest: &[f32; W],
        lambda_sum: &[f32; W],
        &StretchParams {
            regularization:
                Regularization {
                    alpha,
                    diagonal_scale,
                },
            active_above,
            rest_scale,
            push_fraction,
            pull_fraction,
            ..
        }: &StretchParams<W>,
        [q, f, bound]: &mut EliminatedLink<W>,
    ) {
        for k in 0..W {
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let square = dx * dx + dy * dy + dz * dz;
            let length = square.sqrt();
            // An absent link has neither pivot nor error: it neither pulls nor couples its neighbours.
            let active = (length > rest[k] * active_above) & (rest[k] >= 0.0);
            let error = (rest[k] * rest_scale - length - alpha * lambda_sum[k]) * length;
            let error = select(active, error, 0.0);
            let coupling = w0[k] * (dx * self.dx[k] + dy * self.dy[k] + dz * self.dz[k]);
            let factor = coupling * self.u[k];
            let pivot = ((w0[k] + w1[k]) * diagonal_scale + alpha) * square - factor * coupling;
            let inverse = select(active & (pivot > 0.0), 1.0 / pivot, 0.0);
            let right = error + factor * self.b[k];
            q[k] = right * inverse;
            f[k] = factor;
            bound[k] = (error.max(0.0) * push_fraction + error.min(0.0) * pull_fraction) * inverse;
            self.dx[k] = dx;
            self.dy[k] = dy;
            self.dz[k] = dz;
            self.u[k] = inverse;
            self.b[k] = right;
        }
    }
}

/// State of the back substitution after the link behind.
struct StretchSubstitution<const W: usize> {
    lambda: [f32; W],
    /// Applied λd, the relaxation factor included.
    gx: [f32; W],
    gy: [f32; W],
    gz: [f32; W],
    /// Second value of its [`EliminatedLink`].
    f: [f32; W],
}

impl<const W: usize> StretchSubstitution<W> {
    /// Substitutes one link of each chain and moves the particles at its far end. The particles at both ends
    /// still have the positions of the elimination when this is called.
    #[inline(always)]
    fn substitute(
        &mut self,
        [x0, y0, z0, _]: &Tile<W>,
        [x, y, z, w]: &mut Tile<W>,
        [q, f, bound]: &EliminatedLink<W>,
        relaxation_factor: &[f32; W],
        lambda_sum: Option<&mut [f32; W]>,
    ) {
        if let Some(lambda_sum) = lambda_sum {
            for k in 0..W {
                let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
                let l = (q[k] + self.f[k] * self.lambda[k]).min(bound[k]) * relaxation_factor[k];
                lambda_sum[k] += l * (dx * dx + dy * dy + dz * dz).sqrt();
            }
        }
        for k in 0..W {
            let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
            let l = (q[k] + self.f[k] * self.lambda[k]).min(bound[k]);
            self.lambda[k] = l;
            self.f[k] = f[k];
            let l = l * relaxation_factor[k];
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
