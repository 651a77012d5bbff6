//! Tethers: no particle gets farther from what holds it than the cloth between them is long (Kim,
//! Chentanez and Müller-Fischer, "Long Range Attachments - A Method to Simulate Inextensible Clothing
//! in Computer Games", 2012).
//!
//! Relaxation passes a pull on from thread to thread, so fine cloth hangs through at the few threads
//! that carry it all. A tether tells each particle at once. It only ever pulls, and only from a
//! pinned particle, so it leaves folds, swings and free cloth alone.

mod hold;

use super::{
    aligned::AlignedVec,
    geodesic::{Geodesics, MOST_ISLANDS, RestShape},
    particles::ParticleArrays,
    soa::SoaVec3,
};
pub use hold::hold_tethers;
pub(crate) use hold::hold_tethers_shared;

/// The tethers of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tethers {
    /// How many particles the cloth has.
    particles: usize,
    /// At most [`MOST_ISLANDS`], each with one tether for each particle.
    slots: Vec<Slot>,
    /// Where they lead, as they are computed: what is alike and stands together.
    pieces: Vec<Piece>,
    /// Where the pieces of each [`BLOCK`] particles end.
    ends: Vec<u32>,
    /// All anchors, in the order of their numbers.
    anchors: Vec<u32>,
}

/// How long one tether of each particle is. Those that have none have the length infinity.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    /// m
    length: AlignedVec,
}

/// Tethers of neighbouring particles of one block whose anchors are either the same or neighbours
/// too.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    slot: u32,
    /// The first of its particles.
    start: u32,
    count: u32,
    /// The anchor of the first: its place among all anchors. Neighbours are neighbours there too.
    anchor: u32,
    /// Whether the anchors are neighbours too.
    row: bool,
}

impl Piece {
    /// The anchor of one of its particles: its place among all anchors.
    fn anchor_at(&self, place: u32) -> u32 {
        self.anchor + if self.row { place } else { 0 }
    }
}

/// Particles whose corrections are summed up together.
const BLOCK: usize = 64;

impl Tethers {
    /// Ties each free particle of a cloth to the nearest pinned particle of each island of them, up to
    /// four. `pinned` are all pinned particles.
    pub fn new(shape: &RestShape, pinned: &[u32]) -> Self {
        Self::from_distances(&Geodesics::new(shape, pinned), shape, pinned)
    }

    /// The same with distances that are known already.
    pub fn from_distances(distances: &Geodesics, shape: &RestShape, pinned: &[u32]) -> Self {
        let count = distances.len().min(shape.positions.len());
        let mut is_free = vec![true; count];
        for &i in pinned {
            if let Some(free) = is_free.get_mut(i as usize) {
                *free = false;
            }
        }
        let mut slots: Vec<Slot> = Vec::new();
        let mut anchors: Vec<Vec<u32>> = Vec::new();
        for i in (0..count).filter(|&i| is_free[i]) {
            // Those of one island are together, as far as that is possible.
            let (mut taken, mut islands) = ([false; MOST_ISLANDS], [None; MOST_ISLANDS]);
            for reach in distances.of(i as u32) {
                if islands.contains(&Some(reach.island)) {
                    continue;
                }
                let wanted = reach.island as usize % MOST_ISLANDS;
                let free = (wanted..MOST_ISLANDS).chain(0..wanted).find(|&n| !taken[n]);
                let Some(slot) = free else { break };
                taken[slot] = true;
                islands[slot] = Some(reach.island);
                while slots.len() <= slot {
                    anchors.push(vec![0; count]);
                    slots.push(Slot {
                        length: AlignedVec::filled(count, f32::INFINITY),
                    });
                }
                anchors[slot][i] = reach.source;
                slots[slot].length[i] = length(shape, reach.distance, i, reach.source as usize);
            }
        }
        let mut tethers = Self {
            particles: count,
            slots,
            ..Self::default()
        };
        tethers.find_pieces(&anchors);
        tethers
    }

    /// `leads` are, for each slot, where the tether of each particle leads.
    fn find_pieces(&mut self, leads: &[Vec<u32>]) {
        for start in (0..self.particles).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.particles);
            for (number, slot) in self.slots.iter().enumerate() {
                let first = self.pieces.len();
                for i in (start..end).filter(|&i| slot.length[i] < f32::INFINITY) {
                    let anchor = leads[number][i];
                    if let [.., last] = &mut self.pieces[first..]
                        && last.start + last.count == i as u32
                    {
                        let row = anchor == last.anchor + last.count;
                        if (anchor == last.anchor && !last.row) || (row && last.row) {
                            last.count += 1;
                            continue;
                        }
                        // What the second one is decides about a piece.
                        if row && last.count == 1 {
                            last.count = 2;
                            last.row = true;
                            continue;
                        }
                    }
                    self.pieces.push(Piece {
                        slot: number as u32,
                        start: i as u32,
                        count: 1,
                        anchor,
                        row: false,
                    });
                }
            }
            self.ends.push(self.pieces.len() as u32);
        }
        let rows = self.pieces.iter().flat_map(|piece| {
            let count = if piece.row { piece.count } else { 1 };
            piece.anchor..piece.anchor + count
        });
        let mut anchors: Vec<u32> = rows.collect();
        anchors.sort_unstable();
        anchors.dedup();
        for piece in &mut self.pieces {
            piece.anchor = anchors.partition_point(|&anchor| anchor < piece.anchor) as u32;
        }
        self.anchors = anchors;
        self.pieces.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.anchors.shrink_to_fit();
    }

    /// The tethers of a particle: the particles that they lead to, and their lengths in m.
    pub fn of(&self, particle: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let block = particle as usize / BLOCK;
        let end = |block: usize| self.ends.get(block).map_or(0, |&end| end as usize);
        let first = block.checked_sub(1).map_or(0, end);
        let pieces = self.pieces.get(first..end(block)).unwrap_or_default();
        pieces.iter().filter_map(move |piece| {
            let place = particle.checked_sub(piece.start)?;
            (place < piece.count).then(|| {
                let anchor = self.anchors[piece.anchor_at(place) as usize];
                (anchor, self.length_at(piece, place))
            })
        })
    }

    /// The length of the tether of a particle of a piece.
    fn length_at(&self, piece: &Piece, place: u32) -> f32 {
        self.slots[piece.slot as usize].length[(piece.start + place) as usize]
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// By how much the tightest tether is longer than it ought to be: its length now over that at
    /// rest. 0 if there are none.
    pub fn tightness(&self, particles: &ParticleArrays) -> f32 {
        let mut largest = 0.0_f32;
        if self.particles > particles.len() {
            return largest;
        }
        for piece in &self.pieces {
            for place in 0..piece.count {
                let i = (piece.start + place) as usize;
                let length = self.length_at(piece, place);
                if length > 0.0 && !particles.is_pinned(i) {
                    let anchor = self.anchors[piece.anchor_at(place) as usize] as usize;
                    // NaN counts as nothing here; it is somebody else's to find.
                    largest = largest.max(apart(&particles.position, i, anchor) / length);
                }
            }
        }
        largest
    }
}

/// How long a tether is, m.
fn length(shape: &RestShape, distance: f64, particle: usize, anchor: usize) -> f32 {
    let distance = distance as f32;
    if shape.triangles.is_empty() {
        return distance;
    }
    // No way over a surface is shorter than the straight one, by the arithmetic that will be used: a
    // flat cloth at rest is not moved by a rounding error.
    distance.max(apart(shape.positions, particle, anchor))
}

fn apart(positions: &SoaVec3, i: usize, anchor: usize) -> f32 {
    let dx = positions.x[i] - positions.x[anchor];
    let dy = positions.y[i] - positions.y[anchor];
    let dz = positions.z[i] - positions.z[anchor];
    (dx * dx + dy * dy + dz * dz).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ConstraintGraph, ConstraintKind, simd::levels::same_bits};
    use bevy::math::Vec3;

    /// A rope along x with links of 1 m, some of its particles pinned.
    fn rope(count: u32, pinned: &[u32]) -> (ParticleArrays, Tethers) {
        let places: SoaVec3 = (0..count).map(|i| Vec3::X * i as f32).collect();
        let pairs: Vec<_> = (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        let constraints = ConstraintGraph::new(&places, &pairs);
        let shape = RestShape {
            positions: &places,
            triangles: &[],
            constraints: &constraints,
        };
        let tethers = Tethers::new(&shape, pinned);
        let mut w = vec![1.0; count as usize];
        pinned.iter().for_each(|&i| w[i as usize] = 0.0);
        (ParticleArrays::new(Vec3::ZERO, places, w), tethers)
    }

    #[test]
    fn what_is_too_far_comes_back_to_its_length() {
        let (mut p, tethers) = rope(3, &[0]);
        p.position.set(1, Vec3::new(0.0, -3.0, 0.0));
        p.position.set(2, Vec3::new(0.0, 0.0, 1.9));
        hold_tethers(&mut p, &tethers, 1.25);
        assert!(p.position.get(1).distance(Vec3::NEG_Y * 1.25) < 1e-6);
        assert_eq!(p.position.get(2), Vec3::new(0.0, 0.0, 1.9));
        assert_eq!(p.position.get(0), Vec3::ZERO);
        assert!((tethers.tightness(&p) - 1.25).abs() < 1e-6);
    }

    #[test]
    fn two_anchors_pull_by_the_mean() {
        let (mut p, tethers) = rope(9, &[0, 8]);
        assert_eq!(tethers.of(4).collect::<Vec<_>>(), [(0, 4.0), (8, 4.0)]);
        p.position.set(4, Vec3::new(4.0, -8.0, 0.0));
        hold_tethers(&mut p, &tethers, 1.0);
        // Both want it on the way to them, 4 m away; sideways they cancel out.
        let share = 4.0 / 80.0_f32.sqrt();
        let wanted = Vec3::new(4.0, -8.0 * share, 0.0);
        assert!(p.position.get(4).distance(wanted) < 1e-6);
        // Only one of them is too far away for this one.
        p.position.set(1, Vec3::new(3.0, -1.2, 0.0));
        let away = Vec3::new(3.0, -1.2, 0.0);
        hold_tethers(&mut p, &tethers, 1.0);
        assert!(p.position.get(1).distance(away.normalize()) < 1e-6);
    }

    #[test]
    fn pinned_particles_and_infinite_scales_are_left_alone() {
        let (mut p, tethers) = rope(3, &[0]);
        p.position.set(2, Vec3::X * 9.0);
        let before = p.position.clone();
        hold_tethers(&mut p, &tethers, f32::INFINITY);
        hold_tethers(&mut p, &Tethers::default(), 1.0);
        p.inverse_mass[2] = 0.0;
        hold_tethers(&mut p, &tethers, 1.0);
        assert_eq!(p.position, before);
        assert!(Tethers::default().is_empty());
        assert_eq!(Tethers::default().tightness(&p), 0.0);
    }

    #[test]
    fn tethers_of_another_cloth_hold_nothing() {
        let (_, tethers) = rope(30, &[0]);
        let (mut p, _) = rope(3, &[0]);
        p.position.set(2, Vec3::X * 9.0);
        hold_tethers(&mut p, &tethers, 1.0);
        assert_eq!(p.position.get(2), Vec3::X * 9.0);
    }

    /// A sheet of 40 × 7 particles, a row of them pinned and three elsewhere, crumpled.
    fn crumpled() -> (ParticleArrays, Tethers) {
        let places: SoaVec3 = (0..280)
            .map(|i| Vec3::new((i % 40) as f32, (i / 40) as f32, 0.0))
            .collect();
        let mut triangles = Vec::new();
        for i in (0..240_u32).filter(|i| i % 40 < 39) {
            triangles.push([i, i + 1, i + 40]);
            triangles.push([i + 1, i + 41, i + 40]);
        }
        let constraints = ConstraintGraph::default();
        let shape = RestShape {
            positions: &places,
            triangles: &triangles,
            constraints: &constraints,
        };
        let pinned: Vec<u32> = (0..25).chain([279, 245, 140]).collect();
        let tethers = Tethers::new(&shape, &pinned);
        let moved = places.iter().enumerate().map(|(i, v)| {
            let shake = Vec3::new((i * i % 13) as f32, (i % 7) as f32, (i % 5) as f32);
            v + shake * 0.3
        });
        let w = (0..280)
            .map(|i| f32::from(u8::from(!pinned.contains(&i))))
            .collect();
        (ParticleArrays::new(Vec3::ZERO, moved.collect(), w), tethers)
    }

    #[test]
    fn the_kernel_gives_the_bits_of_its_twin() {
        let (start, tethers) = crumpled();
        assert!(tethers.pieces.iter().any(|piece| piece.row));
        assert!(
            tethers
                .pieces
                .iter()
                .any(|piece| !piece.row && piece.count > 20)
        );
        assert_eq!(tethers.slots.len(), 4);
        let bits = same_bits(|| {
            let mut p = start.clone();
            hold_tethers(&mut p, &tethers, 1.01);
            hold_tethers(&mut p, &tethers, 1.0);
            p.position.bits().collect()
        });
        assert!(bits != start.position.bits().collect::<Vec<_>>());
    }
}
