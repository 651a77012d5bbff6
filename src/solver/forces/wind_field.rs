//! Wind that differs at each particle: wind zones, turbulence and occlusion on top of the uniform wind.
//!
//! The wind is computed once per step. As the headwind of a resting particle, it is added to velocities while the
//! forces of the air are computed ([`StepAir`](super::step_air::StepAir)), so that no other code has to know about
//! local wind.

use crate::solver::{
    forces::{
        aero::Air,
        occlusion::{Occluder, Occlusion},
        turbulence::{Eddies, NoiseLattice},
        zones::{LocalZone, Zone},
    },
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, soa::SoaVec3},
    triangles::corners::BLOCK,
};
use bevy::math::Vec3;
use std::cell::RefCell;

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

    /// Returns an upper bound of the speed of the local wind at the particles of a cloth, m/s.
    pub(super) fn max_speed(&self, particles: &ParticleArrays) -> f32 {
        let eddies = self.eddies().map_or(0.0, |eddies| eddies.strength.abs());
        let mut speed = eddies * 3.0_f32.sqrt();
        if !self.zones.is_empty()
            && let Some(bounds) = particles.position.bounds().map(Into::into)
        {
            let reaching = self.zones_that_reach(particles.origin, bounds);
            speed += reaching.map(|zone| zone.strength.abs()).sum::<f32>();
        }
        speed
    }

    /// Returns the zones that may have wind in a box relative to an origin.
    fn zones_that_reach(&self, origin: Vec3, bounds: [Vec3; 2]) -> impl Iterator<Item = &Zone> {
        let zones = self.zones.iter();
        zones.filter(move |zone| LocalZone::new(zone, origin).reaches(bounds))
    }

    fn eddies(&self) -> Option<&Eddies> {
        self.eddies.as_ref().filter(|eddies| eddies.is_active())
    }

    fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.eddies().is_none() && self.occlusion.is_none()
    }
}

thread_local! {
    /// Scratch buffer for occluders.
    static OCCLUDERS: RefCell<Vec<Occluder>> = RefCell::default();
}

/// Computes the velocity of a resting particle relative to the local wind, at each particle, m/s: without the uniform
/// wind of `air`, but with its occlusion. Empty if there is no local wind.
pub(super) fn find_headwind(
    workers: &mut Workers,
    field: &WindField,
    particles: &ParticleArrays,
    air: &Air,
    headwind: &mut SoaVec3,
) {
    headwind.resize(0);
    if air.density == 0.0 || field.is_empty() {
        return;
    }
    let Some(bounds) = particles.position.bounds().map(Into::into) else {
        return;
    };
    let origin = particles.origin;
    let blows = field.eddies().is_some() || field.zones_that_reach(origin, bounds).next().is_some();
    OCCLUDERS.with_borrow_mut(|occluders| {
        occluders.clear();
        if let Some(occlusion) = &field.occlusion
            && (blows || air.wind != Vec3::ZERO)
        {
            occluders.extend(occlusion.occluders(origin, bounds.map(Into::into)));
        }
        if !blows && occluders.is_empty() {
            return;
        }
        headwind.resize(particles.len());
        let inputs = particles.position.chunks(PARTICLES_PER_PART);
        let parts = inputs.zip(headwind.chunks_mut(PARTICLES_PER_PART));
        let eddies = field
            .eddies()
            .map(|eddies| NoiseLattice::new(eddies, origin));
        workers.for_each_part(parts, |(x, mut to)| {
            dispatch(SubtractWind {
                x,
                to: to.each_mut().map(|plane| &mut **plane),
                zones: field.zones,
                origin,
                bounds,
                eddies,
            });
            if let Some(occlusion) = field.occlusion.filter(|_| !occluders.is_empty()) {
                apply_occlusion(&occlusion, occluders, x, to, air.wind);
            }
        });
    });
}

/// Reduces the wind in a headwind to the exposed fraction. The wind includes `uniform_wind`, which is not part of the
/// headwind.
fn apply_occlusion(
    occlusion: &Occlusion,
    occluders: &[Occluder],
    x: [&[f32]; 3],
    headwind: [&mut [f32]; 3],
    uniform_wind: Vec3,
) {
    let [to_x, to_y, to_z] = headwind;
    for i in 0..to_x.len() {
        let position = Vec3::from(x.map(|plane| plane[i]));
        let relative = Vec3::new(to_x[i], to_y[i], to_z[i]);
        let wind = uniform_wind - relative;
        let exposure = occlusion.exposure(occluders, position, wind);
        if exposure < 1.0 {
            let blocked = wind * (1.0 - exposure);
            (to_x[i], to_y[i], to_z[i]) = (relative + blocked).into();
        }
    }
}

/// Kernel that subtracts the local wind of one part from headwinds that are zero.
struct SubtractWind<'a> {
    x: [&'a [f32]; 3],
    to: [&'a mut [f32]; 3],
    zones: &'a [Zone],
    origin: Vec3,
    /// Bounds of all particles relative to the origin.
    bounds: [Vec3; 2],
    eddies: Option<NoiseLattice>,
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
        let (x, eddies) = (self.x, self.eddies);
        let [to_x, to_y, to_z] = std::mem::take(&mut self.to);
        let n = to_x.len();
        let [x, y, z] = x.map(|plane| &plane[..n]);
        for zone in self.zones_in_reach() {
            let (to_x, to_y, to_z) = (&mut to_x[..n], &mut to_y[..n], &mut to_z[..n]);
            for k in 0..n {
                let wind = zone.wind(Vec3::new(x[k], y[k], z[k]));
                to_x[k] -= wind.x;
                to_y[k] -= wind.y;
                to_z[k] -= wind.z;
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
                eddies.add(positions, to, -1.0);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        let to = std::mem::take(&mut self.to);
        for k in 0..self.x[0].len() {
            let position = Vec3::from(self.x.map(|plane| plane[k]));
            let mut relative = Vec3::ZERO;
            for zone in self.zones_in_reach() {
                relative -= zone.wind(position);
            }
            if let Some(eddies) = self.eddies {
                relative -= eddies.wind(position);
            }
            (to[0][k], to[1][k], to[2][k]) = relative.into();
        }
    }
}

#[cfg(test)]
mod tests;
