//! Which threads carry more than they can.

use crate::solver::{
    constraints::{ConstraintGraph, ConstraintKind, distance},
    particles::ParticleArrays,
    triangles::Triangles,
};
use bevy::reflect::Reflect;
#[cfg(feature = "serialize")]
use {
    bevy::reflect::{ReflectDeserialize, ReflectSerialize},
    serde::{Deserialize, Serialize},
};

/// What a thread can take.
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
    /// Tension, in N per metre of cloth across the thread.
    Load(f32),
}

/// A thread that carries too much.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Its particles; it should break at the first.
    pub thread: [u32; 2],
    /// How many times as much as it can take.
    pub ratio: f32,
}

/// What carries the load of a thread.
#[derive(Clone, Copy, Debug)]
pub enum Carrier<'a> {
    /// A sheet with this surface.
    Sheet(&'a Triangles),
    /// A rope, which is a tube of its fabric: its circumference, m.
    Rope(f32),
}

/// The threads that carry too much, the worst first.
///
/// `resistance` is the share of the limit that the cloth can take at each particle; a thread is as
/// weak as the weaker of its ends, and that is where it breaks. Pinned particles do not break. Loads
/// must have been measured ([`ConstraintGraph::add_loads`]) if they are the limit.
pub fn overloaded(
    particles: &ParticleArrays,
    constraints: &ConstraintGraph,
    carrier: Carrier,
    limit: TearLimit,
    resistance: impl Fn(u32) -> f32,
) -> Vec<Overload> {
    let mut found = Vec::new();
    let mut weigh = |thread: [u32; 2], ratio: f32| {
        let [a, b] = thread;
        let strength = [a, b].map(|i| resistance(i).max(0.0));
        let ratio = ratio / strength[0].min(strength[1]);
        // NaN is no overload: 0 over 0 where there is neither load nor strength.
        if ratio > 1.0 {
            let free = [a, b].map(|i| !particles.is_pinned(i as usize));
            let thread = match free {
                [false, false] => return,
                [true, false] => [a, b],
                [false, true] => [b, a],
                [true, true] if strength[1] < strength[0] => [b, a],
                [true, true] => [a, b],
            };
            found.push(Overload { thread, ratio });
        }
    };
    match limit {
        TearLimit::Strain(limit) => {
            for ([a, b], rest) in constraints.of_kind(ConstraintKind::Structural) {
                let strain = distance(&particles.position, a, b) / rest - 1.0;
                weigh([a, b], strain / limit);
            }
        }
        TearLimit::Load(limit) => match carrier {
            Carrier::Rope(circumference) => {
                for (constraint, load) in constraints.loads() {
                    weigh(constraint.particles, load / (limit * circumference));
                }
            }
            Carrier::Sheet(triangles) => {
                let suspects = suspects(constraints, triangles, limit, &resistance);
                for (thread, load) in suspects {
                    weigh(thread, load / limit);
                }
            }
        },
    }
    // Of equal ones the lower numbers first: the same order always.
    found.sort_unstable_by(|x, y| y.ratio.total_cmp(&x.ratio).then(x.thread.cmp(&y.thread)));
    found
}

/// Threads that may carry too much, and how much that is, in N per metre of cloth across them.
///
/// The strip that a thread stands for is the area of the triangles at it over its length: on a grid
/// the distance of neighbouring threads, at a hem half of it. To look for these triangles takes time,
/// so it is only done for threads that would be overloaded if the smallest one were all they had.
fn suspects(
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
    let mut suspects: Vec<([u32; 2], f32, f32)> = constraints
        .loads()
        .filter(|(constraint, load)| {
            let [a, b] = constraint.particles;
            let narrowest = smallest / constraint.rest_length;
            let strength = resistance(a).min(resistance(b)).max(0.0);
            *load > 0.0 && *load > limit * strength * narrowest
        })
        .map(|(constraint, load)| {
            let [a, b] = constraint.particles;
            ([a.min(b), a.max(b)], load * constraint.rest_length, 0.0)
        })
        .collect();
    if suspects.is_empty() {
        return Vec::new();
    }
    suspects.sort_unstable_by_key(|suspect| suspect.0);
    for ([a, b, c], area) in triangles.indices.iter().zip(&triangles.rest_area) {
        for (a, b) in [(a, b), (b, c), (c, a)] {
            let side = [a.min(b), a.max(b)];
            if let Ok(place) = suspects.binary_search_by_key(&side, |suspect| suspect.0) {
                suspects[place].2 += area;
            }
        }
    }
    let with_area = suspects.into_iter().filter(|suspect| suspect.2 > 0.0);
    with_area
        .map(|(thread, moment, area)| (thread, moment / area))
        .collect()
}
