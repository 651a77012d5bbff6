//! Constraints of a cloth: distance constraints between pairs of particles, and bend constraints (`bend.rs`).
//!
//! They are stored as arrays in solving order, grouped into batches (`batches.rs`).

use crate::solver::{
    constraints::{
        angular_momentum::AngularMomentumTracker,
        bend::{self, BendConstraint, BendStencil, Neighbours},
        coloring::{self as batches, Batch},
        compliance::Aspects,
        general::{ChainBatch, ChainIndex, find_chains},
        grid::GridConstraints,
    },
    math::sort::sort_by_particle,
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::grid_layout::GridLayout,
};

/// Deformation that a constraint resists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub enum ConstraintKind {
    /// Edge of the mesh. Resists stretching.
    Structural,
    /// Diagonal of a quad. Resists shearing.
    Shear,
    /// Three particles along a chain, or two triangles at an edge. Resists bending.
    Bend,
}

impl ConstraintKind {
    /// The kinds in solving order. The kind solved last is satisfied best, and that must be stretch.
    pub(crate) const SOLVE_ORDER: [Self; 3] = [Self::Bend, Self::Shear, Self::Structural];

    pub(in crate::solver) fn solve_rank(self) -> usize {
        match self {
            Self::Bend => 0,
            Self::Shear => 1,
            Self::Structural => 2,
        }
    }
}

/// Compliance of a fabric in stretch and shear, m/N (the reciprocal of its stiffness, which is the force per
/// metre of width and unit of strain; 0 is rigid), and its stiffness in bending. The compliance of a distance
/// constraint is this times length over width of the strip of fabric that it represents, which is 1 for square
/// cells (`ConstraintGraph::measure_aspects`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Compliance {
    /// Compliance from row to row of a grid, m/N.
    pub warp: f32,
    /// Compliance along the rows of a grid, m/N. Edges outside grids have the mean stiffness of warp and weft.
    pub weft: f32,
    /// Compliance of diagonals, m/N.
    pub shear: f32,
    /// Bending stiffness, N·m (bending moment per width and curvature); 0 bends freely.
    pub bending: f32,
}

impl Compliance {
    /// Creates a fabric with the same compliance along warp and weft, rigid in shear, without bending stiffness.
    pub fn of_stretch(compliance: f32) -> Self {
        Self {
            warp: compliance,
            weft: compliance,
            ..Self::default()
        }
    }

    /// Returns the compliance of distance constraints of one kind, m/N; for structural ones that of the mean
    /// stiffness of warp and weft.
    pub fn of(&self, kind: ConstraintKind) -> f32 {
        match kind {
            // For equal values the mean is exact to the last bit.
            ConstraintKind::Structural if self.warp == self.weft => self.warp,
            ConstraintKind::Structural if self.warp.min(self.weft) <= 0.0 => 0.0,
            ConstraintKind::Structural => 2.0 / (self.warp.recip() + self.weft.recip()),
            ConstraintKind::Shear => self.shear,
            // The compliance of a bend differs from place to place in the mesh: ρ/B.
            ConstraintKind::Bend => 0.0,
        }
    }

    /// Returns whether warp or weft has compliance.
    pub fn is_elastic(&self) -> bool {
        self.warp > 0.0 || self.weft > 0.0
    }
}

/// One constraint: a distance constraint, or a bend.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct DistanceConstraint {
    /// Deformation that the constraint resists.
    pub kind: ConstraintKind,
    /// The two particles; for a bend its ends.
    pub particles: [u32; 2],
    /// Rest length, m. For a bend it is not a length but ρ, its compliance times the bending stiffness, m².
    pub rest_length: f32,
    /// Middle particles of a bend: one particle twice, or the two particles of an edge. `None` for distance
    /// constraints.
    pub middle: Option<[u32; 2]>,
}

impl DistanceConstraint {
    /// Returns whether the constraint contains a particle.
    #[cfg(test)]
    pub(crate) fn touches(&self, particle: u32) -> bool {
        self.particles.contains(&particle)
            || self.middle.is_some_and(|middle| middle.contains(&particle))
    }

    /// Describes a bend constraint.
    pub(in crate::solver) fn of_bend(bend: &BendConstraint) -> Self {
        Self {
            kind: ConstraintKind::Bend,
            particles: bend.stencil.ends,
            rest_length: bend.rho,
            middle: Some(bend.stencil.middle),
        }
    }
}

/// All constraints of a cloth.
///
/// Constraints of its [grids](GridLayout) are stored row by row, those along chains in chain batches, all others
/// with indices: distance constraints in batches, bends in a list.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstraintGraph {
    pub(in crate::solver) batches: Vec<Batch>,
    pub(in crate::solver) chain_batches: Vec<ChainBatch>,
    pub(in crate::solver) grids: Vec<GridConstraints>,
    /// Bends outside grids and chain batches.
    pub(in crate::solver) bends: Vec<BendConstraint>,
    /// Aspect ratios of distance constraints outside grids.
    pub(in crate::solver) aspects: Aspects,
    /// Momentum that constraint projection has removed in the running step.
    #[cfg_attr(feature = "serialize", serde(skip))]
    pub(in crate::solver) angular_momentum: AngularMomentumTracker,
}

impl ConstraintGraph {
    /// Creates distance constraints between pairs of particles, with the distances at these positions as rest
    /// lengths.
    ///
    /// A pair listed twice becomes one constraint, of the first kind in the order structural, shear. Pairs of a
    /// particle with itself or with one that does not exist are left out. Bends are left out too, because they
    /// need more than a pair: see [`add_bends`](Self::add_bends).
    pub fn new(positions: &SoaVec3, pairs: &[(ConstraintKind, u32, u32)]) -> Self {
        Self::with_grids(positions, pairs, &[])
    }

    /// Creates distance constraints as [`new`](Self::new) does, for particles that partly lie in grids. Grids
    /// that reach beyond the particles or overlap others are ignored.
    pub fn with_grids(
        positions: &SoaVec3,
        pairs: &[(ConstraintKind, u32, u32)],
        layouts: &[GridLayout],
    ) -> Self {
        let count = positions.len() as u32;
        let mut sorted: Vec<(u32, u32, ConstraintKind)> = pairs
            .iter()
            .map(|&(kind, a, b)| (a.min(b), a.max(b), kind))
            .filter(|&(a, b, kind)| a != b && b < count && kind != ConstraintKind::Bend)
            .collect();
        sort_by_particle(&mut sorted, positions.len(), |&(a, ..)| a);
        sorted.dedup_by_key(|&mut (a, b, _)| (a, b));

        let mut end = 0;
        let mut grids: Vec<GridConstraints> = Vec::new();
        for layout in layouts {
            let particles = layout.particles();
            let fits = layout.rows >= 2 && layout.columns >= 2 && particles.end <= positions.len();
            if fits && particles.start >= end {
                end = particles.end;
                grids.push(GridConstraints::new(*layout));
            }
        }
        sorted.retain(|&(a, b, kind)| {
            // Grids are in the order of their particles.
            let after = grids.partition_point(|grid| grid.layout.first <= a);
            let grid = after.checked_sub(1).map(|number| &mut grids[number]);
            !grid.is_some_and(|grid| grid.try_add(kind, [a, b], positions))
        });
        let chain_batches = find_chains(positions, &mut sorted);
        Self {
            batches: batches::arrange(positions, sorted),
            chain_batches,
            grids,
            bends: Vec::new(),
            aspects: Aspects::default(),
            angular_momentum: AngularMomentumTracker::default(),
        }
    }

    /// Adds bend constraints at these stencils. `positions` are the rest positions. The structural constraints
    /// must exist already, because the width of the cloth at each stencil follows from them. Stencils with
    /// particles that do not exist, or too close together for a curvature, are left out.
    pub fn add_bends(&mut self, positions: &SoaVec3, bends: &[BendStencil]) {
        let mut bends: Vec<BendStencil> = bends
            .iter()
            .copied()
            .filter(|bend| bend.is_sound(positions.len()))
            .collect();
        sort_by_particle(&mut bends, positions.len(), |bend| bend.ends[0]);
        bends.dedup();
        let neighbours = self.neighbours(positions.len());
        let found = bends
            .into_iter()
            .filter_map(|stencil| BendConstraint::from_rest_shape(stencil, positions, &neighbours));
        let mut chain_index = ChainIndex::new(&self.chain_batches);
        for bend in found {
            let is_stored = bend.is_uniform()
                && (self.try_add_bend(&bend)
                    || chain_index.insert_bend(&mut self.chain_batches, &bend));
            if !is_stored {
                self.bends.push(bend);
            }
        }
        bend::sort_by_colour(&mut self.bends, positions.len());
    }

    fn neighbours(&self, particles: usize) -> Neighbours {
        let structural = self.of_kind(ConstraintKind::Structural);
        Neighbours::new(structural.map(|(pair, _)| pair), particles)
    }

    fn try_add_bend(&mut self, bend: &BendConstraint) -> bool {
        let [a, b] = bend.stencil.ends;
        let after = self
            .grids
            .partition_point(|grid| grid.layout.first <= a.min(b));
        let grid = after.checked_sub(1).map(|number| &mut self.grids[number]);
        grid.is_some_and(|grid| grid.try_add_bend(bend))
    }

    /// Recomputes all bends from these rest positions. Bends that are no longer evenly spaced and straight move
    /// from their grid or chain batch to the list.
    fn measure_bends(&mut self, positions: &SoaVec3) {
        let neighbours = self.neighbours(positions.len());
        let mut irregular = Vec::new();
        let mut measure =
            |stencil: BendStencil, rho: &mut f32| match BendConstraint::from_rest_shape(
                stencil,
                positions,
                &neighbours,
            ) {
                Some(bend) if bend.is_uniform() => *rho = bend.rho,
                other => {
                    irregular.extend(other);
                    *rho = ABSENT;
                }
            };
        for grid in &mut self.grids {
            for set in &mut grid.sets {
                set.measure_bends(&grid.layout, &mut measure);
            }
            grid.recount();
        }
        for chain_batch in &mut self.chain_batches {
            chain_batch.measure_bends(&mut measure);
        }
        self.bends = std::mem::take(&mut self.bends)
            .into_iter()
            .filter_map(|bend| {
                BendConstraint::from_rest_shape(bend.stencil, positions, &neighbours)
            })
            .collect();
        if !irregular.is_empty() {
            self.bends.extend(irregular);
            bend::sort_by_colour(&mut self.bends, positions.len());
        }
    }

    /// Iterates over ρ of each bend, m² (compliance times bending stiffness), in the order of
    /// [`iter`](Self::iter).
    pub(crate) fn bend_rhos_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let bends = |kind| kind == ConstraintKind::Bend;
        let sets = self.grids.iter_mut().flat_map(|grid| &mut grid.sets);
        let in_grids = sets.filter(move |set| bends(set.kind()));
        let lists = self
            .chain_batches
            .iter_mut()
            .flat_map(|chain_batch| &mut chain_batch.by_kind);
        let lists = lists.filter(move |list| bends(list.kind));
        in_grids
            .flat_map(|set| &mut set.rest)
            .chain(lists.flat_map(|list| &mut list.rest))
            .filter(|rho| **rho >= 0.0)
            .chain(self.bends.iter_mut().map(|bend| &mut bend.rho))
    }

    /// Makes each bend stiffer by the geometric mean of `multiple` of its middle particles.
    pub(crate) fn stiffen_bends(&mut self, multiple: impl Fn(u32) -> f32) {
        let bends = self.iter().filter(|c| c.kind == ConstraintKind::Bend);
        let multiples: Vec<f32> = bends
            .map(|bend| {
                let [a, b] = bend.middle.unwrap_or(bend.particles);
                (multiple(a) * multiple(b)).sqrt()
            })
            .collect();
        for (rho, multiple) in self.bend_rhos_mut().zip(multiples) {
            *rho /= multiple;
        }
    }

    /// Updates the data that follows from rest lengths and masses. Called once per step, before the first
    /// `relax`.
    pub fn prepare(&mut self, particles: &ParticleArrays) {
        self.angular_momentum.begin(particles);
        for grid in &mut self.grids {
            grid.prepare(particles);
        }
    }

    /// Restores the momentum and angular momentum that `relax` has removed from a cloth
    /// without pins since [`prepare`](Self::prepare), unless anything `touched` or held the cloth. Called once
    /// per step, after the last substep.
    pub fn finish(&mut self, particles: &mut ParticleArrays, touched: bool) {
        if touched {
            self.angular_momentum.forget();
        } else {
            self.angular_momentum.restore(particles);
        }
    }

    /// Excludes the displacements since integration from the tracked momentum. Called before
    /// `relax`, which has not caused them.
    pub(crate) fn exclude_displacements(
        &mut self,
        workers: &mut Workers,
        particles: &ParticleArrays,
    ) {
        self.angular_momentum.exclude(workers, particles);
    }

    /// Cancels the restoration of momentum in this step, because the cloth is in contact or was moved.
    pub(crate) fn forget_angular_momentum(&mut self) {
        self.angular_momentum.forget();
    }

    /// Returns whether grids, chain batches, bends and aspect ratios are consistent: data read from a file may be
    /// invalid.
    pub(crate) fn has_valid_constraints(&self, particles: usize) -> bool {
        let mut grids = self.grids.iter();
        let mut chain_batches = self.chain_batches.iter();
        grids.all(|grid| grid.is_sound(particles))
            && chain_batches.all(|chain_batch| chain_batch.is_sound(particles))
            && self
                .bends
                .iter()
                .all(|bend| bend.stencil.is_sound(particles))
            && self.aspects.is_sound()
    }

    /// Iterates over the grids that were found in the cloth.
    pub fn grids(&self) -> impl Iterator<Item = GridLayout> + '_ {
        self.grids.iter().map(|grid| grid.layout)
    }

    /// Returns the number of constraints.
    pub fn len(&self) -> usize {
        let batches: usize = self.batches.iter().map(|b| b.pairs.len()).sum();
        let chain_batches: usize = self.chain_batches.iter().map(ChainBatch::len).sum();
        batches
            + chain_batches
            + self.bends.len()
            + self.grids.iter().map(GridConstraints::len).sum::<usize>()
    }

    /// Returns whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of constraints of one kind.
    pub fn count(&self, kind: ConstraintKind) -> usize {
        let of_kind = self.batches.iter().filter(|b| b.kind == kind);
        let sets = self.grids.iter().flat_map(|grid| &grid.sets);
        let in_grids = sets.filter(|set| set.kind() == kind);
        let lists = self
            .chain_batches
            .iter()
            .flat_map(|chain_batch| &chain_batch.by_kind);
        let lists = lists.filter(|list| list.kind == kind);
        let bends = match kind {
            ConstraintKind::Bend => self.bends.len(),
            _ => 0,
        };
        bends
            + of_kind.map(|b| b.pairs.len()).sum::<usize>()
            + lists.map(|list| list.len()).sum::<usize>()
            + in_grids.map(|set| set.len()).sum::<usize>()
    }

    /// Returns the number of batches. Constraints of a batch share no particle, except in overflow batches, which
    /// hold the constraints that no colour was left for.
    pub fn batch_count(&self) -> usize {
        self.batches.len()
    }

    /// Iterates over all constraints.
    pub fn iter(&self) -> impl Iterator<Item = DistanceConstraint> + '_ {
        let in_batches = self.batches.iter().flat_map(|batch| {
            let both = batch.pairs.iter().zip(&batch.rest);
            both.map(|(&particles, &rest_length)| DistanceConstraint {
                kind: batch.kind,
                particles,
                rest_length,
                middle: None,
            })
        });
        let chain_batches = self.chain_batches.iter().flat_map(ChainBatch::iter);
        self.grids
            .iter()
            .flat_map(GridConstraints::iter)
            .chain(chain_batches)
            .chain(in_batches)
            .chain(self.bends.iter().map(DistanceConstraint::of_bend))
    }

    /// Iterates over particles and rest lengths, m, of the distance constraints of one kind.
    pub fn of_kind(&self, kind: ConstraintKind) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let is_length = kind != ConstraintKind::Bend;
        let in_grids = self.grids.iter().flat_map(move |grid| {
            let sets = grid.sets.iter();
            let sets = sets.filter(move |set| is_length && set.kind() == kind);
            sets.flat_map(|set| set.iter(&grid.layout))
        });
        in_grids
            .map(|(_, c)| (c.particles, c.rest_length))
            .chain(self.outside_grids(kind))
    }

    /// Iterates over particles and rest lengths, m, of the distance constraints of one kind outside grids.
    pub(in crate::solver) fn outside_grids(
        &self,
        kind: ConstraintKind,
    ) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        let batches = self.batches.iter().filter(move |b| b.kind == kind);
        let in_batches = batches.flat_map(|b| b.pairs.iter().copied().zip(b.rest.iter().copied()));
        let chain_batches = self.chain_batches.iter().flat_map(move |chain_batch| {
            let lists = chain_batch.by_kind.iter();
            let is_length = kind != ConstraintKind::Bend;
            let lists = lists.filter(move |list| is_length && list.kind == kind);
            lists.flat_map(|list| chain_batch.iter_list(list))
        });
        chain_batches
            .map(|(_, c)| (c.particles, c.rest_length))
            .chain(in_batches)
    }

    /// Sets rest lengths and rest curvatures to those of particles at these positions.
    pub fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for grid in &mut self.grids {
            for set in &mut grid.sets {
                set.set_rest_lengths(&grid.layout, positions);
            }
            grid.recount();
        }
        for chain_batch in &mut self.chain_batches {
            chain_batch.set_rest_lengths(positions);
        }
        for batch in &mut self.batches {
            for (rest, &[a, b]) in batch.rest.iter_mut().zip(&batch.pairs) {
                *rest = distance(positions, a, b);
            }
        }
        self.measure_bends(positions);
    }

    /// Iterates over the rest lengths of distance constraints, m, at least 0, in the order of
    /// [`iter`](Self::iter). Changes take effect from the next step on.
    pub fn rest_lengths_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        let in_grids = self.grids.iter_mut().flat_map(|grid| {
            grid.invalidate_coarse();
            let sets = grid.sets.iter_mut();
            let lengths = sets.filter(|set| set.kind() != ConstraintKind::Bend);
            let rest = lengths.flat_map(|set| &mut set.rest);
            rest.filter(|rest| **rest >= 0.0)
        });
        let lists = self
            .chain_batches
            .iter_mut()
            .flat_map(|chain_batch| &mut chain_batch.by_kind);
        let lengths = lists.filter(|list| list.kind != ConstraintKind::Bend);
        let chain_batches = lengths.flat_map(|list| &mut list.rest);
        let batches = self.batches.iter_mut();
        in_grids
            .chain(chain_batches.filter(|rest| **rest >= 0.0))
            .chain(batches.flat_map(|batch| &mut batch.rest))
    }

    /// Removes all constraints for which `keep` returns false, for example those of a kind or a region.
    ///
    /// ```
    /// # use bevy_drape::solver::{ConstraintGraph, ConstraintKind};
    /// fn keep_edges(constraints: &mut ConstraintGraph) {
    ///     constraints.retain(|constraint| constraint.kind == ConstraintKind::Structural);
    /// }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&DistanceConstraint) -> bool) {
        for grid in &mut self.grids {
            for set in &mut grid.sets {
                set.retain(&grid.layout, &mut keep);
            }
            grid.recount();
        }
        for chain_batch in &mut self.chain_batches {
            chain_batch.retain(&mut keep);
        }
        self.chain_batches
            .retain(|chain_batch| chain_batch.len() > 0);
        for batch in &mut self.batches {
            let kind = batch.kind;
            batch.retain(|&particles, &rest_length| {
                keep(&DistanceConstraint {
                    kind,
                    particles,
                    rest_length,
                    middle: None,
                })
            });
        }
        self.batches.retain(|batch| !batch.pairs.is_empty());
        self.bends
            .retain(|bend| keep(&DistanceConstraint::of_bend(bend)));
    }
}

/// Rest length, or ρ of a bend, that marks an absent constraint.
const ABSENT: f32 = -1.0;

/// Returns the distance between two particles, computed exactly as by constraint projection: a cloth at its rest
/// lengths then has zero error and does not move by a single bit.
pub(in crate::solver) fn distance(positions: &SoaVec3, a: u32, b: u32) -> f32 {
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
    fn invalid_pairs_are_left_out() {
        let positions: SoaVec3 = (0..3).map(|i| Vec3::X * i as f32).collect();
        let mut graph = ConstraintGraph::new(
            &positions,
            &[
                (ConstraintKind::Shear, 0, 1),
                (ConstraintKind::Structural, 1, 0),
                (ConstraintKind::Shear, 2, 2),
                (ConstraintKind::Shear, 2, 3),
                (ConstraintKind::Bend, 2, 0),
            ],
        );
        let bends = [[0, 1, 2], [0, 1, 2], [0, 0, 1], [0, 1, 3]].map(BendStencil::three_point);
        graph.add_bends(&positions, &bends);
        let all: Vec<_> = graph.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].kind, ConstraintKind::Structural);
        assert_eq!(
            all[1],
            DistanceConstraint {
                kind: ConstraintKind::Bend,
                particles: [0, 2],
                rest_length: 1.0,
                middle: Some([1, 1]),
            }
        );
        assert_eq!(graph.count(ConstraintKind::Shear), 0);
    }
}
