//! Generates the colliders of a character from its skinned mesh.

use crate::{
    character::{limbs::limbs, skeleton::ClothSkin, skinned_surface::SkinnedSurface},
    cloth::{Cloth, source::ClothSource},
    collision::{
        collider::{ClothCollider, LastPose},
        layers::ClothLayers,
    },
    label::{EntityLabel, EntityLabelItem},
    mesh::Limb,
    solver::Friction,
};
use bevy::{
    mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// Shape of the colliders of a character.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum SkeletonShape {
    /// Tapered capsules around the limbs, one to four per joint, fitted by least squares to the vertices that it moves.
    /// Fast and smooth; fingers, ears and folds of skin are rounded off.
    #[default]
    Capsules,
    /// Triangles of the mesh, skinned in each step. A closed mesh is solid; at an open one, such as a shirt, cloth stays on
    /// its current side. Meant for bodies of up to about 2 000 triangles, such as a coarse, invisible copy of the one that is
    /// drawn: each particle is tested against all triangles near it. With 20 000, a step takes 0.2 ms longer with no cloth
    /// near, and 26 ms longer under a cloth of 64 × 64 particles. Limbs that cut into the trunk as they bend can catch cloth.
    Mesh,
}

/// Colliders of a character, on an entity with a [`Mesh3d`] and a skeleton ([`SkinnedMesh`]). They are generated as soon
/// as the mesh is loaded, and removed with this component: capsules, which are children of the joints, or the triangles
/// of the mesh.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::SkeletonColliders, prelude::*};
/// # fn spawn(mut commands: Commands, body: Entity, giant: Entity) {
/// commands.entity(body).insert(SkeletonColliders::default());
/// commands.entity(giant).insert(SkeletonColliders::mesh());
/// # }
/// ```
///
/// For a model from a file, [`ClothRules::colliders`](crate::character::ClothRules::colliders) and
/// [`ClothRules::mesh_colliders`](crate::character::ClothRules::mesh_colliders) find the mesh by its name.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct SkeletonColliders {
    /// Capsules, or the triangles of the mesh. Default capsules.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub shape: SkeletonShape,
    /// Scale of the fitted radii of capsules; clothes that begin inside these are stretched. 0.1 to 10, default 1.
    pub thickness: f32,
    /// Smallest radius of a capsule, in the bind pose, m: excludes fingers. 0 or more, default 0.02.
    pub min_radius: f32,
    /// Smallest weight of a joint on a vertex for the vertex to belong to it, 0 to 1. A vertex also belongs to the joint
    /// with its largest weight. For capsules only. Default 0.4.
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
            shape: SkeletonShape::default(),
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

impl GeneratedColliders {
    /// Returns whether they were generated from these inputs.
    fn is_from(
        &self,
        settings: &SkeletonColliders,
        mesh: &Handle<Mesh>,
        skinned: &SkinnedMesh,
    ) -> bool {
        self.from == *settings && self.mesh == mesh.id() && self.joints == skinned.joints
    }
}

/// Body that a collider was generated for; identifies colliders that were saved with a scene.
#[derive(Component, Reflect, Clone, Debug)]
#[reflect(Component, Clone, Debug)]
pub(crate) struct GeneratedFor(#[entities] Entity);

/// Generates colliders for meshes that have been loaded, and again when an input has changed.
pub(crate) fn generate_colliders(
    bodies: Query<(
        EntityLabel,
        &SkeletonColliders,
        &Mesh3d,
        &SkinnedMesh,
        Option<&GeneratedColliders>,
        (Has<Cloth>, Option<&ClothSource>, Option<&ClothSkin>),
    )>,
    existing: Query<(Entity, &GeneratedFor)>,
    names: Query<&Name>,
    parents: Query<&ChildOf>,
    meshes: Res<Assets<Mesh>>,
    inverse: Option<Res<Assets<SkinnedMeshInverseBindposes>>>,
    mut commands: Commands,
) {
    for (label, settings, mesh, skinned, generated, (is_cloth, source, skin)) in &bodies {
        let entity = label.entity;
        let is_mesh = settings.shape == SkeletonShape::Mesh;
        let original = skin.and_then(|skin| skin.original(Some(skinned)));
        let (mesh, skinned) = match is_mesh {
            // The mesh of the cloth tells which triangles are not cloth.
            true if is_cloth && source.is_none_or(|source| source.own != mesh.0) => continue,
            true => (&mesh.0, skinned),
            false => {
                let skinned = original.as_ref().unwrap_or(skinned);
                (ClothSource::original(source, mesh), skinned)
            }
        };
        if generated.is_some_and(|known| known.is_from(settings, mesh, skinned)) {
            continue;
        }
        let loaded = (inverse.as_ref()).and_then(|all| all.get(&skinned.inverse_bindposes));
        let (Some(mesh_asset), Some(inverse)) = (meshes.get(mesh), loaded) else {
            continue;
        };
        // Also removes colliders that were saved with the scene.
        let existing = existing.iter().filter(|(_, body)| body.0 == entity);
        despawn(existing.map(|(collider, _)| collider), &mut commands);
        let mut colliders = Vec::new();
        if is_mesh {
            let surface = SkinnedSurface::read(entity, mesh_asset, skinned, inverse);
            set_surface(label, surface.map(Some), &mut commands);
        } else {
            set_surface(label, Ok(None), &mut commands);
            let limbs = limbs(mesh_asset, skinned, inverse, settings, &parents);
            let limbs = report_limbs(&label, limbs);
            colliders = spawn_colliders(entity, settings, &limbs, &names, &mut commands);
        }
        commands.entity(entity).try_insert(GeneratedColliders {
            colliders,
            from: settings.clone(),
            mesh: mesh.id(),
            joints: skinned.joints.clone(),
        });
    }
}

/// Replaces or removes the surface of a body; logs why there is none.
fn set_surface(
    label: EntityLabelItem,
    surface: Result<Option<SkinnedSurface>, String>,
    commands: &mut Commands,
) {
    let surface = surface.unwrap_or_else(|reason| {
        error!("cloth colliders of {label} are not generated: {reason}");
        None
    });
    let mut body = commands.entity(label.entity);
    match surface {
        Some(surface) => body.try_insert((surface, LastPose(None))),
        None => body.try_remove::<SkinnedSurface>(),
    };
}

/// Logs why there are no limbs, if there are none.
fn report_limbs(
    label: &dyn Display,
    limbs: Result<Vec<(Entity, Limb)>, String>,
) -> Vec<(Entity, Limb)> {
    match &limbs {
        Ok(limbs) if limbs.is_empty() => warn!(
            "cloth colliders of {label}: no joint moves enough of its mesh for a capsule; lower \
             min_radius or min_weight"
        ),
        Ok(_) => {}
        Err(reason) => error!("cloth colliders of {label} are not generated: {reason}"),
    }
    limbs.unwrap_or_default()
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
            entity.try_remove::<(GeneratedColliders, SkinnedSurface)>();
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
    /// Creates capsules around the limbs.
    pub fn capsules() -> Self {
        Self::default()
    }

    /// Creates a collider from the triangles of the mesh, skinned in each step.
    pub fn mesh() -> Self {
        Self {
            shape: SkeletonShape::Mesh,
            ..Self::default()
        }
    }

    /// Returns the friction for the solver; negative values and NaN become 0.
    pub(crate) fn friction(&self) -> Friction {
        let primitive = ClothCollider::default();
        primitive
            .with_friction(self.static_friction, self.kinetic_friction)
            .friction()
    }

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
