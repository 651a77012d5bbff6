//! Stiffness matrix of a level.

use super::node_weights;
use crate::solver::{math::particle_lists::ParticleLists, shared_lists::SharedLists};

/// Stiffness matrix of a level: PᵀLP with the interpolation P and the matrix L of the level before, or of the mesh, whose edges count
/// as springs in all directions. So it is never less stiff than the mesh, and no correction is too large, but where pins lie between
/// nodes: see `CoarseNode::anchor`.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StiffnessMatrix {
    /// Springs at each node: other node and stiffness as a multiple of that of an edge.
    springs: SharedLists<(u16, f32)>,
}

impl StiffnessMatrix {
    /// Computes the matrix of a level from the springs of the level before, or of the mesh, and the corners and weights of its
    /// vertices.
    pub(super) fn new(
        nodes: usize,
        springs: impl Iterator<Item = ([u32; 2], f32)>,
        corners: &[[u16; 3]],
        weights: &[[f32; 2]],
    ) -> Self {
        let parts_of =
            |vertex: u32| node_weights(&corners[vertex as usize], &weights[vertex as usize]);
        let mut parts: Vec<([u16; 2], f64)> = Vec::new();
        for ([a, b], stiffness) in springs {
            // (Σδx)² = −Σδᵢδⱼ(xᵢ − xⱼ)², since all δ sum up to 0.
            let (sum, count) = difference(parts_of(a), parts_of(b));
            for (k, &(i, of_i)) in sum[..count].iter().enumerate() {
                for &(j, of_j) in &sum[..k] {
                    let part = -of_i * of_j * f64::from(stiffness);
                    if part != 0.0 {
                        parts.push(([i.min(j), i.max(j)], part));
                    }
                }
            }
        }
        parts.sort_by_key(|part| part.0);
        let sums = parts.chunk_by(|a, b| a.0 == b.0).map(|same| {
            let sum: f64 = same.iter().map(|part| part.1).sum();
            (same[0].0, sum as f32)
        });
        let sums: Vec<([u16; 2], f32)> = sums.collect();
        let mut springs = ParticleLists::default();
        springs.fill(nodes, || {
            let sums = sums.iter();
            sums.flat_map(|&([i, j], sum)| [(i.into(), (j, sum)), (j.into(), (i, sum))])
        });
        Self {
            springs: springs.into(),
        }
    }

    /// Returns the springs at a node.
    pub(super) fn at(&self, node: usize) -> &[(u16, f32)] {
        self.springs.at(node)
    }

    /// Iterates over all springs, each once.
    pub(super) fn springs(&self) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        (0..self.springs.len()).flat_map(|node| {
            let own = self.at(node).iter();
            let own = own.filter(move |(other, _)| usize::from(*other) > node);
            own.map(move |&(other, stiffness)| ([node as u32, other.into()], stiffness))
        })
    }

    /// Lets future clones share the matrix.
    pub(super) fn share(&mut self) {
        self.springs.share();
    }

    /// Returns whether the matrix is one of this many nodes.
    pub(super) fn is_sound(&self, nodes: usize) -> bool {
        let is_spring =
            |&(other, stiffness): &(u16, f32)| usize::from(other) < nodes && stiffness.is_finite();
        self.springs.is_sound(nodes)
            && self.springs.all().iter().all(is_spring)
            && (0..nodes).all(|node| {
                let sum: f32 = self.at(node).iter().map(|(_, stiffness)| stiffness).sum();
                sum >= 0.0 && sum.is_finite()
            })
    }
}

/// Returns the difference of two weighted means of nodes as nodes with weights, and their number.
fn difference(a: [(u16, f32); 3], b: [(u16, f32); 3]) -> ([(u16, f64); 6], usize) {
    let mut sum = [(0, 0.0); 6];
    let mut count = 0;
    for (node, weight) in a.into_iter().chain(b.map(|(node, weight)| (node, -weight))) {
        match sum[..count].iter_mut().find(|(known, _)| *known == node) {
            Some((_, sum)) => *sum += f64::from(weight),
            None => {
                sum[count] = (node, f64::from(weight));
                count += 1;
            }
        }
    }
    (sum, count)
}
