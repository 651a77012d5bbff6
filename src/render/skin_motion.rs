//! Motion of particles with the joints of their skeleton, from the step that is rendered to the rendered frame.
//!
//! Limbs move relative to the reference entity, with which all of the cloth is rendered: an arm that swings would leave its
//! sleeve. So each particle is rendered moved as its animated position has moved since then, the less the farther it is from
//! there: the hem of a cape hangs free.

use crate::{
    character::skin_weights::SkinWeights,
    cloth::{Fabric, particles::ClothParticles, shape::ClothShape},
    mesh::topology::NO_PARTICLE,
    render::pose::interpolate_particle,
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
        let rest = self.shape.rest().iter().take(self.particles.len());
        displacements.extend(rest.enumerate().map(|(i, &rest)| {
            let source = self.shape.source_particle(i as u32);
            if source == NO_PARTICLE {
                return Vec3::ZERO;
            }
            let blend = |matrices| {
                let matrix = self.skin.blend(source as usize, matrices);
                matrix.transform_point3(rest)
            };
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
        self.move_created(displacements);
    }

    /// Moves particles that a cut has created, and that have no joints, by the mean of those next to them.
    fn move_created(&self, displacements: &mut [Vec3]) {
        let has_joints = |i: u32| self.shape.source_particle(i) != NO_PARTICLE;
        if (0..displacements.len()).all(|i| has_joints(i as u32)) {
            return;
        }
        let mut sums = vec![(Vec3::ZERO, 0.0_f32); displacements.len()];
        for corners in self.shape.triangles.indices.iter() {
            for i in corners.into_iter().filter(|&i| !has_joints(i)) {
                for next in corners.into_iter().filter(|&next| has_joints(next)) {
                    let at = displacements.get(next as usize);
                    if let (Some((sum, count)), Some(at)) = (sums.get_mut(i as usize), at) {
                        *sum += *at;
                        *count += 1.0;
                    }
                }
            }
        }
        for (displacement, (sum, count)) in displacements.iter_mut().zip(sums) {
            if count > 0.0 {
                *displacement = sum / count;
            }
        }
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
