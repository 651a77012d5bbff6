//! Aerodynamic forces on triangles with arbitrary particle indices.

use super::{AirCoefficients, CornerRows, triangle_forces};
use crate::solver::{
    parallel::{split::chunk_ranges, workers::Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, soa::SoaVec3},
    triangles::{
        Triangles,
        corners::{BLOCK, Corners},
    },
};
use std::{cell::RefCell, ops::Range};

/// Adds the acceleration by the air on a range of triangles.
pub(super) fn apply(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    range: Range<usize>,
    coefficients: AirCoefficients,
) {
    if range.is_empty() {
        return;
    }
    // Serially, the forces of each block of triangles are scattered while it is in the cache.
    if workers.is_serial() {
        dispatch(ApplyAirSerial {
            particles,
            triangles,
            range,
            coefficients,
        });
    } else {
        FORCES.with_borrow_mut(|forces| {
            apply_parallel(workers, particles, triangles, range, coefficients, forces);
        });
    }
}

/// Triangles whose forces are computed while those of the batch before are scattered.
const BATCH: usize = 128 * BLOCK;

/// Triangles of a part.
const TRIANGLES_PER_PART: usize = 16 * BLOCK;

/// Thirds of the forces on triangles: x, y and z.
type ForcePlanes = [Vec<f32>; 3];

thread_local! {
    /// Scratch buffers for two batches.
    static FORCES: RefCell<[ForcePlanes; 2]> = RefCell::default();
}

/// Adds the acceleration by the air, split over workers.
///
/// Triangles share corners, so a single thread scatters the forces to the corners, in the order of the triangles.
/// Meanwhile the other threads compute the forces of the next batch.
fn apply_parallel(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    range: Range<usize>,
    coefficients: AirCoefficients,
    forces: &mut [ForcePlanes; 2],
) {
    for plane in forces.as_flattened_mut() {
        plane.resize(BATCH, 0.0);
    }
    let ParticleArrays {
        position,
        displacement,
        acceleration,
        inverse_mass,
        ..
    } = particles;
    let motion = ParticleMotion::new(position, displacement);
    let indices = &triangles.indices;
    let [now, before] = forces;
    let mut previous = 0..0;
    // One round more than there are batches, to scatter the forces of the last one.
    for next in chunk_ranges(range, BATCH).chain(std::iter::once(0..0)) {
        let planes = now.each_mut();
        let [x, y, z] = planes.map(|plane| plane.chunks_mut(TRIANGLES_PER_PART));
        let outputs = x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]);
        let compute = chunk_ranges(next.clone(), TRIANGLES_PER_PART).zip(outputs);
        let compute = compute.map(|(range, force)| AirTask::ComputeForces(range, force));
        let mut parts = [const { None }; 1 + BATCH / TRIANGLES_PER_PART];
        let scatter = std::iter::once(AirTask::ScatterForces(&mut *acceleration));
        for (slot, part) in parts.iter_mut().zip(scatter.chain(compute)) {
            *slot = Some(part);
        }
        workers.for_each_part(parts.into_iter(), |part| match part {
            Some(AirTask::ComputeForces(range, force)) => dispatch(ComputeForces {
                motion,
                area: &triangles.rest_area[range.clone()],
                range,
                indices,
                coefficients,
                force,
            }),
            Some(AirTask::ScatterForces(acceleration)) => {
                scatter_batch(
                    acceleration,
                    inverse_mass,
                    indices,
                    previous.clone(),
                    before,
                );
            }
            None => {}
        });
        previous = next;
        std::mem::swap(now, before);
    }
}

/// Adds the acceleration by the forces of a batch of triangles to its corners.
fn scatter_batch(
    acceleration: &mut SoaVec3,
    inverse_mass: &[f32],
    indices: &Corners,
    batch: Range<usize>,
    forces: &ForcePlanes,
) {
    let mut buffer = [[0; 3]; BLOCK];
    for (number, block) in chunk_ranges(batch, BLOCK).enumerate() {
        let corners = indices.unpack(block, &mut buffer);
        let forces = forces.each_ref().map(|plane| &plane[number * BLOCK..]);
        scatter_forces(acceleration, inverse_mass, corners, forces);
    }
}

/// Part of a stage.
enum AirTask<'a> {
    /// Computes the forces on a range of triangles.
    ComputeForces(Range<usize>, [&'a mut [f32]; 3]),
    /// Scatters the forces of the batch before to its corners.
    ScatterForces(&'a mut SoaVec3),
}

/// Positions and displacements of all particles.
#[derive(Clone, Copy)]
struct ParticleMotion<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
}

impl<'a> ParticleMotion<'a> {
    #[inline(always)]
    fn new(x: &'a SoaVec3, d: &'a SoaVec3) -> Self {
        // Slices of the same length save bounds checks.
        let n = x.len();
        Self {
            x: x.planes().map(|plane| &plane[..n]),
            d: d.planes().map(|plane| &plane[..n]),
        }
    }
}

/// Kernel that computes a third of the force on each triangle of a range. [`ApplyAirSerial`] has the scalar reference.
struct ComputeForces<'a> {
    motion: ParticleMotion<'a>,
    indices: &'a Corners,
    range: Range<usize>,
    area: &'a [f32],
    coefficients: AirCoefficients,
    force: [&'a mut [f32]; 3],
}

impl Kernel for ComputeForces<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            motion,
            indices,
            range,
            area,
            coefficients,
            force: [x, y, z],
        } = self;
        let blocks = range.clone().step_by(BLOCK).zip(area.chunks(BLOCK));
        let to = (x.chunks_mut(BLOCK))
            .zip(y.chunks_mut(BLOCK))
            .zip(z.chunks_mut(BLOCK));
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        let mut buffer = [[0; 3]; BLOCK];
        for ((start, area), ((x, y), z)) in blocks.zip(to) {
            let corners = indices.unpack(start..start + area.len(), &mut buffer);
            gather_corners(motion, corners, &mut rows);
            triangle_forces(coefficients, &rows, area, &mut force);
            let n = corners.len();
            x[..n].copy_from_slice(&force[0][..n]);
            y[..n].copy_from_slice(&force[1][..n]);
            z[..n].copy_from_slice(&force[2][..n]);
        }
    }
}

/// Gathers the inputs of [`triangle_forces`] from the corners of a block.
#[inline(always)]
fn gather_corners(motion: ParticleMotion, corners: &[[u32; 3]], rows: &mut CornerRows) {
    let ([x, y, z], [dx, dy, dz]) = (motion.x, motion.d);
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

/// Adds the acceleration by a third of each triangle's force to its corners.
#[inline(always)]
fn scatter_forces(acceleration: &mut SoaVec3, w: &[f32], corners: &[[u32; 3]], force: [&[f32]; 3]) {
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

/// Kernel that computes and scatters the forces on a range of triangles, block by block.
struct ApplyAirSerial<'a> {
    particles: &'a mut ParticleArrays,
    triangles: &'a Triangles,
    range: Range<usize>,
    coefficients: AirCoefficients,
}

impl Kernel for ApplyAirSerial<'_> {
    #[inline(always)]
    fn run(self) {
        let ParticleArrays {
            position,
            displacement,
            acceleration,
            inverse_mass,
            ..
        } = self.particles;
        let motion = ParticleMotion::new(position, displacement);
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        let mut buffer = [[0; 3]; BLOCK];
        let Triangles {
            indices, rest_area, ..
        } = self.triangles;
        for start in self.range.clone().step_by(BLOCK) {
            let block = start..(start + BLOCK).min(self.range.end);
            let corners = indices.unpack(block.clone(), &mut buffer);
            let area = &rest_area[block];
            gather_corners(motion, corners, &mut rows);
            triangle_forces(self.coefficients, &rows, area, &mut force);
            let force = force.each_ref().map(|plane| &plane[..]);
            scatter_forces(acceleration, inverse_mass, corners, force);
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let triangles = self.triangles;
        for number in self.range {
            let (corners, area) = (triangles.indices.at(number), triangles.rest_area[number]);
            let corners = corners.map(|i| i as usize);
            let [a, b, c] = corners.map(|i| self.particles.position.get(i));
            let [da, db, dc] = corners.map(|i| self.particles.displacement.get(i));
            let coefficients = &self.coefficients;
            let force = coefficients.velocity_change(da + db + dc, b - a, c - a)
                * (area * coefficients.force_per_velocity);
            for i in corners {
                self.particles.add_force(i, force);
            }
        }
    }
}
