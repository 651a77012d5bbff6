//! Bounding volume hierarchy of triangles, which can be refitted when they have moved.
//!
//! The nodes are stored depth first, so that a query walks forward through them and a refit walks back.

use bevy::math::{Vec3, Vec3A};
use std::ops::Range;

/// Largest number of triangles in a leaf.
const LEAF: usize = 8;
const _: () = assert!(3 * LEAF <= u8::MAX as usize);

/// Depth that no tree reaches: each level halves the number of triangles, of which there are fewer than 2³².
const MAX_DEPTH: usize = 33;

/// Corners of a box.
pub(super) type TriangleBox = [Vec3A; 2];

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: TriangleBox,
    /// Index of the first node behind this one and its descendants.
    next: u32,
    /// Index of the first triangle of a leaf in [`TriangleTree::order`].
    first: u32,
    /// Upper bound on the movement of the points of a leaf during the step, m.
    movement: f32,
    /// Number of triangles of a leaf; 0 for an inner node.
    count: u8,
    /// Number of points of a leaf in [`TriangleTree::points`].
    points: u8,
}

/// Triangles of a leaf.
pub(super) struct Leaf<'a> {
    pub(super) bounds: &'a TriangleBox,
    pub(super) triangles: &'a [u32],
    /// Upper bound on the movement of their points during the step, m.
    pub(super) movement: f32,
}

impl Node {
    /// Returns the range of the triangles of a leaf in [`TriangleTree::order`]; empty for an inner node.
    fn triangles(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + usize::from(self.count)
    }
}

/// Bounding volume hierarchy of triangles.
#[derive(Clone, Debug, Default)]
pub(super) struct TriangleTree {
    nodes: Vec<Node>,
    /// Triangles, leaf by leaf.
    order: Vec<u32>,
    /// Corners of the triangles, leaf by leaf, each once per leaf; empty for a rigid surface.
    points: Vec<u32>,
}

impl TriangleTree {
    /// Creates a tree of triangles with these boxes, split at the medians of the longest axis.
    pub(super) fn new(mut triangles: Vec<(u32, TriangleBox)>) -> Self {
        let mut tree = Self {
            nodes: Vec::with_capacity(triangles.len()),
            order: Vec::with_capacity(triangles.len()),
            points: Vec::new(),
        };
        if !triangles.is_empty() {
            tree.add(&mut triangles);
        }
        tree
    }

    /// Adds a subtree of these triangles.
    fn add(&mut self, triangles: &mut [(u32, TriangleBox)]) {
        let index = self.nodes.len();
        let is_leaf = triangles.len() <= LEAF;
        self.nodes.push(Node {
            bounds: union(triangles.iter().map(|(_, bounds)| *bounds)),
            next: 0,
            first: self.order.len() as u32,
            movement: 0.0,
            count: if is_leaf { triangles.len() as u8 } else { 0 },
            points: 0,
        });
        if is_leaf {
            self.order
                .extend(triangles.iter().map(|(triangle, _)| triangle));
        } else {
            let centre = |[low, high]: &TriangleBox| *low + *high;
            let [low, high] = union(triangles.iter().map(|(_, bounds)| [centre(bounds); 2]));
            let size = high - low;
            let axis = (0..3)
                .max_by(|&a, &b| size[a].total_cmp(&size[b]))
                .unwrap_or(0);
            let middle = triangles.len() / 2;
            triangles.select_nth_unstable_by(middle, |(i, a), (j, b)| {
                let along = centre(a)[axis].total_cmp(&centre(b)[axis]);
                along.then(i.cmp(j))
            });
            let (lower, upper) = triangles.split_at_mut(middle);
            self.add(lower);
            self.add(upper);
        }
        self.nodes[index].next = self.nodes.len() as u32;
    }

    /// Prepares the tree for [`refit`](Self::refit), given the corners of all triangles.
    pub(super) fn collect_points(&mut self, corners: &[[u32; 3]]) {
        self.points.clear();
        let mut own = Vec::with_capacity(3 * LEAF);
        for node in self.nodes.iter_mut().filter(|node| node.count > 0) {
            let triangles = &self.order[node.triangles()];
            own.clear();
            own.extend(triangles.iter().flat_map(|&i| corners[i as usize]));
            own.sort_unstable();
            own.dedup();
            node.points = own.len() as u8;
            self.points.extend_from_slice(&own);
        }
    }

    /// Updates all boxes after points have moved, given the box around the path of each point.
    pub(super) fn refit(&mut self, boxes: &[TriangleBox]) {
        let mut end = self.points.len();
        for index in (0..self.nodes.len()).rev() {
            let node = &self.nodes[index];
            if node.count == 0 {
                let lower = &self.nodes[index + 1];
                let upper = &self.nodes[lower.next as usize];
                self.nodes[index].bounds = union([lower.bounds, upper.bounds].into_iter());
                continue;
            }
            let start = end - usize::from(node.points);
            let own = self.points[start..end].iter().map(|&i| boxes[i as usize]);
            end = start;
            let sizes = own.clone().map(|[low, high]| high - low);
            let node = &mut self.nodes[index];
            node.movement = sizes.fold(Vec3A::ZERO, Vec3A::max).length();
            node.bounds = union(own);
        }
    }

    /// Returns the box around all triangles.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        let empty = [Vec3A::INFINITY, Vec3A::NEG_INFINITY];
        let root = self.nodes.first();
        root.map_or(empty, |root| root.bounds).map(Vec3::from)
    }

    /// Calls `visit` with each leaf that overlaps a box.
    pub(super) fn visit_leaves(&self, wanted: &TriangleBox, mut visit: impl FnMut(Leaf)) {
        let mut index = 0;
        while let Some(node) = self.nodes.get(index) {
            if !overlap(&node.bounds, wanted) {
                index = node.next as usize;
                continue;
            }
            if node.count > 0 {
                visit(Leaf {
                    bounds: &node.bounds,
                    triangles: &self.order[node.triangles()],
                    movement: node.movement,
                });
            }
            index += 1;
        }
    }

    /// Calls `visit` with triangles near a point, nearer ones first as far as their boxes tell. It returns the square
    /// of the distance beyond which triangles do not matter any more.
    pub(super) fn visit_near(&self, to: Vec3, mut visit: impl FnMut(u32) -> f32) {
        let to = Vec3A::from(to);
        let square = |node: &Node| distance_squared(&node.bounds, to);
        let mut limit = f32::INFINITY;
        let mut stack = [(0, 0.0); MAX_DEPTH + 1];
        let mut count = usize::from(!self.nodes.is_empty());
        while count > 0 {
            count -= 1;
            let (index, distance) = stack[count];
            if distance > limit {
                continue;
            }
            let node = &self.nodes[index];
            if node.count > 0 {
                for &triangle in &self.order[node.triangles()] {
                    limit = visit(triangle);
                }
                continue;
            }
            let lower = index + 1;
            let upper = self.nodes[lower].next as usize;
            let both = [lower, upper].map(|child| (child, square(&self.nodes[child])));
            let [near, far] = match both[0].1 <= both[1].1 {
                true => both,
                false => [both[1], both[0]],
            };
            stack[count] = far;
            stack[count + 1] = near;
            count += 2;
        }
    }
}

/// Returns the box around boxes.
#[inline(always)]
pub(super) fn union(boxes: impl Iterator<Item = TriangleBox>) -> TriangleBox {
    let mut all = [Vec3A::INFINITY, Vec3A::NEG_INFINITY];
    for [low, high] in boxes {
        all = [all[0].min(low), all[1].max(high)];
    }
    all
}

/// Returns the squared distance of a point from a box, m²; 0 inside.
#[inline(always)]
pub(super) fn distance_squared([low, high]: &TriangleBox, to: Vec3A) -> f32 {
    let beside = (*low - to).max(to - *high).max(Vec3A::ZERO);
    beside.length_squared()
}

/// Returns whether two boxes overlap.
#[inline(always)]
pub(super) fn overlap([low, high]: &TriangleBox, [from, to]: &TriangleBox) -> bool {
    (low.cmple(*to) & high.cmpge(*from)).all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point as point;

    /// Returns boxes of up to 0.2 m at random places.
    fn boxes(seed: usize) -> Vec<(u32, TriangleBox)> {
        let box_at = |i: usize| {
            let low = Vec3A::from(point(i, seed) * 3.0);
            [low, low + Vec3A::from(point(i, seed + 3).abs() * 0.2)]
        };
        (0..301).map(|i| (i as u32, box_at(i))).collect()
    }

    #[test]
    fn a_refitted_tree_finds_triangles_where_they_are_now() {
        let mut tree = TriangleTree::new(boxes(1));
        // Each triangle has two points of its own.
        tree.collect_points(&std::array::from_fn::<_, 301, _>(|i| {
            [2 * i as u32, 2 * i as u32 + 1, 2 * i as u32]
        }));
        let moved = boxes(20);
        let points: Vec<_> = moved
            .iter()
            .flat_map(|(_, [low, high])| [[*low; 2], [*high; 2]])
            .collect();
        tree.refit(&points);
        for i in 0..50 {
            let at = Vec3A::from(point(i, 40) * 3.0);
            let wanted = [at - 0.4, at + 0.4];
            let mut found = Vec::new();
            tree.visit_leaves(&wanted, |leaf| found.extend_from_slice(leaf.triangles));
            let near = |triangle: &u32| overlap(&moved[*triangle as usize].1, &wanted);
            found.retain(near);
            found.sort_unstable();
            assert_eq!(found, (0..301).filter(near).collect::<Vec<_>>());
        }
    }

    #[test]
    fn leaves_know_how_far_their_points_move() {
        let mut tree = TriangleTree::new(boxes(1));
        tree.collect_points(&std::array::from_fn::<_, 301, _>(|i| [i as u32; 3]));
        let paths: Vec<TriangleBox> = boxes(20).into_iter().map(|(_, path)| path).collect();
        tree.refit(&paths);
        tree.visit_leaves(&[Vec3A::splat(-10.0), Vec3A::splat(10.0)], |leaf| {
            let ways = leaf.triangles.iter().map(|&i| {
                let [low, high] = paths[i as usize];
                (high - low).length()
            });
            let farthest = ways.fold(0.0, f32::max);
            let bound = farthest * 3.0_f32.sqrt();
            assert!((farthest..=bound).contains(&leaf.movement));
        });
    }

    #[test]
    fn an_empty_tree_has_nothing_near() {
        let tree = TriangleTree::new(Vec::new());
        tree.visit_near(Vec3::ZERO, |_| panic!("there is no triangle"));
        tree.visit_leaves(&[Vec3A::ZERO; 2], |_| panic!("there is no leaf"));
        assert_eq!(tree.bounds(), [Vec3::INFINITY, Vec3::NEG_INFINITY]);
    }
}
