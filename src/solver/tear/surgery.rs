//! The operation: opens edges, divides triangles, and says what has changed.

use super::{
    adjacency::Adjacency,
    changes::{Changes, Corner, Fresh, Piece, Replaced},
    mend,
};
use crate::solver::{ConstraintGraph, ParticleArrays, Triangles};
use bevy::math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// The cloth that is operated on.
pub struct Sheet<'a> {
    /// Its state.
    pub particles: &'a mut ParticleArrays,
    /// What holds it together.
    pub constraints: &'a mut ConstraintGraph,
    /// Its surface.
    pub triangles: &'a mut Triangles,
    /// The place of each particle in the rest shape, in any frame and unit.
    pub rest: &'a mut Vec<Vec3>,
    /// Mean length of an edge when the cloth was whole, in the same unit: cuts make nothing much
    /// smaller.
    pub edge_length: f32,
}

/// An operation on a cloth. Constraints and particles are brought up to date by
/// [`finish`](Self::finish); what is dropped before has only changed the triangles.
pub struct Surgery<'a> {
    pub(super) sheet: Sheet<'a>,
    pub(super) adjacency: Adjacency,
    pub(super) old_particles: usize,
    pub(super) old_triangles: usize,
    pub(super) fresh: Vec<Fresh>,
    /// The corners that changed triangles had before.
    pub(super) before: BTreeMap<u32, [u32; 3]>,
    /// Whether an old triangle is among them: most that are asked about are not.
    is_changed: Vec<bool>,
    /// Divided triangles: the parts and where their corners are.
    pub(super) divided: BTreeMap<u32, Vec<(u32, [Corner; 3])>>,
    /// Old particles around which something changed.
    pub(super) touched: BTreeSet<u32>,
    pub(super) opened: Vec<[u32; 2]>,
}

/// What one opening has changed, to take it back.
pub(super) struct Opening {
    moved: Vec<(u32, usize, u32)>,
    fresh: usize,
    /// For each particle that became several: all of them.
    pub(super) sides: Vec<Vec<u32>>,
}

impl<'a> Surgery<'a> {
    /// Begins an operation.
    pub fn new(sheet: Sheet<'a>) -> Self {
        let (particles, triangles) = (sheet.particles.len(), sheet.triangles.indices.len());
        Self {
            adjacency: Adjacency::new(particles, sheet.triangles.indices.to_mut()),
            old_particles: particles,
            old_triangles: triangles,
            sheet,
            fresh: Vec::new(),
            before: BTreeMap::new(),
            is_changed: vec![false; triangles],
            divided: BTreeMap::new(),
            touched: BTreeSet::new(),
            opened: Vec::new(),
        }
    }

    /// Whether anything has opened or was divided so far.
    pub fn has_changed(&self) -> bool {
        !self.before.is_empty()
    }

    /// The constraints as they are before the end of the operation.
    pub fn constraints(&self) -> &ConstraintGraph {
        self.sheet.constraints
    }

    pub(super) fn corners(&self, triangle: u32) -> [u32; 3] {
        self.sheet.triangles.indices.at(triangle as usize)
    }

    /// The corners that an old triangle had before.
    pub(super) fn old_corners(&self, triangle: u32) -> [u32; 3] {
        let before = self.is_changed[triangle as usize].then(|| self.before.get(&triangle));
        match before.flatten() {
            Some(before) => *before,
            None => self.corners(triangle),
        }
    }

    /// What is now in the place of an old triangle, with the places of the corners on it.
    pub(super) fn parts(&self, triangle: u32) -> impl Iterator<Item = (u32, [Corner; 3])> {
        let parts = self.is_changed[triangle as usize].then(|| self.divided.get(&triangle));
        let parts = parts.flatten();
        let whole = parts
            .is_none()
            .then(|| (triangle, [0, 1, 2].map(Corner::at)));
        parts.into_iter().flatten().copied().chain(whole)
    }

    /// The triangles around a particle, in ascending order.
    pub(super) fn around(&self, particle: u32) -> Vec<u32> {
        let near = self.adjacency.near(particle);
        let mut all: Vec<u32> = near
            .filter(|&t| self.corners(t).contains(&particle))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The particle of the old cloth that this one is a copy of; itself if it is not a copy.
    pub(super) fn original(&self, mut particle: u32) -> u32 {
        while let Some(fresh) = self.fresh_of(particle)
            && fresh.parents[0] == fresh.parents[1]
        {
            particle = fresh.parents[0];
        }
        particle
    }

    fn fresh_of(&self, particle: u32) -> Option<&Fresh> {
        let number = (particle as usize).checked_sub(self.old_particles)?;
        self.fresh.get(number)
    }

    /// Makes a particle on the line between two others.
    pub(super) fn insert(&mut self, between: [u32; 2], share: f32) -> u32 {
        let [a, b] = between;
        self.fresh.push(Fresh {
            parents: between,
            share,
        });
        if a == b {
            self.adjacency.push_copy(a);
        } else {
            self.adjacency.push_new();
        }
        let rest = &mut *self.sheet.rest;
        rest.push(rest[a as usize].lerp(rest[b as usize], share));
        (rest.len() - 1) as u32
    }

    /// Gives a triangle other corners.
    pub(super) fn set_corners(&mut self, triangle: u32, corners: [u32; 3]) {
        let now = &mut self.sheet.triangles.indices.to_mut()[triangle as usize];
        if (triangle as usize) < self.old_triangles {
            self.before.entry(triangle).or_insert(*now);
            self.is_changed[triangle as usize] = true;
        }
        *now = corners;
    }

    /// Opens edges (pairs of particles, the lower number first): wherever the triangles around an
    /// end of them no longer hang together by other edges, the particle becomes several. The largest
    /// part keeps the old one.
    pub(super) fn open(&mut self, edges: &BTreeSet<[u32; 2]>) -> Opening {
        let ends: BTreeSet<u32> = edges.iter().flatten().copied().collect();
        // All parts are found before the first particle is copied: the edges name the old ones.
        let parts: Vec<(u32, Vec<Vec<u32>>)> = ends
            .into_iter()
            .map(|end| (end, self.parts_around(end, edges)))
            .filter(|(_, parts)| parts.len() > 1)
            .collect();
        let mut opening = Opening {
            moved: Vec::new(),
            fresh: self.fresh.len(),
            sides: Vec::new(),
        };
        for (particle, parts) in parts {
            let mut sides = vec![particle];
            for part in &parts[1..] {
                let copy = self.insert([particle; 2], 0.0);
                sides.push(copy);
                for &triangle in part {
                    let mut corners = self.corners(triangle);
                    for (k, corner) in corners.iter_mut().enumerate() {
                        if *corner == particle {
                            *corner = copy;
                            opening.moved.push((triangle, k, particle));
                        }
                    }
                    self.set_corners(triangle, corners);
                }
            }
            opening.sides.push(sides);
        }
        opening
    }

    /// Takes an opening back, as long as nothing came after it.
    pub(super) fn close(&mut self, opening: Opening) {
        for &(triangle, k, particle) in opening.moved.iter().rev() {
            self.sheet.triangles.indices.to_mut()[triangle as usize][k] = particle;
        }
        self.fresh.truncate(opening.fresh);
        self.adjacency.truncate(opening.fresh);
        self.sheet.rest.truncate(self.old_particles + opening.fresh);
        let triangles = &self.sheet.triangles.indices;
        let is_changed = &mut self.is_changed;
        self.before.retain(|&t, before| {
            is_changed[t as usize] = triangles.at(t as usize) != *before;
            is_changed[t as usize]
        });
    }

    /// Marks what has been opened for good.
    pub(super) fn keep(&mut self, opening: &Opening) {
        for side in opening.sides.iter().flatten() {
            self.touched.insert(self.original(*side));
        }
    }

    /// The triangles around a particle, in parts that hang together by edges at the particle that are
    /// not to be opened. The largest part comes first; of two as large the one with the lowest number.
    fn parts_around(&self, particle: u32, opened: &BTreeSet<[u32; 2]>) -> Vec<Vec<u32>> {
        let fan = self.around(particle);
        let mut part: Vec<usize> = (0..fan.len()).collect();
        let mut by_neighbour: BTreeMap<u32, usize> = BTreeMap::new();
        for (i, &triangle) in fan.iter().enumerate() {
            for neighbour in self.corners(triangle) {
                let edge = [particle.min(neighbour), particle.max(neighbour)];
                if neighbour == particle || opened.contains(&edge) {
                    continue;
                }
                if let Some(&other) = by_neighbour.get(&neighbour) {
                    let (from, to) = (part[i], part[other]);
                    part.iter_mut()
                        .filter(|p| **p == from)
                        .for_each(|p| *p = to);
                } else {
                    by_neighbour.insert(neighbour, i);
                }
            }
        }
        let mut parts: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (&triangle, part) in fan.iter().zip(part) {
            parts.entry(part).or_default().push(triangle);
        }
        let mut parts: Vec<_> = parts.into_values().collect();
        parts.sort_by_key(|part| (std::cmp::Reverse(part.len()), part[0]));
        parts
    }

    /// Whether the piece of cloth at a particle has at least so many triangles.
    pub(super) fn is_at_least(&self, particle: u32, triangles: usize) -> bool {
        let mut seen_particles = BTreeSet::from([particle]);
        let mut seen = BTreeSet::new();
        let mut waiting = vec![particle];
        while let Some(particle) = waiting.pop() {
            for triangle in self.around(particle) {
                if !seen.insert(triangle) {
                    continue;
                }
                if seen.len() >= triangles {
                    return true;
                }
                for corner in self.corners(triangle) {
                    if seen_particles.insert(corner) {
                        waiting.push(corner);
                    }
                }
            }
        }
        seen.len() >= triangles
    }

    /// Ends the operation: makes the particles, sorts out the constraints, and says what has changed.
    pub fn finish(mut self) -> Changes {
        for fresh in &self.fresh {
            self.sheet
                .particles
                .push_between(fresh.parents, fresh.share);
        }
        mend::constraints(&mut self);
        let areas = self.areas();
        let pieces_of = |triangle: u32| {
            let piece = |(triangle, corners): (u32, [Corner; 3])| Piece {
                triangle,
                corners,
                particles: self.corners(triangle),
            };
            self.parts(triangle).map(piece).collect()
        };
        Changes {
            replaced: self
                .before
                .iter()
                .map(|(&triangle, &before)| Replaced {
                    triangle,
                    before,
                    pieces: pieces_of(triangle),
                })
                .collect(),
            fresh: self.fresh,
            opened: self.opened,
            areas,
        }
    }

    /// The area of each particle around which something changed: a third of each triangle at it.
    fn areas(&self) -> Vec<(u32, f32)> {
        let changed = self.before.keys().flat_map(|t| {
            let parts = self.divided.get(t).into_iter().flatten();
            parts.map(|(part, _)| *part).chain([*t])
        });
        let mut particles: BTreeSet<u32> = changed.flat_map(|t| self.corners(t)).collect();
        particles.extend(&self.touched);
        let area = |i: u32| {
            let fan = self.around(i);
            let sum: f32 = fan
                .iter()
                .map(|&t| self.sheet.triangles.rest_area[t as usize] / 3.0)
                .sum();
            sum.max(SMALLEST_AREA)
        };
        particles.into_iter().map(|i| (i, area(i))).collect()
    }
}

/// A particle that has only triangles without area must still have a mass, m².
const SMALLEST_AREA: f32 = 1e-9;
