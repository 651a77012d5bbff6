//! [`ClothPlugin`], the sum of one plugin per subject.
//!
//! Each plugin registers the types, resources, observers and systems of its subject. Systems stand in the sets of
//! [`schedule`](crate::cloth::schedule), which determine their order; the plugins can be added in any order.
//!
//! | plugin | module | in each step | in each frame |
//! |---|---|---|---|
//! | [`CorePlugin`] | [`cloth`](crate::cloth) | order of all sets | order of all sets |
//! | [`TimePlugin`] | [`time`](crate::time) | clock, pauses | |
//! | [`LodPlugin`] | [`lod`](crate::lod) | chooses steps, substeps and iterations, culls | time budget |
//! | [`CharacterPlugin`] | [`character`](crate::character) | teleports, catches up with frames | rules, colliders of skeletons, samples transforms |
//! | [`CollisionPlugin`] | [`collision`](crate::collision) | finds colliders and pairs of cloths | |
//! | [`WindPlugin`] | [`wind`](crate::wind) | finds wind zones | |
//! | [`SleepPlugin`] | [`sleep`](crate::sleep) | wakes cloths | |
//! | [`StepPlugin`] | `step` | prepares (pins, inertia, air), takes the substeps, ends the step, lets cloths sleep | warm-up |
//! | [`GrabPlugin`] | [`grab`](crate::grab) | moves grabs | |
//! | [`TearingPlugin`] | [`tearing`](crate::tearing) | tears overloaded edges | |
//! | [`BuildPlugin`] | `build` | checks settings | builds, rebuilds, resets |
//! | [`ProxyPlugin`] | [`proxy`](crate::proxy) | | binds and writes proxy meshes |
//! | [`RenderPlugin`] | `render` | | interpolates, writes meshes |
//! | [`PinsPlugin`], [`PressurePlugin`], [`RopePlugin`] | [`pins`](crate::pins), [`pressure`](crate::pressure), [`rope`](crate::rope) | components only | |
//! | `PresetPlugin` (feature `presets`) | `preset` | | applies files |
//!
//! The substeps run in one loop per cloth or as the schedule [`ClothSubstep`](crate::cloth::ClothSubstep);
//! [`StepPlugin`] explains the choice.

#[cfg(feature = "presets")]
use crate::preset::PresetPlugin;
use crate::{
    build::{plugin::BuildPlugin, rebuild::any_build_pending},
    character::{
        animation_start::any_bind_pose_changed, plugin::CharacterPlugin, rules::any_new_mesh,
        skeleton_colliders::SkeletonColliders, teleport::any_teleport_pending,
    },
    cloth::{
        plugin::CorePlugin,
        schedule::{ClothStepSchedule, FrameRunners, until_built, until_written},
    },
    collision::plugin::CollisionPlugin,
    grab::plugin::GrabPlugin,
    lod::plugin::LodPlugin,
    pins::plugin::PinsPlugin,
    pressure::plugin::PressurePlugin,
    proxy::{ClothProxy, plugin::ProxyPlugin, write_mesh::any_proxy_moved},
    render::{plugin::RenderPlugin, pose::may_look_different},
    rope::plugin::RopePlugin,
    sleep::plugin::SleepPlugin,
    step::plugin::StepPlugin,
    tearing::plugin::TearingPlugin,
    time::plugin::TimePlugin,
    wind::plugin::WindPlugin,
};
use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    prelude::*,
};

/// Adds cloth to an app: the solver in [`FixedUpdate`] (or another schedule), building and mesh writing
/// in [`PostUpdate`].
///
/// Requires `DefaultPlugins`, or `MinimalPlugins` with `AssetPlugin`, `MeshPlugin` and `TransformPlugin`. Works
/// without a window and without a GPU.
pub struct ClothPlugin {
    schedule: InternedScheduleLabel,
}

impl ClothPlugin {
    /// Creates a plugin that steps cloths in this schedule. The `Time` there gives the length of a step, at most
    /// 0.1 s. Default [`FixedUpdate`].
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }
}

impl Default for ClothPlugin {
    fn default() -> Self {
        Self::new(FixedUpdate)
    }
}

impl Plugin for ClothPlugin {
    fn build(&self, app: &mut App) {
        let schedule = ClothStepSchedule::new(self.schedule);
        app.add_plugins((
            CorePlugin { schedule },
            TimePlugin,
            LodPlugin { schedule },
            CharacterPlugin { schedule },
            CollisionPlugin,
            WindPlugin,
            SleepPlugin,
            StepPlugin { schedule },
            GrabPlugin,
            TearingPlugin,
            BuildPlugin,
        ))
        .add_plugins((
            ProxyPlugin,
            RenderPlugin,
            PinsPlugin,
            PressurePlugin,
            RopePlugin,
        ));
        #[cfg(feature = "presets")]
        app.add_plugins(PresetPlugin);
        skip_idle_frames(app);
    }

    fn finish(&self, app: &mut App) {
        if !app.world().contains_resource::<Assets<Mesh>>() {
            error!(
                "ClothPlugin: there are no meshes in this app, so no cloth will be built; add \
                 DefaultPlugins, or AssetPlugin and MeshPlugin"
            );
        }
        if !app.world().contains_resource::<Time>() {
            error!(
                "ClothPlugin: there is no time in this app, so no cloth will move; add DefaultPlugins, MinimalPlugins or \
                 Bevy's TimePlugin"
            );
            app.init_resource::<Time>()
                .init_resource::<Time<Fixed>>()
                .init_resource::<Time<Virtual>>()
                .init_resource::<Time<Real>>();
        }
    }
}

/// Skips the schedules of a frame while there is nothing to build and nothing to write.
fn skip_idle_frames(app: &mut App) {
    let may_build = any_build_pending
        .or_else(any_new_mesh)
        .or_else(any_bind_pose_changed)
        .or_else(any_teleport_pending)
        .or_else(any_with_component::<SkeletonColliders>)
        .or_else(any_with_component::<ClothProxy>);
    let may_write = may_look_different.or_else(any_proxy_moved);
    app.configure_sets(
        PostUpdate,
        (
            // Without meshes there are no messages about them either.
            FrameRunners::Build.run_if(
                resource_exists::<Assets<Mesh>>
                    .and_then(may_build)
                    .pipe(until_built),
            ),
            FrameRunners::WriteMesh.run_if(may_write.pipe(until_written)),
        ),
    );
}
