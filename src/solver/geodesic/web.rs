//! What is next to what in a rest shape.

use super::RestShape;
use crate::solver::ConstraintKind;
use bevy::math::DVec3;

/// The triangles at each particle, and the edges and threads to its neighbours.
pub(super) struct Web {
    places: Vec<DVec3>,
    /// For each particle, the other two corners of each triangle at it.
    wings: Rows<[u32; 2]>,
    /// For each particle, its neighbours and how far they are, m.
    neighbours: Rows<(u32, f64)>,
}

/// A list for each particle.
struct Rows<T> {
    /// Where each begins; one more than there are.
    first: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy + Default> Rows<T> {
    /// A counting sort by particle, in the order in which `items` come.
    fn new(particles: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> Self {
        let mut first = vec![0; particles + 1];
        for (i, _) in items.clone() {
            first[i as usize + 1] += 1;
        }
        for i in 0..particles {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut all = vec![T::default(); first[particles] as usize];
        for (i, item) in items {
            let place = &mut next[i as usize];
            all[*place as usize] = item;
            *place += 1;
        }
        Self { first, all }
    }

    fn of(&self, particle: u32) -> &[T] {
        let [from, to] = [0, 1].map(|k| self.first[particle as usize + k] as usize);
        &self.all[from..to]
    }
}

impl Web {
    pub(super) fn new(shape: &RestShape) -> Self {
        let count = shape.positions.len();
        let places: Vec<DVec3> = shape.positions.iter().map(|p| p.as_dvec3()).collect();
        let exists = |corners: &[u32]| corners.iter().all(|&i| (i as usize) < count);
        let triangles = shape.triangles.iter().filter(|t| exists(&t[..]));
        let wings = Rows::new(
            count,
            triangles.flat_map(|&[a, b, c]| [(a, [b, c]), (b, [c, a]), (c, [a, b])]),
        );
        // Edges and threads in both directions. Most are met twice: each is kept once, with the
        // length that it has in the surface if it is there.
        let threads = shape.constraints.of_kind(ConstraintKind::Structural);
        let threads: Vec<([u32; 2], f32)> = threads
            .map(|(&pair, &length)| (pair, length))
            .filter(|(pair, _)| exists(pair))
            .collect();
        let edges = (0..count as u32).flat_map(|i| {
            let near = wings.of(i).as_flattened().iter();
            near.map(move |&j| (i, (j, STRAIGHT)))
        });
        let links = threads
            .iter()
            .flat_map(|&([a, b], length)| [(a, (b, length)), (b, (a, length))]);
        let mut met = Rows::new(count, edges.chain(links));
        let mut neighbours = Rows {
            first: Vec::with_capacity(count + 1),
            all: Vec::with_capacity(met.all.len() / 2),
        };
        neighbours.first.push(0);
        for i in 0..count {
            let [from, to] = [met.first[i], met.first[i + 1]].map(|k| k as usize);
            let row = &mut met.all[from..to];
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
            for &(j, length) in row.iter() {
                let so_far = &neighbours.all[neighbours.first[i] as usize..];
                if so_far
                    .last()
                    .is_some_and(|&(last, _): &(u32, f64)| last == j)
                {
                    continue;
                }
                let length = if length < 0.0 {
                    places[i].distance(places[j as usize])
                } else {
                    f64::from(length)
                };
                neighbours.all.push((j, length));
            }
            neighbours.first.push(neighbours.all.len() as u32);
        }
        Self {
            places,
            wings,
            neighbours,
        }
    }

    /// How many particles there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Where a particle is at rest.
    pub(super) fn place(&self, particle: u32) -> DVec3 {
        self.places[particle as usize]
    }

    /// The other two corners of each triangle at a particle.
    pub(super) fn wings(&self, particle: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.wings.of(particle).iter().copied()
    }

    /// The neighbours of a particle, in ascending order, and how far they are, m.
    pub(super) fn neighbours(&self, particle: u32) -> &[(u32, f64)] {
        self.neighbours.of(particle)
    }
}

/// Stands for the length of an edge of the surface: it sorts before all lengths of threads.
const STRAIGHT: f32 = -1.0;
