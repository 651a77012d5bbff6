//! All distance and bend constraints of a cloth, and where they are stored.

use crate::solver::{
    constraints::{
        angular_momentum::AngularMomentumTracker,
        bend::{BendConstraint, BendStencil, Neighbours},
        bend_batch::sort_by_colour,
        coarse::{CoarseLevels, number_edges},
        coloring,
        compliance::Aspects,
        constraint::{Constraint, ConstraintKind},
        general::{ChainIndex, GeneralConstraints, RegionLayout, find_chains},
        geodesic::RestShape,
        grid::GridConstraints,
        list::{ConstraintList, Slots},
    },
    math::sort::sort_by_particle,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::{corners::Corners, grid_layout::GridLayout},
};

/// Length of chains, as a fraction of the links across the cloth, from which a mesh counts as regular.
const LONG_CHAIN: f32 = 0.6;

/// All constraints of a cloth.
///
/// Constraints of its [grids](GridLayout) are stored row by row, all others by regions (`general/regions.rs`): those along
/// chains in chain batches, the rest with indices: distance constraints in batches (`coloring.rs`), bends in a list
/// (`bend_batch.rs`).
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ConstraintGraph {
    pub(in crate::solver) grids: Vec<GridConstraints>,
    /// Constraints outside grids.
    pub(in crate::solver) general: GeneralConstraints,
    /// Coarse levels of an irregular mesh.
    pub(in crate::solver) coarse: CoarseLevels,
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
            let grid = grid_of(&mut grids, a);
            !grid.is_some_and(|grid| grid.try_add(kind, [a, b], positions))
        });
        let layout = RegionLayout::of(positions.len());
        let mut general = GeneralConstraints::new(layout);
        let regions = general.regions_mut();
        find_chains(positions, &mut sorted, layout, |region, batch| {
            regions[region].chain_batches.push(batch);
        });
        coloring::arrange(positions, sorted, layout, |region, batch| {
            regions[region].batches.push(batch);
        });
        Self {
            grids,
            general,
            coarse: CoarseLevels::default(),
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
        let mut others: Vec<BendConstraint> = self.general.bends().collect();
        let mut chain_index = ChainIndex::new(self.general.chain_batches());
        let mut chain_batches: Vec<_> = self.general.chain_batches_mut().collect();
        for bend in found {
            let [a, b] = bend.stencil().ends;
            let is_stored = bend.shape.is_uniform()
                && (grid_of(&mut self.grids, a.min(b))
                    .is_some_and(|grid| grid.try_add_bend(&bend))
                    || chain_index.insert_bend(&mut chain_batches, &bend));
            if !is_stored {
                others.push(bend);
            }
        }
        sort_by_colour(&mut others, positions.len());
        self.general.set_bends(others);
    }

    /// Adds coarse levels, which carry loads across irregular meshes, if the cloth is one. `positions` are the rest positions.
    pub(crate) fn add_coarse_levels(&mut self, positions: &SoaVec3, triangles: &Corners) {
        // Chains that lead across the cloth carry the load themselves.
        let across = (positions.len() as f32).sqrt();
        if self.grids.is_empty() && self.general.mean_chain() < LONG_CHAIN * across {
            let (coarse, numbers) = CoarseLevels::new(&RestShape {
                positions,
                triangles: &triangles.to_vec(),
                constraints: self,
            });
            self.coarse = coarse;
            number_edges(&mut self.general, numbers);
        }
    }

    /// Removes the coarse levels, which would keep what is changed as it was.
    pub(in crate::solver) fn remove_coarse_levels(&mut self) {
        if !self.coarse.is_empty() {
            self.coarse = CoarseLevels::default();
            number_edges(&mut self.general, None);
        }
    }

    /// Returns the number of coarse levels.
    pub(crate) fn coarse_levels(&self) -> usize {
        self.coarse.len()
    }

    /// Lets future clones share rest lengths and particles until one of them changes these.
    pub(crate) fn share(&mut self) {
        self.general.share();
        self.coarse.share();
        for (_, list) in self.lists_mut() {
            list.rest.share();
            list.level_edges.share();
        }
    }

    fn neighbours(&self, particles: usize) -> Neighbours {
        let structural = self.of_kind(ConstraintKind::Structural);
        Neighbours::new(structural.map(|(pair, _)| pair), particles)
    }

    /// Recomputes all bends from these rest positions. Bends that are no longer evenly spaced and straight move
    /// from their grid or chain batch to the list.
    fn measure_bends(&mut self, positions: &SoaVec3) {
        let neighbours = self.neighbours(positions.len());
        let measure = |stencil| BendConstraint::from_rest_shape(stencil, positions, &neighbours);
        let own = self.general.bends();
        let mut others: Vec<_> = own.filter_map(|bend| measure(bend.stencil())).collect();
        self.general.set_bends(Vec::new());
        let listed = others.len();
        for (slots, list) in self
            .lists_mut()
            .filter(|(_, list)| list.kind == ConstraintKind::Bend)
        {
            for slot in 0..list.rest.len() {
                if list.is_occupied(slot)
                    && let Constraint::Bend(bend) = slots.constraint(list, slot)
                {
                    match measure(bend.stencil()) {
                        Some(bend) if bend.shape.is_uniform() => list.set(slot, bend.rho),
                        irregular => {
                            others.extend(irregular);
                            list.remove(slot);
                        }
                    }
                }
            }
        }
        if others.len() > listed {
            sort_by_colour(&mut others, positions.len());
        }
        self.general.set_bends(others);
        self.compact();
    }

    /// Iterates over ρ of each bend, m² (compliance times bending stiffness), in the order of
    /// [`iter`](Self::iter).
    pub(crate) fn bend_rhos_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.grids
            .iter_mut()
            .for_each(GridConstraints::forget_bend_mobility);
        let lists = self.lists_mut().map(|(_, list)| list);
        let bends = lists.filter(|list| list.kind == ConstraintKind::Bend);
        let all = bends.flat_map(|list| list.rest.iter_mut());
        all.filter(|rho| **rho >= 0.0)
    }

    /// Multiplies the stiffness of each bend by the geometric mean of `multiple` at its two middle particles.
    pub(crate) fn stiffen_bends(&mut self, multiple: impl Fn(u32) -> f32) {
        let bends = self.iter().filter_map(Constraint::bend);
        let multiples: Vec<f32> = bends
            .map(|bend| {
                let [a, b] = bend.stencil().middle;
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

    /// Restores the momentum and angular momentum that `relax` has removed from a cloth without pins since
    /// [`prepare`](Self::prepare), unless it was `constrained` from outside, by contacts, grabs or motion constraints.
    /// Called once per step, after the last substep.
    pub fn finish(&mut self, particles: &mut ParticleArrays, constrained: bool) {
        if constrained {
            self.angular_momentum.forget();
        } else {
            self.angular_momentum.restore(particles);
        }
    }

    /// Cancels the restoration of momentum in this step, because the cloth is in contact or was moved.
    pub(crate) fn forget_angular_momentum(&mut self) {
        self.angular_momentum.forget();
    }

    /// Returns whether all constraints and aspect ratios are consistent: data read from a file may be invalid.
    pub(crate) fn has_valid_constraints(&self, particles: usize) -> bool {
        let mut grids = self.grids.iter();
        grids.all(|grid| grid.is_sound(particles))
            && self.general.is_sound(particles)
            && self.coarse.is_sound(particles)
            && self.aspects.is_sound()
    }

    /// Iterates over the grids that were found in the cloth.
    pub fn grids(&self) -> impl Iterator<Item = GridLayout> + '_ {
        self.grids.iter().map(|grid| grid.layout)
    }

    /// Iterates over the lists of constraints, with the particles of their slots: those of grids, then those of regions.
    pub(in crate::solver) fn lists(&self) -> impl Iterator<Item = (Slots<'_>, &ConstraintList)> {
        let in_grids = self.grids.iter().flat_map(GridConstraints::lists);
        in_grids.chain(self.general.lists())
    }

    /// Iterates over the lists in the order of [`lists`](Self::lists).
    pub(in crate::solver) fn lists_mut(
        &mut self,
    ) -> impl Iterator<Item = (Slots<'_>, &mut ConstraintList)> {
        let in_grids = self.grids.iter_mut().flat_map(GridConstraints::lists_mut);
        in_grids.chain(self.general.lists_mut())
    }

    /// Removes the empty slots of batches and the batches without constraints; must be called after constraints were
    /// removed.
    pub(in crate::solver) fn compact(&mut self) {
        self.grids
            .iter_mut()
            .for_each(GridConstraints::forget_bend_mobility);
        self.general.compact();
    }

    /// Returns the number of constraints.
    pub fn len(&self) -> usize {
        self.lists().map(|(_, list)| list.len()).sum()
    }

    /// Returns whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of constraints of one kind.
    pub fn count(&self, kind: ConstraintKind) -> usize {
        let of_kind = self.lists().filter(|(_, list)| list.kind == kind);
        of_kind.map(|(_, list)| list.len()).sum()
    }

    /// Returns the number of batches. Constraints of a batch share no particle, except in overflow batches, which
    /// hold the constraints that no colour was left for.
    pub fn batch_count(&self) -> usize {
        self.general.batches().count()
    }

    /// Iterates over all constraints.
    pub fn iter(&self) -> impl Iterator<Item = Constraint> + '_ {
        let all = self.lists();
        all.flat_map(|(slots, list)| {
            list.occupied()
                .map(move |slot| slots.constraint(list, slot))
        })
    }

    /// Iterates over particles and rest lengths, m, of the distance constraints of one kind.
    pub fn of_kind(&self, kind: ConstraintKind) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        distances(self.lists(), kind)
    }

    /// Iterates over particles and rest lengths, m, of the distance constraints of one kind outside grids.
    pub(in crate::solver) fn outside_grids(
        &self,
        kind: ConstraintKind,
    ) -> impl Iterator<Item = ([u32; 2], f32)> + '_ {
        distances(self.general.lists(), kind)
    }

    /// Sets rest lengths and rest curvatures to those of particles at these positions. Irregular meshes stretch more afterwards, as
    /// after [`rest_lengths_mut`](Self::rest_lengths_mut).
    pub fn set_rest_lengths(&mut self, positions: &SoaVec3) {
        for (slots, list) in self
            .lists_mut()
            .filter(|(_, list)| list.kind != ConstraintKind::Bend)
        {
            for slot in 0..list.rest.len() {
                if list.is_occupied(slot) {
                    let [a, b] = slots.ends(slot);
                    list.rest[slot] = distance(positions, a, b);
                }
            }
        }
        self.remove_coarse_levels();
        self.measure_bends(positions);
    }

    /// Iterates over the rest lengths of distance constraints, m, at least 0, in the order of
    /// [`iter`](Self::iter). Changes take effect from the next step on. Irregular meshes stretch more from then on, until the
    /// cloth is reset, because the coarse levels that carry loads across them are removed.
    pub fn rest_lengths_mut(&mut self) -> impl Iterator<Item = &mut f32> {
        self.remove_coarse_levels();
        let lists = self.lists_mut().map(|(_, list)| list);
        let distances = lists.filter(|list| list.kind != ConstraintKind::Bend);
        let all = distances.flat_map(|list| list.rest.iter_mut());
        all.filter(|rest| **rest >= 0.0)
    }

    /// Removes all constraints for which `keep` returns false, for example those of a kind or a region.
    ///
    /// ```
    /// # use bevy_drape::solver::{ConstraintGraph, ConstraintKind};
    /// fn keep_edges(constraints: &mut ConstraintGraph) {
    ///     constraints.retain(|constraint| constraint.kind() == ConstraintKind::Structural);
    /// }
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&Constraint) -> bool) {
        self.remove_coarse_levels();
        for (slots, list) in self.lists_mut() {
            for slot in 0..list.rest.len() {
                if list.is_occupied(slot) && !keep(&slots.constraint(list, slot)) {
                    list.remove(slot);
                }
            }
        }
        self.compact();
    }
}

/// Returns the last grid that begins at or before a particle; grids are in the order of their particles.
fn grid_of(grids: &mut [GridConstraints], particle: u32) -> Option<&mut GridConstraints> {
    let after = grids.partition_point(|grid| grid.layout.first <= particle);
    after.checked_sub(1).map(|number| &mut grids[number])
}

/// Iterates over particles and rest lengths, m, of the distance constraints of one kind in these lists.
fn distances<'a>(
    lists: impl Iterator<Item = (Slots<'a>, &'a ConstraintList)>,
    kind: ConstraintKind,
) -> impl Iterator<Item = ([u32; 2], f32)> {
    let lists = lists.filter(move |(_, list)| list.kind == kind && kind != ConstraintKind::Bend);
    lists.flat_map(|(slots, list)| {
        let occupied = list.occupied();
        occupied.map(move |slot| (slots.ends(slot), list.rest[slot]))
    })
}

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
        assert_eq!(all[0].kind(), ConstraintKind::Structural);
        let bend = all[1].bend().unwrap();
        assert_eq!(bend.stencil(), BendStencil::three_point([0, 1, 2]));
        assert_eq!(bend.rho(), 1.0);
        assert_eq!(graph.count(ConstraintKind::Shear), 0);
    }
}
