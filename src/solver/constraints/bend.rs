//! Bend constraints, from the bending stiffness of the fabric and the rest shape.
//!
//! The curvature vector of a stencil is a weighted sum of the positions of three or four particles,
//! c = Σ Kᵢxᵢ with ΣKᵢ = 0, and the constraint is C = |c| − C₀ with compliance α = ρ/B: B is the bending
//! stiffness in N·m (bending moment per width and curvature), and ρ, in m², follows from the mesh alone,
//! so neither mesh nor substeps change the fabric. Where the cloth is flat at rest C₀ is 0; then c
//! itself is the constraint, which is linear and needs no square root.
//!
//! - Three-point stencil, along a chain with links of lengths h₁ and h₂, h = (h₁ + h₂)/2: K = (h/h₁,
//!   −h/h₁ − h/h₂, h/h₂), which is (1, −2, 1) in a uniform mesh, c = h²κ, and ρ = h³/b, because the strip
//!   of width b around the chain has the energy ½Bbhκ². At a border b is half as wide.
//! - Dihedral stencil, two triangles at an edge: K from the cotangents of their angles, as in Bergou, Wardetzky,
//!   Harmon, Zorin, Grinspun, "A Quadratic Bending Model for Inextensible Surfaces" (2006). There
//!   ρ = (A₀ + A₁)/3, which assumes that the three edges of a triangle share the curvature equally. In a cloth bent in
//!   one direction only the edges across that direction are bent, so it is three times too stiff. With ρ = A₀ + A₁,
//!   used here, the energy is exact for meshes of equilateral triangles bent
//!   in any direction, and for meshes of right triangles bent along their legs.

use crate::solver::{math::sort::sort_by_particle, simd::soa::SoaVec3};
use bevy::math::Vec3;
use std::ops::{Add, Mul, Sub};

/// Largest turn of a chain, or fold of an edge, at rest that counts as flat, rad.
const FLAT_ANGLE: f32 = 1e-3;

/// Largest difference of link lengths that counts as uniform, as a fraction of their mean.
const UNIFORM_TOLERANCE: f32 = 1e-3;

/// Particles of a bend constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct BendStencil {
    /// End particles: the outer particles of three along a chain, or the corners of two triangles opposite their
    /// common edge.
    pub ends: [u32; 2],
    /// Particles between the ends: one particle twice, or the two particles of the edge.
    pub middle: [u32; 2],
}

impl BendStencil {
    /// Creates a stencil of three particles along a chain.
    pub fn three_point([from, middle, to]: [u32; 3]) -> Self {
        Self {
            ends: [from, to],
            middle: [middle; 2],
        }
    }

    /// Creates a stencil of the edge between two triangles and their opposite corners.
    pub(crate) fn dihedral(edge: [u32; 2], opposite: [u32; 2]) -> Self {
        Self {
            ends: opposite,
            middle: edge,
        }
    }

    /// Returns whether the stencil has three particles.
    pub(crate) fn is_three_point(&self) -> bool {
        self.middle[0] == self.middle[1]
    }

    /// Returns all particles: one end, the middle particles, the other end. A single middle particle is repeated.
    pub fn particles(&self) -> [u32; 4] {
        let ([a, b], [m, n]) = (self.ends, self.middle);
        [a, m, n, b]
    }

    /// Returns whether all particles exist and are distinct.
    pub(in crate::solver) fn is_sound(&self, particles: usize) -> bool {
        let ([a, b], [m, n]) = (self.ends, self.middle);
        self.particles().iter().all(|&i| (i as usize) < particles)
            && a != b
            && [a, b].iter().all(|end| ![m, n].contains(end))
    }
}

/// Bend constraint: the resistance of the fabric to curvature at three or four particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BendConstraint {
    pub(in crate::solver) shape: BendShape,
    /// ρ, m²: compliance times bending stiffness.
    pub(in crate::solver) rho: f32,
}

/// Stencil of a bend constraint, and the curvature at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(in crate::solver) struct BendShape {
    pub(in crate::solver) stencil: BendStencil,
    /// Weights K in the order of [`BendStencil::particles`]; the second weight of a single middle particle is 0.
    pub(in crate::solver) weights: [f32; 4],
    /// Rest curvature C₀, m; negative for a fold to the other side.
    pub(in crate::solver) rest: f32,
}

impl BendShape {
    /// Weights of a chain with links of equal length.
    const UNIFORM: [f32; 4] = [1.0, -2.0, 0.0, 1.0];

    /// Creates the shape of a uniform, straight chain.
    pub(in crate::solver) fn uniform(stencil: BendStencil) -> Self {
        Self {
            stencil,
            weights: Self::UNIFORM,
            rest: 0.0,
        }
    }

    /// Returns whether the shape has the weights of a uniform chain and is straight at rest.
    pub(in crate::solver) fn is_uniform(&self) -> bool {
        self.weights == Self::UNIFORM && self.rest == 0.0
    }

    /// Returns the curvature vector c of particles at these positions. The weights sum to zero, so it is computed
    /// from differences, which avoids cancellation.
    #[inline(always)]
    pub(in crate::solver) fn curvature<V>(&self, [a, m, n, b]: [V; 4]) -> V
    where
        V: Copy + Add<Output = V> + Sub<Output = V> + Mul<f32, Output = V>,
    {
        let [ka, _, kn, kb] = self.weights;
        (a - m) * ka + (b - m) * kb + (n - m) * kn
    }

    /// Returns the side of the cloth that c points to: 1 or −1. For three-point stencils it is always 1.
    #[inline(always)]
    pub(in crate::solver) fn fold_sign(&self, [a, m, n, b]: [Vec3; 4], curvature: Vec3) -> f32 {
        let (u, v) = (n - m, a - b);
        let x = u.y * v.z - u.z * v.y;
        let y = u.z * v.x - u.x * v.z;
        let z = u.x * v.y - u.y * v.x;
        if x * curvature.x + y * curvature.y + z * curvature.z < 0.0 {
            -1.0
        } else {
            1.0
        }
    }
}

impl BendConstraint {
    /// Returns the particles of the constraint.
    pub fn stencil(&self) -> BendStencil {
        self.shape.stencil
    }

    /// Returns ρ, m²: the compliance of the constraint times the bending stiffness of the fabric.
    pub fn rho(&self) -> f32 {
        self.rho
    }

    /// Creates the bend that is at rest for particles at these positions; `None` if a triangle has no area or a
    /// link no length.
    pub(in crate::solver) fn from_rest_shape(
        stencil: BendStencil,
        positions: &SoaVec3,
        neighbours: &Neighbours,
    ) -> Option<Self> {
        let [a, m, n, b] = stencil.particles().map(|i| positions.get(i as usize));
        let mut shape = BendShape::uniform(stencil);
        let (rho, tolerance);
        if stencil.is_three_point() {
            let [before, after] = [(m - a).length(), (b - m).length()];
            let length = 0.5 * (before + after);
            if (before - after).abs() > UNIFORM_TOLERANCE * length {
                let [x, y] = [length / before, length / after];
                shape.weights = [x, -(x + y), 0.0, y];
            }
            let width = neighbours.width(stencil.middle[0], b - a, positions);
            // A chain without neighbours counts as a strip 1 m wide.
            let width = if width > 0.0 { width } else { 1.0 };
            rho = length * length * length / width;
            tolerance = FLAT_ANGLE * length;
        } else {
            let (edge, [area, other]) = (
                n - m,
                [a, b].map(|corner| (n - m).cross(corner - m).length()),
            );
            // Cotangent of the angle between two sides of a triangle: cosine over sine.
            let cot = |u: Vec3, v: Vec3, double: f32| u.dot(v) / double;
            let [am, an] = [cot(edge, a - m, area), cot(-edge, a - n, area)];
            let [bm, bn] = [cot(edge, b - m, other), cot(-edge, b - n, other)];
            shape.weights = [-am - an, an + bn, am + bm, -bm - bn];
            rho = 0.5 * (area + other);
            tolerance = FLAT_ANGLE * edge.length();
        }
        let curvature = shape.curvature([a, m, n, b]);
        let rest =
            (curvature.x * curvature.x + curvature.y * curvature.y + curvature.z * curvature.z)
                .sqrt();
        if rest > tolerance {
            shape.rest = rest * shape.fold_sign([a, m, n, b], curvature);
        }
        let finite = shape.weights.iter().all(|weight| weight.is_finite());
        let is_sound = finite && rho.is_finite() && rho > 0.0 && shape.rest.is_finite();
        is_sound.then_some(Self { shape, rho })
    }
}

/// Neighbours of each particle along structural constraints.
pub(in crate::solver) struct Neighbours {
    /// Index of the first neighbour of each particle in `all`.
    first: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    /// Collects the neighbours from the two ends of each edge.
    pub(in crate::solver) fn new(edges: impl Iterator<Item = [u32; 2]>, particles: usize) -> Self {
        let mut both: Vec<(u32, u32)> = edges.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
        sort_by_particle(&mut both, particles, |&(particle, _)| particle);
        let mut first = vec![0; particles + 1];
        for &(particle, _) in &both {
            first[particle as usize + 1] += 1;
        }
        for i in 0..particles {
            first[i + 1] += first[i];
        }
        Self {
            first,
            all: both.into_iter().map(|(_, other)| other).collect(),
        }
    }

    /// Returns the width of the cloth around a particle perpendicular to `along`, m: half the distance to its
    /// neighbours on both sides.
    fn width(&self, particle: u32, along: Vec3, positions: &SoaVec3) -> f32 {
        let along = along.normalize_or_zero();
        let centre = positions.get(particle as usize);
        let own =
            self.first[particle as usize] as usize..self.first[particle as usize + 1] as usize;
        let across = self.all[own].iter().map(|&other| {
            let difference = positions.get(other as usize) - centre;
            // Neighbours along the chain do not count, in spite of rounding.
            let aside = difference - along * difference.dot(along);
            if aside.length_squared() > 0.01 * difference.length_squared() {
                0.5 * aside.length()
            } else {
                0.0
            }
        });
        across.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bend(positions: [Vec3; 4]) -> BendConstraint {
        let positions: SoaVec3 = positions.into_iter().collect();
        let none = Neighbours::new(std::iter::empty(), 4);
        BendConstraint::from_rest_shape(BendStencil::dihedral([1, 2], [0, 3]), &positions, &none)
            .unwrap()
    }

    /// Two triangles, the second one folded up by an angle, rad.
    fn folded(angle: f32) -> [Vec3; 4] {
        [
            Vec3::new(-0.8, 0.1, 0.0),
            Vec3::ZERO,
            Vec3::Y,
            Vec3::new(angle.cos(), 0.4, angle.sin()),
        ]
    }

    #[test]
    fn flat_stencils_have_no_rest_curvature_and_folds_keep_their_sign() {
        let flat = bend(folded(0.0));
        assert_eq!(flat.shape.rest, 0.0);
        assert!((flat.rho - 0.9).abs() < 1e-6, "both areas: {}", flat.rho);
        let sum: f32 = flat.shape.weights.iter().sum();
        assert!(sum.abs() < 1e-6);
        // For a fold by θ, c is 2 sin(θ/2) times the length of the edge.
        for angle in [0.5_f32, -0.5, 2.0, -2.0] {
            let folded = bend(folded(angle));
            let expected = 2.0 * (0.5 * angle).sin();
            assert!((folded.shape.rest.abs() - expected.abs()).abs() < 1e-5);
            assert_eq!(
                folded.shape.rest > 0.0,
                bend(self::folded(0.1)).shape.rest * angle > 0.0
            );
        }
    }

    #[test]
    fn a_chain_with_unequal_links_has_unequal_weights() {
        let positions: SoaVec3 = [0.0, 0.1, 0.3].into_iter().map(|x| Vec3::X * x).collect();
        let beside = Neighbours::new(std::iter::empty(), 3);
        let bend = BendConstraint::from_rest_shape(
            BendStencil::three_point([0, 1, 2]),
            &positions,
            &beside,
        )
        .unwrap();
        assert!(!bend.shape.is_uniform());
        assert_eq!(bend.shape.rest, 0.0);
        // The parabola ½κx² has c = h²κ: ends ½(0.1)²κ and ½(0.2)²κ above the middle, h = 0.15.
        let bent = [0.005, 0.0, 0.0, 0.02].map(|y| Vec3::Y * y);
        assert!((bend.shape.curvature(bent).y - 0.15 * 0.15).abs() < 1e-6);
        let same = BendStencil::three_point([0, 1, 1]);
        assert!(BendConstraint::from_rest_shape(same, &positions, &beside).is_none());
    }

    #[test]
    fn widths_are_half_at_the_border() {
        // A cross with three arms of 0.2 m: a border particle without a neighbour below.
        let positions = [Vec3::ZERO, Vec3::X, -Vec3::X, Vec3::Y].map(|at| at * 0.2);
        let positions: SoaVec3 = positions.into_iter().collect();
        let arms = Neighbours::new([[0, 1], [0, 2], [3, 0]].into_iter(), 4);
        assert!((arms.width(0, Vec3::X, &positions) - 0.1).abs() < 1e-6);
        assert!((arms.width(0, Vec3::Y, &positions) - 0.2).abs() < 1e-6);
    }
}
