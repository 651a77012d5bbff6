//! A blade goes through the cloth: the triangles that it crosses are divided along its way, and the
//! way opens.
//!
//! Where the blade crosses an edge near one of its ends, it is led through the end instead. So no
//! edge gets shorter than a share of those of the whole cloth, however often it is cut.

use super::{changes::Corner, surgery::Surgery};
use bevy::math::Vec3;
use std::collections::{BTreeMap, BTreeSet};

/// A crossing nearer to the end of an edge than this share of the edge goes through the end.
const NEAR_END: f32 = 0.15;

/// Likewise, nearer than this share of the mean edge of the whole cloth.
const SHORTEST: f32 = 0.25;

/// The area that a blade sweeps: a flat quadrilateral in the world, m.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Blade {
    /// Both ends of the blade where the stroke begins.
    pub from: [Vec3; 2],
    /// Both ends of the blade where the stroke ends.
    pub to: [Vec3; 2],
}

impl Blade {
    /// A blade that goes from one point to another and reaches as far as `along` to both sides, m.
    pub fn stroke(from: Vec3, to: Vec3, along: Vec3) -> Self {
        Self {
            from: [from - along, from + along],
            to: [to - along, to + along],
        }
    }

    /// Whether it begins where another one ended: on the same line, however far it reaches along it.
    pub fn continues(&self, before: &Self) -> bool {
        let [start, end] = before.to;
        let Some(way) = (end - start).try_normalize() else {
            return false;
        };
        let tolerance = 1e-4 + 1e-3 * start.distance(end);
        let distance = |point: Vec3| (point - start).reject_from_normalized(way).length();
        self.from.into_iter().all(|end| distance(end) <= tolerance)
    }

    fn corners(&self) -> [Vec3; 4] {
        [self.from[0], self.from[1], self.to[1], self.to[0]]
    }

    /// Normal of its plane and a point on it; `None` if it has no area. A blade that is twisted a
    /// little on its way is taken as flat.
    fn plane(&self) -> Option<(Vec3, Vec3)> {
        let [a, b, c, d] = self.corners();
        let normal = (c - a).cross(d - b).try_normalize()?;
        let middle = (a + b + c + d) * 0.25;
        middle.is_finite().then_some((normal, middle))
    }

    /// How far along a line from `a` to `b` the blade crosses it, 0 to 1; `None` if it does not.
    pub fn crossing(&self, a: Vec3, b: Vec3) -> Option<f32> {
        let (normal, middle) = self.plane()?;
        let [from, to] = [a, b].map(|p| (p - middle).dot(normal));
        let share = from / (from - to);
        let crosses = (from >= 0.0) != (to >= 0.0) && self.holds(a.lerp(b, share), normal);
        crosses.then_some(share)
    }

    /// Whether it may touch something in a box, given by its low and its high corner.
    pub fn meets(&self, low: Vec3, high: Vec3) -> bool {
        let corners = self.corners();
        let least = corners.into_iter().fold(Vec3::INFINITY, Vec3::min);
        let most = corners.into_iter().fold(Vec3::NEG_INFINITY, Vec3::max);
        least.cmple(high).all() && most.cmpge(low).all()
    }

    /// Whether a point of the plane lies within.
    fn holds(&self, point: Vec3, normal: Vec3) -> bool {
        let corners = self.corners();
        (0..4).all(|k| {
            let (start, end) = (corners[k], corners[(k + 1) % 4]);
            (end - start).cross(point - start).dot(normal) >= 0.0
        })
    }
}

/// Where the way of a blade crosses an edge.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    /// The particle there: an end of the edge, or a new one.
    particle: u32,
    /// If it is a new one, where: from the lower end of the edge to the higher.
    share: Option<f32>,
    /// How far along the stroke.
    progress: f32,
}

impl Surgery<'_> {
    /// Cuts along a blade: every triangle that it crosses from edge to edge is severed. `tip` is what
    /// the last cut of the same stroke returned; the cut goes on from there. Returns the particle
    /// at which this cut ends, `None` if nothing was cut. Where the cloth already has `most`
    /// particles, cuts run along edges.
    ///
    /// At most one cut to an operation.
    pub fn cut(&mut self, blade: &Blade, tip: Option<u32>, most: usize) -> Option<u32> {
        debug_assert!(self.before.is_empty() && self.fresh.is_empty());
        let crossings = self.crossings(blade, most);
        if crossings.is_empty() {
            return None;
        }
        let mut way = BTreeSet::new();
        let mut crossed: BTreeMap<u32, Vec<([u32; 2], Crossing)>> = BTreeMap::new();
        for (&edge, &crossing) in &crossings {
            for triangle in self.around(edge[0]) {
                if self.corners(triangle).contains(&edge[1]) {
                    crossed.entry(triangle).or_default().push((edge, crossing));
                }
            }
        }
        for (&triangle, crossings) in &crossed {
            let mut points: Vec<u32> = crossings.iter().map(|(_, c)| c.particle).collect();
            // A stroke that goes on begins inside a triangle, at a corner of which it ended before.
            let begins_at = |&tip: &u32| self.corners(triangle).contains(&tip);
            if points.len() == 1 {
                points.extend(tip.filter(begins_at));
            }
            for (i, &a) in points.iter().enumerate() {
                for &b in &points[i + 1..] {
                    if a != b {
                        way.insert([a.min(b), a.max(b)]);
                    }
                }
            }
        }
        for (triangle, crossings) in crossed {
            self.divide(triangle, &crossings);
        }
        self.open_edges(way);
        let last = crossings
            .values()
            .max_by(|a, b| a.progress.total_cmp(&b.progress));
        last.map(|crossing| crossing.particle)
    }

    /// Where the blade crosses edges, with the particles that are needed there.
    fn crossings(&mut self, blade: &Blade, most: usize) -> BTreeMap<[u32; 2], Crossing> {
        let mut found = BTreeMap::new();
        let Some((normal, middle)) = blade.plane() else {
            return found;
        };
        let origin = self.sheet.particles.origin;
        let place = |i: u32| self.sheet.particles.position.get(i as usize);
        let base = middle - origin;
        let heights: Vec<f32> = {
            let positions = &self.sheet.particles.position;
            positions.iter().map(|p| (p - base).dot(normal)).collect()
        };
        let stroke = (blade.to[0] + blade.to[1]) - (blade.from[0] + blade.from[1]);
        let rest = |i: u32| self.sheet.rest[i as usize];
        let mut edges: Vec<([u32; 2], f32, f32)> = Vec::new();
        for corners in self.sheet.triangles.indices.iter() {
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
                let share = low / (low - high);
                let point = place(a).lerp(place(b), share) + origin;
                if blade.holds(point, normal) {
                    edges.push(([a, b], share, (point - middle).dot(stroke)));
                }
            }
        }
        edges.sort_unstable_by_key(|&(edge, ..)| edge);
        edges.dedup_by_key(|&mut (edge, ..)| edge);
        if edges.is_empty() {
            return found;
        }
        let shortest = SHORTEST * self.sheet.edge_length;
        let room = most.saturating_sub(self.old_particles);
        let mut planned: Vec<([u32; 2], Crossing)> = Vec::new();
        let mut inserted = 0;
        for ([a, b], share, progress) in edges {
            let length = (rest(b) - rest(a)).length();
            let near = (NEAR_END * length).max(shortest);
            let from_ends = [share * length, (1.0 - share) * length];
            let at_end = from_ends[0].min(from_ends[1]) < near || inserted >= room;
            let end = if share < 0.5 { a } else { b };
            inserted += usize::from(!at_end);
            let crossing = Crossing {
                particle: end,
                share: (!at_end).then_some(share),
                progress,
            };
            planned.push(([a, b], crossing));
        }
        for (edge, mut crossing) in planned {
            if let Some(share) = crossing.share {
                crossing.particle = self.insert(edge, share);
            }
            found.insert(edge, crossing);
        }
        found
    }

    /// Divides a triangle at the new particles on its edges.
    fn divide(&mut self, triangle: u32, crossings: &[([u32; 2], Crossing)]) {
        let corners = self.corners(triangle);
        // The new particle on each side, and how far it is from the corner where the side begins.
        let on_side: [Option<(u32, f32)>; 3] = std::array::from_fn(|k| {
            let (i, j) = (corners[k], corners[(k + 1) % 3]);
            let edge = [i.min(j), i.max(j)];
            let (_, crossing) = crossings.iter().find(|(e, _)| *e == edge)?;
            let share = crossing.share?;
            let from_i = if i < j { share } else { 1.0 - share };
            Some((crossing.particle, from_i))
        });
        type Point = (u32, Corner);
        let corner = |k: usize| -> Point { (corners[k % 3], Corner::at((k % 3) as u8)) };
        let point = |k: usize, (particle, share): (u32, f32)| -> Point {
            let [from, to] = [k % 3, (k + 1) % 3].map(|k| k as u8);
            (particle, Corner { from, to, share })
        };
        let sides: Vec<usize> = (0..3).filter(|&k| on_side[k].is_some()).collect();
        let at = |k: usize| point(k, on_side[k % 3].unwrap_or((corners[k % 3], 0.0)));
        let parts: Vec<[Point; 3]> = match sides[..] {
            [k] => vec![
                [corner(k), at(k), corner(k + 2)],
                [at(k), corner(k + 1), corner(k + 2)],
            ],
            [first, second] => {
                // The two sides meet at the corner after `k`.
                let k = if (first + 1) % 3 == second {
                    first
                } else {
                    second
                };
                let (near, far) = (at(k), at((k + 1) % 3));
                let mut parts = vec![[near, corner(k + 1), far]];
                let rest = |(i, _): Point| self.sheet.rest[i as usize];
                let one = (rest(near) - rest(corner(k + 2))).length_squared();
                let other = (rest(far) - rest(corner(k))).length_squared();
                if one <= other {
                    parts.push([corner(k), near, corner(k + 2)]);
                    parts.push([near, far, corner(k + 2)]);
                } else {
                    parts.push([corner(k), near, far]);
                    parts.push([corner(k), far, corner(k + 2)]);
                }
                parts
            }
            [_, _, _] => vec![
                [corner(0), at(0), at(2)],
                [at(0), corner(1), at(1)],
                [at(2), at(1), corner(2)],
                [at(0), at(1), at(2)],
            ],
            _ => return,
        };
        let area = self.sheet.triangles.rest_area[triangle as usize];
        let mut pieces = Vec::with_capacity(parts.len());
        for (n, part) in parts.iter().enumerate() {
            let particles = part.map(|(particle, _)| particle);
            let places = part.map(|(_, place)| place);
            let share = share_of_area(&places);
            let number = if n == 0 {
                self.set_corners(triangle, particles);
                self.sheet.triangles.rest_area[triangle as usize] = area * share;
                triangle
            } else {
                self.sheet.triangles.indices.to_mut().push(particles);
                self.sheet.triangles.rest_area.push(area * share);
                (self.sheet.triangles.indices.len() - 1) as u32
            };
            for particle in particles {
                if n > 0 || !corners.contains(&particle) {
                    self.adjacency.add(particle, number);
                }
            }
            pieces.push((number, places));
        }
        self.divided.insert(triangle, pieces);
        self.touched.extend(corners);
    }
}

/// The share of a triangle's area that a part of it has: the determinant of the barycentric
/// coordinates of its corners.
fn share_of_area(corners: &[Corner; 3]) -> f32 {
    let [a, b, c] = corners.map(|corner| Vec3::from(corner.weights()));
    a.dot(b.cross(c)).abs()
}
