//! Use with other parts of Bevy: scenes, BSN, states, hierarchies, several worlds, reflection, diagnostics,
//! `bevy_ci_testing`.

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

/// Returns the bits of all particle positions.
fn bits(app: &App, cloth: Entity) -> Vec<[u32; 3]> {
    let particles = particles(app, cloth);
    let position = |i| particles.world_position(i).to_array().map(f32::to_bits);
    (0..particles.len()).map(position).collect()
}

/// Returns the largest displacement of a particle in the last fixed step, m.
fn fastest(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let displacement = |i| {
        particles
            .position
            .get(i)
            .distance(particles.previous.get(i))
    };
    (0..particles.len()).map(displacement).fold(0.0, f32::max)
}
