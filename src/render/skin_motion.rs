//! Motion of particles with the joints of their skeleton, from the step that is rendered to the rendered frame.
//!
//! Limbs move relative to the reference entity, with which all of the cloth is rendered: an arm that swings would leave its
//! sleeve. So each particle is rendered moved as its animated position has moved since then, the less the farther it is from
//! there: the hem of a cape hangs free.

use crate::{
    character::skin_weights::SkinWeights,
    cloth::{Fabric, particles::ClothParticles, shape::ClothShape},
    mesh::topology::NO_PARTICLE,
    solver::FrameMotion,
};
use bevy::{
    math::{Affine3A, Vec3A},
    prelude::*,
};

/// Distance from its animated position at which a particle takes half of that motion, as a multiple of the default thickness of
/// such cloth: 10 cm, less for a doll.
const REACH: f32 = 10.0;

/// Largest entry of the motion of a joint that is not seen.
const STILL: f32 = 1e-6;

/// Cloth and the step in which it is rendered.
pub(super) struct SkinMotion<'a> {
    pub(super) particles: &'a ClothParticles,
    pub(super) shape: &'a ClothShape,
    pub(super) skin: &'a SkinWeights,
    /// Origin of the matrices of the skeleton, m.
    pub(super) origin: Vec3,
    /// Interpolation factor between the last two steps.
    pub(super) alpha: f32,
    /// Motion of the reference entity.
    pub(super) frame_motion: Option<FrameMotion>,
}

impl SkinMotion<'_> {
    /// Appends the displacement of each particle, with the motion of the reference entity undone, m; none if no joint has moved
    /// relative to it.
    pub(super) fn find(
        &self,
        joint: impl Fn(Entity) -> Option<Affine3A>,
        displacements: &mut Vec<Vec3>,
    ) {
        let then = self.skin.matrices_at(self.alpha);
        let binds = self.skin.binds().zip(&then);
        let motions = binds.map(|((entity, bind), then)| {
            let now = joint(entity).map(|affine| self.without_frame_motion(affine) * *bind);
            // A joint that no longer exists does not move.
            let now = now.filter(Affine3A::is_finite).unwrap_or(*then);
            Affine3A {
                matrix3: now.matrix3 - then.matrix3,
                translation: now.translation - then.translation,
            }
        });
        let motions: Vec<Affine3A> = motions.collect();
        let is_still = |motion: &Affine3A| motion.to_cols_array().iter().all(|x| x.abs() < STILL);
        if motions.iter().all(is_still) {
            return;
        }
        let reach = (REACH * self.shape.thickness(&Fabric::default())).powi(2);
        let from_particles = self.origin - self.particles.origin;
        let source = |i: usize| self.shape.source_particle(i as u32);
        displacements.extend((0..self.particles.len()).map(|i| {
            let Some(&rest) = self
                .shape
                .rest()
                .get(i)
                .filter(|_| source(i) != NO_PARTICLE)
            else {
                return Vec3::ZERO;
            };
            let source = source(i) as usize;
            let blend = |matrices| self.skin.blend(source, matrices).transform_point3(rest);
            let away = interpolate_particle(self.particles, i, self.alpha)
                - (blend(&then[..]) + from_particles);
            let share = reach / (reach + away.length_squared());
            let displacement = blend(&motions) * share;
            // Not finite if the transform of a joint is huge.
            if displacement.is_finite() {
                displacement
            } else {
                Vec3::ZERO
            }
        }));
        let created = (0..self.particles.len()).filter(|&i| source(i) == NO_PARTICLE);
        for i in created {
            displacements[i] = self.mean_of_neighbours(i as u32, displacements);
        }
    }

    /// Returns the mean displacement of the particles next to one that a cut has created, which has no joints.
    fn mean_of_neighbours(&self, particle: u32, displacements: &[Vec3]) -> Vec3 {
        let triangles = self.shape.triangles.indices.iter();
        let around = triangles
            .filter(|corners| corners.contains(&particle))
            .flatten();
        let known = around.filter(|&i| self.shape.source_particle(i) != NO_PARTICLE);
        let known = known.filter_map(|i| displacements.get(i as usize));
        let (sum, count) = known.fold((Vec3::ZERO, 0.0), |(sum, count), at| {
            (sum + at, count + 1.0)
        });
        sum / f32::max(count, 1.0)
    }

    /// Returns a transform in the world with the motion of the reference entity undone, relative to the origin.
    fn without_frame_motion(&self, affine: Affine3A) -> Affine3A {
        let mut relative = affine;
        relative.translation -= Vec3A::from(self.origin);
        match self.frame_motion {
            Some(motion) => (motion.inverse()).transform_affine(&relative, self.origin),
            None => relative,
        }
    }
}

/// Returns the position of a particle between the last two steps, relative to the origin of the particles.
pub(super) fn interpolate_particle(particles: &ClothParticles, i: usize, alpha: f32) -> Vec3 {
    let (from, to) = (particles.previous.get(i), particles.position.get(i));
    from.lerp(to, alpha)
}
