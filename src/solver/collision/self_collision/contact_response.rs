//! Contact response of two particles of a cloth: impulses that stop their approach, friction, and push-out.

use super::{
    MAX_DISPLACEMENT, NEAR_MARGIN,
    surface_normals::SurfaceNormals,
    warm_start::{ContactForce, WarmStart, move_pair, weights},
};
use crate::solver::{
    collision::collider::Friction, math::noise::noise_point, particles::ParticleArrays,
};
use bevy::math::Vec3;

/// Recovery distance per substep, as a fraction of the contact distance: particles that were too near each other
/// at the beginning of a substep move apart by no more, so that a cloth that begins in intersection does not jump. What they
/// approach in the substep comes on top of it.
const RECOVERY: f32 = 0.1;

/// Depth in which particles are left, likewise. Contacts at rest last from substep to substep only if they are not pushed
/// apart each time; with 0.05 a stack of five cloths rests later, with 0.01 it slides from its block in the end.
const SLOP: f32 = 0.1;

/// Share of noise in the direction in which two particles in one point move apart.
const NOISE: f32 = 0.01;

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
    /// on. Displacements must be up to date, and are so afterwards. `impulses` is a scratch buffer.
    ///
    /// Corrections are split in proportion to inverse mass, so momentum is conserved. As with colliders, the push-out
    /// changes positions only. Returns whether any particle was moved.
    pub(super) fn solve(
        &self,
        p: &mut ParticleArrays,
        pairs: &[[u32; 2]],
        rules: &mut impl PairRules,
        warm_start: &mut WarmStart,
        impulses: &mut Vec<Vec3>,
    ) -> bool {
        warm_start.apply(p, pairs, self.dt, impulses);
        let mut moved_any = false;
        for (&pair, &before) in pairs.iter().zip(&*impulses) {
            let Some(weights) = weights(p, pair) else {
                continue;
            };
            let [a, b] = pair.map(|particle| particle as usize);
            let apart = p.position.get(a) - p.position.get(b);
            let own = p.displacement.get(a) - p.displacement.get(b);
            let contact = self.find(pair, apart, own, before);
            if contact.is_none() && before == Vec3::ZERO {
                continue;
            }
            moved_any = true;
            // Colliders act later in this substep, as they did in the last one.
            let reaction = warm_start.reaction(a, self.dt) - warm_start.reaction(b, self.dt);
            let response = match contact {
                Some(contact) => self.respond(contact, before, own + reaction, rules.touch(pair)),
                None => Response {
                    impulse: Vec3::ZERO,
                    moved: -before,
                },
            };
            move_pair(p, pair, weights, response.moved, response.impulse - before);
            let acceleration = response.impulse / (self.dt * self.dt);
            if response.impulse != Vec3::ZERO && acceleration.is_finite() {
                warm_start.own.push(ContactForce { pair, acceleration });
            }
        }
        moved_any
    }

    /// Returns the contact of two particles at this distance from each other, after this relative displacement in the substep;
    /// `None` if they do not touch. `impulse` is the part of their motion by which they were pushed apart already.
    fn find(&self, pair: [u32; 2], apart: Vec3, relative: Vec3, impulse: Vec3) -> Option<Contact> {
        let before = apart - relative;
        // Closest approach on their straight paths, if it lies between the ends.
        let path_squared = relative.length_squared();
        let time = -before.dot(relative);
        let nearest = if time > 0.0 && time < path_squared {
            before + relative * (time / path_squared)
        } else {
            apart
        };
        let distance_squared = nearest.length_squared();
        let distance = self.distance;
        let reach = (1.0 + NEAR_MARGIN) * distance;
        if distance_squared >= reach * reach || distance_squared.is_nan() {
            return None;
        }
        // Particles that nearly passed through each other return to the sides that they came from.
        let towards = if distance_squared < 0.25 * distance * distance {
            before
        } else {
            nearest
        };
        let length = towards.length();
        let normal = if length > 0.0 {
            self.normals.direction(pair, towards / length)
        } else {
            // Two sheets in one place separate upwards. A cloth in one point does not stay in a line.
            let [a, b] = pair.map(|particle| noise_point(particle as usize, 0));
            (Vec3::Y + NOISE * (a - b)).normalize()
        };
        let depth = distance - apart.dot(normal);
        let touches = depth + impulse.dot(normal).max(0.0) > 0.0;
        touches.then_some(Contact { normal, depth })
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
        let most = RECOVERY * self.distance + (press - pressed).max(0.0);
        let out = (depth - back - SLOP * self.distance).min(most).max(0.0);
        Response {
            impulse: normal * press + drag,
            moved: normal * (back + out) + (drag - dragged),
        }
    }
}
