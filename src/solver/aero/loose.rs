//! The force of the air on triangles between particles anywhere.

use super::{Catch, Rows, forces};
use crate::solver::{
    corners::{BLOCK, Corners},
    crew::Leader,
    particles::ParticleArrays,
    simd::{Kernel, SimdLevel, dispatch},
    soa::SoaVec3,
    triangles::Triangles,
};
use std::{cell::RefCell, ops::Range};

/// Adds the acceleration by the air on some triangles.
pub(super) fn apply(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    some: Range<usize>,
    by: Catch,
) {
    if some.is_empty() {
        return;
    }
    // Alone, what a block of triangles asks for is given to its corners while it is in the cache.
    if leader.is_alone() || SimdLevel::current() == SimdLevel::Scalar {
        dispatch(ApplyAir {
            particles,
            triangles,
            some,
            by,
        });
    } else {
        FORCES.with_borrow_mut(|forces| shared(leader, particles, triangles, some, by, forces));
    }
}

/// Triangles whose forces are found while those of as many others are given to their corners.
const STRETCH: usize = 128 * BLOCK;

/// Triangles of a part.
const SHARE: usize = 16 * BLOCK;

/// Forces on triangles, a third of them.
type Forces = [Vec<f32>; 3];

thread_local! {
    /// Room for two stretches.
    static FORCES: RefCell<[Forces; 2]> = RefCell::default();
}

/// Triangles share corners, so one thread alone gives the corners their forces, in the order of the
/// triangles; meanwhile the others find the forces of the next stretch.
fn shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    some: Range<usize>,
    by: Catch,
    forces: &mut [Forces; 2],
) {
    for plane in forces.as_flattened_mut() {
        plane.resize(STRETCH, 0.0);
    }
    let ParticleArrays {
        position,
        displacement,
        acceleration,
        inverse_mass,
        ..
    } = particles;
    let moving = Moving::of(position, displacement);
    let indices = &triangles.indices;
    let stretches = some.clone().step_by(STRETCH);
    let stretches = stretches.map(|start| start..(start + STRETCH).min(some.end));
    let [now, before] = forces;
    let mut given = 0..0;
    // Once more than there are stretches, for the forces of the last one.
    for next in stretches.map(Some).chain([None]) {
        let next = next.unwrap_or_default();
        let [x, y, z] = now.each_mut().map(|plane| plane.chunks_mut(SHARE));
        let found = x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]);
        let found = next.clone().step_by(SHARE).zip(found);
        let end = next.end;
        let finding =
            found.map(move |(start, force)| Part::Find(start..(start + SHARE).min(end), force));
        let mut parts = [const { None }; 1 + STRETCH / SHARE];
        let giving = std::iter::once(Part::Give(&mut *acceleration));
        for (place, part) in parts.iter_mut().zip(giving.chain(finding)) {
            *place = Some(part);
        }
        leader.each(parts.into_iter(), |part| match part {
            Some(Part::Find(some, force)) => dispatch(Find {
                moving,
                area: &triangles.rest_area[some.clone()],
                some,
                indices,
                by,
                force,
            }),
            Some(Part::Give(acceleration)) => {
                let mut room = [[0; 3]; BLOCK];
                for (number, start) in given.clone().step_by(BLOCK).enumerate() {
                    let corners = indices.unpack(start..(start + BLOCK).min(given.end), &mut room);
                    let before = before.each_ref().map(|plane| &plane[number * BLOCK..]);
                    give(acceleration, inverse_mass, corners, before);
                }
            }
            None => {}
        });
        given = next;
        std::mem::swap(now, before);
    }
}

/// What one thread does of the air.
enum Part<'a> {
    /// Finds the forces on these triangles.
    Find(Range<usize>, [&'a mut [f32]; 3]),
    /// Gives all that were found before to the corners.
    Give(&'a mut SoaVec3),
}

/// Where all particles are, and by how much they have moved.
#[derive(Clone, Copy)]
struct Moving<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
}

impl<'a> Moving<'a> {
    #[inline(always)]
    fn of(x: &'a SoaVec3, d: &'a SoaVec3) -> Self {
        // All cut to the same length, which spares bounds checks.
        let n = x.len();
        Self {
            x: [&x.x[..n], &x.y[..n], &x.z[..n]],
            d: [&d.x[..n], &d.y[..n], &d.z[..n]],
        }
    }
}

/// Finds a third of the force on each of some triangles.
struct Find<'a> {
    moving: Moving<'a>,
    indices: &'a Corners,
    some: Range<usize>,
    area: &'a [f32],
    by: Catch,
    force: [&'a mut [f32]; 3],
}

impl Kernel for Find<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            moving,
            indices,
            some,
            area,
            by,
            force: [x, y, z],
        } = self;
        let blocks = some.clone().step_by(BLOCK).zip(area.chunks(BLOCK));
        let to = (x.chunks_mut(BLOCK))
            .zip(y.chunks_mut(BLOCK))
            .zip(z.chunks_mut(BLOCK));
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        let mut room = [[0; 3]; BLOCK];
        for ((start, area), ((x, y), z)) in blocks.zip(to) {
            let corners = indices.unpack(start..start + area.len(), &mut room);
            gather(moving, corners, &mut rows);
            forces(by, &rows, area, &mut force);
            let n = corners.len();
            x[..n].copy_from_slice(&force[0][..n]);
            y[..n].copy_from_slice(&force[1][..n]);
            z[..n].copy_from_slice(&force[2][..n]);
        }
    }

    /// At that level nothing is shared.
    fn run_scalar(self) {
        self.run();
    }
}

/// What the corners of a block give: moved, ab, ac.
#[inline(always)]
fn gather(moving: Moving, corners: &[[u32; 3]], rows: &mut Rows) {
    let ([x, y, z], [dx, dy, dz]) = (moving.x, moving.d);
    for (k, corners) in corners.iter().enumerate() {
        let [a, b, c] = corners.map(|i| i as usize);
        rows[0][k] = dx[a] + dx[b] + dx[c];
        rows[1][k] = dy[a] + dy[b] + dy[c];
        rows[2][k] = dz[a] + dz[b] + dz[c];
        rows[3][k] = x[b] - x[a];
        rows[4][k] = y[b] - y[a];
        rows[5][k] = z[b] - z[a];
        rows[6][k] = x[c] - x[a];
        rows[7][k] = y[c] - y[a];
        rows[8][k] = z[c] - z[a];
    }
}

/// Gives each triangle's force to its corners.
#[inline(always)]
fn give(acceleration: &mut SoaVec3, w: &[f32], corners: &[[u32; 3]], force: [&[f32]; 3]) {
    let n = w.len();
    let SoaVec3 { x, y, z } = acceleration;
    let (ax, ay, az) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    let force = force.map(|plane| &plane[..corners.len()]);
    for (k, corners) in corners.iter().enumerate() {
        for i in corners.map(|i| i as usize) {
            ax[i] += force[0][k] * w[i];
            ay[i] += force[1][k] * w[i];
            az[i] += force[2][k] * w[i];
        }
    }
}

struct ApplyAir<'a> {
    particles: &'a mut ParticleArrays,
    triangles: &'a Triangles,
    some: Range<usize>,
    by: Catch,
}

impl Kernel for ApplyAir<'_> {
    #[inline(always)]
    fn run(self) {
        let ParticleArrays {
            position,
            displacement,
            acceleration,
            inverse_mass,
            ..
        } = self.particles;
        let moving = Moving::of(position, displacement);
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        let mut room = [[0; 3]; BLOCK];
        let Triangles {
            indices, rest_area, ..
        } = self.triangles;
        for start in self.some.clone().step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.some.end);
            let corners = indices.unpack(block.clone(), &mut room);
            let area = &rest_area[block];
            gather(moving, corners, &mut rows);
            forces(self.by, &rows, area, &mut force);
            let force = force.each_ref().map(|plane| &plane[..]);
            give(acceleration, inverse_mass, corners, force);
        }
    }

    fn run_scalar(self) {
        let triangles = self.triangles;
        for number in self.some {
            let (corners, area) = (triangles.indices.at(number), triangles.rest_area[number]);
            let corners = corners.map(|i| i as usize);
            let [a, b, c] = corners.map(|i| self.particles.position.get(i));
            let [da, db, dc] = corners.map(|i| self.particles.displacement.get(i));
            let force = self.by.gained(da + db + dc, b - a, c - a) * (area * self.by.third);
            for i in corners {
                self.particles.add_force(i, force);
            }
        }
    }
}
