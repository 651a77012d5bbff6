//! Contacts of cloth with bodies that yield.

use super::{Bodies, Motion, Push, burden::FREE};
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
        let recoil = RECOIL * self.burden.factor() as f32;
        // As fast as the cloth is on the whole, before any of these touch it.
        let mut cloth = None;
        let mut stretched = 0.0_f32;
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
            let cloth = *cloth.get_or_insert_with(|| mean(&p.displacement) / by.dt);
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
                let by_this = share_out(p, &self.room, centre, motion, (cloth, recoil), by.dt);
                stretched = stretched.max(by_this);
            }
        }
        self.burden.note(stretched, by.during[1]);
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

/// How much of what cloth that comes back from being stretched would give a body is kept from it, as a
/// multiple of what just suffices that the body does not swing.
const RECOIL: f32 = 2.0;

/// How far a body must stretch cloth, m, for all of that.
const TAUT: f32 = FREE / 4.0;

/// What a contact has done to the particles of a cloth.
struct Change {
    push: Push,
    /// The mass of those that were changed, kg.
    mass: f64,
    /// Twice the energy that the change would have as one of velocities, J.
    taken: f64,
}

impl Change {
    /// Between these displacements and those of now, m in a substep of `dt`, s.
    fn find(p: &ParticleArrays, before: &SoaVec3, centre: Vec3, dt: f32) -> Option<Self> {
        let mut change = Self {
            push: Push::default(),
            mass: 0.0,
            taken: 0.0,
        };
        for (i, &w) in p.inverse_mass.iter().enumerate() {
            let changed = p.displacement.get(i) - before.get(i);
            if w > 0.0 && changed != Vec3::ZERO {
                let velocity = changed / dt;
                let impulse = velocity / w;
                change.mass += f64::from(w.recip());
                change.taken += f64::from(impulse.dot(velocity));
                change.push.add(p.position.get(i) - centre, -impulse);
            }
        }
        (change.taken > 0.0).then_some(change)
    }
}

/// Gives a body what a contact has taken from particles, whose displacements it has changed from
/// `before`, m in a substep of `dt`, s. What they lost only because it was taken to be immovable they get back.
/// `cloth` is the mean velocity of the particles, m/s. Returns by how much the body stretched the cloth, m.
///
/// Cloth that was stretched comes back within a substep, which would make it an elastic spring. So a body
/// that already moves the way it is pushed, as seen from the cloth, gets less: what a damper would leave, which
/// belongs to the spring that has the mass of the particles that touch, m, and the stiffness m/Δt². For the
/// reduced impulse the particles keep some of their velocity, which the cloth takes from them.
fn share_out(
    p: &mut ParticleArrays,
    before: &SoaVec3,
    centre: Vec3,
    motion: &mut Motion,
    (cloth, recoil): (Vec3, f32),
    dt: f32,
) -> f32 {
    let Some(Change { push, mass, taken }) = Change::find(p, before, centre, dt) else {
        return 0.0;
    };
    let [impulse, twist] = push.ends();
    let taken = taken as f32;
    let mut share = 1.0;
    let mut stretched = impulse.length() / mass as f32 * dt;
    if !motion.asleep {
        let yielded =
            impulse.dot(motion.inverse_mass * impulse) + twist.dot(motion.inverse_inertia * twist);
        share = taken / (taken + yielded);
        // Light bodies are just carried along.
        stretched *= share;
        let rebound = impulse.dot(motion.velocity - cloth) + twist.dot(motion.spin);
        if rebound > 0.0 {
            // Cloth that just lies there does not come back from anywhere.
            let taut = (stretched / TAUT).min(1.0);
            let kept = 2.0 * recoil * taut * rebound / (taken * yielded).sqrt();
            share *= (1.0 - kept).max(0.0);
        }
    }
    motion.give([impulse * share, twist * share], dt);
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
    stretched
}

/// The mean of all vectors; zero if there are none.
fn mean(vectors: &SoaVec3) -> Vec3 {
    let of = |plane: &[f32]| {
        let sum: f64 = plane.iter().map(|&v| f64::from(v)).sum();
        (sum / plane.len().max(1) as f64) as f32
    };
    Vec3::new(of(&vectors.x), of(&vectors.y), of(&vectors.z))
}
