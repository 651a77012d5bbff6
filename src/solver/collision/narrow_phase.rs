//! Contacts of particles with shape colliders in one substep: detection, push-out and friction.
//!
//! Particles are processed in blocks of neighbours in memory, which are mostly neighbours in space. A
//! collider farther from the bounding box of a block than the thickness is skipped; for the
//! others all distances of the block are computed, sub-block by sub-block, and contacts are resolved only in
//! sub-blocks that contain a particle close enough. Colliders act on each particle in their order, as in the
//! scalar reference.
//!
//! Where two colliders overlap or nearly touch, each pushes particles into the other, and constraints would
//! turn that into velocity without motion. So a particle in contact with several colliders in one substep keeps
//! a displacement no longer than its actual movement.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

mod collider_at_substep;
use crate::solver::{
    collision::shape::{
        Shape,
        distance::{
            ConeProfile, TaperedCapsuleProfile, capsule, cone, cuboid, cylinder, sphere,
            tapered_capsule,
        },
    },
    simd::{
        Kernel, LANES, select, select_vec3,
        soa::{corners, range},
    },
};
use bevy::math::Vec3;
pub(in crate::solver) use {
    self::collider_at_substep::{ColliderAtSubstep, normal_length},
    crate::solver::collision::broad_phase::Boxes,
};

/// Particles per block.
const BLOCK: usize = 64;

/// Particles per sub-block: the unit in which contacts are detected and resolved.
const SUB_BLOCK: usize = 16;

/// Resolves the contacts of consecutive particles with all colliders.
pub(in crate::solver) struct Contacts<'a> {
    /// Positions relative to the origin of the particles, m.
    pub(in crate::solver) x: [&'a mut [f32]; 3],
    /// Displacements in this substep, m.
    pub(in crate::solver) d: [&'a mut [f32]; 3],
    /// Inverse masses, 1/kg.
    pub(in crate::solver) w: &'a [f32],
    /// Normals of the contacts; those of other particles stay as they are.
    pub(in crate::solver) normals: [&'a mut [f32]; 3],
    pub(in crate::solver) colliders: &'a [ColliderAtSubstep],
    /// Bounding boxes of the colliders ([`ColliderAtSubstep::aabb`]).
    pub(in crate::solver) boxes: &'a Boxes,
}

impl Kernel for Contacts<'_> {
    #[inline(always)]
    fn run(self) {
        let ([x, y, z], [dx, dy, dz], [nx, ny, nz]) = (self.x, self.d, self.normals);
        let blocks = (x.chunks_mut(BLOCK))
            .zip(y.chunks_mut(BLOCK))
            .zip(z.chunks_mut(BLOCK))
            .zip(dx.chunks_mut(BLOCK))
            .zip(dy.chunks_mut(BLOCK))
            .zip(dz.chunks_mut(BLOCK))
            .zip(self.w.chunks(BLOCK))
            .zip(nx.chunks_mut(BLOCK))
            .zip(ny.chunks_mut(BLOCK))
            .zip(nz.chunks_mut(BLOCK));
        // Overwritten in each block before they are read.
        let mut start = [[0.0; BLOCK]; 3];
        let mut touches = [0.0; BLOCK];
        for (((((((((x, y), z), dx), dy), dz), w), nx), ny), nz) in blocks {
            let mut bounds = corners([range(x), range(y), range(z)]);
            let (mut touched, mut several) = (false, false);
            let touches = &mut touches[..w.len()];
            // Loops instead of iterators: closures would not be compiled for the SIMD level.
            for group in 0..self.boxes.groups() {
                let mut near = self.boxes.overlapping(group, &bounds);
                while near != 0 {
                    let lane = near.trailing_zeros();
                    near &= near - 1;
                    let collider = &self.colliders[group * LANES + lane as usize];
                    if !collider.may_touch(&bounds) {
                        continue;
                    }
                    let mut block = ContactBlock {
                        x: [&mut *x, &mut *y, &mut *z],
                        d: [&mut *dx, &mut *dy, &mut *dz],
                        w,
                        normals: [&mut *nx, &mut *ny, &mut *nz],
                        touches: &mut *touches,
                        start: &mut start,
                    };
                    let has_contact = if touched {
                        collide_block::<false>(collider, &mut block)
                    } else {
                        collide_block::<true>(collider, &mut block)
                    };
                    if has_contact {
                        several |= touched;
                        touched = true;
                        // The push-out may have moved particles into any of the remaining colliders.
                        bounds = corners([range(x), range(y), range(z)]);
                        near = self.boxes.overlapping(group, &bounds) & (!1 << lane);
                    }
                }
            }
            if several {
                clamp_displacements(&start, touches, [x, y, z], [dx, dy, dz]);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let Self {
            mut x,
            mut d,
            w,
            mut normals,
            ..
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
            for collider in self.colliders {
                let position = get(&x, i);
                let local = collider.local_point(position);
                let (distance, normal) = collider.oriented(collider.shape.distance(local));
                let normal = collider.world_vector(normal);
                let length = collider.normal_length(distance);
                let nearest = nearest_normal(get(&normals, i), normal, length);
                if collider.records_normals {
                    set(&mut normals, i, nearest);
                }
                let depth = collider.thickness - distance;
                if depth <= 0.0 || depth.is_nan() {
                    continue;
                }
                let displacement = get(&d, i);
                let [push_out, approach, friction] =
                    collider.respond_along(displacement, local, normal, depth);
                set(&mut x, i, position + push_out - friction);
                set(&mut d, i, displacement - approach - friction);
                touches += 1;
            }
            let (moved, displacement) = (get(&x, i) - start, get(&d, i));
            if touches > 1 && moved.length_squared() < displacement.length_squared() {
                set(&mut d, i, moved);
            }
        }
    }
}

/// Records the positions of the particles of a block at the beginning of the substep, and resets their contact
/// counts.
#[inline(always)]
fn record_start(
    start: &mut [[f32; BLOCK]; 3],
    touches: &mut [f32],
    x: [&[f32]; 3],
    d: [&[f32]; 3],
) {
    touches.fill(0.0);
    for ((start, x), d) in start.iter_mut().zip(x).zip(d) {
        for ((start, x), d) in start.iter_mut().zip(x).zip(d) {
            *start = x - d;
        }
    }
}

/// Limits the displacement of particles in contact with several colliders to their actual movement.
#[inline(always)]
fn clamp_displacements(
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
        let moved = Vec3::new(x[i] - sx[i], y[i] - sy[i], z[i] - sz[i]);
        let displacement = Vec3::new(dx[i], dy[i], dz[i]);
        let shorter = moved.length_squared() < displacement.length_squared();
        let clamped = select_vec3((touches[i] > 1.0) & shorter, moved, displacement);
        (dx[i], dy[i], dz[i]) = clamped.into();
    }
}

/// Block of consecutive particles.
struct ContactBlock<'a> {
    x: [&'a mut [f32]; 3],
    d: [&'a mut [f32]; 3],
    w: &'a [f32],
    normals: [&'a mut [f32]; 3],
    /// Number of colliders that each particle has touched in this substep.
    touches: &'a mut [f32],
    /// Positions at the beginning of the substep.
    start: &'a mut [[f32; BLOCK]; 3],
}

/// Resolves the contacts of a block of particles with one collider. Returns whether any particle may have moved.
/// `FIRST`: no collider has touched the block yet, so the first contact records where its particles came from.
#[inline(always)]
fn collide_block<const FIRST: bool>(
    collider: &ColliderAtSubstep,
    block: &mut ContactBlock,
) -> bool {
    match collider.shape {
        Shape::Sphere { radius } => {
            // Proximity to a sphere needs neither its frame nor a square root.
            let limit = collider.max_centre_distance_squared;
            let near = |at: Vec3| (at - collider.centre).length_squared() <= limit;
            let distance = |point| sphere(point, radius, Vec3::Y);
            collide_near::<FIRST>(collider, near, distance, block)
        }
        Shape::HalfSpace => collide_shape::<FIRST>(collider, |point| (point.y, Vec3::Y), block),
        Shape::Capsule {
            radius,
            half_length,
        } => collide_shape::<FIRST>(collider, |point| capsule(point, radius, half_length), block),
        Shape::Cuboid { half_size } => {
            collide_shape::<FIRST>(collider, |point| cuboid(point, half_size), block)
        }
        Shape::TaperedCapsule {
            radius_bottom,
            radius_top,
            half_length,
        } => {
            let profile = TaperedCapsuleProfile::new(radius_bottom, radius_top, half_length);
            collide_shape::<FIRST>(collider, |point| tapered_capsule(point, &profile), block)
        }
        Shape::Cylinder {
            radius,
            half_height,
        } => collide_shape::<FIRST>(
            collider,
            |point| cylinder(point, radius, half_height),
            block,
        ),
        Shape::Cone {
            radius,
            half_height,
        } => {
            let profile = ConeProfile::new(radius, half_height);
            collide_shape::<FIRST>(collider, |point| cone(point, &profile), block)
        }
    }
}

/// [`collide_block`] for a shape given by its distance function.
#[inline(always)]
fn collide_shape<const FIRST: bool>(
    collider: &ColliderAtSubstep,
    distance: impl Fn(Vec3) -> (f32, Vec3) + Copy,
    block: &mut ContactBlock,
) -> bool {
    let near = |at: Vec3| collider.nearness(at, distance) > 0.0;
    collide_near::<FIRST>(collider, near, distance, block)
}

/// [`collide_block`] for a shape given by its distance function and a cheaper test for proximity. Small
/// colliders touch few particles of a block, so contacts are computed only in sub-blocks with a particle near.
#[inline(always)]
fn collide_near<const FIRST: bool>(
    collider: &ColliderAtSubstep,
    near: impl Fn(Vec3) -> bool + Copy,
    distance: impl Fn(Vec3) -> (f32, Vec3) + Copy,
    block: &mut ContactBlock,
) -> bool {
    let ContactBlock {
        x: [x, y, z],
        d: [dx, dy, dz],
        w,
        normals: [nx, ny, nz],
        touches,
        start,
    } = block;
    let mut touched = false;
    for first in (0..w.len()).step_by(SUB_BLOCK) {
        let range = first..w.len().min(first + SUB_BLOCK);
        let r = range.clone();
        if any_near(&x[r.clone()], &y[r.clone()], &z[r.clone()], &w[r], near) {
            if FIRST && !touched {
                record_start(start, touches, [x, y, z], [dx, dy, dz]);
            }
            touched = true;
            resolve_contacts(
                collider,
                distance,
                &mut x[range.clone()],
                &mut y[range.clone()],
                &mut z[range.clone()],
                &mut dx[range.clone()],
                &mut dy[range.clone()],
                &mut dz[range.clone()],
                &w[range.clone()],
                &mut nx[range.clone()],
                &mut ny[range.clone()],
                &mut nz[range.clone()],
                &mut touches[range],
            );
        }
    }
    touched
}

/// Returns whether any of the particles that are not pinned is near.
#[inline(always)]
fn any_near(x: &[f32], y: &[f32], z: &[f32], w: &[f32], near: impl Fn(Vec3) -> bool) -> bool {
    let n = w.len();
    let (x, y, z) = (&x[..n], &y[..n], &z[..n]);
    let mut any = 0;
    for i in 0..n {
        let near = near(Vec3::new(x[i], y[i], z[i]));
        any |= u32::from(near) & u32::from(w[i] != 0.0);
    }
    any != 0
}

/// Returns the longer one of the normal recorded last, and another one of this length.
#[inline(always)]
pub(in crate::solver) fn nearest_normal(last: Vec3, normal: Vec3, length: f32) -> Vec3 {
    let is_longer = length * length > last.length_squared();
    select_vec3((length > 0.0) & is_longer, normal * length, last)
}

/// Resolves the contacts of a sub-block of particles with a collider. Slices as parameters do not overlap for the
/// compiler, and those in a struct may; so there is one for each plane.
#[inline(always)]
fn resolve_contacts(
    collider: &ColliderAtSubstep,
    distance: impl Fn(Vec3) -> (f32, Vec3),
    x: &mut [f32],
    y: &mut [f32],
    z: &mut [f32],
    dx: &mut [f32],
    dy: &mut [f32],
    dz: &mut [f32],
    w: &[f32],
    nx: &mut [f32],
    ny: &mut [f32],
    nz: &mut [f32],
    touches: &mut [f32],
) {
    let n = w.len();
    let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let (dx, dy, dz) = (&mut dx[..n], &mut dy[..n], &mut dz[..n]);
    let (nx, ny, nz) = (&mut nx[..n], &mut ny[..n], &mut nz[..n]);
    let counts = &mut touches[..n];
    // By value, so that the compiler knows that no store changes it.
    let collider = *collider;
    for i in 0..n {
        let position = Vec3::new(x[i], y[i], z[i]);
        let displacement = Vec3::new(dx[i], dy[i], dz[i]);
        let local = collider.local_point(position);
        let (distance, normal) = collider.oriented(distance(local));
        let depth = collider.thickness - distance;
        let touches = (depth > 0.0) & (w[i] != 0.0);
        counts[i] += select(touches, 1.0, 0.0);
        let normal = collider.world_vector(normal);
        let last = Vec3::new(nx[i], ny[i], nz[i]);
        let nearest = nearest_normal(last, normal, collider.normal_length(distance));
        let records = collider.records_normals & (w[i] != 0.0);
        (nx[i], ny[i], nz[i]) = select_vec3(records, nearest, last).into();
        let [push_out, approach, friction] =
            collider.respond_along(displacement, local, normal, depth);
        let push_out = select_vec3(touches, push_out, Vec3::splat(-0.0));
        let approach = select_vec3(touches, approach, Vec3::ZERO);
        let friction = select_vec3(touches, friction, Vec3::ZERO);
        let position = position + push_out - friction;
        let displacement = displacement - approach - friction;
        (x[i], y[i], z[i]) = position.into();
        (dx[i], dy[i], dz[i]) = displacement.into();
    }
}

#[cfg(test)]
mod tests;
