//! Ties cloth to its pins, and again when pins change or the cloth opens.

use crate::{
    components::{ClothBody, Reach, Stale},
    solver::{ConstraintGraph, Geodesics, ParticleArrays, RestShape, SoaVec3, Tethers},
    tearing::Tearing,
};
use std::sync::Arc;

/// Brings the tethers of a cloth and their scale, which is to be this, up to date.
pub(super) fn prepare(
    scale: f32,
    tearing: Option<&Tearing>,
    constraints: &ConstraintGraph,
    particles: &ParticleArrays,
    body: &mut ClothBody,
    dt: f32,
) {
    // What a tether carries no thread feels.
    let by_load = tearing.is_some_and(Tearing::by_load);
    let wanted = if by_load { f32::INFINITY } else { scale };
    if wanted == f32::INFINITY {
        // No list is kept of what changes meanwhile.
        body.reach.stale = Stale::All;
    } else if body.reach.stale != Stale::Nothing {
        tie(constraints, body, tearing.is_some());
    }
    body.glide_tethers(wanted, particles, dt);
}

/// Measures what has changed and makes the tethers anew. Distances are kept for the next tear if one
/// is to be expected: because the cloth tears by itself, or has been torn before. Otherwise they are a
/// lot of memory for nothing, and the first cut measures them again.
fn tie(constraints: &ConstraintGraph, body: &mut ClothBody, tears: bool) {
    let to_world = body.reach.to_world;
    let positions: SoaVec3 = body.rest().iter().map(|&place| to_world * place).collect();
    let triangles = body.triangles.indices.to_vec();
    let shape = RestShape {
        positions: &positions,
        triangles: &triangles,
        constraints,
    };
    // What hangs on a body pulls it along: the cloth does not hang on that.
    let held = &body.bodies.held;
    let is_piece = |particle: &u32| held.iter().any(|held| held.particle == *particle);
    let pinned = body.pins.iter().map(|pin| pin.particle);
    let pinned: Vec<u32> = pinned.filter(|pin| !is_piece(pin)).collect();
    let Reach {
        distances, stale, ..
    } = &mut body.reach;
    match std::mem::replace(stale, Stale::Nothing) {
        Stale::Nothing => return,
        Stale::Torn(at) if !distances.is_empty() => {
            Arc::make_mut(distances).repair(&shape, &pinned, &at);
        }
        Stale::Torn(_) | Stale::Lost => *distances = Arc::new(Geodesics::new(&shape, &pinned)),
        Stale::All => {
            *distances = Arc::new(Geodesics::new(&shape, &pinned));
            // New ones must not yank: they are as long as they are now, and then get shorter.
            if let Some(applied) = &mut body.applied {
                applied.tether_scale = f32::INFINITY;
            }
        }
    }
    body.tethers = Arc::new(Tethers::from_distances(distances, &shape, &pinned));
    if !tears && body.torn.is_none() {
        *distances = Arc::default();
    }
}
