//! Update of geodesic distances after a tear: paths across the opening are removed, and with them all paths that
//! continue them.

use super::{
    Geodesics, LabelState, NONE, RestShape, adjacency::ParticleAdjacency, islands,
    search::FrontQueue,
};
use std::cmp::Reverse;
use std::collections::BTreeSet;

impl Geodesics {
    /// Updates the distances after the cloth has been opened. `shape` is the current one, with new particles at
    /// the end; `sources` are all sources, copies included; `changed` are the particles of all triangles and
    /// constraints that were changed, before and after the tear.
    ///
    /// Only distances that depend on these are measured again. Paths that became shorter are found only if they
    /// begin at a changed particle.
    pub(crate) fn repair(&mut self, shape: &RestShape, sources: &[u32], changed: &[u32]) {
        let adjacency = ParticleAdjacency::new(shape);
        let new_particles = self.first_label.len() as u32..adjacency.len() as u32;
        self.first_label.resize(adjacency.len(), NONE);
        let mut affected: BTreeSet<u32> = changed.iter().copied().chain(new_particles).collect();
        affected.retain(|&i| (i as usize) < adjacency.len());

        self.drop_unsupported(&adjacency, &mut affected);
        // Dropped labels are removed before new ones are added.
        self.compact();

        let islands = islands::find(&adjacency, sources);
        self.set_islands(&islands);
        let mut front = FrontQueue::new();
        for (&source, &island) in &islands {
            if self.find(source, source).is_none() {
                self.add_source(source, island, &mut front);
            }
        }
        // Labels at the border of the valid region propagate again.
        let around = affected
            .iter()
            .flat_map(|&i| adjacency.neighbours(i).iter().map(|&(j, _)| j).chain([i]));
        let border: BTreeSet<u32> = around.collect();
        for &particle in &border {
            for i in self.labels_of(particle) {
                let label = &self.labels[i as usize];
                if label.state == LabelState::Settled {
                    front.push(Reverse((label.geodesic.distance.to_bits(), i)));
                }
            }
        }
        self.propagate(&adjacency, front);
        self.compact();
    }

    /// Drops the labels of affected particles whose paths no longer exist, and those of other particles that continue
    /// these paths; their particles are affected too.
    fn drop_unsupported(&mut self, adjacency: &ParticleAdjacency, affected: &mut BTreeSet<u32>) {
        let mut dropped: Vec<u32> = Vec::new();
        for &particle in &*affected {
            let unsupported = self
                .labels_of(particle)
                .filter(|&i| !self.is_supported(adjacency, i));
            dropped.extend(unsupported);
        }
        for &i in &dropped {
            self.labels[i as usize].state = LabelState::Dropped;
        }
        while let Some(index) = dropped.pop() {
            let label = self.labels[index as usize];
            affected.insert(label.particle);
            for &(neighbour, _) in adjacency.neighbours(label.particle) {
                let Some(other) = self.find(neighbour, label.geodesic.source) else {
                    continue;
                };
                let other_label = &mut self.labels[other as usize];
                if other_label.state == LabelState::Settled
                    && other_label.from.contains(&label.particle)
                    // The label of a source depends on no other.
                    && other_label.particle != label.geodesic.source
                {
                    other_label.state = LabelState::Dropped;
                    dropped.push(other);
                }
            }
        }
    }

    /// Returns whether the edge or triangle over which a label propagated still exists.
    fn is_supported(&self, adjacency: &ParticleAdjacency, index: u32) -> bool {
        let label = &self.labels[index as usize];
        let [a, b] = label.from;
        if a == label.particle {
            return true;
        }
        if a == b {
            let mut neighbours = adjacency.neighbours(label.particle).iter();
            return neighbours.any(|&(i, _)| i == a);
        }
        let neighbours = adjacency.neighbours(label.particle);
        adjacency
            .opposite_edges(label.particle)
            .map(|edge| edge.map(|k| neighbours[k as usize].0))
            .any(|edge| edge == [a, b] || edge == [b, a])
    }
}
