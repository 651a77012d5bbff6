//! At home in Bevy: scenes, BSN, states, hierarchies, several worlds, reflection, diagnostics, `bevy_ci_testing`.

mod bsn;
mod ci_testing;
mod hierarchy;
mod registry;
mod reload;
#[cfg(feature = "serialize")]
mod scenes;
mod states;
mod worlds;

use crate::particles;
use bevy::prelude::*;

/// The places of all particles, to the last bit.
fn bits(app: &App, cloth: Entity) -> Vec<[u32; 3]> {
    let particles = particles(app, cloth);
    let place = |i| particles.world_position(i).to_array().map(f32::to_bits);
    (0..particles.len()).map(place).collect()
}

/// How fast the fastest particle is, m a step.
fn fastest(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let way = |i| {
        particles
            .position
            .get(i)
            .distance(particles.previous.get(i))
    };
    (0..particles.len()).map(way).fold(0.0, f32::max)
}
