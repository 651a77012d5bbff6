//! Schedules, system sets and the time of a step.
//!
//! [`ClothSystems`] and [`ClothSubstep`] are public. The private sets order the systems of the subjects within the
//! public sets, so that subjects can be registered in any order:
//!
//! | set | is in | orders |
//! |---|---|---|
//! | [`PrepareSystems`] | [`StepSchedule::Begin`] and [`StepSchedule::Prepare`] | everything up to the first substep |
//! | [`FinishSystems`] | [`StepSchedule::Finish`] | everything after the last substep |
//! | [`BuildSystems`] | [`FrameSchedule::Build`] | building and rebuilding of cloths |
//! | [`WriteSystems`] | [`FrameSchedule::WriteMesh`] | writing of meshes |
//!
//! Bevy's multi-threaded executor wakes a thread for nearly each system, which costs more than most systems of the
//! plugin take. They therefore stand in schedules of their own with a single-threaded executor ([`StepSchedule`],
//! [`FrameSchedule`]), and one exclusive system per public set runs each of those. Cloths are spread over threads
//! inside the systems. The schedules of a frame are skipped while there is nothing to build and nothing to write
//! ([`FrameRunners`]).

use crate::{
    cloth::{
        Cloth,
        particles::{ClothConstraints, ClothParticles},
        settings::{ClothGravity, ClothSubsteps},
        transforms::TransformHistory,
    },
    solver::SubstepTime,
};
use bevy::{
    asset::AssetEventSystems,
    camera::visibility::VisibilitySystems,
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel, SingleThreadedExecutor},
    prelude::*,
};

/// Longest step, s; a longer one is shortened, so that the cloth loses time but stays stable.
pub(crate) const MAX_STEP: f32 = 0.1;

/// Returns the length of the coming step, s.
pub(crate) fn step_length(clock: &Time) -> f32 {
    clock.delta_secs().min(MAX_STEP)
}

/// Schedule in which cloths are stepped.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct ClothStepSchedule {
    pub(crate) label: InternedScheduleLabel,
    is_fixed: bool,
}

impl ClothStepSchedule {
    pub(crate) fn new(label: InternedScheduleLabel) -> Self {
        let fixed = [
            FixedFirst.intern(),
            FixedPreUpdate.intern(),
            FixedUpdate.intern(),
            FixedPostUpdate.intern(),
            FixedLast.intern(),
        ];
        Self {
            label,
            is_fixed: fixed.contains(&label),
        }
    }

    /// Returns whether steps are taken in a fixed schedule, so that frames lie between them. In other schedules a
    /// step is a frame.
    pub(crate) fn is_fixed(&self) -> bool {
        self.is_fixed
    }
}

/// System sets of the phases of a step, for ordering your own systems.
///
/// | schedule | set | in it |
/// |---|---|---|
/// | `FixedUpdate` | [`Prepare`](Self::Prepare) | waking, edited components, colliders, pin targets, wind |
/// | | [`Simulate`](Self::Simulate) | [`ClothSubstep`], once per substep |
/// | | [`Finish`](Self::Finish) | exact pins, validity check, falling asleep, tearing under load |
/// | [`ClothSubstep`] | [`Integrate`](Self::Integrate) | motion by inertia and accelerations |
/// | | [`Relax`](Self::Relax) | pressure, constraints, tethers, max distances, grabs |
/// | | [`Collide`](Self::Collide) | contacts |
/// | `PostUpdate` | [`Build`](Self::Build) | new cloths and ropes |
/// | | [`WriteMesh`](Self::WriteMesh) | vertices, normals, bounding boxes |
///
/// The three sets of `FixedUpdate` take run conditions. Give all of them the same one: while it is false, cloths
/// are paused, and resume as if no time had passed.
///
/// ```
/// # use bevy::{prelude::*, state::app::StatesPlugin};
/// # use bevy_drape::prelude::*;
/// # #[derive(States, Clone, Debug, Default, PartialEq, Eq, Hash)]
/// # enum Game { #[default] Menu, Playing }
/// # let mut app = App::new();
/// # app.add_plugins(StatesPlugin).init_state::<Game>();
/// app.configure_sets(
///     FixedUpdate,
///     (ClothSystems::Prepare, ClothSystems::Simulate, ClothSystems::Finish)
///         .run_if(in_state(Game::Playing)),
/// );
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ClothSystems {
    /// In `PostUpdate`, after transform propagation: builds cloths from meshes that have loaded, and ropes;
    /// rebuilds those whose mesh changed; applies teleports; warms up
    /// ([`ClothWarmUp`](crate::cloth::ClothWarmUp)); binds proxy meshes.
    Build,
    /// In the schedule of the plugin (`FixedUpdate`): finds colliders, wind zones and pairs of cloths close enough
    /// for contact; wakes sleeping cloths; applies edited components; computes pin and animation targets and the
    /// forces of the air.
    Prepare,
    /// In the schedule of the plugin, after `Prepare`: takes the substeps. Runs [`ClothSubstep`] once per substep,
    /// or does the same work in one go.
    Simulate,
    /// In [`ClothSubstep`]: moves particles by their displacement and all accelerations.
    Integrate,
    /// In [`ClothSubstep`], after `Integrate`: applies pressure, then solves bend, shear and stretch constraints,
    /// tethers, max distances, grab constraints and the planes of [`PlanarCloth`](crate::cloth::PlanarCloth).
    Relax,
    /// In [`ClothSubstep`], after `Relax`: updates displacements from positions, then solves contacts:
    /// self-collision, cloth against cloth, and last colliders; then planes again.
    Collide,
    /// In the schedule of the plugin, after `Simulate`: restores the angular momentum of free cloth, puts pinned
    /// particles exactly on their targets, puts a cloth with non-finite particles back into its last valid state,
    /// lets slow cloths fall asleep, and tears overloaded edges.
    Finish,
    /// In `PostUpdate`, after `Build`: interpolates between the last two steps, and writes meshes, normals,
    /// tangents and bounding boxes of cloths and proxies.
    WriteMesh,
}

/// Schedule of a substep. It runs [`ClothSubsteps`](crate::cloth::ClothSubsteps) times per step, or more often
/// while a cloth is loaded by a heavy body. Put a system between two sets to add a constraint of your own. Cloths
/// with fewer substeps than others do not move in each run. As long as it contains only the systems of the plugin
/// and no run conditions, the schedule is not run: each cloth takes all its substeps in one go, which is faster
/// for many cloths and gives the same bits.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{cloth::ClothSubstep, prelude::*};
/// # let mut app = App::new();
/// app.add_systems(
///     ClothSubstep,
///     keep_above_ground
///         .after(ClothSystems::Relax)
///         .before(ClothSystems::Collide),
/// );
///
/// fn keep_above_ground(mut cloths: Query<&mut ClothParticles>) {
///     for mut particles in &mut cloths {
///         for i in 0..particles.len() {
///             let mut position = particles.world_position(i);
///             position.y = position.y.max(0.0);
///             particles.set_world_position(i, position);
///         }
///     }
/// }
/// ```
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClothSubstep;

/// Progress within a step. Up to date in [`ClothSubstep`].
///
/// The number of substeps is [`ClothSubsteps`](crate::cloth::ClothSubsteps), or up to four times as many while any
/// cloth is loaded by a heavy body. Other cloths then take their substeps in some of them.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
pub struct ClothSubstepTime(pub SubstepTime);

/// Schedules of the systems in a step. Each is run by one system in the schedule of the plugin; the substeps between
/// the last two are [`ClothSubstep`].
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StepSchedule {
    /// Before [`ClothSystems::Prepare`], also while run conditions skip that set.
    Begin,
    /// In [`ClothSystems::Prepare`].
    Prepare,
    /// In [`ClothSystems::Finish`].
    Finish,
}

/// Schedules of the systems in a frame. Each is run by one system.
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameSchedule {
    /// Before the fixed steps of a frame: samples transforms.
    BeforeSteps,
    /// After the fixed steps of a frame: samples transforms that changed in them.
    AfterSteps,
    /// In [`ClothSystems::Build`].
    Build,
    /// In [`ClothSystems::WriteMesh`].
    WriteMesh,
}

/// Sets of the systems that run the schedules of a frame, for run conditions: other systems in the public sets run
/// regardless. The multi-threaded executor switches threads for an exclusive system, unless that is skipped.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FrameRunners {
    /// Runs [`FrameSchedule::Build`].
    Build,
    /// Runs [`FrameSchedule::WriteMesh`].
    WriteMesh,
}

/// Number of runs of the schedules of a frame that can be skipped.
#[derive(Resource, Default)]
pub(crate) struct FrameRuns {
    build: u32,
    write_mesh: u32,
}

/// Request to run a schedule, kept until it runs: a condition of a user on a public set may delay that.
#[derive(Default)]
pub(crate) struct PendingRun {
    is_pending: bool,
    runs: u32,
}

impl PendingRun {
    /// Adds a request, if `is_due`. Returns whether there is one since the last run.
    fn update(&mut self, is_due: bool, runs: u32) -> bool {
        self.is_pending &= self.runs == runs;
        self.is_pending |= is_due;
        self.runs = runs;
        self.is_pending
    }
}

/// Keeps a condition true until [`FrameSchedule::Build`] has run.
pub(crate) fn until_built(
    In(is_due): In<bool>,
    runs: Res<FrameRuns>,
    mut pending: Local<PendingRun>,
) -> bool {
    pending.update(is_due, runs.build)
}

/// Keeps a condition true until [`FrameSchedule::WriteMesh`] has run.
pub(crate) fn until_written(
    In(is_due): In<bool>,
    runs: Res<FrameRuns>,
    mut pending: Local<PendingRun>,
) -> bool {
    pending.update(is_due, runs.write_mesh)
}

/// Order of the systems of the plugin before the substeps. The first four are in [`StepSchedule::Begin`], the others
/// in [`StepSchedule::Prepare`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PrepareSystems {
    /// Decides whether this update takes a step, and counts it.
    Clock,
    /// Chooses the level of detail of each cloth.
    LevelOfDetail,
    /// Computes how much of the frame the step covers. Not ordered against the two above.
    FrameFraction,
    /// Applies teleports.
    Teleport,
    /// Detects the end of a pause.
    EndPause,
    /// Moves cloths that resume with their frames.
    CatchUp,
    /// Finds colliders; in every update, also without a step.
    Colliders,
    /// Parent of all sets below: only in updates that take a step.
    StepDue,
    /// Clamps and reports invalid settings.
    CheckSettings,
    /// Finds wind zones.
    WindZones,
    /// Finds pairs of cloths close enough for contact.
    ClothPairs,
    /// Wakes sleeping cloths.
    Sleep,
    /// Begins the step of each cloth.
    BeginStep,
    /// Moves grabs.
    Grab,
}

/// Order of the systems of the plugin after the substeps, in [`StepSchedule::Finish`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FinishSystems {
    /// Ends the step of each cloth.
    EndStep,
    /// Tears overloaded edges.
    Tear,
}

/// Order of the systems of the plugin in [`FrameSchedule::Build`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BuildSystems {
    /// Adds cloth to meshes whose names match a rule.
    Rules,
    /// Generates colliders of skeletons.
    SkeletonColliders,
    /// Rebuilds cloths whose mesh component was replaced.
    ReplacedMeshes,
    /// Rebuilds cloths whose mesh asset has changed.
    ChangedMeshes,
    /// Builds cloths from meshes.
    Cloths,
    /// Builds ropes.
    Ropes,
    /// Applies teleports of cloths built in this frame.
    Teleport,
    /// Takes steps of new cloths before they are rendered first.
    WarmUp,
    /// Unbinds proxy meshes whose cloth is gone or was rebuilt.
    UnbindProxies,
    /// Binds proxy meshes to their cloths.
    BindProxies,
}

/// Order of the systems of the plugin in [`FrameSchedule::WriteMesh`].
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum WriteSystems {
    /// Interpolates between the last two steps.
    RenderPose,
    /// Writes the meshes of cloths.
    ClothMeshes,
    /// Writes proxy meshes.
    ProxyMeshes,
}

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
                PrepareSystems::ClothPairs,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_kept_until_the_schedule_runs() {
        let mut pending = PendingRun::default();
        let updates = [
            (false, 0),
            (true, 0),
            (false, 0),
            (false, 1),
            (true, 1),
            (true, 2),
        ];
        let is_pending = updates.map(|(is_due, runs)| pending.update(is_due, runs));
        assert_eq!(is_pending, [false, true, true, false, true, true]);
    }
}
