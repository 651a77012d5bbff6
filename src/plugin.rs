//! The plugin: registers types, resources and systems, and says which system runs when.

#[cfg(feature = "parry")]
use crate::collision::mesh_collider;
#[cfg(feature = "presets")]
use crate::preset as presets;
use crate::{
    character::{
        inertia::{ClothInertia, TeleportCloth},
        max_distance::ClothMaxDistance,
        paint::{ClothPaint, ClothPart},
        rules::{self, ClothRules},
        skeleton_colliders::{self, SkeletonColliders},
    },
    cloth::{
        Cloth, ClothReady, ResetCloth,
        components::{ClothBuildFailed, ClothSkin, ClothSource},
        planar::PlanarCloth,
        settings::{
            ClothGravity, ClothMaxThreads, ClothSubsteps, Wind, WindOcclusion, WindTime,
            WindTurbulence,
        },
        warm_up::ClothWarmUp,
    },
    collision::{
        collider::{self, ClothCollider, LastPose},
        layers::ClothLayers,
    },
    grab::{self, ClothGrabbed, ClothReleased},
    lod::{ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, ClothsPerFrame},
    pins::Pins,
    pressure::ClothPressure,
    proxy::ClothProxy,
    rope::Rope,
    sleep::ClothSleeping,
    solver::SubstepTime,
    tearing::{self, ClothTearing},
    time::{ClothClock, ClothTime, advance_cloth_time, cloth_step_due},
    wind::zone::WindZone,
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
        let find = crate::collision::active_mesh_colliders::find_mesh_colliders
            .in_set(ClothSystems::Prepare)
            .after(crate::time::pause_detection::end_pause)
            .before(crate::collision::active_colliders::find_colliders);
        app.register_type::<mesh_collider::ClothMeshCollider>()
            .add_systems(self.schedule, find)
            .add_systems(
                First,
                crate::collision::active_mesh_colliders::mark_changed_meshes
                    .run_if(resource_exists::<Assets<Mesh>>),
            )
            .add_observer(mesh_collider::forget_last_pose);
    }

    /// Adds the interpolation of transforms that change once per frame over the steps, teleports and level of
    /// detail.
    fn add_frame_following(&self, app: &mut App) {
        app.add_systems(
            self.schedule,
            crate::character::reference_frame::teleport
                .before(ClothSystems::Prepare)
                .after(advance_cloth_time),
        );
        app.add_systems(
            self.schedule,
            (
                (
                    crate::lod::choose_level::choose_level_of_detail,
                    crate::lod::choose_level::begin_step_cost,
                )
                    .chain()
                    .after(advance_cloth_time)
                    .before(crate::character::reference_frame::teleport),
                crate::lod::choose_level::end_step_cost.after(ClothSystems::Finish),
            )
                .run_if(cloth_step_due),
        )
        .add_systems(Last, crate::lod::choose_level::enforce_budget);
        // In other schedules a step is a frame.
        if !self.runs_in_fixed_update() {
            return;
        }
        app.add_systems(
            RunFixedMainLoop,
            (
                (
                    crate::cloth::transforms::track_anchors,
                    crate::cloth::transforms::sample_frame_transforms,
                )
                    .chain()
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
                crate::cloth::transforms::sample_fixed_transforms
                    .in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            ),
        )
        .add_systems(
            self.schedule,
            crate::cloth::transforms::find_frame_fraction
                .before(crate::character::reference_frame::teleport),
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
            .init_resource::<crate::lod::choose_level::StepCost>()
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
            .init_resource::<crate::wind::active_zones::ActiveWindZones>()
            .init_resource::<ClothSubsteps>()
            .init_resource::<ClothMaxThreads>()
            .init_resource::<crate::cloth::workers::ClothWorkers>()
            .init_resource::<ClothTime>()
            .init_resource::<ClothClock>()
            .init_resource::<ClothSubstepTime>()
            .init_resource::<crate::collision::active_colliders::ActiveColliders>()
            .init_resource::<crate::collision::broad_phase::ClothPairs>()
            .init_resource::<crate::cloth::transforms::FrameFraction>()
            .init_resource::<crate::time::pause_detection::PauseDetection>()
            .insert_resource(crate::render::interpolation::InterpolateRendering(
                self.runs_in_fixed_update(),
            ));
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
                (
                    advance_cloth_time,
                    crate::time::pause_detection::count_update,
                )
                    .before(ClothSystems::Prepare),
                (
                    crate::time::pause_detection::end_pause,
                    crate::character::reference_frame::catch_up_with_frame.run_if(cloth_step_due),
                    // In every update: colliders that moved while cloths were paused must not make up
                    // for that motion in one step.
                    crate::collision::active_colliders::find_colliders,
                    (
                        crate::build::check_settings::check_settings,
                        crate::cloth::planar_constraint::check_planes,
                        crate::wind::active_zones::find_wind_zones,
                        crate::collision::broad_phase::find_cloth_pairs,
                        crate::sleep::detect::update_sleep,
                        crate::step::prepare::prepare_cloths,
                        grab::move_grabs,
                    )
                        .chain()
                        .run_if(cloth_step_due),
                )
                    .chain()
                    .in_set(ClothSystems::Prepare),
                crate::step::substeps::run_substeps
                    .in_set(ClothSystems::Simulate)
                    .run_if(cloth_step_due),
                (
                    crate::step::finish::finish,
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
        let mut plugin_systems = crate::step::substeps::PluginSystems::default();
        app.init_schedule(ClothSubstep)
            .edit_schedule(ClothSubstep, |schedule| {
                let existing = crate::step::substeps::PluginSystems::all(schedule);
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
                        crate::step::stages::integrate.in_set(ClothSystems::Integrate),
                        crate::step::stages::relax.in_set(ClothSystems::Relax),
                        crate::step::stages::collide.in_set(ClothSystems::Collide),
                    ));
                plugin_systems =
                    crate::step::substeps::PluginSystems::all(schedule).without(&existing);
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
                    crate::build::rebuild::rebuild_replaced_meshes,
                    crate::build::rebuild::rebuild_changed_meshes,
                    crate::build::from_mesh::build,
                    crate::build::from_rope::build_ropes,
                    crate::character::reference_frame::teleport,
                    crate::step::warm_up::warm_up.run_if(crate::step::warm_up::any_warm_up_pending),
                    crate::proxy::bind::unbind_proxies,
                    crate::proxy::bind::bind_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::Build),
                (
                    crate::render::pose::find_render_poses,
                    crate::render::write_mesh::write_mesh,
                    crate::proxy::write_mesh::write_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::WriteMesh),
            ),
        )
        .add_observer(crate::build::reset::reset)
        .add_observer(crate::character::reference_frame::request_teleport)
        .add_observer(skeleton_colliders::remove_colliders)
        .add_observer(crate::build::rebuild::restore_source_mesh)
        .add_observer(crate::proxy::bind::restore_proxy_mesh)
        .add_observer(crate::build::from_rope::remove_rope_components)
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
