//! Which system runs when. Nothing else.

#[cfg(feature = "parry")]
use crate::mesh_collider;
#[cfg(feature = "presets")]
use crate::presets;
use crate::{
    cloth::{Cloth, ClothReady, ResetCloth},
    collider::{self, ClothCollider, LastPose},
    components::{BuildFailed, ClothSkin, ClothSource},
    grab::{self, ClothGrabbed, ClothReleased},
    layers::ClothLayers,
    lod::{ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, ClothsPerFrame},
    max_distance::MaxDistance,
    paint::{ClothPaint, ClothPart},
    pins::Pins,
    planar::PlanarCloth,
    pressure::Pressure,
    proxy::ClothProxy,
    rope::Rope,
    rules::{self, ClothRules},
    settings::{ClothGravity, ClothThreads, Substeps, Turbulence, Wind, WindOcclusion, WindTime},
    skeleton_colliders::{self, SkeletonColliders},
    sleep::ClothSleeping,
    systems,
    tearing::{self, Tearing},
    time::{ClothClock, ClothTime, advance_cloth_time, cloth_step_due},
    warm_up::WarmUp,
    wind_zone::WindZone,
    world_motion::{TeleportCloth, WorldMotion},
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

/// Adds cloth to an app: the solver in [`FixedUpdate`] (or another schedule), building and drawing
/// in [`PostUpdate`].
///
/// Needs meshes and time: `DefaultPlugins`, or `MinimalPlugins` with `AssetPlugin`, `MeshPlugin` and
/// `TransformPlugin`. Works without a window and without a GPU.
pub struct ClothPlugin {
    schedule: InternedScheduleLabel,
}

/// Where cloths are stepped.
#[cfg(any(feature = "avian", feature = "rapier"))]
#[derive(Resource)]
pub(crate) struct ClothSchedule(pub(crate) InternedScheduleLabel);

impl ClothPlugin {
    /// Runs the steps in another schedule. Its `Time` gives the length of a step, at most 0.1 s.
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }

    #[cfg(feature = "parry")]
    fn collide_with_meshes(&self, app: &mut App) {
        // Before the primitives, which write `LastPose` of what is both.
        let find = systems::find_mesh_colliders
            .in_set(ClothSystems::Prepare)
            .after(systems::end_standstill)
            .before(systems::find_colliders);
        app.register_type::<mesh_collider::ClothMeshCollider>()
            .add_systems(self.schedule, find)
            .add_systems(
                First,
                systems::note_changed_meshes.run_if(resource_exists::<Assets<Mesh>>),
            )
            .add_observer(mesh_collider::forget_last_pose);
    }

    /// Spreads what moves in frames over the steps.
    fn follow_frames(&self, app: &mut App) {
        app.add_systems(
            self.schedule,
            systems::teleport
                .before(ClothSystems::Prepare)
                .after(advance_cloth_time),
        );
        app.add_systems(
            self.schedule,
            (
                (systems::choose_detail, systems::begin_effort)
                    .chain()
                    .after(advance_cloth_time)
                    .before(systems::teleport),
                systems::end_effort.after(ClothSystems::Finish),
            )
                .run_if(cloth_step_due),
        )
        .add_systems(Last, systems::keep_budget);
        // Elsewhere a step is a frame.
        if !self.runs_in_fixed_update() {
            return;
        }
        app.add_systems(
            RunFixedMainLoop,
            (
                (systems::follow_anchors, systems::sample_frames)
                    .chain()
                    .in_set(RunFixedMainLoopSystems::BeforeFixedMainLoop),
                systems::sample_fixed.in_set(RunFixedMainLoopSystems::AfterFixedMainLoop),
            ),
        )
        .add_systems(
            self.schedule,
            systems::find_frame_share.before(systems::teleport),
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

/// The phases, for ordering your own systems.
///
/// | in | phase | what happens |
/// |---|---|---|
/// | `FixedUpdate` | `Prepare` | cloths wake, edits take effect, pins and colliders are found, the wind blows |
/// | | `Simulate` | runs [`ClothSubstep`] once for each substep, or does the same at once |
/// | | `Finish` | free cloth gets its spin back, pins are exact, non-finite cloths go back, those at rest fall asleep, what carries too much tears |
/// | [`ClothSubstep`] | `Integrate` | particles move by their displacement and all accelerations |
/// | | `Relax` | constraints, hands that hold |
/// | | `Collide` | displacements are brought up to date, then contacts, those of cloth with itself first |
/// | `PostUpdate` | `Build` | meshes become cloth, ropes get one |
/// | | `WriteMesh` | meshes and bounding boxes follow their cloth |
///
/// The three of `FixedUpdate` take run conditions. Give all of them the same one: cloths then stand still as
/// long as it does not hold, and go on as if nothing had happened.
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
#[allow(missing_docs, reason = "the table above")]
pub enum ClothSystems {
    Build,
    Prepare,
    Simulate,
    Integrate,
    Relax,
    Collide,
    Finish,
    WriteMesh,
}

/// The schedule that runs [`Substeps`] times a step, or more often while a cloth carries something heavy. Put a
/// system between two phases to add a constraint of your own. Cloths that take fewer substeps than others do not
/// move in each of them. As long as there is no system but those of the plugin, and no run
/// condition, the schedule is not run: each cloth goes through all substeps at once, with the same
/// result to the bit, which is faster for many cloths.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, ClothSubstep, ClothSystems, Particles};
/// # let mut app = App::new();
/// app.add_systems(
///     ClothSubstep,
///     keep_above_ground
///         .after(ClothSystems::Relax)
///         .before(ClothSystems::Collide),
/// );
///
/// fn keep_above_ground(mut cloths: Query<&mut Particles>) {
///     for mut particles in &mut cloths {
///         for i in 0..particles.len() {
///             let mut place = particles.world_position(i);
///             place.y = place.y.max(0.0);
///             particles.set_world_position(i, place);
///         }
///     }
/// }
/// ```
#[derive(ScheduleLabel, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClothSubstep;

/// Where in a step the solver is. Up to date in [`ClothSubstep`].
#[derive(Resource, Clone, Copy, Debug, PartialEq)]
pub struct SubstepTime {
    /// Length of the fixed step, s.
    pub step: f32,
    /// Length of a substep, s.
    pub substep: f32,
    /// Number of the running substep, from 0.
    pub index: u32,
    /// How many substeps the step has: [`Substeps`], or up to four times as many as long as any cloth carries
    /// something heavy. Others then take theirs in some of them.
    pub count: u32,
}

impl Default for SubstepTime {
    fn default() -> Self {
        Self {
            step: 1.0 / 60.0,
            substep: 1.0 / 480.0,
            index: 0,
            count: 8,
        }
    }
}

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
            .register_type::<BuildFailed>()
            .register_type::<ClothGravity>()
            .register_type::<Wind>()
            .register_type::<WindTime>()
            .register_type::<Turbulence>()
            .register_type::<WindOcclusion>()
            .register_type::<WindZone>()
            .register_type::<PlanarCloth>()
            .register_type::<Pressure>()
            .register_type::<Substeps>()
            .register_type::<ClothThreads>()
            .register_type::<ClothTime>()
            .register_type::<ClothClock>()
            .register_type::<ClothSleeping>()
            .register_type::<ClothReady>()
            .register_type::<ResetCloth>()
            .register_type::<ClothPart>()
            .register_type::<ClothPaint>()
            .register_type::<MaxDistance>()
            .register_type::<SkeletonColliders>()
            .register_type::<skeleton_colliders::MadeFor>()
            .register_type::<WarmUp>()
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
            .init_resource::<systems::Effort>()
            .register_type::<WorldMotion>()
            .register_type::<TeleportCloth>()
            .register_type::<Tearing>()
            .register_type::<ClothGrabbed>()
            .register_type::<ClothReleased>()
            .init_resource::<ClothGravity>()
            .init_resource::<Wind>()
            .init_resource::<WindTime>()
            .init_resource::<Turbulence>()
            .init_resource::<WindOcclusion>()
            .init_resource::<systems::ActiveWindZones>()
            .init_resource::<Substeps>()
            .init_resource::<ClothThreads>()
            .init_resource::<systems::ClothCrew>()
            .init_resource::<ClothTime>()
            .init_resource::<ClothClock>()
            .init_resource::<SubstepTime>()
            .init_resource::<systems::ActiveColliders>()
            .init_resource::<systems::ClothsTouching>()
            .init_resource::<systems::FrameShare>()
            .init_resource::<systems::Standstill>()
            .insert_resource(systems::DrawBetweenSteps(self.runs_in_fixed_update()));
        #[cfg(any(feature = "avian", feature = "rapier"))]
        app.insert_resource(ClothSchedule(self.schedule));
        #[cfg(feature = "parry")]
        self.collide_with_meshes(app);
        self.follow_frames(app);
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
                    systems::end_standstill,
                    systems::catch_up.run_if(cloth_step_due),
                    // Colliders are followed in every update: what moved while cloths stood still
                    // must not catch up in one step.
                    systems::find_colliders,
                    (
                        systems::check_settings,
                        systems::check_planes,
                        systems::find_wind_zones,
                        systems::find_touching,
                        systems::watch,
                        systems::prepare_cloths,
                        grab::begin_step,
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
                        any_with_component::<Tearing>.and_then(resource_exists::<Assets<Mesh>>),
                    ),
                )
                    .chain()
                    .in_set(ClothSystems::Finish)
                    .run_if(cloth_step_due),
            ),
        );

        // A substep takes microseconds, less than handing systems to other threads would. What runs
        // in parallel are the cloths inside each system.
        let mut own = systems::OwnSystems::default();
        app.init_schedule(ClothSubstep)
            .edit_schedule(ClothSubstep, |schedule| {
                let others = systems::OwnSystems::all(schedule);
                schedule
                    .set_executor(SingleThreadedExecutor::new())
                    .set_build_settings(ScheduleBuildSettings {
                        // An unclear order would make results depend on chance. Ours is clear;
                        // where systems of others meet, they are told.
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
                        // Last in both sets, so that whoever comes after a set finds flat cloth flat.
                        (
                            systems::inflate_all,
                            systems::relax,
                            systems::hold_in_planes,
                        )
                            .chain()
                            .in_set(ClothSystems::Relax),
                        (systems::collide, systems::hold_in_planes)
                            .chain()
                            .in_set(ClothSystems::Collide),
                    ));
                own = systems::OwnSystems::all(schedule).without(&others);
            })
            .insert_resource(own);

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
                    rules::dress,
                    skeleton_colliders::make_colliders,
                    systems::forget_replaced_meshes,
                    systems::follow_changed_meshes,
                    systems::build,
                    systems::build_ropes,
                    systems::teleport,
                    systems::warm_up.run_if(systems::anybody_is_cold),
                    systems::unbind_proxies,
                    systems::bind_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::Build),
                (
                    systems::find_pictures,
                    systems::write_mesh,
                    systems::write_proxies,
                )
                    .chain()
                    .in_set(ClothSystems::WriteMesh),
            ),
        )
        .add_observer(systems::reset)
        .add_observer(systems::ask_for_teleport)
        .add_observer(skeleton_colliders::take_colliders_away)
        .add_observer(systems::give_mesh_back)
        .add_observer(systems::give_proxy_back)
        .add_observer(systems::take_rope_apart)
        .add_observer(collider::forget_last_pose)
        .add_observer(tearing::cut)
        .add_observer(tearing::tear_thread)
        .add_observer(tearing::shred)
        .add_observer(grab::grab)
        .add_observer(grab::drag)
        .add_observer(grab::release)
        .add_observer(grab::tell_released);
    }

    fn finish(&self, app: &mut App) {
        // Where the plugin of assets has come after this one.
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
