//! The plugin: registers types, resources and systems, and says which system runs when.

#[cfg(feature = "parry")]
use crate::mesh_collider;
#[cfg(feature = "presets")]
use crate::presets;
use crate::{
    cloth::{Cloth, ClothReady, ResetCloth},
    collider::{self, ClothCollider, LastPose},
    components::{ClothBuildFailed, ClothSkin, ClothSource},
    grab::{self, ClothGrabbed, ClothReleased},
    inertia::{ClothInertia, TeleportCloth},
    layers::ClothLayers,
    lod::{ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, ClothsPerFrame},
    max_distance::ClothMaxDistance,
    paint::{ClothPaint, ClothPart},
    pins::Pins,
    planar::PlanarCloth,
    pressure::ClothPressure,
    proxy::ClothProxy,
    rope::Rope,
    rules::{self, ClothRules},
    settings::{
        ClothGravity, ClothMaxThreads, ClothSubsteps, Wind, WindOcclusion, WindTime, WindTurbulence,
    },
    skeleton_colliders::{self, SkeletonColliders},
    sleep::ClothSleeping,
    solver::SubstepTime,
    systems,
    tearing::{self, ClothTearing},
    time::{ClothClock, ClothTime, advance_cloth_time, cloth_step_due},
    warm_up::ClothWarmUp,
    wind_zone::WindZone,
};
use bevy::{
    asset::AssetEventSystems,
    camera::visibility::VisibilitySystems,
    ecs::schedule::{
        InternedScheduleLabel, LogLevel, ScheduleBuildSettings, ScheduleLabel,
        SingleThreadedExecutor,
    },
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

/// Schedule in which cloths are stepped.
#[cfg(any(feature = "avian", feature = "rapier"))]
#[derive(Resource)]
pub(crate) struct ClothSchedule(pub(crate) InternedScheduleLabel);

impl ClothPlugin {
    /// Creates a plugin that steps cloths in this schedule. The `Time` there gives the length of a step, at most
    /// 0.1 s. Default [`FixedUpdate`].
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }

    #[cfg(feature = "parry")]
    fn add_mesh_colliders(&self, app: &mut App) {
        // Before the primitives: those write `LastPose` of an entity with both kinds of collider.
        let find = systems::find_mesh_colliders
            .in_set(ClothSystems::Prepare)
            .after(systems::end_pause)
            .before(systems::find_colliders);
        app.register_type::<mesh_collider::ClothMeshCollider>()
            .add_systems(self.schedule, find)
            .add_systems(
                First,
                systems::mark_changed_meshes.run_if(resource_exists::<Assets<Mesh>>),
            )
            .add_observer(mesh_collider::forget_last_pose);
    }

    /// Adds the interpolation of transforms that change once per frame over the steps, teleports and level of
    /// detail.
    fn add_frame_following(&self, app: &mut App) {
        app.add_systems(
            self.schedule,
            systems::teleport
                .before(ClothSystems::Prepare)
                .after(advance_cloth_time),
        );
        app.add_systems(
            self.schedule,
            (
                (systems::choose_level_of_detail, systems::begin_step_cost)
                    .chain()
                    .after(advance_cloth_time)
                    .before(systems::teleport),
                systems::end_step_cost.after(ClothSystems::Finish),
            )
                .run_if(cloth_step_due),
        )
        .add_systems(Last, systems::enforce_budget);
        // In other schedules a step is a frame.
        if !self.runs_in_fixed_update() {
            return;
        }
        app.add_systems(
            RunFixedMainLoop,
            (
                (systems::track_anchors, systems::sample_frame_transforms)
                    .chain()
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
                systems::sample_fixed_transforms
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            ),
        )
        .add_systems(
            self.schedule,
            systems::find_frame_fraction.before(systems::teleport),
        );
    }

    fn runs_in_fixed_update(&self) -> bool {
        [
            FixedFirst.intern(),
            FixedPreUpdate.intern(),
            FixedUpdate.intern(),
            FixedPostUpdate.intern(),
            FixedLast.intern(),
        ]
        .contains(&self.schedule)
    }
}

impl Default for ClothPlugin {
    fn default() -> Self {
        Self::new(FixedUpdate)
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
/// # use bevy_drape::{prelude::*, ClothSystems};
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
    /// rebuilds those whose mesh changed; applies teleports; warms up ([`ClothWarmUp`]); binds proxy meshes.
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
    /// tethers, max distances, grab constraints and the planes of [`PlanarCloth`].
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

/// Schedule of a substep. It runs [`ClothSubsteps`] times per step, or more often while a cloth is loaded by a
/// heavy body. Put a system between two sets to add a constraint of your own. Cloths with fewer substeps than
/// others do not move in each run. As long as it contains only the systems of the plugin and no run conditions,
/// the schedule is not run: each cloth takes all its substeps in one go, which is faster for many cloths and gives
/// the same bits.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, ClothSubstep, ClothSystems, ClothParticles};
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
/// The number of substeps is [`ClothSubsteps`], or up to four times as many while any cloth is loaded by a heavy body.
/// Other cloths then take their substeps in some of them.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Deref, DerefMut)]
pub struct ClothSubstepTime(pub SubstepTime);

impl Plugin for ClothPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Cloth>()
            .register_type::<Rope>()
            .register_type::<Pins>()
            .register_type::<ClothCollider>()
            .register_type::<LastPose>()
            .register_type::<ClothLayers>()
            .register_type::<ClothSource>()
            .register_type::<ClothSkin>()
            .register_type::<ClothBuildFailed>()
            .register_type::<ClothGravity>()
            .register_type::<Wind>()
            .register_type::<WindTime>()
            .register_type::<WindTurbulence>()
            .register_type::<WindOcclusion>()
            .register_type::<WindZone>()
            .register_type::<PlanarCloth>()
            .register_type::<ClothPressure>()
            .register_type::<ClothSubsteps>()
            .register_type::<ClothMaxThreads>()
            .register_type::<ClothTime>()
            .register_type::<ClothClock>()
            .register_type::<ClothSleeping>()
            .register_type::<ClothReady>()
            .register_type::<ResetCloth>()
            .register_type::<ClothPart>()
            .register_type::<ClothPaint>()
            .register_type::<ClothMaxDistance>()
            .register_type::<SkeletonColliders>()
            .register_type::<skeleton_colliders::GeneratedFor>()
            .register_type::<ClothWarmUp>()
            .register_type::<ClothProxy>()
            .init_resource::<ClothRules>()
            .register_type::<ClothLod>()
            .register_type::<ClothBudget>()
            .register_type::<ClothsPerFrame>()
            .register_type::<ClothViewer>()
            .register_type::<ClothPaused>()
            .register_type::<ClothCulled>()
            .init_resource::<ClothLod>()
            .init_resource::<ClothBudget>()
            .init_resource::<ClothsPerFrame>()
            .init_resource::<systems::StepCost>()
            .register_type::<ClothInertia>()
            .register_type::<TeleportCloth>()
            .register_type::<ClothTearing>()
            .register_type::<ClothGrabbed>()
            .register_type::<ClothReleased>()
            .init_resource::<ClothGravity>()
            .init_resource::<Wind>()
            .init_resource::<WindTime>()
            .init_resource::<WindTurbulence>()
            .init_resource::<WindOcclusion>()
            .init_resource::<systems::ActiveWindZones>()
            .init_resource::<ClothSubsteps>()
            .init_resource::<ClothMaxThreads>()
            .init_resource::<systems::ClothWorkers>()
            .init_resource::<ClothTime>()
            .init_resource::<ClothClock>()
            .init_resource::<ClothSubstepTime>()
            .init_resource::<systems::ActiveColliders>()
            .init_resource::<systems::ClothPairs>()
            .init_resource::<systems::FrameFraction>()
            .init_resource::<systems::PauseDetection>()
            .insert_resource(systems::InterpolateRendering(self.runs_in_fixed_update()));
        #[cfg(any(feature = "avian", feature = "rapier"))]
        app.insert_resource(ClothSchedule(self.schedule));
        #[cfg(feature = "parry")]
        self.add_mesh_colliders(app);
        self.add_frame_following(app);
        #[cfg(feature = "presets")]
        presets::add_to(app);

        app.configure_sets(
            self.schedule,
            (
                ClothSystems::Prepare,
                ClothSystems::Simulate,
                ClothSystems::Finish,
            )
                .chain(),
        )
        .add_systems(
            self.schedule,
            (
                (advance_cloth_time, systems::count_update).before(ClothSystems::Prepare),
                (
                    systems::end_pause,
                    systems::catch_up_with_frame.run_if(cloth_step_due),
                    // In every update: colliders that moved while cloths were paused must not make up
                    // for that motion in one step.
                    systems::find_colliders,
                    (
                        systems::check_settings,
                        systems::check_planes,
                        systems::find_wind_zones,
                        systems::find_cloth_pairs,
                        systems::update_sleep,
                        systems::prepare_cloths,
                        grab::move_grabs,
                    )
                        .chain()
                        .run_if(cloth_step_due),
                )
                    .chain()
                    .in_set(ClothSystems::Prepare),
                systems::run_substeps
                    .in_set(ClothSystems::Simulate)
                    .run_if(cloth_step_due),
                (
                    systems::finish,
                    tearing::tear_overloaded.run_if(
                        any_with_component::<ClothTearing>
                            .and_then(resource_exists::<Assets<Mesh>>),
                    ),
                )
                    .chain()
                    .in_set(ClothSystems::Finish)
                    .run_if(cloth_step_due),
            ),
        );

        // A substep takes microseconds, less than dispatching systems to other threads. Parallel
        // work is inside each system, over cloths.
        let mut plugin_systems = systems::PluginSystems::default();
        app.init_schedule(ClothSubstep)
            .edit_schedule(ClothSubstep, |schedule| {
                let existing = systems::PluginSystems::all(schedule);
                schedule
                    .set_executor(SingleThreadedExecutor::new())
                    .set_build_settings(ScheduleBuildSettings {
                        // An ambiguous order would make results non-deterministic. The systems of
                        // the plugin have none; for systems of users it is logged.
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
                        systems::integrate.in_set(ClothSystems::Integrate),
                        systems::relax.in_set(ClothSystems::Relax),
                        systems::collide.in_set(ClothSystems::Collide),
                    ));
                plugin_systems = systems::PluginSystems::all(schedule).without(&existing);
            })
            .insert_resource(plugin_systems);

        app.configure_sets(
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
                (
                    rules::apply_rules,
                    skeleton_colliders::generate_colliders,
                    systems::rebuild_replaced_meshes,
                    systems::rebuild_changed_meshes,
                    systems::build,
                    systems::build_ropes,
                    systems::teleport,
                    systems::warm_up.run_if(systems::any_warm_up_pending),
                    systems::unbind_proxies,
                    systems::bind_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::Build),
                (
                    systems::find_render_poses,
                    systems::write_mesh,
                    systems::write_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::WriteMesh),
            ),
        )
        .add_observer(systems::reset)
        .add_observer(systems::request_teleport)
        .add_observer(skeleton_colliders::remove_colliders)
        .add_observer(systems::restore_source_mesh)
        .add_observer(systems::restore_proxy_mesh)
        .add_observer(systems::remove_rope_components)
        .add_observer(collider::forget_last_pose)
        .add_observer(tearing::cut)
        .add_observer(tearing::tear_edge)
        .add_observer(tearing::shred)
        .add_observer(grab::grab)
        .add_observer(grab::drag)
        .add_observer(grab::release)
        .add_observer(grab::notify_released);
    }

    fn finish(&self, app: &mut App) {
        // Again, in case `AssetPlugin` was added after this plugin.
        #[cfg(feature = "presets")]
        presets::add_to(app);
        if !app.world().contains_resource::<Assets<Mesh>>() {
            error!(
                "ClothPlugin: there are no meshes in this app, so no cloth will be built; add \
                 DefaultPlugins, or AssetPlugin and MeshPlugin"
            );
        }
    }
}
