//! Breaks an edge: the cloth opens across it.
//!
//! At one end of the edge, the triangles around the particle are divided by the plane perpendicular to the edge
//! (Müller et al., "Position Based Dynamics", 2007, section 4.5): triangles on the edge's side keep the particle,
//! the others get a copy. The edges between the two sides open.

use super::topology_edit::TopologyEdit;
use std::collections::{BTreeMap, BTreeSet};

impl TopologyEdit<'_> {
    /// Breaks the edge between two particles, at the first one if possible, else at the second. Pieces of cloth
    /// with fewer than `min_triangles` triangles are not torn off. Returns whether the edge broke; a pair that is
    /// not (or no longer) an edge of a triangle does not break.
    pub(crate) fn tear_across(&mut self, edge: [u32; 2], min_triangles: u32) -> bool {
        let [a, b] = edge;
        let tore = self.tear_at(a, b, min_triangles) || self.tear_at(b, a, min_triangles);
        if tore {
            self.opened_edges.push(edge);
        }
        tore
    }

    /// Breaks an edge in any way that separates something: across the edge, or else along it.
    pub(crate) fn break_edge(&mut self, edge: [u32; 2]) -> bool {
        self.tear_across(edge, 1) || self.open_edges([edge]) > 0
    }

    /// Opens the given edges where doing so separates triangles. Returns the number of edges separated.
    pub(crate) fn open_edges(&mut self, edges: impl IntoIterator<Item = [u32; 2]>) -> usize {
        let edges: BTreeSet<[u32; 2]> = edges
            .into_iter()
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        let sides = |edit: &Self, [a, b]: [u32; 2]| -> Vec<u32> {
            let mut fan = edit.triangles_around(a);
            fan.retain(|&t| edit.corners(t).contains(&b));
            fan
        };
        let joined: Vec<_> = edges
            .iter()
            .map(|&edge| (edge, sides(self, edge)))
            .collect();
        let split = self.split(&edges);
        self.commit(&split);
        let before = self.opened_edges.len();
        for ([a, b], triangles) in joined {
            let ends = |&t: &u32| {
                let mut ends = self
                    .corners(t)
                    .map(|i| (self.source_particle(i), i))
                    .to_vec();
                let originals = [self.source_particle(a), self.source_particle(b)];
                ends.retain(|(source_particle, _)| originals.contains(source_particle));
                ends.sort_unstable();
                ends
            };
            let parted = triangles.windows(2).any(|t| ends(&t[0]) != ends(&t[1]));
            if parted {
                self.opened_edges.push([a, b]);
            }
        }
        self.opened_edges.len() - before
    }

    fn tear_at(&mut self, at: u32, towards: u32, min_triangles: u32) -> bool {
        let edges = self.edges_across(at, towards);
        if edges.is_empty() {
            return false;
        }
        let split = self.split(&edges);
        let parted = split.sides.iter().any(|sides| sides[0] == at);
        let all_large = || {
            let mut all = split.sides.iter().flatten();
            all.all(|&side| self.component_has_at_least(side, min_triangles as usize))
        };
        if parted && all_large() {
            self.commit(&split);
            true
        } else {
            self.undo(split);
            false
        }
    }

    /// Returns the edges at particle `at` that separate the triangles towards another particle from the rest.
    fn edges_across(&self, at: u32, towards: u32) -> BTreeSet<[u32; 2]> {
        let rest = |i: u32| self.target.rest[i as usize];
        let direction = rest(towards) - rest(at);
        let fan = self.triangles_around(at);
        let mut sides: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        let mut is_edge = false;
        for &triangle in &fan {
            let corners = self.corners(triangle);
            is_edge |= corners.contains(&towards);
            // Three times the vector from the particle to the centroid; only its sign is used.
            let middle = corners
                .iter()
                .map(|&i| rest(i) - rest(at))
                .sum::<bevy::math::Vec3>();
            let ahead = middle.dot(direction) > 0.0;
            for neighbour in corners.into_iter().filter(|&i| i != at) {
                sides.entry(neighbour).or_default()[usize::from(ahead)] = true;
            }
        }
        if !is_edge {
            return BTreeSet::new();
        }
        sides
            .into_iter()
            .filter(|&(neighbour, sides)| sides == [true, true] && neighbour != towards)
            .map(|(neighbour, _)| [at.min(neighbour), at.max(neighbour)])
            .collect()
    }
}
