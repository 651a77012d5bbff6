//! The triangles around each particle during a topology edit.

use crate::solver::math::particle_lists::ParticleLists;
use std::collections::BTreeMap;

/// Lists of triangles, one per particle. A list may contain triangles that have since moved to a copy of the
/// particle; callers must check the corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjacency {
    lists: ParticleLists<u32>,
    /// Number of particles before the edit.
    old_count: usize,
    /// Triangles added during the edit.
    extra: BTreeMap<u32, Vec<u32>>,
    /// For each particle added during the edit: the particle that owns its list.
    root: Vec<u32>,
}

impl Adjacency {
    pub(super) fn new(particles: usize, triangles: &[[u32; 3]]) -> Self {
        let mut lists = ParticleLists::default();
        lists.fill(particles, || {
            let corners = (0..).zip(triangles);
            corners.flat_map(|(t, corners)| corners.map(|i| (i, t)))
        });
        Self {
            lists,
            old_count: particles,
            ..Self::default()
        }
    }

    fn root(&self, particle: u32) -> u32 {
        let new = (particle as usize).checked_sub(self.old_count);
        new.map_or(particle, |new| self.root[new])
    }

    /// Registers the next particle as a copy of `source`.
    pub(super) fn push_copy(&mut self, source: u32) {
        self.root.push(self.root(source));
    }

    /// Registers the next particle as a new one with its own list.
    pub(super) fn push_new(&mut self) {
        self.root.push((self.old_count + self.root.len()) as u32);
    }

    /// Removes the most recently added particles, keeping the first `new_count` of them.
    pub(super) fn truncate(&mut self, new_count: usize) {
        self.root.truncate(new_count);
    }

    /// Adds a triangle to the list of a particle.
    pub(super) fn add(&mut self, particle: u32, triangle: u32) {
        let root = self.root(particle);
        self.extra.entry(root).or_default().push(triangle);
    }

    /// Returns the triangles at a particle, and possibly some at its copies; duplicates are possible.
    pub(super) fn near(&self, particle: u32) -> impl Iterator<Item = u32> + use<'_> {
        let root = self.root(particle);
        // Most edits add no triangles.
        let extra = if self.extra.is_empty() {
            None
        } else {
            self.extra.get(&root)
        };
        let old = self.lists.for_particle(root).iter();
        old.chain(extra.into_iter().flatten()).copied()
    }
}
