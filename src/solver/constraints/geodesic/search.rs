//! The search: labels propagate from particle to particle, nearest first.

use super::{
    GeodesicDistance, Geodesics, Label, LabelState, MAX_ISLANDS, NONE,
    adjacency::ParticleAdjacency, unfold::unfold,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Largest number of sources of one island per particle. Only the nearest one counts in the end, but where two are
/// almost equally near, a triangle needs the same source at both of its corners.
const MAX_SOURCES_PER_ISLAND: usize = 3;

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
pub(super) type FrontQueue = BinaryHeap<Reverse<(u64, u32)>>;

/// Largest number of bends that are followed back to find the common part of two paths.
const MAX_BENDS: usize = 8;

/// Relative improvement from which a path counts as shorter; without it, rounding would prolong the search.
const MIN_IMPROVEMENT: f64 = 1e-9;

impl Geodesics {
    fn settled(&self, particle: u32, source: u32) -> Option<&Label> {
        let label = &self.labels[self.find(particle, source)? as usize];
        (label.state == LabelState::Settled).then_some(label)
    }

    pub(super) fn add_source(&mut self, source: u32, island: u32, front: &mut FrontQueue) {
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

    /// Settles an open label, or drops it if its particle has enough nearer ones. Returns whether it is settled.
    fn settle(&mut self, index: u32) -> bool {
        let is_settled = self.can_settle(&self.labels[index as usize]);
        self.labels[index as usize].state = match is_settled {
            true => LabelState::Settled,
            false => LabelState::Dropped,
        };
        is_settled
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
    pub(super) fn propagate(&mut self, adjacency: &ParticleAdjacency, mut front: FrontQueue) {
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
            if label.state == LabelState::Open && !self.settle(index) {
                continue;
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
