//! Zones of particles that move together.

/// Disjoint zones of particles, of which each particle belongs to at most one.
#[derive(Clone, Debug, Default)]
pub(super) struct Zones {
    /// Particle of the same zone that stands for this one, or for one that stands for the zone.
    parent: Vec<u32>,
    /// Particles of the zone for which a particle stands, if there are any others.
    members: Vec<Vec<u32>>,
    /// Particles that stand for the zones that grew.
    changed: Vec<u32>,
}

impl Zones {
    /// Begins with `count` particles, none of them in a zone.
    pub(super) fn begin(&mut self, count: usize) {
        self.parent.clear();
        self.parent.extend(0..count as u32);
        self.members.clear();
        self.members.resize(count, Vec::new());
        self.changed.clear();
    }

    fn find(&mut self, i: u32) -> u32 {
        let mut at = i;
        while self.parent[at as usize] != at {
            let above = self.parent[self.parent[at as usize] as usize];
            self.parent[at as usize] = above;
            at = above;
        }
        at
    }

    /// Joins the zones of four particles.
    pub(super) fn join(&mut self, particles: [u32; 4]) {
        let [first, others @ ..] = particles.map(|i| self.find(i));
        for other in others {
            let (mut own, mut other) = (self.find(first), self.find(other));
            if own == other {
                continue;
            }
            if self.members[own as usize].len() < self.members[other as usize].len() {
                std::mem::swap(&mut own, &mut other);
            }
            let mut joined = std::mem::take(&mut self.members[other as usize]);
            if joined.is_empty() {
                joined.push(other);
            }
            let members = &mut self.members[own as usize];
            if members.is_empty() {
                members.push(own);
            }
            members.append(&mut joined);
            self.parent[other as usize] = own;
            self.changed.push(own);
        }
    }

    /// Returns whether some particles belong to one zone, and none has a fixed way.
    pub(super) fn move_together(&mut self, particles: &[u32], inverse_mass: &[f32]) -> bool {
        let zone = particles.first().map(|&first| self.find(first));
        let mut particles = particles.iter();
        particles.all(|&i| inverse_mass[i as usize] > 0.0 && Some(self.find(i)) == zone)
    }

    /// Returns the particles of each zone that grew since the last call.
    pub(super) fn changed(&mut self) -> impl Iterator<Item = &[u32]> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        changed.retain(|&zone| self.parent[zone as usize] == zone);
        changed
            .into_iter()
            .map(|zone| &self.members[zone as usize][..])
    }
}
