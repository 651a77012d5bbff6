//! Which threads carry more than they can.

use crate::solver::{
    constraints::{ConstraintGraph, ConstraintKind, distance},
    particles::ParticleArrays,
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

/// The threads that carry too much, the worst first, at most `most` of them.
///
/// `resistance` is the share of the limit that the cloth can take at each particle; a thread is as
/// weak as the weaker of its ends, and that is where it breaks. Pinned particles do not break.
/// `areas` is the area that belongs to each particle, m². Loads must have been measured
/// ([`ConstraintGraph::add_loads`]) if they are the limit.
pub fn overloaded(
    particles: &ParticleArrays,
    constraints: &ConstraintGraph,
    areas: &[f32],
    limit: TearLimit,
    resistance: impl Fn(u32) -> f32,
    most: usize,
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
            for (&[a, b], &rest) in constraints.of_kind(ConstraintKind::Structural) {
                let strain = distance(&particles.position, a, b) / rest - 1.0;
                weigh([a, b], strain / limit);
            }
        }
        TearLimit::Load(limit) => {
            for (constraint, load) in constraints.loads() {
                let [a, b] = constraint.particles;
                // The strip of cloth that the thread stands for.
                let area = (areas[a as usize] + areas[b as usize]) * 0.5;
                let width = area / constraint.rest_length;
                weigh([a, b], load / (limit * width));
            }
        }
    }
    // Of equal ones the lower numbers first: the same order always.
    found.sort_unstable_by(|x, y| y.ratio.total_cmp(&x.ratio).then(x.thread.cmp(&y.thread)));
    found.truncate(most);
    found
}
