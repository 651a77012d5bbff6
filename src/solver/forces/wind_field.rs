//! Wind that differs at each particle: wind zones, turbulence and occlusion on top of the uniform wind.
//!
//! The force on a triangle or a segment depends only on its velocity relative to the air, the mean over its
//! corners. So while the air is applied, displacements are relative to the local air, d − w·Δt₋; no other code
//! has to know about local wind.

use crate::solver::{
    forces::{
        aero::{Air, apply_uniform_air},
        occlusion::{Occluder, Occlusion},
        rope_drag::{RopeSegments, apply_rope_drag},
        turbulence::{Eddies, NoiseLattice},
        zones::{LocalZone, Zone},
    },
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, soa::SoaVec3},
    triangles::{Triangles, corners::BLOCK},
};
use bevy::math::Vec3;
use std::{cell::RefCell, mem::swap};

/// Local wind, added to the uniform wind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindField<'a> {
    /// Wind zones; their winds are added.
    pub zones: &'a [Zone],
    /// Turbulence.
    pub eddies: Option<Eddies>,
    /// Occlusion of all wind by colliders, the uniform wind included.
    pub occlusion: Option<Occlusion<'a>>,
}

impl WindField<'_> {
    /// Returns the local wind at a world position, m/s, without occlusion.
    pub fn wind(&self, position: Vec3) -> Vec3 {
        let zones = self
            .zones
            .iter()
            .map(|zone| zone.wind(position))
            .sum::<Vec3>();
        zones
            + self
                .eddies
                .map_or(Vec3::ZERO, |eddies| eddies.wind(position))
    }

    /// Returns the velocity of the air at a world position, m/s: `uniform_wind` plus local wind, with occlusion.
    pub fn total(&self, position: Vec3, uniform_wind: Vec3) -> Vec3 {
        let wind = uniform_wind + self.wind(position);
        match &self.occlusion {
            Some(occlusion) => occlusion.wind(position, wind),
            None => wind,
        }
    }

    fn eddies(&self) -> Option<&Eddies> {
        self.eddies.as_ref().filter(|eddies| eddies.is_active())
    }

    fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.eddies().is_none() && self.occlusion.is_none()
    }
}

/// Adds the acceleration by the air to every particle, with the wind of `air` plus the wind of a field:
/// drag and lift on triangles and, if there are rope segments, `apply_rope_drag`. The wind at a triangle or a
/// segment is the mean of the wind at its corners. With an empty field, the results have the same bits as
/// without a field.
pub fn apply_air(
    workers: &mut Workers,
    field: &WindField,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    segments: Option<&RopeSegments>,
    air: &Air,
    dt: f32,
) {
    with_relative_displacements(workers, field, particles, air, |workers, particles| {
        apply_uniform_air(workers, particles, triangles, air, dt);
        if let Some(segments) = segments {
            apply_rope_drag(particles, segments, air, dt);
        }
    });
}

thread_local! {
    /// Scratch buffers for displacements relative to the air, and for occluders.
    static RELATIVE: RefCell<(SoaVec3, Vec<Occluder>)> = RefCell::default();
}

/// Calls `apply` with particles whose displacements are relative to the local wind, and restores them afterwards.
fn with_relative_displacements(
    workers: &mut Workers,
    field: &WindField,
    particles: &mut ParticleArrays,
    air: &Air,
    apply: impl FnOnce(&mut Workers, &mut ParticleArrays),
) {
    if air.density == 0.0 || field.is_empty() {
        return apply(workers, particles);
    }
    let Some(bounds) = particles.position.bounds().map(Into::into) else {
        return;
    };
    let origin = particles.origin;
    let reaches = |zone: &Zone| LocalZone::new(zone, origin).reaches(bounds);
    let blows = field.eddies().is_some() || field.zones.iter().any(reaches);
    RELATIVE.with_borrow_mut(|(relative, occluders)| {
        occluders.clear();
        if let Some(occlusion) = &field.occlusion
            && (blows || air.wind != Vec3::ZERO)
        {
            occluders.extend(occlusion.occluders(origin, bounds.map(Into::into)));
        }
        if !blows && occluders.is_empty() {
            return apply(workers, particles);
        }
        let n = particles.len();
        for plane in relative.planes_mut() {
            plane.resize(n, 0.0);
        }
        let inputs = particles.position.chunks(PARTICLES_PER_PART);
        let inputs = inputs.zip(particles.displacement.chunks(PARTICLES_PER_PART));
        let parts = inputs.zip(relative.chunks_mut(PARTICLES_PER_PART));
        let eddies = field
            .eddies()
            .map(|eddies| NoiseLattice::new(eddies, origin));
        let last_dt = particles.last_dt;
        workers.for_each_part(parts, |((x, d), mut to)| {
            dispatch(SubtractWind {
                x,
                d,
                to: to.each_mut().map(|plane| &mut **plane),
                zones: field.zones,
                origin,
                bounds,
                eddies,
                time: -last_dt,
            });
            if let Some(occlusion) = field.occlusion.filter(|_| !occluders.is_empty()) {
                apply_occlusion(&occlusion, occluders, [x, d], to, air.wind, last_dt);
            }
        });
        swap(&mut particles.displacement, relative);
        apply(workers, particles);
        swap(&mut particles.displacement, relative);
    });
}

/// Reduces the wind in relative displacements `to` to the exposed fraction. The wind includes `uniform_wind`,
/// which is not subtracted from `to` yet.
fn apply_occlusion(
    occlusion: &Occlusion,
    occluders: &[Occluder],
    [x, d]: [[&[f32]; 3]; 2],
    to: [&mut [f32]; 3],
    uniform_wind: Vec3,
    last_dt: f32,
) {
    for i in 0..to[0].len() {
        let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[i]));
        let relative = Vec3::new(to[0][i], to[1][i], to[2][i]);
        let wind_displacement = get(d) - relative + uniform_wind * last_dt;
        let exposure = occlusion.exposure(occluders, get(x), wind_displacement);
        if exposure < 1.0 {
            let blocked = wind_displacement * (1.0 - exposure);
            (to[0][i], to[1][i], to[2][i]) = (relative + blocked).into();
        }
    }
}

/// Kernel that makes the displacements of one part relative to the local wind.
struct SubtractWind<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    to: [&'a mut [f32]; 3],
    zones: &'a [Zone],
    origin: Vec3,
    /// Bounds of all particles relative to the origin.
    bounds: [Vec3; 2],
    eddies: Option<NoiseLattice>,
    /// Displacement to add per wind velocity, −Δt₋, s.
    time: f32,
}

impl SubtractWind<'_> {
    /// Returns the zones that may have wind at the cloth.
    #[inline(always)]
    fn zones_in_reach(&self) -> impl Iterator<Item = LocalZone> + use<'_> {
        let zones = self.zones.iter();
        let zones = zones.map(|zone| LocalZone::new(zone, self.origin));
        zones.filter(|zone| zone.reaches(self.bounds))
    }
}

impl Kernel for SubtractWind<'_> {
    #[inline(always)]
    fn run(mut self) {
        let (x, d, time, eddies) = (self.x, self.d, self.time, self.eddies);
        let [to_x, to_y, to_z] = std::mem::take(&mut self.to);
        for (to, d) in [&mut *to_x, &mut *to_y, &mut *to_z].into_iter().zip(d) {
            to.copy_from_slice(d);
        }
        let n = to_x.len();
        let [x, y, z] = x.map(|plane| &plane[..n]);
        for zone in self.zones_in_reach() {
            let (to_x, to_y, to_z) = (&mut to_x[..n], &mut to_y[..n], &mut to_z[..n]);
            for k in 0..n {
                let wind = zone.wind(Vec3::new(x[k], y[k], z[k]));
                to_x[k] += wind.x * time;
                to_y[k] += wind.y * time;
                to_z[k] += wind.z * time;
            }
        }
        if let Some(eddies) = eddies {
            for start in (0..n).step_by(BLOCK) {
                let block = start..(start + BLOCK).min(n);
                let positions = [x, y, z].map(|plane| &plane[block.clone()]);
                let to = [
                    &mut to_x[block.clone()],
                    &mut to_y[block.clone()],
                    &mut to_z[block],
                ];
                eddies.add(positions, to, time);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        let to = std::mem::take(&mut self.to);
        for k in 0..self.x[0].len() {
            let at = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[k]));
            let (position, mut relative) = (at(self.x), at(self.d));
            for zone in self.zones_in_reach() {
                relative += zone.wind(position) * self.time;
            }
            if let Some(eddies) = self.eddies {
                relative += eddies.wind(position) * self.time;
            }
            (to[0][k], to[1][k], to[2][k]) = relative.into();
        }
    }
}

#[cfg(test)]
mod tests;
