//! Forces of the edges of the mesh on the nodes of the finest level, in three loops: gather, compute, sum up.

use super::{
    edges::{EdgeBlock, LANES},
    strain::{CommonStrain, MeasuredStrain},
};
use crate::solver::{
    constraints::points::transpose,
    parallel::workers::Workers,
    shared_lists::SharedLists,
    simd::{Kernel, dispatch},
};
use bevy::math::{Vec3, Vec4};
use std::cell::RefCell;

/// Triangles of nodes in a part of a stage: few enough that the buffer between the loops stays in the nearest cache.
pub(super) const TRIANGLES_PER_PART: usize = 32;

thread_local! {
    /// Scratch buffer of this CPU thread.
    static LANE_BUFFER: RefCell<LaneBuffer> = RefCell::default();
}

/// Sums over the edges in a triangle of nodes.
#[derive(Clone, Copy, Default)]
pub(super) struct TriangleForces {
    /// Forces on the first two nodes, in multiples of the stiffness of an edge, m; that on the third is the opposite of their sum.
    pub(super) on_nodes: [Vec3; 2],
    /// How much each edge is longer or shorter, and what of it they have in common, m.
    pub(super) changes: [f32; 2],
}

/// Forces of all edges, in multiples of the stiffness of an edge, m.
#[derive(Default)]
pub(super) struct EdgeForces {
    pub(super) in_triangles: Vec<TriangleForces>,
    /// Forces on free particles of edges whose other end is pinned, for each part. They are left out of `in_triangles`: pins take the
    /// forces on what they hold.
    pub(super) at_pins: Vec<Vec<(u32, Vec3)>>,
}

/// Edges of several blocks, side by side.
#[derive(Default)]
struct LaneBuffer {
    /// Difference between both ends, m, and then the force on the first one, in multiples of the stiffness of an edge.
    x: Vec<f32>,
    y: Vec<f32>,
    z: Vec<f32>,
    /// Rest length, and then by how much the edge is longer or shorter, m.
    change: Vec<f32>,
    /// By how much it is longer if it has the strain of its triangle, m.
    common: Vec<f32>,
}

impl CommonStrain {
    /// Finds the forces of all edges on the nodes of the finest level.
    pub(super) fn find_forces(
        &self,
        workers: &mut Workers,
        strain: &MeasuredStrain,
        to: &mut EdgeForces,
    ) {
        let EdgeForces {
            in_triangles,
            at_pins,
        } = to;
        in_triangles.resize(self.triangles.len(), TriangleForces::default());
        let parts = in_triangles.len().div_ceil(TRIANGLES_PER_PART);
        if at_pins.len() < parts {
            at_pins.resize_with(parts, Vec::new);
        }
        at_pins.iter_mut().for_each(Vec::clear);
        let parts = (in_triangles.chunks_mut(TRIANGLES_PER_PART)).zip(&mut at_pins[..parts]);
        workers.for_each_part(parts.enumerate(), |(part, (forces, at_pins))| {
            LANE_BUFFER.with_borrow_mut(|lanes| {
                dispatch(FindForces {
                    edges: &self.edges,
                    strain,
                    first: part * TRIANGLES_PER_PART,
                    forces,
                    at_pins,
                    lanes,
                });
            });
        });
    }
}

/// Finds the forces of the edges in each triangle, of which `first` is the first.
struct FindForces<'a> {
    edges: &'a SharedLists<EdgeBlock>,
    strain: &'a MeasuredStrain,
    first: usize,
    forces: &'a mut [TriangleForces],
    at_pins: &'a mut Vec<(u32, Vec3)>,
    lanes: &'a mut LaneBuffer,
}

impl Kernel for FindForces<'_> {
    #[inline(always)]
    fn run(self) {
        let (edges, lanes) = (self.edges, self.lanes);
        let particles = &self.strain.particles[..];
        let triangles = self.first..self.first + self.forces.len();
        let begin = edges.begin(triangles.start);
        lanes.resize(edges.begin(triangles.end) - begin);
        let mut has_pins = false;
        for triangle in triangles.clone() {
            let strains = self.strain.triangles[triangle];
            for place in edges.range(triangle) {
                let block = &edges.all()[place];
                has_pins |= lanes.gather(place - begin, block, strains, particles);
            }
        }
        lanes.compute();
        if has_pins {
            lanes.take_pinned(&edges.all()[begin..], particles, self.at_pins);
        }
        for (triangle, forces) in triangles.zip(self.forces) {
            *forces = lanes.sum(edges.begin(triangle) - begin, edges.at(triangle));
        }
    }
}

impl LaneBuffer {
    fn resize(&mut self, blocks: usize) {
        let Self {
            x,
            y,
            z,
            change,
            common,
        } = self;
        for plane in [x, y, z, change, common] {
            plane.resize(blocks * LANES, 0.0);
        }
    }

    /// Stores the edges of a block at this place. Returns whether any particle is pinned.
    #[inline(always)]
    fn gather(
        &mut self,
        place: usize,
        block: &EdgeBlock,
        strains: [f32; 3],
        particles: &[[f32; 4]],
    ) -> bool {
        let [[a0, a1, a2, a3], [b0, b1, b2, b3]] = block.ends;
        let load = |i: u32| Vec4::from_array(particles[i as usize]);
        let first = [load(a0), load(a1), load(a2), load(a3)];
        let second = [load(b0), load(b1), load(b2), load(b3)];
        let [x, y, z, _] = transpose([
            second[0] - first[0],
            second[1] - first[1],
            second[2] - first[2],
            second[3] - first[3],
        ]);
        store(&mut self.x, place, x);
        store(&mut self.y, place, y);
        store(&mut self.z, place, z);
        store(&mut self.change, place, block.rest());
        store(&mut self.common, place, block.changes(strains));
        let masses = (first[0] * second[0]).min(first[1] * second[1]);
        let masses = masses.min((first[2] * second[2]).min(first[3] * second[3]));
        masses.w == 0.0
    }

    /// Computes the forces and changes of all edges. An edge pulls by what it has in common with its neighbours, give or take as much
    /// again for its own length.
    #[inline(always)]
    fn compute(&mut self) {
        let n = self.common.len();
        let (x, y, z) = (&mut self.x[..n], &mut self.y[..n], &mut self.z[..n]);
        let (change, common) = (&mut self.change[..n], &mut self.common[..n]);
        for k in 0..n {
            let length = (x[k] * x[k] + y[k] * y[k] + z[k] * z[k]).sqrt();
            let longer = length - change[k];
            let spread = common[k].abs();
            let (least, most) = (common[k] - spread, common[k] + spread);
            let least = if longer > least { longer } else { least };
            let pull = if least < most { least } else { most };
            let pull = pull / length;
            // Not of places left over, and not if positions are no numbers.
            let is_edge = (length > 0.0) & (length < f32::INFINITY);
            x[k] = if is_edge { x[k] * pull } else { 0.0 };
            y[k] = if is_edge { y[k] * pull } else { 0.0 };
            z[k] = if is_edge { z[k] * pull } else { 0.0 };
            change[k] = if is_edge { longer.abs() } else { 0.0 };
            common[k] = spread;
        }
    }

    /// Moves the forces of edges with a pinned end to `at_pins`.
    fn take_pinned(
        &mut self,
        blocks: &[EdgeBlock],
        particles: &[[f32; 4]],
        at_pins: &mut Vec<(u32, Vec3)>,
    ) {
        for k in 0..self.x.len() {
            let block = &blocks[k / LANES];
            let [a, b] = block.ends.map(|ends| ends[k % LANES]);
            let is_free = [a, b].map(|i| particles[i as usize][3] > 0.0);
            if is_free == [true; 2] {
                continue;
            }
            let force = Vec3::new(self.x[k], self.y[k], self.z[k]) * block.fraction(k % LANES);
            (self.x[k], self.y[k], self.z[k]) = (0.0, 0.0, 0.0);
            match is_free {
                [true, _] => at_pins.push((a, force)),
                [_, true] => at_pins.push((b, -force)),
                _ => {}
            }
        }
    }

    /// Adds up the edges of a triangle whose first block is at this place.
    #[inline(always)]
    fn sum(&self, place: usize, blocks: &[EdgeBlock]) -> TriangleForces {
        let (mut own, mut in_common) = (Vec4::ZERO, Vec4::ZERO);
        let mut on_first = [Vec4::ZERO; 3];
        let mut on_second = [Vec4::ZERO; 3];
        for (place, block) in (place..).zip(blocks) {
            own += load(&self.change, place);
            in_common += load(&self.common, place);
            let [x, y, z] = [
                load(&self.x, place),
                load(&self.y, place),
                load(&self.z, place),
            ];
            // An edge pulls its second particle towards the first, and this one the other way.
            let [u, v] = block.corner_weights();
            on_first = [
                on_first[0] - x * u,
                on_first[1] - y * u,
                on_first[2] - z * u,
            ];
            on_second = [
                on_second[0] - x * v,
                on_second[1] - y * v,
                on_second[2] - z * v,
            ];
        }
        let sum = |[x, y, z]: [Vec4; 3]| Vec3::new(sum_of(x), sum_of(y), sum_of(z));
        TriangleForces {
            on_nodes: [sum(on_first), sum(on_second)],
            changes: [sum_of(own), sum_of(in_common)],
        }
    }
}

#[inline(always)]
fn store(plane: &mut [f32], place: usize, lanes: Vec4) {
    plane.as_chunks_mut::<LANES>().0[place] = lanes.to_array();
}

#[inline(always)]
fn load(plane: &[f32], place: usize) -> Vec4 {
    Vec4::from_array(plane.as_chunks::<LANES>().0[place])
}

/// Adds up four numbers, in the same order on every platform.
#[inline(always)]
fn sum_of(lanes: Vec4) -> f32 {
    (lanes.x + lanes.y) + (lanes.z + lanes.w)
}
