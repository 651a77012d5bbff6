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
//! Links of inextensible fabric act only beyond [`FREE_STRAIN`]: at rest, where all is shorter, they would make folds tremble. In
//! elastic fabric each level, and the mesh itself, is a spring with an equal share of the stiffness.
//!
//! Cloth that was torn, or whose constraints were changed from outside, has no levels any more: they would hold together what is
//! apart. Nor are they solved where λ is recorded, which would lack their share, or with Gauss–Seidel as in the tutorials.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | levels |
//! | `find` | finds the levels of a mesh |
//! | `mesh` | the mesh that the nodes of a level form |
//! | `solve` | projection |

mod find;
mod mesh;
mod solve;
#[cfg(test)]
mod tests;

use crate::solver::shared::Shared;

/// Strain that coarse links of inextensible fabric leave alone.
const FREE_STRAIN: f32 = 0.005;

/// Largest number of levels: each has at most a fifth of the nodes of the one before.
const MAX_LEVELS: usize = 16;

/// Coarse levels of a cloth, finest first; none of grids, ropes and small meshes.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct CoarseLevels(Vec<CoarseLevel>);

#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CoarseLevel {
    /// Particles that are nodes, ascending.
    nodes: Shared<Vec<u32>>,
    /// Mass of the particle of each node, as a fraction of that of the cloth around it.
    mass_ratios: Shared<Vec<f32>>,
    links: Shared<Vec<CoarseLink>>,
    /// Nodes between which each node of the level before lies, or each particle.
    corners: Shared<Vec<[u16; 3]>>,
    /// Weights of the first two of them; all three sum up to 1.
    weights: Shared<Vec<[f32; 2]>>,
    /// Sum of the squares of all links divided by that of the edges of the mesh: so much greater is the compliance of a link.
    aspect: f32,
}

/// Cloth between two nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
struct CoarseLink {
    nodes: [u16; 2],
    /// Length of the shortest way over the cloth at rest, m; it may lead across holes and slits.
    rest: f32,
}

impl CoarseLevels {
    /// Returns the share of the stiffness of elastic fabric of each level, and of the mesh itself.
    pub(in crate::solver) fn share_of_stiffness(&self) -> f32 {
        1.0 / (self.0.len() + 1) as f32
    }

    /// Returns the number of levels.
    pub(in crate::solver) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    pub(in crate::solver) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lets future clones share all levels.
    pub(in crate::solver) fn share(&mut self) {
        for level in &mut self.0 {
            level.nodes.share();
            level.mass_ratios.share();
            level.links.share();
            level.corners.share();
            level.weights.share();
        }
    }

    /// Returns whether all data are consistent: data read from a file may be invalid.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let mut vertices = particles;
        self.0.len() <= MAX_LEVELS
            && self.0.iter().all(|level| {
                let before = std::mem::replace(&mut vertices, level.nodes.len());
                level.is_sound(particles) && level.corners.len() <= before
            })
    }
}

impl CoarseLevel {
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
            && is_positive(self.aspect)
    }
}
