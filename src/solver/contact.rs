//! Contacts of all particles with all colliders in one substep: which of them touch, and what that
//! does to them.
//!
//! Particles are taken in blocks of neighbours in memory, which are mostly neighbours in space. A
//! collider that is farther from the box around a block than the thickness is passed by; for the
//! others all distances of the block are computed, piece by piece, and only if one of them is short enough
//! the contacts of its piece. A particle meets the colliders in their order, as it does in the scalar twin.
//!
//! Between two colliders that leave no room, each pushes particles into the other, and what constraints
//! make of that would be speed without motion. So whoever is touched by several in one substep keeps no
//! more of its displacement than the way that it really went.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not less")]

mod boxes;
mod distance;
mod obstacle;

use self::distance::{capsule, choose, cone, cuboid, cylinder, round, tapered};
pub(super) use self::{
    boxes::{Boxes, LANES},
    obstacle::Obstacle,
};
use super::{
    shape::{Shape, Slope, Taper},
    simd::{Kernel, select},
    soa::{corners, range},
};
use bevy::math::Vec3;

/// Particles of a block.
const BLOCK: usize = 64;

/// Particles of a block that are asked and moved together.
const PIECE: usize = 16;

/// Does to particles, which are neighbours in memory, what their contacts with the obstacles do.
pub(super) struct Contacts<'a> {
    pub(super) x: [&'a mut [f32]; 3],
    /// Their displacements.
    pub(super) d: [&'a mut [f32]; 3],
    /// Their inverse masses.
    pub(super) w: &'a [f32],
    pub(super) obstacles: &'a [Obstacle],
    /// Boxes [around](Obstacle::around) them.
    pub(super) boxes: &'a Boxes,
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
        // Written before they are read, in each block.
        let mut start = [[0.0; BLOCK]; 3];
        let mut touches = [0.0; BLOCK];
        for ((((((x, y), z), dx), dy), dz), w) in blocks {
            let mut bounds = corners([range(x), range(y), range(z)]);
            let (mut touched, mut several) = (false, false);
            let touches = &mut touches[..w.len()];
            // Loops, for what a closure does would not be compiled with the instructions of the level.
            for group in 0..self.boxes.groups() {
                let mut near = self.boxes.overlapping(group, &bounds);
                while near != 0 {
                    let lane = near.trailing_zeros();
                    near &= near - 1;
                    let obstacle = &self.obstacles[group * LANES + lane as usize];
                    if !obstacle.may_touch(&bounds) {
                        continue;
                    }
                    let start = &mut start;
                    let own = if touched {
                        touch::<false>(obstacle, x, y, z, dx, dy, dz, w, touches, start)
                    } else {
                        touch::<true>(obstacle, x, y, z, dx, dy, dz, w, touches, start)
                    };
                    if own {
                        several |= touched;
                        touched = true;
                        // Who has been pushed may have been pushed into any of those that come after.
                        bounds = corners([range(x), range(y), range(z)]);
                        near = self.boxes.overlapping(group, &bounds) & (!1 << lane);
                    }
                }
            }
            if several {
                keep_way(&start, touches, [x, y, z], [dx, dy, dz]);
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
        for (i, &w) in w.iter().enumerate() {
            if w == 0.0 {
                continue;
            }
            let start = get(&x, i) - get(&d, i);
            let mut touches = 0;
            for obstacle in self.obstacles {
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
                touches += 1;
            }
            let (way, displacement) = (get(&x, i) - start, get(&d, i));
            if touches > 1 && way.length_squared() < displacement.length_squared() {
                set(&mut d, i, way);
            }
        }
    }
}

/// Notes where the particles of a block came from, and that nothing has touched them.
#[inline(always)]
fn note(start: &mut [[f32; BLOCK]; 3], touches: &mut [f32], x: [&[f32]; 3], d: [&[f32]; 3]) {
    touches.fill(0.0);
    for ((start, x), d) in start.iter_mut().zip(x).zip(d) {
        for ((start, x), d) in start.iter_mut().zip(x).zip(d) {
            *start = x - d;
        }
    }
}

/// Particles of a block that are touched by several obstacles keep no more of their displacements than
/// their ways.
#[inline(always)]
fn keep_way(
    start: &[[f32; BLOCK]; 3],
    touches: &[f32],
    [x, y, z]: [&mut [f32]; 3],
    [dx, dy, dz]: [&mut [f32]; 3],
) {
    let n = touches.len();
    let [sx, sy, sz] = start.each_ref().map(|start| &start[..n]);
    let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
    let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
    for i in 0..n {
        let way = Vec3::new(x[i] - sx[i], y[i] - sy[i], z[i] - sz[i]);
        let displacement = Vec3::new(dx[i], dy[i], dz[i]);
        let shorter = way.length_squared() < displacement.length_squared();
        let kept = choose((touches[i] > 1.0) & shorter, way, displacement);
        (dx[i], dy[i], dz[i]) = kept.into();
    }
}

/// Contacts of a block of particles with one obstacle. Returns whether any particle may have moved. The
/// `FIRST` to touch a block notes where its particles came from.
#[inline(always)]
fn touch<const FIRST: bool>(
    obstacle: &Obstacle,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
    touches: &mut [f32],
    start: &mut [[f32; BLOCK]; 3],
) -> bool {
    match obstacle.shape {
        Shape::Sphere { radius } => {
            // Its frame and the root do not matter to whether anything is near.
            let limit = obstacle.ball;
            let near = |at: Vec3| (at - obstacle.centre).length_squared() <= limit;
            let distance = |point| round(point, radius, Vec3::Y);
            touch_where::<FIRST>(
                obstacle, near, distance, x, y, z, dx, dy, dz, w, touches, start,
            )
        }
        Shape::HalfSpace => {
            let distance = |point: Vec3| (point.y, Vec3::Y);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
        Shape::Capsule {
            radius,
            half_length,
        } => {
            let distance = |point| capsule(point, radius, half_length);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
        Shape::Cuboid { half_size } => {
            let distance = |point| cuboid(point, half_size);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length,
        } => {
            let by = Taper::new(radius_bottom, radius_top, half_length);
            let distance = |point| tapered(point, &by);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
        Shape::Cylinder {
            radius,
            half_height,
        } => {
            let distance = |point| cylinder(point, radius, half_height);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
        Shape::Cone {
            radius,
            half_height,
        } => {
            let by = Slope::new(radius, half_height);
            let distance = |point| cone(point, &by);
            touch_shape::<FIRST>(obstacle, distance, x, y, z, dx, dy, dz, w, touches, start)
        }
    }
}

/// [`touch`] with the distances of the shape.
#[inline(always)]
fn touch_shape<const FIRST: bool>(
    obstacle: &Obstacle,
    distance: impl Fn(Vec3) -> (f32, Vec3) + Copy,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
    touches: &mut [f32],
    start: &mut [[f32; BLOCK]; 3],
) -> bool {
    let near = |at: Vec3| obstacle.depth(at, distance) > 0.0;
    touch_where::<FIRST>(
        obstacle, near, distance, x, y, z, dx, dy, dz, w, touches, start,
    )
}

/// [`touch`] where a particle may only touch if it is near. Small things touch few particles of a block:
/// the other pieces need not be asked what that does to them.
#[inline(always)]
fn touch_where<const FIRST: bool>(
    obstacle: &Obstacle,
    near: impl Fn(Vec3) -> bool + Copy,
    distance: impl Fn(Vec3) -> (f32, Vec3) + Copy,
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
    touches: &mut [f32],
    start: &mut [[f32; BLOCK]; 3],
) -> bool {
    let mut touched = false;
    for first in (0..w.len()).step_by(PIECE) {
        let own = first..w.len().min(first + PIECE);
        let of = own.clone();
        if any(&x[of.clone()], &y[of.clone()], &z[of.clone()], &w[of], near) {
            if FIRST && !touched {
                note(start, touches, [&*x, y, z], [&*dx, dy, dz]);
            }
            touched = true;
            respond(
                obstacle,
                distance,
                &mut x[own.clone()],
                &mut y[own.clone()],
                &mut z[own.clone()],
                &mut dx[own.clone()],
                &mut dy[own.clone()],
                &mut dz[own.clone()],
                &w[own.clone()],
                &mut touches[own],
            );
        }
    }
    touched
}

/// Whether any of these particles that is not pinned is near.
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

/// Moves those of these particles that touch.
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
    touches: &mut [f32],
) {
    let n = w.len();
    let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
    let counts = &mut touches[..n];
    // By value, so that no store can change it.
    let obstacle = *obstacle;
    for i in 0..n {
        let position = Vec3::new(x[i], y[i], z[i]);
        let displacement = Vec3::new(dx[i], dy[i], dz[i]);
        let local = obstacle.local(position);
        let (distance, normal) = obstacle.seen(distance(local));
        let depth = obstacle.thickness - distance;
        let touches = (depth > 0.0) & (w[i] != 0.0);
        counts[i] += select(touches, 1.0, 0.0);
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
