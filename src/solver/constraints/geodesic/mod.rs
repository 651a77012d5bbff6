//! Geodesic distances over the rest shape: the distance of each particle from the pinned ones, along the cloth.
//!
//! Sources are pinned particles. A Dijkstra search with labels assigns each particle its distance to the nearest
//! of them; a label names its source, so a particle can have several. Over a triangle a front propagates as a
//! circle: from the distances of two corners to one source, the source is unfolded into the plane of the triangle,
//! and the distance of the third corner is measured in that plane (Novotni and Klein, "Computing Geodesic
//! Distances on Triangular Meshes", 2002). Where the straight line misses the edge between the two corners, the
//! path leads through one of them, which then becomes the centre of the continuing front (a pseudo-source in
//! Mitchell, Mount and Papadimitriou, 1987). Distances are therefore exact, except for rounding, on every
//! developable shape. Around holes and slits they are never too short; along the border of the region hidden from
//! a source, where a front has two centres, they are up to 2 % too long.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | distances and labels |
//! | `search` | propagation of the labels |
//! | `adjacency` | neighbours and triangles of each particle |
//! | `islands` | groups of sources |
//! | `repair` | update after a tear |
//! | `unfold` | the path over one triangle |

mod adjacency;
mod islands;
mod repair;
mod search;
#[cfg(test)]
mod tests;
mod unfold;

use crate::solver::{constraints::graph::ConstraintGraph, simd::soa::SoaVec3};
use adjacency::ParticleAdjacency;
use search::FrontQueue;
use std::collections::BTreeMap;

/// Largest number of islands with a distance per particle: the nearest ones.
pub(in crate::solver) const MAX_ISLANDS: usize = 4;

/// Rest shape on which distances are measured.
#[derive(Clone, Copy)]
pub struct RestShape<'a> {
    /// Rest positions of the particles, m.
    pub positions: &'a SoaVec3,
    /// Triangles of the surface. May be empty, as for ropes.
    pub triangles: &'a [[u32; 3]],
    /// Constraints, of which the structural ones are paths too, with their rest lengths.
    pub constraints: &'a ConstraintGraph,
}

/// Distance of a particle from a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeodesicDistance {
    /// Particle from which the distance is measured.
    pub source: u32,
    /// Island of the source: neighbouring sources have the same number.
    pub island: u32,
    /// Distance along the cloth, m.
    pub distance: f64,
}

/// Distances from sources to all particles, with the data needed to update them after a tear.
#[derive(Clone, Debug, Default)]
pub struct Geodesics {
    /// First label of each particle; [`NONE`] without any.
    first_label: Vec<u32>,
    labels: Vec<Label>,
    /// Source and next label of the same particle, for each label: the most frequently read data, stored
    /// contiguously.
    links: Vec<[u32; 2]>,
    /// During propagation: sources and indices of the first two labels of each particle, so that most lookups do
    /// not follow linked lists through memory.
    label_cache: Vec<[[u32; 2]; 2]>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Label {
    geodesic: GeodesicDistance,
    particle: u32,
    /// Centre of the front: the source, or the particle where the path bends around a hole or slit.
    pivot: u32,
    /// Distance of the centre from the source, m.
    base: f64,
    /// Particles from which the label propagated: one of them twice along an edge, the particle itself at a
    /// source.
    from: [u32; 2],
    state: LabelState,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LabelState {
    /// Not yet known to be among the nearest.
    Open,
    Settled,
    /// The particle has the maximum number of nearer labels; or, in a repair, the path no longer exists.
    Dropped,
}

impl Geodesics {
    /// Measures the distances from these particles. Particles that do not exist are left out.
    pub fn new(shape: &RestShape, sources: &[u32]) -> Self {
        let adjacency = ParticleAdjacency::new(shape);
        let mut new = Self {
            first_label: vec![NONE; shape.positions.len()],
            labels: Vec::with_capacity(shape.positions.len()),
            links: Vec::with_capacity(shape.positions.len()),
            label_cache: Vec::new(),
        };
        let mut front = FrontQueue::new();
        for (source, island) in islands::find(&adjacency, sources) {
            new.add_source(source, island, &mut front);
        }
        new.propagate(&adjacency, front);
        new.compact();
        new
    }

    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.first_label.len()
    }

    /// Returns whether there are no particles.
    pub fn is_empty(&self) -> bool {
        self.first_label.is_empty()
    }

    /// Returns the distances of a particle from its sources, nearest first.
    pub fn for_particle(&self, particle: u32) -> impl Iterator<Item = GeodesicDistance> + '_ {
        self.labels_of(particle)
            .map(|i| self.labels[i as usize].geodesic)
    }

    /// Returns the labels of a particle.
    fn labels_of(&self, particle: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self
            .first_label
            .get(particle as usize)
            .copied()
            .unwrap_or(NONE);
        let known = |i: u32| (i != NONE).then_some(i);
        std::iter::successors(known(first), move |&i| known(self.links[i as usize][1]))
    }

    fn find(&self, particle: u32, source: u32) -> Option<u32> {
        if let Some(first) = self.label_cache.get(particle as usize) {
            for &[of, label] in first {
                if of == source {
                    return Some(label);
                }
                if of == NONE {
                    return None;
                }
            }
        }
        self.labels_of(particle)
            .find(|&i| self.links[i as usize][0] == source)
    }

    /// Keeps only settled labels, sorted by distance.
    fn compact(&mut self) {
        let mut labels = Vec::with_capacity(self.labels.len());
        let mut links = Vec::with_capacity(self.labels.len());
        let mut own: Vec<Label> = Vec::new();
        for particle in 0..self.first_label.len() as u32 {
            own.clear();
            own.extend(
                self.labels_of(particle)
                    .map(|i| self.labels[i as usize])
                    .filter(|label| label.state == LabelState::Settled),
            );
            own.sort_unstable_by(|a, b| {
                let by_distance = a.geodesic.distance.total_cmp(&b.geodesic.distance);
                by_distance.then(a.geodesic.source.cmp(&b.geodesic.source))
            });
            let first = labels.len() as u32;
            let end = first + own.len() as u32;
            self.first_label[particle as usize] = if first < end { first } else { NONE };
            links.extend((first + 1..).zip(&own).map(|(next, label)| {
                let next = if next < end { next } else { NONE };
                [label.geodesic.source, next]
            }));
            labels.extend_from_slice(&own);
        }
        self.labels = labels;
        self.links = links;
        self.label_cache = Vec::new();
    }

    /// Updates the islands of all labels.
    fn set_islands(&mut self, islands: &BTreeMap<u32, u32>) {
        for label in &mut self.labels {
            if let Some(&island) = islands.get(&label.geodesic.source) {
                label.geodesic.island = island;
            }
        }
    }
}
