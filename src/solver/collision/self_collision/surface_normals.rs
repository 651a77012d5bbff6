//! Normals of cloth at its particles.

use crate::solver::{particles::ParticleArrays, triangles::corners::Corners};
use bevy::math::Vec3;

/// Normals of the surface at each particle; 0 where there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceNormals {
    normals: Vec<Vec3>,
}

impl SurfaceNormals {
    /// Reserves memory for this number of particles.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.normals.reserve(particles);
    }

    /// Discards the normals.
    pub(super) fn clear(&mut self) {
        self.normals.clear();
    }

    /// Computes the normals once in each step in which any particles are near each other. `begins` tells whether a step does.
    pub(super) fn update_once(
        &mut self,
        p: &ParticleArrays,
        triangles: &Corners,
        near: &[[u32; 2]],
        begins: bool,
    ) {
        if begins {
            self.clear();
        }
        if !near.is_empty() && self.normals.is_empty() {
            self.update(p, triangles);
        }
    }

    fn update(&mut self, p: &ParticleArrays, triangles: &Corners) {
        self.normals.clear();
        self.normals.resize(p.len(), Vec3::ZERO);
        for (corners, normal) in triangles.normals(&p.position) {
            for i in corners {
                self.normals[i] += normal;
            }
        }
        for normal in &mut self.normals {
            *normal = normal.normalize_or_zero();
        }
    }

    /// Returns the normal of a particle.
    #[inline]
    pub(super) fn get(&self, i: usize) -> Vec3 {
        self.normals.get(i).copied().unwrap_or_default()
    }
}
