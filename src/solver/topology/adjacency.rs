//! The triangles around each particle during a topology edit.

use std::collections::BTreeMap;

/// Lists of triangles, one per particle. A list may contain triangles that have since moved to a copy of the
/// particle; callers must check the corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjacency {
    first: Vec<u32>,
    triangles: Vec<u32>,
    /// Triangles added during the edit.
    extra: BTreeMap<u32, Vec<u32>>,
    /// For each particle added during the edit: the particle that owns its list.
    root: Vec<u32>,
}

impl Adjacency {
    pub(super) fn new(particles: usize, triangles: &[[u32; 3]]) -> Self {
        // Counting sort: count, prefix sum, fill.
        let mut first = vec![0; particles + 1];
        for &i in triangles.as_flattened() {
            first[i as usize + 1] += 1;
        }
        for i in 0..particles {
            first[i + 1] += first[i];
        }
        let mut next = first.clone();
        let mut lists = vec![0; triangles.len() * 3];
        for (t, corners) in (0..).zip(triangles) {
            for &i in corners {
                lists[next[i as usize] as usize] = t;
                next[i as usize] += 1;
            }
        }
        Self {
            first,
            triangles: lists,
            extra: BTreeMap::new(),
            root: Vec::new(),
        }
    }

    fn old_count(&self) -> usize {
        self.first.len() - 1
    }

    fn root(&self, particle: u32) -> u32 {
        let new = (particle as usize).checked_sub(self.old_count());
        new.map_or(particle, |new| self.root[new])
    }

    /// Registers the next particle as a copy of `source`.
    pub(super) fn push_copy(&mut self, source: u32) {
        self.root.push(self.root(source));
    }

    /// Registers the next particle as a new one with its own list.
    pub(super) fn push_new(&mut self) {
        self.root.push((self.old_count() + self.root.len()) as u32);
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
        let root = self.root(particle) as usize;
        let range = self.first.get(root).zip(self.first.get(root + 1));
        let old = range.map_or(&[][..], |(&from, &to)| {
            &self.triangles[from as usize..to as usize]
        });
        // Most edits add no triangles.
        let extra = if self.extra.is_empty() {
            None
        } else {
            self.extra.get(&(root as u32))
        };
        old.iter().chain(extra.into_iter().flatten()).copied()
    }
}
