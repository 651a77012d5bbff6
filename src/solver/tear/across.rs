//! A thread breaks: the cloth opens across it.
//!
//! At one end of the thread, the triangles around the particle are parted by the plane that the
//! thread stands on (Müller et al., "Position Based Dynamics", 2007, section 4.5): those on the side
//! of the thread keep the particle, the others get a copy. The edges between the two sides open.

use super::surgery::Surgery;
use std::collections::{BTreeMap, BTreeSet};

impl Surgery<'_> {
    /// Breaks the thread between two particles, at the first of them if that is possible, else at the
    /// second. Pieces of cloth with fewer than `least` triangles are not torn off. Returns whether it
    /// broke; a thread that is not (or no longer) an edge of a triangle does not.
    pub fn tear_across(&mut self, thread: [u32; 2], least: u32) -> bool {
        let [a, b] = thread;
        let tore = self.tear_at(a, b, least) || self.tear_at(b, a, least);
        if tore {
            self.opened.push(thread);
        }
        tore
    }

    /// Breaks a thread in any way that parts something: across, or else along itself.
    pub fn break_thread(&mut self, thread: [u32; 2]) -> bool {
        self.tear_across(thread, 1) || self.open_edges([thread]) > 0
    }

    /// Opens the given edges, as far as that parts anything. Returns how many it parted.
    pub fn open_edges(&mut self, edges: impl IntoIterator<Item = [u32; 2]>) -> usize {
        let edges: BTreeSet<[u32; 2]> = edges
            .into_iter()
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        let sides = |surgery: &Self, [a, b]: [u32; 2]| -> Vec<u32> {
            let mut fan = surgery.around(a);
            fan.retain(|&t| surgery.corners(t).contains(&b));
            fan
        };
        let joined: Vec<_> = edges
            .iter()
            .map(|&edge| (edge, sides(self, edge)))
            .collect();
        let opening = self.open(&edges);
        self.keep(&opening);
        let before = self.opened.len();
        for ([a, b], triangles) in joined {
            let ends = |&t: &u32| {
                let mut ends = self.corners(t).map(|i| (self.original(i), i)).to_vec();
                let originals = [self.original(a), self.original(b)];
                ends.retain(|(original, _)| originals.contains(original));
                ends.sort_unstable();
                ends
            };
            let parted = triangles.windows(2).any(|t| ends(&t[0]) != ends(&t[1]));
            if parted {
                self.opened.push([a, b]);
            }
        }
        self.opened.len() - before
    }

    fn tear_at(&mut self, at: u32, towards: u32, least: u32) -> bool {
        let edges = self.edges_across(at, towards);
        if edges.is_empty() {
            return false;
        }
        let opening = self.open(&edges);
        let parted = opening.sides.iter().any(|sides| sides[0] == at);
        let all_large = || {
            let mut all = opening.sides.iter().flatten();
            all.all(|&side| self.is_at_least(side, least as usize))
        };
        if parted && all_large() {
            self.keep(&opening);
            true
        } else {
            self.close(opening);
            false
        }
    }

    /// The edges at a particle that part the triangles towards another one from the rest.
    fn edges_across(&self, at: u32, towards: u32) -> BTreeSet<[u32; 2]> {
        let rest = |i: u32| self.sheet.rest[i as usize];
        let way = rest(towards) - rest(at);
        let fan = self.around(at);
        let mut sides: BTreeMap<u32, [bool; 2]> = BTreeMap::new();
        let mut is_thread = false;
        for &triangle in &fan {
            let corners = self.corners(triangle);
            is_thread |= corners.contains(&towards);
            // From the particle to the middle of the triangle; a third of this, but only its sign
            // counts.
            let middle = corners
                .iter()
                .map(|&i| rest(i) - rest(at))
                .sum::<bevy::math::Vec3>();
            let ahead = middle.dot(way) > 0.0;
            for neighbour in corners.into_iter().filter(|&i| i != at) {
                sides.entry(neighbour).or_default()[usize::from(ahead)] = true;
            }
        }
        if !is_thread {
            return BTreeSet::new();
        }
        sides
            .into_iter()
            .filter(|&(neighbour, sides)| sides == [true, true] && neighbour != towards)
            .map(|(neighbour, _)| [at.min(neighbour), at.max(neighbour)])
            .collect()
    }
}
