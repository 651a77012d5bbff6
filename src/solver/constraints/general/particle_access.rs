//! Access to particles by index: in a packed copy, or in the SoA arrays.

use crate::solver::constraints::points::Points;
use bevy::math::{Mat4, Vec4};

/// Particles of a [`PackedWindow`]: as many as a 16-bit index addresses.
pub(super) const WINDOW: usize = 1 << 16;

/// Copy of all particles: x, y, z and inverse mass of each.
pub(super) type PackedParticles = Vec<[f32; 4]>;

/// Particles that can be loaded and stored one by one.
pub(super) trait ParticleAccess {
    /// Returns x, y, z and inverse mass of a particle.
    fn load(&self, particle: u32) -> Vec4;

    /// Sets the position of a particle. `point` must hold its unchanged inverse mass.
    fn store(&mut self, particle: u32, point: Vec4);
}

/// Copy of at most [`WINDOW`] particles in a buffer of that size: no 16-bit index lies outside, so accesses need
/// no bounds checks.
pub(super) struct PackedWindow<'a>(pub(super) &'a mut [[f32; 4]; WINDOW]);

impl ParticleAccess for PackedWindow<'_> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.0[usize::from(particle as u16)])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self.0[usize::from(particle as u16)] = point.to_array();
    }
}

/// Copy of any number of particles.
pub(super) struct PackedSlice<'a>(pub(super) &'a mut [[f32; 4]]);

impl ParticleAccess for PackedSlice<'_> {
    #[inline(always)]
    fn load(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.0[particle as usize])
    }

    #[inline(always)]
    fn store(&mut self, particle: u32, point: Vec4) {
        self.0[particle as usize] = point.to_array();
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

/// Copies all particles into the packed buffer.
#[inline(always)]
pub(super) fn copy(points: &Points, to: &mut PackedParticles) {
    let count = points.w.len();
    if to.len() < count.max(WINDOW) {
        // All zeros, so the operating system commits pages only when they are written.
        *to = vec![[0.0; 4]; count.max(WINDOW)];
    }
    let (x, x_tail) = points.x.as_chunks::<4>();
    let y = points.y.as_chunks::<4>().0;
    let z = points.z.as_chunks::<4>().0;
    let w = points.w.as_chunks::<4>().0;
    let (fours, _) = to[..count].as_chunks_mut::<4>();
    for ((((to, x), y), z), w) in fours.iter_mut().zip(x).zip(y).zip(z).zip(w) {
        *to = transpose([x, y, z, w].map(|of| Vec4::from_array(*of))).map(|of| of.to_array());
    }
    let tail = count - x_tail.len();
    for (i, to) in (tail..).zip(&mut to[tail..count]) {
        *to = [points.x[i], points.y[i], points.z[i], points.w[i]];
    }
}

/// Copies the positions from the packed buffer back.
#[inline(always)]
pub(super) fn write_back(from: &PackedParticles, points: &mut Points) {
    let count = points.w.len();
    let (fours, tail) = from[..count].as_chunks::<4>();
    let (x, _) = points.x.as_chunks_mut::<4>();
    let (y, _) = points.y.as_chunks_mut::<4>();
    let (z, _) = points.z.as_chunks_mut::<4>();
    for (((from, x), y), z) in fours.iter().zip(x).zip(y).zip(z) {
        let [nx, ny, nz, _] = transpose(from.map(Vec4::from_array)).map(|of| of.to_array());
        (*x, *y, *z) = (nx, ny, nz);
    }
    for (i, from) in (count - tail.len()..).zip(tail) {
        [points.x[i], points.y[i], points.z[i], _] = *from;
    }
}
