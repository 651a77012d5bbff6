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

use crate::solver::SubstepTime;
use bevy::{
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
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
/// | `FixedUpdate` | [`Prepare`](Self::Prepare) | waking, edited components, colliders, inertia, pin targets, wind, grabs |
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
    /// In [`ClothSubstep`], after `Integrate`: applies pressure, then solves shear, bend and stretch constraints, stretch last in each direction, then
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

/// Schedule of a substep. It runs once per substep ([`ClothSubsteps`](crate::cloth::ClothSubsteps)), or more often
/// while a cloth is loaded by a heavy body, in strong wind, pulled by fast pins or thrown against itself. Put a system
/// between two sets to add a constraint of your own. Cloths with fewer substeps than others do not move in each run. As long as it contains only the systems of the plugin
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
/// The number of substeps follows from [`ClothSubsteps`](crate::cloth::ClothSubsteps), or is up to eight times as many
/// while any cloth is loaded by a heavy body, in strong wind, pulled by fast pins or thrown against itself. Other cloths
/// then take their substeps in some of them.
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
    pub(super) build: u32,
    pub(super) write_mesh: u32,
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
    /// Finds cloths close enough for contact.
    ClothIslands,
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
