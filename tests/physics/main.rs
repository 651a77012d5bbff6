//! The solver against known answers. No app, no ECS.
//!
//! Every number that is compared with comes from a formula or a table in the literature, never from
//! an earlier run of this code.

mod air;
mod bending;
mod chains;
mod cloths;
mod collisions;
mod contacts;
mod integrators;
mod motion;
mod self_collision;
mod strain;
mod tethers;

use bevy::math::Vec3;
use bevy_drape::solver::{
    self, Air, Body, Collider, Compliance, ConstraintGraph, ConstraintKind, ParticleArrays,
    PinTarget, SoaVec3, StepSettings, Surface, Tethers, ThreadSolver, Triangles,
};

/// A cloth, chain or single particle with all that a step needs.
struct Sample {
    particles: ParticleArrays,
    constraints: ConstraintGraph,
    triangles: Triangles,
    tethers: Tethers,
    pins: Vec<PinTarget>,
    colliders: Vec<Collider>,
    settings: StepSettings,
}

impl Sample {
    /// Free particles of 1 kg at rest.
    fn particles(places: impl IntoIterator<Item = Vec3>) -> Self {
        let places: SoaVec3 = places.into_iter().collect();
        let w = vec![1.0; places.len()];
        Self {
            constraints: ConstraintGraph::default(),
            particles: ParticleArrays::new(Vec3::ZERO, places, w),
            triangles: Triangles::default(),
            tethers: Tethers::default(),
            pins: Vec::new(),
            colliders: Vec::new(),
            settings: vacuum(),
        }
    }

    /// A chain through these places, which are its rest state.
    fn chain(places: &[Vec3]) -> Self {
        let mut sample = Self::particles(places.iter().copied());
        let pairs: Vec<_> = (1..places.len() as u32)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        sample.constraints = ConstraintGraph::new(&sample.particles.position, &pairs);
        sample
    }

    /// Pins a particle where it is.
    fn pin(&mut self, particle: u32) {
        let i = particle as usize;
        self.particles.inverse_mass[i] = 0.0;
        let position = self.particles.position.get(i);
        self.pins.push(PinTarget { particle, position });
    }

    fn step(&mut self) {
        let body = Body {
            particles: &mut self.particles,
            constraints: &mut self.constraints,
            triangles: &self.triangles,
            tethers: &self.tethers,
            pins: &self.pins,
            self_contacts: None,
        };
        assert!(
            solver::step(body, &self.colliders, &self.settings),
            "a number was not finite"
        );
    }

    fn run(&mut self, seconds: f32) {
        let steps = (seconds / self.settings.dt).round() as u32;
        (0..steps).for_each(|_| self.step());
    }

    fn at(&self, i: usize) -> Vec3 {
        self.particles.world_position(i)
    }
}

/// 60 Hz, one substep of one iteration, gravity 9.81, and nothing else.
fn vacuum() -> StepSettings {
    StepSettings {
        dt: 1.0 / 60.0,
        substeps: 1,
        iterations: 1,
        threads: ThreadSolver::default(),
        strain_limit: f32::INFINITY,
        gravity: Vec3::NEG_Y * 9.81,
        damping: 0.0,
        compliance: Compliance::default(),
        tether_scale: 1.01,
        air: Air {
            wind: Vec3::ZERO,
            density: 0.0,
            drag: 0.0,
            lift: 0.0,
            areal_density: 0.2,
        },
        surface: Surface::default(),
    }
}

/// Fails if `value` is farther from `expected` than a share `tolerance` of it.
#[track_caller]
fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value - expected).abs() / expected.abs();
    assert!(
        error <= tolerance,
        "{what}: {value}, expected {expected}; off by {:.4} %, allowed {:.4} %",
        error * 100.0,
        tolerance * 100.0
    );
}

/// Period of a signal that swings around 0, from its upward and downward crossings.
fn period(signal: &[f64], dt: f64) -> f64 {
    let crossings: Vec<f64> = signal
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] * pair[1] < 0.0)
        .map(|(i, pair)| (i as f64 + pair[0] / (pair[0] - pair[1])) * dt)
        .collect();
    let halves = crossings.len() - 1;
    assert!(
        halves >= 2,
        "the signal crosses 0 only {} times",
        crossings.len()
    );
    2.0 * (crossings[halves] - crossings[0]) / halves as f64
}
