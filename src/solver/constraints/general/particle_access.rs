//! Access to particles by index: in a packed copy, or in the SoA arrays.

use super::regions::{BLOCK, REGION};
use crate::solver::{
    constraints::points::Points,
    parallel::workers::{PARTICLES_PER_PART, Workers},
};
use bevy::math::{Mat4, Vec4};

/// Copy of all particles: x, y, z and inverse mass of each.
pub(super) type PackedParticles = Vec<[f32; 4]>;

/// Factor that masks the fourth component, so that inverse masses are not changed.
pub(super) const WITHOUT_MASS: Vec4 = Vec4::new(1.0, 1.0, 1.0, 0.0);

/// Particles that can be loaded and stored one by one.
pub(super) trait ParticleAccess {
    /// Returns x, y, z and inverse mass of a particle.
    fn load(&self, particle: u32) -> Vec4;

    /// Sets the position of a particle. `point` must hold its unchanged inverse mass.
    fn store(&mut self, particle: u32, point: Vec4);
}

/// Copy of the particles of a region, of which the first is `FIRST` or a multiple of [`REGION`] more. That is a power of two,
/// so accesses need no bounds checks.
pub(super) struct PackedRegion<'a, const FIRST: usize>(pub(super) &'a mut [[f32; 4]; REGION]);

impl<const FIRST: usize> ParticleAccess for PackedRegion<'_, FIRST> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.0[(particle as usize).wrapping_sub(FIRST) % REGION])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self.0[(particle as usize).wrapping_sub(FIRST) % REGION] = point.to_array();
    }
}

/// Copy of any number of particles.
impl ParticleAccess for PackedParticles {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self[particle as usize])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self[particle as usize] = point.to_array();
    }
}

/// Accesses the SoA arrays directly.
impl ParticleAccess for Points<'_> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        let i = particle as usize;
        Vec4::new(self.x[i], self.y[i], self.z[i], self.w[i])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        let i = particle as usize;
        self.x[i] = point.x;
        self.y[i] = point.y;
        self.z[i] = point.z;
    }
}

/// Transposes four vectors x, y, z, w into four x, four y, …, and back.
#[inline(always)]
pub(super) fn transpose(vectors: [Vec4; 4]) -> [Vec4; 4] {
    let [a, b, c, d] = vectors;
    let transposed = Mat4::from_cols(a, b, c, d).transpose();
    [
        transposed.x_axis,
        transposed.y_axis,
        transposed.z_axis,
        transposed.w_axis,
    ]
}

/// Copies all particles into the packed buffer, which is as long as the particles of all regions.
pub(super) fn copy(workers: &mut Workers, points: &Points, to: &mut PackedParticles) {
    let count = points.w.len();
    let len = count.next_multiple_of(REGION) + BLOCK;
    if to.len() < len {
        to.resize(len, [0.0; 4]);
    }
    let parts = to[..count].chunks_mut(PARTICLES_PER_PART);
    let planes = [&*points.x, points.y, points.z, points.w];
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

/// Copies the positions from the packed buffer back.
pub(super) fn write_back(workers: &mut Workers, from: &PackedParticles, points: &mut Points) {
    let parts = from[..points.w.len()].chunks(PARTICLES_PER_PART);
    let planes = [&mut *points.x, &mut *points.y, &mut *points.z];
    let [x, y, z] = planes.map(|plane| plane.chunks_mut(PARTICLES_PER_PART));
    workers.for_each_part(parts.zip(x).zip(y).zip(z), |(((from, x), y), z)| {
        let (fours, tail) = from.as_chunks::<4>();
        let (x, x_tail) = x.as_chunks_mut::<4>();
        let (y, y_tail) = y.as_chunks_mut::<4>();
        let (z, z_tail) = z.as_chunks_mut::<4>();
        for (((from, x), y), z) in fours.iter().zip(x).zip(y).zip(z) {
            let [nx, ny, nz, _] = transpose(from.map(Vec4::from_array)).map(|of| of.to_array());
            (*x, *y, *z) = (nx, ny, nz);
        }
        for (i, from) in tail.iter().enumerate() {
            [x_tail[i], y_tail[i], z_tail[i], _] = *from;
        }
    });
}
