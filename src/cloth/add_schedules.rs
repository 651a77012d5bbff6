//! Adds the schedules, the systems that run them, and the order of all sets.

use crate::cloth::{
    Cloth,
    particles::{ClothConstraints, ClothParticles},
    schedule::{
        BuildSystems, ClothStepSchedule, ClothSubstepTime, ClothSystems, FinishSystems,
        FrameRunners, FrameRuns, FrameSchedule, PrepareSystems, StepSchedule, WriteSystems,
    },
    settings::{ClothGravity, ClothSubsteps},
    transforms::TransformHistory,
};
use bevy::{
    asset::AssetEventSystems,
    camera::visibility::VisibilitySystems,
    ecs::schedule::{ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};

/// Adds the schedules of the plugin, the systems that run them, and the order of all sets. The order in
/// [`ClothSubstep`] is configured together with the systems there, by `StepPlugin`.
pub(crate) fn add_schedules(app: &mut App, schedule: ClothStepSchedule) {
    add_single_threaded(app, StepSchedule::Begin);
    add_single_threaded(app, StepSchedule::Prepare);
    add_single_threaded(app, StepSchedule::Finish);
    add_single_threaded(app, FrameSchedule::BeforeSteps);
    add_single_threaded(app, FrameSchedule::AfterSteps);
    add_single_threaded(app, FrameSchedule::Build);
    add_single_threaded(app, FrameSchedule::WriteMesh);
    add_step_runners(app, schedule);
    add_frame_runners(app, schedule);
    configure_step_sets(app);
    configure_frame_sets(app);
}

/// Adds a schedule with a single-threaded executor.
pub(crate) fn add_single_threaded(app: &mut App, label: impl ScheduleLabel + Clone) {
    app.init_schedule(label.clone())
        .edit_schedule(label, |schedule| {
            schedule.set_executor(SingleThreadedExecutor::new());
        });
}

/// Returns a system that runs a schedule.
pub(crate) fn run(label: impl ScheduleLabel + Copy) -> impl FnMut(&mut World) {
    move |world| world.run_schedule(label)
}

fn run_build(world: &mut World) {
    let mut runs = world.resource_mut::<FrameRuns>();
    runs.build = runs.build.wrapping_add(1);
    world.run_schedule(FrameSchedule::Build);
}

fn run_write_mesh(world: &mut World) {
    let mut runs = world.resource_mut::<FrameRuns>();
    runs.write_mesh = runs.write_mesh.wrapping_add(1);
    world.run_schedule(FrameSchedule::WriteMesh);
}

/// Run condition that never holds, for systems that only declare their access.
pub(crate) fn never() -> bool {
    false
}

/// Declares what the schedules of a step read and write, for Bevy's detection of ambiguous orders: the systems that
/// run them have access to everything, so they take no part in it.
fn declare_step_access(
    _: Query<(&mut ClothParticles, &mut ClothConstraints, &Cloth)>,
    _: Query<&GlobalTransform>,
    _: (
        Res<ClothGravity>,
        Res<ClothSubsteps>,
        ResMut<ClothSubstepTime>,
    ),
) {
}

/// Declares what the schedules of a frame read and write, like [`declare_step_access`].
fn declare_frame_access(
    _: Query<(&ClothParticles, &Cloth)>,
    _: Query<&GlobalTransform>,
    _: Option<ResMut<Assets<Mesh>>>,
) {
}

fn add_step_runners(app: &mut App, schedule: ClothStepSchedule) {
    app.configure_sets(
        schedule.label,
        (
            ClothSystems::Prepare,
            ClothSystems::Simulate,
            ClothSystems::Finish,
        )
            .chain(),
    )
    .add_systems(
        schedule.label,
        (
            run(StepSchedule::Begin)
                .before(ClothSystems::Prepare)
                .ambiguous_with_all(),
            run(StepSchedule::Prepare)
                .in_set(ClothSystems::Prepare)
                .ambiguous_with_all(),
            run(StepSchedule::Finish)
                .in_set(ClothSystems::Finish)
                .run_if(any_with_component::<ClothParticles>)
                .ambiguous_with_all(),
            declare_step_access
                .in_set(ClothSystems::Prepare)
                .run_if(never),
            declare_step_access
                .in_set(ClothSystems::Finish)
                .run_if(never),
        ),
    );
}

fn add_frame_runners(app: &mut App, schedule: ClothStepSchedule) {
    app.init_resource::<FrameRuns>()
        .configure_sets(
            PostUpdate,
            (ClothSystems::Build, ClothSystems::WriteMesh)
                .chain()
                .after(TransformSystems::Propagate)
                .before(VisibilitySystems::CalculateBounds)
                .before(AssetEventSystems)
                .run_if(resource_exists::<Assets<Mesh>>),
        )
        .add_systems(
            PostUpdate,
            (
                run_build
                    .in_set(ClothSystems::Build)
                    .in_set(FrameRunners::Build)
                    .ambiguous_with_all(),
                run_write_mesh
                    .in_set(ClothSystems::WriteMesh)
                    .in_set(FrameRunners::WriteMesh)
                    .ambiguous_with_all(),
                declare_frame_access
                    .in_set(ClothSystems::Build)
                    .run_if(never),
                declare_frame_access
                    .in_set(ClothSystems::WriteMesh)
                    .run_if(never),
            ),
        );
    if schedule.is_fixed() {
        let is_sampled = any_with_component::<TransformHistory>;
        app.add_systems(
            RunFixedMainLoop,
            (
                run(FrameSchedule::BeforeSteps)
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop)
                    .run_if(is_sampled)
                    .ambiguous_with_all(),
                run(FrameSchedule::AfterSteps)
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop)
                    .run_if(is_sampled)
                    .ambiguous_with_all(),
            ),
        );
    }
}

fn configure_step_sets(app: &mut App) {
    use PrepareSystems::{
        BeginStep, CatchUp, CheckSettings, Clock, Colliders, EndPause, FrameFraction, Grab,
        LevelOfDetail, Sleep, StepDue, Teleport, WindZones,
    };
    app.configure_sets(
        StepSchedule::Begin,
        (
            (Clock, LevelOfDetail, Teleport).chain(),
            FrameFraction.before(Teleport),
        ),
    )
    .configure_sets(
        StepSchedule::Prepare,
        (
            (EndPause, CatchUp, Colliders, StepDue).chain(),
            (
                CheckSettings,
                WindZones,
                PrepareSystems::ClothIslands,
                Sleep,
                BeginStep,
                Grab,
            )
                .chain()
                .in_set(StepDue),
        ),
    )
    .configure_sets(
        StepSchedule::Finish,
        (FinishSystems::EndStep, FinishSystems::Tear).chain(),
    );
}

fn configure_frame_sets(app: &mut App) {
    app.configure_sets(
        FrameSchedule::Build,
        (
            BuildSystems::Rules,
            BuildSystems::SkeletonColliders,
            BuildSystems::ReplacedMeshes,
            BuildSystems::ChangedMeshes,
            BuildSystems::Cloths,
            BuildSystems::Ropes,
            BuildSystems::Teleport,
            BuildSystems::WarmUp,
            BuildSystems::UnbindProxies,
            BuildSystems::BindProxies,
        )
            .chain(),
    )
    .configure_sets(
        FrameSchedule::WriteMesh,
        (
            WriteSystems::RenderPose,
            WriteSystems::ClothMeshes,
            WriteSystems::ProxyMeshes,
        )
            .chain(),
    );
}
