//! Where particles are fetched from.

use crate::solver::relax::Points;
use bevy::math::{Mat4, Vec4};

/// Particles of a window: as many as can be told apart by 16 bits.
pub(super) const WINDOW: usize = 1 << 16;

/// x, y, z and inverse mass of each particle.
pub(super) type Copied = Vec<[f32; 4]>;

/// Particles that can be fetched and moved one by one.
pub(super) trait Places {
    /// x, y, z and inverse mass of a particle.
    fn fetch(&self, particle: u32) -> Vec4;

    /// Puts a particle somewhere else. Its inverse mass stays what it is.
    fn put(&mut self, particle: u32, place: Vec4);
}

/// A copy with room for [`WINDOW`] particles at least, of which there are not more: no number of
/// 16 bits lies outside, and none has to be checked.
pub(super) struct Window<'a>(pub(super) &'a mut [[f32; 4]; WINDOW]);

impl Places for Window<'_> {
    #[inline(always)]
    fn fetch(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.0[usize::from(particle as u16)])
    }

    #[inline(always)]
    fn put(&mut self, particle: u32, place: Vec4) {
        self.0[usize::from(particle as u16)] = place.to_array();
    }
}

/// A copy of any number of particles.
pub(super) struct Anywhere<'a>(pub(super) &'a mut [[f32; 4]]);

impl Places for Anywhere<'_> {
    #[inline(always)]
    fn fetch(&self, particle: u32) -> Vec4 {
        Vec4::from_array(self.0[particle as usize])
    }

    #[inline(always)]
    fn put(&mut self, particle: u32, place: Vec4) {
        self.0[particle as usize] = place.to_array();
    }
}

/// The particles themselves.
impl Places for Points<'_> {
    #[inline(always)]
    fn fetch(&self, particle: u32) -> Vec4 {
        let i = particle as usize;
        Vec4::new(self.x[i], self.y[i], self.z[i], self.w[i])
    }

    #[inline(always)]
    fn put(&mut self, particle: u32, place: Vec4) {
        let i = particle as usize;
        self.x[i] = place.x;
        self.y[i] = place.y;
        self.z[i] = place.z;
    }
}

/// Four vectors of x, y, z, w as four of x, four of y, …, and back.
#[inline(always)]
pub(super) fn turn(vectors: [Vec4; 4]) -> [Vec4; 4] {
    let [a, b, c, d] = vectors;
    let turned = Mat4::from_cols(a, b, c, d).transpose();
    [turned.x_axis, turned.y_axis, turned.z_axis, turned.w_axis]
}

/// Copies all particles.
#[inline(always)]
pub(super) fn copy(points: &Points, to: &mut Copied) {
    let count = points.w.len();
    if to.len() < count.max(WINDOW) {
        // All zeros: memory that nobody touches is not given out before it is.
        *to = vec![[0.0; 4]; count.max(WINDOW)];
    }
    let (x, x_tail) = points.x.as_chunks::<4>();
    let y = points.y.as_chunks::<4>().0;
    let z = points.z.as_chunks::<4>().0;
    let w = points.w.as_chunks::<4>().0;
    let (fours, _) = to[..count].as_chunks_mut::<4>();
    for ((((to, x), y), z), w) in fours.iter_mut().zip(x).zip(y).zip(z).zip(w) {
        *to = turn([x, y, z, w].map(|of| Vec4::from_array(*of))).map(|of| of.to_array());
    }
    let tail = count - x_tail.len();
    for (i, to) in (tail..).zip(&mut to[tail..count]) {
        *to = [points.x[i], points.y[i], points.z[i], points.w[i]];
    }
}

/// Takes the places over from the copy.
#[inline(always)]
pub(super) fn write_back(from: &Copied, points: &mut Points) {
    let count = points.w.len();
    let (fours, tail) = from[..count].as_chunks::<4>();
    let (x, _) = points.x.as_chunks_mut::<4>();
    let (y, _) = points.y.as_chunks_mut::<4>();
    let (z, _) = points.z.as_chunks_mut::<4>();
    for (((from, x), y), z) in fours.iter().zip(x).zip(y).zip(z) {
        let [nx, ny, nz, _] = turn(from.map(Vec4::from_array)).map(|of| of.to_array());
        (*x, *y, *z) = (nx, ny, nz);
    }
    for (i, from) in (count - tail.len()..).zip(tail) {
        [points.x[i], points.y[i], points.z[i], _] = *from;
    }
}
