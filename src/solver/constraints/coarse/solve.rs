//! Projection of coarse levels.

use super::{CoarseLevel, CoarseLevels, CoarseLink, FREE_STRAIN, node_weights};
use crate::solver::{
    constraints::{chain::support_factor, points::Points},
    parallel::workers::{PARTICLES_PER_PART, Workers},
};
use bevy::math::Vec3;
use std::cell::RefCell;

thread_local! {
    /// Scratch buffer of this CPU thread: the nodes of each level.
    static NODES: RefCell<Vec<Vec<CoarseNode>>> = const { RefCell::new(Vec::new()) };
}

/// Node of a level in a solve.
#[derive(Clone, Copy)]
pub(super) struct CoarseNode {
    at: Vec3,
    /// Correction so far, m.
    pub(super) moved: Vec3,
    /// Inverse mass of the cloth around it, 1/kg.
    pub(super) w: f32,
    /// Normal of its contact, zero without one.
    normal: Vec3,
    /// Force of elastic fabric, in multiples of the stiffness of an edge, m.
    pub(super) force: Vec3,
    /// Stiffness between the node and the pins around it, as a multiple of that of an edge.
    pub(super) anchor: f32,
}

impl CoarseLevels {
    /// Solves all levels of inextensible fabric, coarsest first.
    pub(in crate::solver) fn solve(&self, workers: &mut Workers, points: &mut Points) {
        if self.is_empty() {
            return;
        }
        self.with_nodes(|nodes| {
            // The level solved last, with its nodes, if any of them has moved.
            let mut coarser: Option<(&CoarseLevel, &[CoarseNode])> = None;
            for (level, nodes) in self.levels.iter().zip(nodes).rev() {
                level.load(points, nodes);
                if let Some((coarser, from)) = coarser {
                    coarser.move_nodes(from, nodes);
                }
                let has_moved = level.solve_links(nodes);
                coarser = (has_moved || coarser.is_some()).then_some((level, &*nodes));
            }
            if let Some((finest, nodes)) = coarser {
                finest.move_particles(workers, nodes, points);
            }
        });
    }

    /// Calls a function with a buffer for the nodes of each level.
    pub(super) fn with_nodes(&self, solve: impl FnOnce(&mut [Vec<CoarseNode>])) {
        NODES.with_borrow_mut(|nodes| {
            if nodes.len() < self.levels.len() {
                nodes.resize_with(self.levels.len(), Vec::new);
            }
            solve(&mut nodes[..self.levels.len()]);
        });
    }
}

impl CoarseLevel {
    /// Copies the state of all nodes.
    pub(super) fn load(&self, points: &Points, nodes: &mut Vec<CoarseNode>) {
        let node = |(&i, &ratio): (&u32, &f32)| {
            let i = i as usize;
            let normal = points.normals.map(|[x, y, z]| Vec3::new(x[i], y[i], z[i]));
            CoarseNode {
                at: Vec3::new(points.x[i], points.y[i], points.z[i]),
                moved: Vec3::ZERO,
                w: points.w[i] * ratio,
                normal: normal.unwrap_or_default(),
                force: Vec3::ZERO,
                anchor: 0.0,
            }
        };
        nodes.clear();
        nodes.extend(self.nodes.iter().zip(&self.mass_ratios).map(node));
    }

    /// Solves all links once: with more passes, no link ends shorter, but more cloth trembles. Returns whether any node has moved.
    fn solve_links(&self, nodes: &mut [CoarseNode]) -> bool {
        let mut has_moved = false;
        for link in &self.links {
            has_moved |= link.shorten(nodes);
        }
        has_moved
    }

    /// Moves each node of the level before by the weighted mean of what the nodes around it have moved.
    pub(super) fn move_nodes(&self, from: &[CoarseNode], to: &mut [CoarseNode]) {
        for ((node, corners), weights) in to.iter_mut().zip(&self.corners).zip(&self.weights) {
            if node.w > 0.0 {
                node.move_by(mean_move(from, corners, weights));
            }
        }
    }

    /// Moves each particle by the weighted mean of what the nodes around it have moved.
    pub(super) fn move_particles(
        &self,
        workers: &mut Workers,
        from: &[CoarseNode],
        points: &mut Points,
    ) {
        let parts = self.corners.chunks(PARTICLES_PER_PART);
        let parts = parts.zip(self.weights.chunks(PARTICLES_PER_PART));
        let parts = parts.zip(points.w.chunks(PARTICLES_PER_PART));
        let planes = [&mut *points.x, &mut *points.y, &mut *points.z];
        let [x, y, z] = planes.map(|plane| plane.chunks_mut(PARTICLES_PER_PART));
        let parts = parts.zip(x).zip(y).zip(z);
        workers.for_each_part(parts, |(((((corners, weights), w), x), y), z)| {
            let places = corners.iter().zip(weights).zip(w);
            for (((((corners, weights), &w), x), y), z) in places.zip(x).zip(y).zip(z) {
                if w > 0.0 {
                    let by = mean_move(from, corners, weights);
                    *x += by.x;
                    *y += by.y;
                    *z += by.z;
                }
            }
        });
    }
}

/// Returns the weighted mean of what three nodes have moved, m. Written out: `array::map` is not always inlined.
#[inline(always)]
fn mean_move(nodes: &[CoarseNode], corners: &[u16; 3], weights: &[f32; 2]) -> Vec3 {
    let part = |(node, weight): (u16, f32)| nodes[usize::from(node)].moved * weight;
    let [a, b, c] = node_weights(corners, weights);
    part(a) + part(b) + part(c)
}

impl CoarseLink {
    /// Shortens the link if it is stretched by more than [`FREE_STRAIN`]. Returns whether it did.
    fn shorten(self, nodes: &mut [CoarseNode]) -> bool {
        let [a, b] = self.nodes;
        let (a, b) = (usize::from(a), usize::from(b));
        let between = nodes[b].at - nodes[a].at;
        let (square, longest) = (between.length_squared(), self.rest * (1.0 + FREE_STRAIN));
        if square <= longest * longest {
            return false;
        }
        let length = square.sqrt();
        let along = between / length;
        let (by_a, by_b) = (nodes[a].mobility(along), nodes[b].mobility(-along));
        let w = by_a.dot(along) - by_b.dot(along);
        // Not if it is NaN either.
        let can_move = w > 0.0;
        if can_move {
            let lambda = (length - longest) / w;
            nodes[a].move_by(by_a * lambda);
            nodes[b].move_by(by_b * lambda);
        }
        can_move
    }
}

impl CoarseNode {
    fn move_by(&mut self, by: Vec3) {
        self.at += by;
        self.moved += by;
    }

    /// Returns the displacement by a unit of λ in this direction.
    fn mobility(&self, along: Vec3) -> Vec3 {
        self.slide(along) * self.w
    }

    /// Returns what is left of a displacement in this direction: none into a collider that supports the node, as in chains.
    fn slide(&self, along: Vec3) -> Vec3 {
        if self.normal == Vec3::ZERO {
            return along;
        }
        let into = -along.dot(self.normal);
        let support = support_factor(into * into.abs());
        along + self.normal * (support * support * into)
    }

    /// Sets the displacement, m, as far as a collider allows it.
    pub(super) fn set_moved(&mut self, moved: Vec3) {
        let length = moved.length();
        let is_supported = self.normal != Vec3::ZERO && length > 0.0;
        self.moved = match is_supported {
            true => self.slide(moved / length) * length,
            false => moved,
        };
    }
}
