//! Contact response of two particles of a cloth: impulses that stop their approach, friction, and push-out.

use super::{
    contact_direction::FindDirections,
    contact_particles::ContactParticles,
    settings::MAX_DISPLACEMENT,
    surface_normals::SurfaceNormals,
    warm_start::{ContactForce, WarmStart},
};
use crate::solver::{collision::collider::Friction, particles::ParticleArrays, simd::dispatch};
use bevy::math::Vec3;

/// Depth in which particles are left, as a fraction of the contact distance. Contacts at rest last from substep to substep only
/// if they are not pushed apart each time; with 0.05 a stack of five cloths rests later, with 0.01 it slides from its block in
/// the end.
const SLOP: f32 = 0.1;

/// Rules for the contacts of pairs of particles.
pub(in crate::solver::collision) trait PairRules {
    /// Removes pairs that do not touch, however near they are.
    fn retain(&self, pairs: &mut Vec<[u32; 2]>);

    /// Returns the friction of two particles, which touch.
    fn touch(&mut self, pair: [u32; 2]) -> Friction;
}

/// Friction of particles of one fabric, which may all touch.
impl PairRules for Friction {
    fn retain(&self, _: &mut Vec<[u32; 2]>) {}

    fn touch(&mut self, _: [u32; 2]) -> Friction {
        *self
    }
}

/// Parameters of the contact between particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactResponse<'a> {
    /// Distance that particles keep from each other, m.
    pub(super) distance: f32,
    pub(super) normals: &'a SurfaceNormals,
    /// Length of the substep, s.
    pub(super) dt: f32,
    /// Recovery distance, as a fraction of the distance.
    pub(super) recovery: f32,
}

/// Contact of two particles.
struct Contact {
    /// Direction in which the first one is pushed.
    normal: Vec3,
    /// Missing distance along it, m.
    depth: f32,
}

/// Change of the relative motion of two particles by a contact.
struct Response {
    /// Impulse in this substep, as a change of the relative displacement, m.
    impulse: Vec3,
    /// Change of the relative position, m.
    moved: Vec3,
}

impl ContactResponse<'_> {
    /// Solves all pairs, which must be sorted, once, one after the other (Gauss–Seidel), from the impulses of the last substep
    /// on. Directions are found before the first pair is solved, many at a time. Displacements must be up to date, and are so
    /// afterwards. `near` is a scratch buffer.
    ///
    /// Corrections are split in proportion to inverse mass, so momentum is conserved. As with colliders, the push-out
    /// changes positions only. Returns whether any particle was moved.
    pub(super) fn solve(
        &self,
        p: &mut ParticleArrays,
        pairs: &[[u32; 2]],
        rules: &mut impl PairRules,
        warm_start: &mut WarmStart,
        near: &mut ContactParticles,
    ) -> bool {
        near.gather(p, pairs, self.normals, warm_start, self.dt);
        warm_start.apply(near, self.dt);
        let ContactParticles {
            particles, pairs, ..
        } = &mut *near;
        dispatch(FindDirections {
            particles,
            pairs,
            distance: self.distance,
        });
        let mut moved_any = false;
        for pair in pairs {
            let (before, [a, b]) = (pair.impulse, pair.of(particles));
            let apart = a.position - b.position;
            let contact = pair.direction.and_then(|normal| {
                let depth = self.distance - apart.dot(normal);
                let touches = depth + before.dot(normal).max(0.0) > 0.0;
                touches.then_some(Contact { normal, depth })
            });
            let indices = [a.index, b.index];
            let response = match contact {
                Some(contact) => {
                    // Colliders act later in this substep, as they did in the last one.
                    let relative = (a.displacement + a.reaction) - (b.displacement + b.reaction);
                    self.respond(contact, before, relative, rules.touch(indices))
                }
                None if before == Vec3::ZERO => continue,
                None => Response {
                    impulse: Vec3::ZERO,
                    moved: -before,
                },
            };
            moved_any = true;
            pair.shift(particles, response.moved, response.impulse - before);
            let acceleration = response.impulse / (self.dt * self.dt);
            if response.impulse != Vec3::ZERO && acceleration.is_finite() {
                warm_start.own.push(ContactForce {
                    pair: indices,
                    acceleration,
                });
            }
        }
        if moved_any {
            near.scatter(p);
        }
        moved_any
    }

    /// Returns the response to a contact. `before` is the impulse with which the substep began, `relative` the displacement of
    /// the first particle relative to the second since then.
    fn respond(
        &self,
        contact: Contact,
        before: Vec3,
        relative: Vec3,
        friction: Friction,
    ) -> Response {
        let Contact { normal, depth } = contact;
        let approach = relative.dot(normal);
        let (pressed, dragged) = (before.dot(normal), before.reject_from_normalized(normal));
        // Between two sides that do not yield, impulses would grow without limit.
        let press = (pressed - approach).clamp(0.0, 2.0 * MAX_DISPLACEMENT * self.distance);
        let slip = relative - normal * approach;
        let drag = friction.removed(dragged - slip, press);
        // Particles that were pressed more than they had to be return.
        let back = (press - pressed).min(0.0);
        let most = self.recovery * self.distance + (press - pressed).max(0.0);
        let out = (depth - back - SLOP * self.distance).min(most).max(0.0);
        Response {
            impulse: normal * press + drag,
            moved: normal * (back + out) + (drag - dragged),
        }
    }
}
