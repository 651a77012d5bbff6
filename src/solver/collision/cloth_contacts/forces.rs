//! Forces of contacts between the steps: each cloth keeps those of its particles, whatever island it belongs to.

use super::{ContactGroup, IslandCloth, Layout};
use crate::solver::collision::self_collision::ContactForce;
use std::ops::Range;

impl Layout {
    /// Returns the particles of a member.
    fn particles(&self, member: usize) -> Range<u32> {
        self.first[member] as u32..self.first[member + 1] as u32
    }

    /// Returns a force with the indices of the group, for two members and the indices of their particles; `None` if one has
    /// lost its particle. The order of the members may have changed since it was returned.
    fn in_group(&self, members: [usize; 2], force: ContactForce) -> Option<ContactForce> {
        let particles = members.map(|member| self.particles(member));
        let [i, j] = [0, 1].map(|k| particles[k].start + force.pair[k]);
        let is_known = particles[0].contains(&i) && particles[1].contains(&j);
        let force = if i < j {
            ContactForce {
                pair: [i, j],
                ..force
            }
        } else {
            ContactForce {
                pair: [j, i],
                acceleration: -force.acceleration,
            }
        };
        is_known.then_some(force)
    }
}

impl ContactGroup {
    /// Collects the forces of contacts of the members' particles.
    pub(super) fn collect_forces(&mut self, cloths: &[IslandCloth]) {
        let layout = &self.layout;
        let members = &layout.members;
        let all = &mut self.warm_start.own;
        all.clear();
        for (a, &k) in members.iter().enumerate() {
            let cloth = &cloths[k];
            if cloth.settings.distance == layout.distance {
                let own = cloth.warm_start.own.iter();
                all.extend(own.filter_map(|&force| layout.in_group([a, a], force)));
            }
            for others in cloth.warm_start.with_others.chunk_by(|x, y| x.0 == y.0) {
                let is_other = |&b: &usize| cloths[members[b]].id == others[0].0;
                let b = (0..members.len()).find(is_other);
                let b = b.filter(|b| layout.may_touch[a * members.len() + b]);
                let Some(b) = b else {
                    continue;
                };
                let forces = others.iter().map(|(_, force)| *force);
                all.extend(forces.filter_map(|force| layout.in_group([a, b], force)));
            }
        }
        all.sort_unstable_by_key(|force| force.pair);
    }

    /// Gives the forces of contacts to the members, each to that of its first particle.
    pub(super) fn return_forces(&self, cloths: &mut [IslandCloth]) {
        for force in &self.warm_start.own {
            let [(a, i), (b, j)] = force.pair.map(|i| self.layout.particle(i));
            let id = cloths[b].id;
            let force = ContactForce {
                pair: [i as u32, j as u32],
                ..*force
            };
            let forces = &mut *cloths[a].warm_start;
            if a == b {
                forces.own.push(force);
            } else {
                forces.with_others.push((id, force));
            }
        }
    }
}
