//! Capsules around the limbs of a character, from the mesh that its skeleton moves.

use crate::{
    collider::ClothCollider,
    components::{ClothSkin, ClothSource},
    layers::ClothLayers,
    mesh::Limb,
};
use bevy::{
    mesh::{
        VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Puts a capsule around each limb of a character: give it to an entity with a [`Mesh3d`] and a skeleton
/// ([`SkinnedMesh`]), and each joint gets a child with a [`ClothCollider`] that fits the vertices which it
/// moves. They are made as soon as the mesh is loaded, and taken away with the component or with the mesh.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, body: Entity) {
/// commands.entity(body).insert(SkeletonColliders::default());
/// # }
/// ```
///
/// Of a model from a file, [`ClothRules::colliders`](crate::ClothRules::colliders) finds the mesh by its name.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct SkeletonColliders {
    /// Their radii, as a multiple of what fits the mesh. 0.1 to 10, default 1.
    pub thickness: f32,
    /// Limbs thinner than this get none, m in the pose that the mesh was modelled in: fingers. 0 or more, default
    /// 0.02.
    pub least_radius: f32,
    /// What a vertex must be moved by a joint to belong to it, 0 to 1. Default 0.4.
    pub least_weight: f32,
    /// Their friction with cloth, as in [`ClothCollider`]. 0 or more, default 0.5.
    pub static_friction: f32,
    /// Likewise. 0 or more, default 0.4.
    pub kinetic_friction: f32,
    /// Which cloths meet them. Default: all.
    pub layers: ClothLayers,
}

impl Default for SkeletonColliders {
    fn default() -> Self {
        let collider = ClothCollider::default();
        Self {
            thickness: 1.0,
            least_radius: 0.02,
            least_weight: 0.4,
            static_friction: collider.static_friction,
            kinetic_friction: collider.kinetic_friction,
            layers: ClothLayers::default(),
        }
    }
}

/// The capsules that were made, and what of.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct MadeColliders {
    colliders: Vec<Entity>,
    from: SkeletonColliders,
    mesh: AssetId<Mesh>,
    joints: Vec<Entity>,
}

/// On each capsule: the body that it was made for. Capsules that were saved with a scene are known by it.
#[derive(Component, Reflect, Clone, Debug)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct MadeFor(#[entities] Entity);

/// Makes capsules for meshes that have been loaded, and anew where something has changed.
pub(crate) fn make_colliders(
    bodies: Query<(
        Entity,
        &SkeletonColliders,
        &Mesh3d,
        &SkinnedMesh,
        Option<&MadeColliders>,
        (Option<&ClothSource>, Option<&ClothSkin>),
    )>,
    before: Query<(Entity, &MadeFor)>,
    names: Query<&Name>,
    parents: Query<&ChildOf>,
    meshes: Res<Assets<Mesh>>,
    inverse: Option<Res<Assets<SkinnedMeshInverseBindposes>>>,
    mut commands: Commands,
) {
    for (entity, wanted, mesh, skinned, made, (source, skin)) in &bodies {
        // Of what is cloth, too, as it was before it became that.
        let original = skin.and_then(|skin| skin.original(Some(skinned)));
        let skinned = original.as_ref().unwrap_or(skinned);
        let mesh = ClothSource::original(source, mesh);
        let same = made.is_some_and(|made| {
            made.from == *wanted && made.mesh == mesh.id() && made.joints == skinned.joints
        });
        if same {
            continue;
        }
        let loaded = inverse.as_ref();
        let loaded = loaded.and_then(|inverse| inverse.get(&skinned.inverse_bindposes));
        let (Some(mesh_asset), Some(inverse)) = (meshes.get(mesh), loaded) else {
            continue;
        };
        // Also those that it was saved with.
        let before = before.iter().filter(|(_, of)| of.0 == entity);
        take_away(before.map(|(collider, _)| collider), &mut commands);
        let mut colliders = Vec::new();
        match limbs(mesh_asset, skinned, inverse, wanted, &parents) {
            Ok(limbs) => {
                if limbs.is_empty() {
                    warn!(
                        "cloth colliders of {entity}: no joint moves enough of its mesh for a capsule; \
                         lower least_radius or least_weight"
                    );
                }
                for (joint, limb) in limbs {
                    let name = names.get(joint).map_or("joint", Name::as_str);
                    let name = Name::new(format!("{name} (cloth collider)"));
                    let Ok(mut joint) = commands.get_entity(joint) else {
                        continue;
                    };
                    joint.with_children(|joint| {
                        let collider = joint.spawn((
                            name,
                            wanted.collider(&limb),
                            wanted.layers,
                            MadeFor(entity),
                        ));
                        colliders.push(collider.id());
                    });
                }
            }
            Err(reason) => {
                error!("cloth colliders of {entity} are not made: {reason}");
            }
        }
        commands.entity(entity).try_insert(MadeColliders {
            colliders,
            from: wanted.clone(),
            mesh: mesh.id(),
            joints: skinned.joints.clone(),
        });
    }
}

/// Takes the capsules away that belong to a component that was removed.
pub(crate) fn take_colliders_away(
    event: On<Remove, SkeletonColliders>,
    made: Query<&MadeColliders>,
    mut commands: Commands,
) {
    if let Ok(made) = made.get(event.entity) {
        take_away(made.colliders.iter().copied(), &mut commands);
        if let Ok(mut entity) = commands.get_entity(event.entity) {
            entity.try_remove::<MadeColliders>();
        }
    }
}

fn take_away(colliders: impl Iterator<Item = Entity>, commands: &mut Commands) {
    for collider in colliders {
        // It may have gone with its joint.
        if let Ok(mut collider) = commands.get_entity(collider) {
            collider.try_despawn();
        }
    }
}

impl SkeletonColliders {
    /// What surrounds a limb, in the frame of its joint.
    fn collider(&self, limb: &Limb) -> (ClothCollider, Transform) {
        let thickness = if self.thickness.is_finite() {
            self.thickness.clamp(0.1, 10.0)
        } else {
            1.0
        };
        let [bottom, top] = [limb.radius_bottom, limb.radius_top].map(|radius| radius * thickness);
        let collider = if limb.length > 0.0 {
            ClothCollider::tapered_capsule(bottom, top, limb.length)
        } else {
            ClothCollider::sphere(bottom.max(top))
        };
        (
            collider.with_friction(self.static_friction, self.kinetic_friction),
            Transform::from_translation(limb.centre).with_rotation(limb.rotation),
        )
    }
}

/// The limbs of a mesh, each in the frame of its joint.
fn limbs(
    mesh: &Mesh,
    skinned: &SkinnedMesh,
    inverse: &SkinnedMeshInverseBindposes,
    wanted: &SkeletonColliders,
    parents: &Query<&ChildOf>,
) -> Result<Vec<(Entity, Limb)>, String> {
    let missing = |what: &str| format!("its mesh has no {what}, or it is not readable");
    let positions = mesh.try_attribute(Mesh::ATTRIBUTE_POSITION).ok();
    let positions = positions.and_then(VertexAttributeValues::as_float3);
    let positions = positions.ok_or_else(|| missing("positions"))?;
    let Ok(VertexAttributeValues::Uint16x4(indices)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
    else {
        return Err(missing("joints"));
    };
    let Ok(VertexAttributeValues::Float32x4(weights)) =
        mesh.try_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
    else {
        return Err(missing("weights"));
    };
    let joints = &skinned.joints[..skinned.joints.len().min(inverse.len())];
    let mut points: Vec<Vec<Vec3>> = vec![Vec::new(); joints.len()];
    for ((&position, indices), weights) in positions.iter().zip(indices).zip(weights) {
        for (&joint, &weight) in indices.iter().zip(weights) {
            if weight >= wanted.least_weight
                && weight > 0.0
                && let Some(points) = points.get_mut(usize::from(joint))
            {
                points.push(inverse[usize::from(joint)].transform_point3(position.into()));
            }
        }
    }
    let of = |entity: Entity| joints.iter().position(|&joint| joint == entity);
    // Where the joints that hang on each are, in its frame: there its limb goes.
    let mut ends: Vec<Vec<Vec3>> = vec![Vec::new(); joints.len()];
    for (child, &joint) in joints.iter().enumerate() {
        let parent = parents.get(joint).ok().map(ChildOf::parent);
        if let Some(parent) = parent.and_then(of) {
            let origin = inverse[child].inverse().transform_point3(Vec3::ZERO);
            ends[parent].push(inverse[parent].transform_point3(origin));
        }
    }
    let fitted = joints.iter().zip(points.iter().zip(&ends));
    Ok(fitted
        .filter_map(|(&joint, (points, ends))| {
            // Of several, as at hips and hands, the shape tells more than their mean.
            let axis = match ends[..] {
                [end] => Some(end),
                _ => None,
            };
            Some((joint, Limb::around(points, axis)?))
        })
        .filter(|(joint, limb)| {
            // Joints may measure in other units than the mesh.
            let to_joint = of(*joint).map(|number| inverse[number].determinant().abs().cbrt());
            let thickest = limb.radius_bottom.max(limb.radius_top);
            thickest >= wanted.least_radius * to_joint.unwrap_or(1.0)
        })
        .collect())
}
