//! Begins a step: applies changed components, computes the targets of pins and the forces of the air.

use crate::solver::{
    Air, FrameMotion, MAX_ITERATIONS_PER_STEP, PinTarget, StepInput, StepSettings, SubstepPlan,
    SubstepTime, WindField, Workers, affordable_with_contacts, particles::is_within_reach,
};
use crate::{
    character::{
        multipliers::{PaintedShape, bind_masses, masses_are_bound},
        reference_frame,
    },
    cloth::{
        activity::InMotion,
        schedule::{ClothSubstepTime, step_length},
        settings::{ClothMaxThreads, ClothSubsteps},
        tethers::{self, StaleDistances},
        transforms::Anchors,
        workers::ClothWorkers,
    },
    collision::{
        active_colliders::ActiveColliders,
        bodies,
        broad_phase::{ClothIslands, Island},
        collider::ClothCollider,
        layers::ClothLayers,
    },
    label::EntityLabelItem,
    pins::{BoundPins, PinAnchor, bind::NO_PINS},
    pressure::enclosed_air as pressure,
    step::query::{StepQuery, StepQueryItem},
    wind::{
        active_zones::ActiveWindZones,
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    },
};
use bevy::{
    ecs::system::{NonSendMarker, SystemParam},
    math::Affine3A,
    prelude::*,
};
use std::fmt::Display;

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
    mut cloths: Query<StepQuery, InMotion>,
    anchors: Anchors,
    air: AirParams,
    mut wind_time: ResMut<WindTime>,
    substeps: Res<ClothSubsteps>,
    clock: Res<Time>,
    mut time: ResMut<ClothSubstepTime>,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    cloth_islands: Res<ClothIslands>,
    // If another thread ran this system, the main thread would wait instead of working on cloths.
    _on_the_main_thread: NonSendMarker,
) {
    let step = step_length(&clock);
    **time = SubstepTime::new(step, substeps.count(step));
    // The first frame of a schedule other than `FixedUpdate` has length 0.
    if step <= 0.0 {
        return;
    }
    **wind_time += f64::from(step);
    let mut preparation = air.prepare(&anchors, **time, **wind_time);
    let count = preparation.plan_substeps(&mut cloths, &cloth_islands);
    **time = SubstepTime::new(step, count);
    preparation.time = **time;
    let size = |cloth: &StepQueryItem| cloth.particles.len();
    let due = cloths.iter_mut().filter(|cloth| !cloth.rate.is_skipped);
    workers.for_each_cloth(*threads, due, size, |workers, cloth| {
        preparation.run(workers, cloth);
    });
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
    /// Plans the number of substeps of each cloth. Returns the largest: the substeps of all cloths are among these.
    fn plan_substeps(
        &self,
        cloths: &mut Query<StepQuery, InMotion>,
        cloth_islands: &ClothIslands,
    ) -> u32 {
        let base = &self.time;
        let mut max_factor = 1;
        for mut cloth in cloths.iter_mut().filter(|cloth| !cloth.rate.is_skipped) {
            let settings = StepSettings {
                self_collision: cloth.self_collision(base),
                ..self.settings(&cloth, base)
            };
            // Of the last step: that of this one depends on what changes below.
            let frame_motion = cloth.frame.frame_motion;
            self.update_pins(&mut cloth);
            let mut lent = cloth.lend();
            let input = self.input(lent.pin_targets, frame_motion.as_ref());
            let plan = lent.state.plan_substeps(&settings, &input);
            let rate = cloth.rate.bypass_change_detection();
            rate.plan_substeps(base, plan);
            max_factor = max_factor.max(plan.factor);
        }
        if max_factor > 1 {
            for island in &cloth_islands.islands {
                self.plan_island(cloths, island);
            }
        }
        let due = cloths.iter().filter(|cloth| !cloth.rate.is_skipped);
        let counts = due.map(|cloth| cloth.rate.substeps());
        counts.fold(base.count, u32::max)
    }

    /// Plans the substeps of the cloths of an island, which must take the same.
    fn plan_island(&self, cloths: &mut Query<StepQuery, InMotion>, island: &Island) {
        let (mut factor, mut affordable) = (1, u32::MAX);
        for cloth in cloths.iter_many(&island.cloths) {
            let by_contacts = affordable_with_contacts(cloth.particles, self.time.substep);
            affordable = affordable.min(by_contacts);
            if !cloth.rate.is_skipped {
                factor = factor.max(cloth.rate.plan().factor);
            }
        }
        let factor = factor.min(affordable);
        for &entity in &island.cloths {
            if let Ok(mut cloth) = cloths.get_mut(entity)
                && !cloth.rate.is_skipped
            {
                let bodies = cloth.bodies.bypass_change_detection();
                bodies.set_substep_factor(factor);
                let rate = cloth.rate.bypass_change_detection();
                let plan = SubstepPlan {
                    factor,
                    stiffening: rate.plan().stiffening.min(factor),
                };
                rate.plan_substeps(&self.time, plan);
            }
        }
    }

    /// Returns the settings at the beginning of a step of this length. Gravity acts in the substeps; their settings are
    /// those of `SubstepInputs::settings`.
    fn settings(&self, cloth: &StepQueryItem, time: &SubstepTime) -> StepSettings<'static> {
        let settings = cloth.cloth.step_settings(
            time.step,
            time.count,
            Vec3::ZERO,
            self.wind,
            self.air_density,
        );
        if cloth.sleep_timer.state.is_settling() {
            return settings.settling();
        }
        StepSettings {
            air: Air {
                // Density of the lightest particle: drag is limited to what stops it within one step.
                areal_density: cloth.body.areal_density * cloth.multipliers.min_mass(),
                ..settings.air
            },
            ..settings
        }
    }

    /// Returns the inputs of a step of a cloth.
    fn input<'b>(
        &'b self,
        pins: &'b [PinTarget],
        frame_motion: Option<&'b FrameMotion>,
    ) -> StepInput<'b> {
        StepInput {
            pins,
            frame_motion,
            wind: self.field,
            ..default()
        }
    }

    /// Begins a step of a cloth.
    pub(crate) fn run(&self, workers: &mut Workers, mut cloth: StepQueryItem) {
        let time = &cloth.rate.step(&self.time);
        if !cloth.particles.all_finite(workers) {
            // A system wrote an invalid number since the last step; `previous` is still valid.
            cloth.particles.restore();
            cloth.report_invalid_state();
        }
        // Additional substeps take effect at once, without ramp.
        let base_time = cloth.rate.without_extra_substeps(time);
        let wanted = cloth.cloth.iterations;
        let rate = cloth.rate.bypass_change_detection();
        if let Some(limit) = rate.new_limit_of_iterations(wanted) {
            warn!(
                "cloth {}: takes {limit} of its {wanted} iterations per substep, because a step has at most \
                 {MAX_ITERATIONS_PER_STEP} in all its substeps; lower Cloth::iterations or ClothSubsteps",
                cloth.label
            );
        }
        let iterations = rate.iterations(wanted);
        cloth
            .body
            .ramp(cloth.cloth, cloth.shape, &base_time, iterations);
        self.apply_changes(&mut cloth, time);
        self.prepare_constraints(&mut cloth, time);
        self.follow_frame(&mut cloth, time);
        let settings = self.settings(&cloth, time);
        let frame_motion = cloth.frame.frame_motion;
        let mut lent = cloth.lend();
        let input = self.input(lent.pin_targets, frame_motion.as_ref());
        lent.state.begin_step(workers, &settings, &input);
    }

    /// Resolves pins, max distances and painted masses that have changed, and recomputes the masses.
    fn apply_changes(&self, cloth: &mut StepQueryItem, time: &SubstepTime) {
        let label = cloth.label;
        let areal_density = cloth.ramped(time).areal_density;
        // Compared by value with the bound ones: change detection would also report changes from
        // before the cloth was built, and none where `Pins` was removed.
        let wanted = cloth.pins.unwrap_or(&NO_PINS);
        let (particles, max_distance) = (&cloth.particles, cloth.max_distance);
        let painted = PaintedShape::new(cloth.shape, cloth.mesh_paint, cloth.skin.as_deref());
        let (frame, bound_pins) = (&mut *cloth.frame, &mut *cloth.bound_pins);
        let max_distance_changed = frame.bound_max_distance.as_ref() != max_distance;
        if max_distance_changed {
            let count = particles.len();
            reference_frame::bind_motion_constraints(&label, max_distance, painted, frame, count);
        }
        let pins_changed = max_distance_changed || !bound_pins.are_bound_from(cloth.pins);
        if pins_changed {
            cloth.body.stale_distances = StaleDistances::All;
            reference_frame::rebind_pins(&label, wanted, particles, painted, bound_pins, frame);
        }
        let paint_changed = !masses_are_bound(cloth.paint, &cloth.multipliers);
        if paint_changed {
            bind_masses(&label, cloth.paint, painted, &mut cloth.multipliers);
        }
        let origin = particles.origin;
        let attachments_changed = bodies::attach_pins(
            label.entity,
            &mut cloth.bodies,
            bound_pins,
            origin,
            self.anchors,
        );
        if attachments_changed {
            cloth.body.stale_distances = StaleDistances::All;
        }
        if pins_changed
            || paint_changed
            || attachments_changed
            || cloth.body.areal_density != areal_density
        {
            cloth.set_masses(areal_density);
        }
    }

    /// Updates the strain limit, the tethers and the enclosed air.
    fn prepare_constraints(&self, cloth: &mut StepQueryItem, time: &SubstepTime) {
        let tearing = cloth.tearing;
        let (shape, particles) = (cloth.shape, &*cloth.particles);
        let (constraints, body) = (&*cloth.constraints, &mut *cloth.body);
        let (strain_limit, tether_scale) = tethers::limits(cloth.cloth, tearing);
        body.ramp_strain_limit(strain_limit, particles, constraints, time.step);
        let (pins, bodies) = (&cloth.bound_pins, &cloth.bodies);
        let supports = pins.particles().filter(|&pin| !bodies.is_attached(pin));
        tethers::update(
            body,
            tether_scale,
            shape,
            constraints,
            supports,
            tearing.is_some(),
        );
        body.ramp_tethers(tether_scale, particles, time.step);
        let (pressure, volume) = (cloth.pressure, &mut cloth.volume);
        pressure::prepare(
            &cloth.label,
            pressure,
            particles,
            body,
            shape,
            volume,
            time.step,
        );
    }

    /// Computes the targets of pins.
    fn update_pins(&self, cloth: &mut StepQueryItem) {
        let painted = PaintedShape::new(cloth.shape, cloth.mesh_paint, cloth.skin.as_deref());
        let (pins, origin) = (&mut *cloth.bound_pins, cloth.particles.origin);
        update_pin_targets(cloth.label, pins, painted, origin, self.anchors);
    }

    /// Computes the targets of animation and pins, and the motion of the reference frame.
    fn follow_frame(&self, cloth: &mut StepQueryItem, time: &SubstepTime) {
        let (label, anchors) = (cloth.label, self.anchors);
        let entity = label.entity;
        let (frame, origin) = (&mut *cloth.frame, cloth.particles.origin);
        if let Some(skin) = &mut cloth.skin {
            reference_frame::update_skin(&label, skin, frame, origin, anchors);
        }
        self.update_pins(cloth);
        let (particles, inertia) = (&*cloth.particles, cloth.inertia);
        let (frame, pins) = (&mut *cloth.frame, &*cloth.bound_pins);
        let painted = PaintedShape::new(cloth.shape, cloth.mesh_paint, cloth.skin.as_deref());
        let wanted = cloth.max_distance;
        reference_frame::update_motion_constraints(
            label, wanted, painted, frame, particles, anchors,
        );
        let is_skinned = painted.skin.is_some();
        reference_frame::record_reference_entity(
            entity,
            inertia,
            pins,
            is_skinned,
            frame,
            |entity| anchors.at(entity),
        );
        frame.frame_motion = reference_frame::find_frame_motion(
            entity, inertia, pins, frame, particles, anchors, time.step,
        );
    }
}

/// Computes the targets of the pins of a cloth in this step.
fn update_pin_targets(
    label: EntityLabelItem,
    bound: &mut BoundPins,
    PaintedShape { shape, skin, .. }: PaintedShape,
    origin: Vec3,
    anchors: &Anchors,
) {
    let affine_of = |anchor: PinAnchor| {
        let affine = anchors.relative(anchor.entity_of(label.entity)?, origin);
        affine.filter(|affine| affine.is_finite() && is_within_reach(affine.translation.into()))
    };
    let BoundPins {
        pins,
        targets,
        lost_anchors,
        ..
    } = bound;
    targets.clear();
    let mut last: Option<(PinAnchor, Option<Affine3A>)> = None;
    for pin in pins {
        // Pins of one anchor are mostly consecutive; its transform is looked up once.
        let affine = match (last, skin) {
            (_, Some(skin)) if pin.anchor == PinAnchor::Cloth => {
                let source_particle = shape.source_particle(pin.particle) as usize;
                targets.push(pin.target(Some(skin.matrix(source_particle)), origin));
                continue;
            }
            (Some((anchor, affine)), _) if anchor == pin.anchor => affine,
            _ => affine_of(pin.anchor),
        };
        last = Some((pin.anchor, affine));
        targets.push(pin.target(affine, origin));
        if affine.is_none()
            && let Some(anchor) = pin.anchor.entity_of(label.entity)
        {
            report_lost(&label, anchors.label(anchor), lost_anchors);
        }
    }
}

/// Reports once that an anchor of a cloth has no usable transform.
fn report_lost(cloth: &dyn Display, anchor: EntityLabelItem, lost_anchors: &mut Vec<Entity>) {
    if !lost_anchors.contains(&anchor.entity) {
        lost_anchors.push(anchor.entity);
        warn!(
            "cloth {cloth}: {anchor}, which holds its pins, has no finite transform, is too far \
             away or no longer exists, so they stay where they are; give it a Transform, or \
             change the Pins"
        );
    }
}
