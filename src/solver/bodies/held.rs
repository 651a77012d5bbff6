//! Particles that are pinned to a body which yields: they are pieces of it.

use super::{Bodies, Push};
use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// A particle that is pinned to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The particle.
    pub particle: u32,
    /// Which of the [`Bodies`] it is.
    pub body: usize,
    /// Its place in the frame of the body, from the centre of mass, m.
    pub place: Vec3,
    /// Its share of the body, 1/kg.
    pub inverse_mass: f32,
}

impl Bodies {
    /// Shares the masses of the bodies among the particles that they hold. Those of the particles must
    /// have been set.
    pub(crate) fn share_masses(&mut self, p: &mut ParticleArrays) {
        let Self { list, held, .. } = self;
        for k in 0..held.len() {
            let Held { body, place, .. } = held[k];
            let count = held.iter().filter(|other| other.body == body).count();
            let motion = &list[body].motion;
            let share = count as f32 * motion.mobility(motion.pose.rotation * place);
            held[k].inverse_mass = share;
            p.inverse_mass[held[k].particle as usize] = share;
        }
    }

    /// Begins a substep of this length, s: all bodies go on, and take along what they hold. After
    /// integration.
    pub(crate) fn lead(&mut self, p: &mut ParticleArrays, during: [u32; 2], dt: f32) {
        for body in &mut self.list {
            if body.motion.yields() {
                body.motion.advance(dt);
            }
        }
        self.put(p, during);
    }

    /// After everything that moves particles but contacts with colliders: the bodies get what their pieces
    /// were moved by, and have them back. In contacts those count as pinned until
    /// [`release`](Self::release).
    pub(crate) fn follow(&mut self, p: &mut ParticleArrays, during: [u32; 2], dt: f32) {
        if !self.held.is_empty() {
            let origin = p.origin;
            for (number, body) in self.list.iter_mut().enumerate() {
                let [_, seen] = body.motion.during(during);
                let mut push = Push::default();
                let own = self.held.iter().filter(|held| held.body == number);
                for held in own.filter(|held| held.inverse_mass > 0.0) {
                    let arm = seen.rotation * held.place;
                    let wanted = seen.translation - origin + arm;
                    let way = p.position.get(held.particle as usize) - wanted;
                    push.add(arm, way / (held.inverse_mass * dt));
                }
                body.motion.give(push.ends(), dt);
            }
            self.put(p, during);
            for held in &self.held {
                p.inverse_mass[held.particle as usize] = 0.0;
            }
        }
        self.place_parts(during);
    }

    /// After contacts: what is pinned to bodies is pieces of them again.
    pub(crate) fn release(&self, p: &mut ParticleArrays) {
        for held in &self.held {
            p.inverse_mass[held.particle as usize] = held.inverse_mass;
        }
    }

    /// Puts what bodies hold where it is seen.
    fn put(&self, p: &mut ParticleArrays, during: [u32; 2]) {
        let origin = p.origin;
        for held in &self.held {
            let i = held.particle as usize;
            let places = self.list[held.body]
                .motion
                .during(during)
                .map(|pose| pose.translation - origin + pose.rotation * held.place);
            p.position.set(i, places[1]);
            p.predicted.set(i, places[1]);
            p.displacement.set(i, places[1] - places[0]);
        }
    }
}
