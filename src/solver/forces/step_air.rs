//! Forces of the air in a step: once for the whole step or, in a storm, in every substep, of which there are then more.
//!
//! The forces depend on the velocity, and are computed from that before them. Over a time in which they change it by
//! much, that is wrong: light cloth in strong wind would be thrown to and fro.

use crate::solver::{
    forces::{
        aero::{Air, apply_uniform_air},
        rope_drag::{RopeSegments, apply_rope_drag},
        wind_field::{WindField, find_headwind},
    },
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
    triangles::Triangles,
};
use bevy::math::Vec3;
use std::{cell::RefCell, mem::swap};

/// Largest change of the velocity relative to the air in a step, as a fraction of it, up to which the forces are
/// computed once.
const MAX_CHANGE_PER_STEP: f32 = 0.5;

/// Air around a cloth in a step.
#[derive(Clone, Debug, Default)]
pub struct StepAir {
    /// Air with the uniform wind.
    air: Air,
    /// Velocity of resting particles relative to the local wind, m/s; empty if there is none.
    headwind: SoaVec3,
    /// Whether the forces act in every substep.
    is_storm: bool,
}

/// Surfaces of a cloth on which the air acts.
#[derive(Clone, Copy)]
pub struct AirSurface<'a> {
    /// Triangles of a sheet.
    pub triangles: &'a Triangles,
    /// Segments of a rope.
    pub segments: Option<&'a RopeSegments>,
}

impl<'a> From<&'a Triangles> for AirSurface<'a> {
    fn from(triangles: &'a Triangles) -> Self {
        Self {
            triangles,
            segments: None,
        }
    }
}

thread_local! {
    /// Scratch buffer for accelerations by the air.
    static ACCELERATION: RefCell<SoaVec3> = RefCell::default();
    /// Scratch buffer for displacements relative to the local wind.
    static RELATIVE: RefCell<SoaVec3> = RefCell::default();
}

impl StepAir {
    /// Begins a step of `dt` seconds, with the wind of `air` plus that of a field. Except in a storm, adds the
    /// acceleration by the air to every particle: drag and lift on triangles, and drag on segments of ropes. The wind at
    /// a triangle or a segment is the mean of the wind at its corners.
    pub fn begin_step(
        &mut self,
        workers: &mut Workers,
        field: &WindField,
        particles: &mut ParticleArrays,
        surface: AirSurface,
        air: &Air,
        dt: f32,
    ) {
        self.air = *air;
        find_headwind(workers, field, particles, air, &mut self.headwind);
        // Fraction of the relative velocity by which drag and lift change it, per second and relative speed.
        let change = 0.5 * air.density * (air.drag + air.lift) / air.areal_density;
        self.is_storm = change > 0.0
            && change * max_relative_speed(particles, field, air) * dt > MAX_CHANGE_PER_STEP;
        if !self.is_storm {
            self.add_accelerations(workers, particles, surface, dt);
        }
    }

    /// In a storm, changes the velocities by the forces of the air over a substep of `dt` seconds.
    pub(in crate::solver) fn act_in_substep(
        &self,
        workers: &mut Workers,
        particles: &mut ParticleArrays,
        surface: AirSurface,
        dt: f32,
    ) {
        if !self.is_storm {
            return;
        }
        ACCELERATION.with_borrow_mut(|acceleration| {
            acceleration.resize(particles.len());
            acceleration.fill(Vec3::ZERO);
            swap(&mut particles.acceleration, acceleration);
            self.add_accelerations(workers, particles, surface, dt);
            swap(&mut particles.acceleration, acceleration);
            let time_squared = dt * particles.last_dt;
            particles
                .displacement
                .add_scaled(acceleration, time_squared);
        });
    }

    /// Adds the acceleration by the air to every particle, averaged over `dt` seconds.
    fn add_accelerations(
        &self,
        workers: &mut Workers,
        particles: &mut ParticleArrays,
        surface: AirSurface,
        dt: f32,
    ) {
        if self.headwind.is_empty() {
            return self.add_by_uniform_air(workers, particles, surface, dt);
        }
        RELATIVE.with_borrow_mut(|relative| {
            relative.resize(particles.len());
            relative.copy_from(&particles.displacement);
            relative.add_scaled(&self.headwind, particles.last_dt);
            swap(&mut particles.displacement, relative);
            self.add_by_uniform_air(workers, particles, surface, dt);
            swap(&mut particles.displacement, relative);
        });
    }

    /// Adds the acceleration by the air to every particle, with the uniform wind alone.
    fn add_by_uniform_air(
        &self,
        workers: &mut Workers,
        particles: &mut ParticleArrays,
        surface: AirSurface,
        dt: f32,
    ) {
        apply_uniform_air(workers, particles, surface.triangles, &self.air, dt);
        if let Some(segments) = surface.segments {
            apply_rope_drag(particles, segments, &self.air, dt);
        }
    }
}

/// Returns an upper bound of the speed of particles relative to the air, m/s.
pub(in crate::solver) fn max_relative_speed(
    particles: &ParticleArrays,
    field: &WindField,
    air: &Air,
) -> f32 {
    let Some((low, high)) = particles.displacement.bounds() else {
        return 0.0;
    };
    let [low, high] = [low, high].map(|displacement| displacement / particles.last_dt - air.wind);
    low.abs().max(high.abs()).length() + field.max_speed(particles)
}

/// Returns a triangle of 0.1 m.
#[cfg(test)]
pub(in crate::solver) fn triangle() -> (ParticleArrays, Triangles) {
    let corners = [Vec3::ZERO, Vec3::X * 0.1, Vec3::Z * 0.1];
    let corners: SoaVec3 = corners.into_iter().collect();
    let triangles = Triangles::new(vec![[0, 1, 2]], &corners);
    let particles = ParticleArrays::new(Vec3::ZERO, corners, vec![1.0; 3]);
    (particles, triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn air(wind: f32) -> Air {
        Air {
            wind: Vec3::new(0.3, 0.1, 0.0) * wind,
            density: 1.2,
            drag: 0.5,
            lift: 0.25,
            areal_density: 0.05,
        }
    }

    #[test]
    fn in_a_storm_forces_act_in_substeps() {
        for (wind, is_storm) in [(3.0, false), (100.0, true)] {
            let (mut p, triangles) = triangle();
            let surface = (&triangles).into();
            let (workers, field) = (&mut Workers::serial(), WindField::default());
            let mut step = StepAir::default();
            step.begin_step(workers, &field, &mut p, surface, &air(wind), 1.0 / 60.0);
            assert_eq!(step.is_storm, is_storm);
            assert_eq!(p.acceleration.get(0) == Vec3::ZERO, is_storm);
            p.acceleration.set(0, Vec3::Z);
            step.act_in_substep(workers, &mut p, surface, 1.0 / 480.0);
            assert_eq!(p.velocity(0) != Vec3::ZERO, is_storm);
            assert!(
                !is_storm || p.acceleration.get(0) == Vec3::Z,
                "a user's force is lost"
            );
        }
    }
}
