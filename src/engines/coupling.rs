//! Copies nearby bodies for each cloth before its step, and collects the impulses on them after it.

use super::shapes::{EngineShape, PlacedSolid, ShapeCache};
use crate::solver::{BodyMotion, BodyPart, Friction, Pose, RigidBody};
use crate::{
    cloth::{
        Cloth,
        activity::ClothSleeping,
        particles::ClothParticles,
        schedule::{ClothStepSchedule, ClothSystems, PrepareSystems, StepSchedule, step_length},
        update_rate::UpdateRate,
    },
    collision::{bodies::ClothBodies, layers::ClothLayers},
    label::EntityLabel,
    pins::BoundPins,
    time::cloth_step_due,
};
use bevy::{
    ecs::{
        query::QueryData,
        schedule::InternedScheduleLabel,
        system::{StaticSystemParam, SystemParam, SystemParamItem},
    },
    prelude::*,
};
use std::collections::BTreeMap;

/// Interface to a physics engine.
pub(super) trait Engine {
    /// Shape of its colliders.
    type Shape: EngineShape;
    /// Appends the colliders that a cloth collides with and that overlap the box between these corners, m.
    fn find_colliders(&self, cloth: &CoupledClothItem, bounds: [Vec3; 2], found: &mut Vec<Entity>);
    /// Returns the body of a collider, or the collider itself if it has none.
    fn body_of(&self, collider: Entity) -> Entity;
    /// Returns the motion of a body, if it exists. `acceleration` and `cloth_pose` need not be set.
    fn motion(&self, body: Entity) -> Option<BodyMotion>;
    /// Returns a collider, if it exists.
    fn collider(&self, collider: Entity) -> Option<EngineCollider<'_, Self::Shape>>;
}

/// Collider of an engine.
pub(super) struct EngineCollider<'a, S> {
    pub(super) shape: &'a S,
    pub(super) pose: Pose,
    pub(super) friction: Friction,
}

/// Cloth that can collide with bodies.
#[derive(QueryData)]
#[query_data(mutable)]
pub(super) struct CoupledCloth {
    pub(super) entity: Entity,
    pub(super) layers: Option<&'static ClothLayers>,
    cloth: &'static Cloth,
    particles: &'static ClothParticles,
    rate: &'static UpdateRate,
    pins: &'static BoundPins,
    bodies: &'static mut ClothBodies,
    sleeps: Has<ClothSleeping>,
}

/// State of the bodies in the previous step, by entity bits.
#[derive(Resource, Default)]
struct BodyHistory(BTreeMap<u64, BodyRecord>);

/// State of a body in a step.
#[derive(Clone, Copy, Debug)]
struct BodyRecord {
    motion: BodyMotion,
    /// Linear and angular impulse from all cloths, N s and N m s.
    impulses: [Vec3; 2],
    /// Impulse from all cloths when the body fell asleep, N s.
    impulse_asleep: Vec3,
}

/// Impulse from all cloths on a body in a step.
pub(super) struct BodyImpulse {
    pub(super) body: Entity,
    /// Linear impulse, N s, and angular impulse about the centre of mass, N m s.
    impulses: [Vec3; 2],
    /// Whether the body sleeps and must be woken.
    pub(super) wake: bool,
}

impl BodyImpulse {
    /// Creates the impulse on the body with these entity bits, if they are valid.
    fn new(id: u64, impulses: [Vec3; 2], wake: bool) -> Option<Self> {
        let body = Entity::try_from_bits(id)?;
        Some(Self {
            body,
            impulses,
            wake,
        })
    }

    /// Returns the constant force and torque that have this impulse in a step of this length, s, N and N m; `None` if
    /// the engine takes no step, or if they are not finite.
    pub(super) fn force(&self, step: f32) -> Option<[Vec3; 2]> {
        let forces = self.impulses.map(|impulse| impulse / step);
        (step > 0.0 && forces.iter().all(|force| force.is_finite())).then_some(forces)
    }
}

/// A sleeping body wakes when the impulse from cloths would change its velocity by more than this, m/s.
const WAKE_SPEED: f32 = 0.05;

/// Largest acceleration of a body by anything but cloth, m/s², in addition to the acceleration that cloth caused:
/// a larger one was an impact, which does not continue.
const MAX_EXTERNAL_ACCELERATION: f32 = 20.0;

/// Name of the plugin that couples cloth with its engine.
#[derive(Resource)]
struct CoupledEngine(&'static str);

/// Couples cloth with the engine `E`: the cloth steps before its system set `engine_step`, and `apply_impulses` runs
/// in between. Returns the schedule of the cloth; `None` after logging an error without
/// [`ClothPlugin`](crate::ClothPlugin), or if another engine is coupled: only one at a time can write the bodies of
/// a cloth.
pub(super) fn couple<E, S, M>(
    app: &mut App,
    plugin: &'static str,
    engine_step: impl SystemSet,
    apply_impulses: impl IntoSystem<In<Vec<BodyImpulse>>, (), M> + 'static,
) -> Option<InternedScheduleLabel>
where
    E: SystemParam + 'static,
    S: EngineShape,
    for<'w, 's> SystemParamItem<'w, 's, E>: Engine<Shape = S>,
{
    let Some(schedule) = app.world().get_resource::<ClothStepSchedule>() else {
        error!("{plugin} does nothing without ClothPlugin; add that too");
        return None;
    };
    let schedule = schedule.label;
    if let Some(CoupledEngine(other)) = app.world().get_resource() {
        error!(
            "{plugin} does nothing beside {other}: cloth can be coupled to one engine only; \
             remove one of them"
        );
        return None;
    }
    app.insert_resource(CoupledEngine(plugin))
        .init_resource::<BodyHistory>()
        .init_resource::<ShapeCache<S>>()
        .configure_sets(
            schedule,
            (ClothSystems::Prepare, ClothSystems::Finish).before(engine_step.intern()),
        )
        .add_systems(
            StepSchedule::Prepare,
            collect_bodies::<E, S>
                .before(PrepareSystems::Sleep)
                .run_if(cloth_step_due),
        )
        .add_systems(
            schedule,
            collect_impulses
                .pipe(apply_impulses)
                .after(ClothSystems::Finish)
                .before(engine_step.intern())
                .run_if(cloth_step_due),
        );
    Some(schedule)
}

/// Copies all bodies near cloths, before a step.
fn collect_bodies<E, S>(
    engine: StaticSystemParam<E>,
    mut shapes: ResMut<ShapeCache<S>>,
    mut cloths: Query<CoupledCloth>,
    history: Res<BodyHistory>,
    clock: Res<Time>,
    labels: Query<EntityLabel>,
) where
    E: SystemParam + 'static,
    S: EngineShape,
    for<'w, 's> SystemParamItem<'w, 's, E>: Engine<Shape = S>,
{
    let engine = engine.into_inner();
    let step = step_length(&clock);
    let mut colliders = Vec::new();
    for mut cloth in &mut cloths {
        colliders.clear();
        if let Some(bounds) = query_bounds(&cloth, step) {
            engine.find_colliders(&cloth, bounds, &mut colliders);
        }
        let found = bodies_with_colliders(&engine, &colliders, cloth.pins);
        let bodies = cloth.bodies.bypass_change_detection();
        if found.is_empty() && bodies.list.is_empty() {
            continue;
        }
        let before = std::mem::take(&mut bodies.list);
        let mut list: Vec<RigidBody> = Vec::with_capacity(before.len());
        for (entity, collider) in found {
            let id = entity.to_bits();
            if list.last().is_none_or(|last| last.id != id) {
                let last = before.binary_search_by_key(&id, |body| body.id);
                let last = last.ok().map(|k| &before[k].motion);
                let motion = engine.motion(entity).and_then(|motion| {
                    history.motion_in_step(id, motion, last, cloth.sleeps, step)
                });
                let Some(motion) = motion else {
                    continue;
                };
                list.push(RigidBody {
                    id,
                    motion,
                    parts: Vec::new(),
                });
            }
            if let (Some(entity), Some(last)) = (collider, list.last_mut())
                && let Some(collider) = engine.collider(entity)
            {
                let solids = shapes.solids(entity, collider.shape, &labels);
                append_parts(solids, &collider, &last.motion.pose, &mut last.parts);
            }
        }
        bodies.list = list;
    }
    shapes.retain(|entity| engine.collider(entity).is_some());
}

/// Returns the bodies that a cloth needs in a step, sorted, each once with each of its colliders.
fn bodies_with_colliders(
    engine: &impl Engine,
    colliders: &[Entity],
    pins: &BoundPins,
) -> Vec<(Entity, Option<Entity>)> {
    let mut found: Vec<(Entity, Option<Entity>)> = colliders
        .iter()
        .map(|&collider| (engine.body_of(collider), Some(collider)))
        .collect();
    // Bodies that pins are attached to are needed even out of reach.
    found.extend(pins.anchors().map(|anchor| (anchor, None)));
    found.sort_unstable_by_key(|(body, collider)| (body.to_bits(), *collider));
    found.dedup();
    found
}

/// Appends the solids of a collider, relative to a centre of mass.
fn append_parts<S>(
    solids: &[PlacedSolid],
    collider: &EngineCollider<S>,
    centre: &Pose,
    parts: &mut Vec<BodyPart>,
) {
    let EngineCollider { pose, friction, .. } = *collider;
    let inverse = centre.rotation.inverse();
    let local = Pose {
        rotation: inverse * pose.rotation,
        translation: inverse * (pose.translation - centre.translation),
    };
    parts.extend(solids.iter().map(|(solid, at)| BodyPart {
        solid: solid.clone(),
        local_pose: local.compose(at),
        friction,
    }));
}

/// Returns the corners of a box around everything that a cloth can touch in a step, m.
fn query_bounds(cloth: &CoupledClothItem, step: f32) -> Option<[Vec3; 2]> {
    let p = &cloth.particles;
    let (low, high) = p.position.bounds()?;
    let (negative, positive) = p.displacement.bounds()?;
    // Travel in two steps of the cloth; the engine's boxes already include the travel of its bodies.
    let step = step * (1 + cloth.rate.steps_covered()) as f32;
    let travel = negative.abs().max(positive.abs()) * (step / p.last_dt);
    let margin = travel + 2.0 * cloth.cloth.fabric.surface().thickness + 0.05;
    let corners = [p.origin + low - margin, p.origin + high + margin];
    corners
        .iter()
        .all(|corner| corner.is_finite())
        .then_some(corners)
}

/// Collects the impulses of all cloths on each body, after a step. Cloths are summed in the order of their
/// entities, so the result is deterministic.
fn collect_impulses(
    cloths: Query<CoupledCloth>,
    mut history: ResMut<BodyHistory>,
) -> Vec<BodyImpulse> {
    let history = &mut *history;
    let mut coupled: Vec<_> = cloths
        .iter()
        .filter(|cloth| !cloth.bodies.is_empty())
        .collect();
    coupled.sort_unstable_by_key(|cloth| cloth.entity);
    let before = std::mem::take(&mut history.0);
    for body in coupled.iter().flat_map(|cloth| &cloth.bodies.list) {
        let entry = history.0.entry(body.id).or_insert(BodyRecord {
            motion: body.motion,
            impulses: [Vec3::ZERO; 2],
            impulse_asleep: Vec3::ZERO,
        });
        entry.impulses[0] += body.motion.impulse;
        entry.impulses[1] += body.motion.angular_impulse;
    }
    let mut found = Vec::new();
    for (&id, now) in &mut history.0 {
        let BodyRecord {
            motion, impulses, ..
        } = *now;
        if !motion.is_dynamic() {
            continue;
        }
        let last = before.get(&id);
        let mut wake = false;
        if motion.asleep {
            now.impulse_asleep = match last {
                Some(last) if last.motion.asleep => last.impulse_asleep,
                Some(last) => last.impulses[0],
                None => Vec3::ZERO,
            };
            wake = should_wake(&motion, impulses[0] - now.impulse_asleep);
        }
        if wake || (!motion.asleep && impulses != [Vec3::ZERO; 2]) {
            found.extend(BodyImpulse::new(id, impulses, wake));
        }
    }
    // Bodies that slept on a cloth that is gone must fall.
    for (&id, last) in &before {
        let lost_contact = !history.0.contains_key(&id) && last.motion.asleep;
        if lost_contact && should_wake(&last.motion, last.impulse_asleep) {
            found.extend(BodyImpulse::new(id, [Vec3::ZERO; 2], true));
        }
    }
    found
}

fn should_wake(motion: &BodyMotion, impulse: Vec3) -> bool {
    (motion.inverse_mass * impulse).length() > WAKE_SPEED
}

impl BodyHistory {
    /// Returns the motion of a body at the beginning of a step of a cloth; `None` if it is not finite. `last` is the
    /// motion at the end of the last step of the cloth. A sleeping cloth keeps applying its last impulse.
    fn motion_in_step(
        &self,
        id: u64,
        mut motion: BodyMotion,
        last: Option<&BodyMotion>,
        sleeps: bool,
        step: f32,
    ) -> Option<BodyMotion> {
        self.estimate_acceleration(id, &mut motion, step);
        motion.cloth_pose = last.map_or(motion.pose, |last| last.cloth_pose_at_end(step));
        if let Some(last) = last.filter(|_| sleeps) {
            (motion.impulse, motion.angular_impulse) = (last.impulse, last.angular_impulse);
        }
        motion.is_finite().then_some(motion)
    }

    /// Estimates the acceleration of a body by everything but cloth from the previous step.
    fn estimate_acceleration(&self, id: u64, motion: &mut BodyMotion, step: f32) {
        let Some(BodyRecord {
            motion: before,
            impulses: [impulse, angular_impulse],
            ..
        }) = self.0.get(&id)
        else {
            return;
        };
        if motion.asleep || before.asleep || !motion.is_dynamic() || step <= 0.0 {
            return;
        }
        // Change of velocity by the cloth in the previous step.
        let from_cloth = [
            motion.inverse_mass * *impulse,
            motion.inverse_inertia * *angular_impulse,
        ];
        // Since the start of the previous step, before the cloth moved its copy of the body in the substeps.
        let change = [
            motion.velocity - before.initial_velocities[0],
            motion.angular_velocity - before.initial_velocities[1],
        ];
        let [acceleration, angular_acceleration] = [0, 1].map(|k| {
            let limit = MAX_EXTERNAL_ACCELERATION + from_cloth[k].length() / step;
            ((change[k] - from_cloth[k]) / step).clamp_length_max(limit)
        });
        (motion.acceleration, motion.angular_acceleration) = (acceleration, angular_acceleration);
    }
}
