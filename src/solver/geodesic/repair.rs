//! What a tear changes: ways that led over what has opened are gone, and with them all that led on
//! from there.

use super::{Front, Geodesics, NONE, RestShape, State, islands, web::Web};
use std::cmp::Reverse;
use std::collections::BTreeSet;

impl Geodesics {
    /// Brings the distances up to date after the cloth has opened. `shape` is as it is now, with the
    /// particles that came at the end; `sources` are all of them, copies of sources included;
    /// `changed` are the particles at triangles and threads that are not what they were, before and
    /// after.
    ///
    /// Only what hangs on these is measured anew. Ways that became shorter are found where they begin
    /// at a changed particle.
    pub fn repair(&mut self, shape: &RestShape, sources: &[u32], changed: &[u32]) {
        let web = Web::new(shape);
        let fresh = self.head.len() as u32..web.len() as u32;
        self.head.resize(web.len(), NONE);
        let mut near: BTreeSet<u32> = changed.iter().copied().chain(fresh).collect();
        near.retain(|&i| (i as usize) < web.len());

        let mut lost: Vec<u32> = Vec::new();
        for &particle in &near {
            let gone = self.list(particle).filter(|&i| !self.is_supported(&web, i));
            lost.extend(gone);
        }
        for &i in &lost {
            self.labels[i as usize].state = State::Dropped;
        }
        while let Some(index) = lost.pop() {
            let label = self.labels[index as usize];
            near.insert(label.particle);
            for &(neighbour, _) in web.neighbours(label.particle) {
                let Some(other) = self.find(neighbour, label.reach.source) else {
                    continue;
                };
                let other_label = &mut self.labels[other as usize];
                if other_label.state == State::Settled
                    && other_label.from.contains(&label.particle)
                    // A source is its own beginning.
                    && other_label.particle != label.reach.source
                {
                    other_label.state = State::Dropped;
                    lost.push(other);
                }
            }
        }
        // What was dropped makes room for what comes.
        self.tidy();

        let islands = islands::find(&web, sources);
        self.set_islands(&islands);
        let mut front = Front::new();
        for (&source, &island) in &islands {
            if self.find(source, source).is_none() {
                self.add_source(source, island, &mut front);
            }
        }
        // The border of what is still true goes on from where it is.
        let around = near
            .iter()
            .flat_map(|&i| web.neighbours(i).iter().map(|&(j, _)| j).chain([i]));
        let border: BTreeSet<u32> = around.collect();
        for &particle in &border {
            for i in self.list(particle) {
                let label = &self.labels[i as usize];
                if label.state == State::Settled {
                    front.push(Reverse((label.reach.distance.to_bits(), i)));
                }
            }
        }
        self.spread(&web, front);
        self.tidy();
    }

    /// Whether the edge or triangle over which a label came is still there.
    fn is_supported(&self, web: &Web, index: u32) -> bool {
        let label = &self.labels[index as usize];
        let [a, b] = label.from;
        if a == label.particle {
            return true;
        }
        if a == b {
            let mut neighbours = web.neighbours(label.particle).iter();
            return neighbours.any(|&(i, _)| i == a);
        }
        let neighbours = web.neighbours(label.particle);
        web.wings(label.particle)
            .map(|wing| wing.map(|k| neighbours[k as usize].0))
            .any(|wing| wing == [a, b] || wing == [b, a])
    }
}
