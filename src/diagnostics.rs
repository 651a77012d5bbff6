//! Measures the cost and quality of cloth steps, per cloth and as Bevy diagnostics.

use crate::solver::{Stretch, deepest_mesh_penetration, deepest_penetration, measure_stretch};
use crate::{
    cloth::{
        Cloth,
        activity::ClothSleeping,
        particles::{ClothConstraints, ClothParticles},
        schedule::ClothSystems,
        update_rate::UpdateRate,
    },
    collision::{active_colliders::ActiveColliders, layers::ClothLayers},
};
use bevy::{
    app::FixedUpdate,
    diagnostic::{Diagnostic, DiagnosticPath, Diagnostics, RegisterDiagnostic},
    ecs::schedule::{InternedScheduleLabel, ScheduleLabel},
    platform::time::Instant,
    prelude::*,
};

/// Plugin that measures all cloths: [`ClothStats`] on each, and Bevy [`Diagnostics`] for their totals, under the
/// paths that are constants of this type. The panel adds this plugin by itself.
///
/// | path | value |
/// |---|---|
/// | `cloth/step_time` | time of a step of all cloths, ms |
/// | `cloth/cloths` | number of cloths |
/// | `cloth/sleeping` | number of sleeping cloths |
/// | `cloth/particles` | number of particles |
/// | `cloth/constraints` | number of constraints |
/// | `cloth/contact_pairs` | number of contacts of particles with particles, in all substeps of a step together |
/// | `cloth/worst_stretch` | largest strain of a structural constraint, % |
/// | `cloth/deepest_penetration` | deepest penetration of a particle into a collider, mm |
///
/// Measured after each step. Bevy's `LogDiagnosticsPlugin` logs them; overlays read them from the
/// `DiagnosticsStore`.
pub struct ClothDiagnosticsPlugin {
    schedule: InternedScheduleLabel,
}

impl ClothDiagnosticsPlugin {
    /// Time of a step of all cloths, ms.
    pub const STEP_TIME: DiagnosticPath = DiagnosticPath::const_new("cloth/step_time");
    /// Number of cloths, including sleeping ones.
    pub const CLOTHS: DiagnosticPath = DiagnosticPath::const_new("cloth/cloths");
    /// Number of particles.
    pub const PARTICLES: DiagnosticPath = DiagnosticPath::const_new("cloth/particles");
    /// Number of constraints.
    pub const CONSTRAINTS: DiagnosticPath = DiagnosticPath::const_new("cloth/constraints");
    /// Number of contacts of particles with particles of the same or of other cloths, in all substeps of a step together.
    pub const CONTACT_PAIRS: DiagnosticPath = DiagnosticPath::const_new("cloth/contact_pairs");
    /// Number of sleeping cloths.
    pub const SLEEPING: DiagnosticPath = DiagnosticPath::const_new("cloth/sleeping");
    /// Largest strain of a structural constraint, %.
    pub const WORST_STRETCH: DiagnosticPath = DiagnosticPath::const_new("cloth/worst_stretch");
    /// Deepest penetration of a particle into a collider, mm.
    pub const DEEPEST_PENETRATION: DiagnosticPath =
        DiagnosticPath::const_new("cloth/deepest_penetration");

    /// Creates the plugin for a [`ClothPlugin`](crate::ClothPlugin) in another schedule than [`FixedUpdate`].
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

/// State of a cloth after its last step.
#[derive(Component, Reflect, Clone, Copy, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub struct ClothStats {
    /// Number of particles.
    pub particles: usize,
    /// Number of constraints.
    pub constraints: usize,
    /// Number of substeps of the step.
    pub substeps: u32,
    /// Number of relaxation iterations in all these substeps, without those of grabs.
    pub iterations: u32,
    /// Largest strain of a structural constraint: length over rest length, minus 1.
    pub worst_stretch: f32,
    /// Root mean square strain of all structural constraints.
    pub rms_stretch: f32,
    /// Deepest penetration of a particle into a collider, m.
    pub deepest_penetration: f32,
    /// Whether the cloth sleeps ([`ClothSleeping`]).
    pub sleeping: bool,
}

#[derive(Resource)]
struct StepStart(Instant);

impl Plugin for ClothDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothStats>()
            .register_diagnostic(Diagnostic::new(Self::STEP_TIME).with_suffix(" ms"))
            .register_diagnostic(Diagnostic::new(Self::CLOTHS))
            .register_diagnostic(Diagnostic::new(Self::PARTICLES))
            .register_diagnostic(Diagnostic::new(Self::CONSTRAINTS))
            .register_diagnostic(Diagnostic::new(Self::CONTACT_PAIRS))
            .register_diagnostic(Diagnostic::new(Self::SLEEPING))
            .register_diagnostic(Diagnostic::new(Self::WORST_STRETCH).with_suffix(" %"))
            .register_diagnostic(Diagnostic::new(Self::DEEPEST_PENETRATION).with_suffix(" mm"))
            .insert_resource(StepStart(Instant::now()))
            .add_systems(
                self.schedule,
                (
                    start_timer.before(ClothSystems::Prepare),
                    (stop_timer, measure)
                        .chain()
                        .after(ClothSystems::Finish)
                        .run_if(crate::time::cloth_step_due),
                ),
            )
            .add_systems(PostUpdate, add_stats.after(ClothSystems::Build));
    }
}

fn start_timer(mut start: ResMut<StepStart>) {
    start.0 = Instant::now();
}

fn stop_timer(start: Res<StepStart>, mut diagnostics: Diagnostics) {
    let elapsed = start.0.elapsed().as_secs_f64() * 1e3;
    diagnostics.add_measurement(&ClothDiagnosticsPlugin::STEP_TIME, || elapsed);
}

fn add_stats(
    mut commands: Commands,
    new: Query<Entity, (With<ClothParticles>, Without<ClothStats>)>,
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
        &Cloth,
        &ClothParticles,
        &ClothConstraints,
        &UpdateRate,
        Option<&ClothLayers>,
        Has<ClothSleeping>,
        &mut ClothStats,
    )>,
    colliders: Res<ActiveColliders>,
    mut diagnostics: Diagnostics,
) {
    let mut total = ClothStats::default();
    let (mut cloth_count, mut sleeping_count) = (0_u32, 0);
    let mut contacts = 0.0;
    for (cloth, particles, constraints, rate, layers, sleeping, mut stats) in &mut cloths {
        // The values of a sleeping cloth do not change.
        if !(sleeping && stats.sleeping) {
            let deepest_penetration = deepest(particles, layers, &colliders);
            let Stretch { rms, max, .. } = measure_stretch(particles, constraints);
            *stats = ClothStats {
                particles: particles.len(),
                constraints: constraints.len(),
                substeps: rate.substeps(),
                iterations: rate.substeps() * rate.iterations(cloth.iterations),
                worst_stretch: max,
                rms_stretch: rms,
                deepest_penetration,
                sleeping,
            };
        }
        cloth_count += 1;
        sleeping_count += u32::from(sleeping);
        if !sleeping {
            contacts += f64::from(particles.contacts) * particles.len() as f64;
        }
        total.particles += stats.particles;
        total.constraints += stats.constraints;
        total.worst_stretch = total.worst_stretch.max(stats.worst_stretch);
        total.deepest_penetration = total.deepest_penetration.max(stats.deepest_penetration);
    }
    let percent = f64::from(total.worst_stretch) * 100.0;
    let millimetres = f64::from(total.deepest_penetration) * 1000.0;
    type Paths = ClothDiagnosticsPlugin;
    for (path, value) in [
        (&Paths::CLOTHS, f64::from(cloth_count)),
        (&Paths::PARTICLES, total.particles as f64),
        (&Paths::CONSTRAINTS, total.constraints as f64),
        (&Paths::CONTACT_PAIRS, contacts),
        (&Paths::SLEEPING, f64::from(sleeping_count)),
        (&Paths::WORST_STRETCH, percent),
        (&Paths::DEEPEST_PENETRATION, millimetres),
    ] {
        diagnostics.add_measurement(path, || value);
    }
}

/// Returns the deepest penetration of a particle into a collider on its layers, m.
fn deepest(
    particles: &ClothParticles,
    layers: Option<&ClothLayers>,
    colliders: &ActiveColliders,
) -> f32 {
    let meshes = colliders.meshes.on_layers(layers);
    deepest_penetration(particles, colliders.on_layers(layers))
        .max(deepest_mesh_penetration(particles, meshes))
}
