//! Finds the edges loaded beyond their limit.

use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        graph::{ConstraintGraph, distance},
    },
    particles::ParticleArrays,
    triangles::Triangles,
};
use bevy::reflect::Reflect;
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// Limit beyond which an edge breaks.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum TearLimit {
    /// Strain: length over rest length, minus 1.
    Strain(f32),
    /// Tension, in N per metre of cloth across the edge.
    Load(f32),
}

/// Edge loaded beyond its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// The particles of the edge; it breaks at the first one.
    pub edge: [u32; 2],
    /// Load relative to the limit, above 1.
    pub ratio: f32,
}

/// Cross-section over which the load of an edge is distributed.
#[derive(Clone, Copy, Debug)]
pub enum CrossSection<'a> {
    /// Cloth with these triangles.
    Sheet(&'a Triangles),
    /// Rope, a tube of its fabric, with this circumference, m.
    Rope(f32),
}

/// Returns the overloaded edges, the worst first.
///
/// `resistance` is the fraction of the limit that each particle withstands; an edge is as weak as the weaker of
/// its ends, and breaks there. Pinned particles do not break. A load limit requires measured loads
/// (`ConstraintGraph::add_loads`).
pub fn overloaded(
    particles: &ParticleArrays,
    constraints: &ConstraintGraph,
    section: CrossSection,
    limit: TearLimit,
    resistance: impl Fn(u32) -> f32,
) -> Vec<Overload> {
    let mut found = Vec::new();
    let mut check = |edge: [u32; 2], ratio: f32| {
        let [a, b] = edge;
        let resistances = [a, b].map(|i| resistance(i).max(0.0));
        let ratio = ratio / resistances[0].min(resistances[1]);
        // NaN (0 over 0, with neither load nor resistance) does not count as overload.
        if ratio > 1.0 {
            let free = [a, b].map(|i| !particles.is_pinned(i as usize));
            let edge = match free {
                [false, false] => return,
                [true, false] => [a, b],
                [false, true] => [b, a],
                [true, true] if resistances[1] < resistances[0] => [b, a],
                [true, true] => [a, b],
            };
            found.push(Overload { edge, ratio });
        }
    };
    match limit {
        TearLimit::Strain(limit) => {
            for ([a, b], rest) in constraints.of_kind(ConstraintKind::Structural) {
                let strain = distance(&particles.position, a, b) / rest - 1.0;
                check([a, b], strain / limit);
            }
        }
        TearLimit::Load(limit) => match section {
            CrossSection::Rope(circumference) => {
                for (constraint, load) in constraints.loads() {
                    check(constraint.particles, load / (limit * circumference));
                }
            }
            CrossSection::Sheet(triangles) => {
                let candidates = candidates(constraints, triangles, limit, &resistance);
                for (edge, load) in candidates {
                    check(edge, load / limit);
                }
            }
        },
    }
    // Ties are broken by particle number, so the order is deterministic.
    found.sort_unstable_by(|x, y| y.ratio.total_cmp(&x.ratio).then(x.edge.cmp(&y.edge)));
    found
}

/// Returns the edges that may be overloaded, with their load in N per metre of cloth across them.
///
/// An edge carries a strip as wide as the area of its triangles over its length: on a grid the spacing of the
/// rows, at a hem half of it. Finding these triangles is expensive, so only edges are considered that would be
/// overloaded with the area of the smallest triangle alone.
fn candidates(
    constraints: &ConstraintGraph,
    triangles: &Triangles,
    limit: f32,
    resistance: &impl Fn(u32) -> f32,
) -> Vec<([u32; 2], f32)> {
    let areas = triangles
        .rest_area
        .iter()
        .copied()
        .filter(|area| *area > 0.0);
    let smallest = areas.fold(f32::INFINITY, f32::min);
    let mut candidates: Vec<([u32; 2], f32, f32)> = constraints
        .loads()
        .filter(|(constraint, load)| {
            let [a, b] = constraint.particles;
            let narrowest = smallest / constraint.rest_length;
            let weaker = resistance(a).min(resistance(b)).max(0.0);
            *load > 0.0 && *load > limit * weaker * narrowest
        })
        .map(|(constraint, load)| {
            let [a, b] = constraint.particles;
            ([a.min(b), a.max(b)], load * constraint.rest_length, 0.0)
        })
        .collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    candidates.sort_unstable_by_key(|candidate| candidate.0);
    for ([a, b, c], area) in triangles.indices.iter().zip(&triangles.rest_area) {
        for (a, b) in [(a, b), (b, c), (c, a)] {
            let side = [a.min(b), a.max(b)];
            if let Ok(index) = candidates.binary_search_by_key(&side, |candidate| candidate.0) {
                candidates[index].2 += area;
            }
        }
    }
    let with_area = candidates.into_iter().filter(|candidate| candidate.2 > 0.0);
    with_area
        .map(|(edge, moment, area)| (edge, moment / area))
        .collect()
}
