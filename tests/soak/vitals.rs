//! Measurements of a scene over a part of its time.

use crate::RATE;
use bevy::prelude::*;
use bevy_drape::{
    cloth::ClothConstraints, prelude::*, sleep::ClothSleeping, solver::ConstraintKind,
    wind::WindTime,
};
use std::time::{Duration, Instant};

/// Steps between two measurements of speeds.
const SAMPLE_EVERY: u64 = 10;

/// Measurements of a scene over a part of its time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Vitals {
    /// Median time of an update of the app, with a step, s.
    pub(crate) step_time: f64,
    /// Mean kinetic energy per mass, J/kg.
    pub(crate) energy: f64,
    /// Speed of the fastest particle, m/s.
    pub(crate) fastest: f64,
    /// Number of times that a cloth has fallen asleep.
    pub(crate) sleeps: u32,
    /// Most particles that tears have added.
    pub(crate) torn: usize,
    /// Fingerprint of all rest lengths of whole cloths, at the end.
    pub(crate) rest_lengths: u64,
    /// Largest distance of a particle from the origin of its cloth, m.
    pub(crate) from_origin: f64,
    /// Largest difference of a clock from the number of steps, s.
    pub(crate) clock_error: f64,
}

/// Collects the measurements of a scene.
#[derive(Default)]
pub(crate) struct Observer {
    vitals: Vitals,
    times: Vec<Duration>,
    energies: Vec<f64>,
    was_asleep: usize,
    /// Number of particles of whole cloths.
    whole: usize,
}

impl Observer {
    /// Updates an app, for the step with this number, and measures it.
    pub(crate) fn update(&mut self, app: &mut App, step: u64) {
        let begin = Instant::now();
        app.update();
        self.times.push(begin.elapsed());
        let world = app.world_mut();
        let asleep = world.query::<&ClothSleeping>().iter(world).count();
        self.vitals.sleeps += u32::from(asleep > self.was_asleep);
        self.was_asleep = asleep;
        if step.is_multiple_of(SAMPLE_EVERY) {
            self.sample(world);
        }
    }

    fn sample(&mut self, world: &mut World) {
        let (mut count, mut sum) = (0, 0.0);
        let vitals = &mut self.vitals;
        for particles in world.query::<&ClothParticles>().iter(world) {
            count += particles.len();
            for i in 0..particles.len() {
                let speed = f64::from(particles.velocity(i).length());
                let distance = particles.position.get(i).length();
                sum += 0.5 * speed * speed;
                vitals.fastest = larger(vitals.fastest, speed);
                vitals.from_origin = larger(vitals.from_origin, distance.into());
            }
        }
        if self.whole == 0 {
            self.whole = count;
        }
        vitals.torn = vitals.torn.max(count - self.whole);
        self.energies.push(sum / count.max(1) as f64);
    }

    /// Returns the measurements since the last call, after that many steps from the beginning.
    pub(crate) fn finish(&mut self, world: &mut World, steps: u64) -> Vitals {
        self.times.sort_unstable();
        let expected = steps as f64 / RATE;
        // The first update takes no step.
        let clocks = [
            world.resource::<WindTime>().0,
            world.resource::<Time<Fixed>>().elapsed_secs_f64(),
        ];
        let errors = clocks.map(|clock| (clock - expected).abs());
        let vitals = Vitals {
            step_time: self.times[self.times.len() / 2].as_secs_f64(),
            energy: self.energies.iter().sum::<f64>() / self.energies.len() as f64,
            rest_lengths: rest_lengths(world),
            clock_error: errors[0].max(errors[1]),
            ..self.vitals
        };
        self.vitals = Vitals::default();
        self.times.clear();
        self.energies.clear();
        vitals
    }
}

/// Returns the larger of two numbers, NaN if either is: `max` would ignore that.
pub(crate) fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

/// Computes a fingerprint of all rest lengths (FNV-1a, 64 bits).
fn rest_lengths(world: &mut World) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    for constraints in world.query::<&ClothConstraints>().iter(world) {
        for kind in [ConstraintKind::Structural, ConstraintKind::Shear] {
            for (_, length) in constraints.of_kind(kind) {
                hash = (hash ^ u64::from(length.to_bits())).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
    hash
}
