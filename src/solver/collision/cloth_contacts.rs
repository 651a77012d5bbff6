//! Contacts of the cloths of an island: the particles of all cloths that touch each other are solved together, as those of
//! one cloth ([`self_collision`](super::self_collision)). Contacts of each cloth with itself are among them.

mod forces;

use crate::solver::{
    collision::{
        collider::Friction,
        self_collision::{PairRules, SelfCollisionSettings, SelfContactPairs, WarmStart},
    },
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    state::SubstepTime,
    triangles::corners::Corners,
};
use bevy::math::{Mat3, Vec3};

/// Distance between the rest positions of two cloths, as a multiple of the contact distance: far enough that their
/// particles may touch.
const REST_GAP: f32 = 4.0;

/// Cloth of an island in a substep.
#[derive(Debug)]
pub struct IslandCloth<'a> {
    /// Particles of the cloth.
    pub particles: &'a mut ParticleArrays,
    /// Contacts with itself. From another cloth it keeps the larger distance of the two, with the mean friction.
    pub settings: SelfCollisionSettings<'a>,
    /// Whether the cloth takes this substep. If not, it touches nothing.
    pub is_due: bool,
    /// Set if it touches another cloth.
    pub touched: &'a mut bool,
    /// Forces of its contacts in the last step; those with other cloths name them by their `id`.
    pub warm_start: &'a mut WarmStart,
    /// Number that tells it from others, the same in each step.
    pub id: u64,
}

/// Contacts of the cloths of an island, and scratch buffers for their search.
///
/// Between steps they are not part of the state of a cloth: forces are taken from the cloths in the first substep of a step,
/// and returned to them in its last one.
#[derive(Clone, Debug, Default)]
pub struct IslandContacts {
    /// One for each contact distance.
    groups: Vec<ContactGroup>,
    /// Number of particles of each cloth.
    counts: Vec<usize>,
}

impl IslandContacts {
    /// Keeps the cloths of an island apart from each other and themselves in a substep, after relaxation and before
    /// colliders; edges that have passed through triangles are brought back. `interact` tells whether two different cloths
    /// may touch.
    /// Momentum is conserved. Does not depend on threads or SIMD levels, but on the order of the cloths.
    pub fn collide(
        &mut self,
        cloths: &mut [IslandCloth],
        interact: impl Fn(usize, usize) -> bool,
        time: &SubstepTime,
    ) {
        for cloth in &mut *cloths {
            cloth.is_due = cloth.is_due && cloth.settings.begin_contacts(cloth.particles);
        }
        let counts = cloths.iter().map(|cloth| cloth.particles.len());
        if time.index == 0 || !counts.clone().eq(self.counts.iter().copied()) {
            self.counts.clear();
            self.counts.extend(counts);
            self.group(cloths, interact);
            for group in &mut self.groups {
                group.collect_forces(cloths);
            }
        }
        for group in &mut self.groups {
            group.collide(cloths, time);
        }
        if time.index + 1 == time.count {
            for cloth in &mut *cloths {
                cloth.warm_start.own.clear();
                cloth.warm_start.with_others.clear();
            }
            for group in &self.groups {
                group.return_forces(cloths);
            }
            for cloth in &mut *cloths {
                // So that each other cloth is looked for once.
                cloth.warm_start.with_others.sort_by_key(|(id, _)| *id);
            }
        }
    }

    /// Groups pairs of cloths by the distance that they keep.
    fn group(&mut self, cloths: &[IslandCloth], interact: impl Fn(usize, usize) -> bool) {
        let settings = cloths.iter().map(|cloth| &cloth.settings);
        let valid = settings.filter(|settings| settings.is_valid());
        let mut distances: Vec<f32> = valid.map(|settings| settings.distance).collect();
        distances.sort_unstable_by(f32::total_cmp);
        distances.dedup();
        self.groups.resize_with(distances.len(), Default::default);
        for (group, distance) in self.groups.iter_mut().zip(distances) {
            group.update(cloths, distance, &interact);
        }
    }
}

/// Cloths with pairs that keep the same distance: those that keep it themselves, and those with a smaller distance that
/// may touch one of them.
#[derive(Clone, Debug, Default)]
struct ContactGroup {
    layout: Layout,
    /// Scratch buffer: the layout of this step.
    next_layout: Layout,
    /// Triangles of each member, and of all.
    each_triangles: Vec<Corners>,
    triangles: Corners,
    /// Particles of all members, relative to the origin of the first.
    particles: ParticleArrays,
    contacts: SelfContactPairs,
    /// Forces of all contacts of the members.
    warm_start: WarmStart,
}

/// Members of a group.
#[derive(Clone, Debug, Default, PartialEq)]
struct Layout {
    /// Distance that particles keep, m.
    distance: f32,
    /// Index of each cloth.
    members: Vec<usize>,
    /// First particle of each, and the number of all.
    first: Vec<usize>,
    /// Member of each particle.
    member_of: Vec<u32>,
    /// Rest position of each particle, m: far from those of other members. Particles of a member with a smaller distance
    /// have the same one, so they do not touch each other.
    rest: Vec<Vec3>,
    /// Whether two members may touch, for each pair in both orders.
    may_touch: Vec<bool>,
}

impl Layout {
    /// Collects the cloths with pairs that keep this distance, m.
    fn fill(
        &mut self,
        cloths: &[IslandCloth],
        distance: f32,
        interact: impl Fn(usize, usize) -> bool,
    ) {
        self.distance = distance;
        self.first.clear();
        self.member_of.clear();
        self.rest.clear();
        self.members.clear();
        self.may_touch.clear();
        let keeps = |k: usize| cloths[k].settings.distance == distance;
        let may_touch = |a, b| match a == b {
            true => keeps(a),
            false => interact(a, b) && (keeps(a) || keeps(b)),
        };
        let is_member = |&a: &usize| {
            let (settings, mut others) = (&cloths[a].settings, 0..cloths.len());
            settings.distance <= distance
                && settings.rest.len() == cloths[a].particles.len()
                && others.any(|b| cloths[b].settings.distance <= distance && may_touch(a, b))
        };
        self.members.extend((0..cloths.len()).filter(is_member));
        let mut from = 0.0;
        for (member, &k) in (0..).zip(&self.members) {
            let SelfCollisionSettings { rest, to_world, .. } = cloths[k].settings;
            let first = self.rest.len();
            self.first.push(first);
            self.member_of.resize(first + rest.len(), member);
            if keeps(k) {
                self.rest.extend(rest.iter().map(|&rest| to_world * rest));
            } else {
                self.rest.resize(first + rest.len(), Vec3::ZERO);
            }
            let own = &mut self.rest[first..];
            let low = own.iter().fold(f32::INFINITY, |low, at| low.min(at.x));
            let high = own
                .iter()
                .fold(f32::NEG_INFINITY, |high, at| high.max(at.x));
            own.iter_mut().for_each(|at| at.x += from - low);
            from += high - low + REST_GAP * distance;
        }
        self.first.push(self.rest.len());
        let pairs = (self.members.iter()).flat_map(|&a| self.members.iter().map(move |&b| (a, b)));
        (self.may_touch).extend(pairs.map(|(a, b)| a == b || may_touch(a, b)));
    }

    /// Returns the cloth of a particle, and its index there.
    fn particle(&self, i: u32) -> (usize, usize) {
        let member = self.member_of[i as usize] as usize;
        (self.members[member], i as usize - self.first[member])
    }
}

impl ContactGroup {
    /// Prepares for a step.
    fn update(
        &mut self,
        cloths: &[IslandCloth],
        distance: f32,
        interact: impl Fn(usize, usize) -> bool,
    ) {
        self.next_layout.fill(cloths, distance, interact);
        let members = self.next_layout.members.iter();
        let triangles = members.map(|&k| cloths[k].settings.triangles);
        let same = self.next_layout == self.layout
            && triangles
                .clone()
                .zip(&self.each_triangles)
                .all(|(a, b)| a.is_copy_of(b));
        if same {
            return;
        }
        self.each_triangles = triangles.cloned().collect();
        std::mem::swap(&mut self.layout, &mut self.next_layout);
        let each = self.each_triangles.iter().zip(&self.layout.first);
        let shifted = each.flat_map(|(triangles, &first)| {
            let first = first as u32;
            triangles
                .iter()
                .map(move |corners| corners.map(|i| i + first))
        });
        self.triangles = Corners::from(shifted.collect::<Vec<_>>());
        self.contacts.forget();
    }

    /// Solves the contacts of a substep.
    fn collide(&mut self, cloths: &mut [IslandCloth], time: &SubstepTime) {
        self.join(cloths);
        let settings = SelfCollisionSettings {
            distance: self.layout.distance,
            // That of the cloths applies.
            friction: Friction::default(),
            rest: &self.layout.rest,
            to_world: Mat3::IDENTITY,
            triangles: &self.triangles,
        };
        let mut rules = IslandRules {
            layout: &self.layout,
            cloths,
        };
        let (particles, warm_start) = (&mut self.particles, &mut self.warm_start);
        if (self.contacts).solve(particles, &settings, &mut rules, warm_start, time) {
            self.write_back(cloths);
        }
        for &k in &self.layout.members {
            let is_due = cloths[k].is_due;
            let particles = &mut *cloths[k].particles;
            particles.touches_cloth |= self.particles.touches_cloth;
            particles.way_in_folds = particles.way_in_folds.max(self.particles.way_in_folds);
            // Others have substeps of another length.
            if is_due {
                particles.contacts += self.particles.contacts;
                particles.is_tangled_everywhere |= self.particles.is_tangled_everywhere;
            }
        }
    }

    /// Concatenates the particles of the members.
    fn join(&mut self, cloths: &[IslandCloth]) {
        let Self {
            layout, particles, ..
        } = self;
        let ParticleArrays {
            position,
            displacement,
            predicted,
            inverse_mass,
            is_tangled,
            touches_cloth,
            way_in_folds,
            contacts,
            ..
        } = particles;
        inverse_mass.clear();
        for plane in [&mut *position, displacement, predicted].map(SoaVec3::planes_mut) {
            plane.into_iter().for_each(|plane| plane.clear());
        }
        (*is_tangled, *touches_cloth) = (false, false);
        (*way_in_folds, *contacts) = (0.0, 0.0);
        let mut origin = None;
        for &k in &layout.members {
            let p = &*cloths[k].particles;
            *is_tangled |= p.is_tangled;
            // Each cloth has its own origin.
            let shift = p.origin - *origin.get_or_insert(p.origin);
            let planes = position.planes_mut().into_iter().zip(p.position.planes());
            for ((to, from), shift) in planes.zip(shift.to_array()) {
                to.extend(from.iter().map(|position| position + shift));
            }
            let planes = displacement.planes_mut().into_iter();
            for (to, from) in planes.zip(p.displacement.planes()) {
                to.extend_from_slice(from);
            }
            inverse_mass.extend_from_slice(&p.inverse_mass);
        }
        predicted.resize(layout.rest.len());
        let reaction = self.warm_start.reaction.planes_mut();
        for (axis, reaction) in reaction.into_iter().enumerate() {
            reaction.clear();
            for (&k, count) in layout.members.iter().zip(layout.first.windows(2)) {
                let from = cloths[k].warm_start.reaction.planes()[axis];
                let known = from.len().min(count[1] - count[0]);
                reaction.extend_from_slice(&from[..known]);
                reaction.resize(count[1], 0.0);
            }
        }
    }

    /// Writes positions and displacements back. Particles that did not move lose no bit to the change of origin.
    fn write_back(&self, cloths: &mut [IslandCloth]) {
        let mut origin = None;
        for (member, &k) in self.layout.members.iter().enumerate() {
            let range = self.layout.first[member]..self.layout.first[member + 1];
            let cloth = &mut cloths[k];
            let p = &mut *cloth.particles;
            let shift = (p.origin - *origin.get_or_insert(p.origin)).to_array();
            let moved = self.particles.position.planes().into_iter().zip(shift);
            let planes = p.position.planes_mut().into_iter().zip(moved);
            for ((position, (moved, shift)), predicted) in planes.zip(p.predicted.planes_mut()) {
                let all = position
                    .iter_mut()
                    .zip(predicted)
                    .zip(&moved[range.clone()]);
                for ((position, predicted), moved) in all {
                    *position += moved - (*position + shift);
                    *predicted = *position;
                }
            }
            let displaced = self.particles.displacement.planes().into_iter();
            for (to, from) in p.displacement.planes_mut().into_iter().zip(displaced) {
                to.copy_from_slice(&from[range.clone()]);
            }
        }
    }
}

/// Rules for the pairs of particles of several cloths.
struct IslandRules<'a, 'c> {
    layout: &'a Layout,
    cloths: &'a mut [IslandCloth<'c>],
}

impl PairRules for IslandRules<'_, '_> {
    fn retain(&self, pairs: &mut Vec<[u32; 2]>) {
        let Layout {
            members,
            member_of,
            may_touch,
            ..
        } = self.layout;
        let is_due = |member: u32| self.cloths[members[member as usize]].is_due;
        let all_due = (0..members.len()).all(|member| is_due(member as u32));
        if all_due && !may_touch.contains(&false) {
            return;
        }
        pairs.retain(|pair| {
            let [a, b] = pair.map(|i| member_of[i as usize]);
            may_touch[a as usize * members.len() + b as usize] && is_due(a) && is_due(b)
        });
    }

    fn touch(&mut self, pair: [u32; 2]) -> Friction {
        let [a, b] = pair.map(|i| self.layout.members[self.layout.member_of[i as usize] as usize]);
        let [one, other] = [a, b].map(|k| self.cloths[k].settings.friction);
        if a == b {
            return one;
        }
        *self.cloths[a].touched = true;
        *self.cloths[b].touched = true;
        Friction {
            static_coefficient: 0.5 * (one.static_coefficient + other.static_coefficient),
            kinetic_coefficient: 0.5 * (one.kinetic_coefficient + other.kinetic_coefficient),
        }
    }
}

#[cfg(test)]
mod tests;
