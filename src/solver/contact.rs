//! Contacts of all particles with all colliders in one substep: which of them touch, and what that
//! does to them.
//!
//! Particles are taken in blocks of neighbours in memory, which are mostly neighbours in space. A
//! collider that is farther from the box around a block than the thickness is passed by; for the
//! others all distances of the block are computed, and only if one of them is short enough the
//! contacts. A particle meets the colliders in their order, as it does in the scalar twin.

mod distance;

use self::distance::{capsule, choose, cone, cuboid, cylinder, round, tapered};
use super::{
    collide::{Collider, Friction, Surface},
    shape::{Shape, Slope, Taper},
    simd::{Kernel, select},
    soa::{corners, range},
};
use bevy::math::{Mat3, Vec3};

/// Particles of a block.
const BLOCK: usize = 64;

/// A box that is farther from a collider than the thickness and this has no particle in contact, m. It
/// is for lengths whose square is too small for an `f32`.
const MARGIN: f32 = 1e-6;

/// The corners of a box.
type Bounds = [[f32; 3]; 2];

/// A collider during one substep, relative to the origin of the particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct Obstacle {
    shape: Shape,
    friction: Friction,
    thickness: f32,
    moving: bool,
    /// 1, or −1 if cloth is kept inside: then outside and inside change places.
    side: f32,
    centre: Vec3,
    centre_before: Vec3,
    to_world: Mat3,
    to_world_before: Mat3,
    to_local: Mat3,
    /// The corners of a box around the shape, in its own frame.
    bounds: [Vec3; 2],
    /// Square of the distance from the centre beyond which nothing touches a sphere, m².
    ball: f32,
}

impl Obstacle {
    pub(super) fn new(
        collider: &Collider,
        surface: &Surface,
        origin: Vec3,
        substep: u32,
        substeps: u32,
    ) -> Self {
        let (before, after) = collider.during(substep, substeps);
        let to_world = Mat3::from_quat(after.rotation);
        let ball = match collider.shape {
            // What is a rotation but for rounding changes no length by more than 0.04 %.
            Shape::Sphere { radius } if after.rotation.is_normalized() && !collider.hollow => {
                let reach = (radius + surface.thickness).max(0.0) * 1.001 + MARGIN;
                reach * reach
            }
            _ => f32::INFINITY,
        };
        Self {
            shape: collider.shape,
            friction: Friction::between(collider.friction, surface.friction),
            thickness: surface.thickness,
            moving: before != after,
            side: if collider.hollow { -1.0 } else { 1.0 },
            centre: after.translation - origin,
            centre_before: before.translation - origin,
            to_world,
            to_world_before: Mat3::from_quat(before.rotation),
            to_local: to_world.transpose(),
            bounds: collider.shape.bounds(),
            ball,
        }
    }

    /// Whether a particle in the box may be in contact. It is computed with the same sums in the same
    /// order as the places of the particles, and rounding never turns an order around, so that no
    /// contact is missed.
    #[inline(always)]
    pub(super) fn may_touch(&self, [low, high]: &Bounds) -> bool {
        let (low, high) = (
            Vec3::from(*low) - self.centre,
            Vec3::from(*high) - self.centre,
        );
        if self.side < 0.0 {
            return self.may_leave(low, high);
        }
        let reach = self.thickness + MARGIN;
        for axis in 0..3 {
            let along = self.to_world.col(axis);
            let (mut from, mut to) = (0.0, 0.0);
            for k in 0..3 {
                let (a, b) = (along[k] * low[k], along[k] * high[k]);
                from += if a < b { a } else { b };
                to += if a < b { b } else { a };
            }
            let [least, most] = self.bounds.map(|corner| corner[axis]);
            if from - most > reach || least - to > reach {
                return false;
            }
        }
        true
    }

    /// Whether a particle in the box, which is relative to the centre, may be in contact from inside. All
    /// shapes are convex, so that no point of the box is farther out than the farthest of its corners.
    #[inline(never)]
    fn may_leave(&self, low: Vec3, high: Vec3) -> bool {
        // More than is lost by rounding.
        let size = low.abs().max(high.abs()).max_element();
        let reach = self.thickness + MARGIN + 32.0 * f32::EPSILON * size;
        (0..8).any(|corner| {
            let pick = |axis: usize| {
                let end = if corner >> axis & 1 == 0 { low } else { high };
                end[axis]
            };
            let at = Vec3::new(pick(0), pick(1), pick(2));
            let (distance, _) = self.shape.distance(self.to_local * at);
            // Of NaN nothing is known.
            !(distance + reach < 0.0)
        })
    }

    /// The distance of a point, and the direction in which it grows fastest, from the side on which cloth
    /// is to be.
    #[inline(always)]
    fn seen(&self, (distance, normal): (f32, Vec3)) -> (f32, Vec3) {
        (distance * self.side, normal * self.side)
    }

    /// Where a point is in the frame of the shape.
    #[inline(always)]
    fn local(&self, point: Vec3) -> Vec3 {
        self.to_local * (point - self.centre)
    }

    /// How deep a point is in contact.
    #[inline(always)]
    fn depth(&self, point: Vec3, distance: impl Fn(Vec3) -> (f32, Vec3)) -> f32 {
        self.thickness - self.seen(distance(self.local(point))).0
    }

    /// What a contact of this depth does: the push-out, what of the displacement goes into the collider,
    /// and what friction takes of it.
    #[inline(always)]
    fn respond(
        &self,
        displacement: Vec3,
        local: Vec3,
        local_normal: Vec3,
        depth: f32,
    ) -> [Vec3; 3] {
        let normal = self.to_world * local_normal;
        let carried = if self.moving {
            // Where the touched point came from. Both ends are computed in the same way, so that a
            // still collider carries nothing.
            (self.centre + self.to_world * local)
                - (self.centre_before + self.to_world_before * local)
        } else {
            Vec3::ZERO
        };
        let relative = displacement - carried;
        let approach = relative.dot(normal);
        let tangential = relative - normal * approach;
        let slide = tangential.length();
        let share = self.friction.kinetic * depth / slide;
        let holds = slide <= self.friction.fixed * depth;
        let lost = tangential * select(!holds & (share < 1.0), share, 1.0);
        let into = select(approach < 0.0, approach, 0.0);
        [normal * depth, normal * into, lost]
    }
}

/// Does to particles, which are neighbours in memory, what their contacts with the obstacles do.
pub(super) struct Contacts<'a> {
    pub(super) x: [&'a mut [f32]; 3],
    /// Their displacements.
    pub(super) d: [&'a mut [f32]; 3],
    /// Their inverse masses.
    pub(super) w: &'a [f32],
    pub(super) obstacles: &'a [Obstacle],
    /// Which of them may touch any of the particles where they are now, in their order.
    pub(super) near: &'a [usize],
}

impl Kernel for Contacts<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [dx, dy, dz]) = (self.x, self.d);
        let blocks = (x.chunks_mut(BLOCK))
            .zip(y.chunks_mut(BLOCK))
            .zip(z.chunks_mut(BLOCK))
            .zip(dx.chunks_mut(BLOCK))
            .zip(dy.chunks_mut(BLOCK))
            .zip(dz.chunks_mut(BLOCK))
            .zip(self.w.chunks(BLOCK));
        for ((((((x, y), z), dx), dy), dz), w) in blocks {
            let bounds = corners([range(x), range(y), range(z)]);
            // A loop, for what a closure does would not be compiled with the instructions of the
            // level.
            let mut touched = None;
            for &number in self.near {
                let obstacle = &self.obstacles[number];
                if obstacle.may_touch(&bounds) && touch(obstacle, x, y, z, dx, dy, dz, w) {
                    touched = Some(number);
                    break;
                }
            }
            let Some(first) = touched else { continue };
            // Who has been pushed may have been pushed into any of those that come after.
            let mut bounds = corners([range(x), range(y), range(z)]);
            for obstacle in &self.obstacles[first + 1..] {
                if obstacle.may_touch(&bounds) && touch(obstacle, x, y, z, dx, dy, dz, w) {
                    bounds = corners([range(x), range(y), range(z)]);
                }
            }
        }
    }

    fn run_scalar(self) {
        let Self {
            mut x, mut d, w, ..
        } = self;
        let get = |planes: &[&mut [f32]; 3], i: usize| Vec3::from(planes.each_ref().map(|p| p[i]));
        let set = |planes: &mut [&mut [f32]; 3], i: usize, to: Vec3| {
            for (plane, to) in planes.iter_mut().zip(to.to_array()) {
                plane[i] = to;
            }
        };
        for obstacle in self.obstacles {
            for (i, &w) in w.iter().enumerate() {
                if w == 0.0 {
                    continue;
                }
                let position = get(&x, i);
                let local = obstacle.local(position);
                let (distance, normal) = obstacle.seen(obstacle.shape.distance(local));
                let depth = obstacle.thickness - distance;
                if depth <= 0.0 || depth.is_nan() {
                    continue;
                }
                let displacement = get(&d, i);
                let [out, into, lost] = obstacle.respond(displacement, local, normal, depth);
                set(&mut x, i, position + out - lost);
                set(&mut d, i, displacement - into - lost);
            }
        }
    }
}

/// Contacts of a block of particles with one obstacle. Returns whether any particle may have moved.
#[inline(always)]
fn touch(
    obstacle: &Obstacle,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
) -> bool {
    match obstacle.shape {
        Shape::Sphere { radius } => {
            // Its frame and the root do not matter to whether anything is near.
            let limit = obstacle.ball;
            any(x, y, z, w, |at| {
                (at - obstacle.centre).length_squared() <= limit
            }) && {
                let distance = |point| round(point, radius, Vec3::Y);
                respond(obstacle, distance, x, y, z, dx, dy, dz, w);
                true
            }
        }
        Shape::HalfSpace => {
            let distance = |point: Vec3| (point.y, Vec3::Y);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
        Shape::Capsule {
            radius,
            half_length,
        } => {
            let distance = |point| capsule(point, radius, half_length);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
        Shape::Cuboid { half_size } => {
            let distance = |point| cuboid(point, half_size);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length,
        } => {
            let by = Taper::new(radius_bottom, radius_top, half_length);
            let distance = |point| tapered(point, &by);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
        Shape::Cylinder {
            radius,
            half_height,
        } => {
            let distance = |point| cylinder(point, radius, half_height);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
        Shape::Cone {
            radius,
            half_height,
        } => {
            let by = Slope::new(radius, half_height);
            let distance = |point| cone(point, &by);
            touch_shape(obstacle, distance, x, y, z, dx, dy, dz, w)
        }
    }
}

/// [`touch`] with the distances of the shape.
#[inline(always)]
fn touch_shape(
    obstacle: &Obstacle,
    distance: impl Fn(Vec3) -> (f32, Vec3) + Copy,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
) -> bool {
    any(x, y, z, w, |at| obstacle.depth(at, distance) > 0.0) && {
        respond(obstacle, distance, x, y, z, dx, dy, dz, w);
        true
    }
}

/// Whether any particle of a block that is not pinned is near.
#[inline(always)]
fn any(x: &[f32], y: &[f32], z: &[f32], w: &[f32], near: impl Fn(Vec3) -> bool) -> bool {
    let n = w.len();
    let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
    let mut any = 0;
    for i in 0..n {
        let near = near(Vec3::new(x[i], y[i], z[i]));
        any |= u32::from(near) & u32::from(w[i] != 0.0);
    }
    any != 0
}

/// Moves the particles of a block that touch.
#[inline(always)]
fn respond(
    obstacle: &Obstacle,
    distance: impl Fn(Vec3) -> (f32, Vec3),
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
) {
    let n = w.len();
    let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
    // By value, so that no store can change it.
    let obstacle = *obstacle;
    for i in 0..n {
        let position = Vec3::new(x[i], y[i], z[i]);
        let displacement = Vec3::new(dx[i], dy[i], dz[i]);
        let local = obstacle.local(position);
        let (distance, normal) = obstacle.seen(distance(local));
        let depth = obstacle.thickness - distance;
        let touches = (depth > 0.0) & (w[i] != 0.0);
        let [out, into, lost] = obstacle.respond(displacement, local, normal, depth);
        let out = choose(touches, out, Vec3::splat(-0.0));
        let into = choose(touches, into, Vec3::ZERO);
        let lost = choose(touches, lost, Vec3::ZERO);
        let position = position + out - lost;
        let displacement = displacement - into - lost;
        (x[i], y[i], z[i]) = position.into();
        (dx[i], dy[i], dz[i]) = displacement.into();
    }
}

#[cfg(test)]
mod tests;
