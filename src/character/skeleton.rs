//! Cloth on skinned meshes.
//!
//! The renderer moves the vertices of such a mesh by its joints. Vertices that are cloth are assigned to an
//! additional joint instead, the entity of the cloth, which transforms them as if the mesh had no skeleton. The
//! rest of the mesh is skinned as before.

use crate::{
    character::skin_weights::{SkinWeights, joint_attributes},
    mesh::topology::NO_PARTICLE,
};
use bevy::{
    camera::{primitives::Aabb, visibility::DynamicSkinnedMeshBounds},
    ecs::system::SystemParam,
    mesh::{
        VertexAttributeValues,
        skinning::{
            JointAabb, JointIndex, SkinnedMesh, SkinnedMeshBounds, SkinnedMeshInverseBindposes,
        },
    },
    prelude::*,
};

/// Access to skeletons.
#[derive(SystemParam)]
pub(crate) struct Skeletons<'w, 's> {
    inverse: Option<ResMut<'w, Assets<SkinnedMeshInverseBindposes>>>,
    names: Query<'w, 's, &'static Name>,
    joints: Query<'w, 's, &'static GlobalTransform>,
}

/// Result of reading an asset that may not be loaded yet.
pub(crate) enum AssetState<T> {
    Loaded(T),
    Loading,
}

impl Skeletons<'_, '_> {
    /// Reads the skeleton of a mesh, if it has one.
    pub(crate) fn read(&self, skinned: Option<SkinnedMesh>) -> AssetState<Option<Skeleton>> {
        let Some(skinned) = skinned else {
            return AssetState::Loaded(None);
        };
        let inverse = self.inverse.as_ref();
        let Some(inverse) = inverse.and_then(|all| all.get(&skinned.inverse_bindposes)) else {
            return AssetState::Loading;
        };
        let joints = skinned.joints.iter();
        AssetState::Loaded(Some(Skeleton {
            inverse: inverse.to_vec(),
            names: (joints.clone())
                .map(|&joint| self.names.get(joint).map(Name::to_string).ok())
                .collect(),
            poses: joints.map(|&joint| self.joint(joint)).collect(),
            skinned,
        }))
    }

    /// Returns the transform of a joint in this frame.
    pub(crate) fn joint(&self, joint: Entity) -> Option<GlobalTransform> {
        self.joints.get(joint).ok().copied()
    }

    /// Gives a cloth a skeleton of its own that has the cloth as a last joint, and remembers the original one to restore
    /// it.
    pub(crate) fn insert_own(&mut self, mut cloth: EntityCommands, original: &Skeleton) {
        let Some(inverse) = &mut self.inverse else {
            return;
        };
        let mut joints = original.skinned.joints.clone();
        let mut matrices = original.inverse.clone();
        matrices.resize(joints.len(), Mat4::IDENTITY);
        matrices.push(Mat4::IDENTITY);
        joints.push(cloth.id());
        let own = SkinnedMesh {
            inverse_bindposes: inverse.add(SkinnedMeshInverseBindposes::from(matrices)),
            joints,
        };
        let skin = ClothSkin {
            original: original.skinned.inverse_bindposes.clone(),
            own: own.inverse_bindposes.clone(),
        };
        // Bevy culls a skinned mesh by its own bounds only with this component.
        cloth.try_insert((own, skin, DynamicSkinnedMeshBounds));
    }
}

/// Skeleton of a mesh, with the poses of its joints in one frame.
#[derive(Clone, Debug)]
pub(crate) struct Skeleton {
    pub(crate) skinned: SkinnedMesh,
    inverse: Vec<Mat4>,
    names: Vec<Option<String>>,
    /// Pose of each joint; `None` for one that does not exist.
    poses: Vec<Option<GlobalTransform>>,
}

impl Skeleton {
    /// Returns whether another one has the same joints, in whatever pose.
    pub(crate) fn has_joints_of(&self, other: &Self) -> bool {
        let [own, other] = [self, other].map(|skeleton| &skeleton.skinned);
        own.inverse_bindposes == other.inverse_bindposes && own.joints == other.joints
    }

    /// Returns whether all joints are where those of another one are.
    pub(crate) fn has_pose_of(&self, other: &Self) -> bool {
        self.poses == other.poses
    }

    /// Returns the index of a joint.
    fn index_of(&self, joint: Entity) -> Option<usize> {
        let mut joints = self.skinned.joints.iter();
        joints.position(|&other| other == joint)
    }

    /// Returns the transform of a joint.
    pub(crate) fn joint(&self, joint: Entity) -> Option<GlobalTransform> {
        self.poses[self.index_of(joint)?]
    }

    /// Returns the skin weights of the particles; `None` if the mesh has no weights.
    pub(crate) fn weights(
        &self,
        mesh: &Mesh,
        vertex_to_particle: impl Iterator<Item = u32>,
        particles: usize,
    ) -> Option<SkinWeights> {
        let name = |joint| self.names[self.index_of(joint)?].clone();
        let (skinned, inverse) = (&self.skinned, &self.inverse);
        SkinWeights::read(mesh, skinned, inverse, name, vertex_to_particle, particles)
    }

    /// Assigns the vertices of particles to an additional joint after the others. Returns its index, or `None` if the mesh
    /// has no weights or too many joints.
    pub(crate) fn bind_to_own_joint(
        &self,
        mesh: &mut Mesh,
        vertex_to_particle: impl Iterator<Item = u32>,
    ) -> Option<u16> {
        let joint = u16::try_from(self.skinned.joints.len()).ok()?;
        joint_attributes(mesh).ok()?;
        let (
            Some(VertexAttributeValues::Uint16x4(mut joints)),
            Some(VertexAttributeValues::Float32x4(mut weights)),
        ) = (
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX),
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT),
        )
        else {
            return None;
        };
        let vertices = joints.iter_mut().zip(&mut weights);
        for ((joints, weights), particle) in vertices.zip(vertex_to_particle) {
            if particle != NO_PARTICLE {
                *joints = [joint, 0, 0, 0];
                *weights = [1.0, 0.0, 0.0, 0.0];
            }
        }
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(joints),
        );
        mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
        // Bevy culls by the bounds of all joints, including this one.
        let bounds = SkinnedMeshBounds::from_mesh(mesh).unwrap_or_default();
        mesh.set_skinned_mesh_bounds(Some(bounds));
        Some(joint)
    }
}

/// Inverse bind poses of a cloth's mesh before and after it was built. Saved with a scene, so that the
/// original ones can be restored.
#[derive(Component, Clone, Debug, Reflect)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct ClothSkin {
    pub(crate) original: Handle<SkinnedMeshInverseBindposes>,
    pub(crate) own: Handle<SkinnedMeshInverseBindposes>,
}

impl ClothSkin {
    /// Returns whether an entity still has the skeleton that the plugin gave it.
    pub(crate) fn is_in_use(&self, now: Option<&SkinnedMesh>) -> bool {
        now.is_some_and(|now| now.inverse_bindposes == self.own)
    }

    /// Returns the skeleton of an entity as it was before building: without the joint of the cloth itself.
    pub(crate) fn original_of(
        now: Option<&SkinnedMesh>,
        known: Option<&Self>,
    ) -> Option<SkinnedMesh> {
        match known {
            Some(known) if known.is_in_use(now) => known.original(now),
            _ => now.cloned(),
        }
    }

    /// Returns the skeleton without the joint of the cloth itself, if it has one.
    pub(crate) fn original(&self, now: Option<&SkinnedMesh>) -> Option<SkinnedMesh> {
        let now = now.filter(|now| self.is_in_use(Some(now)))?;
        let (_, joints) = now.joints.split_last()?;
        Some(SkinnedMesh {
            inverse_bindposes: self.original.clone(),
            joints: joints.to_vec(),
        })
    }
}

/// Sets the bounds of the cloth in a skinned mesh, at the joint with this index.
pub(crate) fn set_bounds(mesh: &mut Mesh, joint: u16, aabb: &Aabb) {
    let Some(bounds) = mesh.skinned_mesh_bounds() else {
        return;
    };
    let mut indices = bounds.aabb_index_to_joint_index.iter();
    let Some(index) = indices.position(|&other| other == JointIndex(joint)) else {
        return;
    };
    let mut bounds = bounds.clone();
    bounds.aabbs[index] = JointAabb {
        center: aabb.center.into(),
        half_size: aabb.half_extents.into(),
    };
    mesh.set_skinned_mesh_bounds(Some(bounds));
}
