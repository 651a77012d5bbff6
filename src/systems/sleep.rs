//! Puts cloths at rest to sleep, and wakes them when they see anything else than they did then.
//!
//! What is around a cloth is rolled into one number, by its values: a transform that is written in each
//! frame, always the same, wakes nobody. The number does not depend on when it is taken, so that a
//! snapshot of a sleeping cloth sleeps on exactly as the cloth did.

use super::{
    bodies, colliders::ActiveColliders, draw::DrawBetweenSteps, planar::plane_of,
    prepare::step_length, touching::ClothsTouching, wind_zones::ActiveWindZones,
};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles},
    grab::ClothGrabs,
    layers::ClothLayers,
    lod::{ClothCulled, ClothPaused},
    max_distance::MaxDistance,
    paint::{ClothPaint, PerVertex},
    pins::{PinAnchor, Pins},
    planar::PlanarCloth,
    pressure::Pressure,
    settings::{ClothGravity, Substeps, Turbulence, Wind, WindOcclusion, WindTime},
    sleep::{ClothSleeping, Rest, Seen},
    snapshot::Print,
    solver::{Collider, Pose, Zone, has_stayed_within},
    tearing::Tearing,
    world_motion::WorldMotion,
};
use bevy::{
    ecs::{
        change_detection::Tick,
        query::QueryData,
        system::{SystemChangeTick, SystemParam},
    },
    prelude::*,
};

/// A cloth sees what is nearer to its bounds than this and its thickness, m.
const NEAR: f32 = 0.01;

/// What may move cloths.
#[derive(SystemParam)]
pub(crate) struct Surroundings<'w, 's> {
    gravity: Res<'w, ClothGravity>,
    wind: Res<'w, Wind>,
    wind_time: Res<'w, WindTime>,
    turbulence: Res<'w, Turbulence>,
    occlusion: Res<'w, WindOcclusion>,
    zones: Res<'w, ActiveWindZones>,
    colliders: Res<'w, ActiveColliders>,
    substeps: Res<'w, Substeps>,
    clock: Res<'w, Time>,
    fixed: Res<'w, DrawBetweenSteps>,
    transforms: TransformHelper<'w, 's>,
}

/// A cloth, and what of it is watched.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Watched {
    entity: Entity,
    rest: &'static mut Rest,
    sleeps: Has<ClothSleeping>,
    cloth: &'static Cloth,
    body: &'static ClothBody,
    particles: &'static mut Particles,
    constraints: Ref<'static, Constraints>,
    grabs: &'static ClothGrabs,
    pins: Option<&'static Pins>,
    layers: Option<&'static ClothLayers>,
    planar: Option<&'static PlanarCloth>,
    pressure: Option<&'static Pressure>,
    tearing: Option<&'static Tearing>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static MaxDistance>,
    motion: Option<&'static WorldMotion>,
}

/// Before a step: looks around for all cloths that sleep or are about to.
pub(crate) fn watch(
    mut cloths: Query<Watched, (Without<ClothPaused>, Without<ClothCulled>)>,
    around: Surroundings,
    touching: Res<ClothsTouching>,
    ticks: SystemChangeTick,
    mut commands: Commands,
) {
    let everywhere = around.everywhere();
    let now = ticks.this_run();
    for mut cloth in &mut cloths {
        let state = &cloth.rest.state;
        let (asleep, calm) = (state.asleep, state.calm);
        match (cloth.sleeps, asleep) {
            // Whoever is in motion has no time for it.
            (false, false) if calm == 0.0 => {}
            (false, false) => {
                let near = bounds(&cloth);
                let seen = around.seen(&everywhere, near, &cloth);
                let state = &mut cloth.rest.bypass_change_detection().state;
                state.near = near;
                if state.seen.as_ref() != Some(&seen) || !cloth.grabs.is_empty() {
                    state.calm = 0.0;
                    state.seen = Some(seen);
                }
            }
            // Woken by hand.
            (false, true) => cloth.rest.bypass_change_detection().state.wake(),
            (true, true) if is_disturbed(&around, &everywhere, &cloth, now) => {
                cloth.rest.bypass_change_detection().state.wake();
                commands.entity(cloth.entity).try_remove::<ClothSleeping>();
            }
            (true, true) => cloth.rest.bypass_change_detection().since = now,
            // Put to sleep by hand.
            (true, false) => {
                cloth.particles.stop();
                let near = bounds(&cloth);
                let seen = around.seen(&everywhere, near, &cloth);
                let Rest { state, since } = cloth.rest.bypass_change_detection();
                state.asleep = true;
                state.seen = Some(seen);
                state.near = near;
                *since = now;
            }
        }
    }
    if touching.is_empty() {
        return;
    }
    // What one that is awake may touch is awake.
    let groups = touching.groups();
    let is_awake = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| !cloth.rest.state.asleep)
    };
    let awake = groups.any(is_awake);
    for (entity, awake) in groups.entities.iter().zip(awake) {
        if awake
            && let Ok(mut cloth) = cloths.get_mut(*entity)
            && cloth.rest.state.asleep
        {
            cloth.rest.bypass_change_detection().state.wake();
            commands.entity(*entity).try_remove::<ClothSleeping>();
        }
    }
}

/// After a step of this length, s: notes whether a cloth was slow.
pub(super) fn note(cloth: &Cloth, particles: &Particles, rest: &mut Rest, step: f32) {
    let speed = cloth.sleep_speed;
    let is_slow = speed > 0.0 && has_stayed_within(particles, speed * step);
    rest.state.note(is_slow, step);
}

/// Stops a cloth that falls asleep.
pub(super) fn fall_asleep(particles: &mut Particles, rest: &mut Rest, now: Tick) {
    particles.stop();
    rest.state.asleep = true;
    rest.since = now;
}

/// Whether anything has happened that a sleeping cloth has to wake for.
fn is_disturbed(around: &Surroundings, everywhere: &Print, cloth: &WatchedItem, now: Tick) -> bool {
    let Rest { state, since } = &*cloth.rest;
    let written = |changed: Tick| changed.is_newer_than(*since, now);
    let bound = match cloth.pins {
        Some(pins) => *pins == cloth.body.bound,
        None => cloth.body.bound.pins.is_empty(),
    };
    if written(cloth.particles.last_changed())
        || written(cloth.constraints.last_changed())
        || !cloth.grabs.is_empty()
        || !bound
        || cloth.max_distance != cloth.body.guide.bound.as_ref()
        || cloth
            .paint
            .map_or(&PerVertex::default(), |paint| &paint.mass)
            != &cloth.body.multiples.bound.mass
    {
        return true;
    }
    let Some(seen) = &state.seen else {
        return true;
    };
    // The box stays the one in which it fell asleep; it has not moved since.
    around.seen(everywhere, state.near, cloth) != *seen
}

/// The corners of the box in which a cloth sees things.
fn bounds(cloth: &WatchedItem) -> [Vec3; 2] {
    let particles = &cloth.particles;
    let (low, high) = particles.position.bounds().unwrap_or_default();
    let applied = cloth.body.applied;
    let thickness = applied.map_or(cloth.cloth.fabric.thickness, |applied| applied.thickness);
    // Far from the origin of the world the corners are rounded.
    let rounding = 4.0 * f32::EPSILON * particles.origin.abs().max_element();
    let margin = NEAR + thickness + cloth.body.radius() + rounding;
    [
        particles.origin + low - margin,
        particles.origin + high + margin,
    ]
}

impl Surroundings<'_, '_> {
    /// What is the same for all cloths.
    fn everywhere(&self) -> Print {
        let mut print = Print::default();
        print.vector(self.gravity.0);
        print.word(self.substeps.0.into());
        // Elsewhere each step has another length, as frames have.
        if self.fixed.0 {
            print.numbers(&[step_length(&self.clock)]);
        }
        print
    }

    /// What a cloth sees in a box.
    fn seen(&self, everywhere: &Print, near: [Vec3; 2], cloth: &WatchedItem) -> Seen {
        let mut print = everywhere.clone();
        self.print_air(&mut print, near, cloth.cloth);
        for collider in self.colliders.near(cloth.layers, near) {
            print_collider(&mut print, collider);
        }
        #[cfg(feature = "parry")]
        self.print_meshes(&mut print, near, cloth);
        bodies::print(&mut print, cloth.body);
        self.print_pins(&mut print, cloth);
        self.print_guide(&mut print, cloth);
        let plane = cloth
            .planar
            .and_then(|planar| plane_of(cloth.entity, planar, &self.transforms));
        if let Some((point, normal)) = plane {
            print.word(u64::MAX);
            print.vector(point);
            print.vector(normal);
        }
        if let Some(pressure) = cloth.pressure {
            print.numbers(&[pressure.overpressure, pressure.ambient]);
        }
        Seen {
            cloth: cloth.cloth.clone(),
            tearing: cloth.tearing.cloned(),
            applied: cloth.body.applied,
            around: print.value(),
        }
    }

    /// The air that blows in a box, if the cloth feels any.
    fn print_air(&self, print: &mut Print, near: [Vec3; 2], cloth: &Cloth) {
        let (fabric, wind) = (&cloth.fabric, &self.wind);
        let feels = wind.air_density > 0.0 && (fabric.drag > 0.0 || fabric.lift > 0.0);
        print.word(feels.into());
        if !feels {
            return;
        }
        let time = self.wind_time.0;
        print.vector(wind.at(time));
        print.numbers(&[wind.air_density]);
        if self.turbulence.strength > 0.0 {
            let Turbulence {
                strength,
                size,
                period,
                seed,
            } = *self.turbulence;
            print.numbers(&[strength, size, period]);
            print.word(seed.into());
            print.word(time.to_bits());
        }
        for zone in self.zones.list.iter().filter(|zone| zone.reaches(near)) {
            print_zone(print, zone);
        }
        // What keeps the wind off may be far away.
        if let Some(by) = self.colliders.occlusion(&self.occlusion) {
            print.numbers(&[by.length, by.spread]);
            for collider in by.colliders {
                print_collider(print, collider);
            }
        }
    }

    /// The mesh colliders in a box.
    #[cfg(feature = "parry")]
    fn print_meshes(&self, print: &mut Print, [low, high]: [Vec3; 2], cloth: &WatchedItem) {
        for mesh in self.colliders.meshes.meeting(cloth.layers) {
            let boxed = mesh.around();
            let [from, to] = boxed.around();
            if low.cmple(to).all() && from.cmple(high).all() {
                print.word(mesh.surface_id());
                print_collider(print, &boxed);
            }
        }
    }

    /// Where all is that carries it, besides.
    fn print_guide(&self, print: &mut Print, cloth: &WatchedItem) {
        let body = &cloth.body;
        if let Some(skin) = &body.skin {
            for &joint in &skin.joints {
                self.print_transform(print, joint);
            }
        } else if !body.guide.limits.is_empty() {
            self.print_transform(print, cloth.entity);
        }
        let frame = cloth
            .motion
            .and_then(|motion| motion.frame_of(cloth.entity));
        if let Some(frame) = frame {
            self.print_transform(print, frame);
        }
    }

    fn print_transform(&self, print: &mut Print, entity: Entity) {
        match self.transforms.compute_global_transform(entity) {
            Ok(transform) => print.numbers(&transform.affine().to_cols_array()),
            Err(_) => print.word(u64::MAX),
        }
    }

    /// Where all is that pins hang on.
    fn print_pins(&self, print: &mut Print, cloth: &WatchedItem) {
        let mut last = None;
        for pin in &cloth.body.pins {
            // Pins of one anchor mostly stand together.
            if last == Some(pin.anchor) {
                continue;
            }
            last = Some(pin.anchor);
            let holder = match pin.anchor {
                PinAnchor::World => continue,
                PinAnchor::Cloth => cloth.entity,
                PinAnchor::Entity(other) => other,
            };
            self.print_transform(print, holder);
        }
    }
}

fn print_collider(print: &mut Print, collider: &Collider) {
    let Collider {
        shape,
        start,
        end,
        friction,
        hollow,
    } = collider;
    let (kind, lengths) = shape.numbers();
    print.word(u64::from(kind) << 1 | u64::from(*hollow));
    print.numbers(&lengths);
    print_pose(print, start);
    print_pose(print, end);
    print.numbers(&[friction.fixed, friction.kinetic]);
}

fn print_zone(print: &mut Print, zone: &Zone) {
    let Zone {
        shape,
        flow,
        falloff,
        strength,
        core,
        pose,
    } = zone;
    let (kind, lengths) = shape.numbers();
    print.word(u64::from(kind) << 16 | (*flow as u64) << 8 | *falloff as u64);
    print.numbers(&lengths);
    print.numbers(&[*strength, *core]);
    print_pose(print, pose);
}

fn print_pose(print: &mut Print, pose: &Pose) {
    print.numbers(&pose.rotation.to_array());
    print.vector(pose.translation);
}
