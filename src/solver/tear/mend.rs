//! What becomes of the constraints when the cloth has been opened.
//!
//! A constraint along an edge stays with the edge: if that has become two, one on each side of a cut,
//! so has the constraint; if it was divided, so is the constraint, with its share of the rest length.
//! A constraint that bridges something, the other diagonal of a quad or a bend, only stays while what it
//! bridges is whole. So nothing is held by a thread that nobody sees.

use super::surgery::Surgery;
use crate::solver::{
    ConstraintKind,
    bend::{Bend, Hinge},
    constraints::DistanceConstraint,
    edit::Edit,
};
use bevy::{
    math::{Vec2, Vec3},
    platform::collections::{HashMap, HashSet},
};

type Pair = [u32; 2];

fn sorted(a: u32, b: u32) -> Pair {
    [a.min(b), a.max(b)]
}

/// The neighbourhood of an operation, as it was and as it is. Sorted lists, searched by halving: they
/// are built once and asked a few times for each constraint.
struct Near<'a, 'b> {
    surgery: &'a Surgery<'b>,
    /// The old edges, each with one of its old triangles.
    edges: Vec<(Pair, u32)>,
    /// The edges that are there now.
    edges_now: Vec<Pair>,
    /// Old particles, each with one of its copies; itself included.
    copies: Vec<(u32, u32)>,
}

/// How near an old particle is to the operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// Nothing that begins here reaches over a touched particle.
    Far,
    /// Two edges away: what begins at a touched particle may end here.
    Second,
    /// At the other end of an edge: what reaches over a touched particle ends here.
    First,
    /// Something around it has changed.
    Touched,
}

/// Brings the constraints around an operation up to date.
pub(super) fn constraints(surgery: &mut Surgery) {
    let is_old = |i: &u32| (*i as usize) < surgery.old_particles;
    let touched: Vec<u32> = surgery.touched.iter().copied().filter(is_old).collect();
    if touched.is_empty() {
        return;
    }
    let first = with_neighbours(surgery, &touched);
    let second = with_neighbours(surgery, &first);
    let mut nearness = vec![Nearness::Far; surgery.sheet.particles.len()];
    for (particles, degree) in [
        (&second, Nearness::Second),
        (&first, Nearness::First),
        (&touched, Nearness::Touched),
    ] {
        particles
            .iter()
            .for_each(|&i| nearness[i as usize] = degree);
    }
    let known = surgery.sheet.constraints.filtered(|[a, b]| {
        let [a, b] = [a, b].map(|i| nearness[i as usize]);
        let (less, more) = (a.min(b), a.max(b));
        less >= Nearness::First || (less == Nearness::Second && more == Nearness::Touched)
    });

    let near = Near::new(surgery, &second);
    let lengths: HashMap<Pair, DistanceConstraint> = if surgery.divided.is_empty() {
        HashMap::default()
    } else {
        let pair = |c: &DistanceConstraint| sorted(c.particles[0], c.particles[1]);
        known.iter().map(|(_, c)| (pair(c), *c)).collect()
    };
    let mut edit = Edit::default();
    let mut present: HashSet<Pair> = HashSet::default();
    for (slot, constraint) in &known {
        let pair = constraint.particles;
        if let Some(hinge) = surgery.sheet.constraints.hinge(*slot) {
            let now = near.bends(&hinge);
            if now.len() != 1 || now[0].at != hinge.at {
                edit.removed.push(*slot);
                edit.hinges.extend(now);
            }
            continue;
        }
        let [a, b] = pair;
        let is_edge = !near.triangles_at(a, b).is_empty();
        // Along an edge that was not touched nothing changes.
        let is_touched = |i: u32| nearness[i as usize] == Nearness::Touched;
        if is_edge && !is_touched(a) && !is_touched(b) {
            continue;
        }
        let now: Vec<(Pair, f32)> = if is_edge {
            near.along_edge(pair)
        } else {
            let whole = near.bridging(pair).into_iter();
            whole.map(|pair| (pair, 1.0)).collect()
        };
        let mut now = now
            .into_iter()
            .filter(|([a, b], _)| present.insert(sorted(*a, *b)));
        // The first one takes the place of the old one, if it has its length.
        let mut rest = None;
        match now.next() {
            Some((kept, 1.0)) if kept == pair => {}
            Some((kept, 1.0)) => edit.moved.push((*slot, kept)),
            other => {
                edit.removed.push(*slot);
                rest = other;
            }
        }
        for (particles, share) in rest.into_iter().chain(now) {
            edit.added.push(DistanceConstraint {
                particles,
                rest_length: constraint.rest_length * share,
                ..*constraint
            });
        }
    }
    for constraint in near.inside_triangles(&lengths) {
        let [a, b] = constraint.particles;
        if present.insert(sorted(a, b)) {
            edit.added.push(constraint);
        }
    }
    let count = surgery.sheet.particles.len();
    surgery.sheet.constraints.apply(edit, count);
}

/// Old particles and all that share a triangle with them, sorted.
fn with_neighbours(surgery: &Surgery, particles: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = particles
        .iter()
        .flat_map(|&i| surgery.adjacency.near(i))
        .filter(|&t| (t as usize) < surgery.old_triangles)
        .flat_map(|t| surgery.old_corners(t))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl<'a, 'b> Near<'a, 'b> {
    fn new(surgery: &'a Surgery<'b>, region: &[u32]) -> Self {
        let mut triangles: Vec<u32> = region
            .iter()
            .flat_map(|&i| surgery.adjacency.near(i))
            .filter(|&t| (t as usize) < surgery.old_triangles)
            .collect();
        triangles.sort_unstable();
        triangles.dedup();
        let mut near = Self {
            surgery,
            edges: Vec::with_capacity(triangles.len() * 3),
            edges_now: Vec::with_capacity(triangles.len() * 3),
            copies: region.iter().map(|&i| (i, i)).collect(),
        };
        for &triangle in &triangles {
            let [a, b, c] = surgery.old_corners(triangle);
            for (a, b) in [(a, b), (b, c), (c, a)] {
                near.edges.push((sorted(a, b), triangle));
            }
            for (part, _) in surgery.parts(triangle) {
                let [a, b, c] = surgery.corners(part);
                near.edges_now
                    .extend([sorted(a, b), sorted(b, c), sorted(c, a)]);
            }
        }
        for (k, fresh) in surgery.fresh.iter().enumerate() {
            let particle = (surgery.old_particles + k) as u32;
            if fresh.parents[0] == fresh.parents[1] {
                near.copies.push((surgery.original(particle), particle));
            }
        }
        near.edges.sort_unstable();
        near.edges_now.sort_unstable();
        near.edges_now.dedup();
        near.copies.sort_unstable();
        near
    }

    /// The old triangles at an old edge.
    fn triangles_at(&self, a: u32, b: u32) -> &[(Pair, u32)] {
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

    /// An old particle and all of its copies.
    fn copies(&self, of: u32) -> impl Iterator<Item = u32> + Clone {
        let from = self.copies.partition_point(|(old, _)| *old < of);
        let copies = self.copies[from..].iter();
        copies
            .take_while(move |(old, _)| *old == of)
            .map(|(_, copy)| *copy)
    }

    /// What an old edge has become: pairs in the order of the old pair, and their share of its length.
    fn along_edge(&self, pair: Pair) -> Vec<(Pair, f32)> {
        let mut found = Vec::with_capacity(2);
        for &(_, triangle) in self.triangles_at(pair[0], pair[1]) {
            let old = self.surgery.old_corners(triangle);
            let side = pair.map(|i| old.iter().position(|&c| c == i).unwrap_or(0) as u8);
            for (part, places) in self.surgery.parts(triangle) {
                let now = self.surgery.corners(part);
                let along = places.map(|place| place.along(side));
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

    /// Where a bend goes: to each side on which the thread or the edge is still whole. What was one thread
    /// and is two has half of its width on each side.
    fn bends(&self, hinge: &Hinge) -> Vec<Hinge> {
        let Bend {
            ends: [a, b],
            over: [m, n],
        } = hinge.at;
        let now: Vec<Bend> = if hinge.at.is_along() {
            let [before, after] = [a, b].map(|end| !self.triangles_at(end, m).is_empty());
            if !(before && after) {
                // Somebody else's constraint: it holds what it held.
                return vec![*hinge];
            }
            self.along(a, m, b)
        } else {
            let mut bridges = self.edges_between(a, b).peekable();
            if bridges.peek().is_none() {
                return vec![*hinge];
            }
            let over = |(one, other)| {
                let [(a, edge), (b, same)] = self.across(a, one, other, b)?;
                let own = |i: u32| {
                    edge.into_iter()
                        .find(|&copy| self.surgery.original(copy) == i)
                };
                let edge = [own(m)?, own(n)?];
                (sorted(edge[0], edge[1]) == same).then(|| Bend::across(edge, [a, b]))
            };
            bridges.filter_map(over).collect()
        };
        let parts = if hinge.at.is_along() { now.len() } else { 1 };
        let give = hinge.give * parts as f32;
        let split = |at| Hinge { at, give, ..*hinge };
        now.into_iter().map(split).collect()
    }

    /// Where a diagonal goes: to each side on which what it bridges is still whole.
    fn bridging(&self, [a, b]: Pair) -> Vec<Pair> {
        let mut bridges = self.edges_between(a, b).peekable();
        if bridges.peek().is_none() {
            // Somebody else's constraint: it holds what it held.
            return vec![[a, b]];
        }
        bridges
            .filter_map(|(one, other)| {
                let [(a, edge), (b, same)] = self.across(a, one, other, b)?;
                (edge == same).then_some([a, b])
            })
            .collect()
    }

    /// The copies of `a` and `b` that still hang together over a copy of `middle`.
    fn along(&self, a: u32, middle: u32, b: u32) -> Vec<Bend> {
        self.copies(middle)
            .filter_map(|middle| {
                let a = self.copies(a).find(|&a| self.is_edge_now(a, middle))?;
                let b = self.copies(b).find(|&b| self.is_edge_now(middle, b))?;
                Some(Bend::along([a, middle, b]))
            })
            .collect()
    }

    /// Pairs of old triangles with a common edge, the first with its tip at `a`, the other at `b`.
    fn edges_between(&self, a: u32, b: u32) -> impl Iterator<Item = (u32, u32)> {
        let of_a = self.surgery.adjacency.near(a);
        let corners = |t: u32| self.surgery.old_corners(t);
        of_a.filter(|&t| (t as usize) < self.surgery.old_triangles)
            .filter(move |&t| corners(t).contains(&a))
            .flat_map(move |one| {
                let edge: Vec<u32> = corners(one).into_iter().filter(|&i| i != a).collect();
                let across = self.triangles_at(edge[0], edge[1]).iter();
                across
                    .map(|(_, triangle)| *triangle)
                    .filter(move |&other| other != one && corners(other).contains(&b))
                    .map(move |other| (one, other))
            })
    }

    /// The tips of two triangles that had an edge in common, each with what is now that edge; `None` if one
    /// of them was divided.
    fn across(&self, a: u32, one: u32, other: u32, b: u32) -> Option<[(u32, Pair); 2]> {
        let divided = &self.surgery.divided;
        if divided.contains_key(&one) || divided.contains_key(&other) {
            return None;
        }
        let tip_and_edge = |triangle: u32, tip: u32| {
            let old = self.surgery.old_corners(triangle);
            let mut now = self.surgery.corners(triangle);
            now.rotate_left(old.iter().position(|&i| i == tip).unwrap_or(0));
            (now[0], sorted(now[1], now[2]))
        };
        Some([tip_and_edge(one, a), tip_and_edge(other, b)])
    }

    /// Threads for the edges that divided triangles have inside. Their rest lengths follow from the
    /// rest lengths of the triangle's sides.
    fn inside_triangles(
        &self,
        lengths: &HashMap<Pair, DistanceConstraint>,
    ) -> Vec<DistanceConstraint> {
        let mut found = Vec::new();
        for (&triangle, parts) in &self.surgery.divided {
            let flat = self.flattened(self.surgery.old_corners(triangle), lengths);
            for (part, places) in parts {
                let now = self.surgery.corners(*part);
                for (k, l) in [(0, 1), (1, 2), (2, 0)] {
                    let on_a_side = [[0, 1], [1, 2], [2, 0]].iter().any(|&side| {
                        places[k].along(side).is_some() && places[l].along(side).is_some()
                    });
                    if on_a_side {
                        continue;
                    }
                    let [from, to] = [k, l].map(|c| {
                        let weights = places[c].weights();
                        (0..3).map(|i| flat[i] * weights[i]).sum::<Vec2>()
                    });
                    found.push(DistanceConstraint {
                        kind: ConstraintKind::Structural,
                        particles: [now[k], now[l]],
                        rest_length: (to - from).length(),
                        over: None,
                    });
                }
            }
        }
        found
    }

    /// The corners of a triangle in the plane, at the rest lengths of its sides.
    fn flattened(
        &self,
        corners: [u32; 3],
        lengths: &HashMap<Pair, DistanceConstraint>,
    ) -> [Vec2; 3] {
        let rest: [Vec3; 3] = corners.map(|i| self.surgery.sheet.rest[i as usize]);
        let side = |k: usize, l: usize| (rest[l] - rest[k]).length();
        let known = |k: usize, l: usize| {
            let constraint = lengths.get(&sorted(corners[k], corners[l]));
            constraint.map(|constraint| constraint.rest_length)
        };
        // A side that nothing holds has its length in the rest shape, at the scale of the others.
        let pairs = [(0, 1), (1, 2), (2, 0)];
        let scales = pairs
            .iter()
            .filter_map(|&(k, l)| known(k, l).map(|length| length / side(k, l)));
        let (sum, count) = scales.fold((0.0, 0), |(sum, count), s| (sum + s, count + 1));
        let scale = if count > 0 { sum / count as f32 } else { 1.0 };
        let [ab, bc, ca] = pairs.map(|(k, l)| known(k, l).unwrap_or(side(k, l) * scale));
        // The law of cosines; three lengths that make no triangle make a line.
        let x = if ab > 0.0 {
            (ab * ab + ca * ca - bc * bc) / (2.0 * ab)
        } else {
            0.0
        };
        let y = (ca * ca - x * x).max(0.0).sqrt();
        [Vec2::ZERO, Vec2::new(ab, 0.0), Vec2::new(x, y)]
    }
}
