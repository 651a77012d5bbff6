//! Distances over the rest shape: how far each particle is from what holds it, along the cloth.
//!
//! Sources are pinned particles. Each particle learns its distance to the nearest of them by a
//! Dijkstra search with labels: a label names its source, so that a particle can have several. Over
//! a triangle a front spreads as a circle: from the distances of two corners to one source, the
//! source is unfolded into the plane of the triangle, and the third corner is as far from it as it is
//! in that plane (Novotni and Klein, "Computing Geodesic Distances on Triangular Meshes", 2002).
//! Where the straight line misses the edge between the two, the way leads through one of them; that
//! one is then the centre of the front that goes on (Mitchell, Mount and Papadimitriou 1987 call it a
//! pseudo-source). So distances are exact, but for rounding, on everything that can be unrolled.
//! Around holes and slits they are never too short; along the border of what a source cannot see, where
//! a front has two centres, they are up to 2 % too long.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the labels, and the search |
//! | `web` | what is next to what |
//! | `islands` | which sources belong together |
//! | `repair` | what a tear changes |
//! | `unfold` | the way over one triangle |

mod islands;
mod repair;
#[cfg(test)]
mod tests;
mod unfold;
mod web;

use super::{constraints::ConstraintGraph, soa::SoaVec3};
use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap},
};
use unfold::unfold;
use web::Web;

/// So many islands at most reach a particle: the nearest ones.
pub(super) const MOST_ISLANDS: usize = 4;

/// So many sources of one island at most reach a particle. Only the nearest counts in the end, but
/// where two of them are almost as near, a triangle needs the same one at both of its corners.
const MOST_SOURCES: usize = 3;

/// What distances are measured on.
#[derive(Clone, Copy)]
pub struct RestShape<'a> {
    /// Where the particles are at rest, m.
    pub positions: &'a SoaVec3,
    /// Its surface. May be empty, as for ropes.
    pub triangles: &'a [[u32; 3]],
    /// Its structural constraints are ways too, as long as their rest lengths.
    pub constraints: &'a ConstraintGraph,
}

/// How far a particle is from a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The particle from which the distance is measured.
    pub source: u32,
    /// Sources that stand together have the same number.
    pub island: u32,
    /// Distance along the cloth, m.
    pub distance: f64,
}

/// Distances from sources to all particles, with what is needed to bring them up to date after a
/// tear.
#[derive(Clone, Debug, Default)]
pub struct Geodesics {
    /// The first label of each particle; [`NONE`] without any.
    head: Vec<u32>,
    labels: Vec<Label>,
    /// For each label its source and the next label of the same particle: what is asked for most, kept
    /// together.
    chain: Vec<[u32; 2]>,
    /// While labels spread: sources and labels of each particle, as many as there is room for, so that
    /// neighbours are found without following their chains all over the memory.
    first_labels: Vec<[[u32; 2]; 2]>,
}

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Label {
    reach: Reach,
    particle: u32,
    /// Where the front has its centre: the source, or where the way around something bends.
    pivot: u32,
    /// How far the centre is from the source, m.
    base: f64,
    /// The particles from which it came: the same one twice along an edge, the own one at a source.
    from: [u32; 2],
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Not known to be among the nearest.
    Open,
    Settled,
    /// The particle has nearer ones, as many as it may; or, in a repair, there is no such way now.
    Dropped,
}

/// A neighbour of the particle whose label is spread.
#[derive(Clone, Copy)]
struct Near {
    particle: u32,
    /// How far it is, m.
    length: f64,
    /// Its label of the same source; [`NONE`] without one.
    label: u32,
    /// How far it is from the source, if that label has settled; else infinite.
    distance: f64,
}

/// Labels to spread, the nearest first. Distances are positive, so their bits have their order.
type Front = BinaryHeap<Reverse<(u64, u32)>>;

/// Where two ways part is looked for this many bends back.
const MOST_BENDS: usize = 8;

/// A shorter way must be shorter by this share, or rounding would keep the search busy.
const GAIN: f64 = 1e-9;

impl Geodesics {
    /// Measures the distances from these particles. Those that do not exist are left out.
    pub fn new(shape: &RestShape, sources: &[u32]) -> Self {
        let web = Web::new(shape);
        let mut new = Self {
            head: vec![NONE; shape.positions.len()],
            labels: Vec::with_capacity(shape.positions.len()),
            chain: Vec::with_capacity(shape.positions.len()),
            first_labels: Vec::new(),
        };
        let mut front = Front::new();
        for (source, island) in islands::find(&web, sources) {
            new.add_source(source, island, &mut front);
        }
        new.spread(&web, front);
        new.tidy();
        new
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.head.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// What a particle can be reached from, the nearest source first.
    pub fn of(&self, particle: u32) -> impl Iterator<Item = Reach> + '_ {
        self.list(particle).map(|i| self.labels[i as usize].reach)
    }

    /// The labels of a particle.
    fn list(&self, particle: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.head.get(particle as usize).copied().unwrap_or(NONE);
        let known = |i: u32| (i != NONE).then_some(i);
        std::iter::successors(known(first), move |&i| known(self.chain[i as usize][1]))
    }

    fn find(&self, particle: u32, source: u32) -> Option<u32> {
        if let Some(first) = self.first_labels.get(particle as usize) {
            for &[of, label] in first {
                if of == source {
                    return Some(label);
                }
                if of == NONE {
                    return None;
                }
            }
        }
        self.list(particle)
            .find(|&i| self.chain[i as usize][0] == source)
    }

    fn settled(&self, particle: u32, source: u32) -> Option<&Label> {
        let label = &self.labels[self.find(particle, source)? as usize];
        (label.state == State::Settled).then_some(label)
    }

    fn add_source(&mut self, source: u32, island: u32, front: &mut Front) {
        let reach = Reach {
            source,
            island,
            distance: 0.0,
        };
        let label = Label {
            reach,
            particle: source,
            pivot: source,
            base: 0.0,
            from: [source; 2],
            state: State::Open,
        };
        self.offer(NONE, label, front);
    }

    /// Takes a label if it is the first from its source or nearer than the one that there is, which
    /// has the given index or [`NONE`]. Returns the index.
    fn offer(&mut self, known: u32, label: Label, front: &mut Front) -> u32 {
        let index = if known == NONE {
            let place = label.particle as usize;
            let index = self.labels.len() as u32;
            self.labels.push(label);
            self.chain.push([label.reach.source, self.head[place]]);
            self.head[place] = index;
            if let Some(first) = self.first_labels.get_mut(place)
                && let Some(free) = first.iter_mut().find(|[of, _]| *of == NONE)
            {
                *free = [label.reach.source, index];
            }
            index
        } else {
            if !self.gains(known, label.reach.distance) {
                return known;
            }
            let before = &mut self.labels[known as usize];
            *before = Label {
                state: before.state,
                ..label
            };
            known
        };
        front.push(Reverse((label.reach.distance.to_bits(), index)));
        index
    }

    /// Whether a distance is better than that of a label, if there is one.
    fn gains(&self, known: u32, distance: f64) -> bool {
        let Some(label) = self.labels.get(known as usize) else {
            return true;
        };
        distance < label.reach.distance * (1.0 - GAIN) && label.state != State::Dropped
    }

    /// Whether a particle may settle one more label.
    fn admits(&self, label: &Label) -> bool {
        // Mostly it is the only one so far.
        let first = self.first_labels.get(label.particle as usize);
        if first.is_some_and(|[_, second]| second[0] == NONE) {
            return true;
        }
        let mut islands = [NONE; MOST_ISLANDS];
        let (mut others, mut same) = (0, 0);
        for i in self.list(label.particle) {
            let Label { reach, state, .. } = self.labels[i as usize];
            if state != State::Settled {
                continue;
            }
            if reach.island == label.reach.island {
                same += 1;
            } else if !islands[..others].contains(&reach.island) {
                if others + 1 == MOST_ISLANDS {
                    return same > 0 && same < MOST_SOURCES;
                }
                islands[others] = reach.island;
                others += 1;
            }
        }
        same < MOST_SOURCES
    }

    /// The centre of the front between two labels of one source, and how far that is from the source:
    /// the last one that both ways lead through. Anything nearer would be a short cut that is not
    /// there; anything farther, such as the source itself, only flattens the front.
    fn centre(&self, a: &Label, b: &Label) -> (u32, f64) {
        let (near, far) = if a.base <= b.base { (a, b) } else { (b, a) };
        let mut pivot = far.pivot;
        for _ in 0..MOST_BENDS {
            if pivot == near.pivot {
                return (near.pivot, near.base);
            }
            match self.settled(pivot, a.reach.source) {
                Some(label) if label.reach.distance > near.base => pivot = label.pivot,
                _ => break,
            }
        }
        (a.reach.source, 0.0)
    }

    /// Goes on until no label can be spread any further. One that has settled may still improve:
    /// where a triangle is obtuse, or a right one, its far corner can come later than what is behind
    /// it.
    fn spread(&mut self, web: &Web, mut front: Front) {
        let mut near: Vec<Near> = Vec::new();
        self.first_labels = (0..self.head.len() as u32)
            .map(|particle| {
                let mut first = [[NONE; 2]; 2];
                for (free, label) in first.iter_mut().zip(self.list(particle)) {
                    *free = [self.chain[label as usize][0], label];
                }
                first
            })
            .collect();
        while let Some(Reverse((key, index))) = front.pop() {
            let label = self.labels[index as usize];
            if label.reach.distance.to_bits() != key || label.state == State::Dropped {
                continue;
            }
            if label.state == State::Open {
                let state = match self.admits(&label) {
                    true => State::Settled,
                    false => State::Dropped,
                };
                self.labels[index as usize].state = state;
                if state == State::Dropped {
                    continue;
                }
            }
            let source = label.reach.source;
            near.clear();
            for &(particle, length) in web.neighbours(label.particle) {
                let known = self.find(particle, source).unwrap_or(NONE);
                near.push(Near {
                    particle,
                    length,
                    label: known,
                    distance: self.settled_distance(known),
                });
            }
            for [one, other] in web.wings(label.particle) {
                for [a, b] in [[one, other], [other, one]].map(|w| w.map(|k| k as usize)) {
                    let (beside, to) = (near[a], near[b]);
                    // The nearest of the three is where the front comes from.
                    let least = label.reach.distance.min(beside.distance);
                    if beside.distance == f64::INFINITY || to.distance <= least {
                        continue;
                    }
                    if let Some(over) = self.over(web, &label, beside.label, to) {
                        let known = self.offer(to.label, over, &mut front);
                        near[b].label = known;
                        near[b].distance = self.settled_distance(known);
                    }
                }
            }
            for to in &near {
                if self.gains(to.label, label.reach.distance + to.length) {
                    self.offer(to.label, along_edge(&label, to), &mut front);
                }
            }
        }
    }

    /// The distance of a label that has settled, infinite without one.
    fn settled_distance(&self, index: u32) -> f64 {
        match self.labels.get(index as usize) {
            Some(label) if label.state == State::Settled => label.reach.distance,
            _ => f64::INFINITY,
        }
    }

    /// The label that a neighbour gets over the triangle that it makes with two particles, both of
    /// which have one of the same source.
    fn over(&self, web: &Web, label: &Label, beside: u32, to: Near) -> Option<Label> {
        let beside = &self.labels[beside as usize];
        let centre = self.centre(label, beside);
        let over = over_triangle(web, label, beside, centre, to.particle)?;
        self.gains(to.label, over.reach.distance).then_some(over)
    }

    /// Keeps what has settled, and sorts it by distance.
    fn tidy(&mut self) {
        let mut kept = Vec::with_capacity(self.labels.len());
        let mut chain = Vec::with_capacity(self.labels.len());
        let mut own: Vec<Label> = Vec::new();
        for particle in 0..self.head.len() as u32 {
            own.clear();
            own.extend(
                self.list(particle)
                    .map(|i| self.labels[i as usize])
                    .filter(|label| label.state == State::Settled),
            );
            own.sort_unstable_by(|a, b| {
                let by_distance = a.reach.distance.total_cmp(&b.reach.distance);
                by_distance.then(a.reach.source.cmp(&b.reach.source))
            });
            let first = kept.len() as u32;
            let end = first + own.len() as u32;
            self.head[particle as usize] = if first < end { first } else { NONE };
            chain.extend((first + 1..).zip(&own).map(|(next, label)| {
                let next = if next < end { next } else { NONE };
                [label.reach.source, next]
            }));
            kept.extend_from_slice(&own);
        }
        self.labels = kept;
        self.chain = chain;
        self.first_labels = Vec::new();
    }

    /// Gives the sources the islands that they belong to now.
    fn set_islands(&mut self, islands: &BTreeMap<u32, u32>) {
        for label in &mut self.labels {
            if let Some(&island) = islands.get(&label.reach.source) {
                label.reach.island = island;
            }
        }
    }
}

/// The label that a particle gets along an edge of this length.
fn along_edge(label: &Label, to: &Near) -> Label {
    Label {
        reach: Reach {
            distance: label.reach.distance + to.length,
            ..label.reach
        },
        particle: to.particle,
        pivot: label.particle,
        base: label.reach.distance,
        from: [label.particle; 2],
        state: State::Open,
    }
}

/// The label that the third corner of a triangle gets from two with the same source, and the centre of
/// their front.
fn over_triangle(web: &Web, a: &Label, b: &Label, centre: (u32, f64), to: u32) -> Option<Label> {
    let (pivot, base) = centre;
    let [at_a, at_b, at] = [a.particle, b.particle, to].map(|i| web.place(i));
    let radii = [a, b].map(|label| label.reach.distance - base);
    let radius = unfold([at_a, at_b], radii, at)?;
    Some(Label {
        reach: Reach {
            distance: base + radius,
            ..a.reach
        },
        particle: to,
        pivot,
        base,
        from: [a.particle, b.particle],
        state: State::Open,
    })
}
