//! Particles pinned to a dynamic body. They move as parts of it, and constraint corrections to them act on
//! the body.

use super::{Bodies, ImpulseSum};
use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// A particle pinned to a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyAttachment {
    /// Index of the particle.
    pub particle: u32,
    /// Index of the body in [`Bodies::list`].
    pub body: usize,
    /// Position in the frame of the body, relative to the centre of mass, m.
    pub local_position: Vec3,
    /// Inverse of the fraction of the body's effective mass that the particle represents, 1/kg.
    pub inverse_mass: f32,
}

impl Bodies {
    /// Distributes the mass of each body equally among the particles pinned to it. Call after the masses of the
    /// particles have been set.
    pub(crate) fn distribute_masses(&mut self, p: &mut ParticleArrays) {
        let Self {
            list, attachments, ..
        } = self;
        for k in 0..attachments.len() {
            let BodyAttachment {
                body,
                local_position,
                ..
            } = attachments[k];
            let count = attachments
                .iter()
                .filter(|other| other.body == body)
                .count();
            let motion = &list[body].motion;
            let inverse_mass =
                count as f32 * motion.inverse_mass_at(motion.pose.rotation * local_position);
            attachments[k].inverse_mass = inverse_mass;
            p.inverse_mass[attachments[k].particle as usize] = inverse_mass;
        }
    }

    /// Advances all dynamic bodies by a substep of length `dt`, s, together with the particles pinned to them.
    /// Call after integration.
    pub(crate) fn advance(&mut self, p: &mut ParticleArrays, during: [u32; 2], dt: f32) {
        for body in &mut self.list {
            if body.motion.is_dynamic() {
                body.motion.advance(dt);
            }
        }
        self.place_attached_particles(p, during);
    }

    /// Applies to each body the impulses that correspond to the constraint corrections of its pinned particles,
    /// and moves the particles back to their positions on the body. Call after everything that moves particles
    /// except contacts with colliders. In contacts the particles count as pinned until
    /// [`restore_attachment_masses`](Self::restore_attachment_masses).
    pub(crate) fn apply_attachment_impulses(
        &mut self,
        p: &mut ParticleArrays,
        during: [u32; 2],
        dt: f32,
    ) {
        if !self.attachments.is_empty() {
            let origin = p.origin;
            for (number, body) in self.list.iter_mut().enumerate() {
                let [_, pose] = body.motion.poses_at(during);
                let mut sum = ImpulseSum::default();
                let own = self.attachments.iter().filter(|a| a.body == number);
                for attachment in own.filter(|a| a.inverse_mass > 0.0) {
                    let arm = pose.rotation * attachment.local_position;
                    let target = pose.translation - origin + arm;
                    let correction = p.position.get(attachment.particle as usize) - target;
                    sum.add(arm, correction / (attachment.inverse_mass * dt));
                }
                body.motion.apply_impulse(sum.totals(), dt);
            }
            self.place_attached_particles(p, during);
            for attachment in &self.attachments {
                p.inverse_mass[attachment.particle as usize] = 0.0;
            }
        }
        self.update_dynamic_parts(during);
    }

    /// Restores the inverse masses of the particles pinned to bodies. Call after contacts.
    pub(crate) fn restore_attachment_masses(&self, p: &mut ParticleArrays) {
        for attachment in &self.attachments {
            p.inverse_mass[attachment.particle as usize] = attachment.inverse_mass;
        }
    }

    /// Moves the particles pinned to bodies to their positions at the end of the substep.
    fn place_attached_particles(&self, p: &mut ParticleArrays, during: [u32; 2]) {
        let origin = p.origin;
        for attachment in &self.attachments {
            let i = attachment.particle as usize;
            let positions = self.list[attachment.body]
                .motion
                .poses_at(during)
                .map(|pose| pose.translation - origin + pose.rotation * attachment.local_position);
            p.position.set(i, positions[1]);
            p.predicted.set(i, positions[1]);
            p.displacement.set(i, positions[1] - positions[0]);
        }
    }
}
