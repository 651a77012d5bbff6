//! The edit itself: splits edges, divides triangles, and records the changes.

use super::{
    adjacency::Adjacency,
    changes::{BoundaryPoint, NewParticle, TopologyChanges, TrianglePiece, TriangleReplacement},
    update_constraints,
};
use crate::solver::{ConstraintGraph, ParticleArrays, Triangles};
use bevy::math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of a cloth that an edit changes.
pub struct EditTarget<'a> {
    /// State of the particles.
    pub particles: &'a mut ParticleArrays,
    /// The constraints.
    pub constraints: &'a mut ConstraintGraph,
    /// The triangles.
    pub triangles: &'a mut Triangles,
    /// Position of each particle in the rest shape, in any frame and unit.
    pub rest: &'a mut Vec<Vec3>,
    /// Mean edge length of the intact cloth, in the same unit; cuts leave no much shorter edges.
    pub edge_length: f32,
}

/// Topology edit of a cloth. Until [`finish`](Self::finish) updates the constraints and particles, only the
/// triangles and rest positions change.
pub struct TopologyEdit<'a> {
    pub(super) target: EditTarget<'a>,
    pub(super) adjacency: Adjacency,
    pub(super) old_particles: usize,
    pub(super) old_triangles: usize,
    pub(super) new_particles: Vec<NewParticle>,
    /// Corners of the changed triangles before the edit.
    pub(super) corners_before: BTreeMap<u32, [u32; 3]>,
    /// Whether each old triangle is in `corners_before`; saves most of the look-ups.
    is_changed: Vec<bool>,
    /// Divided triangles: the pieces, with the positions of their corners on the old triangle.
    pub(super) divided: BTreeMap<u32, Vec<(u32, [BoundaryPoint; 3])>>,
    /// Old particles with changed triangles around them.
    pub(super) affected: BTreeSet<u32>,
    pub(super) opened_edges: Vec<[u32; 2]>,
}

/// Changes of one split, to undo it.
pub(super) struct Split {
    moved: Vec<(u32, usize, u32)>,
    new_particle_count: usize,
    /// For each split particle: the particle and all its copies.
    pub(super) sides: Vec<Vec<u32>>,
}

impl<'a> TopologyEdit<'a> {
    /// Begins an edit.
    pub fn new(target: EditTarget<'a>) -> Self {
        let (particles, triangles) = (target.particles.len(), target.triangles.indices.len());
        Self {
            adjacency: Adjacency::new(particles, target.triangles.indices.to_mut()),
            old_particles: particles,
            old_triangles: triangles,
            target,
            new_particles: Vec::new(),
            corners_before: BTreeMap::new(),
            is_changed: vec![false; triangles],
            divided: BTreeMap::new(),
            affected: BTreeSet::new(),
            opened_edges: Vec::new(),
        }
    }

    /// Returns whether any triangle has changed so far.
    pub(crate) fn has_changed(&self) -> bool {
        !self.corners_before.is_empty()
    }

    /// Returns the constraints as they are before [`finish`](Self::finish).
    pub fn constraints(&self) -> &ConstraintGraph {
        self.target.constraints
    }

    pub(super) fn corners(&self, triangle: u32) -> [u32; 3] {
        self.target.triangles.indices.at(triangle as usize)
    }

    /// Returns the corners of an old triangle before the edit.
    pub(super) fn old_corners(&self, triangle: u32) -> [u32; 3] {
        let before = self.is_changed[triangle as usize].then(|| self.corners_before.get(&triangle));
        match before.flatten() {
            Some(before) => *before,
            None => self.corners(triangle),
        }
    }

    /// Returns the triangles that now replace an old triangle, with the positions of their corners on it.
    pub(super) fn parts(&self, triangle: u32) -> impl Iterator<Item = (u32, [BoundaryPoint; 3])> {
        let parts = self.is_changed[triangle as usize].then(|| self.divided.get(&triangle));
        let parts = parts.flatten();
        let whole = parts
            .is_none()
            .then(|| (triangle, [0, 1, 2].map(BoundaryPoint::at)));
        parts.into_iter().flatten().copied().chain(whole)
    }

    /// Returns the old triangles that were at a particle, and possibly some at its copies.
    pub(super) fn old_triangles_near(&self, particle: u32) -> impl Iterator<Item = u32> + use<'_> {
        let near = self.adjacency.near(particle);
        near.filter(|&t| (t as usize) < self.old_triangles)
    }

    /// Returns the triangles around a particle, in ascending order.
    pub(super) fn triangles_around(&self, particle: u32) -> Vec<u32> {
        let near = self.adjacency.near(particle);
        let mut all: Vec<u32> = near
            .filter(|&t| self.corners(t).contains(&particle))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the first particle in the chain of copies that is not itself a copy.
    pub(super) fn source_particle(&self, mut particle: u32) -> u32 {
        while let Some(new) = self.new_particle(particle)
            && new.parents[0] == new.parents[1]
        {
            particle = new.parents[0];
        }
        particle
    }

    fn new_particle(&self, particle: u32) -> Option<&NewParticle> {
        let number = (particle as usize).checked_sub(self.old_particles)?;
        self.new_particles.get(number)
    }

    /// Inserts a particle on the line between two others.
    pub(super) fn insert_particle(&mut self, between: [u32; 2], fraction: f32) -> u32 {
        let [a, b] = between;
        self.new_particles.push(NewParticle {
            parents: between,
            fraction,
        });
        if a == b {
            self.adjacency.push_copy(a);
        } else {
            self.adjacency.push_new();
        }
        let rest = &mut *self.target.rest;
        rest.push(rest[a as usize].lerp(rest[b as usize], fraction));
        (rest.len() - 1) as u32
    }

    /// Sets the corners of a triangle, and remembers the old ones.
    pub(super) fn set_corners(&mut self, triangle: u32, corners: [u32; 3]) {
        let now = &mut self.target.triangles.indices.to_mut()[triangle as usize];
        if (triangle as usize) < self.old_triangles {
            self.corners_before.entry(triangle).or_insert(*now);
            self.is_changed[triangle as usize] = true;
        }
        *now = corners;
    }

    /// Splits edges (pairs of particles, the lower number first): wherever the triangles around an end of an edge
    /// are no longer connected by other edges, the particle is duplicated. The largest part keeps the old one.
    pub(super) fn split(&mut self, edges: &BTreeSet<[u32; 2]>) -> Split {
        let ends: BTreeSet<u32> = edges.iter().flatten().copied().collect();
        // Find all parts before the first particle is copied: the edges refer to the old particles.
        let parts: Vec<(u32, Vec<Vec<u32>>)> = ends
            .into_iter()
            .map(|end| (end, self.connected_parts(end, edges)))
            .filter(|(_, parts)| parts.len() > 1)
            .collect();
        let mut split = Split {
            moved: Vec::new(),
            new_particle_count: self.new_particles.len(),
            sides: Vec::new(),
        };
        for (particle, parts) in parts {
            let mut sides = vec![particle];
            for part in &parts[1..] {
                let copy = self.insert_particle([particle; 2], 0.0);
                sides.push(copy);
                for &triangle in part {
                    let mut corners = self.corners(triangle);
                    for (k, corner) in corners.iter_mut().enumerate() {
                        if *corner == particle {
                            *corner = copy;
                            split.moved.push((triangle, k, particle));
                        }
                    }
                    self.set_corners(triangle, corners);
                }
            }
            split.sides.push(sides);
        }
        split
    }

    /// Undoes a split; nothing may have been edited since.
    pub(super) fn undo(&mut self, split: Split) {
        for &(triangle, k, particle) in split.moved.iter().rev() {
            self.target.triangles.indices.to_mut()[triangle as usize][k] = particle;
        }
        self.new_particles.truncate(split.new_particle_count);
        self.adjacency.truncate(split.new_particle_count);
        self.target
            .rest
            .truncate(self.old_particles + split.new_particle_count);
        let triangles = &self.target.triangles.indices;
        let is_changed = &mut self.is_changed;
        self.corners_before.retain(|&t, before| {
            is_changed[t as usize] = triangles.at(t as usize) != *before;
            is_changed[t as usize]
        });
    }

    /// Keeps a split: marks its particles as affected.
    pub(super) fn commit(&mut self, split: &Split) {
        for side in split.sides.iter().flatten() {
            self.affected.insert(self.source_particle(*side));
        }
    }

    /// Groups the triangles around a particle into parts connected by edges at the particle other than
    /// `opened_edges`. The largest part comes first; of equally large parts, the one with the lowest triangle
    /// number.
    fn connected_parts(&self, particle: u32, opened_edges: &BTreeSet<[u32; 2]>) -> Vec<Vec<u32>> {
        let fan = self.triangles_around(particle);
        let mut part: Vec<usize> = (0..fan.len()).collect();
        let mut by_neighbour: BTreeMap<u32, usize> = BTreeMap::new();
        for (i, &triangle) in fan.iter().enumerate() {
            for neighbour in self.corners(triangle) {
                let edge = [particle.min(neighbour), particle.max(neighbour)];
                if neighbour == particle || opened_edges.contains(&edge) {
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

    /// Returns whether the connected piece of cloth at a particle has at least this number of triangles.
    pub(super) fn component_has_at_least(&self, particle: u32, triangles: usize) -> bool {
        let mut seen_particles = BTreeSet::from([particle]);
        let mut seen = BTreeSet::new();
        let mut waiting = vec![particle];
        while let Some(particle) = waiting.pop() {
            for triangle in self.triangles_around(particle) {
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

    /// Finishes the edit: creates the particles, updates the constraints, and returns the changes.
    pub fn finish(mut self) -> TopologyChanges {
        for new in &self.new_particles {
            self.target
                .particles
                .push_between(new.parents, new.fraction);
        }
        update_constraints::update_constraints(&mut self);
        let areas = self.areas();
        let pieces_of = |triangle: u32| {
            let piece = |(triangle, corners): (u32, [BoundaryPoint; 3])| TrianglePiece {
                triangle,
                corners,
                particles: self.corners(triangle),
            };
            self.parts(triangle).map(piece).collect()
        };
        TopologyChanges {
            replaced: self
                .corners_before
                .iter()
                .map(|(&triangle, &corners_before)| TriangleReplacement {
                    triangle,
                    corners_before,
                    pieces: pieces_of(triangle),
                })
                .collect(),
            new_particles: self.new_particles,
            opened_edges: self.opened_edges,
            areas,
        }
    }

    /// Returns the area of each particle with changed triangles around it: a third of each triangle at it.
    fn areas(&self) -> Vec<(u32, f32)> {
        let changed = self.corners_before.keys().flat_map(|t| {
            let parts = self.divided.get(t).into_iter().flatten();
            parts.map(|(part, _)| *part).chain([*t])
        });
        let mut particles: BTreeSet<u32> = changed.flat_map(|t| self.corners(t)).collect();
        particles.extend(&self.affected);
        let area = |i: u32| {
            let fan = self.triangles_around(i);
            let sum: f32 = fan
                .iter()
                .map(|&t| self.target.triangles.rest_area[t as usize] / 3.0)
                .sum();
            sum.max(SMALLEST_AREA)
        };
        particles.into_iter().map(|i| (i, area(i))).collect()
    }
}

/// Area of a particle with only degenerate triangles, which must still have a mass, m².
const SMALLEST_AREA: f32 = 1e-9;
