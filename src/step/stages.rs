//! Stages of a substep for cloth entities: calls those of the solver with the components of a cloth.
//!
//! [`substeps`](crate::step::substeps) runs all stages of a cloth in a row; the systems of this file run one stage for
//! all cloths.

use crate::solver::{
    EnclosedAir, IslandCloth, ParticleArrays, StepSettings, SubstepTime, Surface, Workers,
};
use crate::{
    cloth::{
        activity::InMotion,
        planar_constraint::plane_of,
        schedule::ClothSubstepTime,
        settings::{ClothGravity, ClothMaxThreads},
        workers::ClothWorkers,
    },
    collision::{active_colliders::ActiveColliders, broad_phase::ClothIslands},
    step::{
        crossings::{filtered, keep_features_apart},
        query::{LentState, StepQuery, StepQueryItem},
        substeps::{IslandItem, group_by_island},
    },
    tearing::ClothTearing,
};
use bevy::{ecs::system::SystemParam, prelude::*};

impl StepQueryItem<'_, '_> {
    /// Returns the cloth's own substep that it takes at this common substep, if any.
    pub(crate) fn substep(&self, all: &SubstepTime) -> Option<SubstepTime> {
        self.rate.due(all)
    }
}

/// Inputs of the substeps, common to all cloths.
pub(crate) struct SubstepInputs<'a, 'w, 's> {
    pub(crate) transforms: &'a TransformHelper<'w, 's>,
    pub(crate) gravity: &'a ClothGravity,
    pub(crate) colliders: &'a ActiveColliders,
    /// Whether systems of the user may move particles between the stages.
    pub(crate) is_moved_externally: bool,
}

impl SubstepInputs<'_, '_, '_> {
    /// Takes the stages of a substep before contacts between cloths.
    pub(crate) fn begin_substep(
        &self,
        workers: &mut Workers,
        cloth: &mut StepQueryItem,
        settings: &StepSettings,
        time: &SubstepTime,
    ) {
        let grabs = cloth.grabs;
        let mut state = cloth.lend().state;
        state.integrate(workers, settings, time);
        state.relax(workers, settings, grabs.constraints(), time);
    }

    /// Solves the contacts of the cloths of an island with each other and themselves.
    pub(crate) fn collide_island(&self, item: &mut IslandItem, time: &SubstepTime) {
        let Some(island) = &mut item.island else {
            return;
        };
        if time.index == 0 {
            island
                .filter
                .find_near_features(item.cloths.iter().map(filtered));
        }
        let mut layers = Vec::with_capacity(item.cloths.len());
        let mut members = Vec::with_capacity(item.cloths.len());
        for cloth in &mut item.cloths {
            let own_time = cloth.substep(time);
            let settings = self.settings(cloth, &own_time.unwrap_or(*time));
            let contacts = cloth.contacts.bypass_change_detection();
            if time.index == 0 {
                // The island has contacts of its own.
                contacts.contacts.leave_to_island();
            }
            if let Some(settings) = settings.self_collision {
                layers.push(cloth.layers.copied().unwrap_or_default());
                members.push(IslandCloth {
                    particles: &mut cloth.particles.0,
                    settings,
                    is_due: own_time.is_some(),
                    touched: &mut contacts.contacts.had_contact,
                    warm_start: &mut contacts.contacts.warm_start,
                    id: cloth.label.entity.to_bits(),
                });
            }
        }
        let interact = |a: usize, b: usize| layers[a].interacts_with(layers[b]);
        (island.contacts).collide(&mut members, interact, time);
        keep_features_apart(&island.filter, &mut item.cloths, time);
    }

    /// Takes the stage of a substep after contacts between cloths.
    pub(crate) fn collide(
        &self,
        workers: &mut Workers,
        cloth: &mut StepQueryItem,
        settings: &StepSettings,
        time: &SubstepTime,
    ) {
        let uses_selection = uses_selected_colliders(cloth, self.colliders);
        if uses_selection && time.index == 0 {
            self.select_colliders(cloth, settings.surface.thickness, time);
        }
        let layers = cloth.layers;
        let meshes = self.colliders.meshes.on_layers(layers);
        let motion = cloth.frame.frame_motion;
        // Not kept until the next step, in which the surfaces of skinned meshes change in place.
        let moved: Vec<_> = match motion {
            Some(motion) => meshes
                .clone()
                .map(|mesh| mesh.relative_to(&motion))
                .collect(),
            None => Vec::new(),
        };
        let meshes = (motion.is_none().then_some(meshes).into_iter()).flatten();
        let meshes = meshes.chain(&moved);
        let LentState {
            mut state,
            colliders: selected,
            ..
        } = cloth.lend();
        let (all, selected) = if uses_selection {
            (None, selected)
        } else {
            (Some(self.colliders.on_layers(layers)), &[][..])
        };
        let colliders = all.into_iter().flatten().chain(selected);
        state.collide(workers, settings, colliders, meshes, time);
    }

    /// Returns the settings of a substep of a cloth.
    pub(crate) fn settings<'w>(
        &self,
        cloth: &mut StepQueryItem<'w, '_>,
        time: &SubstepTime,
    ) -> StepSettings<'w> {
        let self_collision = cloth.self_collision(time);
        let user = cloth.cloth;
        let ramped = cloth.ramped(time);
        let plane = cloth
            .planar
            .and_then(|planar| plane_of(cloth.label.entity, planar, self.transforms));
        let enclosed_air = cloth.pressure.zip(cloth.volume.rest_volume);
        let settings = StepSettings {
            iterations: cloth.rate.iterations(user.iterations),
            compliance: ramped.compliance,
            strain_limit: ramped.strain_limit,
            relaxation_factor: ramped.relaxation.factor
                * cloth.rate.plan().relaxation_factor(&ramped.compliance),
            chain_regularization: ramped.relaxation.regularization,
            tether_scale: ramped.tether_scale,
            surface: Surface {
                thickness: ramped.thickness + cloth.shape.radius(),
                ..user.fabric.surface()
            },
            self_collision,
            enclosed_air: enclosed_air.map(|(pressure, volume)| EnclosedAir {
                amount: ramped.air,
                ambient: pressure.ambient,
                inside_out: volume < 0.0,
            }),
            plane,
            records_loads: cloth.tearing.is_some_and(ClothTearing::by_load),
            is_moved_externally: self.is_moved_externally,
            // The forces of the air were applied at the beginning of the step.
            ..user.step_settings(time.step, time.count, self.gravity.0, Vec3::ZERO, 0.0)
        };
        match cloth.sleep_timer.state.is_settling() {
            true => settings.settling(),
            false => settings,
        }
    }

    /// Selects the colliders of a cloth of this thickness for this step.
    fn select_colliders(&self, cloth: &mut StepQueryItem, thickness: f32, time: &SubstepTime) {
        let layers = cloth.layers;
        let frame_motion = cloth.frame.frame_motion;
        let steps_covered = cloth.rate.steps_covered();
        let buffer = &mut cloth.contacts.bypass_change_detection().collider_buffer;
        buffer.clear();
        if frame_motion.is_some() || steps_covered > 1 {
            let swept = self.colliders.on_layers_over_steps(layers, steps_covered);
            buffer.extend(swept.map(|collider| {
                frame_motion.map_or(collider, |motion| collider.relative_to(&motion))
            }));
        } else {
            let bounds = swept_bounds(&cloth.particles, thickness, time);
            buffer.extend(self.colliders.near(layers, bounds));
        }
    }
}

/// Returns whether a cloth takes a selection of the colliders: because they move relative to its frame or over
/// several steps, or because there are many.
fn uses_selected_colliders(cloth: &StepQueryItem, colliders: &ActiveColliders) -> bool {
    cloth.frame.frame_motion.is_some()
        || cloth.rate.steps_covered() > 1
        || colliders.len() > MAX_UNFILTERED_COLLIDERS
}

/// Number of colliders above which a cloth selects the near ones once per step.
const MAX_UNFILTERED_COLLIDERS: usize = 16;

/// Speed, as a multiple of that in the first substep, up to which a cloth cannot leave the box in which it finds
/// colliders.
const MAX_SPEEDUP: f32 = 3.0;
/// Margin of that box for other displacements, m.
const BOUNDS_MARGIN: f32 = 0.25;

/// Returns the corners of a box around everything that a cloth of this thickness may touch in a step.
fn swept_bounds(p: &ParticleArrays, thickness: f32, time: &SubstepTime) -> [Vec3; 2] {
    let (low, high) = p.position.bounds().unwrap_or_default();
    let (back, forth) = p.displacement.bounds().unwrap_or_default();
    let motion = back.abs().max(forth.abs()) * (MAX_SPEEDUP * time.count as f32);
    let margin = motion + (BOUNDS_MARGIN + thickness);
    // Bounds that are not finite contain everything.
    if !margin.is_finite() {
        return [Vec3::NEG_INFINITY, Vec3::INFINITY];
    }
    [p.origin + low - margin, p.origin + high + margin]
}

/// Parameters of the systems that take one stage for all cloths.
#[derive(SystemParam)]
pub(crate) struct StageParams<'w, 's> {
    transforms: TransformHelper<'w, 's>,
    gravity: Res<'w, ClothGravity>,
    colliders: Res<'w, ActiveColliders>,
    time: Res<'w, ClothSubstepTime>,
    threads: Res<'w, ClothMaxThreads>,
    workers: ResMut<'w, ClothWorkers>,
}

impl StageParams<'_, '_> {
    /// Calls a stage for all cloths that take this substep.
    fn for_each_cloth(
        &mut self,
        cloths: &mut Query<StepQuery, InMotion>,
        stage: impl Fn(&SubstepInputs, &mut Workers, &mut StepQueryItem, &SubstepTime) + Sync,
    ) {
        let size = |cloth: &StepQueryItem| cloth.particles.len();
        self.for_each(
            cloths.iter_mut(),
            size,
            |inputs, workers, mut cloth, time| {
                if let Some(time) = cloth.substep(time) {
                    stage(inputs, workers, &mut cloth, &time);
                }
            },
        );
    }

    /// Calls a stage for all cloths, or islands of them. `size` returns their numbers of particles.
    fn for_each<T: Send>(
        &mut self,
        cloths: impl Iterator<Item = T>,
        size: impl Fn(&T) -> usize,
        stage: impl Fn(&SubstepInputs, &mut Workers, T, &SubstepTime) + Sync,
    ) {
        let inputs = SubstepInputs {
            transforms: &self.transforms,
            gravity: &self.gravity,
            colliders: &self.colliders,
            is_moved_externally: true,
        };
        let time = &self.time.0;
        (self.workers).for_each_cloth(*self.threads, cloths, size, |workers, cloth| {
            stage(&inputs, workers, cloth, time);
        });
    }
}

pub(crate) fn integrate(
    mut cloths: Query<StepQuery, InMotion>,
    mut params: StageParams,
    mut cloth_islands: ResMut<ClothIslands>,
) {
    if !cloth_islands.islands.is_empty() {
        for mut item in group_by_island(cloths.iter_mut(), &mut cloth_islands.islands) {
            item.limit_crossings_if_due();
        }
    }
    params.for_each_cloth(&mut cloths, |inputs, workers, cloth, time| {
        let settings = inputs.settings(cloth, time);
        cloth.lend().state.integrate(workers, &settings, time);
    });
}

pub(crate) fn relax(mut cloths: Query<StepQuery, InMotion>, mut params: StageParams) {
    params.for_each_cloth(&mut cloths, |inputs, workers, cloth, time| {
        let settings = inputs.settings(cloth, time);
        let grabs = cloth.grabs.constraints();
        cloth.lend().state.relax(workers, &settings, grabs, time);
    });
}

pub(crate) fn collide(
    mut cloths: Query<StepQuery, InMotion>,
    mut params: StageParams,
    mut cloth_islands: ResMut<ClothIslands>,
) {
    let islands = group_by_island(cloths.iter_mut(), &mut cloth_islands.islands);
    params.for_each(
        islands.into_iter(),
        IslandItem::size,
        |inputs, _, mut item, time| {
            if item.island.is_some() {
                return inputs.collide_island(&mut item, time);
            }
            for cloth in &mut item.cloths {
                if let Some(time) = cloth.substep(time) {
                    let settings = inputs.settings(cloth, &time);
                    cloth.lend().state.collide_self(&settings, &time);
                }
            }
        },
    );
    params.for_each_cloth(&mut cloths, |inputs, workers, cloth, time| {
        let settings = inputs.settings(cloth, time);
        inputs.collide(workers, cloth, &settings, time);
    });
}
