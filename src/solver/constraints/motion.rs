//! Motion constraints: keep particles near moving targets, their positions in an animation.
//!
//! Each particle stays within a maximum distance of its target, and in front of a backstop: a sphere behind the
//! target with a surface that stands for the body, into which a cape must not sink. Clothing tools of game engines
//! call these max distance and backstop. Particles are projected as in a frictionless contact; in position-based
//! form this is the constraint of Müller, Heidelberger, Hennix, Ratcliff, "Position Based Dynamics" (2007), for
//! one particle and a target of infinite mass.

use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, select, soa::SoaVec3},
};
use bevy::math::Vec3;

/// Targets of particles during a step. All lists have one element per particle; a particle beyond their end is
/// free.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct MotionConstraints {
    /// Targets at the beginning of the step, m, relative to the origin of the particles.
    pub start_targets: SoaVec3,
    /// Targets at the end of the step, m.
    pub end_targets: SoaVec3,
    /// Largest distance of each particle from its target, m; infinite for a free particle.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub max_distances: Vec<f32>,
    /// Backstop behind the targets, if there is one.
    pub backstop: Option<BackstopSpheres>,
}

/// Spheres behind the targets, which keep the particles in front.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct BackstopSpheres {
    /// Unit vectors towards the front, at the end of the step.
    pub normal: SoaVec3,
    /// Distance of the surface of the sphere behind the target, m; infinite without a sphere.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub distance: Vec<f32>,
    /// Radius of the spheres, m: large ones keep cloth from slipping around them.
    pub radius: f32,
}

impl MotionConstraints {
    /// Returns whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        self.max_distances.is_empty()
    }

    /// Makes the end targets of the last step the start targets of the next.
    pub fn begin_step(&mut self) {
        std::mem::swap(&mut self.start_targets, &mut self.end_targets);
    }

    /// Moves all targets, to compensate for an opposite move of the origin.
    pub fn shift(&mut self, offset: Vec3) {
        self.start_targets.add_all(offset);
        self.end_targets.add_all(offset);
    }

    /// Projects all particles onto their constraints in substep `substep` of `substeps`. Pinned particles are not
    /// moved.
    pub fn solve(
        &self,
        workers: &mut Workers,
        particles: &mut ParticleArrays,
        [substep, substeps]: [u32; 2],
    ) {
        let count = self.max_distances.len().min(particles.len());
        if count == 0 || self.start_targets.len() < count || self.end_targets.len() < count {
            return;
        }
        let fraction = (substep + 1) as f32 / substeps.max(1) as f32;
        let w = &particles.inverse_mass;
        let parts = particles
            .position
            .chunks_mut(PARTICLES_PER_PART)
            .zip(w.chunks(PARTICLES_PER_PART));
        workers.for_each_part(parts.enumerate(), |(number, (x, w))| {
            let first = number * PARTICLES_PER_PART;
            let last = (first + w.len()).min(count);
            if first >= last {
                return;
            }
            let n = last - first;
            let max_distance_kernel = MaxDistanceKernel {
                start: planes(&self.start_targets, first, last),
                end: planes(&self.end_targets, first, last),
                max_distance: &self.max_distances[first..last],
                fraction,
                x: x.map(|plane| &mut plane[..n]),
                w: &w[..n],
            };
            match &self.backstop {
                Some(back) if back.distance.len() >= last && back.normal.len() >= last => {
                    dispatch(BackstopKernel {
                        max_distance_kernel,
                        normal: planes(&back.normal, first, last),
                        distance: &back.distance[first..last],
                        radius: back.radius,
                    });
                }
                _ => dispatch(max_distance_kernel),
            }
        });
    }
}

fn planes(vectors: &SoaVec3, first: usize, last: usize) -> [&[f32]; 3] {
    [
        &vectors.x[first..last],
        &vectors.y[first..last],
        &vectors.z[first..last],
    ]
}

/// Projects consecutive particles onto their maximum distance.
struct MaxDistanceKernel<'a> {
    start: [&'a [f32]; 3],
    end: [&'a [f32]; 3],
    max_distance: &'a [f32],
    fraction: f32,
    x: [&'a mut [f32]; 3],
    w: &'a [f32],
}

/// Projects consecutive particles onto their backstop, then onto their maximum distance.
struct BackstopKernel<'a> {
    max_distance_kernel: MaxDistanceKernel<'a>,
    normal: [&'a [f32]; 3],
    distance: &'a [f32],
    radius: f32,
}

/// Returns the correction that brings a particle at this offset from its target back within the maximum distance.
#[inline(always)]
fn max_distance_correction([x, y, z]: [f32; 3], max_distance: f32) -> [f32; 3] {
    let away = (x * x + y * y + z * z).sqrt();
    let pull = select(away > max_distance, max_distance / away - 1.0, 0.0);
    // Infinity over 0 and 0 over 0 are not selected.
    [x * pull, y * pull, z * pull]
}

/// Returns the correction that brings a particle at this offset from its target out of the backstop sphere.
#[inline(always)]
fn backstop_correction(
    [x, y, z]: [f32; 3],
    normal: [f32; 3],
    distance: f32,
    radius: f32,
) -> [f32; 3] {
    let exists = distance < f32::INFINITY;
    let behind = select(exists, distance + radius, 0.0);
    let (x, y, z) = (
        x + normal[0] * behind,
        y + normal[1] * behind,
        z + normal[2] * behind,
    );
    let away = (x * x + y * y + z * z).sqrt();
    let inside = exists & (away < radius) & (away > 0.0);
    let push = select(inside, radius / away - 1.0, 0.0);
    [x * push, y * push, z * push]
}

#[cfg(test)]
impl MaxDistanceKernel<'_> {
    /// Returns the target of a particle.
    fn target(&self, k: usize) -> [f32; 3] {
        let [fx, fy, fz] = self.start;
        let [tx, ty, tz] = self.end;
        let between = |from: f32, to: f32| from + (to - from) * self.fraction;
        [
            between(fx[k], tx[k]),
            between(fy[k], ty[k]),
            between(fz[k], tz[k]),
        ]
    }
}

impl Kernel for MaxDistanceKernel<'_> {
    #[inline(always)]
    fn run(self) {
        let n = self.w.len();
        let Self {
            start,
            end,
            max_distance,
            fraction,
            x: [x, y, z],
            w,
        } = self;
        let [fx, fy, fz] = start.map(|plane| &plane[..n]);
        let [tx, ty, tz] = end.map(|plane| &plane[..n]);
        let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
        let (max_distance, w) = (&max_distance[..n], &w[..n]);
        for k in 0..n {
            let px = fx[k] + (tx[k] - fx[k]) * fraction;
            let py = fy[k] + (ty[k] - fy[k]) * fraction;
            let pz = fz[k] + (tz[k] - fz[k]) * fraction;
            let free = select(w[k] > 0.0, 1.0, 0.0);
            let pull = max_distance_correction([x[k] - px, y[k] - py, z[k] - pz], max_distance[k]);
            x[k] += pull[0] * free;
            y[k] += pull[1] * free;
            z[k] += pull[2] * free;
        }
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        for k in 0..self.w.len() {
            let target = Vec3::from(self.target(k));
            let position = Vec3::from(self.x.each_ref().map(|plane| plane[k]));
            let pull =
                max_distance_correction((position - target).to_array(), self.max_distance[k]);
            if self.w[k] > 0.0 {
                for (plane, pull) in self.x.iter_mut().zip(pull) {
                    plane[k] += pull;
                }
            }
        }
    }
}

impl Kernel for BackstopKernel<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            max_distance_kernel:
                MaxDistanceKernel {
                    start,
                    end,
                    max_distance,
                    fraction,
                    x: [x, y, z],
                    w,
                },
            normal,
            distance,
            radius,
        } = self;
        let n = w.len();
        let [fx, fy, fz] = start.map(|plane| &plane[..n]);
        let [tx, ty, tz] = end.map(|plane| &plane[..n]);
        let [nx, ny, nz] = normal.map(|plane| &plane[..n]);
        let (x, y, z) = (&mut x[..n], &mut y[..n], &mut z[..n]);
        let (max_distance, distance, w) = (&max_distance[..n], &distance[..n], &w[..n]);
        for k in 0..n {
            let px = fx[k] + (tx[k] - fx[k]) * fraction;
            let py = fy[k] + (ty[k] - fy[k]) * fraction;
            let pz = fz[k] + (tz[k] - fz[k]) * fraction;
            let free = select(w[k] > 0.0, 1.0, 0.0);
            let offset = [x[k] - px, y[k] - py, z[k] - pz];
            let out = backstop_correction(offset, [nx[k], ny[k], nz[k]], distance[k], radius);
            let offset = [offset[0] + out[0], offset[1] + out[1], offset[2] + out[2]];
            let pull = max_distance_correction(offset, max_distance[k]);
            x[k] += (out[0] + pull[0]) * free;
            y[k] += (out[1] + pull[1]) * free;
            z[k] += (out[2] + pull[2]) * free;
        }
    }

    #[cfg(test)]
    fn run_reference(self) {
        let Self {
            mut max_distance_kernel,
            normal,
            distance,
            radius,
        } = self;
        for (k, &distance) in distance.iter().enumerate() {
            let target = Vec3::from(max_distance_kernel.target(k));
            let offset =
                Vec3::from(max_distance_kernel.x.each_ref().map(|plane| plane[k])) - target;
            let front = normal.map(|plane| plane[k]);
            let out = Vec3::from(backstop_correction(
                offset.to_array(),
                front,
                distance,
                radius,
            ));
            let pull = Vec3::from(max_distance_correction(
                (offset + out).to_array(),
                max_distance_kernel.max_distance[k],
            ));
            if max_distance_kernel.w[k] > 0.0 {
                for (plane, pull) in max_distance_kernel
                    .x
                    .iter_mut()
                    .zip((out + pull).to_array())
                {
                    plane[k] += pull;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
