//! Strands: threads of meshes that are no grid, side by side in bundles.

use super::places::{Places, turn};
use crate::solver::{
    aligned::AlignedVec,
    bend::{Bend, Hinge},
    constraints::{ConstraintKind, DistanceConstraint, distance},
    sheet::SheetSoftness,
    soa::SoaVec3,
    thread::{Links, ROOM, Tile},
};
use bevy::math::Vec4;

/// Lanes of a bundle: so many strands are solved side by side.
pub(super) const WIDTH: usize = 16;

/// Stands for the rest length of a constraint that is not there.
pub(super) const NONE: f32 = -1.0;

/// Strands of which no two share a particle, in lanes, and the constraints along them.
///
/// A lane may hold several strands, one behind the other, and is filled up with its last particle
/// again and again; a lane that is empty holds the first particle of the first one. When a bundle is
/// written back, from behind, each particle comes after all of these stand-ins.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Bundle {
    /// The particles of all lanes, row by row.
    particles: Vec<[u32; WIDTH]>,
    /// Bending and stretching, in solving order.
    pub(in crate::solver) lines: [Line; 2],
}

/// The constraints of one kind in a bundle: that of a row and a lane reaches from the particle there
/// to one that is farther on in that lane.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct Line {
    pub(in crate::solver) kind: ConstraintKind,
    /// Rest lengths, m, or of bends what they give, m², row by row; negative where there is no
    /// constraint.
    pub(in crate::solver) rest: AlignedVec,
    /// As in a batch: Lagrange multipliers of the running substep, or empty.
    pub(in crate::solver) lambda: AlignedVec,
    /// As in a batch: mean tension during the running step, N, or empty.
    pub(in crate::solver) load: AlignedVec,
}

impl Line {
    fn empty(kind: ConstraintKind, rows: usize) -> Self {
        Self {
            kind,
            rest: AlignedVec::filled(rows.saturating_sub(Self::reach_of(kind)) * WIDTH, NONE),
            lambda: AlignedVec::new(),
            load: AlignedVec::new(),
        }
    }

    fn reach_of(kind: ConstraintKind) -> usize {
        match kind {
            ConstraintKind::Bend => 2,
            ConstraintKind::Structural | ConstraintKind::Shear => 1,
        }
    }

    fn reach(&self) -> usize {
        Self::reach_of(self.kind)
    }

    /// How many constraints it has.
    pub(in crate::solver) fn len(&self) -> usize {
        self.rest.iter().filter(|&&rest| rest >= 0.0).count()
    }

    /// Removes a constraint.
    pub(in crate::solver) fn remove(&mut self, index: usize) {
        self.rest[index] = NONE;
    }

    fn links(&mut self) -> Links<'_, WIDTH> {
        Links {
            rest: self.rest.as_chunks().0,
            lambda: self.lambda.as_chunks_mut().0,
        }
    }
}

impl Bundle {
    /// A bundle of these lanes, without constraints.
    pub(super) fn new(lanes: &[Vec<u32>; WIDTH]) -> Self {
        let rows = lanes.iter().map(Vec::len).max().unwrap_or(0);
        let first = lanes.iter().flatten().next().copied().unwrap_or(0);
        let in_lane = |row: usize, lane: &Vec<u32>| {
            let last = lane.last().copied().unwrap_or(first);
            lane.get(row).copied().unwrap_or(last)
        };
        let kinds = [ConstraintKind::Bend, ConstraintKind::Structural];
        Self {
            particles: (0..rows)
                .map(|row| std::array::from_fn(|lane| in_lane(row, &lanes[lane])))
                .collect(),
            lines: kinds.map(|kind| Line::empty(kind, rows)),
        }
    }

    /// The particle of a row and a lane.
    fn at(&self, row: usize, lane: usize) -> Option<u32> {
        self.particles.get(row).map(|row| row[lane])
    }

    /// Takes in the constraint of a row and a lane.
    pub(super) fn set(&mut self, kind: ConstraintKind, row: usize, lane: usize, rest: f32) {
        let lines = self.lines.iter_mut();
        for line in lines.filter(|line| line.kind == kind) {
            line.rest[row * WIDTH + lane] = rest;
        }
    }

    /// The particles of a constraint.
    fn pair(&self, line: &Line, index: usize) -> [u32; 2] {
        let [row, lane] = [index / WIDTH, index % WIDTH];
        [row, row + line.reach()].map(|row| self.particles[row][lane])
    }

    /// A stored constraint.
    pub(in crate::solver) fn constraint(&self, line: &Line, index: usize) -> DistanceConstraint {
        DistanceConstraint {
            kind: line.kind,
            particles: self.pair(line, index),
            rest_length: line.rest[index],
            over: self.bend(line, index).map(|bend| bend.over),
        }
    }

    /// The bend of a row and a lane, if the line is one of bends.
    fn bend(&self, line: &Line, index: usize) -> Option<Bend> {
        let [row, lane] = [index / WIDTH, index % WIDTH];
        let own = [row, row + 1, row + 2];
        (line.kind == ConstraintKind::Bend)
            .then(|| Bend::along(own.map(|row| self.particles[row][lane])))
    }

    /// A bend that is there.
    pub(in crate::solver) fn hinge(&self, line: &Line, index: usize) -> Option<Hinge> {
        let bend = self.bend(line, index)?;
        let [a, b] = bend.ends;
        Some(Hinge::plain([a, bend.over[0], b], line.rest[index]))
    }

    /// Lets each bend be measured anew.
    pub(in crate::solver) fn measure_bends(&mut self, measure: &mut impl FnMut(Bend, &mut f32)) {
        for number in 0..self.lines.len() {
            for index in 0..self.lines[number].rest.len() {
                let line = &self.lines[number];
                if line.rest[index] >= 0.0
                    && let Some(bend) = self.bend(line, index)
                {
                    measure(bend, &mut self.lines[number].rest[index]);
                }
            }
        }
    }

    /// The constraints of a line, and where each is stored.
    pub(in crate::solver) fn along<'a>(
        &'a self,
        line: &'a Line,
    ) -> impl Iterator<Item = (usize, DistanceConstraint)> + 'a {
        let there = (0..line.rest.len()).filter(|&index| line.rest[index] >= 0.0);
        there.map(|index| (index, self.constraint(line, index)))
    }

    /// All its constraints.
    pub(in crate::solver) fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let lines = self.lines.iter();
        lines.flat_map(|line| self.along(line).map(|(_, constraint)| constraint))
    }

    /// How many constraints it has.
    pub(in crate::solver) fn len(&self) -> usize {
        self.lines.iter().map(Line::len).sum()
    }

    /// How many it has room for.
    pub(super) fn room(&self) -> usize {
        self.lines.iter().map(|line| line.rest.len()).sum()
    }

    /// Removes what is not to be kept.
    pub(in crate::solver) fn retain(&mut self, mut keep: impl FnMut(&DistanceConstraint) -> bool) {
        for number in 0..self.lines.len() {
            for index in 0..self.lines[number].rest.len() {
                let line = &self.lines[number];
                if line.rest[index] >= 0.0 && !keep(&self.constraint(line, index)) {
                    self.lines[number].remove(index);
                }
            }
        }
    }

    /// Takes the distances between particles at these positions as the new rest lengths.
    pub(in crate::solver) fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for number in 0..self.lines.len() {
            if self.lines[number].kind == ConstraintKind::Bend {
                continue;
            }
            for index in 0..self.lines[number].rest.len() {
                let [a, b] = self.pair(&self.lines[number], index);
                let rest = &mut self.lines[number].rest[index];
                if *rest >= 0.0 {
                    *rest = distance(positions, a, b);
                }
            }
        }
    }

    /// Whether it is as long as it should be, and has no other particles than these.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let rows = self.particles.len();
        let ends = self.particles.as_flattened();
        let lines = self
            .lines
            .iter()
            .zip([ConstraintKind::Bend, ConstraintKind::Structural]);
        ends.iter().all(|&i| (i as usize) < particles)
            && lines.into_iter().all(|(line, kind)| {
                let len = rows.saturating_sub(line.reach()) * WIDTH;
                let optional = |numbers: &[f32]| numbers.is_empty() || numbers.len() == len;
                line.kind == kind
                    && line.rest.len() == len
                    && optional(&line.lambda)
                    && optional(&line.load)
            })
    }

    /// Solves all its constraints once.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        places: &mut impl Places,
        soft: &SheetSoftness,
        room: &mut Room,
    ) {
        let rows = self.particles.len();
        for (room, numbers) in [(&mut room.tiles, 4), (&mut room.kept, ROOM)] {
            if room.len() < rows * numbers * WIDTH {
                room.resize(rows * numbers * WIDTH, 0.0);
            }
        }
        let (tiles, _) = room.tiles.as_chunks_mut::<WIDTH>();
        let (tiles, _): (&mut [Tile<WIDTH>], _) = tiles.as_chunks_mut();
        let tiles = &mut tiles[..rows];
        let (kept, _) = room.kept.as_chunks_mut();
        for (tile, row) in tiles.iter_mut().zip(&self.particles) {
            for (q, four) in row.as_chunks::<4>().0.iter().enumerate() {
                let turned = turn(four.map(|i| places.fetch(i)));
                for (axis, turned) in tile.iter_mut().zip(turned) {
                    axis[4 * q..4 * q + 4].copy_from_slice(&turned.to_array());
                }
            }
        }
        let [bends, threads] = &mut self.lines;
        if let Some(bend) = soft.bend {
            bends.links().bend(tiles, bend, true, kept);
        }
        if !soft.damping {
            threads.links().pull(tiles, soft, soft.warp, kept);
        }
        for (tile, row) in tiles.iter().zip(&self.particles).rev() {
            let (fours, _) = row.as_chunks::<4>();
            for q in (0..fours.len()).rev() {
                let lanes = [0, 1, 2, 3].map(|axis: usize| tile[axis].as_chunks::<4>().0[q]);
                let [a, b, c, d] = turn(lanes.map(Vec4::from_array));
                // The last lane first: the first lane is the one that counts.
                places.put(fours[q][3], d);
                places.put(fours[q][2], c);
                places.put(fours[q][1], b);
                places.put(fours[q][0], a);
            }
        }
    }

    /// The same, one strand after the other.
    pub(super) fn solve_singly(&mut self, places: &mut impl Places, soft: &SheetSoftness) {
        let rows = self.particles.len();
        for lane in 0..WIDTH {
            let own: Vec<u32> = self.particles.iter().map(|row| row[lane]).collect();
            let lane_of = |values: &[f32]| -> Vec<[f32; 1]> {
                values
                    .iter()
                    .skip(lane)
                    .step_by(WIDTH)
                    .map(|&v| [v])
                    .collect()
            };
            let mut tiles: Vec<Tile<1>> = own
                .iter()
                .map(|&i| places.fetch(i).to_array().map(|value| [value]))
                .collect();
            for line in &mut self.lines {
                let rest = lane_of(&line.rest);
                let mut lambda = lane_of(&line.lambda);
                let links = Links {
                    rest: &rest,
                    lambda: &mut lambda,
                };
                let mut kept = vec![[0.0; 1]; rows * ROOM];
                match (line.kind, soft.bend) {
                    (ConstraintKind::Bend, Some(bend)) => {
                        links.bend(&mut tiles, bend, true, &mut kept)
                    }
                    (ConstraintKind::Bend, None) => {}
                    _ if soft.damping => {}
                    _ => links.pull(&mut tiles, soft, soft.warp, &mut kept),
                }
                for (sum, [own]) in line.lambda.iter_mut().skip(lane).step_by(WIDTH).zip(lambda) {
                    *sum = own;
                }
            }
            let stands_in = |row: usize| match row {
                0 => lane > 0 && own[0] == self.particles[0][0],
                _ => own[row] == own[row - 1],
            };
            for (row, tile) in tiles.iter().enumerate().filter(|(row, _)| !stands_in(*row)) {
                places.put(own[row], tile.map(|[value]| value).into());
            }
        }
    }
}

/// Where particles are in bundles, to find the places of bends.
pub(in crate::solver) struct InStrands {
    /// Particle, bundle, row and lane, sorted.
    places: Vec<(u32, u32, u32, u32)>,
}

impl InStrands {
    pub(in crate::solver) fn new(bundles: &[Bundle]) -> Self {
        let mut places = Vec::new();
        for (number, bundle) in (0..).zip(bundles) {
            for (row, particles) in (0..).zip(&bundle.particles) {
                places.extend(
                    (0..)
                        .zip(particles)
                        .map(|(lane, &i)| (i, number, row, lane)),
                );
            }
        }
        places.sort_unstable();
        Self { places }
    }

    /// Puts the bend of an even and straight thread into the bundle along whose strand it is, if there is
    /// one and it has none there yet. Says whether it did.
    pub(in crate::solver) fn take(&mut self, bundles: &mut [Bundle], hinge: &Hinge) -> bool {
        let middle = hinge.at.over[0];
        let from = self.places.partition_point(|place| place.0 < middle);
        let own = self.places[from..].iter();
        for &(_, number, row, lane) in own.take_while(|place| place.0 == middle) {
            let bundle = &mut bundles[number as usize];
            let (row, lane) = (row as usize, lane as usize);
            let Some(before) = row.checked_sub(1) else {
                continue;
            };
            let (Some(a), Some(b)) = (bundle.at(before, lane), bundle.at(row + 1, lane)) else {
                continue;
            };
            let [bends, _] = &bundle.lines;
            let fits = [[a, b], [b, a]].contains(&hinge.at.ends);
            if fits && bends.rest[before * WIDTH + lane] < 0.0 {
                bundle.set(ConstraintKind::Bend, before, lane, hinge.give);
                return true;
            }
        }
        false
    }
}

/// Room for work.
pub(super) struct Room {
    tiles: AlignedVec,
    kept: AlignedVec,
}

impl Room {
    pub(super) const fn new() -> Self {
        Self {
            tiles: AlignedVec::new(),
            kept: AlignedVec::new(),
        }
    }
}
