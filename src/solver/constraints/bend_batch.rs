//! Bends with indices, in a list with the weights and the rest curvature of each.

use super::{
    bend::{BendConstraint, BendShape},
    constraint::ConstraintKind,
    list::ConstraintList,
};
use crate::solver::shared::Shared;

/// Bends outside grids and chain batches.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct BendBatch {
    pub(in crate::solver) shapes: Shared<Vec<BendShape>>,
    pub(in crate::solver) list: ConstraintList,
}

impl Default for BendBatch {
    fn default() -> Self {
        Self::in_order(Vec::new())
    }
}

impl BendBatch {
    /// Creates a batch in the given order.
    pub(in crate::solver) fn in_order(bends: Vec<BendConstraint>) -> Self {
        Self {
            shapes: bends.iter().map(|bend| bend.shape).collect(),
            list: ConstraintList::of(ConstraintKind::Bend, bends.iter().map(|bend| bend.rho)),
        }
    }

    /// Iterates over the bends.
    pub(in crate::solver) fn iter(&self) -> impl Iterator<Item = BendConstraint> + '_ {
        let both = self.shapes.iter().zip(&self.list.rest);
        both.map(|(&shape, &rho)| BendConstraint { shape, rho })
    }

    /// Appends a bend.
    pub(in crate::solver) fn push(&mut self, BendConstraint { shape, rho }: BendConstraint) {
        self.shapes.push(shape);
        self.list.push(rho);
    }

    /// Returns whether both arrays fit each other and all stencils are valid.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let mut stencils = self.shapes.iter().map(|shape| shape.stencil);
        self.list.is_sound(ConstraintKind::Bend, self.shapes.len())
            && stencils.all(|stencil| stencil.is_sound(particles))
    }
}

/// Sorts bends by greedy colouring: as far as possible, consecutive ones then share no particle and do not wait for each
/// other's results.
pub(in crate::solver) fn sort_by_colour(bends: &mut [BendConstraint], particles: usize) {
    let mut used = vec![0_u64; particles];
    let mut coloured: Vec<(u32, BendConstraint)> = bends
        .iter()
        .map(|bend| {
            let own = bend.shape.stencil.particles().map(|i| i as usize);
            let taken = own.iter().fold(0, |taken, &i| taken | used[i]);
            let colour = taken.trailing_ones();
            if colour < u64::BITS {
                own.iter().for_each(|&i| used[i] |= 1 << colour);
            }
            (colour, *bend)
        })
        .collect();
    // A stable sort keeps the order of the bends of a colour, and so their locality in memory.
    coloured.sort_by_key(|(colour, _)| *colour);
    for (bend, (_, coloured)) in bends.iter_mut().zip(coloured) {
        *bend = coloured;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::BendStencil;

    #[test]
    fn neighbouring_bends_share_no_particle() {
        let mut bends: Vec<BendConstraint> = (0..100)
            .map(|i| BendConstraint {
                shape: BendShape::uniform(BendStencil::three_point([i, i + 1, i + 2])),
                rho: 1.0,
            })
            .collect();
        sort_by_colour(&mut bends, 102);
        let shares = |pair: &[BendConstraint]| {
            let [one, other] = [pair[0], pair[1]].map(|bend| bend.shape.stencil.particles());
            one.iter().any(|i| other.contains(i))
        };
        assert!(bends.windows(2).filter(|pair| shares(pair)).count() <= 2);
    }
}
