//! Copies bodies for cloths before a step, and tells what they were given after it.

use crate::{
    cloth::Cloth,
    components::{ClothBody, Particles},
    layers::ClothLayers,
    plugin::ClothSchedule,
    sleep::ClothSleeping,
    solver::{BodyPart, Motion, Pose, RigidBody},
};
use bevy::{
    ecs::{query::QueryData, schedule::InternedScheduleLabel},
    prelude::*,
};
use std::collections::BTreeMap;

/// A physics engine, as a cloth sees it.
pub(super) trait Engine {
    /// Finds the colliders that a cloth meets and whose boxes reach into the one between these corners,
    /// m.
    fn near(&self, cloth: &MeetingItem, around: [Vec3; 2], found: &mut Vec<Entity>);
    /// The body that a collider belongs to, or the collider itself.
    fn body_of(&self, collider: Entity) -> Entity;
    /// How a body moves, if it is there: its acceleration and where it was seen are not asked for.
    fn motion(&self, body: Entity) -> Option<Motion>;
    /// Adds what a collider is made of, seen from a centre of mass.
    fn parts(&mut self, collider: Entity, centre: &Pose, parts: &mut Vec<BodyPart>);
}

/// A cloth that may meet bodies.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct Meeting {
    pub(super) entity: Entity,
    pub(super) layers: Option<&'static ClothLayers>,
    cloth: &'static Cloth,
    particles: &'static Particles,
    body: &'static mut ClothBody,
    sleeps: Has<ClothSleeping>,
}

/// What was seen of the bodies in the last step, by their numbers.
#[derive(Resource, Default)]
pub(super) struct BodyMemory(BTreeMap<u64, Remembered>);

/// What was seen of a body.
#[derive(Clone, Copy, Debug)]
struct Remembered {
    motion: Motion,
    /// What all cloths gave it, N s and N m s.
    given: [Vec3; 2],
    /// What they gave it when it fell asleep.
    at_rest: Vec3,
}

/// What cloths gave a body in a step.
pub(super) struct Given {
    pub(super) body: Entity,
    /// N s.
    pub(super) impulse: Vec3,
    /// About its centre of mass, N m s.
    pub(super) twist: Vec3,
    /// It sleeps, and is to be woken.
    pub(super) wake: bool,
}

/// By how much what cloths give a body that sleeps may change the velocity it would have, m/s.
const STIR: f32 = 0.05;

/// What moves a body besides the cloth is at most this and as much again as the cloth gave it, m/s²: what
/// is more was a blow, which does not go on.
const PUSHED: f32 = 20.0;

/// The schedule of the cloth, if there is one.
pub(super) fn schedule(app: &App, plugin: &str) -> Option<InternedScheduleLabel> {
    let schedule = app.world().get_resource::<ClothSchedule>();
    if schedule.is_none() {
        error!("{plugin} does nothing without ClothPlugin; add that too");
    }
    schedule.map(|schedule| schedule.0)
}

/// The plugin whose engine cloth meets.
#[derive(Resource)]
struct Connected(&'static str);

/// Takes the place beside the cloth, if no other engine has it: what one of them says about bodies would be lost when
/// the other speaks.
pub(super) fn connect(app: &mut App, plugin: &'static str) -> bool {
    if let Some(Connected(other)) = app.world().get_resource() {
        error!("{plugin} does nothing beside {other}: cloth meets the bodies of one engine");
        return false;
    }
    app.insert_resource(Connected(plugin));
    true
}

/// Before a step of this length, s: copies all bodies near cloths.
pub(super) fn meet(
    engine: &mut impl Engine,
    cloths: &mut Query<Meeting>,
    memory: &BodyMemory,
    step: f32,
) {
    let mut colliders = Vec::new();
    for mut cloth in cloths {
        colliders.clear();
        if let Some(around) = surroundings(&cloth, step) {
            engine.near(&cloth, around, &mut colliders);
        }
        let sleeps = cloth.sleeps;
        let body = cloth.body.bypass_change_detection();
        let mut found: Vec<(Entity, Option<Entity>)> = colliders
            .iter()
            .map(|&collider| (engine.body_of(collider), Some(collider)))
            .collect();
        // What is pinned to a body that is out of reach hangs on it all the same.
        let anchors = body.pins.iter().filter_map(|pin| pin.anchor.entity());
        found.extend(anchors.map(|anchor| (anchor, None)));
        found.sort_unstable_by_key(|(body, collider)| (body.to_bits(), *collider));
        found.dedup();
        if found.is_empty() && body.bodies.list.is_empty() {
            continue;
        }
        let before = std::mem::take(&mut body.bodies.list);
        let mut list: Vec<RigidBody> = Vec::with_capacity(before.len());
        for (entity, collider) in found {
            let id = entity.to_bits();
            if list.last().is_none_or(|last| last.id != id) {
                let Some(mut motion) = engine.motion(entity) else {
                    continue;
                };
                let last = before.binary_search_by_key(&id, |body| body.id);
                let last = last.ok().map(|k| &before[k].motion);
                memory.look_ahead(id, &mut motion, step);
                motion.seen = last.map_or(motion.pose, |last| last.last_seen(step));
                if let Some(last) = last.filter(|_| sleeps) {
                    // What it gives goes on as it was.
                    (motion.impulse, motion.twist) = (last.impulse, last.twist);
                }
                if !motion.is_finite() {
                    continue;
                }
                list.push(RigidBody {
                    id,
                    motion,
                    parts: Vec::new(),
                });
            }
            if let (Some(collider), Some(last)) = (collider, list.last_mut()) {
                engine.parts(collider, &last.motion.pose, &mut last.parts);
            }
        }
        body.bodies.list = list;
    }
}

/// The corners of a box around all that a cloth may touch in a step, m.
fn surroundings(cloth: &MeetingItem, step: f32) -> Option<[Vec3; 2]> {
    let p = &cloth.particles;
    let (low, high) = p.position.bounds()?;
    let (back, forth) = p.displacement.bounds()?;
    // As far as it goes in two steps of its own; the engine's boxes hold the ways of its bodies.
    let step = step * (1 + cloth.body.pace.covers()) as f32;
    let way = back.abs().max(forth.abs()) * (step / p.last_dt);
    let margin = way + 2.0 * cloth.cloth.fabric.thickness + 0.05;
    let corners = [p.origin + low - margin, p.origin + high + margin];
    corners
        .iter()
        .all(|corner| corner.is_finite())
        .then_some(corners)
}

/// After a step: what all cloths gave each body. The same cloths give the same bits.
pub(super) fn hand_over(cloths: &Query<Meeting>, memory: &mut BodyMemory) -> Vec<Given> {
    let mut met: Vec<_> = cloths
        .iter()
        .filter(|cloth| !cloth.body.bodies.is_empty())
        .collect();
    met.sort_unstable_by_key(|cloth| cloth.entity);
    let before = std::mem::take(&mut memory.0);
    for body in met.iter().flat_map(|cloth| &cloth.body.bodies.list) {
        let entry = memory.0.entry(body.id).or_insert(Remembered {
            motion: body.motion,
            given: [Vec3::ZERO; 2],
            at_rest: Vec3::ZERO,
        });
        entry.given[0] += body.motion.impulse;
        entry.given[1] += body.motion.twist;
    }
    let mut all = Vec::new();
    for (&id, now) in &mut memory.0 {
        let Remembered { motion, given, .. } = *now;
        if !motion.yields() {
            continue;
        }
        let last = before.get(&id);
        let mut wake = false;
        if motion.asleep {
            now.at_rest = match last {
                Some(last) if last.motion.asleep => last.at_rest,
                Some(last) => last.given[0],
                None => Vec3::ZERO,
            };
            wake = is_stirred(&motion, given[0] - now.at_rest);
        }
        if wake || (!motion.asleep && given != [Vec3::ZERO; 2]) {
            all.extend(Entity::try_from_bits(id).map(|body| Given {
                body,
                impulse: given[0],
                twist: given[1],
                wake,
            }));
        }
    }
    // Who slept on a cloth that is gone falls.
    for (&id, last) in &before {
        let gone = !memory.0.contains_key(&id) && last.motion.asleep;
        if gone && is_stirred(&last.motion, last.at_rest) {
            all.extend(Entity::try_from_bits(id).map(|body| Given {
                body,
                impulse: Vec3::ZERO,
                twist: Vec3::ZERO,
                wake: true,
            }));
        }
    }
    all
}

fn is_stirred(motion: &Motion, by: Vec3) -> bool {
    (motion.inverse_mass * by).length() > STIR
}

impl BodyMemory {
    /// Finds how all but cloth moves a body: as it did in the last step.
    fn look_ahead(&self, id: u64, motion: &mut Motion, step: f32) {
        let Some(Remembered {
            motion: before,
            given: [impulse, twist],
            ..
        }) = self.0.get(&id)
        else {
            return;
        };
        if motion.asleep || before.asleep || !motion.yields() || step <= 0.0 {
            return;
        }
        // What it had before its substeps, in which its copy was moved.
        let given = [
            motion.inverse_mass * *impulse,
            motion.inverse_inertia * *twist,
        ];
        let changed = [
            motion.velocity - before.started[0],
            motion.spin - before.started[1],
        ];
        let [acceleration, turn] = [0, 1].map(|k| {
            let most = PUSHED + given[k].length() / step;
            ((changed[k] - given[k]) / step).clamp_length_max(most)
        });
        (motion.acceleration, motion.spin_acceleration) = (acceleration, turn);
    }
}
