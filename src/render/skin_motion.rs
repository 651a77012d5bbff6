//! Motion of particles with the joints of their skeleton, from the step that is rendered to the rendered frame.
//!
//! Limbs move relative to the reference entity, with which all of the cloth is rendered: an arm that swings would leave its
//! sleeve. So each particle is rendered moved as its animated position has moved since then, the less the farther it is from
//! there: the hem of a cape hangs free.

use crate::{
    character::skin_weights::SkinWeights,
    cloth::{particles::ClothParticles, shape::ClothShape},
    solver::FrameMotion,
};
use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

/// Distance from its animated position at which a particle takes half of that motion, as a multiple of the thickness of the
/// cloth.
const REACH: f32 = 10.0;

/// Cloth and the step in which it is rendered.
pub(super) struct SkinMotion<'a> {
    pub(super) particles: &'a ClothParticles,
    pub(super) shape: &'a ClothShape,
    pub(super) skin: &'a SkinWeights,
    /// Origin of the matrices of the skeleton, m.
    pub(super) origin: Vec3,
    /// Thickness of the cloth, m.
    pub(super) thickness: f32,
    /// Interpolation factor between the last two steps.
    pub(super) alpha: f32,
    /// Motion of the reference entity.
    pub(super) frame_motion: Option<FrameMotion>,
}

impl SkinMotion<'_> {
    /// Finds the displacement of each particle, before the motion of the reference entity, m; none if no joint has moved
    /// relative to it.
    pub(super) fn find(
        &self,
        joint: impl Fn(Entity) -> Option<Affine3A>,
        displacements: &mut Vec<Vec3>,
    ) {
        let then = self.skin.matrices_at(self.alpha);
        let binds = self.skin.binds().zip(&then);
        let motions = binds.map(|((entity, bind), then)| {
            let now = joint(entity).map(|affine| self.before_frame_motion(affine) * *bind);
            // A joint that no longer exists does not move.
            let now = now.filter(Affine3A::is_finite).unwrap_or(*then);
            Affine3A {
                matrix3: now.matrix3 - then.matrix3,
                translation: now.translation - then.translation,
            }
        });
        let motions: Vec<Affine3A> = motions.collect();
        displacements.clear();
        let is_still = |motion: &Affine3A| motion.to_cols_array() == [0.0; 12];
        if motions.iter().all(is_still) {
            return;
        }
        let reach = (REACH * self.thickness).powi(2);
        let from_particles = self.origin - self.particles.origin;
        displacements.extend((0..self.particles.len()).map(|i| {
            let Some(&rest) = self.shape.rest().get(i) else {
                return Vec3::ZERO;
            };
            let source = self.shape.source_particle(i as u32) as usize;
            let blend = |matrices| self.skin.blend(source, matrices).transform_point3(rest);
            let away = interpolate_particle(self.particles, i, self.alpha)
                - (blend(&then[..]) + from_particles);
            let share = reach / (reach + away.length_squared());
            let displacement = blend(&motions) * share;
            // Not at zero thickness, or far from any place.
            if displacement.is_finite() {
                displacement
            } else {
                Vec3::ZERO
            }
        }));
    }

    /// Returns a transform in the world as it was before the motion of the reference entity, relative to the origin.
    fn before_frame_motion(&self, affine: Affine3A) -> Affine3A {
        let mut moved = affine;
        if let Some(motion) = self.frame_motion {
            let back = motion.inverse();
            moved.matrix3 = Mat3A::from(back.rotation_matrix()) * moved.matrix3;
            moved.translation = back.transform_point(affine.translation.into()).into();
        }
        moved.translation -= Vec3A::from(self.origin);
        moved
    }
}

/// Returns the position of a particle between the last two steps, relative to the origin of the particles.
pub(super) fn interpolate_particle(particles: &ClothParticles, i: usize, alpha: f32) -> Vec3 {
    let (from, to) = (particles.previous.get(i), particles.position.get(i));
    from.lerp(to, alpha)
}
