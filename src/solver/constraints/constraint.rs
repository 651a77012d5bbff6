//! Types of constraints: distances of two particles, and bends.

use super::bend::BendConstraint;

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
    /// Solving order of the kinds outside grids. The kind solved last is satisfied best, and that must be stretch.
    pub(crate) const SOLVE_ORDER: [Self; 3] = [Self::Bend, Self::Shear, Self::Structural];

    pub(in crate::solver) fn solve_rank(self) -> usize {
        let position = Self::SOLVE_ORDER.iter().position(|kind| *kind == self);
        position.unwrap_or_default()
    }
}

/// Constraint of the distance of two particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceConstraint {
    /// Deformation that the constraint resists: stretch or shear.
    pub kind: ConstraintKind,
    /// The two particles.
    pub particles: [u32; 2],
    /// Rest length, m.
    pub rest_length: f32,
}

/// One constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constraint {
    /// Distance of two particles.
    Distance(DistanceConstraint),
    /// Curvature at three or four particles.
    Bend(BendConstraint),
}

impl Constraint {
    /// Returns the deformation that the constraint resists.
    pub fn kind(&self) -> ConstraintKind {
        match self {
            Self::Distance(distance) => distance.kind,
            Self::Bend(_) => ConstraintKind::Bend,
        }
    }

    /// Returns the particles of a distance constraint, or the ends of a bend.
    pub fn ends(&self) -> [u32; 2] {
        match self {
            Self::Distance(distance) => distance.particles,
            Self::Bend(bend) => bend.stencil().ends,
        }
    }

    /// Returns the distance constraint, if it is one.
    pub fn distance(self) -> Option<DistanceConstraint> {
        match self {
            Self::Distance(distance) => Some(distance),
            Self::Bend(_) => None,
        }
    }

    /// Returns the bend, if it is one.
    pub fn bend(self) -> Option<BendConstraint> {
        match self {
            Self::Distance(_) => None,
            Self::Bend(bend) => Some(bend),
        }
    }

    /// Returns whether the constraint contains a particle.
    #[cfg(test)]
    pub(crate) fn touches(&self, particle: u32) -> bool {
        match self {
            Self::Distance(distance) => distance.particles.contains(&particle),
            Self::Bend(bend) => bend.stencil().particles().contains(&particle),
        }
    }
}
