//! Per-frame rendering loops: from particles to render positions, unit normals and tangents.
//!
//! Positions are stored as [`Vec3A`], one SIMD register: triangles access them in an irregular order that wider
//! registers could not exploit.

#[cfg(test)]
use super::direction::direction;
use super::{direction::SHORTEST, tangents::TangentWeights};
use crate::solver::{
    Corners, ParticleArrays,
    simd::{Kernel, dispatch, select, soa::range},
    triangles::corners,
};
use bevy::math::{Mat3, Vec3, Vec3A};
use std::cell::RefCell;

/// Vectors processed together.
const BLOCK: usize = 64;

/// Interpolation time between the last two steps, and the space in which the cloth is rendered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderFrame<'a> {
    /// From 0 (start of the last step) to 1 (its end).
    pub alpha: f32,
    /// Vector from the origin of the render space to the origin of the particles, in world axes, m.
    pub offset: Vec3,
    /// Rotation and scale from world axes to the render space.
    pub to_frame: Mat3,
    /// Displacement of each particle from its interpolated position, in world axes, m; none for those beyond its length.
    pub shifts: &'a [Vec3],
}

impl RenderFrame<'_> {
    /// Writes the interpolated positions of the particles in this space. Returns the low and high corner of their
    /// bounding box, `None` without particles.
    pub fn transform(
        &self,
        particles: &ParticleArrays,
        positions: &mut Vec<Vec3A>,
    ) -> Option<(Vec3, Vec3)> {
        positions.resize(particles.len(), Vec3A::ZERO);
        self.transform_into(particles, positions)
    }

    /// Likewise, into a slice with one position per particle.
    pub(super) fn transform_into<P: From<Vec3>>(
        &self,
        particles: &ParticleArrays,
        positions: &mut [P],
    ) -> Option<(Vec3, Vec3)> {
        if particles.is_empty() {
            return None;
        }
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        dispatch(TransformParticles {
            frame: *self,
            particles,
            positions,
            bounds: &mut bounds,
        });
        let [low, high] = bounds.map(Vec3::from);
        Some((low, high))
    }

    /// First the small difference of two large numbers, then the rotation: far from the world's origin that
    /// preserves precision.
    #[inline(always)]
    fn interpolate(&self, from: Vec3, to: Vec3) -> Vec3 {
        self.to_frame * (from.lerp(to, self.alpha) + self.offset)
    }
}

struct TransformParticles<'a, P> {
    frame: RenderFrame<'a>,
    particles: &'a ParticleArrays,
    positions: &'a mut [P],
    bounds: &'a mut [[f32; 3]; 2],
}

impl<P: From<Vec3>> Kernel for TransformParticles<'_, P> {
    #[inline(always)]
    fn run(self) {
        let (from, to) = (&self.particles.previous, &self.particles.position);
        let mut block = [[0.0; BLOCK]; 3];
        let mut start = 0;
        for positions in self.positions.chunks_mut(BLOCK) {
            let here = start..start + positions.len();
            transform_block(
                self.frame,
                [&from.x, &from.y, &from.z].map(|plane| &plane[here.clone()]),
                [&to.x, &to.y, &to.z].map(|plane| &plane[here.clone()]),
                &mut block,
            );
            if let Some(shifts) = self.frame.shifts.get(start..) {
                for (k, shift) in shifts.iter().enumerate().take(positions.len()) {
                    let shift = self.frame.to_frame * *shift;
                    for (plane, shift) in block.iter_mut().zip(shift.to_array()) {
                        plane[k] += shift;
                    }
                }
            }
            for (axis, plane) in block.iter().enumerate() {
                let [low, high] = range(&plane[..positions.len()]);
                self.bounds[0][axis] = low.min(self.bounds[0][axis]);
                self.bounds[1][axis] = high.max(self.bounds[1][axis]);
            }
            for (k, position) in positions.iter_mut().enumerate() {
                *position = Vec3::new(block[0][k], block[1][k], block[2][k]).into();
            }
            start += BLOCK;
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let steps = (self.particles.previous.iter()).zip(self.particles.position.iter());
        for (i, (position, (from, to))) in self.positions.iter_mut().zip(steps).enumerate() {
            let shift = self.frame.shifts.get(i).copied().unwrap_or_default();
            let at = self.frame.interpolate(from, to) + self.frame.to_frame * shift;
            *position = at.into();
            for axis in 0..3 {
                // Adding 0 removes the sign of −0, as in `range`.
                self.bounds[0][axis] = at[axis].min(self.bounds[0][axis]) + 0.0;
                self.bounds[1][axis] = at[axis].max(self.bounds[1][axis]) + 0.0;
            }
        }
    }
}

#[inline(always)]
fn transform_block(
    frame: RenderFrame<'_>,
    [fx, fy, fz]: [&[f32]; 3],
    [tx, ty, tz]: [&[f32]; 3],
    [x, y, z]: &mut [[f32; BLOCK]; 3],
) {
    let n = fx.len().min(BLOCK);
    let (fy, fz) = (&fy[..n], &fz[..n]);
    let (tx, ty, tz) = (&tx[..n], &ty[..n], &tz[..n]);
    for k in 0..n {
        let from = Vec3::new(fx[k], fy[k], fz[k]);
        let to = Vec3::new(tx[k], ty[k], tz[k]);
        (x[k], y[k], z[k]) = frame.interpolate(from, to).into();
    }
}

/// Normalizes every vector; vectors without a direction become 0.
pub(super) fn normalize(vectors: &mut [Vec3A]) {
    dispatch(Normalize { vectors });
}

struct Normalize<'a> {
    vectors: &'a mut [Vec3A],
}

impl Kernel for Normalize<'_> {
    #[inline(always)]
    fn run(self) {
        let mut block = [[0.0; BLOCK]; 3];
        for vectors in self.vectors.chunks_mut(BLOCK) {
            for (k, vector) in vectors.iter().enumerate() {
                [block[0][k], block[1][k], block[2][k]] = vector.to_array();
            }
            normalize_block(&mut block, vectors.len());
            for (k, vector) in vectors.iter_mut().enumerate() {
                *vector = Vec3A::new(block[0][k], block[1][k], block[2][k]);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        for vector in self.vectors {
            *vector = direction(*vector).unwrap_or_default();
        }
    }
}

#[inline(always)]
fn normalize_block([x, y, z]: &mut [[f32; BLOCK]; 3], n: usize) {
    for k in 0..n.min(BLOCK) {
        let v = Vec3::new(x[k], y[k], z[k]);
        let inverse = 1.0 / v.length();
        let possible = (inverse > 0.0) & (inverse < 1.0 / SHORTEST);
        x[k] = select(possible, v.x * inverse, 0.0);
        y[k] = select(possible, v.y * inverse, 0.0);
        z[k] = select(possible, v.z * inverse, 0.0);
    }
}

/// Writes unit vectors to normals, or to tangents, whose handedness does not change. Without area there is no unit
/// vector, and the last one is kept.
pub(super) fn write_units<'a, const N: usize>(
    into: impl Iterator<Item = &'a mut [f32; N]>,
    units: impl Iterator<Item = Vec3A>,
) {
    for (numbers, unit) in into.zip(units) {
        if unit != Vec3A::ZERO {
            numbers[..3].copy_from_slice(&unit.to_array());
        }
    }
}

/// Adds a value per triangle to the sums of its corners. `value_of` computes it from the triangle's number and the
/// positions of its corners; `particle` and `target` map a vertex to its position and its sum.
#[inline(always)]
pub(super) fn add_to_corners<P: Copy + Into<Vec3A>>(
    positions: &[P],
    triangles: &Corners,
    particle: impl Fn(u32) -> u32,
    target: impl Fn(u32) -> u32,
    sums: &mut [Vec3A],
    value_of: impl Fn(usize, [Vec3A; 3]) -> Vec3A,
) {
    for (number, corners) in triangles.iter().enumerate() {
        let value = value_of(
            number,
            corners.map(|v| positions[particle(v) as usize].into()),
        );
        for vertex in corners {
            sums[target(vertex) as usize] += value;
        }
    }
}

/// Sliding windows over the vertices: most triangles touch vertices close to those of the previous triangles, so
/// sums are needed for only part of the vertices at a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VertexWindows {
    /// For each block of triangles, the first vertex touched by it or a later block, and the end of the vertices
    /// touched by it or an earlier one.
    ranges: Vec<[u32; 2]>,
    /// Size of the buffer of sums, in vertices.
    capacity: usize,
}

/// Smallest buffer, in vertices: a smaller one would only move sums more often.
const MIN_CAPACITY: usize = 1024;

impl VertexWindows {
    pub(super) fn new(triangles: &Corners, vertices: usize) -> Self {
        let mut scratch = [[0; 3]; corners::BLOCK];
        let mut ranges: Vec<[u32; 2]> = (0..triangles.blocks())
            .map(|number| {
                let block = triangles.block(number, &mut scratch).as_flattened();
                let low = block.iter().copied().min().unwrap_or(0);
                [low, block.iter().copied().max().unwrap_or(0) + 1]
            })
            .collect();
        let mut end = 0;
        for range in &mut ranges {
            end = end.max(range[1]);
            range[1] = end;
        }
        let mut first = u32::MAX;
        let mut widest = 0;
        for range in ranges.iter_mut().rev() {
            first = first.min(range[0]);
            range[0] = first;
            widest = widest.max((range[1] - first) as usize);
        }
        Self {
            ranges,
            // Whenever the buffer is full, the sums still needed are moved to the front.
            capacity: (4 * widest).max(MIN_CAPACITY).min(vertices),
        }
    }
}

/// Sums over the triangles of vertices, or of groups of vertices: their normals and tangents before normalization.
#[derive(Default)]
pub(super) struct VertexSums {
    pub(super) normal: Vec<Vec3A>,
    pub(super) tangent: Vec<Vec3A>,
}

thread_local! {
    /// Buffers of this CPU thread, shared by all cloths.
    static VERTEX_SUMS: RefCell<VertexSums> = RefCell::default();
}

/// Calls a function with the buffers of this CPU thread, whose length and contents are left from another cloth.
pub(super) fn with_vertex_sums(f: impl FnOnce(&mut VertexSums)) {
    VERTEX_SUMS.with_borrow_mut(f);
}

/// Computes the normals and tangents of a mesh whose vertices are particles, from positions already written.
pub(super) struct Shade<'a> {
    pub(super) triangles: &'a Corners,
    pub(super) vertex_windows: &'a VertexWindows,
    pub(super) positions: &'a [[f32; 3]],
    /// The tangent weights of the triangles, if tangents are needed.
    pub(super) weights: Option<&'a TangentWeights>,
    pub(super) sums: &'a mut VertexSums,
    pub(super) normals: Option<&'a mut [[f32; 3]]>,
    pub(super) tangents: Option<&'a mut [[f32; 4]]>,
}

impl Shade<'_> {
    pub(super) fn run(mut self) {
        let VertexSums { normal, tangent } = &mut *self.sums;
        for (sums, is_needed) in [(normal, true), (tangent, self.weights.is_some())] {
            // Not shortened for a small cloth: the next one may be large again.
            if is_needed && sums.len() < self.vertex_windows.capacity {
                sums.resize(self.vertex_windows.capacity, Vec3A::ZERO);
            }
        }
        let mut scratch = [[0; 3]; corners::BLOCK];
        // The range of vertices with sums in the buffer.
        let (mut from, mut end) = (0, 0);
        for (number, &[first, upto]) in self.vertex_windows.ranges.iter().enumerate() {
            let upto = upto as usize;
            if upto > end {
                if upto - from > self.vertex_windows.capacity {
                    let first = (first as usize).min(end);
                    self.finish_vertices(from, first, end);
                    from = first;
                }
                self.sums.normal[end - from..upto - from].fill(Vec3A::ZERO);
                if self.weights.is_some() {
                    self.sums.tangent[end - from..upto - from].fill(Vec3A::ZERO);
                }
                end = upto;
            }
            let block = self.triangles.block(number, &mut scratch);
            let position = |v: u32| Vec3A::from(self.positions[v as usize]);
            match self.weights {
                Some(weights) => {
                    for (k, corners) in block.iter().enumerate() {
                        let [a, b, c] = corners.map(position);
                        let (ab, ac) = (b - a, c - a);
                        let normal = ab.cross(ac);
                        let [along_ab, along_ac] = weights.at(number * corners::BLOCK + k);
                        let tangent = ab * along_ab + ac * along_ac;
                        for v in corners.map(|v| v as usize - from) {
                            self.sums.normal[v] += normal;
                            self.sums.tangent[v] += tangent;
                        }
                    }
                }
                None => {
                    for corners in block {
                        let [a, b, c] = corners.map(position);
                        let normal = (b - a).cross(c - a);
                        for v in corners.map(|v| v as usize - from) {
                            self.sums.normal[v] += normal;
                        }
                    }
                }
            }
        }
        self.finish_vertices(from, end, end);
    }

    /// Writes the vertices from `from` to `first`, whose sums are at the front of the buffer, and moves the sums
    /// from there to `end` to the front.
    fn finish_vertices(&mut self, from: usize, first: usize, end: usize) {
        let (done, kept) = (first - from, first - from..end - from);
        let VertexSums { normal, tangent } = &mut *self.sums;
        let sums = &mut normal[..done];
        normalize(sums);
        if let Some(normals) = &mut self.normals {
            write_units(normals.iter_mut().skip(from), sums.iter().copied());
        }
        if self.weights.is_some() {
            let tangents = &mut tangent[..done];
            for (tangent, normal) in tangents.iter_mut().zip(&*sums) {
                *tangent -= *normal * normal.dot(*tangent);
            }
            normalize(tangents);
            if let Some(all) = &mut self.tangents {
                write_units(all.iter_mut().skip(from), tangents.iter().copied());
            }
            tangent.copy_within(kept.clone(), 0);
        }
        normal.copy_within(kept, 0);
    }
}

#[cfg(test)]
mod tests;
