//! The loops that draw cloth in every frame: from particles to places, unit normals and tangents.
//!
//! Places are kept as [`Vec3A`], which is one SIMD register: triangles read and add to them in no
//! order that a wider register could use.

use super::tangents::TangentWeights;
use crate::solver::{
    Corners, ParticleArrays, corners,
    simd::{Kernel, dispatch, select},
    soa::range,
};
use bevy::math::{Mat3, Vec3, Vec3A};

/// Vectors that are worked on at once.
const BLOCK: usize = 64;

/// A moment between the last two steps, and the frame in which the cloth is drawn then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// From 0 (when the last step began) to 1 (its end).
    pub alpha: f32,
    /// From the origin of the frame to that of the particles, in world axes, m.
    pub offset: Vec3,
    /// Turns and scales world axes into those of the frame.
    pub to_frame: Mat3,
}

impl Frame {
    /// Writes where the particles are in this frame to `places`. Returns the corners of the box
    /// around them, `None` if there are none.
    pub fn place(
        &self,
        particles: &ParticleArrays,
        places: &mut Vec<Vec3A>,
    ) -> Option<(Vec3, Vec3)> {
        places.resize(particles.len(), Vec3A::ZERO);
        self.place_into(particles, places)
    }

    /// The same for as many places as there are particles.
    pub(super) fn place_into<P: From<Vec3>>(
        &self,
        particles: &ParticleArrays,
        places: &mut [P],
    ) -> Option<(Vec3, Vec3)> {
        if particles.is_empty() {
            return None;
        }
        let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
        dispatch(Place {
            frame: *self,
            particles,
            places,
            bounds: &mut bounds,
        });
        let [low, high] = bounds.map(Vec3::from);
        Some((low, high))
    }

    /// First the small difference between two large numbers, then the rotation: far from the world's
    /// origin that keeps the digits.
    #[inline(always)]
    fn of(&self, from: Vec3, to: Vec3) -> Vec3 {
        self.to_frame * (from.lerp(to, self.alpha) + self.offset)
    }
}

struct Place<'a, P> {
    frame: Frame,
    particles: &'a ParticleArrays,
    places: &'a mut [P],
    bounds: &'a mut [[f32; 3]; 2],
}

impl<P: From<Vec3>> Kernel for Place<'_, P> {
    #[inline(always)]
    fn run(self) {
        let (from, to) = (&self.particles.previous, &self.particles.position);
        let mut block = [[0.0; BLOCK]; 3];
        let mut start = 0;
        for places in self.places.chunks_mut(BLOCK) {
            let here = start..start + places.len();
            place_block(
                self.frame,
                [&from.x, &from.y, &from.z].map(|plane| &plane[here.clone()]),
                [&to.x, &to.y, &to.z].map(|plane| &plane[here.clone()]),
                &mut block,
            );
            for (axis, plane) in block.iter().enumerate() {
                let [low, high] = range(&plane[..places.len()]);
                self.bounds[0][axis] = low.min(self.bounds[0][axis]);
                self.bounds[1][axis] = high.max(self.bounds[1][axis]);
            }
            for (k, place) in places.iter_mut().enumerate() {
                *place = Vec3::new(block[0][k], block[1][k], block[2][k]).into();
            }
            start += BLOCK;
        }
    }

    fn run_scalar(self) {
        let steps = (self.particles.previous.iter()).zip(self.particles.position.iter());
        for (place, (from, to)) in self.places.iter_mut().zip(steps) {
            let at = self.frame.of(from, to);
            *place = at.into();
            for axis in 0..3 {
                // A 0 has no sign, as in `range`.
                self.bounds[0][axis] = at[axis].min(self.bounds[0][axis]) + 0.0;
                self.bounds[1][axis] = at[axis].max(self.bounds[1][axis]) + 0.0;
            }
        }
    }
}

#[inline(always)]
fn place_block(
    frame: Frame,
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
        (x[k], y[k], z[k]) = frame.of(from, to).into();
    }
}

/// Gives every vector length 1; those that have no direction become 0.
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

    fn run_scalar(self) {
        for vector in self.vectors {
            *vector = Vec3::from(*vector).normalize_or_zero().into();
        }
    }
}

#[inline(always)]
fn normalize_block([x, y, z]: &mut [[f32; BLOCK]; 3], n: usize) {
    for k in 0..n.min(BLOCK) {
        let v = Vec3::new(x[k], y[k], z[k]);
        let inverse = 1.0 / v.length();
        let possible = (inverse > 0.0) & (inverse < f32::INFINITY);
        x[k] = select(possible, v.x * inverse, 0.0);
        y[k] = select(possible, v.y * inverse, 0.0);
        z[k] = select(possible, v.z * inverse, 0.0);
    }
}

/// Adds to what belongs to each corner of each triangle what `of` makes of the places of its corners
/// and the triangle's number. `particle` and `target` say which place and which sum belong to a
/// vertex.
#[inline(always)]
pub(super) fn add_to_corners<P: Copy + Into<Vec3A>>(
    places: &[P],
    triangles: &Corners,
    particle: impl Fn(u32) -> u32,
    target: impl Fn(u32) -> u32,
    sums: &mut [Vec3A],
    of: impl Fn(usize, [Vec3A; 3]) -> Vec3A,
) {
    for (number, corners) in triangles.iter().enumerate() {
        let value = of(number, corners.map(|v| places[particle(v) as usize].into()));
        for vertex in corners {
            sums[target(vertex) as usize] += value;
        }
    }
}

/// How far one can get with a part of the vertices at a time: most triangles touch vertices near those
/// of the triangles before them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bands {
    /// For each block of triangles the first vertex that it or a later block touches, and the end of
    /// those that it or an earlier one does.
    ranges: Vec<[u32; 2]>,
    /// Room for so many vertices is enough.
    room: usize,
}

/// Room for so many vertices is always there: less would only mean moving sums about more often.
const ROOM: usize = 1024;

impl Bands {
    pub(super) fn new(triangles: &Corners, vertices: usize) -> Self {
        let mut room = [[0; 3]; corners::BLOCK];
        let mut ranges: Vec<[u32; 2]> = (0..triangles.blocks())
            .map(|number| {
                let block = triangles.block(number, &mut room).as_flattened();
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
            // What is still needed is moved to the front each time that the room is full.
            room: (4 * widest).max(ROOM).min(vertices),
        }
    }
}

/// Computes the normals and tangents of a mesh whose vertices are particles, from the positions that
/// were written already.
pub(super) struct Shade<'a> {
    pub(super) triangles: &'a Corners,
    pub(super) bands: &'a Bands,
    pub(super) positions: &'a [[f32; 3]],
    /// The tangents of triangles, if tangents are wanted.
    pub(super) weights: Option<&'a TangentWeights>,
    /// Room for sums over the triangles of each vertex.
    pub(super) normal_sums: &'a mut Vec<Vec3A>,
    pub(super) tangent_sums: &'a mut Vec<Vec3A>,
    pub(super) normals: Option<&'a mut [[f32; 3]]>,
    pub(super) tangents: Option<&'a mut [[f32; 4]]>,
}

impl Shade<'_> {
    pub(super) fn run(mut self) {
        self.normal_sums.resize(self.bands.room, Vec3A::ZERO);
        if self.weights.is_some() {
            self.tangent_sums.resize(self.bands.room, Vec3A::ZERO);
        }
        let mut room = [[0; 3]; corners::BLOCK];
        // The vertices whose sums are kept now.
        let (mut from, mut end) = (0, 0);
        for (number, &[first, upto]) in self.bands.ranges.iter().enumerate() {
            let upto = upto as usize;
            if upto > end {
                if upto - from > self.bands.room {
                    let first = (first as usize).min(end);
                    self.settle(from, first, end);
                    from = first;
                }
                self.normal_sums[end - from..upto - from].fill(Vec3A::ZERO);
                if self.weights.is_some() {
                    self.tangent_sums[end - from..upto - from].fill(Vec3A::ZERO);
                }
                end = upto;
            }
            let block = self.triangles.block(number, &mut room);
            let place = |v: u32| Vec3A::from(self.positions[v as usize]);
            match self.weights {
                Some(weights) => {
                    for (k, corners) in block.iter().enumerate() {
                        let [a, b, c] = corners.map(place);
                        let (ab, ac) = (b - a, c - a);
                        let normal = ab.cross(ac);
                        let [along_ab, along_ac] = weights.at(number * corners::BLOCK + k);
                        let tangent = ab * along_ab + ac * along_ac;
                        for v in corners.map(|v| v as usize - from) {
                            self.normal_sums[v] += normal;
                            self.tangent_sums[v] += tangent;
                        }
                    }
                }
                None => {
                    for corners in block {
                        let [a, b, c] = corners.map(place);
                        let normal = (b - a).cross(c - a);
                        for v in corners.map(|v| v as usize - from) {
                            self.normal_sums[v] += normal;
                        }
                    }
                }
            }
        }
        self.settle(from, end, end);
    }

    /// Writes the vertices from `from` to `first`, whose sums begin at the front. Those from there to
    /// `end` come to the front.
    fn settle(&mut self, from: usize, first: usize, end: usize) {
        let (done, kept) = (first - from, first - from..end - from);
        let sums = &mut self.normal_sums[..done];
        normalize(sums);
        if let Some(normals) = &mut self.normals {
            for (normal, unit) in normals.iter_mut().skip(from).zip(&*sums) {
                // Where there is no area there is no normal; the last one stays.
                if *unit != Vec3A::ZERO {
                    *normal = unit.to_array();
                }
            }
        }
        if self.weights.is_some() {
            let tangents = &mut self.tangent_sums[..done];
            for (tangent, normal) in tangents.iter_mut().zip(&*sums) {
                *tangent -= *normal * normal.dot(*tangent);
            }
            normalize(tangents);
            if let Some(all) = &mut self.tangents {
                for (tangent, unit) in all.iter_mut().skip(from).zip(&*tangents) {
                    if *unit != Vec3A::ZERO {
                        // The handedness of the texture does not change.
                        [tangent[0], tangent[1], tangent[2]] = unit.to_array();
                    }
                }
            }
            self.tangent_sums.copy_within(kept.clone(), 0);
        }
        self.normal_sums.copy_within(kept, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{SoaVec3, simd::levels::same_bits};
    use bevy::math::Quat;

    /// Many directions and lengths; none has its own.
    fn some(count: usize, seed: usize) -> SoaVec3 {
        let part = |k: usize| (k * seed % 103) as f32 * 0.07 - 3.5;
        (0..count)
            .map(|i| Vec3::new(part(i), part(i + 5), part(i + 70)))
            .collect()
    }

    fn bits(vectors: impl IntoIterator<Item = Vec3>) -> impl Iterator<Item = u32> {
        let parts = vectors.into_iter().flat_map(|v| v.to_array());
        parts.map(f32::to_bits)
    }

    #[test]
    fn particles_are_placed_alike_at_all_levels() {
        for count in [0, 1, 63, 64, 200] {
            let mut particles = ParticleArrays::new(Vec3::ZERO, some(count, 17), vec![1.0; count]);
            particles.position = some(count, 31);
            let turn = Mat3::from_quat(Quat::from_rotation_y(0.7));
            let frame = Frame {
                alpha: 0.3,
                offset: Vec3::new(0.1, -2.0, 5.0),
                to_frame: turn * 0.5,
            };
            same_bits(|| {
                let mut places = vec![Vec3A::ONE; 7];
                let bounds = frame.place(&particles, &mut places);
                assert_eq!((places.len(), bounds.is_none()), (count, count == 0));
                let (low, high) = bounds.unwrap_or_default();
                let inside = |v: &Vec3A| Vec3::from(*v).cmpge(low) & Vec3::from(*v).cmple(high);
                assert!(places.iter().all(|v| inside(v).all()));
                bits(places.into_iter().map(Vec3::from).chain([low, high])).collect()
            });
        }
    }

    #[test]
    fn vectors_get_length_1_alike_at_all_levels() {
        let mut vectors: Vec<Vec3A> = some(150, 17).iter().map(Vec3A::from).collect();
        vectors[3] = Vec3A::ZERO;
        vectors[70] = Vec3A::splat(f32::NAN);
        vectors[71] = Vec3A::X * f32::MAX;
        vectors[72] = Vec3A::X * 1e-30;
        let units = same_bits(|| {
            let mut vectors = vectors.clone();
            normalize(&mut vectors);
            bits(vectors.into_iter().map(Vec3::from)).collect()
        });
        let unit =
            |i: usize| Vec3::from_slice(&[0, 1, 2].map(|k| f32::from_bits(units[3 * i + k])));
        for i in 0..150 {
            let lost = [3, 70, 71, 72].contains(&i);
            let length = unit(i).length();
            assert!(
                if lost {
                    length == 0.0
                } else {
                    (length - 1.0).abs() < 1e-6
                },
                "{i}: {length}"
            );
        }
    }
}
