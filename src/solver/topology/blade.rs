//! Cuts a cloth along a swept blade: the triangles crossed are divided along the cut line, and the line is opened.
//!
//! A crossing close to an end of an edge is snapped to that end. So no edge gets shorter than a fixed fraction of
//! the mean edge of the intact cloth, however often the cloth is cut.

use super::{changes::BoundaryPoint, topology_edit::TopologyEdit};
use bevy::math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// A crossing closer to an end of its edge than this fraction of the edge is snapped to the end.
const END_FRACTION: f32 = 0.15;

/// Likewise, for crossings closer than this fraction of the mean edge of the intact cloth.
const MIN_EDGE_FRACTION: f32 = 0.25;

/// Area swept by a blade: a flat quadrilateral in world space, m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Blade {
    /// Both ends of the blade at the start of the stroke.
    pub from: [Vec3; 2],
    /// Both ends of the blade at the end of the stroke.
    pub to: [Vec3; 2],
}

impl Blade {
    /// Creates a blade that moves between two points and extends by `along` to both sides, m.
    pub fn stroke(from: Vec3, to: Vec3, along: Vec3) -> Self {
        Self {
            from: [from - along, from + along],
            to: [to - along, to + along],
        }
    }

    /// Returns whether this stroke begins where another one ended: on the same line, at any extent along it.
    pub fn continues(&self, before: &Self) -> bool {
        let [start, end] = before.to;
        let Some(direction) = (end - start).try_normalize() else {
            return false;
        };
        let tolerance = 1e-4 + 1e-3 * start.distance(end);
        let distance = |point: Vec3| (point - start).reject_from_normalized(direction).length();
        self.from.into_iter().all(|end| distance(end) <= tolerance)
    }

    fn corners(&self) -> [Vec3; 4] {
        [self.from[0], self.from[1], self.to[1], self.to[0]]
    }

    /// Returns the normal of the blade's plane and a point on it; `None` if the area is zero. A slightly twisted
    /// blade is treated as flat.
    fn plane(&self) -> Option<(Vec3, Vec3)> {
        let [a, b, c, d] = self.corners();
        let normal = (c - a).cross(d - b).try_normalize()?;
        let middle = (a + b + c + d) * 0.25;
        middle.is_finite().then_some((normal, middle))
    }

    /// Returns where the blade crosses the segment from `a` to `b`, as a fraction 0 to 1; `None` if it does not.
    pub fn crossing(&self, a: Vec3, b: Vec3) -> Option<f32> {
        let (normal, middle) = self.plane()?;
        let [from, to] = [a, b].map(|p| (p - middle).dot(normal));
        let fraction = from / (from - to);
        let crosses = (from >= 0.0) != (to >= 0.0) && self.contains(a.lerp(b, fraction), normal);
        crosses.then_some(fraction)
    }

    /// Returns whether the blade's bounding box overlaps a box, given by its low and high corners.
    pub(crate) fn overlaps_box(&self, low: Vec3, high: Vec3) -> bool {
        let corners = self.corners();
        let least = corners.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let most = corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        least.cmple(high).all() && most.cmpge(low).all()
    }

    /// Returns whether a point of the plane lies within the quadrilateral.
    fn contains(&self, point: Vec3, normal: Vec3) -> bool {
        let corners = self.corners();
        (0..4).all(|k| {
            let (start, end) = (corners[k], corners[(k + 1) % 4]);
            (end - start).cross(point - start).dot(normal) >= 0.0
        })
    }
}

/// Crossing of a blade and an edge.
#[derive(Clone, Copy, Debug)]
struct BladeCrossing {
    /// The particle at the crossing: an end of the edge, or a new one.
    particle: u32,
    /// Position of a new particle, as a fraction from the lower-numbered end of the edge to the higher.
    fraction: Option<f32>,
    /// Unnormalized distance along the stroke.
    progress: f32,
}

/// Corner of a part of a divided triangle: its particle, and its position on the triangle.
type PartCorner = (u32, BoundaryPoint);

impl TopologyEdit<'_> {
    /// Cuts along a blade: every triangle crossed from edge to edge is severed. `start` is the end of the previous
    /// cut of the same stroke, from which this cut continues. Returns the particle where this cut ends, `None` if
    /// nothing was cut. Once the cloth has `max_particles` particles, cuts run along edges.
    ///
    /// At most one cut per edit.
    pub fn cut(&mut self, blade: &Blade, start: Option<u32>, max_particles: usize) -> Option<u32> {
        debug_assert!(self.corners_before.is_empty() && self.new_particles.is_empty());
        let crossings = self.crossings(blade, max_particles);
        if crossings.is_empty() {
            return None;
        }
        let mut cut_line = BTreeSet::new();
        let mut crossed: BTreeMap<u32, Vec<([u32; 2], BladeCrossing)>> = BTreeMap::new();
        for (&edge, &crossing) in &crossings {
            for triangle in self.triangles_around(edge[0]) {
                if self.corners(triangle).contains(&edge[1]) {
                    crossed.entry(triangle).or_default().push((edge, crossing));
                }
            }
        }
        for (&triangle, crossings) in &crossed {
            let mut points: Vec<u32> = crossings.iter().map(|(_, c)| c.particle).collect();
            // A continued stroke starts inside a triangle, at the corner where the previous cut ended.
            let begins_at = |&start: &u32| self.corners(triangle).contains(&start);
            if points.len() == 1 {
                points.extend(start.filter(begins_at));
            }
            for (i, &a) in points.iter().enumerate() {
                for &b in &points[i + 1..] {
                    if a != b {
                        cut_line.insert([a.min(b), a.max(b)]);
                    }
                }
            }
        }
        for (triangle, crossings) in crossed {
            self.divide(triangle, &crossings);
        }
        self.open_edges(cut_line);
        let last = crossings
            .values()
            .max_by(|a, b| a.progress.total_cmp(&b.progress));
        last.map(|crossing| crossing.particle)
    }

    /// Returns the crossings of the blade with edges, and inserts the particles they need.
    fn crossings(
        &mut self,
        blade: &Blade,
        max_particles: usize,
    ) -> BTreeMap<[u32; 2], BladeCrossing> {
        let mut found = BTreeMap::new();
        let Some((normal, middle)) = blade.plane() else {
            return found;
        };
        let origin = self.target.particles.origin;
        let position_of = |i: u32| self.target.particles.position.get(i as usize);
        let base = middle - origin;
        let heights: Vec<f32> = {
            let positions = &self.target.particles.position;
            positions.iter().map(|p| (p - base).dot(normal)).collect()
        };
        let stroke = (blade.to[0] + blade.to[1]) - (blade.from[0] + blade.from[1]);
        let mut edges: Vec<([u32; 2], f32, f32)> = Vec::new();
        for corners in self.target.triangles.indices.iter() {
            let above = corners.map(|i| heights[i as usize] >= 0.0);
            if above == [true; 3] || above == [false; 3] {
                continue;
            }
            for k in 0..3 {
                let (i, j) = (corners[k], corners[(k + 1) % 3]);
                let (a, b) = (i.min(j), i.max(j));
                let [low, high] = [a, b].map(|i| heights[i as usize]);
                if (low >= 0.0) == (high >= 0.0) {
                    continue;
                }
                let fraction = low / (low - high);
                let point = position_of(a).lerp(position_of(b), fraction) + origin;
                if blade.contains(point, normal) {
                    edges.push(([a, b], fraction, (point - middle).dot(stroke)));
                }
            }
        }
        edges.sort_unstable_by_key(|&(edge, ..)| edge);
        edges.dedup_by_key(|&mut (edge, ..)| edge);
        if edges.is_empty() {
            return found;
        }
        let shortest = MIN_EDGE_FRACTION * self.target.edge_length;
        let spare = max_particles.saturating_sub(self.old_particles);
        let mut inserted = 0;
        for ([a, b], fraction, progress) in edges {
            let [from, to] = [a, b].map(|i| self.target.rest[i as usize]);
            let length = (to - from).length();
            let near = (END_FRACTION * length).max(shortest);
            let from_ends = [fraction * length, (1.0 - fraction) * length];
            let at_end = from_ends[0].min(from_ends[1]) < near || inserted >= spare;
            let particle = if !at_end {
                inserted += 1;
                self.insert_particle([a, b], fraction)
            } else if fraction < 0.5 {
                a
            } else {
                b
            };
            let crossing = BladeCrossing {
                particle,
                fraction: (!at_end).then_some(fraction),
                progress,
            };
            found.insert([a, b], crossing);
        }
        found
    }

    /// Divides a triangle at the new particles on its edges.
    fn divide(&mut self, triangle: u32, crossings: &[([u32; 2], BladeCrossing)]) {
        let corners = self.corners(triangle);
        let parts = self.divided_triangle(corners, crossings);
        if parts.is_empty() {
            return;
        }
        let area = self.target.triangles.rest_area[triangle as usize];
        let mut pieces = Vec::with_capacity(parts.len());
        for (n, part) in parts.iter().enumerate() {
            let particles = part.map(|(particle, _)| particle);
            let boundary = part.map(|(_, point)| point);
            let fraction = area_fraction(&boundary);
            let number = if n == 0 {
                self.set_corners(triangle, particles);
                self.target.triangles.rest_area[triangle as usize] = area * fraction;
                triangle
            } else {
                self.target.triangles.indices.to_mut().push(particles);
                self.target.triangles.rest_area.push(area * fraction);
                (self.target.triangles.indices.len() - 1) as u32
            };
            for particle in particles {
                if n > 0 || !corners.contains(&particle) {
                    self.adjacency.add(particle, number);
                }
            }
            pieces.push((number, boundary));
        }
        self.divided.insert(triangle, pieces);
        self.affected.extend(corners);
    }

    /// Returns the triangles into which new particles on its sides divide a triangle; none without such particles.
    fn divided_triangle(
        &self,
        corners: [u32; 3],
        crossings: &[([u32; 2], BladeCrossing)],
    ) -> Vec<[PartCorner; 3]> {
        let new_on_side = |k: usize| -> Option<PartCorner> {
            let next = (k + 1) % 3;
            let (i, j) = (corners[k], corners[next]);
            let edge = [i.min(j), i.max(j)];
            let (_, crossing) = crossings.iter().find(|(e, _)| *e == edge)?;
            let fraction = crossing.fraction?;
            let point = BoundaryPoint {
                from: k as u8,
                to: next as u8,
                fraction: if i < j { fraction } else { 1.0 - fraction },
            };
            Some((crossing.particle, point))
        };
        let on_side = [0, 1, 2].map(new_on_side);
        let rest = |(i, _): PartCorner| self.target.rest[i as usize];
        // Any side may be the first one.
        let divided_from = |first: usize| {
            let order = [0, 1, 2].map(|k| (first + k) % 3);
            let [a, b, c] = order.map(|k| (corners[k], BoundaryPoint::at(k as u8)));
            let parts = match order.map(|k| on_side[k]) {
                [Some(ab), None, None] => vec![[a, ab, c], [ab, b, c]],
                [Some(ab), Some(bc), None] => {
                    let one = (rest(ab) - rest(c)).length_squared();
                    let other = (rest(bc) - rest(a)).length_squared();
                    let [second, third] = if one <= other {
                        [[a, ab, c], [ab, bc, c]]
                    } else {
                        [[a, ab, bc], [a, bc, c]]
                    };
                    vec![[ab, b, bc], second, third]
                }
                [Some(ab), Some(bc), Some(ca)] => {
                    vec![[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
                }
                _ => return None,
            };
            Some(parts)
        };
        (0..3).find_map(divided_from).unwrap_or_default()
    }
}

/// Returns the area of a piece as a fraction of its triangle: the determinant of the barycentric coordinates of
/// its corners.
fn area_fraction(corners: &[BoundaryPoint; 3]) -> f32 {
    let [a, b, c] = corners.map(|corner| Vec3::from(corner.weights()));
    a.dot(b.cross(c)).abs()
}
