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
    edges::{LANES, set_multipliers},
    forces::{EdgeForces, TRIANGLES_PER_PART, TriangleForces},
    solve::CoarseNode,
    strain::{CommonStrain, MeasuredStrain},
};
use crate::solver::{
    constraints::{general::GeneralConstraints, points::Points},
    parallel::{
        split::{chunk_ranges, split},
        workers::Workers,
    },
};
use bevy::math::{Vec4, Vec4Swizzles};
use std::cell::RefCell;

/// Passes over the nodes of the coarsest level, and of the others.
const COARSEST_PASSES: usize = 8;
const PASSES: usize = 2;

/// Stiffness between a pinned particle and the cloth around it, as a multiple of that of an edge: that of as many edges.
const ANCHOR: f32 = 6.0;

thread_local! {
    /// Scratch buffers of this CPU thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

#[derive(Default)]
struct Scratch {
    strain: MeasuredStrain,
    forces: EdgeForces,
    /// Displacements of the nodes of a level.
    moved: Vec<[f32; 4]>,
    /// Multipliers of edges in blocks.
    multipliers: Vec<[f32; LANES]>,
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
        SCRATCH.with_borrow_mut(|scratch| {
            (self.common).measure(workers, finest, points, &mut scratch.strain);
            (self.common).find_forces(workers, &scratch.strain, &mut scratch.forces);
            self.with_nodes(|nodes| {
                self.find_displacements(points, scratch, alpha, nodes);
                finest.move_particles(workers, &nodes[0], points);
            });
            (self.common).measure(workers, finest, points, &mut scratch.strain);
            let changes = scratch.forces.in_triangles.iter();
            let changes = changes.map(|forces| forces.changes);
            scratch.strain.limit_to_changes(changes);
            (self.common).find_multipliers(workers, 1.0 / alpha, scratch);
            set_multipliers(workers, general, &scratch.multipliers);
        });
    }

    /// Finds the displacements of the nodes of all levels.
    fn find_displacements(
        &self,
        points: &Points,
        scratch: &mut Scratch,
        alpha: f32,
        nodes: &mut [Vec<CoarseNode>],
    ) {
        for (number, level) in self.levels.iter().enumerate() {
            let (finer, own) = nodes.split_at_mut(number);
            let own = &mut own[0];
            level.load(points, own);
            match finer.last() {
                None => {
                    self.common.distribute(&scratch.forces.in_triangles, own);
                    for &(particle, force) in scratch.forces.at_pins.iter().flatten() {
                        level.distribute_one(particle as usize, force, |node, part| {
                            own[node].force += part;
                        });
                    }
                    let masses = points.w.iter().zip(&level.corners).enumerate();
                    for (particle, _) in masses.filter(|(_, (w, _))| **w == 0.0) {
                        level.distribute_one(particle, ANCHOR, |node, part: f32| {
                            own[node].anchor += part;
                        });
                    }
                }
                Some(finer) => {
                    let forces = finer.iter().map(|node| node.force.extend(node.anchor));
                    level.distribute(forces, |node, part: Vec4| {
                        own[node].force += part.xyz();
                        own[node].anchor += part.w;
                    });
                }
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
            level.solve_stiffness(own, alpha, passes, &mut scratch.moved);
        }
    }
}

impl CommonStrain {
    /// Divides the forces of all triangles among the nodes.
    fn distribute(&self, forces: &[TriangleForces], nodes: &mut [CoarseNode]) {
        for (triangle, of_edges) in self.triangles.iter().zip(forces) {
            let [a, b, c] = triangle.nodes;
            let [on_a, on_b] = of_edges.on_nodes;
            nodes[usize::from(a)].force += on_a;
            nodes[usize::from(b)].force += on_b;
            nodes[usize::from(c)].force -= on_a + on_b;
        }
    }

    /// Finds the multipliers of all edges that have the strain of their triangle.
    fn find_multipliers(&self, workers: &mut Workers, stiffness: f32, scratch: &mut Scratch) {
        let blocks = &self.edges;
        scratch.multipliers.resize(blocks.all().len(), [0.0; LANES]);
        let triangles = chunk_ranges(0..blocks.len(), TRIANGLES_PER_PART);
        let places = triangles
            .clone()
            .map(|range| blocks.begin(range.start)..blocks.begin(range.end));
        let parts = split(&mut scratch.multipliers, places).zip(triangles);
        workers.for_each_part(parts, |(mut multipliers, triangles)| {
            for triangle in triangles {
                let strains = scratch.strain.triangles[triangle].map(|strain| -strain * stiffness);
                let own = blocks.at(triangle);
                let to;
                (to, multipliers) = multipliers.split_at_mut(own.len());
                for (to, block) in to.iter_mut().zip(own) {
                    *to = block.changes(strains).to_array();
                }
            }
        });
    }
}

impl CoarseLevel {
    /// Solves the linear system of the level by Gauss–Seidel, in alternating directions. `moved` is a scratch buffer.
    fn solve_stiffness(
        &self,
        nodes: &mut [CoarseNode],
        alpha: f32,
        passes: usize,
        moved: &mut Vec<[f32; 4]>,
    ) {
        // Packed, and with a 1 whose sum is that of the stiffness.
        moved.clear();
        moved.extend(nodes.iter().map(|node| node.moved.extend(1.0).to_array()));
        let count = nodes.len();
        for pass in 0..passes {
            for k in 0..count {
                let k = if pass % 2 == 0 { k } else { count - 1 - k };
                let pull = pull_of(self.stiffness.at(k), moved);
                let node = &mut nodes[k];
                let inverse = node.w / (alpha + node.w * (pull.w + node.anchor.max(0.0)));
                node.set_moved((node.force + pull.xyz()) * inverse);
                moved[k] = node.moved.extend(1.0).to_array();
            }
        }
    }
}

/// Returns the sum of displacements times stiffness over the springs at a node. Two sums, so that each addition need not wait for
/// the one before.
fn pull_of(springs: &[(u16, f32)], moved: &[[f32; 4]]) -> Vec4 {
    let term =
        |(other, stiffness): (u16, f32)| Vec4::from_array(moved[usize::from(other)]) * stiffness;
    let (pairs, last) = springs.as_chunks::<2>();
    let mut sums = [Vec4::ZERO; 2];
    for &[a, b] in pairs {
        sums = [sums[0] + term(a), sums[1] + term(b)];
    }
    for &spring in last {
        sums[0] += term(spring);
    }
    sums[0] + sums[1]
}
