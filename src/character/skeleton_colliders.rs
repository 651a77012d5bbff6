//! Generates capsule colliders around the limbs of a character from its skinned mesh.

use crate::{
    character::{skeleton::ClothSkin, skin_weights::joint_attributes},
    cloth::source::ClothSource,
    collision::{collider::ClothCollider, layers::ClothLayers},
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

/// Capsule colliders around the limbs of a character. On an entity with a [`Mesh3d`] and a skeleton
/// ([`SkinnedMesh`]), each joint gets up to three children with a [`ClothCollider`], fitted by least squares to the
/// vertices that it moves, so that nearly all lie inside. The colliders are generated as soon as the mesh is loaded, and removed with this component or with the mesh.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::SkeletonColliders, prelude::*};
/// # fn spawn(mut commands: Commands, body: Entity) {
/// commands.entity(body).insert(SkeletonColliders::default());
/// # }
/// ```
///
/// For a model from a file, [`ClothRules::colliders`](crate::character::ClothRules::colliders) finds the mesh by its name.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct SkeletonColliders {
    /// Scale of the fitted radii. 0.1 to 10, default 1.
    pub thickness: f32,
    /// Smallest radius of a capsule, in the bind pose, m: excludes fingers. 0 or more, default
    /// 0.02.
    pub min_radius: f32,
    /// Smallest weight of a joint on a vertex for the vertex to belong to it, 0 to 1. A vertex also belongs to the joint
    /// with its largest weight. Default 0.4.
    pub min_weight: f32,
    /// Static friction coefficient, as in [`ClothCollider`]. 0 or more, default 0.5.
    pub static_friction: f32,
    /// Kinetic friction coefficient. 0 or more, default 0.4.
    pub kinetic_friction: f32,
    /// Layers of cloths that collide with them. Default: all.
    pub layers: ClothLayers,
}

impl Default for SkeletonColliders {
    fn default() -> Self {
        let collider = ClothCollider::default();
        Self {
            thickness: 1.0,
            min_radius: 0.02,
            min_weight: 0.4,
            static_friction: collider.static_friction,
            kinetic_friction: collider.kinetic_friction,
            layers: ClothLayers::default(),
        }
    }
}

/// Generated colliders, and the inputs that they were generated from.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct GeneratedColliders {
    colliders: Vec<Entity>,
    from: SkeletonColliders,
    mesh: AssetId<Mesh>,
    joints: Vec<Entity>,
}

/// Body that a collider was generated for; identifies colliders that were saved with a scene.
#[derive(Component, Reflect, Clone, Debug)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct GeneratedFor(#[entities] Entity);

/// Generates colliders for meshes that have been loaded, and again when an input has changed.
pub(crate) fn generate_colliders(
    bodies: Query<(
        Entity,
        &SkeletonColliders,
        &Mesh3d,
        &SkinnedMesh,
        Option<&GeneratedColliders>,
        (Option<&ClothSource>, Option<&ClothSkin>),
    )>,
    existing: Query<(Entity, &GeneratedFor)>,
    names: Query<&Name>,
    parents: Query<&ChildOf>,
    meshes: Res<Assets<Mesh>>,
    inverse: Option<Res<Assets<SkinnedMeshInverseBindposes>>>,
    mut commands: Commands,
) {
    for (entity, settings, mesh, skinned, generated, (source, skin)) in &bodies {
        // Use the original mesh and skin of an entity that has become cloth.
        let original = skin.and_then(|skin| skin.original(Some(skinned)));
        let skinned = original.as_ref().unwrap_or(skinned);
        let mesh = ClothSource::original(source, mesh);
        let is_current = generated.is_some_and(|generated| {
            generated.from == *settings
                && generated.mesh == mesh.id()
                && generated.joints == skinned.joints
        });
        if is_current {
            continue;
        }
        let loaded = inverse.as_ref();
        let loaded = loaded.and_then(|inverse| inverse.get(&skinned.inverse_bindposes));
        let (Some(mesh_asset), Some(inverse)) = (meshes.get(mesh), loaded) else {
            continue;
        };
        // Also removes colliders that were saved with the scene.
        let existing = existing.iter().filter(|(_, body)| body.0 == entity);
        despawn(existing.map(|(collider, _)| collider), &mut commands);
        let limbs = limbs(mesh_asset, skinned, inverse, settings, &parents);
        match &limbs {
            Ok(limbs) if limbs.is_empty() => warn!(
                "cloth colliders of {entity}: no joint moves enough of its mesh for a capsule; \
                 lower min_radius or min_weight"
            ),
            Ok(_) => {}
            Err(reason) => error!("cloth colliders of {entity} are not generated: {reason}"),
        }
        let limbs = limbs.unwrap_or_default();
        let colliders = spawn_colliders(entity, settings, &limbs, &names, &mut commands);
        commands.entity(entity).try_insert(GeneratedColliders {
            colliders,
            from: settings.clone(),
            mesh: mesh.id(),
            joints: skinned.joints.clone(),
        });
    }
}

/// Spawns the colliders of limbs as children of their joints.
fn spawn_colliders(
    body: Entity,
    settings: &SkeletonColliders,
    limbs: &[(Entity, Limb)],
    names: &Query<&Name>,
    commands: &mut Commands,
) -> Vec<Entity> {
    let mut colliders = Vec::new();
    for (joint, limb) in limbs {
        let name = names.get(*joint).map_or("joint", Name::as_str);
        let name = Name::new(format!("{name} (cloth collider)"));
        let Ok(mut joint) = commands.get_entity(*joint) else {
            continue;
        };
        joint.with_children(|joint| {
            let collider = joint.spawn((
                name,
                settings.collider(limb),
                settings.layers,
                GeneratedFor(body),
            ));
            colliders.push(collider.id());
        });
    }
    colliders
}

/// Removes the colliders of a removed component.
pub(crate) fn remove_colliders(
    event: On<Remove, SkeletonColliders>,
    generated: Query<&GeneratedColliders>,
    mut commands: Commands,
) {
    if let Ok(generated) = generated.get(event.entity) {
        despawn(generated.colliders.iter().copied(), &mut commands);
        if let Ok(mut entity) = commands.get_entity(event.entity) {
            entity.try_remove::<GeneratedColliders>();
        }
    }
}

fn despawn(colliders: impl Iterator<Item = Entity>, commands: &mut Commands) {
    for collider in colliders {
        // May have been despawned with its joint.
        if let Ok(mut collider) = commands.get_entity(collider) {
            collider.try_despawn();
        }
    }
}

impl SkeletonColliders {
    /// Returns the collider of a limb and its transform in the frame of its joint.
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

/// Fits the limbs of a mesh, each in the frame of its joint.
fn limbs(
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
