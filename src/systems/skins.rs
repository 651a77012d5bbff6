//! Cloth on meshes that have a skeleton.
//!
//! A renderer moves the vertices of such a mesh by its joints. Those that are cloth get a joint of their own
//! instead: the entity of the cloth, which moves them as if the mesh had no skeleton. The rest of the mesh
//! goes on as before.

use crate::{components::ClothSkin, mesh::topology::NO_PARTICLE, skin::Skin};
use bevy::{
    camera::primitives::Aabb,
    ecs::system::SystemParam,
    mesh::{
        VertexAttributeValues,
        skinning::{
            JointAabb, JointIndex, SkinnedMesh, SkinnedMeshBounds, SkinnedMeshInverseBindposes,
        },
    },
    prelude::*,
};

/// What is known of skeletons.
#[derive(SystemParam)]
pub(crate) struct Skeletons<'w, 's> {
    inverse: Option<ResMut<'w, Assets<SkinnedMeshInverseBindposes>>>,
    names: Query<'w, 's, &'static Name>,
    joints: Query<'w, 's, &'static GlobalTransform>,
}

/// A mesh with a skeleton that may not be loaded yet.
pub(super) enum Loaded<T> {
    Yes(T),
    NotYet,
}

impl Skeletons<'_, '_> {
    /// How particles follow a skeleton; none if the mesh has no weights for it.
    pub(super) fn read(
        &self,
        mesh: &Mesh,
        skinned: &SkinnedMesh,
        vertex_to_particle: impl Iterator<Item = u32>,
        particles: usize,
    ) -> Loaded<Option<Skin>> {
        let inverse = self.inverse.as_ref();
        let Some(inverse) = inverse.and_then(|all| all.get(&skinned.inverse_bindposes)) else {
            return Loaded::NotYet;
        };
        let name = |joint| self.names.get(joint).ok().map(|name| name.to_string());
        Loaded::Yes(Skin::read(
            mesh,
            skinned,
            inverse,
            name,
            vertex_to_particle,
            particles,
        ))
    }

    /// Where a joint is in this frame.
    pub(super) fn joint(&self, joint: Entity) -> Option<GlobalTransform> {
        self.joints.get(joint).ok().copied()
    }

    /// Makes a cloth a joint of its own skeleton. Returns what to remember, and the number of the joint.
    pub(super) fn add_joint(
        &mut self,
        cloth: Entity,
        original: &SkinnedMesh,
        mesh: &mut Mesh,
        vertex_to_particle: impl Iterator<Item = u32>,
    ) -> Option<(ClothSkin, SkinnedMesh, u16)> {
        let inverse = self.inverse.as_mut()?;
        let mut matrices = inverse.get(&original.inverse_bindposes)?.to_vec();
        let joint = original.joints.len();
        matrices.resize(joint, Mat4::IDENTITY);
        matrices.push(Mat4::IDENTITY);
        let joint = u16::try_from(joint).ok()?;
        let (mut before, mut weights) = match (
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)?,
            mesh.remove_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)?,
        ) {
            (
                VertexAttributeValues::Uint16x4(joints),
                VertexAttributeValues::Float32x4(weights),
            ) => (joints, weights),
            _ => return None,
        };
        let vertices = before.iter_mut().zip(&mut weights);
        for ((joints, weights), particle) in vertices.zip(vertex_to_particle) {
            if particle != NO_PARTICLE {
                *joints = [joint, 0, 0, 0];
                *weights = [1.0, 0.0, 0.0, 0.0];
            }
        }
        mesh.insert_attribute(
            Mesh::ATTRIBUTE_JOINT_INDEX,
            VertexAttributeValues::Uint16x4(before),
        );
        mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
        // Bevy draws the box around all joints, this one among them.
        let bounds = SkinnedMeshBounds::from_mesh(mesh).unwrap_or_default();
        mesh.set_skinned_mesh_bounds(Some(bounds));
        let mut joints = original.joints.clone();
        joints.push(cloth);
        let own = SkinnedMesh {
            inverse_bindposes: inverse.add(SkinnedMeshInverseBindposes::from(matrices)),
            joints,
        };
        let skin = ClothSkin {
            original: original.inverse_bindposes.clone(),
            own: own.inverse_bindposes.clone(),
        };
        Some((skin, own, joint))
    }
}

/// Tells a mesh how large the cloth in it is, which is its joint of this number.
pub(super) fn set_bounds(mesh: &mut Mesh, joint: u16, aabb: &Aabb) {
    let Some(bounds) = mesh.skinned_mesh_bounds() else {
        return;
    };
    let mut place = bounds.aabb_index_to_joint_index.iter();
    let Some(place) = place.position(|&index| index == JointIndex(joint)) else {
        return;
    };
    let mut bounds = bounds.clone();
    bounds.aabbs[place] = JointAabb {
        center: aabb.center.into(),
        half_size: aabb.half_extents.into(),
    };
    mesh.set_skinned_mesh_bounds(Some(bounds));
}
