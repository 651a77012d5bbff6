//! Contacts of cloth with bodies that yield.

use super::{Bodies, Motion, Push};
#[cfg(feature = "parry")]
use crate::solver::mesh_contact::MeshContacts;
use crate::solver::{
    collide::{Collider, Skin, collide_again},
    crew::Leader,
    particles::ParticleArrays,
    soa::SoaVec3,
};
use bevy::math::Vec3;

/// What contacts with bodies need of a cloth.
pub(crate) struct Touching<'a> {
    /// Its triangles, thickness and friction.
    pub(crate) skin: Skin<'a>,
    /// What contacts with triangles need.
    #[cfg(feature = "parry")]
    pub(crate) meshes: &'a mut MeshContacts,
    /// Number of the substep, and of how many.
    pub(crate) during: [u32; 2],
    /// Length of the substep, s.
    pub(crate) dt: f32,
}

impl Bodies {
    /// Contacts with all bodies that yield, one after the other. After those with all that does not, when
    /// displacements are up to date. Returns whether anything touched.
    pub(crate) fn touch(
        &mut self,
        leader: &mut Leader,
        p: &mut ParticleArrays,
        by: Touching,
    ) -> bool {
        let mut skin = by.skin;
        let Some(around) = surroundings(p, skin.surface.thickness) else {
            return false;
        };
        let is_near = |collider: &Collider| {
            let [from, to] = collider.around();
            around[0].cmple(to).all() && from.cmple(around[1]).all()
        };
        let mut first = [0, 0];
        let mut any = false;
        for (body, count) in self.list.iter_mut().zip(&self.counts) {
            let own = &self.moving[first[0]..first[0] + count[0]];
            first[0] += count[0];
            #[cfg(feature = "parry")]
            let meshes = &self.moving_meshes[first[1]..first[1] + count[1]];
            first[1] += count[1];
            let near = own.iter().any(is_near);
            #[cfg(feature = "parry")]
            let near = near || meshes.iter().any(|mesh| is_near(&mesh.around()));
            if !near {
                continue;
            }
            self.room.clone_from(&p.displacement);
            let touched = collide_again(leader, p, skin.reborrow(), own);
            #[cfg(feature = "parry")]
            let touched = touched | {
                let all = meshes.iter().map(|mesh| (mesh, WHOLE));
                (by.meshes).collide(leader, p, all, &skin.surface, by.during[0] == 0);
                !meshes.is_empty() && by.meshes.is_near()
            };
            if touched {
                any = true;
                let motion = &mut body.motion;
                let centre = motion.during(by.during)[1].translation - p.origin;
                share_out(p, &self.room, centre, motion, by.dt);
            }
        }
        any
    }
}

/// Of what is known for one substep, that one.
#[cfg(feature = "parry")]
pub(crate) const WHOLE: [u32; 2] = [0, 1];

/// A box around all that a cloth may touch in a substep, in the world.
fn surroundings(p: &ParticleArrays, thickness: f32) -> Option<[Vec3; 2]> {
    let (low, high) = p.position.bounds()?;
    let (back, forth) = p.displacement.bounds()?;
    // Who is fast may have been on the other side.
    let reach = back.abs().max(forth.abs()) + thickness;
    Some([p.origin + low - reach, p.origin + high + reach])
}

/// Gives a body what a contact has taken from particles, whose displacements it has changed from
/// `before`, m in a substep of `dt`, s. What they lost only because it was taken to be immovable they get back.
fn share_out(p: &mut ParticleArrays, before: &SoaVec3, centre: Vec3, motion: &mut Motion, dt: f32) {
    let mut push = Push::default();
    // Twice the energy of the change: what makes it one of velocities.
    let mut taken = 0.0;
    for (i, &w) in p.inverse_mass.iter().enumerate() {
        let changed = p.displacement.get(i) - before.get(i);
        if w > 0.0 && changed != Vec3::ZERO {
            let velocity = changed / dt;
            let impulse = velocity / w;
            taken += f64::from(impulse.dot(velocity));
            push.add(p.position.get(i) - centre, -impulse);
        }
    }
    if taken == 0.0 {
        return;
    }
    let [impulse, twist] = push.ends();
    let share = if motion.asleep {
        1.0
    } else {
        let yielded =
            impulse.dot(motion.inverse_mass * impulse) + twist.dot(motion.inverse_inertia * twist);
        (taken / (taken + f64::from(yielded))) as f32
    };
    motion.give([impulse * share, twist * share]);
    if share < 1.0 {
        let (now, then) = (&mut p.displacement, before);
        let planes = [
            (&mut now.x, &then.x),
            (&mut now.y, &then.y),
            (&mut now.z, &then.z),
        ];
        for (now, then) in planes {
            for (now, then) in now.iter_mut().zip(then.iter()) {
                *now = then + (*now - then) * share;
            }
        }
    }
}
