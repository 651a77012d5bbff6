//! Arguments that all projections of constraints share: the particle arrays, and the parameters of a pass.

use crate::solver::{
    constraints::stretch_solver::StretchSolver,
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::soa::SoaVec3,
};
use bevy::math::{Mat4, Vec4};

/// Component arrays of the particles, all cut to the same length, which saves bounds checks.
pub(in crate::solver) struct Points<'a> {
    pub(in crate::solver) x: &'a mut [f32],
    pub(in crate::solver) y: &'a mut [f32],
    pub(in crate::solver) z: &'a mut [f32],
    pub(in crate::solver) w: &'a [f32],
    /// Normals of contacts with colliders, zero for particles without contact, if there are any.
    pub(in crate::solver) normals: Option<[&'a [f32]; 3]>,
}

impl<'a> Points<'a> {
    /// Creates a view of the positions and contacts of all particles.
    pub(in crate::solver) fn with_contacts(particles: &'a mut ParticleArrays) -> Self {
        Self {
            normals: (particles.in_contact).then(|| particles.contact_normal.planes()),
            ..Self::of(&mut particles.position, &particles.inverse_mass)
        }
    }

    /// Creates a view of positions or other vectors and the inverse masses of the same particles.
    pub(in crate::solver) fn of(vectors: &'a mut SoaVec3, inverse_mass: &'a [f32]) -> Self {
        let n = inverse_mass.len();
        Self {
            x: &mut vectors.x[..n],
            y: &mut vectors.y[..n],
            z: &mut vectors.z[..n],
            w: inverse_mass,
            normals: None,
        }
    }

    /// Copies x, y, z and inverse mass of each particle side by side.
    pub(in crate::solver) fn pack(&self, workers: &mut Workers, to: &mut Vec<[f32; 4]>) {
        to.resize(self.w.len(), [0.0; 4]);
        pack(workers, [self.x, self.y, self.z, self.w], to);
    }
}

/// Copies four planes side by side.
pub(in crate::solver) fn pack(workers: &mut Workers, planes: [&[f32]; 4], to: &mut [[f32; 4]]) {
    let parts = to.chunks_mut(PARTICLES_PER_PART);
    let [x, y, z, w] = planes.map(|plane| plane.chunks(PARTICLES_PER_PART));
    let parts = parts.zip(x).zip(y).zip(z).zip(w);
    workers.for_each_part(parts, |((((to, x), y), z), w)| {
        let (x, x_tail) = x.as_chunks::<4>();
        let (y, y_tail) = y.as_chunks::<4>();
        let (z, z_tail) = z.as_chunks::<4>();
        let (w, w_tail) = w.as_chunks::<4>();
        let (fours, tail) = to.as_chunks_mut::<4>();
        for ((((to, x), y), z), w) in fours.iter_mut().zip(x).zip(y).zip(z).zip(w) {
            *to = transpose([x, y, z, w].map(|of| Vec4::from_array(*of))).map(|of| of.to_array());
        }
        for (i, to) in tail.iter_mut().enumerate() {
            *to = [x_tail[i], y_tail[i], z_tail[i], w_tail[i]];
        }
    });
}

/// Transposes four vectors x, y, z, w into four x, four y, …, and back.
#[inline(always)]
pub(in crate::solver) fn transpose(vectors: [Vec4; 4]) -> [Vec4; 4] {
    let [a, b, c, d] = vectors;
    let transposed = Mat4::from_cols(a, b, c, d).transpose();
    [
        transposed.x_axis,
        transposed.y_axis,
        transposed.z_axis,
        transposed.w_axis,
    ]
}

/// Regularization of a constraint system: the terms on its diagonal.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Regularization {
    /// α̃ = α/Δt²
    pub(in crate::solver) alpha: f32,
    /// Factor on the sum of inverse masses: 1/ω with the relaxation factor ω; for directly solved chains 1 plus their
    /// relative regularization.
    pub(in crate::solver) diagonal_scale: f32,
}

impl Regularization {
    /// Regularization of chains at their strain limit, enough for a chain that is taut between two pins.
    pub(in crate::solver) const STRAIN_LIMIT: Self = Self {
        alpha: 0.0,
        diagonal_scale: 1.0 + 1e-4,
    };
}

/// One pass over the constraints of a cloth: which kinds are solved, and their regularization. `None`: not solved.
#[derive(Clone, Copy)]
pub(in crate::solver) struct PassParams {
    /// Bends. Here α̃ is 1/(BΔt²), to be multiplied by the ρ of each bend.
    pub(in crate::solver) bend: Option<Regularization>,
    /// Bends act on displacements instead of positions, for damping.
    pub(in crate::solver) is_damping: bool,
    /// Diagonals.
    pub(in crate::solver) shear: Option<Regularization>,
    /// Diagonals of grids leave to the edges the stretch that both of a cell have in common.
    pub(in crate::solver) is_pure_shear: bool,
    /// Chains of edges.
    pub(in crate::solver) chains: Option<ChainParams>,
    /// Edges that belong to no chain.
    pub(in crate::solver) edges: Option<Regularization>,
    /// Chains are solved in reverse order: weft before warp in grids, the last chain batch first elsewhere.
    pub(in crate::solver) is_reversed: bool,
}

/// Parameters of the stretch constraints along chains.
#[derive(Clone, Copy)]
pub(in crate::solver) struct ChainParams {
    /// Chains along columns of grids, and all chains outside grids.
    pub(in crate::solver) warp: Regularization,
    /// Chains along rows of grids.
    pub(in crate::solver) weft: Regularization,
    /// Solves each chain at once, or every second link, then the others (Gauss–Seidel); `None` only limits the strain.
    pub(in crate::solver) solver: Option<StretchSolver>,
    /// Fraction of its correction that is applied to a directly solved chain.
    pub(in crate::solver) relaxation_factor: f32,
    /// Strain limit, if there is one.
    pub(in crate::solver) stretch_limit: Option<StretchLimit>,
}

/// Strain limit of chains.
#[derive(Clone, Copy)]
pub(in crate::solver) struct StretchLimit {
    /// Largest length of a link as a multiple of its rest length.
    pub(in crate::solver) ratio: f32,
    pub(in crate::solver) supported: Supported,
}

/// Mobility of particles at edges and tips of colliders, from which links lead into the collider.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::solver) enum Supported {
    /// As free as others.
    Free,
    /// Free along the surface.
    Slide,
    /// Not moved.
    Hold,
}
