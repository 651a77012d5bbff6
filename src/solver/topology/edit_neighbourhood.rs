//! Neighbourhood of a topology edit: which edges and diagonals there were, and what has become of them.

use super::topology_edit::TopologyEdit;
use crate::solver::{
    ConstraintKind,
    constraints::{
        bend::{BendConstraint, BendStencil},
        constraint::DistanceConstraint,
    },
};
use bevy::{
    math::{Vec2, Vec3},
    platform::collections::HashMap,
};

/// Two particles.
pub(super) type Pair = [u32; 2];

/// Returns a pair with the lower particle first.
pub(super) fn sorted(a: u32, b: u32) -> Pair {
    [a.min(b), a.max(b)]
}

/// Neighbourhood of an edit, before and after. Sorted lists with binary search: built once and queried a few times
/// per constraint.
pub(super) struct EditNeighbourhood<'a, 'b> {
    edit: &'a TopologyEdit<'b>,
    /// The old edges, each with one of its old triangles; one entry per triangle.
    edges: Vec<(Pair, u32)>,
    /// The edges after the edit.
    edges_now: Vec<Pair>,
    /// Old particles with their copies, one entry per copy; each particle is also listed as its own copy.
    copies: Vec<(u32, u32)>,
}

impl<'a, 'b> EditNeighbourhood<'a, 'b> {
    pub(super) fn new(edit: &'a TopologyEdit<'b>, region: &[u32]) -> Self {
        let mut triangles: Vec<u32> = region
            .iter()
            .flat_map(|&i| edit.old_triangles_near(i))
            .collect();
        triangles.sort_unstable();
        triangles.dedup();
        let mut near = Self {
            edit,
            edges: Vec::with_capacity(triangles.len() * 3),
            edges_now: Vec::with_capacity(triangles.len() * 3),
            copies: region.iter().map(|&i| (i, i)).collect(),
        };
        for &triangle in &triangles {
            let [a, b, c] = edit.old_corners(triangle);
            for (a, b) in [(a, b), (b, c), (c, a)] {
                near.edges.push((sorted(a, b), triangle));
            }
            for (part, _) in edit.parts(triangle) {
                let [a, b, c] = edit.corners(part);
                near.edges_now
                    .extend([sorted(a, b), sorted(b, c), sorted(c, a)]);
            }
        }
        for (k, new) in edit.new_particles.iter().enumerate() {
            let particle = (edit.old_particles + k) as u32;
            if new.parents[0] == new.parents[1] {
                near.copies.push((edit.source_particle(particle), particle));
            }
        }
        near.edges.sort_unstable();
        near.edges_now.sort_unstable();
        near.edges_now.dedup();
        near.copies.sort_unstable();
        near
    }

    /// Returns the old triangles at an old edge.
    pub(super) fn triangles_at(&self, a: u32, b: u32) -> &[(Pair, u32)] {
        let pair = sorted(a, b);
        let from = self.edges.partition_point(|(edge, _)| *edge < pair);
        // One or two, rarely more.
        let here = self.edges[from..].iter();
        let count = here.take_while(|(edge, _)| *edge == pair).count();
        &self.edges[from..from + count]
    }

    fn is_edge_now(&self, a: u32, b: u32) -> bool {
        self.edges_now.binary_search(&sorted(a, b)).is_ok()
    }

    /// Returns an old particle and all of its copies.
    fn copies(&self, of: u32) -> impl Iterator<Item = u32> + Clone {
        let from = self.copies.partition_point(|(old, _)| *old < of);
        let copies = self.copies[from..].iter();
        copies
            .take_while(move |(old, _)| *old == of)
            .map(|(_, copy)| *copy)
    }

    /// Returns the pairs that an old edge has become, in the order of the old pair, each with its fraction of the
    /// rest length.
    pub(super) fn along_edge(&self, pair: Pair) -> Vec<(Pair, f32)> {
        let mut found = Vec::with_capacity(2);
        for &(_, triangle) in self.triangles_at(pair[0], pair[1]) {
            let old = self.edit.old_corners(triangle);
            let side = pair.map(|i| old.iter().position(|&c| c == i).unwrap_or(0) as u8);
            for (part, boundary) in self.edit.parts(triangle) {
                let now = self.edit.corners(part);
                let along = boundary.map(|point| point.along(side));
                for (k, l) in [(0, 1), (1, 2), (2, 0)] {
                    if let (Some(from), Some(to)) = (along[k], along[l]) {
                        let ends = if from < to { [k, l] } else { [l, k] };
                        found.push((ends.map(|e| now[e]), (to - from).abs()));
                    }
                }
            }
        }
        found
    }

    /// Returns the bend constraints that replace one: one per side where its stencil is still intact. Where one
    /// particle row has become two, each side has half of the width.
    pub(super) fn bends(&self, bend: &BendConstraint) -> Vec<BendConstraint> {
        let BendStencil {
            ends: [a, b],
            middle: [m, n],
        } = bend.stencil();
        let now: Vec<BendStencil> = if bend.stencil().is_three_point() {
            let [before, after] = [a, b].map(|end| !self.triangles_at(end, m).is_empty());
            if !(before && after) {
                // A constraint without such edges was added by the user: keep it.
                return vec![*bend];
            }
            self.along(a, m, b)
        } else {
            let mut bridges = self.edges_between(a, b).peekable();
            if bridges.peek().is_none() {
                return vec![*bend];
            }
            let bend_across = |(one, other)| {
                let [(a, edge), (b, same)] = self.across(a, one, other, b)?;
                let own = |i: u32| {
                    edge.into_iter()
                        .find(|&copy| self.edit.source_particle(copy) == i)
                };
                let edge = [own(m)?, own(n)?];
                (sorted(edge[0], edge[1]) == same).then(|| BendStencil::dihedral(edge, [a, b]))
            };
            bridges.filter_map(bend_across).collect()
        };
        let parts = if bend.stencil().is_three_point() {
            now.len()
        } else {
            1
        };
        let split = |stencil| {
            let mut bend = *bend;
            bend.shape.stencil = stencil;
            bend.rho *= parts as f32;
            bend
        };
        now.into_iter().map(split).collect()
    }

    /// Returns the pairs that replace a diagonal: one per side where the bridged edge is still intact.
    pub(super) fn bridging(&self, [a, b]: Pair) -> Vec<Pair> {
        let mut bridges = self.edges_between(a, b).peekable();
        if bridges.peek().is_none() {
            // A constraint without such an edge was added by the user: keep it.
            return vec![[a, b]];
        }
        bridges
            .filter_map(|(one, other)| {
                let [(a, edge), (b, same)] = self.across(a, one, other, b)?;
                (edge == same).then_some([a, b])
            })
            .collect()
    }

    /// Returns bends over the copies of `a` and `b` that are still connected through a copy of `middle`.
    fn along(&self, a: u32, middle: u32, b: u32) -> Vec<BendStencil> {
        self.copies(middle)
            .filter_map(|middle| {
                let a = self.copies(a).find(|&a| self.is_edge_now(a, middle))?;
                let b = self.copies(b).find(|&b| self.is_edge_now(middle, b))?;
                Some(BendStencil::three_point([a, middle, b]))
            })
            .collect()
    }

    /// Returns pairs of old triangles with a common edge, the first with its opposite corner at `a`, the second at
    /// `b`.
    fn edges_between(&self, a: u32, b: u32) -> impl Iterator<Item = (u32, u32)> {
        let of_a = self.edit.old_triangles_near(a);
        let corners = |t: u32| self.edit.old_corners(t);
        of_a.filter(move |&t| corners(t).contains(&a))
            .flat_map(move |one| {
                let edge: Vec<u32> = corners(one).into_iter().filter(|&i| i != a).collect();
                let across = self.triangles_at(edge[0], edge[1]).iter();
                across
                    .map(|(_, triangle)| *triangle)
                    .filter(move |&other| other != one && corners(other).contains(&b))
                    .map(move |other| (one, other))
            })
    }

    /// Returns the opposite corners of two triangles that had a common edge, each with its current copy of that
    /// edge; `None` if one of the triangles was divided.
    fn across(&self, a: u32, one: u32, other: u32, b: u32) -> Option<[(u32, Pair); 2]> {
        let divided = &self.edit.divided;
        if divided.contains_key(&one) || divided.contains_key(&other) {
            return None;
        }
        let tip_and_edge = |triangle: u32, tip: u32| {
            let old = self.edit.old_corners(triangle);
            let mut now = self.edit.corners(triangle);
            now.rotate_left(old.iter().position(|&i| i == tip).unwrap_or(0));
            (now[0], sorted(now[1], now[2]))
        };
        Some([tip_and_edge(one, a), tip_and_edge(other, b)])
    }

    /// Returns constraints for the edges inside divided triangles. Their rest lengths follow from the rest lengths
    /// of the triangle's sides.
    pub(super) fn inside_triangles(
        &self,
        lengths: &HashMap<Pair, DistanceConstraint>,
    ) -> Vec<DistanceConstraint> {
        let mut found = Vec::new();
        for (&triangle, parts) in &self.edit.divided {
            let flat = self.flattened(self.edit.old_corners(triangle), lengths);
            for (part, boundary) in parts {
                let now = self.edit.corners(*part);
                for (k, l) in [(0, 1), (1, 2), (2, 0)] {
                    let on_a_side = [[0, 1], [1, 2], [2, 0]].iter().any(|&side| {
                        boundary[k].along(side).is_some() && boundary[l].along(side).is_some()
                    });
                    if on_a_side {
                        continue;
                    }
                    let [from, to] = [k, l].map(|c| {
                        let weights = boundary[c].weights();
                        (0..3).map(|i| flat[i] * weights[i]).sum::<Vec2>()
                    });
                    found.push(DistanceConstraint {
                        kind: ConstraintKind::Structural,
                        particles: [now[k], now[l]],
                        rest_length: (to - from).length(),
                    });
                }
            }
        }
        found
    }

    /// Returns the corners of a triangle in the plane, at the rest lengths of its sides.
    fn flattened(
        &self,
        corners: [u32; 3],
        lengths: &HashMap<Pair, DistanceConstraint>,
    ) -> [Vec2; 3] {
        let rest: [Vec3; 3] = corners.map(|i| self.edit.target.rest[i as usize]);
        let side = |k: usize, l: usize| (rest[l] - rest[k]).length();
        let known = |k: usize, l: usize| {
            let constraint = lengths.get(&sorted(corners[k], corners[l]));
            constraint.map(|constraint| constraint.rest_length)
        };
        // A side without a constraint takes its length in the rest shape, at the mean scale of the other sides.
        let pairs = [(0, 1), (1, 2), (2, 0)];
        let scales = pairs
            .iter()
            .filter_map(|&(k, l)| known(k, l).map(|length| length / side(k, l)));
        let (sum, count) = scales.fold((0.0, 0), |(sum, count), s| (sum + s, count + 1));
        let scale = if count > 0 { sum / count as f32 } else { 1.0 };
        let [ab, bc, ca] = pairs.map(|(k, l)| known(k, l).unwrap_or(side(k, l) * scale));
        // Law of cosines; three lengths that violate the triangle inequality give a degenerate triangle.
        let x = if ab > 0.0 {
            (ab * ab + ca * ca - bc * bc) / (2.0 * ab)
        } else {
            0.0
        };
        let y = (ca * ca - x * x).max(0.0).sqrt();
        [Vec2::ZERO, Vec2::new(ab, 0.0), Vec2::new(x, y)]
    }
}
