//! Capsules of a skeleton, fitted to the vertices that each joint moves.

use crate::{
    character::{skeleton_colliders::SkeletonColliders, skin_weights::joint_attributes},
    mesh::Limb,
};
use bevy::{
    mesh::{
        VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};

/// Fits the limbs of a mesh, each in the frame of its joint.
pub(super) fn limbs(
    mesh: &Mesh,
    skinned: &SkinnedMesh,
    inverse: &SkinnedMeshInverseBindposes,
    settings: &SkeletonColliders,
    parents: &Query<&ChildOf>,
) -> Result<Vec<(Entity, Limb)>, String> {
    let joints = &skinned.joints[..skinned.joints.len().min(inverse.len())];
    let points = points_of_joints(mesh, &inverse[..joints.len()], settings.min_weight)?;
    let index_of = |entity: Entity| joints.iter().position(|&joint| joint == entity);
    // Positions of the child joints of each joint, in its frame: the ends of its limb.
    let mut ends: Vec<Vec<Vec3>> = vec![Vec::new(); joints.len()];
    for (child, &joint) in joints.iter().enumerate() {
        let parent = parents.get(joint).ok().map(ChildOf::parent);
        if let Some(parent) = parent.and_then(index_of) {
            let origin = inverse[child].inverse().transform_point3(Vec3::ZERO);
            ends[parent].push(inverse[parent].transform_point3(origin));
        }
    }
    let mut limbs = Vec::new();
    for (number, (points, ends)) in points.iter().zip(&ends).enumerate() {
        // With several children, as at hips and hands, the axis follows from the shape of the points.
        let bone = match ends[..] {
            [end] => Some(end),
            _ => None,
        };
        // Joint space may have another scale than the mesh.
        let to_joint = inverse[number].determinant().abs().cbrt();
        let is_thick =
            |limb: &Limb| limb.radius_bottom.max(limb.radius_top) >= settings.min_radius * to_joint;
        let fitted = Limb::around(points, bone).into_iter().filter(is_thick);
        limbs.extend(fitted.map(|limb| (joints[number], limb)));
    }
    Ok(limbs)
}

/// Returns the vertices of each joint, in the frame of the joint, or why the mesh cannot be read. A vertex belongs to the
/// joint that moves it most, and to all that move it by at least this weight.
fn points_of_joints(
    mesh: &Mesh,
    inverse: &[Mat4],
    min_weight: f32,
) -> Result<Vec<Vec<Vec3>>, String> {
    let missing = |name: &str| format!("its mesh has no {name}, or it is not readable");
    let positions = mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).ok();
    let positions = positions.and_then(VertexAttributeValues::as_float3);
    let positions = positions.ok_or_else(|| missing("positions"))?;
    let (indices, weights) = joint_attributes(mesh).map_err(missing)?;
    let mut points: Vec<Vec<Vec3>> = vec![Vec::new(); inverse.len()];
    for ((&position, indices), weights) in positions.iter().zip(indices).zip(weights) {
        let largest = weights.iter().copied().fold(0.0, f32::max);
        for (&joint, &weight) in indices.iter().zip(weights) {
            if weight >= min_weight.min(largest)
                && weight > 0.0
                && let Some(points) = points.get_mut(usize::from(joint))
            {
                points.push(inverse[usize::from(joint)].transform_point3(position.into()));
            }
        }
    }
    Ok(points)
}
