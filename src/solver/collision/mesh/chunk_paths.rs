//! Boxes around the paths of groups of particles in a substep.

use super::{GROUP, group::ChunkParticles};
use crate::solver::{
    parallel::split::chunk_ranges,
    simd::soa::{Bounds, union},
};

/// Path of a group of particles in a substep.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupPath {
    /// Box around all positions at the beginning and at the end.
    pub(super) swept: Bounds,
    /// Longest way of a particle, m.
    pub(super) movement: f32,
    is_current: bool,
}

const EMPTY: Bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];

/// Paths of the groups of a chunk: the same for all surfaces, until one of them moves particles.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkPaths {
    groups: Vec<GroupPath>,
    /// Box around all groups, if they are current.
    all: Option<Bounds>,
}

impl ChunkPaths {
    /// Discards all paths: particles have moved.
    pub(super) fn forget(&mut self) {
        self.groups.clear();
        self.all = None;
    }

    /// Discards the path of a group whose particles were moved.
    pub(super) fn forget_group(&mut self, number: usize) {
        self.groups[number].is_current = false;
        self.all = None;
    }

    /// Returns the path of a group, which [`update`](Self::update) has brought up to date.
    pub(super) fn group(&self, number: usize) -> &GroupPath {
        &self.groups[number]
    }

    /// Updates the paths. Returns the box around all of them.
    pub(super) fn update(&mut self, particles: &ChunkParticles) -> Bounds {
        if let Some(all) = self.all {
            return all;
        }
        let unknown = GroupPath {
            swept: EMPTY,
            movement: 0.0,
            is_current: false,
        };
        let count = particles.w.len();
        self.groups.resize(count.div_ceil(GROUP), unknown);
        let mut all = EMPTY;
        for (path, range) in self.groups.iter_mut().zip(chunk_ranges(0..count, GROUP)) {
            if !path.is_current {
                let now = particles.x.each_ref().map(|plane| &plane[range.clone()]);
                let then = particles.start.map(|plane| &plane[range.clone()]);
                *path = GroupPath {
                    swept: union(&points_bounds(now), &points_bounds(then)),
                    movement: max_distance(now, then),
                    is_current: true,
                };
            }
            all = union(&all, &path.swept);
        }
        self.all = Some(all);
        all
    }
}

/// Returns the bounding box of at least one point.
fn points_bounds(planes: [&[f32]; 3]) -> Bounds {
    let mut bounds = EMPTY;
    for (axis, plane) in planes.into_iter().enumerate() {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for &value in plane {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        (bounds[0][axis], bounds[1][axis]) = (low, high);
    }
    bounds
}

/// Returns an upper bound on the distances between corresponding points.
fn max_distance(now: [&[f32]; 3], then: [&[f32]; 3]) -> f32 {
    let mut squares = 0.0;
    for (now, then) in now.into_iter().zip(then) {
        let mut most = 0.0_f32;
        for (now, then) in now.iter().zip(then) {
            let distance = (now - then).abs();
            most = if distance > most { distance } else { most };
        }
        squares += most * most;
    }
    squares.sqrt()
}
