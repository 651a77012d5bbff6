//! Compressed corner indices of triangles.
//!
//! Most triangles of a cloth have the same index offsets as others nearby: a grid of any size has two or four
//! kinds of triangles. Each kind is stored once, and each triangle as its kind and the offset of its lowest
//! corner from the lowest corner of its block: 2 bytes instead of 12. Meshes with too many kinds or without
//! such an order, and lists that are changed, are stored as plain lists.

use crate::solver::simd::soa::SoaVec3;
use bevy::math::Vec3;
use std::sync::Arc;

/// Triangles per block, which are unpacked at once.
pub(crate) const BLOCK: usize = 64;

/// Bits of a code that hold the kind of the triangle.
const KIND_BITS: u32 = 6;
const KINDS: usize = 1 << KIND_BITS;

/// List of triangles: the indices of the particles, or vertices, at the corners of each. Copies share their
/// memory until one of them is changed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<[u32; 3]>", into = "Vec<[u32; 3]>")
)]
pub struct Corners {
    packed: Option<Arc<PackedCorners>>,
    /// Plain list, empty while the triangles are packed.
    listed: Arc<Vec<[u32; 3]>>,
}

#[derive(Debug)]
struct PackedCorners {
    /// Lowest corner of each block.
    lowest: Vec<u32>,
    /// Offset of the lowest corner of each triangle from that of its block, and its kind in the low bits.
    codes: Vec<u16>,
    /// Offsets of the corners of each kind from the lowest one.
    kinds: [[u32; 3]; KINDS],
}

impl PackedCorners {
    fn new(triangles: &[[u32; 3]]) -> Option<Self> {
        let mut packed = Self {
            lowest: Vec::with_capacity(triangles.len().div_ceil(BLOCK)),
            codes: Vec::with_capacity(triangles.len()),
            kinds: [[0; 3]; KINDS],
        };
        let mut kind_count = 0;
        for block in triangles.chunks(BLOCK) {
            let first = *block.as_flattened().iter().min()?;
            packed.lowest.push(first);
            for corners in block {
                let low = corners[0].min(corners[1]).min(corners[2]);
                let offsets = corners.map(|i| i - low);
                let kind = packed.kinds[..kind_count]
                    .iter()
                    .position(|k| *k == offsets);
                let kind = match kind {
                    Some(kind) => kind,
                    None if kind_count < KINDS => {
                        packed.kinds[kind_count] = offsets;
                        kind_count += 1;
                        kind_count - 1
                    }
                    None => return None,
                };
                let code = u64::from(low - first) << KIND_BITS | kind as u64;
                packed.codes.push(u16::try_from(code).ok()?);
            }
        }
        Some(packed)
    }

    #[inline(always)]
    fn decode(&self, lowest: u32, code: u16) -> [u32; 3] {
        let low = lowest + (u32::from(code) >> KIND_BITS);
        self.kinds[usize::from(code) % KINDS].map(|offset| low + offset)
    }
}

impl Corners {
    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        match &self.packed {
            Some(packed) => packed.codes.len(),
            None => self.listed.len(),
        }
    }

    /// Returns whether there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the corners of a triangle. Panics if the index is out of bounds, as slices do.
    pub fn at(&self, triangle: usize) -> [u32; 3] {
        match &self.packed {
            Some(packed) => packed.decode(packed.lowest[triangle / BLOCK], packed.codes[triangle]),
            None => self.listed[triangle],
        }
    }

    /// Iterates over the triangles in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        (0..self.len()).map(|triangle| self.at(triangle))
    }

    /// Iterates over the triangles of the first `count` particles in order. Leaves out triangles with other particles.
    pub(crate) fn within(&self, count: usize) -> impl Iterator<Item = [u32; 3]> + '_ {
        let is_within = move |corners: &[u32; 3]| corners.iter().all(|&i| (i as usize) < count);
        self.iter().filter(is_within)
    }

    /// Returns the length of the longest edge between particles at these positions, m; 0 without triangles.
    pub(crate) fn longest_edge(&self, positions: &SoaVec3) -> f32 {
        let squares = self.within(positions.len()).flat_map(|corners| {
            let [a, b, c] = corners.map(|i| positions.get(i as usize));
            [b - a, c - b, a - c].map(Vec3::length_squared)
        });
        squares.fold(0.0, f32::max).sqrt()
    }

    /// Returns the corners and the normal of each triangle of the particles at these positions; the normals are as long as twice
    /// the areas, m². Leaves out triangles with other particles.
    pub(crate) fn normals<'a>(
        &'a self,
        positions: &'a SoaVec3,
    ) -> impl Iterator<Item = ([usize; 3], Vec3)> + 'a {
        self.within(positions.len()).map(|corners| {
            let corners = corners.map(|i| i as usize);
            let [a, b, c] = corners.map(|i| positions.get(i));
            (corners, (b - a).cross(c - a))
        })
    }

    /// Returns the triangles as a plain list.
    pub fn to_vec(&self) -> Vec<[u32; 3]> {
        self.iter().collect()
    }

    /// Returns the triangles of a range of at most [`BLOCK`], unpacked into `buffer` if they are packed.
    #[inline(always)]
    pub(crate) fn unpack<'a>(
        &'a self,
        range: std::ops::Range<usize>,
        buffer: &'a mut [[u32; 3]; BLOCK],
    ) -> &'a [[u32; 3]] {
        let Some(packed) = &self.packed else {
            return &self.listed[range];
        };
        let codes = &packed.codes[range.clone()];
        for ((corners, &code), triangle) in buffer.iter_mut().zip(codes).zip(range) {
            *corners = packed.decode(packed.lowest[triangle / BLOCK], code);
        }
        &buffer[..codes.len()]
    }

    /// Returns the triangles of a block, from index [`BLOCK`]·`number` on.
    #[inline(always)]
    pub(crate) fn block<'a>(
        &'a self,
        number: usize,
        buffer: &'a mut [[u32; 3]; BLOCK],
    ) -> &'a [[u32; 3]] {
        self.unpack(
            BLOCK * number..(BLOCK * (number + 1)).min(self.len()),
            buffer,
        )
    }

    /// Returns the number of blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.len().div_ceil(BLOCK)
    }

    /// Returns whether both share their memory: one is a copy of the other and neither was changed since.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        match (&self.packed, &other.packed) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => Arc::ptr_eq(&self.listed, &other.listed),
            _ => false,
        }
    }

    /// Returns whether the triangles are stored packed.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// Returns the triangles as a list for changes. They are no longer packed afterwards.
    pub fn to_mut(&mut self) -> &mut Vec<[u32; 3]> {
        if self.packed.is_some() {
            *self = Self {
                listed: Arc::new(self.to_vec()),
                packed: None,
            };
        }
        Arc::make_mut(&mut self.listed)
    }
}

impl From<Vec<[u32; 3]>> for Corners {
    fn from(mut triangles: Vec<[u32; 3]>) -> Self {
        match PackedCorners::new(&triangles) {
            Some(packed) => Self {
                packed: Some(Arc::new(packed)),
                listed: Arc::default(),
            },
            None => {
                triangles.shrink_to_fit();
                Self {
                    packed: None,
                    listed: Arc::new(triangles),
                }
            }
        }
    }
}

impl From<Corners> for Vec<[u32; 3]> {
    fn from(corners: Corners) -> Self {
        corners.to_vec()
    }
}

/// Compares the triangles regardless of how they are stored.
impl PartialEq for Corners {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The triangles of a grid with alternating diagonals.
    fn grid(columns: u32, rows: u32) -> Vec<[u32; 3]> {
        let quads = (0..rows - 1).flat_map(|r| (0..columns - 1).map(move |c| (r, c)));
        let both = quads.flat_map(|(r, c)| {
            let [a, b] = [r * columns + c, r * columns + c + 1];
            let [d, e] = [a + columns, b + columns];
            if (r + c) % 2 == 0 {
                [[a, d, e], [a, e, b]]
            } else {
                [[a, d, b], [b, d, e]]
            }
        });
        both.collect()
    }

    fn assert_stores(corners: &Corners, triangles: &[[u32; 3]]) {
        assert_eq!(corners.to_vec(), triangles);
        let mut buffer = [[0; 3]; BLOCK];
        let mut all = Vec::new();
        for start in (0..triangles.len()).step_by(23) {
            let range = start..(start + 23).min(triangles.len());
            all.extend_from_slice(corners.unpack(range, &mut buffer));
        }
        assert_eq!(all, triangles);
        for (number, &triangle) in triangles.iter().enumerate() {
            assert_eq!(corners.at(number), triangle);
        }
    }

    #[test]
    fn grids_are_packed_without_loss() {
        for (columns, rows) in [(2, 2), (9, 4), (70, 33), (2, 500), (500, 3)] {
            let triangles = grid(columns, rows);
            let corners = Corners::from(triangles.clone());
            assert!(corners.packed.is_some(), "{columns} × {rows}");
            assert_stores(&corners, &triangles);
        }
    }

    #[test]
    fn unordered_triangles_are_stored_as_a_list() {
        let mut triangles = grid(40, 40);
        let count = triangles.len();
        (0..count).for_each(|i| triangles.swap(i, i * i * 7 % count));
        let corners = Corners::from(triangles.clone());
        assert!(corners.packed.is_none());
        assert_stores(&corners, &triangles);
        // More than 64 kinds.
        let fan: Vec<[u32; 3]> = (0..100).map(|i| [0, i + 1, 2 * i + 2]).collect();
        let corners = Corners::from(fan.clone());
        assert!(corners.packed.is_none());
        assert_stores(&corners, &fan);
        assert_stores(&Corners::default(), &[]);
        assert_stores(&Corners::from(Vec::new()), &[]);
    }

    #[test]
    fn a_change_affects_one_copy() {
        let triangles = grid(9, 4);
        let mut corners = Corners::from(triangles.clone());
        let copy = corners.clone();
        corners.to_mut()[3] = [0, 100, 7];
        corners.to_mut().push([5, 6, 7]);
        assert_ne!(corners, copy);
        assert_stores(&copy, &triangles);
        let mut changed = triangles.clone();
        changed[3] = [0, 100, 7];
        changed.push([5, 6, 7]);
        assert_stores(&corners, &changed);
        corners.to_mut().pop();
        corners.to_mut()[3] = triangles[3];
        assert_eq!(corners, copy, "stored otherwise, it is the same");
    }
}
