//! One particle and the triangles near it, in one substep.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not less")]

use super::{By, TriangleSurface, group::reach, surface::Nearest, triangle};
use bevy::math::Vec3;

/// How often a particle may be stopped in one substep before it is put back to where it came from.
const STOPS: usize = 3;

/// The share of a way to a triangle that is surely before it.
const BEFORE: f32 = 1.0 - 1e-3;

/// Triangles that a particle is pushed out of in the same substep.
const TOUCHED: usize = 16;

/// A particle in a substep.
pub(super) struct Meeting<'a> {
    pub(super) by: &'a By<'a>,
    /// Where it was when the substep began, in the frame of the surface.
    pub(super) from: Vec3,
    /// Where it is, in that frame.
    pub(super) local: Vec3,
    /// Where it was.
    pub(super) start: Vec3,
    pub(super) position: Vec3,
    pub(super) displacement: Vec3,
}

/// Where a way goes through a triangle.
struct Hit {
    triangle: u32,
    time: f32,
    /// The side from which it comes.
    side: f32,
}

impl Meeting<'_> {
    /// Meets all triangles that are near, which `near` holds among others. Returns whether that moved it;
    /// nothing if none is so near that it tells the side on which it is.
    pub(super) fn meet(&mut self, near: &[u32]) -> Option<bool> {
        let surface = self.by.surface;
        let reach = reach(self.by.thickness, (self.local - self.from).length());
        let stopped = self.stop(near);
        let mut touched = Touched::default();
        let nearest = touched.find(surface, near, self.local, self.by.thickness);
        let Some(nearest) = nearest.filter(|near| near.square <= reach * reach) else {
            return stopped.then(|| self.keep_way());
        };
        let pushed = self.push_out(near, &nearest, &touched);
        Some((stopped || pushed) && self.keep_way())
    }

    /// Stops it at the first triangle that it goes through, and where that leads through another one, there
    /// too.
    fn stop(&mut self, near: &[u32]) -> bool {
        let surface = self.by.surface;
        let mut from = self.from;
        for stop in 0..=STOPS {
            let Some(hit) = first_hit(surface, near, from, self.local) else {
                return stop > 0;
            };
            if stop == STOPS {
                self.go_back();
                break;
            }
            let normal = surface.normal(hit.triangle) * hit.side;
            let [corner, ..] = surface.corners(hit.triangle);
            let way = self.local - from;
            let depth = self.by.thickness - normal.dot(self.local - corner);
            self.respond(from + way * hit.time, normal, depth);
            // Shortly before it on its way: nothing has been gone through so far. Above the triangle
            // might be behind the next one.
            from += way * (hit.time * BEFORE);
        }
        true
    }

    /// Pushes it out of the nearest triangle, and then of the others that it touches.
    fn push_out(&mut self, near: &[u32], nearest: &Nearest, touched: &Touched) -> bool {
        let surface = self.by.surface;
        let thickness = self.by.thickness;
        let (distance, normal) = self.side(nearest);
        let depth = thickness - distance;
        if !(depth > 0.0) {
            return false;
        }
        self.respond(self.local, normal, depth);
        let touched = touched.triangles[..touched.count].iter();
        for &triangle in touched.filter(|&&triangle| triangle != nearest.triangle) {
            let other = surface.nearest_of(triangle, self.local);
            let (distance, normal) = self.side(&other);
            // Those that it is behind are not the nearest ones.
            if distance > 0.0 && distance < thickness {
                self.respond(self.local, normal, thickness - distance);
            }
        }
        if !surface.is_closed() && first_hit(surface, near, self.from, self.local).is_some() {
            self.go_back();
        }
        true
    }

    /// The distance of the nearest point, negative on the wrong side, and the way out.
    fn side(&self, near: &Nearest) -> (f32, Vec3) {
        let surface = self.by.surface;
        if surface.is_closed() {
            return surface.signed(near, self.local);
        }
        let distance = near.square.sqrt();
        if distance > 0.0 {
            return (distance, (self.local - near.at) / distance);
        }
        let normal = surface.normal(near.triangle);
        let from = normal.dot(self.from - near.at);
        (0.0, if from < 0.0 { -normal } else { normal })
    }

    /// Brings it out, if it is on the wrong side. Returns how far it was from the surface.
    pub(super) fn leave(&mut self) -> f32 {
        let Some(near) = self.by.surface.nearest(self.local) else {
            return 0.0;
        };
        let (distance, normal) = self.by.surface.signed(&near, self.local);
        if distance < 0.0 {
            self.respond(self.local, normal, self.by.thickness - distance);
            self.keep_way();
        }
        distance
    }

    /// A contact, in the frame of the surface.
    fn respond(&mut self, at: Vec3, normal: Vec3, depth: f32) {
        let obstacle = &self.by.obstacle;
        let [out, into, lost] = obstacle.respond(self.displacement, at, normal, depth);
        self.position = self.position + out - lost;
        self.displacement = self.displacement - into - lost;
        self.local = obstacle.local(self.position);
    }

    /// Puts it where it was, as seen from the surface.
    fn go_back(&mut self) {
        self.position = self.by.obstacle.world(self.from);
        self.displacement = self.position - self.start;
        self.local = self.from;
    }

    /// It keeps no more of its displacement than the way that it really went.
    fn keep_way(&mut self) -> bool {
        let way = self.position - self.start;
        if way.length_squared() < self.displacement.length_squared() {
            self.displacement = way;
        }
        true
    }
}

/// Triangles that are nearer than the thickness.
#[derive(Default)]
struct Touched {
    triangles: [u32; TOUCHED],
    count: usize,
}

impl Touched {
    /// Notes them. Returns the nearest point of all.
    fn find(
        &mut self,
        surface: &TriangleSurface,
        near: &[u32],
        to: Vec3,
        thickness: f32,
    ) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        for &triangle in near {
            let other = surface.nearest_of(triangle, to);
            if other.square < thickness * thickness && self.count < TOUCHED {
                self.triangles[self.count] = triangle;
                self.count += 1;
            }
            if best.is_none_or(|best| other.square < best.square) {
                best = Some(other);
            }
        }
        best
    }
}

/// The first of some triangles that a way goes through; a closed surface only from the right side.
fn first_hit(surface: &TriangleSurface, near: &[u32], from: Vec3, to: Vec3) -> Option<Hit> {
    let closed = surface.is_closed();
    let mut first: Option<Hit> = None;
    for &triangle in near {
        let crossing = triangle::crossing(
            surface.corners(triangle),
            surface.normal(triangle),
            from,
            to,
        );
        let Some((time, front)) = crossing else {
            continue;
        };
        if (front || !closed) && first.as_ref().is_none_or(|first| time < first.time) {
            first = Some(Hit {
                triangle,
                time,
                side: if front { 1.0 } else { -1.0 },
            });
        }
    }
    first
}
