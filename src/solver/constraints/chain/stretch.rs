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
//! A link around an edge, a corner or a tip of a collider pulls its ends into the collider, and contacts push them out again.
//! A solver that does not know that leaves such links stretched, the more so the finer the cloth: it gives nearly all of the
//! correction to a single particle at the edge, because all of the cloth that hangs from the other end weighs more. And with
//! that push grows the friction that holds the cloth. So there the inverse mass w of a particle in contact becomes the matrix
//! w(I − φnnᵀ), with n the normal of the contact (Baraff, Witkin, "Large Steps in Cloth Simulation", 1998): chains cannot
//! move the particle along n. φ is 0 where links follow the surface, and nearly 1 where they lead into it.
//!
//! Neighbouring chains are solved side by side: every loop runs over the links at one index of all chains of
//! a strip.

use super::{ChainLinks, NormalTile, Tile};
use crate::solver::{
    constraints::points::{Regularization, StretchLimit, Supported},
    simd::select,
};

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

/// Factor on the square of the strain of links beyond the limit in their regularization, in chains with movable particles between
/// immovable ones: a parameter of Levenberg and Marquardt that falls with the square of the error (Yamashita, Fukushima, "On the
/// Rate of Convergence of the Levenberg–Marquardt Method", 2001). If two particles are held too far apart, nothing makes the
/// links between them short enough, and without this parameter the particles between them are thrown aside, by up to 70 times
/// the error where the links are nearly parallel: by 2 m in a sheet on a box. With it they move by half of a link at most. Other
/// chains are brought to the limit in one solve, which they are not with it.
pub(in crate::solver) const HELD_REGULARIZATION: f32 = 2.0;

/// Fraction of the correction that chains with particles held near tips receive. They are held in one step and not in the
/// next: with all of it, particles at the tip of a cone jump up and down by 4 mm for ever (128², self-collision).
pub(in crate::solver) const HELD_CORRECTION: f32 = 0.5;

/// Square of the sine of the angle between a link and the surface of a collider at which the collider begins to support
/// the particle from which the link leads into it, and by how much larger it is where the collider fully supports it.
const MIN_SINE_SQUARED: f32 = 0.01;
const SUPPORT_RANGE: f32 = 0.08;

/// Largest √φ: a link that leads straight into a collider must still be able to move the particle.
const MAX_SUPPORT: f32 = 0.975;

/// Parameters of one solve of a strip of chains.
struct StretchParams<const W: usize> {
    regularization: Regularization,
    /// Factor on the square of the strain of each link in its regularization.
    strain_regularization: [f32; W],
    /// Length above which a link takes part, as a multiple of its rest length.
    active_above: f32,
    /// Factor on all rest lengths.
    rest_scale: f32,
    /// [`PUSH_FRACTION`], or 0 if links may be shorter than their rest length.
    push_fraction: f32,
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
    normals: &mut [NormalTile<W>],
    links: ChainLinks<W>,
    regularization: Regularization,
    relaxation_factor: f32,
    scratch: &mut [[f32; W]],
) {
    let params = StretchParams {
        regularization,
        strain_regularization: [0.0; W],
        active_above: 0.0,
        rest_scale: 1.0,
        push_fraction: PUSH_FRACTION,
        relaxation_factor: [relaxation_factor; W],
    };
    if find_support(particles, normals) {
        solve_tridiagonal::<W, true>(particles, normals, links, &params, scratch);
    } else {
        solve_tridiagonal::<W, false>(particles, normals, links, &params, scratch);
    }
}

/// Pulls back links that are longer than the limit allows, solving each chain as a whole. Chains without such links are not
/// moved. `normals` are those of contacts, which are changed, or empty.
#[inline(always)]
pub(super) fn limit_strain<const W: usize>(
    particles: &mut [Tile<W>],
    normals: &mut [NormalTile<W>],
    links: ChainLinks<W>,
    StretchLimit { ratio, supported }: StretchLimit,
    scratch: &mut [[f32; W]],
) {
    let mut too_long = [0.0_f32; W];
    for (ends, rest) in particles.windows(2).zip(links.rest) {
        let [[x0, y0, z0, _], [x1, y1, z1, _]] = [ends[0], ends[1]];
        for k in 0..W {
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let most = rest[k] * ratio;
            let over = (dx * dx + dy * dy + dz * dz > most * most) & (rest[k] >= 0.0);
            too_long[k] = select(over, 1.0, too_long[k]);
        }
    }
    if too_long == [0.0; W] {
        return;
    }
    let is_supported = supported != Supported::Free && find_support(particles, normals);
    let mut relaxation_factor = too_long;
    if is_supported && supported == Supported::Hold {
        let share = hold_supported(particles, normals);
        for k in 0..W {
            relaxation_factor[k] *= share[k];
        }
    }
    let params = StretchParams {
        regularization: Regularization::STRAIN_LIMIT,
        strain_regularization: held_regularization(particles, links.rest),
        active_above: ratio * NEAR_LIMIT,
        rest_scale: ratio,
        push_fraction: 0.0,
        relaxation_factor,
    };
    if is_supported {
        solve_tridiagonal::<W, true>(particles, normals, links, &params, scratch);
    } else {
        solve_tridiagonal::<W, false>(particles, normals, links, &params, scratch);
    }
}

/// Returns [`HELD_REGULARIZATION`] for lanes with movable particles between immovable ones of the same chain, 0 for others.
#[inline(always)]
fn held_regularization<const W: usize>(particles: &[Tile<W>], rest: &[[f32; W]]) -> [f32; W] {
    let mut found = [0.0; W];
    // Of the chain so far: 0 without an immovable particle, 1 behind one, 2 behind movable ones that follow one.
    let mut state = [0.0_f32; W];
    for (i, [_, _, _, w]) in particles.iter().enumerate() {
        let before = i.checked_sub(1).and_then(|link| rest.get(link));
        let rest = before.unwrap_or(&[0.0; W]);
        for k in 0..W {
            let so_far = select(rest[k] >= 0.0, state[k], 0.0);
            let held = w[k] == 0.0;
            found[k] = select(held & (so_far == 2.0), HELD_REGULARIZATION, found[k]);
            let behind = select(so_far > 0.0, 2.0, 0.0);
            state[k] = select(held, 1.0, behind);
        }
    }
    found
}

/// Sets the inverse mass of particles whose φ is greater than 0 to 0. Returns [`HELD_CORRECTION`] for chains with such particles,
/// and 1 for others.
#[inline(always)]
fn hold_supported<const W: usize>(
    particles: &mut [Tile<W>],
    supported: &[NormalTile<W>],
) -> [f32; W] {
    let mut share = [1.0; W];
    for ([_, _, _, w], [nx, ny, nz]) in particles.iter_mut().zip(supported) {
        for k in 0..W {
            let factor = nx[k] * nx[k] + ny[k] * ny[k] + nz[k] * nz[k];
            w[k] = select(factor > 0.0, 0.0, w[k]);
            share[k] = select(factor > 0.0, HELD_CORRECTION, share[k]);
        }
    }
    share
}

/// Multiplies the normal of each contact by √φ. Returns whether any φ is greater than 0.
#[inline(always)]
fn find_support<const W: usize>(particles: &[Tile<W>], normals: &mut [NormalTile<W>]) -> bool {
    let Some(last) = particles.len().checked_sub(1) else {
        return false;
    };
    let mut most = [0.0; W];
    // Direction of the link before, and the reciprocal of its square.
    let mut before = [[0.0; W]; 4];
    for (i, [nx, ny, nz]) in normals.iter_mut().enumerate() {
        let [x0, y0, z0, _] = &particles[i];
        let [x1, y1, z1, _] = &particles[if i < last { i + 1 } else { last }];
        let [bx, by, bz, inverse] = &mut before;
        for k in 0..W {
            let into = bx[k] * nx[k] + by[k] * ny[k] + bz[k] * nz[k];
            let one = into * into.abs() * inverse[k];
            let (dx, dy, dz) = (x1[k] - x0[k], y1[k] - y0[k], z1[k] - z0[k]);
            let square = dx * dx + dy * dy + dz * dz;
            let reciprocal = select(square > 0.0, 1.0 / square, 0.0);
            let into = -(dx * nx[k] + dy * ny[k] + dz * nz[k]);
            let other = into * into.abs() * reciprocal;
            (bx[k], by[k], bz[k], inverse[k]) = (dx, dy, dz, reciprocal);
            // Signed square of the sine; 0 without a normal.
            let steepest = select(one.abs() > other.abs(), one, other);
            let factor = support_factor(steepest);
            most[k] = select(factor > most[k], factor, most[k]);
            nx[k] *= factor;
            ny[k] *= factor;
            nz[k] *= factor;
        }
    }
    most != [0.0; W]
}

/// Returns √φ of a particle from the square of the sine at which its steepest link leads into a collider, or minus the
/// square if it leads away.
#[inline(always)]
pub(in crate::solver) fn support_factor(steepest: f32) -> f32 {
    let share = (steepest - MIN_SINE_SQUARED) * (1.0 / SUPPORT_RANGE);
    let share = select(share > 0.0, share, 0.0);
    select(share < 1.0, share, 1.0) * MAX_SUPPORT
}

#[inline(always)]
fn solve_tridiagonal<const W: usize, const SUPPORTED: bool>(
    particles: &mut [Tile<W>],
    supported: &[NormalTile<W>],
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
        along: [0.0; W],
        u: [0.0; W],
        b: [0.0; W],
    };
    let free = [[0.0; W]; 3];
    let normals = |i: usize| if SUPPORTED { &supported[i] } else { &free };
    let mut ends = particles.windows(2);
    for (i, (rest, eliminated)) in rest.iter().zip(&mut *eliminated).enumerate() {
        let Some([from, to]) = ends.next() else {
            return;
        };
        let lambda_sum = lambda.get(i).unwrap_or(&[0.0; W]);
        let normals = [normals(i), normals(i + 1)];
        elimination.eliminate::<SUPPORTED>(
            [from, to],
            normals,
            rest,
            lambda_sum,
            params,
            eliminated,
        );
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
        substitution.substitute::<SUPPORTED>(
            from,
            to,
            normals(i + 1),
            eliminated,
            &params.relaxation_factor,
            lambda.next_back(),
        );
    }
    // The first particle of each chain has a link on one side only.
    if let Some(tile) = particles.first_mut() {
        let none = &[0.0; W];
        substitution.advance::<SUPPORTED>(tile, normals(0), [none, none, none]);
    }
}

/// State of the forward elimination after the last link of each chain.
struct StretchElimination<const W: usize> {
    /// Difference d between the ends of the link.
    dx: [f32; W],
    dy: [f32; W],
    dz: [f32; W],
    /// d·√φn at its end.
    along: [f32; W],
    /// Reciprocal of the pivot.
    u: [f32; W],
    /// Right-hand side.
    b: [f32; W],
}

impl<const W: usize> StretchElimination<W> {
    /// Eliminates one link of each chain.
    #[inline(always)]
    fn eliminate<const SUPPORTED: bool>(
        &mut self,
        [[x0, y0, z0, w0], [x1, y1, z1, w1]]: [&Tile<W>; 2],
        [from, to]: [&NormalTile<W>; 2],
        rest: &[f32; W],
        lambda_sum: &[f32; W],
        &StretchParams {
            regularization:
                Regularization {
                    alpha,
                    diagonal_scale,
                },
            ref strain_regularization,
            active_above,
            rest_scale,
            push_fraction,
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
            let excess = rest[k] * rest_scale - length;
            let error = select(active, (excess - alpha * lambda_sum[k]) * length, 0.0);
            let mut cosine = dx * self.dx[k] + dy * self.dy[k] + dz * self.dz[k];
            let mut blocked = 0.0;
            if SUPPORTED {
                let at_from = dx * from[0][k] + dy * from[1][k] + dz * from[2][k];
                let at_to = dx * to[0][k] + dy * to[1][k] + dz * to[2][k];
                cosine -= at_from * self.along[k];
                blocked = w0[k] * at_from * at_from + w1[k] * at_to * at_to;
                self.along[k] = at_to;
            }
            let coupling = w0[k] * cosine;
            let factor = coupling * self.u[k];
            let masses = w0[k] + w1[k];
            // Compliance regularizes as well; both together would make the fabric softer.
            let (rigid, elastic) = (masses * diagonal_scale, masses + alpha);
            let diagonal = select(rigid > elastic, rigid, elastic);
            let by_strain = masses * (strain_regularization[k] * (excess * excess));
            let pivot = (diagonal * square + by_strain) - blocked - factor * coupling;
            let inverse = select(active & (pivot > 0.0), 1.0 / pivot, 0.0);
            let right = error + factor * self.b[k];
            q[k] = right * inverse;
            f[k] = factor;
            bound[k] = (error.max(0.0) * push_fraction + error.min(0.0) * PULL_FRACTION) * inverse;
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
    fn substitute<const SUPPORTED: bool>(
        &mut self,
        [x0, y0, z0, _]: &Tile<W>,
        tile: &mut Tile<W>,
        supported: &NormalTile<W>,
        [q, f, bound]: &EliminatedLink<W>,
        relaxation_factor: &[f32; W],
        lambda_sum: Option<&mut [f32; W]>,
    ) {
        let [x, y, z, _] = &*tile;
        if let Some(lambda_sum) = lambda_sum {
            for k in 0..W {
                let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
                let l = (q[k] + self.f[k] * self.lambda[k]).min(bound[k]) * relaxation_factor[k];
                lambda_sum[k] += l * (dx * dx + dy * dy + dz * dz).sqrt();
            }
        }
        let mut pull = [[0.0; W]; 3];
        for k in 0..W {
            let (dx, dy, dz) = (x[k] - x0[k], y[k] - y0[k], z[k] - z0[k]);
            let l = (q[k] + self.f[k] * self.lambda[k]).min(bound[k]);
            self.lambda[k] = l;
            self.f[k] = f[k];
            let l = l * relaxation_factor[k];
            (pull[0][k], pull[1][k], pull[2][k]) = (l * dx, l * dy, l * dz);
        }
        let [px, py, pz] = &pull;
        self.advance::<SUPPORTED>(tile, supported, [px, py, pz]);
    }

    /// Moves a particle between the link with this λd and the link behind.
    #[inline(always)]
    fn advance<const SUPPORTED: bool>(
        &mut self,
        [x, y, z, w]: &mut Tile<W>,
        [nx, ny, nz]: &NormalTile<W>,
        [px, py, pz]: [&[f32; W]; 3],
    ) {
        for k in 0..W {
            let mut dx = px[k] - self.gx[k];
            let mut dy = py[k] - self.gy[k];
            let mut dz = pz[k] - self.gz[k];
            if SUPPORTED {
                let along = dx * nx[k] + dy * ny[k] + dz * nz[k];
                dx -= along * nx[k];
                dy -= along * ny[k];
                dz -= along * nz[k];
            }
            x[k] += w[k] * dx;
            y[k] += w[k] * dy;
            z[k] += w[k] * dz;
            self.gx[k] = px[k];
            self.gy[k] = py[k];
            self.gz[k] = pz[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::constraints::chain::SCRATCH_PER_PARTICLE;

    #[test]
    fn a_particle_between_two_that_are_held_too_far_apart_is_not_thrown_aside() {
        for strain in [0.001_f32, 0.01, 0.1, 0.5, 1.0, 3.0] {
            for aside in [0.001_f32, 0.01, 0.1, 0.5] {
                let at = |x: f32, y: f32, w: f32| [[x], [y], [0.0], [w]];
                let half = ((1.0 + strain).powi(2) - aside * aside).sqrt();
                let mut particles = [
                    at(0.0, 0.0, 0.0),
                    at(half, aside, 1.0),
                    at(2.0 * half, 0.0, 0.0),
                ];
                let limit = StretchLimit {
                    ratio: 1.0,
                    supported: Supported::Free,
                };
                let links = ChainLinks {
                    rest: &[[1.0], [1.0]],
                    lambda: &mut [],
                };
                let mut scratch = [[0.0]; 3 * SCRATCH_PER_PARTICLE];
                limit_strain(&mut particles, &mut [], links, limit, &mut scratch);
                let [[x], [y], ..] = particles[1];
                let moved = (x - half).hypot(y - aside);
                let most = 0.51 * (1.0 + strain);
                assert!(moved < most, "{strain}, {aside}: {moved}");
            }
        }
    }
}
