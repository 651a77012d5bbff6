//! Triangles that cloth bumps into, in their own frame: a closed surface around a solid, or an open one
//! with two sides.
//!
//! On which side of a closed surface a point is follows from the nearest point of the surface and the
//! pseudo-normal there: that of a triangle inside, the sum of two at an edge, the sum of all weighted by
//! their angles at a corner (Bærentzen and Aanæs, "Signed distance computation using the angle weighted
//! pseudonormal", 2005).
//!
//! Triangles near a box or a point are found by parry's tree of boxes. What it finds does not depend on
//! how the tree was built: its leaves are compared one by one.

use super::triangle::{self, Feature};
use crate::solver::shape::Shape;
use bevy::{math::Vec3, platform::collections::HashMap};
use parry3d::{
    bounding_volume::Aabb,
    partitioning::{Bvh, BvhBuildStrategy, BvhNode},
    transformation::try_convex_hull,
};
use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// A hull that encloses less than this share of the cube around it is flat.
const FLAT: f32 = 1e-6;

/// Why points, triangles or heights make no surface. The text says what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub enum SurfaceError {
    /// There is no triangle that has an area.
    NoTriangles,
    /// A triangle names a point that does not exist.
    OutOfRange {
        /// The index that it names.
        index: u32,
    },
    /// A point is NaN or infinite.
    NonFinite {
        /// Its index.
        index: usize,
    },
    /// A convex hull of points that lie in a plane.
    Flat,
    /// parry could not find the convex hull.
    NoHull(String),
    /// Heights that make no rectangle of at least 2 × 2, or one of no size.
    BadGrid {
        /// How many heights there are.
        heights: usize,
        /// How many of them a row is to have.
        columns: u32,
    },
}

impl fmt::Display for SurfaceError {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::NoTriangles => write!(
                f,
                "there is no triangle with an area; give it some, or look at its scale"
            ),
            Self::OutOfRange { index } => write!(
                f,
                "a triangle names vertex {index}, which does not exist; repair its indices"
            ),
            Self::NonFinite { index } => write!(
                f,
                "the position of vertex {index} is not a finite number; repair it"
            ),
            Self::Flat => write!(
                f,
                "all points lie in a plane, so their hull holds nothing; take its triangles \
                 instead, or a box"
            ),
            Self::NoHull(reason) => {
                write!(
                    f,
                    "its convex hull cannot be found ({reason}); remove points that \
                           are all but the same, or take its triangles instead"
                )
            }
            Self::BadGrid { heights, columns } => write!(
                f,
                "{heights} heights in rows of {columns} make no field; it needs two full rows and \
                 two columns at least, and lengths that are finite and above 0"
            ),
        }
    }
}

impl std::error::Error for SurfaceError {}

/// Triangles that cloth bumps into, in their own frame. If they are closed, it is kept outside, else on the
/// side where it is.
pub struct TriangleSurface {
    /// Tells it from all others.
    pub(super) id: u64,
    pub(super) points: Vec<Vec3>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Their unit normals, outwards; 0 without an area.
    normals: Vec<Vec3>,
    /// Pseudo-normals of edges, the first from the first to the second corner, and of points; none if it
    /// is open.
    edge_normals: Vec<[Vec3; 3]>,
    point_normals: Vec<Vec3>,
    bounds: [Vec3; 2],
    hollow: bool,
    tree: Bvh,
}

impl fmt::Debug for TriangleSurface {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("TriangleSurface")
            .field("points", &self.points.len())
            .field("triangles", &self.triangles.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// The point of a surface that is nearest to another one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) triangle: u32,
    pub(super) feature: Feature,
    pub(super) at: Vec3,
    pub(super) square: f32,
}

impl TriangleSurface {
    /// A surface of triangles between points, which should be joined where they are at the same place: if
    /// each edge has a triangle on both sides, it is closed and solid inside. Which way the triangles of a
    /// closed surface face does not matter, as long as all face the same way.
    pub fn new(points: Vec<Vec3>, mut triangles: Vec<[u32; 3]>) -> Result<Self, SurfaceError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let corners = triangles.as_flattened();
        if let Some(&index) = corners.iter().find(|&&i| i as usize >= points.len()) {
            return Err(SurfaceError::OutOfRange { index });
        }
        if let Some(&index) = corners.iter().find(|&&i| !points[i as usize].is_finite()) {
            let index = index as usize;
            return Err(SurfaceError::NonFinite { index });
        }
        // Those between fewer than three points are none.
        triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        let closed = is_closed(&triangles);
        if closed && volume(&points, &triangles) < 0.0 {
            for corners in &mut triangles {
                corners.swap(1, 2);
            }
        }
        let mut this = Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            normals: Vec::with_capacity(triangles.len()),
            edge_normals: Vec::new(),
            point_normals: Vec::new(),
            bounds: [Vec3::INFINITY, Vec3::NEG_INFINITY],
            hollow: false,
            tree: Bvh::new(),
            points,
            triangles,
        };
        for triangle in 0..this.triangles.len() as u32 {
            let [a, b, c] = this.corners(triangle);
            let across = (b - a).cross(c - a);
            let length = across.length();
            let sound = length > 0.0 && length.is_finite();
            this.normals
                .push(if sound { across / length } else { Vec3::ZERO });
        }
        if this.normals.iter().all(|&normal| normal == Vec3::ZERO) {
            return Err(SurfaceError::NoTriangles);
        }
        if closed {
            this.find_pseudo_normals();
        }
        // Those without an area are met by their neighbours.
        let leaves = (0..this.triangles.len() as u32)
            .filter(|&triangle| this.normals[triangle as usize] != Vec3::ZERO)
            .map(|triangle| {
                let [a, b, c] = this.corners(triangle);
                let (low, high) = (a.min(b).min(c), a.max(b).max(c));
                (triangle as usize, Aabb::new(low, high))
            });
        let leaves: Vec<_> = leaves.collect();
        for (_, leaf) in &leaves {
            this.bounds = [this.bounds[0].min(leaf.mins), this.bounds[1].max(leaf.maxs)];
        }
        this.tree = Bvh::from_iter(BvhBuildStrategy::Binned, leaves);
        Ok(this)
    }

    /// The convex hull of points.
    pub fn convex_hull(points: &[Vec3]) -> Result<Self, SurfaceError> {
        if let Some(index) = points.iter().position(|point| !point.is_finite()) {
            return Err(SurfaceError::NonFinite { index });
        }
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let size = (high - low).max_element();
        // parry may go on without end, or panic, where points are too few or all the same.
        if points.len() < 4 || !(size > 0.0 && size.is_finite()) {
            return Err(SurfaceError::Flat);
        }
        let (points, triangles) =
            try_convex_hull(points).map_err(|reason| SurfaceError::NoHull(reason.to_string()))?;
        if volume(&points, &triangles).abs() < FLAT * size * size * size {
            return Err(SurfaceError::Flat);
        }
        let hull = Self::new(points, triangles)?;
        if hull.is_closed() {
            Ok(hull)
        } else {
            Err(SurfaceError::NoHull("it is open".into()))
        }
    }

    /// The same surface with cloth kept inside, if it is closed.
    pub fn hollow(mut self) -> Self {
        if self.is_closed() {
            self.hollow = !self.hollow;
            for corners in &mut self.triangles {
                corners.swap(1, 2);
            }
            for [first, _, last] in &mut self.edge_normals {
                std::mem::swap(first, last);
            }
            let edges = self.edge_normals.as_flattened_mut().iter_mut();
            let all = self.normals.iter_mut().chain(edges);
            for normal in all.chain(&mut self.point_normals) {
                *normal = -*normal;
            }
        }
        self
    }

    /// Whether it is the surface of a solid.
    pub fn is_closed(&self) -> bool {
        !self.edge_normals.is_empty()
    }

    /// Whether cloth is kept inside.
    pub(super) fn is_hollow(&self) -> bool {
        self.hollow
    }

    /// How many triangles it has.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether it has none, which none has that can be made.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// The ends of all its edges, each once if it is closed, in its own frame.
    pub fn edges(&self) -> impl Iterator<Item = [Vec3; 2]> + '_ {
        let closed = self.is_closed();
        let ends = self
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let once = ends.filter(move |&[from, to]| !closed || from < to);
        once.map(|ends| ends.map(|i| self.points[i as usize]))
    }

    /// The corners of the box around it.
    pub(super) fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    /// A box around its origin that it is in.
    pub(super) fn around(&self) -> Shape {
        let half_size = self.bounds[0].abs().max(self.bounds[1].abs());
        Shape::Cuboid { half_size }
    }

    #[inline]
    pub(super) fn corners(&self, triangle: u32) -> [Vec3; 3] {
        self.triangles[triangle as usize].map(|i| self.points[i as usize])
    }

    #[inline]
    pub(super) fn normal(&self, triangle: u32) -> Vec3 {
        self.normals[triangle as usize]
    }

    /// Adds the triangles that reach into a box, in their order.
    pub(super) fn find(&self, [low, high]: [Vec3; 2], found: &mut Vec<u32>) {
        let first = found.len();
        found.extend(self.tree.leaves(|node| meets(node, low, high)));
        found[first..].sort_unstable();
    }

    /// The point of one of its triangles that is nearest.
    #[inline]
    pub(super) fn nearest_of(&self, triangle: u32, to: Vec3) -> Nearest {
        let (at, feature) = triangle::nearest(self.corners(triangle), to);
        Nearest {
            triangle,
            feature,
            at,
            square: (to - at).length_squared(),
        }
    }

    /// The point of all its triangles that is nearest.
    pub(super) fn nearest(&self, to: Vec3) -> Option<Nearest> {
        let apart = |node: &BvhNode, _: f32| {
            let beside = (node.mins() - to).max(to - node.maxs()).max(Vec3::ZERO);
            beside.length_squared()
        };
        let square = |triangle, _| Some(self.nearest_of(triangle, to).square);
        let (_, square) = self.tree.find_best(f32::MAX, apart, square)?;
        // The tree has no order, so that of those which are as near the first one counts.
        let reach = square.sqrt();
        let reach = reach + 16.0 * f32::EPSILON * (reach + to.abs().max_element());
        let mut best: Option<Nearest> = None;
        for triangle in self.tree.leaves(|node| meets(node, to - reach, to + reach)) {
            let other = self.nearest_of(triangle, to);
            let better = best
                .is_none_or(|best| (other.square, other.triangle) < (best.square, best.triangle));
            if better {
                best = Some(other);
            }
        }
        best
    }

    /// The pseudo-normal at a point of a closed surface; of an open one the normal of the triangle.
    #[inline]
    pub(super) fn pseudo_normal(&self, near: &Nearest) -> Vec3 {
        let triangle = near.triangle as usize;
        match near.feature {
            _ if self.edge_normals.is_empty() => self.normals[triangle],
            Feature::Face => self.normals[triangle],
            Feature::Edge(k) => self.edge_normals[triangle][k],
            Feature::Corner(k) => self.point_normals[self.triangles[triangle][k] as usize],
        }
    }

    /// The distance from a closed surface, negative inside, and the direction away from it.
    #[inline]
    pub(super) fn signed(&self, near: &Nearest, point: Vec3) -> (f32, Vec3) {
        let away = point - near.at;
        let distance = near.square.sqrt();
        let pseudo = self.pseudo_normal(near);
        if distance > 0.0 {
            let side = if pseudo.dot(away) < 0.0 { -1.0 } else { 1.0 };
            (distance * side, away * (side / distance))
        } else {
            (0.0, self.normals[near.triangle as usize])
        }
    }

    /// The signed distance of a point from a closed surface, m.
    pub fn distance(&self, point: Vec3) -> f32 {
        let near = self.nearest(point);
        near.map_or(f32::INFINITY, |near| self.signed(&near, point).0)
    }

    fn find_pseudo_normals(&mut self) {
        self.point_normals = vec![Vec3::ZERO; self.points.len()];
        // In the order of triangles, so that sums are always the same.
        for (triangle, &indices) in self.triangles.iter().enumerate() {
            let corners = self.corners(triangle as u32);
            for k in 0..3 {
                let along = corners[(k + 1) % 3] - corners[k];
                let back = corners[(k + 2) % 3] - corners[k];
                let lengths = (along.length_squared() * back.length_squared()).sqrt();
                if lengths > 0.0 {
                    let angle = angle(along.dot(back) / lengths);
                    self.point_normals[indices[k] as usize] += self.normals[triangle] * angle;
                }
            }
        }
        // Of each two triangles the normals are added in the same order on both sides.
        let mut sums: HashMap<[u32; 2], Vec3> = HashMap::default();
        let edges = |corners: [u32; 3]| {
            [0, 1, 2].map(|k| {
                let (from, to) = (corners[k], corners[(k + 1) % 3]);
                [from.min(to), from.max(to)]
            })
        };
        for (corners, normal) in self.triangles.iter().zip(&self.normals) {
            for edge in edges(*corners) {
                *sums.entry(edge).or_default() += *normal;
            }
        }
        let of = |edge: [u32; 2]| sums.get(&edge).copied().unwrap_or_default();
        self.edge_normals = self.triangles.iter().map(|&c| edges(c).map(of)).collect();
    }
}

/// The angle of a cosine, to 7·10⁻⁵ (Abramowitz and Stegun, 4.4.45). With + − × ÷ √ alone, so that
/// pseudo-normals have the same bits everywhere.
pub(super) fn angle(cosine: f32) -> f32 {
    let x = cosine.abs().min(1.0);
    let series = 1.570_728_8 + x * (-0.212_114_4 + x * (0.074_261 - x * 0.018_729_3));
    let angle = (1.0 - x).sqrt() * series;
    if cosine < 0.0 {
        std::f32::consts::PI - angle
    } else {
        angle
    }
}

/// The volume that triangles enclose, m³; below 0 if they face inwards.
fn volume(points: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
    let from = points.first().copied().unwrap_or_default();
    let sixfold: f32 = triangles
        .iter()
        .map(|corners| {
            let [a, b, c] = corners.map(|i| points[i as usize] - from);
            a.dot(b.cross(c))
        })
        .sum();
    sixfold / 6.0
}

/// Whether a node of the tree reaches into a box.
fn meets(node: &BvhNode, low: Vec3, high: Vec3) -> bool {
    node.mins().cmple(high).all() && node.maxs().cmpge(low).all()
}

/// Whether each edge has one triangle on both sides, and all face the same way.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut sides: HashMap<[u32; 2], u32> = HashMap::default();
    let edges = || {
        let corners = triangles.iter();
        corners.flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
    };
    for edge in edges() {
        *sides.entry(edge).or_default() += 1;
    }
    let paired = |[from, to]: [u32; 2]| {
        sides.get(&[from, to]) == Some(&1) && sides.get(&[to, from]) == Some(&1)
    };
    !triangles.is_empty() && edges().all(paired)
}
