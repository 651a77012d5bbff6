//! Builds the tethers of cloths, and rebuilds them when pins change or the cloth tears.

use crate::cloth::{Cloth, body::ClothBody, shape::ClothShape};
use crate::solver::{ConstraintGraph, Geodesics, RestShape, SoaVec3, Tethers};
use crate::tearing::ClothTearing;
use std::sync::Arc;

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

/// Returns the strain limit and the tether scale of a cloth; infinite without them.
pub(crate) fn limits(cloth: &Cloth, tearing: Option<&ClothTearing>) -> (f32, f32) {
    // A strain limit would carry the load and keep edges from tearing.
    let strain_limit = match tearing {
        Some(_) => f32::INFINITY,
        None => cloth.fabric.effective_strain_limit(),
    };
    // A load on a tether would be missing on the edges.
    let tether_scale = match tearing {
        Some(tearing) if tearing.by_load() => f32::INFINITY,
        _ => cloth.effective_tether_scale(strain_limit),
    };
    (strain_limit, tether_scale)
}

/// Rebuilds the tethers of a cloth if they are out of date; with an infinite `scale` (no tethers) only marks them so.
/// `supports` are the pinned particles that carry the cloth; `tears` tells whether it may tear.
pub(crate) fn update(
    body: &mut ClothBody,
    scale: f32,
    shape: &ClothShape,
    constraints: &ConstraintGraph,
    supports: impl Iterator<Item = u32>,
    tears: bool,
) {
    if scale == f32::INFINITY {
        // Changes are not recorded without tethers.
        body.stale_distances = StaleDistances::All;
    } else if body.stale_distances != StaleDistances::UpToDate {
        rebuild(
            body,
            shape,
            constraints,
            &supports.collect::<Vec<_>>(),
            tears,
        );
    }
}

/// Measures changed distances and rebuilds the tethers. The distances are kept for the next tear if one is
/// expected: because the cloth tears under load, or has been torn before. Otherwise they would waste memory, and
/// the first cut measures them again.
fn rebuild(
    body: &mut ClothBody,
    shape: &ClothShape,
    constraints: &ConstraintGraph,
    pinned: &[u32],
    tears: bool,
) {
    let to_world = shape.to_world;
    let positions: SoaVec3 = (shape.rest().iter())
        .map(|&position| to_world * position)
        .collect();
    let triangles = shape.triangles.indices.to_vec();
    let rest = RestShape {
        positions: &positions,
        triangles: &triangles,
        constraints,
    };
    let distances = &mut body.tether_distances;
    match std::mem::replace(&mut body.stale_distances, StaleDistances::UpToDate) {
        StaleDistances::UpToDate => return,
        StaleDistances::Torn(at) if !distances.is_empty() => {
            Arc::make_mut(distances).repair(&rest, pinned, &at);
        }
        StaleDistances::Torn(_) | StaleDistances::Missing => {
            *distances = Arc::new(Geodesics::new(&rest, pinned))
        }
        StaleDistances::All => {
            *distances = Arc::new(Geodesics::new(&rest, pinned));
            // New tethers must not jerk: they start at the current distances, and then shorten.
            if let Some(ramped) = &mut body.ramped {
                ramped.tether_scale = f32::INFINITY;
            }
        }
    }
    body.tethers = Arc::new(Tethers::from_distances(distances, &rest, pinned));
    if !tears && shape.torn.is_none() {
        *distances = Arc::default();
    }
}
