//! One whole fixed step without an app: the phases that the plugin runs as systems, in the same
//! order and with the same bits.

use super::{
    aero::{Air, apply_air},
    collide::{Collider, Surface, collide},
    constraints::{Compliance, ConstraintGraph},
    glide::Strength,
    integrate::{Integration, integrate, update_displacements},
    particles::{ParticleArrays, PinTarget},
    relax::{Relaxation, ThreadSolver, relax},
    tethers::{Tethers, hold_tethers},
    triangles::Triangles,
};
use bevy::math::Vec3;

/// The cloth that is stepped.
pub struct Body<'a> {
    /// Its state.
    pub particles: &'a mut ParticleArrays,
    /// What holds it together.
    pub constraints: &'a mut ConstraintGraph,
    /// What catches the wind.
    pub triangles: &'a Triangles,
    /// What keeps its particles within reach of the pinned ones.
    pub tethers: &'a Tethers,
    /// Where its pinned particles go.
    pub pins: &'a [PinTarget],
}

/// How it is stepped.
#[derive(Clone, Copy, Debug)]
pub struct StepSettings {
    /// Length of the fixed step, s.
    pub dt: f32,
    /// Substeps of a fixed step.
    pub substeps: u32,
    /// Relaxation passes of a substep.
    pub iterations: u32,
    /// How threads are solved.
    pub threads: ThreadSolver,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Damping, 1/s.
    pub damping: f32,
    /// Compliance of the constraints.
    pub compliance: Compliance,
    /// How far tethers let particles go, as a multiple of their lengths; infinity switches them off.
    pub tether_scale: f32,
    /// The air.
    pub air: Air,
    /// Thickness and friction.
    pub surface: Surface,
}

/// Moves a cloth by one fixed step. Returns whether all numbers are still finite; if not, the cloth
/// is back where the step began, at rest.
pub fn step(body: Body, colliders: &[Collider], settings: &StepSettings) -> bool {
    let Body {
        particles,
        constraints,
        triangles,
        tethers,
        pins,
    } = body;
    let substeps = settings.substeps.max(1);
    let by = Integration {
        gravity: settings.gravity,
        damping: settings.damping,
        dt: settings.dt / substeps as f32,
    };
    particles.begin_step(pins, substeps);
    apply_air(particles, triangles, &settings.air, settings.dt);
    constraints.prepare(particles);
    for substep in 0..substeps {
        integrate(particles, &by);
        let relaxation = Relaxation {
            compliance: settings.compliance,
            threads: settings.threads,
            iterations: settings.iterations,
            dt: by.dt,
            strength: Strength::default(),
            loads: false,
        };
        relax(particles, constraints, &relaxation);
        hold_tethers(particles, tethers, settings.tether_scale);
        update_displacements(particles);
        collide(particles, colliders, &settings.surface, substep, substeps);
    }
    particles.end_step(pins);
    let finite = particles.is_finite();
    if !finite {
        particles.restore();
    }
    particles.rebase();
    finite
}
