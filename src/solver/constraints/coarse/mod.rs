//! Coarse levels: a few particles of an irregular mesh, with the cloth between them as links.
//!
//! Chains of edges carry a load across a grid in one solve, but they are short in an irregular mesh, and relaxation hands the
//! load from one to the next once per substep. So fine garments were like rubber: links of a sheet of 128² on a ball were up to
//! 2.7 times as long as at rest. Coarse levels carry most of the load before that (Müller, "Hierarchical Position Based
//! Dynamics", 2008). Their nodes are particles at least three edges apart, nine in the next level, and so on. A link joins two
//! neighbouring nodes, and is as long as the shortest way between them over the cloth at rest. It only pulls, so folds are free.
//! Corrections of the nodes are interpolated linearly over the nodes of the next finer level, and those of the finest level over
//! the particles.
//!
//! Links act only beyond [`FREE_STRAIN`]: at rest, where all is shorter, they would make folds tremble. Elastic fabric is solved
//! otherwise (`elastic`).
//!
//! Where cloth is torn, levels would hold together what is apart: nodes around a cut are *open*. They are not moved and have no
//! links, and hold back the elastic nodes around them. Cloth whose constraints were changed from outside has no levels any more.
//! Levels are not solved together with Gauss–Seidel, the solver of the tutorials.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | levels |
//! | `find` | finds the levels of a mesh |
//! | `mesh` | the mesh that the nodes of a level form |
//! | `solve` | projection of the links of inextensible fabric |
//! | `elastic` | correction of elastic fabric |
//! | `edges` | edges of the mesh by triangle of nodes |
//! | `forces` | forces of the edges on the nodes |
//! | `stiffness` | stiffness matrix of a level |
//! | `strain` | strain that edges of the mesh have in common |

mod edges;
mod elastic;
mod find;
mod forces;
mod mesh;
mod solve;
mod stiffness;
mod strain;
#[cfg(test)]
mod tests;

use crate::solver::shared::Shared;
pub(in crate::solver) use edges::number_edges;
use stiffness::StiffnessMatrix;
use strain::CommonStrain;

/// Strain that coarse links of inextensible fabric leave alone.
const FREE_STRAIN: f32 = 0.005;

/// Largest number of levels: each has at most a fifth of the nodes of the one before.
const MAX_LEVELS: usize = 16;

/// Coarse levels of a cloth, finest first; none of grids, ropes and small meshes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct CoarseLevels {
    levels: Vec<CoarseLevel>,
    /// Measured with the first level.
    common: CommonStrain,
}

#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CoarseLevel {
    /// Particles that are nodes, ascending.
    nodes: Shared<Vec<u32>>,
    /// Mass of the particle of each node, as a fraction of that of the cloth around it; 0 of open nodes.
    mass_ratios: Shared<Vec<f32>>,
    links: Shared<Vec<CoarseLink>>,
    /// Nodes between which each node of the level before lies, or each particle.
    corners: Shared<Vec<[u16; 3]>>,
    /// Weights of the first two of them; all three sum up to 1.
    weights: Shared<Vec<[f32; 2]>>,
    /// Stiffness between the nodes.
    stiffness: StiffnessMatrix,
}

/// Cloth between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CoarseLink {
    nodes: [u16; 2],
    /// Length of the shortest way over the cloth at rest, m; it may lead across holes and slits. [`f32::MAX`] to open nodes.
    rest: f32,
}

impl CoarseLevels {
    /// Returns the number of levels.
    pub(in crate::solver) fn len(&self) -> usize {
        self.levels.len()
    }

    /// Returns whether there are none.
    pub(in crate::solver) fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// Lets future clones share all levels.
    pub(in crate::solver) fn share(&mut self) {
        for level in &mut self.levels {
            level.nodes.share();
            level.mass_ratios.share();
            level.links.share();
            level.corners.share();
            level.weights.share();
            level.stiffness.share();
        }
        self.common.share();
    }

    /// Returns whether all data are consistent: data read from a file may be invalid.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let mut vertices = particles;
        self.levels.len() <= MAX_LEVELS
            && self.levels.iter().all(|level| {
                let before = std::mem::replace(&mut vertices, level.nodes.len());
                level.is_sound(particles) && level.corners.len() == before
            })
            && (self.levels.first()).is_none_or(|level| (self.common).is_sound(particles, level))
    }

    /// Opens the nodes around a cut through cloth at these particles. `count` is the number of particles after it: those that were
    /// added lie at the cut.
    pub(in crate::solver) fn open(&mut self, particles: &[u32], count: usize) {
        let mut vertices = particles.to_vec();
        for (number, level) in self.levels.iter_mut().enumerate() {
            let around = |&vertex: &u32| level.corners.get(vertex as usize);
            let mut open: Vec<u16> = vertices
                .iter()
                .filter_map(around)
                .flatten()
                .copied()
                .collect();
            open.sort_unstable();
            open.dedup();
            if open.is_empty() {
                if number > 0 || level.corners.len() == count {
                    return;
                }
                // Particles that were added anywhere need an open node.
                open.push(0);
            }
            let is_open = |node: u16| open.binary_search(&node).is_ok();
            if number == 0 {
                level.corners.resize(count, [open[0]; 3]);
                level.weights.resize(count, [1.0, 0.0]);
                self.common.open(is_open, &level.links);
            }
            for &node in &open {
                level.mass_ratios[usize::from(node)] = 0.0;
            }
            for link in &mut *level.links {
                if link.nodes.into_iter().any(is_open) {
                    link.rest = f32::MAX;
                }
            }
            vertices = open.into_iter().map(u32::from).collect();
        }
    }
}

/// Returns the nodes around a vertex and their weights, of which the first two are given.
#[inline(always)]
fn node_weights(&[a, b, c]: &[u16; 3], &[u, v]: &[f32; 2]) -> [(u16, f32); 3] {
    [(a, u), (b, v), (c, 1.0 - u - v)]
}

impl CoarseLevel {
    /// Divides a value of each node of the level before, or of each particle, among the nodes around it.
    fn distribute<T: Copy + std::ops::Mul<f32, Output = T>>(
        &self,
        values: impl Iterator<Item = T>,
        mut add: impl FnMut(usize, T),
    ) {
        for (vertex, value) in values.enumerate() {
            self.distribute_one(vertex, value, &mut add);
        }
    }

    /// Divides a value of a node of the level before, or of a particle, among the nodes around it.
    #[inline(always)]
    fn distribute_one<T: Copy + std::ops::Mul<f32, Output = T>>(
        &self,
        vertex: usize,
        value: T,
        mut add: impl FnMut(usize, T),
    ) {
        for (node, weight) in node_weights(&self.corners[vertex], &self.weights[vertex]) {
            add(node.into(), value * weight);
        }
    }

    fn is_sound(&self, particles: usize) -> bool {
        let is_node = |&n: &u16| usize::from(n) < self.nodes.len();
        let is_positive = |value: f32| value >= 0.0 && value.is_finite();
        self.nodes.iter().all(|&i| (i as usize) < particles)
            && self.mass_ratios.len() == self.nodes.len()
            && self
                .mass_ratios
                .iter()
                .all(|ratio| (0.0..=1.0).contains(ratio))
            && (self.links.iter())
                .all(|link| link.nodes.iter().all(is_node) && is_positive(link.rest))
            && self.weights.len() == self.corners.len()
            && self.corners.as_flattened().iter().all(is_node)
            && (self.weights.iter()).all(|&[u, v]| u >= 0.0 && v >= 0.0 && u + v <= 1.001)
            && self.stiffness.is_sound(self.nodes.len())
    }
}
