//! Coarse levels of elastic fabric: they act before the mesh is solved, with the stiffness of the mesh.
//!
//! A solve of the mesh hands no load on across many edges, and one that tries leaves the particles of an irregular mesh shifted
//! against each other, which makes it softer still. So the forces of all edges are restricted to the nodes of each level, the
//! displacements that they cause are found there, coarsest level first, and interpolated back (multigrid: Brandt, "Multi-Level
//! Adaptive Solutions to Boundary-Value Problems", 1977). Then the mesh is solved without the strain that its edges have in
//! common (`strain`): their multipliers begin with it.
//!
//! An edge pulls by what it has in common with its neighbours, give or take as much again for its own length. Where there is
//! nothing in common, in folds and slack cloth, levels do nothing.

use super::{
    CoarseLevel, CoarseLevels,
    solve::CoarseNode,
    strain::{CommonStrain, EdgeWeights, MeasuredStrain},
};
use crate::solver::{
    constraints::{general::GeneralConstraints, points::Points},
    parallel::workers::Workers,
};
use bevy::math::{Vec3, Vec3A};
use std::cell::RefCell;

/// Passes over the nodes of the coarsest level, and of the others.
const COARSEST_PASSES: usize = 8;
const PASSES: usize = 2;

thread_local! {
    /// Scratch buffers of this CPU thread.
    static SCRATCH: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
}

struct Scratch {
    strain: MeasuredStrain,
    /// Force on each particle, in multiples of the stiffness of an edge, m.
    forces: Vec<Vec3A>,
}

impl Scratch {
    const fn new() -> Self {
        Self {
            strain: MeasuredStrain::new(),
            forces: Vec::new(),
        }
    }
}

impl CoarseLevels {
    /// Solves all levels of elastic fabric, and sets the multipliers of edges to what the mesh shall leave alone. `alpha` is α̃ of
    /// edges, greater than 0.
    pub(in crate::solver) fn solve_elastic(
        &self,
        workers: &mut Workers,
        points: &mut Points,
        general: &mut GeneralConstraints,
        alpha: f32,
    ) {
        let Some(finest) = self.levels.first() else {
            return;
        };
        SCRATCH.with_borrow_mut(|Scratch { strain, forces }| {
            self.common.measure(finest, points, strain);
            self.common.find_forces(points, general, strain, forces);
            self.with_nodes(|nodes| {
                self.find_displacements(points, forces, alpha, nodes);
                finest.move_particles(workers, &nodes[0], points);
            });
            self.common.measure(finest, points, strain);
            strain.limit_to_changes();
            let stiffness = 1.0 / alpha;
            for (list, edges) in self.common.edges(general.lists_mut()) {
                let slots = list.lambda.iter_mut().zip(&*list.rest);
                for ((lambda, rest), edge) in slots.zip(edges) {
                    *lambda = -rest * stiffness * strain.at(edge);
                }
            }
        });
    }

    /// Finds the displacements of the nodes of all levels by forces on particles.
    fn find_displacements(
        &self,
        points: &Points,
        forces: &[Vec3A],
        alpha: f32,
        nodes: &mut [Vec<CoarseNode>],
    ) {
        for (number, level) in self.levels.iter().enumerate() {
            let (finer, own) = nodes.split_at_mut(number);
            let own = &mut own[0];
            level.load(points, own);
            match finer.last() {
                None => level.restrict(forces.iter().map(|&force| force.into()), own),
                Some(finer) => level.restrict(finer.iter().map(|node| node.force), own),
            }
        }
        for (number, level) in self.levels.iter().enumerate().rev() {
            let (own, coarser) = nodes.split_at_mut(number + 1);
            let own = &mut own[number];
            let passes = match self.levels.get(number + 1) {
                None => COARSEST_PASSES,
                Some(next) => {
                    next.move_nodes(&coarser[0], own);
                    PASSES
                }
            };
            level.solve_stiffness(own, alpha, passes);
        }
    }
}

impl CommonStrain {
    /// Finds the force of all edges on each particle.
    fn find_forces(
        &self,
        points: &Points,
        general: &GeneralConstraints,
        strain: &mut MeasuredStrain,
        forces: &mut Vec<Vec3A>,
    ) {
        strain.clear_changes();
        forces.clear();
        forces.resize(strain.positions.len(), Vec3A::ZERO);
        for (list, edges) in self.edges(general.lists()) {
            for (edge, &rest) in edges.iter().zip(&*list.rest) {
                let force = force_of(edge, rest, strain);
                let [a, b] = edge.ends.map(|i| i as usize);
                forces[a] += force;
                forces[b] -= force;
            }
        }
        // Pins take the forces on what they hold.
        for (force, &w) in forces.iter_mut().zip(points.w) {
            if w == 0.0 {
                *force = Vec3A::ZERO;
            }
        }
    }
}

/// Returns the force of an edge on its first particle, in multiples of its stiffness, m, and adds up how its length has changed.
#[inline(always)]
fn force_of(edge: &EdgeWeights, rest: f32, strain: &mut MeasuredStrain) -> Vec3A {
    let [a, b] = edge.ends.map(|i| strain.positions[i as usize]);
    let between = b - a;
    let length = between.length();
    // Not in empty slots, and not if positions are no numbers.
    if !(rest >= 0.0 && length > 0.0 && length < f32::INFINITY) {
        return Vec3A::ZERO;
    }
    let change = length - rest;
    let common = rest * strain.at(edge);
    strain.add_change(edge, change, common);
    let (least, most) = (common - common.abs(), common + common.abs());
    between * (change.max(least).min(most) / length)
}

impl CoarseLevel {
    /// Distributes forces on the nodes of the level before, or on particles, over the nodes.
    fn restrict(&self, forces: impl Iterator<Item = Vec3>, nodes: &mut [CoarseNode]) {
        self.distribute(forces, |node, part| nodes[node].force += part);
    }

    /// Solves the linear system of the level by Gauss–Seidel, in alternating directions.
    fn solve_stiffness(&self, nodes: &mut [CoarseNode], alpha: f32, passes: usize) {
        let count = nodes.len();
        for pass in 0..passes {
            for k in 0..count {
                let k = if pass % 2 == 0 { k } else { count - 1 - k };
                let (mut pull, mut sum) = (Vec3::ZERO, 0.0);
                for &(other, stiffness) in self.stiffness.at(k) {
                    pull += nodes[usize::from(other)].moved * stiffness;
                    sum += stiffness;
                }
                let node = &mut nodes[k];
                let inverse = node.w / (alpha + node.w * sum);
                node.set_moved((node.force + pull) * inverse);
            }
        }
    }
}
