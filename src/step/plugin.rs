//! Registers the step: preparation, substeps, end, and the warm-up of new cloths.

use crate::{
    cloth::schedule::{
        BuildSystems, ClothStepSchedule, ClothSubstep, ClothSystems, FinishSystems, FrameSchedule,
        PrepareSystems, StepSchedule,
    },
    step::{
        finish::finish,
        prepare::prepare_cloths,
        stages::{collide, integrate, relax},
        substeps::{PluginSystems, run_substeps},
        warm_up::{any_warm_up_pending, warm_up},
    },
    time::cloth_step_due,
};
use bevy::{
    ecs::schedule::{LogLevel, ScheduleBuildSettings, SingleThreadedExecutor},
    prelude::*,
};

/// Steps all cloths.
pub(crate) struct StepPlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for StepPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            StepSchedule::Prepare,
            prepare_cloths.in_set(PrepareSystems::BeginStep),
        )
        .add_systems(
            self.schedule.label,
            run_substeps
                .in_set(ClothSystems::Simulate)
                .run_if(cloth_step_due),
        )
        .add_systems(StepSchedule::Finish, finish.in_set(FinishSystems::EndStep))
        .add_systems(
            FrameSchedule::Build,
            warm_up
                .in_set(BuildSystems::WarmUp)
                .run_if(any_warm_up_pending),
        );
        add_substep_schedule(app);
    }
}

/// Adds [`ClothSubstep`] with the systems of the plugin, and records which these are.
///
/// [`run_substeps`] compares that record with the schedule before each step, and chooses how to take the substeps:
///
/// - **Fused loop**, as long as the schedule contains exactly these systems and no run condition. The state
///   between two phases is then not observable, so each cloth takes all its substeps in one go.
/// - **Schedule**, once a system of a user or a run condition was added, before or after this plugin: one phase
///   for all cloths after the other.
///
/// Both give the same bits. All systems of the plugin must be added here: one added elsewhere would count as a
/// system of a user, and slow all cloths down. The substep work of other subjects is therefore a stage of
/// [`ClothState`](crate::solver::ClothState).
fn add_substep_schedule(app: &mut App) {
    let mut plugin_systems = PluginSystems::default();
    app.init_schedule(ClothSubstep)
        .edit_schedule(ClothSubstep, |schedule| {
            let existing = PluginSystems::all(schedule);
            schedule
                // A substep takes microseconds, less than dispatching systems to other threads. Parallel
                // work is inside each system, over cloths.
                .set_executor(SingleThreadedExecutor::new())
                .set_build_settings(ScheduleBuildSettings {
                    // An ambiguous order would make results non-deterministic. The systems of the plugin
                    // have none; for systems of users it is logged.
                    ambiguity_detection: LogLevel::Warn,
                    ..default()
                })
                .configure_sets(
                    (
                        ClothSystems::Integrate,
                        ClothSystems::Relax,
                        ClothSystems::Collide,
                    )
                        .chain(),
                )
                .add_systems((
                    integrate.in_set(ClothSystems::Integrate),
                    relax.in_set(ClothSystems::Relax),
                    collide.in_set(ClothSystems::Collide),
                ));
            plugin_systems = PluginSystems::all(schedule).without(&existing);
        })
        .insert_resource(plugin_systems);
}
