//! What a step costs and how good it is, for each cloth and as Bevy diagnostics.

use crate::{
    cloth::Cloth,
    components::{Constraints, Particles},
    layers::ClothLayers,
    plugin::ClothSystems,
    sleep::ClothSleeping,
    solver::{Stretch, deepest_penetration, measure_stretch},
    systems::ActiveColliders,
};
use bevy::{
    app::FixedUpdate,
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    platform::time::Instant,
    prelude::*,
};

/// Measures all cloths: [`ClothStats`] on each, and Bevy [`Diagnostics`] for all together, under the
/// paths that are constants of this type. The panel adds it by itself.
///
/// | path | what |
/// |---|---|
/// | `cloth/step_time` | time of all steps, ms |
/// | `cloth/cloths` | cloths |
/// | `cloth/sleeping` | those that sleep |
/// | `cloth/particles` | particles |
/// | `cloth/constraints` | constraints |
/// | `cloth/worst_stretch` | largest strain of a thread, % |
/// | `cloth/deepest_penetration` | deepest that any particle is in a collider, mm |
///
/// They are measured after each step: Bevy's `LogDiagnosticsPlugin` writes them to the log, overlays find
/// them in the `DiagnosticsStore`.
pub struct ClothDiagnosticsPlugin {
    schedule: InternedScheduleLabel,
}

impl ClothDiagnosticsPlugin {
    /// Time of all cloths' steps, ms.
    pub const STEP_TIME: DiagnosticPath = DiagnosticPath::const_new("cloth/step_time");
    /// Number of cloths, those that sleep among them.
    pub const CLOTHS: DiagnosticPath = DiagnosticPath::const_new("cloth/cloths");
    /// Number of particles.
    pub const PARTICLES: DiagnosticPath = DiagnosticPath::const_new("cloth/particles");
    /// Number of constraints.
    pub const CONSTRAINTS: DiagnosticPath = DiagnosticPath::const_new("cloth/constraints");
    /// Number of cloths that sleep.
    pub const SLEEPING: DiagnosticPath = DiagnosticPath::const_new("cloth/sleeping");
    /// Largest strain of a thread, %.
    pub const WORST_STRETCH: DiagnosticPath = DiagnosticPath::const_new("cloth/worst_stretch");
    /// Deepest that any particle is in a collider, mm.
    pub const DEEPEST_PENETRATION: DiagnosticPath =
        DiagnosticPath::const_new("cloth/deepest_penetration");

    /// For a [`ClothPlugin`](crate::ClothPlugin) that runs in another schedule than [`FixedUpdate`].
    pub fn new(schedule: impl ScheduleLabel) -> Self {
        Self {
            schedule: schedule.intern(),
        }
    }
}

impl Default for ClothDiagnosticsPlugin {
    fn default() -> Self {
        Self::new(FixedUpdate)
    }
}

/// How a cloth is after its last step.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct ClothStats {
    /// Number of particles.
    pub particles: usize,
    /// Number of constraints.
    pub constraints: usize,
    /// Largest strain of a thread: length over rest length, minus 1.
    pub worst_stretch: f32,
    /// Root mean square strain of all threads.
    pub rms_stretch: f32,
    /// Deepest that any particle is in a collider, m.
    pub deepest_penetration: f32,
    /// It has come to rest and sleeps ([`ClothSleeping`]).
    pub sleeping: bool,
}

#[derive(Resource)]
struct StepBegan(Instant);

impl Plugin for ClothDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothStats>()
            .register_diagnostic(Diagnostic::new(Self::STEP_TIME).with_suffix(" ms"))
            .register_diagnostic(Diagnostic::new(Self::CLOTHS))
            .register_diagnostic(Diagnostic::new(Self::PARTICLES))
            .register_diagnostic(Diagnostic::new(Self::CONSTRAINTS))
            .register_diagnostic(Diagnostic::new(Self::SLEEPING))
            .register_diagnostic(Diagnostic::new(Self::WORST_STRETCH).with_suffix(" %"))
            .register_diagnostic(Diagnostic::new(Self::DEEPEST_PENETRATION).with_suffix(" mm"))
            .insert_resource(StepBegan(Instant::now()))
            .add_systems(
                self.schedule,
                (
                    begin.before(ClothSystems::Prepare),
                    (end, measure)
                        .chain()
                        .after(ClothSystems::Finish)
                        .run_if(crate::time::cloth_step_due),
                ),
            )
            .add_systems(PostUpdate, add_stats.after(ClothSystems::Build));
    }
}

fn begin(mut began: ResMut<StepBegan>) {
    began.0 = Instant::now();
}

fn end(began: Res<StepBegan>, mut diagnostics: Diagnostics) {
    let elapsed = began.0.elapsed().as_secs_f64() * 1e3;
    diagnostics.add_measurement(&ClothDiagnosticsPlugin::STEP_TIME, || elapsed);
}

fn add_stats(
    mut commands: Commands,
    new: Query<Entity, (With<Particles>, Without<ClothStats>)>,
    gone: Query<Entity, (With<ClothStats>, Without<Cloth>)>,
) {
    for entity in &new {
        commands.entity(entity).try_insert(ClothStats::default());
    }
    for entity in &gone {
        commands.entity(entity).try_remove::<ClothStats>();
    }
}

fn measure(
    mut cloths: Query<(
        &Particles,
        &Constraints,
        Option<&ClothLayers>,
        Has<ClothSleeping>,
        &mut ClothStats,
    )>,
    colliders: Res<ActiveColliders>,
    mut diagnostics: Diagnostics,
) {
    let mut total = ClothStats::default();
    let (mut cloths_there, mut asleep) = (0_u32, 0);
    for (particles, constraints, layers, sleeping, mut stats) in &mut cloths {
        // What sleeps is as it was.
        if !(sleeping && stats.sleeping) {
            let Stretch { rms, max, .. } = measure_stretch(particles, constraints);
            let penetration = deepest_penetration(particles, colliders.meeting(layers));
            #[cfg(feature = "parry")]
            let penetration = penetration.max(crate::solver::deepest_mesh_penetration(
                particles,
                colliders.meshes.meeting(layers),
            ));
            *stats = ClothStats {
                particles: particles.len(),
                constraints: constraints.len(),
                worst_stretch: max,
                rms_stretch: rms,
                deepest_penetration: penetration,
                sleeping,
            };
        }
        cloths_there += 1;
        asleep += u32::from(sleeping);
        total.particles += stats.particles;
        total.constraints += stats.constraints;
        total.worst_stretch = total.worst_stretch.max(stats.worst_stretch);
        total.deepest_penetration = total.deepest_penetration.max(stats.deepest_penetration);
    }
    type Paths = ClothDiagnosticsPlugin;
    for (path, value) in [
        (&Paths::CLOTHS, f64::from(cloths_there)),
        (&Paths::PARTICLES, total.particles as f64),
        (&Paths::CONSTRAINTS, total.constraints as f64),
        (&Paths::SLEEPING, f64::from(asleep)),
        (
            &Paths::WORST_STRETCH,
            f64::from(total.worst_stretch) * 100.0,
        ),
        (
            &Paths::DEEPEST_PENETRATION,
            f64::from(total.deepest_penetration) * 1000.0,
        ),
    ] {
        diagnostics.add_measurement(path, || value);
    }
}
