//! Cloth on skinned meshes.
//!
//! The renderer moves the vertices of such a mesh by its joints. Vertices that are cloth are assigned to an
//! additional joint instead, the entity of the cloth, which transforms them as if the mesh had no skeleton. The
//! rest of the mesh is skinned as before.

use crate::{character::skin_weights::SkinWeights, mesh::topology::NO_PARTICLE};
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
    /// Returns the skin weights of the particles; `None` if the mesh has no skeleton or no weights.
    pub(crate) fn read(
        &self,
        mesh: &Mesh,
        skinned: Option<&SkinnedMesh>,
        vertex_to_particle: impl Iterator<Item = u32>,
        particles: usize,
    ) -> AssetState<Option<SkinWeights>> {
        let Some(skinned) = skinned else {
            return AssetState::Loaded(None);
        };
        let inverse = self.inverse.as_ref();
        let Some(inverse) = inverse.and_then(|all| all.get(&skinned.inverse_bindposes)) else {
            return AssetState::Loading;
        };
        let name = |joint| self.names.get(joint).ok().map(|name| name.to_string());
        AssetState::Loaded(SkinWeights::read(
            mesh,
            skinned,
            inverse,
            name,
            vertex_to_particle,
            particles,
        ))
    }

    /// Returns the transform of a joint in this frame.
    pub(crate) fn joint(&self, joint: Entity) -> Option<GlobalTransform> {
        self.joints.get(joint).ok().copied()
    }

    /// Adds a cloth as a joint to its own skeleton, and remembers the original one to restore it. Returns the index of
    /// the joint.
    pub(crate) fn add_joint(
        &mut self,
        mut cloth: EntityCommands,
        original: &SkinnedMesh,
        mesh: &mut Mesh,
        vertex_to_particle: impl Iterator<Item = u32>,
    ) -> Option<u16> {
        let inverse = self.inverse.as_mut()?;
        let mut matrices = inverse.get(&original.inverse_bindposes)?.to_vec();
        let joint = original.joints.len();
        matrices.resize(joint, Mat4::IDENTITY);
        matrices.push(Mat4::IDENTITY);
        let joint = u16::try_from(joint).ok()?;
        let (mut joint_indices, mut weights) = match (
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)?,
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)?,
        ) {
            (
                VertexAttributeValues::Uint16x4(joints),
                VertexAttributeValues::Float32x4(weights),
            ) => (joints, weights),
            _ => return None,
        };
        let vertices = joint_indices.iter_mut().zip(&mut weights);
        for ((joints, weights), particle) in vertices.zip(vertex_to_particle) {
            if particle != NO_PARTICLE {
                *joints = [joint, 0, 0, 0];
                *weights = [1.0, 0.0, 0.0, 0.0];
            }
        }
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(joint_indices),
        );
        mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
        // Bevy culls by the bounds of all joints, including this one.
        let bounds = SkinnedMeshBounds::from_mesh(mesh).unwrap_or_default();
        mesh.set_skinned_mesh_bounds(Some(bounds));
        let mut joints = original.joints.clone();
        joints.push(cloth.id());
        let own = SkinnedMesh {
            inverse_bindposes: inverse.add(SkinnedMeshInverseBindposes::from(matrices)),
            joints,
        };
        let skin = ClothSkin {
            original: original.inverse_bindposes.clone(),
            own: own.inverse_bindposes.clone(),
        };
        // Bevy culls a skinned mesh by its own bounds only with this component.
        cloth.try_insert((own, skin, DynamicSkinnedMeshBounds));
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
