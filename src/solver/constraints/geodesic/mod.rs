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
//! | `mod` | labels, and the search |
//! | `adjacency` | neighbours and triangles of each particle |
//! | `islands` | groups of sources |
//! | `repair` | update after a tear |
//! | `unfold` | the path over one triangle |

mod adjacency;
mod islands;
mod repair;
#[cfg(test)]
mod tests;
mod unfold;

use crate::solver::{constraints::graph::ConstraintGraph, simd::soa::SoaVec3};
use adjacency::ParticleAdjacency;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};
use unfold::unfold;

/// Largest number of islands with a distance per particle: the nearest ones.
pub(in crate::solver) const MAX_ISLANDS: usize = 4;

/// Largest number of sources of one island per particle. Only the nearest one counts in the end, but where two are
/// almost equally near, a triangle needs the same source at both of its corners.
const MAX_SOURCES_PER_ISLAND: usize = 3;

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

/// Neighbour of the particle from which a label propagates.
#[derive(Clone, Copy)]
struct Neighbour {
    particle: u32,
    /// Distance from the particle, m.
    length: f64,
    /// Label for the same source; [`NONE`] without one.
    label: u32,
    /// Distance from the source, m, if that label is settled; otherwise infinite.
    distance: f64,
}

/// Queue of labels to propagate, nearest first. Distances are positive, so their bits have the order of the
/// values.
type FrontQueue = BinaryHeap<Reverse<(u64, u32)>>;

/// Largest number of bends that are followed back to find the common part of two paths.
const MAX_BENDS: usize = 8;

/// Relative improvement from which a path counts as shorter; without it, rounding would prolong the search.
const MIN_IMPROVEMENT: f64 = 1e-9;

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

    fn settled(&self, particle: u32, source: u32) -> Option<&Label> {
        let label = &self.labels[self.find(particle, source)? as usize];
        (label.state == LabelState::Settled).then_some(label)
    }

    fn add_source(&mut self, source: u32, island: u32, front: &mut FrontQueue) {
        let geodesic = GeodesicDistance {
            source,
            island,
            distance: 0.0,
        };
        let label = Label {
            geodesic,
            particle: source,
            pivot: source,
            base: 0.0,
            from: [source; 2],
            state: LabelState::Open,
        };
        self.offer(NONE, label, front);
    }

    /// Accepts a label if it is the first one for its source, or nearer than the known one. `known` is the index
    /// of the known label or [`NONE`]. Returns the index of the label.
    fn offer(&mut self, known: u32, label: Label, front: &mut FrontQueue) -> u32 {
        let index = if known == NONE {
            let particle = label.particle as usize;
            let index = self.labels.len() as u32;
            self.labels.push(label);
            self.links
                .push([label.geodesic.source, self.first_label[particle]]);
            self.first_label[particle] = index;
            if let Some(first) = self.label_cache.get_mut(particle)
                && let Some(free) = first.iter_mut().find(|[of, _]| *of == NONE)
            {
                *free = [label.geodesic.source, index];
            }
            index
        } else {
            if !self.improves(known, label.geodesic.distance) {
                return known;
            }
            let before = &mut self.labels[known as usize];
            *before = Label {
                state: before.state,
                ..label
            };
            known
        };
        front.push(Reverse((label.geodesic.distance.to_bits(), index)));
        index
    }

    /// Returns whether a distance is shorter than that of a label, if there is one.
    fn improves(&self, known: u32, distance: f64) -> bool {
        let Some(label) = self.labels.get(known as usize) else {
            return true;
        };
        distance < label.geodesic.distance * (1.0 - MIN_IMPROVEMENT)
            && label.state != LabelState::Dropped
    }

    /// Returns whether a particle may settle one more label.
    fn can_settle(&self, label: &Label) -> bool {
        // In most cases there is no other label yet.
        let first = self.label_cache.get(label.particle as usize);
        if first.is_some_and(|[_, second]| second[0] == NONE) {
            return true;
        }
        let mut islands = [NONE; MAX_ISLANDS];
        let (mut others, mut same) = (0, 0);
        for i in self.labels_of(label.particle) {
            let Label {
                geodesic, state, ..
            } = self.labels[i as usize];
            if state != LabelState::Settled {
                continue;
            }
            if geodesic.island == label.geodesic.island {
                same += 1;
            } else if !islands[..others].contains(&geodesic.island) {
                if others + 1 == MAX_ISLANDS {
                    return same > 0 && same < MAX_SOURCES_PER_ISLAND;
                }
                islands[others] = geodesic.island;
                others += 1;
            }
        }
        same < MAX_SOURCES_PER_ISLAND
    }

    /// Returns the centre of the front between two labels of one source, and its distance from the source: the
    /// last point common to both paths. A nearer centre would be a short cut that does not exist; a farther one,
    /// such as the source itself, only flattens the front.
    fn centre(&self, a: &Label, b: &Label) -> (u32, f64) {
        let (near, far) = if a.base <= b.base { (a, b) } else { (b, a) };
        let mut pivot = far.pivot;
        for _ in 0..MAX_BENDS {
            if pivot == near.pivot {
                return (near.pivot, near.base);
            }
            match self.settled(pivot, a.geodesic.source) {
                Some(label) if label.geodesic.distance > near.base => pivot = label.pivot,
                _ => break,
            }
        }
        (a.geodesic.source, 0.0)
    }

    /// Propagates labels until the queue is empty. A settled label may still improve: in an obtuse or right
    /// triangle, the far corner can be settled after particles behind it.
    fn propagate(&mut self, adjacency: &ParticleAdjacency, mut front: FrontQueue) {
        let mut neighbours: Vec<Neighbour> = Vec::new();
        self.label_cache = (0..self.first_label.len() as u32)
            .map(|particle| {
                let mut first = [[NONE; 2]; 2];
                for (free, label) in first.iter_mut().zip(self.labels_of(particle)) {
                    *free = [self.links[label as usize][0], label];
                }
                first
            })
            .collect();
        while let Some(Reverse((key, index))) = front.pop() {
            let label = self.labels[index as usize];
            if label.geodesic.distance.to_bits() != key || label.state == LabelState::Dropped {
                continue;
            }
            if label.state == LabelState::Open {
                let state = match self.can_settle(&label) {
                    true => LabelState::Settled,
                    false => LabelState::Dropped,
                };
                self.labels[index as usize].state = state;
                if state == LabelState::Dropped {
                    continue;
                }
            }
            let source = label.geodesic.source;
            neighbours.clear();
            for &(particle, length) in adjacency.neighbours(label.particle) {
                let known = self.find(particle, source).unwrap_or(NONE);
                neighbours.push(Neighbour {
                    particle,
                    length,
                    label: known,
                    distance: self.settled_distance(known),
                });
            }
            for [one, other] in adjacency.opposite_edges(label.particle) {
                for [a, b] in [[one, other], [other, one]].map(|edge| edge.map(|k| k as usize)) {
                    let (beside, to) = (neighbours[a], neighbours[b]);
                    // The front arrives from the nearest of the three corners.
                    let min_distance = label.geodesic.distance.min(beside.distance);
                    if beside.distance == f64::INFINITY || to.distance <= min_distance {
                        continue;
                    }
                    if let Some(over) =
                        self.label_over_triangle(adjacency, &label, beside.label, to)
                    {
                        let known = self.offer(to.label, over, &mut front);
                        neighbours[b].label = known;
                        neighbours[b].distance = self.settled_distance(known);
                    }
                }
            }
            for to in &neighbours {
                if self.improves(to.label, label.geodesic.distance + to.length) {
                    self.offer(to.label, label_along_edge(&label, to), &mut front);
                }
            }
        }
    }

    /// Returns the distance of a settled label, otherwise infinity.
    fn settled_distance(&self, index: u32) -> f64 {
        match self.labels.get(index as usize) {
            Some(label) if label.state == LabelState::Settled => label.geodesic.distance,
            _ => f64::INFINITY,
        }
    }

    /// Returns the label that a neighbour obtains over its triangle with two particles that both have a label of
    /// the same source, if it is an improvement.
    fn label_over_triangle(
        &self,
        adjacency: &ParticleAdjacency,
        label: &Label,
        beside: u32,
        to: Neighbour,
    ) -> Option<Label> {
        let beside = &self.labels[beside as usize];
        let centre = self.centre(label, beside);
        let over = unfold_label(adjacency, label, beside, centre, to.particle)?;
        self.improves(to.label, over.geodesic.distance)
            .then_some(over)
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

/// Returns the label that a particle obtains along an edge.
fn label_along_edge(label: &Label, to: &Neighbour) -> Label {
    Label {
        geodesic: GeodesicDistance {
            distance: label.geodesic.distance + to.length,
            ..label.geodesic
        },
        particle: to.particle,
        pivot: label.particle,
        base: label.geodesic.distance,
        from: [label.particle; 2],
        state: LabelState::Open,
    }
}

/// Returns the label that the third corner of a triangle obtains from two labels of the same source and the centre
/// of their front.
fn unfold_label(
    adjacency: &ParticleAdjacency,
    a: &Label,
    b: &Label,
    centre: (u32, f64),
    to: u32,
) -> Option<Label> {
    let (pivot, base) = centre;
    let [at_a, at_b, at] = [a.particle, b.particle, to].map(|i| adjacency.position(i));
    let radii = [a, b].map(|label| label.geodesic.distance - base);
    let radius = unfold([at_a, at_b], radii, at)?;
    Some(Label {
        geodesic: GeodesicDistance {
            distance: base + radius,
            ..a.geodesic
        },
        particle: to,
        pivot,
        base,
        from: [a.particle, b.particle],
        state: LabelState::Open,
    })
}
