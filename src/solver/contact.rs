//! Contacts of all particles with all colliders in one substep: which of them touch, and what that
//! does to them.
//!
//! Particles are taken in blocks of neighbours in memory, which are mostly neighbours in space. A
//! collider that is farther from the box around a block than the thickness is passed by; for the
//! others all distances of the block are computed, and only if one of them is short enough the
//! contacts. A particle meets the colliders in their order, as it does in the scalar twin.

use super::{
    collide::{Collider, Friction, Surface},
    shape::Shape,
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
            Shape::Sphere { radius } if after.rotation.is_normalized() => {
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

    /// Where a point is in the frame of the shape.
    #[inline(always)]
    fn local(&self, point: Vec3) -> Vec3 {
        self.to_local * (point - self.centre)
    }

    /// How deep a point is in contact.
    #[inline(always)]
    fn depth(&self, point: Vec3, distance: impl Fn(Vec3) -> (f32, Vec3)) -> f32 {
        self.thickness - distance(self.local(point)).0
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
                let (distance, normal) = obstacle.shape.distance(local);
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
                let distance = |point| round(point, radius);
                respond(obstacle, distance, x, y, z, dx, dy, dz, w);
                true
            }
        }
        Shape::HalfSpace => {
            let distance = |point: Vec3| (point.y, Vec3::Y);
            any(x, y, z, w, |at| obstacle.depth(at, distance) > 0.0) && {
                respond(obstacle, distance, x, y, z, dx, dy, dz, w);
                true
            }
        }
        Shape::Capsule {
            radius,
            half_length,
        } => {
            let distance = |point| capsule(point, radius, half_length);
            any(x, y, z, w, |at| obstacle.depth(at, distance) > 0.0) && {
                respond(obstacle, distance, x, y, z, dx, dy, dz, w);
                true
            }
        }
        Shape::Cuboid { half_size } => {
            let distance = |point| cuboid(point, half_size);
            any(x, y, z, w, |at| obstacle.depth(at, distance) > 0.0) && {
                respond(obstacle, distance, x, y, z, dx, dy, dz, w);
                true
            }
        }
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
        let (distance, normal) = distance(local);
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

/// The distances of [`Shape::distance`], without branches.
#[inline(always)]
fn round(from_centre: Vec3, radius: f32) -> (f32, Vec3) {
    let length = from_centre.length();
    let away = length > 0.0;
    let unit = from_centre / select(away, length, 1.0);
    let distance = select(away, length - radius, -radius);
    (distance, choose(away, unit, Vec3::Y))
}

#[inline(always)]
fn capsule(point: Vec3, radius: f32, half_length: f32) -> (f32, Vec3) {
    let on_axis = select(point.y < -half_length, -half_length, point.y);
    let on_axis = select(on_axis > half_length, half_length, on_axis);
    round(point - Vec3::Y * on_axis, radius)
}

#[inline(always)]
fn cuboid(point: Vec3, half_size: Vec3) -> (f32, Vec3) {
    let out = point.abs() - half_size;
    let side = Vec3::ONE.copysign(point);
    let corner = greater(out, Vec3::ZERO);
    let outside = (corner.x != 0.0) | (corner.y != 0.0) | (corner.z != 0.0);
    let length = corner.length();
    let from_corner = corner * side / select(outside, length, 1.0);
    // Inside: the nearest face.
    let y = (out.y >= out.x) & (out.y >= out.z);
    let x = out.x >= out.z;
    let nearest = select(y, out.y, select(x, out.x, out.z));
    let axis = choose(y, Vec3::Y, choose(x, Vec3::X, Vec3::Z));
    (
        select(outside, length, nearest),
        choose(outside, from_corner, axis * side),
    )
}

#[inline(always)]
fn choose(first: bool, a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(
        select(first, a.x, b.x),
        select(first, a.y, b.y),
        select(first, a.z, b.z),
    )
}

/// The greater of each component.
#[inline(always)]
fn greater(a: Vec3, b: Vec3) -> Vec3 {
    Vec3::new(
        select(a.x > b.x, a.x, b.x),
        select(a.y > b.y, a.y, b.y),
        select(a.z > b.z, a.z, b.z),
    )
}

#[cfg(test)]
mod tests;
