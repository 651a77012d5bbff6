//! Begins a step: applies changed components, computes the targets of pins and the forces of the air.

use crate::solver::{Air, ClothState, StepInput, StepSettings, SubstepTime, WindField, Workers};
use crate::{
    build::rebind_pins,
    character::{
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        multipliers::{NO_PAINT, bind_masses},
        paint::ClothPaint,
        reference_frame,
    },
    cloth::{
        Cloth,
        activity::InMotion,
        components::ClothBody,
        particles::{ClothConstraints, ClothParticles},
        schedule::{ClothSubstepTime, step_length},
        settings::{ClothMaxThreads, ClothSubsteps},
        tethers,
        transforms::Anchors,
        workers::ClothWorkers,
    },
    collision::{
        active_colliders::ActiveColliders, bodies, broad_phase::ClothPairs,
        collider::ClothCollider, contacts::ClothContacts, layers::ClothLayers,
    },
    pins::{PinAnchor, Pins, bind::NO_PINS},
    pressure::{ClothPressure, enclosed_air as pressure},
    tearing::ClothTearing,
    wind::{
        active_zones::ActiveWindZones,
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    },
};
use bevy::{
    ecs::{
        query::QueryData,
        system::{NonSendMarker, SystemParam},
    },
    math::Affine3A,
    prelude::*,
};

/// Components of a cloth used at the beginning of a step.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct PrepareQuery {
    entity: Entity,
    cloth: &'static Cloth,
    pins: Option<&'static Pins>,
    tearing: Option<&'static ClothTearing>,
    pressure: Option<&'static ClothPressure>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static ClothMaxDistance>,
    motion: Option<&'static ClothInertia>,
    constraints: &'static mut ClothConstraints,
    contacts: &'static mut ClothContacts,
    particles: &'static mut ClothParticles,
    body: &'static mut ClothBody,
}

/// Resources that determine the air around cloths, and colliders.
#[derive(SystemParam)]
pub(crate) struct AirParams<'w> {
    wind: Res<'w, Wind>,
    turbulence: Res<'w, WindTurbulence>,
    zones: Res<'w, ActiveWindZones>,
    occlusion: Res<'w, WindOcclusion>,
    colliders: Res<'w, ActiveColliders>,
}

impl AirParams<'_> {
    /// Returns all colliders at their current transforms, without velocity.
    pub(crate) fn stationary(
        &self,
        colliders: &Query<(Entity, &ClothCollider, Option<&ClothLayers>)>,
        transforms: &TransformHelper,
    ) -> ActiveColliders {
        self.colliders.stationary(colliders, transforms)
    }

    /// Returns the inputs of a step. `now` is the time of the wind, s.
    pub(crate) fn prepare<'a, 'w, 's>(
        &'a self,
        anchors: &'a Anchors<'w, 's>,
        time: SubstepTime,
        now: f64,
    ) -> StepInputs<'a, 'w, 's> {
        let occlusion = (self.colliders).occlusion(self.occlusion.length, self.occlusion.spread);
        StepInputs {
            anchors,
            time,
            wind: self.wind.at(now),
            air_density: self.wind.air_density,
            field: self.zones.field(&self.turbulence, now, occlusion),
        }
    }
}

pub(crate) fn prepare_cloths(
    mut cloths: Query<PrepareQuery, InMotion>,
    anchors: Anchors,
    air: AirParams,
    mut wind_time: ResMut<WindTime>,
    substeps: Res<ClothSubsteps>,
    clock: Res<Time>,
    mut time: ResMut<ClothSubstepTime>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    cloth_pairs: Res<ClothPairs>,
    // If another thread ran this system, the main thread would wait instead of working on cloths.
    _on_the_main_thread: NonSendMarker,
) {
    let base = SubstepTime::new(step_length(&clock), substeps.0);
    let count = plan_substeps(&mut cloths, &base, &cloth_pairs);
    **time = SubstepTime::new(base.step, count);
    // The first frame of a schedule other than `FixedUpdate` has length 0.
    if time.step <= 0.0 {
        return;
    }
    **wind_time += f64::from(time.step);
    let preparation = air.prepare(&anchors, **time, **wind_time);
    let size = |cloth: &PrepareQueryItem| cloth.particles.len();
    let due = cloths
        .iter_mut()
        .filter(|cloth| !cloth.body.update_rate.is_skipped);
    workers.for_each_cloth(*threads, due, size, |workers, cloth| {
        preparation.run(workers, cloth);
    });
}

/// Plans the number of substeps of each cloth. Returns the largest: the substeps of all cloths are among these.
fn plan_substeps(
    cloths: &mut Query<PrepareQuery, InMotion>,
    base: &SubstepTime,
    cloth_pairs: &ClothPairs,
) -> u32 {
    let due = cloths
        .iter_mut()
        .filter(|cloth| !cloth.body.update_rate.is_skipped);
    let plan_cloth = |mut cloth: PrepareQueryItem| {
        let body = cloth.body.bypass_change_detection();
        let factor = body.bodies.plan_substeps(&cloth.particles, base.substep);
        (body.update_rate.plan_substeps(base.count, factor), factor)
    };
    let all = due.map(plan_cloth);
    let (count, max_factor) = all.fold((base.count, 1), |a, b| (a.0.max(b.0), a.1.max(b.1)));
    if max_factor == 1 || cloth_pairs.is_empty() {
        return count;
    }
    // Cloths of an island must take the same substeps.
    let islands = cloth_pairs.islands();
    let has_extra_substeps = |entity| {
        cloths
            .get(entity)
            .is_ok_and(|cloth| cloth.body.update_rate.substep_factor() > 1)
    };
    let needs_extra_substeps = islands.any(has_extra_substeps);
    for (&entity, _) in islands
        .entities
        .iter()
        .zip(&needs_extra_substeps)
        .filter(|(_, any)| **any)
    {
        if let Ok(mut cloth) = cloths.get_mut(entity) {
            let body = cloth.body.bypass_change_detection();
            body.bodies.set_substep_factor(max_factor);
            body.update_rate.plan_substeps(base.count, max_factor);
        }
    }
    base.count * max_factor
}

/// Inputs of a step, common to all cloths.
pub(crate) struct StepInputs<'a, 'w, 's> {
    anchors: &'a Anchors<'w, 's>,
    time: SubstepTime,
    wind: Vec3,
    air_density: f32,
    field: WindField<'a>,
}

impl StepInputs<'_, '_, '_> {
    /// Begins a step of a cloth.
    pub(crate) fn run(&self, workers: &mut Workers, prepared: PrepareQueryItem) {
        let anchors = self.anchors;
        let PrepareQueryItem {
            entity,
            cloth,
            pins,
            tearing,
            pressure,
            paint,
            max_distance,
            motion,
            mut constraints,
            mut contacts,
            mut particles,
            mut body,
        } = prepared;
        let constraints = &mut constraints.bypass_change_detection().0;
        let time = &body.update_rate.step(&self.time);
        if !particles.all_finite(workers) {
            // A system wrote an invalid number since the last step; `previous` is still valid.
            particles.restore();
            report_invalid_state(entity, &mut particles, &mut body);
        }
        // Additional substeps for heavy bodies take effect at once, without ramp.
        let base_time = body.update_rate.without_extra_substeps(time);
        body.ramp(cloth, &base_time);
        let areal_density = body.ramped(cloth, time).areal_density;
        // Compared by value with the bound ones: change detection would also report changes from
        // before the cloth was built, and none where `Pins` was removed.
        let wanted = pins.unwrap_or(&NO_PINS);
        let max_distance_changed = body.reference_frame.bound_max_distance.as_ref() != max_distance;
        if max_distance_changed {
            reference_frame::bind_motion_constraints(
                entity,
                max_distance,
                &mut body,
                particles.len(),
            );
        }
        let pins_changed = max_distance_changed || body.bound_pins != *wanted;
        if pins_changed {
            rebind_pins(entity, wanted, &particles, &mut body);
        }
        let paint_changed = paint.unwrap_or(&NO_PAINT).mass != body.multipliers.bound_paint.mass;
        if paint_changed {
            bind_masses(entity, paint, &mut body);
        }
        let attachments_changed = bodies::attach_pins(entity, &mut body, particles.origin, anchors);
        if pins_changed
            || paint_changed
            || attachments_changed
            || body.areal_density != areal_density
        {
            body.set_masses(&mut particles, areal_density);
        }
        // A strain limit would carry the load and keep edges from tearing.
        let strain_limit = match tearing {
            Some(_) => f32::INFINITY,
            None => cloth.fabric.effective_strain_limit(),
        };
        body.ramp_strain_limit(strain_limit, &particles, constraints, time.step);
        tethers::prepare(
            cloth.effective_tether_scale(strain_limit),
            tethers::Tears {
                by_load: tearing.is_some_and(ClothTearing::by_load),
                any: tearing.is_some(),
            },
            constraints,
            &particles,
            &mut body,
            time.step,
        );
        pressure::prepare(entity, pressure, &particles, &mut body, time.step);
        reference_frame::update_motion_constraints(
            entity,
            max_distance,
            &mut body,
            &particles,
            anchors,
        );
        update_pin_targets(entity, &mut body, particles.origin, anchors);
        reference_frame::record_reference_entity(entity, motion, &mut body, |entity| {
            anchors.at(entity)
        });
        let frame_motion = reference_frame::find_frame_motion(
            entity, motion, &mut body, &particles, anchors, time.step,
        );
        body.reference_frame.frame_motion = frame_motion;
        let settings = cloth.step_settings(
            time.step,
            time.count,
            Vec3::ZERO,
            self.wind,
            self.air_density,
        );
        let settings = StepSettings {
            air: Air {
                // For the lightest particle, so that drag in a step cannot exceed the motion.
                areal_density: areal_density * body.min_mass_multiplier(),
                ..settings.air
            },
            ..settings
        };
        let ClothBody {
            triangles,
            rope,
            tethers,
            bodies,
            reference_frame,
            pin_targets,
            ..
        } = &mut *body;
        let input = StepInput {
            pins: pin_targets,
            frame_motion: frame_motion.as_ref(),
            wind: self.field,
            ..default()
        };
        let mut state = ClothState {
            particles: &mut particles.0,
            constraints,
            triangles,
            segments: rope.as_ref().map(|rope| &rope.segments),
            tethers,
            motion_constraints: &reference_frame.motion_constraints,
            bodies,
            contacts: &mut contacts.bypass_change_detection().contacts,
        };
        state.begin_step(workers, &settings, &input);
    }
}

/// Computes the targets of the pins of a cloth in this step.
fn update_pin_targets(entity: Entity, body: &mut ClothBody, origin: Vec3, anchors: &Anchors) {
    let affine_of = |anchor: PinAnchor| match anchor {
        PinAnchor::World => None,
        PinAnchor::Cloth => anchors.relative(entity, origin),
        PinAnchor::Entity(other) => anchors.relative(other, origin),
    };
    body.pin_targets.clear();
    let mut last: Option<(PinAnchor, Option<Affine3A>)> = None;
    let mut pins = std::mem::take(&mut body.pins);
    for pin in &mut pins {
        // Pins of one anchor are mostly consecutive; its transform is looked up once.
        let affine = match (last, &body.skin) {
            (_, Some(skin)) if pin.anchor == PinAnchor::Cloth => {
                let source_particle = body.source_particle(pin.particle) as usize;
                body.pin_targets
                    .push(pin.target(Some(skin.matrix(source_particle)), origin));
                continue;
            }
            (Some((anchor, affine)), _) if anchor == pin.anchor => affine,
            _ => affine_of(pin.anchor),
        };
        last = Some((pin.anchor, affine));
        body.pin_targets.push(pin.target(affine, origin));
    }
    body.pins = pins;
}

/// Number of valid steps after which another non-finite state of the same cloth is logged again.
const ERROR_COOLDOWN: u32 = 60;

/// Recomputes the masses of a cloth that was restored because of non-finite numbers, and logs that once until the
/// cloth has been valid for a while.
pub(crate) fn report_invalid_state(
    entity: Entity,
    particles: &mut ClothParticles,
    body: &mut ClothBody,
) {
    let areal_density = body.areal_density;
    body.set_masses(particles, areal_density);
    if std::mem::replace(&mut body.error_cooldown, ERROR_COOLDOWN) == 0 {
        error!(
            "cloth {entity}: has a position or force that is not finite, and was put back into its last \
             valid state; look for NaN or infinity in what your systems write to its \
             ClothParticles and ClothConstraints"
        );
    }
}
