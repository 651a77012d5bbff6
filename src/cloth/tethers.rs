//! Builds the tethers of cloths, and rebuilds them when pins change or the cloth tears.

use crate::cloth::components::ClothBody;
use crate::solver::{ConstraintGraph, Geodesics, ParticleArrays, RestShape, SoaVec3, Tethers};
use bevy::math::Mat3;
use std::sync::Arc;

/// Data from which the tethers of a cloth are built.
#[derive(Clone, Debug, Default)]
pub(crate) struct TetherSource {
    /// Geodesic distances, shared with snapshots. Empty while no tear is expected.
    pub(crate) distances: Arc<Geodesics>,
    /// Rotation and scale from mesh space to world axes when the cloth was built or reset.
    pub(crate) to_world: Mat3,
    pub(crate) stale: StaleDistances,
}

/// Change since the geodesic distances were measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum StaleDistances {
    /// Everything changed: other pins, or another cloth.
    #[default]
    All,
    /// A snapshot without distances was restored: measuring again gives the same values.
    Missing,
    /// The cloth opened at these particles.
    Torn(Vec<u32>),
    UpToDate,
}

impl StaleDistances {
    /// Records that the cloth opened at these particles.
    pub(crate) fn tear(&mut self, at: impl IntoIterator<Item = u32>) {
        match self {
            Self::All | Self::Missing => {}
            Self::Torn(particles) => particles.extend(at),
            Self::UpToDate => *self = Self::Torn(at.into_iter().collect()),
        }
    }
}

/// Whether a cloth may tear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tears {
    /// Whether it tears by load.
    pub(crate) by_load: bool,
    /// Whether it tears at all.
    pub(crate) any: bool,
}

/// Updates the tethers of a cloth, and ramps their scale towards `scale`.
pub(crate) fn prepare(
    scale: f32,
    tears: Tears,
    constraints: &ConstraintGraph,
    particles: &ParticleArrays,
    body: &mut ClothBody,
    dt: f32,
) {
    // A load on a tether would be missing on the edges.
    let wanted = if tears.by_load { f32::INFINITY } else { scale };
    if wanted == f32::INFINITY {
        // Changes are not recorded without tethers.
        body.tether_source.stale = StaleDistances::All;
    } else if body.tether_source.stale != StaleDistances::UpToDate {
        rebuild(constraints, body, tears.any);
    }
    body.ramp_tethers(wanted, particles, dt);
}

/// Measures changed distances and rebuilds the tethers. The distances are kept for the next tear if one is
/// expected: because the cloth tears under load, or has been torn before. Otherwise they would waste memory, and
/// the first cut measures them again.
fn rebuild(constraints: &ConstraintGraph, body: &mut ClothBody, tears: bool) {
    let to_world = body.tether_source.to_world;
    let positions: SoaVec3 = body
        .rest()
        .iter()
        .map(|&position| to_world * position)
        .collect();
    let triangles = body.triangles.indices.to_vec();
    let shape = RestShape {
        positions: &positions,
        triangles: &triangles,
        constraints,
    };
    // Particles attached to a dynamic body pull it, and do not support the cloth.
    let attachments = &body.bodies.attachments;
    let is_attached = |particle: &u32| {
        attachments
            .iter()
            .any(|attachment| attachment.particle == *particle)
    };
    let pinned = body.pins.iter().map(|pin| pin.particle);
    let pinned: Vec<u32> = pinned.filter(|pin| !is_attached(pin)).collect();
    let TetherSource {
        distances, stale, ..
    } = &mut body.tether_source;
    match std::mem::replace(stale, StaleDistances::UpToDate) {
        StaleDistances::UpToDate => return,
        StaleDistances::Torn(at) if !distances.is_empty() => {
            Arc::make_mut(distances).repair(&shape, &pinned, &at);
        }
        StaleDistances::Torn(_) | StaleDistances::Missing => {
            *distances = Arc::new(Geodesics::new(&shape, &pinned))
        }
        StaleDistances::All => {
            *distances = Arc::new(Geodesics::new(&shape, &pinned));
            // New tethers must not jerk: they start at the current distances, and then shorten.
            if let Some(ramped) = &mut body.ramped {
                ramped.tether_scale = f32::INFINITY;
            }
        }
    }
    body.tethers = Arc::new(Tethers::from_distances(distances, &shape, &pinned));
    if !tears && body.torn.is_none() {
        *distances = Arc::default();
    }
}
