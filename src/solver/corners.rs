//! The corners of triangles, in little memory.
//!
//! Most triangles of a cloth look like another one near by: a grid has two or four kinds of them,
//! however large it is. So the kinds are stored once, and of each triangle its kind and how far its
//! lowest corner is from the lowest one of its block: 2 bytes instead of 12. What has too many kinds,
//! or is in no order, is stored as a plain list; so is what is changed.

use std::sync::Arc;

/// Triangles that are unpacked at once.
pub(crate) const BLOCK: usize = 64;

/// Bits of a code that say which kind of triangle it is.
const KIND_BITS: u32 = 6;
const KINDS: usize = 1 << KIND_BITS;

/// A list of triangles: the particles, or vertices, at the corners of each. Copies share their
/// memory until one of them is changed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "Vec<[u32; 3]>", into = "Vec<[u32; 3]>")
)]
pub struct Corners {
    packed: Option<Arc<Packed>>,
    /// Empty while they are packed.
    listed: Arc<Vec<[u32; 3]>>,
}

#[derive(Debug)]
struct Packed {
    /// The lowest corner in each block.
    lowest: Vec<u32>,
    /// For each triangle how far its lowest corner is from that, and its kind.
    codes: Vec<u16>,
    /// For each kind how far its corners are from the lowest of them.
    kinds: [[u32; 3]; KINDS],
}

impl Packed {
    fn new(triangles: &[[u32; 3]]) -> Option<Self> {
        let mut packed = Self {
            lowest: Vec::with_capacity(triangles.len().div_ceil(BLOCK)),
            codes: Vec::with_capacity(triangles.len()),
            kinds: [[0; 3]; KINDS],
        };
        let mut known = 0;
        for block in triangles.chunks(BLOCK) {
            let first = *block.as_flattened().iter().min()?;
            packed.lowest.push(first);
            for corners in block {
                let low = corners[0].min(corners[1]).min(corners[2]);
                let offsets = corners.map(|i| i - low);
                let kind = packed.kinds[..known].iter().position(|k| *k == offsets);
                let kind = match kind {
                    Some(kind) => kind,
                    None if known < KINDS => {
                        packed.kinds[known] = offsets;
                        known += 1;
                        known - 1
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
    /// How many triangles there are.
    pub fn len(&self) -> usize {
        match &self.packed {
            Some(packed) => packed.codes.len(),
            None => self.listed.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The corners of a triangle. Panics if there is no such triangle, as slices do.
    pub fn at(&self, triangle: usize) -> [u32; 3] {
        match &self.packed {
            Some(packed) => packed.decode(packed.lowest[triangle / BLOCK], packed.codes[triangle]),
            None => self.listed[triangle],
        }
    }

    /// The triangles, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = [u32; 3]> + '_ {
        (0..self.len()).map(|triangle| self.at(triangle))
    }

    /// The triangles as a plain list.
    pub fn to_vec(&self) -> Vec<[u32; 3]> {
        self.iter().collect()
    }

    /// Some triangles, at most [`BLOCK`]; `room` may be used for them.
    #[inline(always)]
    pub(crate) fn unpack<'a>(
        &'a self,
        some: std::ops::Range<usize>,
        room: &'a mut [[u32; 3]; BLOCK],
    ) -> &'a [[u32; 3]] {
        let Some(packed) = &self.packed else {
            return &self.listed[some];
        };
        let codes = &packed.codes[some.clone()];
        for ((corners, &code), triangle) in room.iter_mut().zip(codes).zip(some) {
            *corners = packed.decode(packed.lowest[triangle / BLOCK], code);
        }
        &room[..codes.len()]
    }

    /// The triangles from number [`BLOCK`]·`number` on, as many as a block has.
    #[inline(always)]
    pub(crate) fn block<'a>(
        &'a self,
        number: usize,
        room: &'a mut [[u32; 3]; BLOCK],
    ) -> &'a [[u32; 3]] {
        self.unpack(BLOCK * number..(BLOCK * (number + 1)).min(self.len()), room)
    }

    /// How many blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        self.len().div_ceil(BLOCK)
    }

    /// Whether one of both was copied from the other and neither was changed since.
    pub(crate) fn is_copy_of(&self, other: &Self) -> bool {
        match (&self.packed, &other.packed) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            (None, None) => Arc::ptr_eq(&self.listed, &other.listed),
            _ => false,
        }
    }

    /// Whether nothing has been changed since it was made, and there was an order in it.
    pub(crate) fn is_packed(&self) -> bool {
        self.packed.is_some()
    }

    /// The triangles as a list that can be changed. They are no longer packed then.
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
        match Packed::new(&triangles) {
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

/// It does not matter how they are stored.
impl PartialEq for Corners {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The triangles of a grid, its quads cut in turns.
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

    fn assert_holds(corners: &Corners, triangles: &[[u32; 3]]) {
        assert_eq!(corners.to_vec(), triangles);
        let mut room = [[0; 3]; BLOCK];
        let mut all = Vec::new();
        for start in (0..triangles.len()).step_by(23) {
            let some = start..(start + 23).min(triangles.len());
            all.extend_from_slice(corners.unpack(some, &mut room));
        }
        assert_eq!(all, triangles);
        for (number, &triangle) in triangles.iter().enumerate() {
            assert_eq!(corners.at(number), triangle);
        }
    }

    #[test]
    fn grids_are_packed_and_come_out_as_they_were() {
        for (columns, rows) in [(2, 2), (9, 4), (70, 33), (2, 500), (500, 3)] {
            let triangles = grid(columns, rows);
            let corners = Corners::from(triangles.clone());
            assert!(corners.packed.is_some(), "{columns} × {rows}");
            assert_holds(&corners, &triangles);
        }
    }

    #[test]
    fn what_is_in_no_order_is_a_list() {
        let mut triangles = grid(40, 40);
        let count = triangles.len();
        (0..count).for_each(|i| triangles.swap(i, i * i * 7 % count));
        let corners = Corners::from(triangles.clone());
        assert!(corners.packed.is_none());
        assert_holds(&corners, &triangles);
        // More than 64 kinds.
        let fan: Vec<[u32; 3]> = (0..100).map(|i| [0, i + 1, 2 * i + 2]).collect();
        let corners = Corners::from(fan.clone());
        assert!(corners.packed.is_none());
        assert_holds(&corners, &fan);
        assert_holds(&Corners::default(), &[]);
        assert_holds(&Corners::from(Vec::new()), &[]);
    }

    #[test]
    fn a_change_concerns_one_copy() {
        let triangles = grid(9, 4);
        let mut corners = Corners::from(triangles.clone());
        let copy = corners.clone();
        corners.to_mut()[3] = [0, 100, 7];
        corners.to_mut().push([5, 6, 7]);
        assert_ne!(corners, copy);
        assert_holds(&copy, &triangles);
        let mut changed = triangles.clone();
        changed[3] = [0, 100, 7];
        changed.push([5, 6, 7]);
        assert_holds(&corners, &changed);
        corners.to_mut().pop();
        corners.to_mut()[3] = triangles[3];
        assert_eq!(corners, copy, "stored otherwise, it is the same");
    }
}
