//! Distance constraints: pairs of particles that want to keep their rest length.
//!
//! They are stored as arrays, in the order in which they are solved, cut into batches
//! (`batches.rs`).

use super::{
    batches::{self, Batch},
    soa::SoaVec3,
};

/// What a constraint resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum ConstraintKind {
    /// A thread: an edge of the mesh. Resists stretching.
    Structural,
    /// A diagonal of a quad. Resists shearing.
    Shear,
    /// Reaches over an edge or along two threads. Resists bending.
    Bend,
}

impl ConstraintKind {
    /// The kinds in the order in which they are solved: the last one to be solved is the one that
    /// is satisfied best, and that must be the threads.
    pub const SOLVE_ORDER: [Self; 3] = [Self::Bend, Self::Shear, Self::Structural];

    pub(super) fn solve_rank(self) -> usize {
        match self {
            Self::Bend => 0,
            Self::Shear => 1,
            Self::Structural => 2,
        }
    }
}

/// How much each kind of constraint gives, in m/N (inverse stiffness; 0 is Jakobsen's rigid stick).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Compliance {
    /// Of structural constraints, m/N.
    pub stretch: f32,
    /// Of shear constraints, m/N.
    pub shear: f32,
    /// Of bend constraints, m/N.
    pub bend: f32,
}

impl Compliance {
    /// The compliance of one kind, m/N.
    pub fn of(&self, kind: ConstraintKind) -> f32 {
        match kind {
            ConstraintKind::Structural => self.stretch,
            ConstraintKind::Shear => self.shear,
            ConstraintKind::Bend => self.bend,
        }
    }
}

/// One distance constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DistanceConstraint {
    /// What it resists.
    pub kind: ConstraintKind,
    /// The two particles.
    pub particles: [u32; 2],
    /// Length that it wants to keep, m.
    pub rest_length: f32,
}

/// All distance constraints of a cloth, in solving order.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstraintGraph {
    pub(super) batches: Vec<Batch>,
}

impl ConstraintGraph {
    /// Constraints between pairs of particles that are now at their rest lengths.
    ///
    /// A pair that is named twice becomes one constraint, of the first kind in the order
    /// structural, shear, bend. Pairs of a particle with itself or with one that does not exist
    /// are left out.
    pub fn new(positions: &SoaVec3, pairs: &[(ConstraintKind, u32, u32)]) -> Self {
        let count = positions.len() as u32;
        let mut sorted: Vec<(u32, u32, ConstraintKind)> = pairs
            .iter()
            .map(|&(kind, a, b)| (a.min(b), a.max(b), kind))
            .filter(|&(a, b, _)| a != b && b < count)
            .collect();
        sorted.sort_unstable();
        sorted.dedup_by_key(|&mut (a, b, _)| (a, b));

        Self {
            batches: batches::arrange(positions, sorted),
        }
    }

    /// How many constraints there are.
    pub fn len(&self) -> usize {
        self.batches.iter().map(|b| b.pairs.len()).sum()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many constraints of one kind there are.
    pub fn count(&self, kind: ConstraintKind) -> usize {
        let of_kind = self.batches.iter().filter(|b| b.kind == kind);
        of_kind.map(|b| b.pairs.len()).sum()
    }

    /// How many batches the constraints are in; constraints of one batch share no particle, except
    /// in the last one of a kind, if that takes what did not fit elsewhere.
    pub fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// The constraints, in the order in which they are solved.
    pub fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        self.batches.iter().flat_map(|batch| {
            let both = batch.pairs.iter().zip(&batch.rest);
            both.map(|(&particles, &rest_length)| DistanceConstraint {
                kind: batch.kind,
                particles,
                rest_length,
            })
        })
    }

    /// Pairs and rest lengths of one kind, without batch borders.
    pub fn of_kind(&self, kind: ConstraintKind) -> impl Iterator<Item = (&[u32; 2], &f32)> + '_ {
        let of_kind = self.batches.iter().filter(move |b| b.kind == kind);
        of_kind.flat_map(|b| b.pairs.iter().zip(&b.rest))
    }

    /// Takes the distances between particles at these positions as the new rest lengths.
    pub fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for batch in &mut self.batches {
            for (rest, &[a, b]) in batch.rest.iter_mut().zip(&batch.pairs) {
                *rest = distance(positions, a, b);
            }
        }
    }

    /// The rest lengths, in solving order, m. What is written here holds from the next substep on.
    pub fn rest_lengths_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.batches.iter_mut().flat_map(|batch| &mut batch.rest)
    }

    /// Removes all constraints for which `keep` is false: those of a kind, say, or of a region.
    ///
    /// ```
    /// # use bevy_drape::solver::{ConstraintGraph, ConstraintKind};
    /// fn only_threads(constraints: &mut ConstraintGraph) {
    ///     constraints.retain(|constraint| constraint.kind == ConstraintKind::Structural);
    /// }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&DistanceConstraint) -> bool) {
        for batch in &mut self.batches {
            let kind = batch.kind;
            batch.retain(|&particles, &rest_length| {
                keep(&DistanceConstraint {
                    kind,
                    particles,
                    rest_length,
                })
            });
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
    }
}

/// The distance between two particles, by exactly the arithmetic that relaxation uses: a cloth at
/// its rest lengths then has no error at all, and stays where it is to the last bit.
pub(super) fn distance(positions: &SoaVec3, a: u32, b: u32) -> f32 {
    let (a, b) = (a as usize, b as usize);
    let dx = positions.x[b] - positions.x[a];
    let dy = positions.y[b] - positions.y[a];
    let dz = positions.z[b] - positions.z[a];
    (dx * dx + dy * dy + dz * dz).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Vec3;

    #[test]
    fn doubtful_pairs_are_sorted_out() {
        let positions: SoaVec3 = (0..3).map(|i| Vec3::X * i as f32).collect();
        let graph = ConstraintGraph::new(
            &positions,
            &[
                (ConstraintKind::Bend, 0, 1),
                (ConstraintKind::Structural, 1, 0),
                (ConstraintKind::Shear, 2, 2),
                (ConstraintKind::Shear, 2, 3),
                (ConstraintKind::Bend, 2, 0),
            ],
        );
        let all: Vec<_> = graph.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(
            all[0],
            DistanceConstraint {
                kind: ConstraintKind::Bend,
                particles: [0, 2],
                rest_length: 2.0
            }
        );
        assert_eq!(all[1].kind, ConstraintKind::Structural);
        assert_eq!(graph.count(ConstraintKind::Shear), 0);
    }
}
