//! The triangles around each particle, while an operation changes them.

use std::collections::BTreeMap;

/// Lists of triangles, one for each particle. They may name triangles that have since gone to a copy
/// of the particle; who reads them looks at the corners.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjacency {
    first: Vec<u32>,
    triangles: Vec<u32>,
    /// Triangles that came later.
    extra: BTreeMap<u32, Vec<u32>>,
    /// For particles that came later: the one whose list is theirs.
    root: Vec<u32>,
}

impl Adjacency {
    pub(super) fn new(particles: usize, triangles: &[[u32; 3]]) -> Self {
        // A counting sort: how many, where each list begins, then fill.
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
        let fresh = (particle as usize).checked_sub(self.old_count());
        fresh.map_or(particle, |fresh| self.root[fresh])
    }

    /// The next particle is a copy of this one.
    pub(super) fn push_copy(&mut self, of: u32) {
        self.root.push(self.root(of));
    }

    /// The next particle is a new one.
    pub(super) fn push_new(&mut self) {
        self.root.push((self.old_count() + self.root.len()) as u32);
    }

    /// Forgets the last particles.
    pub(super) fn truncate(&mut self, fresh: usize) {
        self.root.truncate(fresh);
    }

    /// A triangle now touches a particle.
    pub(super) fn add(&mut self, particle: u32, triangle: u32) {
        let root = self.root(particle);
        self.extra.entry(root).or_default().push(triangle);
    }

    /// Triangles that touch the particle, and perhaps some that touch a copy; some may come twice.
    pub(super) fn near(&self, particle: u32) -> impl Iterator<Item = u32> + use<'_> {
        let root = self.root(particle) as usize;
        let range = self.first.get(root).zip(self.first.get(root + 1));
        let old = range.map_or(&[][..], |(&from, &to)| {
            &self.triangles[from as usize..to as usize]
        });
        // Most operations bring no triangles.
        let extra = if self.extra.is_empty() {
            None
        } else {
            self.extra.get(&(root as u32))
        };
        old.iter().chain(extra.into_iter().flatten()).copied()
    }
}
