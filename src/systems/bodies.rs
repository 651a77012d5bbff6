//! Bodies of a physics engine, from the cloth's side: what it meets in a step, and what is pinned to them.
//! Who puts them there is one of the [`integrations`](crate::integrations).

use super::follow::Anchors;
use crate::{
    components::{ClothBody, Particles, Stale},
    pins::PinAnchor,
    snapshot::Print,
    solver::{Held, Motion},
};
use bevy::prelude::*;

/// Finds the particles that are pinned to bodies which yield. Returns whether
/// masses are to be set anew.
pub(super) fn hold(entity: Entity, body: &mut ClothBody, origin: Vec3, anchors: &Anchors) -> bool {
    if body.bodies.is_empty() && body.bodies.held.is_empty() {
        return false;
    }
    let before = std::mem::take(&mut body.bodies.held);
    let mut held = Vec::with_capacity(before.len());
    for pin in &mut body.pins {
        let of = match pin.anchor {
            PinAnchor::World => continue,
            PinAnchor::Cloth => entity,
            PinAnchor::Entity(other) => other,
        };
        let list = &body.bodies.list;
        let Ok(number) = list.binary_search_by_key(&of.to_bits(), |body| body.id) else {
            continue;
        };
        let motion = &list[number].motion;
        if !motion.yields() {
            continue;
        }
        let at = pin.target(anchors.relative(of, origin), origin).position;
        let arm = at + origin - motion.pose.translation;
        held.push(Held {
            particle: pin.particle,
            body: number,
            place: motion.pose.rotation.inverse() * arm,
            inverse_mass: 0.0,
        });
    }
    let particles = |held: &[Held]| held.iter().map(|held| held.particle).collect::<Vec<_>>();
    let others = particles(&before) != particles(&held);
    if others {
        body.reach.stale = Stale::All;
    }
    body.bodies.held = held;
    others
}

/// Begins a step of this length, s.
pub(super) fn begin_step(body: &mut ClothBody, particles: &mut Particles, step: f32) {
    if !body.bodies.is_empty() {
        body.bodies.begin_step(step);
        body.bodies.share_masses(particles);
    }
}

/// What a sleeping cloth sees of them.
pub(super) fn print(print: &mut Print, body: &ClothBody) {
    for body in &body.bodies.list {
        let Motion {
            pose,
            velocity,
            spin,
            asleep,
            ..
        } = body.motion;
        print.word(body.id);
        print.word(u64::from(body.motion.yields()) << 1 | u64::from(asleep));
        print.numbers(&pose.rotation.to_array());
        print.vector(pose.translation);
        print.vector(velocity);
        print.vector(spin);
        print.word(body.parts.len() as u64);
    }
}
