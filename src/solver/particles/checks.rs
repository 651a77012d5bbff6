//! Checks of the numbers of a cloth, and the hash of its state.

use super::ParticleArrays;
use crate::solver::{
    parallel::workers::Workers,
    simd::soa::{SoaVec3, all_below, all_finite},
};
use bevy::math::Vec3;
use std::sync::atomic::{AtomicBool, Ordering};

/// Magnitude of coordinates relative to the origin of a cloth, m, that counts as lost: 16 777 km, where `f32` is exact to
/// 1 m. Likewise for accelerations, m/s².
const MAX_COORDINATE: f32 = 16_777_216.0;

/// Returns whether cloth can be at this position, m: whether all coordinates are numbers below [`MAX_COORDINATE`].
pub(crate) fn is_within_reach(at: Vec3) -> bool {
    at.abs().cmplt(Vec3::splat(MAX_COORDINATE)).all()
}

impl ParticleArrays {
    /// Returns whether every array has one number per particle, all of them are usable, and the length of the last substep
    /// is positive. A state from a file may violate that.
    pub(crate) fn is_sound(&self) -> bool {
        let vectors = [
            &self.position,
            &self.displacement,
            &self.acceleration,
            &self.previous,
            &self.predicted,
            &self.contact_normal,
        ];
        let planes = vectors.iter().flat_map(|v| v.planes());
        planes
            .chain([&self.inverse_mass[..]])
            .all(|plane| plane.len() == self.len())
            && vectors.iter().all(|vector| {
                let mut planes = vector.planes().into_iter();
                planes.all(|plane| all_below(plane, MAX_COORDINATE))
            })
            && self.inverse_mass.iter().all(|w| w.is_finite() && *w >= 0.0)
            && is_within_reach(self.origin)
            && self.last_dt.is_finite()
            && self.last_dt > 0.0
    }

    /// Returns whether every number that the solver reads is finite, and positions, displacements and accelerations are below
    /// 16 777 km and 16 777 km/s².
    pub fn is_finite(&self) -> bool {
        self.all_finite(&mut Workers::serial())
    }

    /// [`is_finite`](Self::is_finite), for the check in each step.
    pub(crate) fn all_finite(&self, workers: &mut Workers) -> bool {
        let vectors = [&self.position, &self.displacement, &self.acceleration];
        let planes = vectors.map(SoaVec3::planes);
        let finite = AtomicBool::new(true);
        workers.for_each_part(planes.as_flattened().iter(), |plane| {
            if !all_below(plane, MAX_COORDINATE) {
                finite.store(false, Ordering::Relaxed);
            }
        });
        finite.into_inner() && all_finite(&self.inverse_mass)
    }

    /// Computes a hash of the bits of all positions and displacements and of the origin (FNV-1a, 64 bits), to
    /// compare two runs.
    pub fn state_hash(&self) -> u64 {
        let planes = [&self.position, &self.displacement].map(SoaVec3::planes);
        planes
            .iter()
            .flatten()
            .flat_map(|plane| plane.iter())
            .chain(&self.origin.to_array())
            .flat_map(|value| value.to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }
}
