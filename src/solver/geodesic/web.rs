//! What is next to what in a rest shape.

use super::RestShape;
use crate::solver::ConstraintKind;
use bevy::math::DVec3;

/// The triangles at each particle, and the edges and threads to its neighbours.
pub(super) struct Web {
    places: Vec<DVec3>,
    /// For each particle, the other two corners of each triangle at it, as places among its neighbours.
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
    fn new(particles: usize, items: impl Fn(&mut dyn FnMut(u32, T))) -> Self {
        let mut first = vec![0; particles + 1];
        items(&mut |i, _| first[i as usize + 1] += 1);
        for i in 0..particles {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut all = vec![T::default(); first[particles] as usize];
        items(&mut |i, item| {
            let place = &mut next[i as usize];
            all[*place as usize] = item;
            *place += 1;
        });
        Self { first, all }
    }

    fn of(&self, particle: u32) -> &[T] {
        let [from, to] = [0, 1].map(|k| self.first[particle as usize + k] as usize);
        &self.all[from..to]
    }

    fn of_mut(&mut self, particle: u32) -> &mut [T] {
        let [from, to] = [0, 1].map(|k| self.first[particle as usize + k] as usize);
        &mut self.all[from..to]
    }
}

impl Web {
    pub(super) fn new(shape: &RestShape) -> Self {
        let count = shape.positions.len();
        let places: Vec<DVec3> = shape.positions.iter().map(|p| p.as_dvec3()).collect();
        let exists = |corners: &[u32]| corners.iter().all(|&i| (i as usize) < count);
        let mut wings: Rows<[u32; 2]> = Rows::new(count, |take| {
            for &[a, b, c] in shape.triangles.iter().filter(|t| exists(&t[..])) {
                take(a, [b, c]);
                take(b, [c, a]);
                take(c, [a, b]);
            }
        });
        let threads: Rows<(u32, f32)> = Rows::new(count, |take| {
            let threads = shape.constraints.of_kind(ConstraintKind::Structural);
            for ([a, b], length) in threads.filter(|(pair, _)| exists(&pair[..])) {
                take(a, (b, length));
                take(b, (a, length));
            }
        });
        // Edges are met on two triangles, and most threads are edges: each is kept once, with the
        // length that it has in the surface if it is there.
        let mut neighbours = Rows {
            first: Vec::with_capacity(count + 1),
            all: Vec::with_capacity(wings.all.len()),
        };
        neighbours.first.push(0);
        for i in 0..count as u32 {
            let begin = neighbours.all.len();
            let all = &mut neighbours.all;
            for corner in wings.of_mut(i).as_flattened_mut() {
                let j = *corner;
                let known = all[begin..].iter().position(|&(known, _)| known == j);
                let place = known.unwrap_or_else(|| {
                    all.push((j, places[i as usize].distance(places[j as usize])));
                    all.len() - begin - 1
                });
                *corner = place as u32;
            }
            for &(j, length) in threads.of(i) {
                if !all[begin..].iter().any(|&(known, _)| known == j) {
                    all.push((j, f64::from(length)));
                }
            }
            neighbours.first.push(all.len() as u32);
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

    /// The other two corners of each triangle at a particle, as places in
    /// [`neighbours`](Self::neighbours).
    pub(super) fn wings(&self, particle: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.wings.of(particle).iter().copied()
    }

    /// The neighbours of a particle, and how far they are, m.
    pub(super) fn neighbours(&self, particle: u32) -> &[(u32, f64)] {
        self.neighbours.of(particle)
    }
}
