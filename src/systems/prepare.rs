//! Begins a step: edits of the user take effect, pins get their targets, the wind its forces.

use super::{
    bind::{NO_PAINT, NO_PINS, bind_masses, rebind},
    bodies,
    colliders::ActiveColliders,
    follow::Anchors,
    guide,
    parallel::ClothCrew,
    pressure, tethers,
    touching::ClothsTouching,
    wind_zones::ActiveWindZones,
};
use crate::{
    cloth::Cloth,
    collider::ClothCollider,
    components::{ClothBody, Constraints, Particles},
    layers::ClothLayers,
    lod::InMotion,
    max_distance::MaxDistance,
    paint::ClothPaint,
    pins::{PinAnchor, Pins},
    plugin::SubstepTime,
    pressure::Pressure,
    settings::{ClothThreads, Substeps, Turbulence, Wind, WindOcclusion, WindTime},
    solver::{Air, Leader, WindField, apply_air_in_shared, apply_internal_friction},
    tearing::Tearing,
    world_motion::WorldMotion,
};
use bevy::{
    ecs::{
        query::QueryData,
        system::{NonSendMarker, SystemParam},
    },
    math::Affine3A,
    prelude::*,
};

/// Longest step that is taken at once, s; after a longer pause the cloth loses time, not its shape.
pub(super) const LONGEST_STEP: f32 = 0.1;

/// How long the coming step is, s.
pub(crate) fn step_length(clock: &Time) -> f32 {
    clock.delta_secs().min(LONGEST_STEP)
}

/// A cloth, with all that a step begins with.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct Prepared {
    entity: Entity,
    cloth: &'static Cloth,
    pins: Option<&'static Pins>,
    tearing: Option<&'static Tearing>,
    pressure: Option<&'static Pressure>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static MaxDistance>,
    motion: Option<&'static WorldMotion>,
    constraints: &'static Constraints,
    particles: &'static mut Particles,
    body: &'static mut ClothBody,
}

/// What blows.
#[derive(SystemParam)]
pub(crate) struct Weather<'w> {
    wind: Res<'w, Wind>,
    turbulence: Res<'w, Turbulence>,
    zones: Res<'w, ActiveWindZones>,
    occlusion: Res<'w, WindOcclusion>,
    colliders: Res<'w, ActiveColliders>,
}

impl Weather<'_> {
    /// All colliders where they are now, as if they stood still.
    pub(super) fn still(
        &self,
        colliders: &Query<(Entity, &ClothCollider, Option<&ClothLayers>)>,
        transforms: &TransformHelper,
    ) -> ActiveColliders {
        self.colliders.still(colliders, transforms)
    }

    /// Begins a step for cloths that hang on these anchors. `now` is the time of the wind, s.
    pub(super) fn prepare<'a, 'w, 's>(
        &'a self,
        anchors: &'a Anchors<'w, 's>,
        time: SubstepTime,
        now: f64,
    ) -> Preparation<'a, 'w, 's> {
        let occlusion = self.colliders.occlusion(&self.occlusion);
        Preparation {
            anchors,
            time,
            blowing: self.wind.at(now),
            air_density: self.wind.air_density,
            field: self.zones.field(&self.turbulence, now, occlusion),
        }
    }
}

pub(crate) fn prepare_cloths(
    mut cloths: Query<Prepared, InMotion>,
    anchors: Anchors,
    weather: Weather,
    mut wind_time: ResMut<WindTime>,
    substeps: Res<Substeps>,
    clock: Res<Time>,
    mut time: ResMut<SubstepTime>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    touching: Res<ClothsTouching>,
    // A core that waits for this system on the main thread would be one that does not help.
    _on_the_main_thread: NonSendMarker,
) {
    *time = substep_time(step_length(&clock), *substeps);
    let count = plan_substeps(&mut cloths, &time, &touching);
    *time = substep_time(time.step, Substeps(count));
    // The very first frame of a schedule other than `FixedUpdate` has no length yet.
    if time.step <= 0.0 {
        return;
    }
    **wind_time += f64::from(time.step);
    let preparation = weather.prepare(&anchors, *time, **wind_time);
    let size = |cloth: &PreparedItem| cloth.particles.len();
    let due = cloths.iter_mut().filter(|cloth| !cloth.body.pace.waits);
    crew.for_all(*threads, due, size, |leader, cloth| {
        preparation.run(leader, cloth);
    });
}

/// Finds out how many substeps each cloth is to take. Returns the most: those of all cloths lie among them.
fn plan_substeps(
    cloths: &mut Query<Prepared, InMotion>,
    usual: &SubstepTime,
    touching: &ClothsTouching,
) -> u32 {
    let due = cloths.iter_mut().filter(|cloth| !cloth.body.pace.waits);
    let plan = |mut cloth: PreparedItem| {
        let body = cloth.body.bypass_change_detection();
        let factor = body.bodies.plan(&cloth.particles, usual.substep);
        (body.pace.plan(usual.count, factor), factor)
    };
    let all = due.map(plan);
    let (count, most) = all.fold((usual.count, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    if most == 1 || touching.is_empty() {
        return count;
    }
    // Those that may touch each other must take the same.
    let groups = touching.groups();
    let carries = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| cloth.body.pace.factor() > 1)
    };
    let carry = groups.any(carries);
    for (&entity, _) in groups.entities.iter().zip(&carry).filter(|(_, any)| **any) {
        if let Ok(mut cloth) = cloths.get_mut(entity) {
            let body = cloth.body.bypass_change_detection();
            body.bodies.take(most);
            body.pace.plan(usual.count, most);
        }
    }
    usual.count * most
}

/// A step of this length, s, that has not begun.
pub(super) fn substep_time(step: f32, substeps: Substeps) -> SubstepTime {
    SubstepTime {
        step,
        substep: step / substeps.0 as f32,
        index: 0,
        count: substeps.0,
    }
}

/// What all cloths begin a step with.
pub(super) struct Preparation<'a, 'w, 's> {
    anchors: &'a Anchors<'w, 's>,
    time: SubstepTime,
    blowing: Vec3,
    air_density: f32,
    field: WindField<'a>,
}

impl Preparation<'_, '_, '_> {
    /// Begins a step of a cloth.
    pub(super) fn run(&self, leader: &mut Leader, prepared: PreparedItem) {
        let anchors = self.anchors;
        let PreparedItem {
            entity,
            cloth,
            pins,
            tearing,
            pressure,
            paint,
            max_distance,
            motion,
            constraints,
            mut particles,
            mut body,
        } = prepared;
        let time = &body.pace.step(&self.time);
        if !particles.is_finite_shared(leader) {
            // Somebody wrote a bad number since the last step; `previous` is still good.
            go_back(entity, &mut particles, &mut body);
        }
        // That it takes more of them for what it carries is to help at once.
        let usual = body.pace.usual(time);
        body.glide(cloth, &usual);
        let areal_density = body.applied(cloth, time).areal_density;
        // Compared with what is bound, not asked for changes: those may be from any time since
        // the cloth was built, and a cloth without `Pins` has none.
        let wanted = pins.unwrap_or(&NO_PINS);
        let relimited = body.guide.bound.as_ref() != max_distance;
        if relimited {
            guide::bind_limits(entity, max_distance, &mut body, particles.len());
        }
        let rebound = relimited || body.bound != *wanted;
        if rebound {
            rebind(entity, wanted, &particles, &mut body);
        }
        let painted = paint.unwrap_or(&NO_PAINT).mass != body.multiples.bound.mass;
        if painted {
            bind_masses(entity, paint, &mut body);
        }
        let handed = bodies::hold(entity, &mut body, particles.origin, anchors);
        if rebound || painted || handed || body.areal_density != areal_density {
            body.set_masses(&mut particles, areal_density);
        }
        bodies::begin_step(&mut body, &mut particles, time.step);
        // A limit that holds threads would keep them from tearing.
        let strain_limit = match tearing {
            Some(_) => f32::INFINITY,
            None => cloth.fabric.strain(),
        };
        body.glide_strain_limit(strain_limit, &particles, constraints, time.step);
        tethers::prepare(
            cloth.tethers(strain_limit),
            tearing,
            constraints,
            &particles,
            &mut body,
            time.step,
        );
        pressure::prepare(entity, pressure, &particles, &mut body, time.step);
        guide::aim_limits(entity, max_distance, &mut body, &particles, anchors);
        aim_pins(entity, &mut body, particles.origin, anchors);
        guide::see_wearer(entity, motion, &mut body, |of| anchors.at(of));
        let carried = guide::carried(entity, motion, &mut body, &particles, anchors, time.step);
        apply_internal_friction(&mut particles, cloth.fabric.internal_friction, time.step);
        body.guide.carried = carried;
        particles.begin_step_shared(leader, carried.as_ref(), &body.targets, time.count);
        let air = Air {
            // Air takes no more of a motion than there is, where the cloth is lightest.
            areal_density: areal_density * body.lightest(),
            ..cloth.fabric.air(self.blowing, self.air_density)
        };
        let (p, lines) = (&mut particles, body.rope.as_ref().map(|rope| &rope.lines));
        let field = &self.field;
        apply_air_in_shared(leader, field, p, &body.triangles, lines, &air, time.step);
    }
}

/// Finds where the pins of a cloth go in this step.
fn aim_pins(entity: Entity, body: &mut ClothBody, origin: Vec3, anchors: &Anchors) {
    let affine_of = |anchor: PinAnchor| match anchor {
        PinAnchor::World => None,
        PinAnchor::Cloth => anchors.relative(entity, origin),
        PinAnchor::Entity(other) => anchors.relative(other, origin),
    };
    body.targets.clear();
    let mut last: Option<(PinAnchor, Option<Affine3A>)> = None;
    let mut pins = std::mem::take(&mut body.pins);
    for pin in &mut pins {
        // Pins of one anchor mostly stand together; its transform is looked up once.
        let affine = match (last, &body.skin) {
            (_, Some(skin)) if pin.anchor == PinAnchor::Cloth => {
                let ancestor = body.ancestor(pin.particle) as usize;
                body.targets
                    .push(pin.target(Some(skin.matrix(ancestor)), origin));
                continue;
            }
            (Some((anchor, affine)), _) if anchor == pin.anchor => affine,
            _ => affine_of(pin.anchor),
        };
        last = Some((pin.anchor, affine));
        body.targets.push(pin.target(affine, origin));
    }
    body.pins = pins;
}

/// Good steps after which a cloth that met a non-finite number again is worth a new line in the log.
const SILENT_STEPS: u32 = 60;

/// Puts a cloth that met a non-finite number back to its last good state, and reports it, once until
/// it is well again.
pub(super) fn go_back(entity: Entity, particles: &mut Particles, body: &mut ClothBody) {
    particles.restore();
    let areal_density = body.areal_density;
    body.set_masses(particles, areal_density);
    if std::mem::replace(&mut body.silent_steps, SILENT_STEPS) == 0 {
        error!(
            "cloth {entity}: met a position or force that is not a finite number and went back to \
             its last good state; look for NaN or infinity in what your systems write to its \
             Particles and Constraints"
        );
    }
}
