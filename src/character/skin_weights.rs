//! Skin weights of particles: linear blend skinning of the rest positions by a skeleton.

use crate::mesh::{paint::JointWeights, topology::NO_PARTICLE};
use crate::solver::{FrameMotion, SoaVec3, particles::is_within_reach};
use bevy::{
    math::{Affine3A, Mat3A, Vec3A},
    mesh::{Mesh, VertexAttributeValues, skinning::SkinnedMesh},
    prelude::*,
};

/// Largest number of joints that move a vertex.
const MAX_INFLUENCES: usize = 4;

/// Joints of a skeleton and their weights on the particles of a cloth, only on cloth with a skeleton. The weights are
/// written when the cloth is built; the matrices at the beginning of each step, which reads them. Also read by sleep,
/// teleports, the tracking of anchors and rendering.
#[derive(Component, Clone, Debug, Default, PartialEq)]
#[component(clone_behavior = Ignore)]
pub(crate) struct SkinWeights {
    /// Joints, in the order of the mesh.
    pub(crate) joints: Vec<Entity>,
    names: Vec<String>,
    /// Inverse bind matrices, from mesh space to that of each joint.
    inverse: Vec<Affine3A>,
    influences: Vec<JointInfluence>,
    pose: SkinPose,
}

/// Pose of a skeleton in the last two steps. A snapshot keeps it.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SkinPose {
    /// Skinning matrix of each joint, from mesh space to the world relative to the origin.
    matrices: Vec<Affine3A>,
    /// Matrices of the step before, relative to the same origin.
    previous: Vec<Affine3A>,
    /// Whether joints are missing and were reported.
    missing: bool,
}

/// Joints that move a particle, with weights that add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct JointInfluence {
    joints: [u16; MAX_INFLUENCES],
    weights: [f32; MAX_INFLUENCES],
}

/// Returns the joints of each vertex and their weights, or as an error which of them a mesh lacks.
pub(super) fn joint_attributes(mesh: &Mesh) -> Result<(&[[u16; 4]], &[[f32; 4]]), &'static str> {
    let Ok(VertexAttributeValues::Uint16x4(joints)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
    else {
        return Err("joints");
    };
    let Ok(VertexAttributeValues::Float32x4(weights)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    else {
        return Err("weights");
    };
    Ok((joints, weights))
}

impl SkinWeights {
    /// Reads the skin weights of a mesh; `None` if it has none. `vertex_to_particle` are the particles of its
    /// vertices. A particle has the weights of the first of its vertices that has any, as it has the position of its
    /// first vertex: its vertices must move alike, or the mesh would open.
    pub(crate) fn read(
        mesh: &Mesh,
        skinned: &SkinnedMesh,
        inverse: &[Mat4],
        names: impl Fn(Entity) -> Option<String>,
        vertex_to_particle: impl Iterator<Item = u32>,
        particles: usize,
    ) -> Option<Self> {
        let (joints, weights) = joint_attributes(mesh).ok()?;
        let count = skinned.joints.len().min(inverse.len());
        if count == 0 {
            return None;
        }
        let mut influences = vec![None; particles];
        for ((joints, weights), particle) in joints.iter().zip(weights).zip(vertex_to_particle) {
            if particle != NO_PARTICLE
                && let Some(influence @ None) = influences.get_mut(particle as usize)
            {
                *influence = JointInfluence::new(*joints, *weights, count);
            }
        }
        let on_first_joint = JointInfluence {
            joints: [0; MAX_INFLUENCES],
            weights: [1.0, 0.0, 0.0, 0.0],
        };
        Some(Self {
            joints: skinned.joints[..count].to_vec(),
            names: skinned.joints[..count]
                .iter()
                .map(|&joint| names(joint).unwrap_or_default())
                .collect(),
            inverse: inverse[..count]
                .iter()
                .map(|&m| Affine3A::from_mat4(m))
                .collect(),
            influences: influences
                .into_iter()
                .map(|influence| influence.unwrap_or(on_first_joint))
                .collect(),
            pose: SkinPose {
                matrices: vec![Affine3A::IDENTITY; count],
                previous: vec![Affine3A::IDENTITY; count],
                missing: false,
            },
        })
    }

    /// Returns the pose of the skeleton in the last step.
    pub(crate) fn pose(&self) -> &SkinPose {
        &self.pose
    }

    /// Restores a pose; one of another number of joints is ignored.
    pub(crate) fn set_pose(&mut self, pose: &SkinPose) {
        let count = self.joints.len();
        if pose.matrices.len() == count && pose.previous.len() == count {
            self.pose.clone_from(pose);
        }
    }

    /// Moves the skeleton of the last steps with the cloth, relative to the origin of the last update.
    pub(crate) fn move_with(&mut self, motion: &FrameMotion, origin: Vec3) {
        let SkinPose {
            matrices, previous, ..
        } = &mut self.pose;
        for matrix in matrices.iter_mut().chain(previous) {
            *matrix = motion.transform_affine(matrix, origin);
        }
    }

    /// Returns the joint with the largest total weight on these particles, or on all if there are none.
    pub(crate) fn dominant_joint(&self, particles: impl Iterator<Item = usize>) -> Option<Entity> {
        let mut weights = vec![0.0; self.joints.len()];
        let mut add = |influence: &JointInfluence| {
            for (&joint, &weight) in influence.joints.iter().zip(&influence.weights) {
                weights[usize::from(joint)] += weight;
            }
        };
        let mut any = false;
        for influence in particles.filter_map(|particle| self.influences.get(particle)) {
            any = true;
            add(influence);
        }
        if !any {
            self.influences.iter().for_each(add);
        }
        let largest = weights.iter().copied().fold(0.0, f32::max);
        // The first, if several are equal.
        let joint = weights.iter().position(|&weight| weight == largest)?;
        Some(self.joints[joint])
    }

    /// Updates the skinning matrices, relative to `origin`, which has moved by −`origin_shift` since the last
    /// update. Returns the number of newly missing joints; they keep their last matrix.
    pub(crate) fn update_pose(
        &mut self,
        origin: Vec3,
        origin_shift: Vec3,
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> usize {
        let mut missing = 0;
        let SkinPose {
            matrices, previous, ..
        } = &mut self.pose;
        // Relative to the new origin.
        for matrix in &mut *matrices {
            matrix.translation += Vec3A::from(origin_shift);
        }
        previous.clone_from(matrices);
        let joints = self.joints.iter().zip(&self.inverse);
        for (matrix, (&joint, inverse)) in matrices.iter_mut().zip(joints) {
            if let Some(transform) = at(joint) {
                let mut affine = transform.affine();
                affine.translation -= Vec3A::from(origin);
                let matrix_now = affine * *inverse;
                if matrix_now.is_finite() {
                    *matrix = matrix_now;
                }
            } else {
                missing += 1;
            }
        }
        let reported = std::mem::replace(&mut self.pose.missing, missing > 0);
        if reported { 0 } else { missing }
    }

    /// Poses the skeleton as if it had been there in the last steps, relative to the origin of the last update. Returns the
    /// matrices of before, if any joint has moved.
    pub(crate) fn jump(
        &mut self,
        origin: Vec3,
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> Option<Vec<Affine3A>> {
        let before = self.pose.matrices.clone();
        let was_missing = self.pose.missing;
        self.update_pose(origin, Vec3::ZERO, at);
        // Reported by the next step.
        self.pose.missing = was_missing;
        self.pose.previous.clone_from(&self.pose.matrices);
        (self.pose.matrices != before).then_some(before)
    }

    /// Returns the matrices of the joints between the step before and the last one.
    pub(crate) fn matrices_at(&self, alpha: f32) -> Vec<Affine3A> {
        let steps = self.pose.previous.iter().zip(&self.pose.matrices);
        // Exact where both are equal.
        let between = |(from, to): (&Affine3A, &Affine3A)| Affine3A {
            matrix3: from.matrix3 + (to.matrix3 - from.matrix3) * alpha,
            translation: from.translation + (to.translation - from.translation) * alpha,
        };
        steps.map(between).collect()
    }

    /// Returns the joints with their inverse bind matrices.
    pub(crate) fn binds(&self) -> impl Iterator<Item = (Entity, &Affine3A)> {
        self.joints.iter().copied().zip(&self.inverse)
    }

    /// Returns the blended skinning matrix of a particle, relative to the origin of the last
    /// [`update_pose`](Self::update_pose).
    pub(crate) fn matrix(&self, particle: usize) -> Affine3A {
        self.blend(particle, &self.pose.matrices)
    }

    /// Returns the weighted mean of these matrices of the joints for a particle.
    pub(crate) fn blend(&self, particle: usize, matrices: &[Affine3A]) -> Affine3A {
        let Some(JointInfluence { joints, weights }) = self.influences.get(particle) else {
            return matrices[0];
        };
        let mut sum = Affine3A {
            matrix3: Mat3A::ZERO,
            translation: Vec3A::ZERO,
        };
        for (&joint, &weight) in joints.iter().zip(weights) {
            if weight > 0.0 {
                let matrix = &matrices[usize::from(joint)];
                sum.matrix3 += matrix.matrix3 * weight;
                sum.translation += matrix.translation * weight;
            }
        }
        sum
    }

    /// Sets the skinning matrices for the first time. Returns an origin near the particles with these rest
    /// positions in mesh space, and the rotation and scale from mesh space to world axes; `None` if joints are
    /// missing, a matrix is singular, or the origin is beyond 16 777 km.
    pub(crate) fn first_pose(
        &mut self,
        rest: &[Vec3],
        at: impl Fn(Entity) -> Option<GlobalTransform>,
    ) -> Option<(Vec3, Mat3)> {
        self.update_pose(Vec3::ZERO, Vec3::ZERO, &at);
        if self.pose.missing {
            return None;
        }
        let frame = self.dominant_matrix();
        let centre = rest.iter().sum::<Vec3>() / rest.len().max(1) as f32;
        let origin = frame.transform_point3(centre);
        if !(is_within_reach(origin) && frame.inverse().is_finite()) {
            return None;
        }
        // Again relative to the origin, for precision far from the world's origin.
        self.update_pose(origin, Vec3::ZERO, at);
        self.pose.previous.clone_from(&self.pose.matrices);
        Some((origin, frame.matrix3.into()))
    }

    /// Returns the skinned positions of particles with these rest positions in mesh space.
    pub(crate) fn skinned_positions(&self, rest: &[Vec3]) -> SoaVec3 {
        let position = |(i, &rest)| self.matrix(i).transform_point3(rest);
        rest.iter().enumerate().map(position).collect()
    }

    /// Returns the skinning matrix of the joint with the largest total weight.
    pub(crate) fn dominant_matrix(&self) -> Affine3A {
        let mut sums = vec![0.0; self.pose.matrices.len()];
        for JointInfluence { joints, weights } in &self.influences {
            for (&joint, weight) in joints.iter().zip(weights) {
                sums[usize::from(joint)] += weight;
            }
        }
        let dominant = sums
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(&a.0)));
        self.pose.matrices[dominant.map_or(0, |(joint, _)| joint)]
    }

    /// Returns the joints as a source of painted values.
    pub(crate) fn as_joints(&self) -> &dyn JointWeights {
        self
    }
}

impl JointWeights for SkinWeights {
    fn weights_of(&self, name: &str) -> Option<Vec<f32>> {
        let wanted = self.names.iter().position(|known| known == name)?;
        let weight = |influence: &JointInfluence| {
            let pairs = influence.joints.iter().zip(&influence.weights);
            let of_joint = pairs.filter(|(joint, _)| usize::from(**joint) == wanted);
            of_joint.map(|(_, weight)| weight).sum()
        };
        Some(self.influences.iter().map(weight).collect())
    }

    fn joint_names(&self) -> Vec<&str> {
        let names = self.names.iter().map(String::as_str);
        names.filter(|name| !name.is_empty()).collect()
    }
}

impl JointInfluence {
    /// Normalizes weights to a sum of 1; `None` if all are 0. Joints that do not exist are ignored.
    fn new(
        joints: [u16; MAX_INFLUENCES],
        mut weights: [f32; MAX_INFLUENCES],
        count: usize,
    ) -> Option<Self> {
        for (weight, &joint) in weights.iter_mut().zip(&joints) {
            if usize::from(joint) >= count || !weight.is_finite() {
                *weight = 0.0;
            }
            *weight = weight.max(0.0);
        }
        let sum: f32 = weights.iter().sum();
        if sum <= 0.0 {
            return None;
        }
        let joints = std::array::from_fn(|k| if weights[k] > 0.0 { joints[k] } else { 0 });
        Some(Self {
            joints,
            weights: weights.map(|weight| weight / sum),
        })
    }
}

#[cfg(test)]
mod tests;
