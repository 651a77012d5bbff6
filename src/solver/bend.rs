//! Bending: how much a place of the cloth resists being curved, from the bending stiffness of the fabric
//! and the shape at rest.
//!
//! At each place the curvature is a weighted sum of the positions of three or four particles,
//! c = Σ Kᵢxᵢ with ΣKᵢ = 0, and the constraint is C = |c| − C₀ with compliance α = ρ/B: B is the bending
//! stiffness in N·m (bending moment per width and curvature), and ρ, in m², follows from the mesh alone,
//! so that neither mesh nor substeps change the fabric. Where the cloth is flat at rest C₀ is 0; then c
//! itself is the constraint, it is linear and needs no root.
//!
//! - Over a particle, along a thread with links of lengths h₁ and h₂, h = (h₁ + h₂)/2: K = (h/h₁,
//!   −h/h₁ − h/h₂, h/h₂), which is (1, −2, 1) in an even mesh, c = h²κ, and ρ = h³/b, because the strip
//!   of width b around the thread has the energy ½Bbhκ². At a border b is half as wide.
//! - Over an edge, between two triangles: K from the cotangents of their angles, as in Bergou, Wardetzky,
//!   Harmon, Zorin, Grinspun, "A Quadratic Bending Model for Inextensible Surfaces" (2006). There
//!   ρ = (A₀ + A₁)/3, which is right for the mean of all three edges of a triangle if each had its share
//!   of the curvature; but in a sheet that is bent one way only edges across that way are, so that it is
//!   three times too stiff. With ρ = A₀ + A₁ the energy is right to the last digit for meshes of
//!   equilateral triangles, bent along any direction, and for those of right ones, bent along their legs.

use super::{soa::SoaVec3, sort::sort_near};
use bevy::math::Vec3;

/// A thread that turns by less at rest, or an edge that is folded by less, is flat, rad.
const FLAT: f32 = 1e-3;

/// Links whose lengths differ by a smaller share are of one length.
const EVEN: f32 = 1e-3;

/// The particles at a place where the cloth can bend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Bend {
    /// The ends: where a thread comes from and goes to, or the tips of two triangles.
    pub ends: [u32; 2],
    /// What lies between: the particle, twice, or the two particles of the edge.
    pub over: [u32; 2],
}

impl Bend {
    /// Over a particle, along a thread.
    pub fn along([from, over, to]: [u32; 3]) -> Self {
        Self {
            ends: [from, to],
            over: [over; 2],
        }
    }

    /// Over the edge between two triangles with these tips.
    pub fn across(edge: [u32; 2], tips: [u32; 2]) -> Self {
        Self {
            ends: tips,
            over: edge,
        }
    }

    /// Whether it is over a single particle.
    pub fn is_along(&self) -> bool {
        self.over[0] == self.over[1]
    }

    /// All its particles; the one that is between twice, if it is single.
    pub fn particles(&self) -> [u32; 4] {
        let ([a, b], [m, n]) = (self.ends, self.over);
        [a, m, n, b]
    }

    /// Whether its particles exist and are different ones.
    pub(super) fn is_sound(&self, particles: usize) -> bool {
        let ([a, b], [m, n]) = (self.ends, self.over);
        self.particles().iter().all(|&i| (i as usize) < particles)
            && a != b
            && [a, b].iter().all(|end| ![m, n].contains(end))
    }
}

/// A place where the cloth bends, with what its curvature is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Hinge {
    pub(super) at: Bend,
    /// K of one end, of what is between, of the other end; for a single particle in between its other
    /// weight is 0.
    pub(super) weights: [f32; 4],
    /// ρ, m².
    pub(super) give: f32,
    /// C₀, m; below 0 if it is folded to the other side.
    pub(super) rest: f32,
}

impl Hinge {
    /// The weights of an even thread.
    const EVEN: [f32; 4] = [1.0, -2.0, 0.0, 1.0];

    /// An even, straight thread over a particle.
    pub(super) fn plain(particles: [u32; 3], give: f32) -> Self {
        Self {
            at: Bend::along(particles),
            weights: Self::EVEN,
            give,
            rest: 0.0,
        }
    }

    /// Whether it is one.
    pub(super) fn is_plain(&self) -> bool {
        self.weights == Self::EVEN && self.rest == 0.0
    }

    /// The hinge that is at rest when particles are at these positions; `None` where a triangle has no
    /// area or a link no length.
    pub(super) fn at_rest(at: Bend, positions: &SoaVec3, neighbours: &Neighbours) -> Option<Self> {
        let [a, m, n, b] = at.particles().map(|i| positions.get(i as usize));
        let mut hinge = Self {
            at,
            weights: Self::EVEN,
            give: 0.0,
            rest: 0.0,
        };
        let flat;
        if at.is_along() {
            let [before, after] = [(m - a).length(), (b - m).length()];
            let length = 0.5 * (before + after);
            if (before - after).abs() > EVEN * length {
                let [x, y] = [length / before, length / after];
                hinge.weights = [x, -(x + y), 0.0, y];
            }
            let width = neighbours.width(at.over[0], b - a, positions);
            // A thread for itself is as one that has a width of 1 m.
            let width = if width > 0.0 { width } else { 1.0 };
            hinge.give = length * length * length / width;
            flat = FLAT * length;
        } else {
            let (edge, [area, other]) = (n - m, [a, b].map(|tip| (n - m).cross(tip - m).length()));
            // Each of the angle between two sides of a triangle: cosine by sine.
            let cot = |u: Vec3, v: Vec3, double: f32| u.dot(v) / double;
            let [am, an] = [cot(edge, a - m, area), cot(-edge, a - n, area)];
            let [bm, bn] = [cot(edge, b - m, other), cot(-edge, b - n, other)];
            hinge.weights = [-am - an, an + bn, am + bm, -bm - bn];
            hinge.give = 0.5 * (area + other);
            flat = FLAT * edge.length();
        }
        let curve = hinge.curve([a, m, n, b]);
        let rest = (curve.x * curve.x + curve.y * curve.y + curve.z * curve.z).sqrt();
        if rest > flat {
            hinge.rest = rest * hinge.side([a, m, n, b], curve);
        }
        let finite = hinge.weights.iter().all(|weight| weight.is_finite());
        (finite && hinge.give.is_finite() && hinge.give > 0.0 && hinge.rest.is_finite())
            .then_some(hinge)
    }

    /// c of particles at these places. The weights have no sum: differences keep all digits.
    #[inline(always)]
    pub(super) fn curve(&self, [a, m, n, b]: [Vec3; 4]) -> Vec3 {
        let [ka, _, kn, kb] = self.weights;
        (a - m) * ka + (b - m) * kb + (n - m) * kn
    }

    /// To which side of the cloth c points: 1 or −1. A thread has no sides.
    #[inline(always)]
    pub(super) fn side(&self, [a, m, n, b]: [Vec3; 4], curve: Vec3) -> f32 {
        let (u, v) = (n - m, a - b);
        let x = u.y * v.z - u.z * v.y;
        let y = u.z * v.x - u.x * v.z;
        let z = u.x * v.y - u.y * v.x;
        if x * curve.x + y * curve.y + z * curve.z < 0.0 {
            -1.0
        } else {
            1.0
        }
    }
}

/// The neighbours of each particle along threads.
pub(super) struct Neighbours {
    /// Where those of each particle begin.
    first: Vec<u32>,
    all: Vec<u32>,
}

impl Neighbours {
    /// From the two ends of each thread.
    pub(super) fn new(threads: impl Iterator<Item = [u32; 2]>, particles: usize) -> Self {
        let mut both: Vec<(u32, u32)> = threads.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
        sort_near(&mut both, particles, |&(of, _)| of);
        let mut first = vec![0; particles + 1];
        for &(of, _) in &both {
            first[of as usize + 1] += 1;
        }
        for i in 0..particles {
            first[i + 1] += first[i];
        }
        Self {
            first,
            all: both.into_iter().map(|(_, other)| other).collect(),
        }
    }

    /// How wide the cloth around a particle is across a direction: half of the way to its neighbours on
    /// both sides, m.
    fn width(&self, of: u32, along: Vec3, positions: &SoaVec3) -> f32 {
        let along = along.normalize_or_zero();
        let centre = positions.get(of as usize);
        let own = self.first[of as usize] as usize..self.first[of as usize + 1] as usize;
        let across = self.all[own].iter().map(|&other| {
            let way = positions.get(other as usize) - centre;
            // Neighbours along the thread are not beside it, whatever rounding says.
            let aside = way - along * way.dot(along);
            if aside.length_squared() > 0.01 * way.length_squared() {
                0.5 * aside.length()
            } else {
                0.0
            }
        });
        across.sum()
    }
}

/// Puts hinges into an order in which neighbours in the list share no particle, as far as possible: the
/// processor then need not wait for one before it begins the next.
pub(super) fn spread(hinges: &mut [Hinge], particles: usize) {
    let mut used = vec![0_u64; particles];
    let mut coloured: Vec<(u32, Hinge)> = hinges
        .iter()
        .map(|hinge| {
            let own = hinge.at.particles().map(|i| i as usize);
            let taken = own.iter().fold(0, |taken, &i| taken | used[i]);
            let colour = taken.trailing_ones();
            if colour < u64::BITS {
                own.iter().for_each(|&i| used[i] |= 1 << colour);
            }
            (colour, *hinge)
        })
        .collect();
    // A stable sort: within a colour they stay near each other.
    coloured.sort_by_key(|(colour, _)| *colour);
    for (hinge, (_, coloured)) in hinges.iter_mut().zip(coloured) {
        *hinge = coloured;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hinge(places: [Vec3; 4]) -> Hinge {
        let positions: SoaVec3 = places.into_iter().collect();
        let none = Neighbours::new(std::iter::empty(), 4);
        Hinge::at_rest(Bend::across([1, 2], [0, 3]), &positions, &none).unwrap()
    }

    /// Two triangles, the second one folded up by an angle.
    fn folded(angle: f32) -> [Vec3; 4] {
        [
            Vec3::new(-0.8, 0.1, 0.0),
            Vec3::ZERO,
            Vec3::Y,
            Vec3::new(angle.cos(), 0.4, angle.sin()),
        ]
    }

    #[test]
    fn what_is_flat_has_no_curve_and_what_is_not_keeps_its_side() {
        let flat = hinge(folded(0.0));
        assert_eq!(flat.rest, 0.0);
        assert!((flat.give - 0.9).abs() < 1e-6, "both areas: {}", flat.give);
        let sum: f32 = flat.weights.iter().sum();
        assert!(sum.abs() < 1e-6);
        // A fold by θ has c = 2 sin(θ/2) times the length of the edge.
        for angle in [0.5_f32, -0.5, 2.0, -2.0] {
            let folded = hinge(folded(angle));
            let expected = 2.0 * (0.5 * angle).sin();
            assert!((folded.rest.abs() - expected.abs()).abs() < 1e-5);
            assert_eq!(
                folded.rest > 0.0,
                hinge(self::folded(0.1)).rest * angle > 0.0
            );
        }
    }

    #[test]
    fn an_uneven_thread_has_uneven_weights() {
        let positions: SoaVec3 = [0.0, 0.1, 0.3].into_iter().map(|x| Vec3::X * x).collect();
        let beside = Neighbours::new(std::iter::empty(), 3);
        let hinge = Hinge::at_rest(Bend::along([0, 1, 2]), &positions, &beside).unwrap();
        assert!(!hinge.is_plain());
        assert_eq!(hinge.rest, 0.0);
        // The parabola ½κx² has h²κ: ½(0.1)²κ and ½(0.2)²κ above the middle, h = 0.15.
        let bent = [0.005, 0.0, 0.0, 0.02].map(|y| Vec3::Y * y);
        assert!((hinge.curve(bent).y - 0.15 * 0.15).abs() < 1e-6);
        let same = Bend::along([0, 1, 1]);
        assert!(Hinge::at_rest(same, &positions, &beside).is_none());
    }

    #[test]
    fn widths_are_half_at_the_border() {
        // A cross with three arms of 0.2 m: the cloth ends below.
        let places = [Vec3::ZERO, Vec3::X, -Vec3::X, Vec3::Y].map(|at| at * 0.2);
        let positions: SoaVec3 = places.into_iter().collect();
        let arms = Neighbours::new([[0, 1], [0, 2], [3, 0]].into_iter(), 4);
        assert!((arms.width(0, Vec3::X, &positions) - 0.1).abs() < 1e-6);
        assert!((arms.width(0, Vec3::Y, &positions) - 0.2).abs() < 1e-6);
    }

    #[test]
    fn hinges_side_by_side_share_no_particle() {
        let mut hinges: Vec<Hinge> = (0..100)
            .map(|i| Hinge::plain([i, i + 1, i + 2], 1.0))
            .collect();
        spread(&mut hinges, 102);
        let shares = |pair: &[Hinge]| {
            let [one, other] = [pair[0], pair[1]].map(|hinge| hinge.at.particles());
            one.iter().any(|i| other.contains(i))
        };
        assert!(hinges.windows(2).filter(|pair| shares(pair)).count() <= 2);
    }
}
