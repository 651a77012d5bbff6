//! Turns meshes into cloth by their names, or by custom properties in the file.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the rules, and the system that applies them |
//! | `pattern` | names with `*` |
//! | `extras` | custom properties of a glTF file (feature `gltf`) |

#[cfg(feature = "gltf")]
mod extras;
mod pattern;

#[cfg(feature = "gltf")]
use crate::label::EntityLabelItem;
use crate::{character::skeleton_colliders::SkeletonColliders, cloth::Cloth, label::EntityLabel};
#[cfg(feature = "gltf")]
use bevy::gltf::{GltfExtras, GltfMaterialExtras, GltfMaterialName, GltfMeshExtras, GltfMeshName};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use std::{fmt, sync::Arc};

/// Rules that turn meshes into cloth when they are spawned, by their names: for models from a file, whose entities
/// are not known to your code in advance.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::{ClothRules, VertexChannel}, prelude::*};
/// # let mut app = App::new();
/// app.insert_resource(
///     ClothRules::default()
///         .named("cloth_*", (Cloth::default(), Pins::painted(VertexChannel::Red)))
///         .material("Silk", (Cloth { fabric: Fabric::silk(), ..default() }, Pins::top_corners()))
///         .colliders("Body"),
/// );
/// ```
///
/// A rule can match the name of the mesh entity, of its parent entity (a node of a glTF file, whose children are
/// its meshes, one per material) or of the mesh in the file. `*` stands for any characters. The first matching
/// rule applies. Entities that already have [`Cloth`] are skipped.
///
/// With the feature `gltf`, custom properties of objects, meshes and materials do the same without any code: the
/// chapter on characters of the manual lists them.
#[derive(Resource, Clone, Debug, Default)]
pub struct ClothRules {
    rules: Vec<Rule>,
    /// Whether custom properties are ignored.
    #[cfg(feature = "gltf")]
    ignores_extras: bool,
}

#[derive(Clone)]
struct Rule {
    condition: RuleCondition,
    insert: Arc<dyn Fn(&mut EntityCommands) + Send + Sync>,
}

#[derive(Clone)]
enum RuleCondition {
    Name(String),
    Material(String),
    Predicate(Arc<dyn Fn(&MeshNames) -> bool + Send + Sync>),
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.condition {
            RuleCondition::Name(name) => write!(f, "named {name:?}"),
            RuleCondition::Material(name) => write!(f, "of material {name:?}"),
            RuleCondition::Predicate(_) => f.write_str("by predicate"),
        }
    }
}

/// Names of a mesh entity.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshNames<'a> {
    /// Name of the entity.
    pub entity: Option<&'a str>,
    /// Name of the parent entity: for a glTF file, the node.
    pub parent: Option<&'a str>,
    /// Name of the mesh in its glTF file.
    pub mesh: Option<&'a str>,
    /// Name of the material in its glTF file.
    pub material: Option<&'a str>,
}

impl MeshNames<'_> {
    /// Returns whether a pattern matches the entity, its parent, or the mesh.
    fn matches(&self, wanted: &str) -> bool {
        let all = [self.entity, self.parent, self.mesh];
        all.into_iter()
            .flatten()
            .any(|name| pattern::matches(wanted, name))
    }
}

impl ClothRules {
    /// Adds these components, including [`Cloth`], to meshes with a matching name.
    pub fn named(self, pattern: impl Into<String>, cloth: impl Bundle + Clone) -> Self {
        self.and(RuleCondition::Name(pattern.into()), cloth)
    }

    /// Adds these components to meshes with a matching material name in their glTF file. Needs the feature `gltf`.
    pub fn material(self, pattern: impl Into<String>, cloth: impl Bundle + Clone) -> Self {
        self.and(RuleCondition::Material(pattern.into()), cloth)
    }

    /// Adds these components to meshes whose names the predicate accepts.
    pub fn matching(
        self,
        fits: impl Fn(&MeshNames) -> bool + Send + Sync + 'static,
        cloth: impl Bundle + Clone,
    ) -> Self {
        self.and(RuleCondition::Predicate(Arc::new(fits)), cloth)
    }

    /// Adds capsules around the joints of the skeleton ([`SkeletonColliders`]) to meshes with a matching name.
    pub fn colliders(self, pattern: impl Into<String>) -> Self {
        self.named(pattern, SkeletonColliders::default())
    }

    /// Makes the triangles of meshes with a matching name colliders, skinned by their skeletons in each step
    /// ([`SkeletonShape::Mesh`](crate::character::SkeletonShape::Mesh)).
    pub fn mesh_colliders(self, pattern: impl Into<String>) -> Self {
        self.named(pattern, SkeletonColliders::mesh())
    }

    /// Ignores custom properties of glTF files.
    #[cfg(feature = "gltf")]
    pub fn without_extras(self) -> Self {
        Self {
            ignores_extras: true,
            ..self
        }
    }

    fn and(mut self, condition: RuleCondition, cloth: impl Bundle + Clone) -> Self {
        self.rules.push(Rule {
            condition,
            insert: Arc::new(move |entity| {
                entity.try_insert(cloth.clone());
            }),
        });
        self
    }

    /// Returns the first matching rule.
    fn find(&self, names: &MeshNames) -> Option<&Rule> {
        self.rules.iter().find(|rule| match &rule.condition {
            RuleCondition::Name(wanted) => names.matches(wanted),
            RuleCondition::Material(wanted) => {
                let name = names.material;
                name.is_some_and(|name| pattern::matches(wanted, name))
            }
            RuleCondition::Predicate(fits) => fits(names),
        })
    }
}

/// Names and custom properties of a mesh entity.
#[derive(QueryData)]
pub(crate) struct NamedMesh {
    label: EntityLabel,
    parent: Option<&'static ChildOf>,
    #[cfg(feature = "gltf")]
    mesh: Option<&'static GltfMeshName>,
    #[cfg(feature = "gltf")]
    material: Option<&'static GltfMaterialName>,
    #[cfg(feature = "gltf")]
    extras: (
        Option<&'static GltfExtras>,
        Option<&'static GltfMeshExtras>,
        Option<&'static GltfMaterialExtras>,
    ),
}

/// Names and custom properties of parent entities.
#[derive(SystemParam)]
pub(crate) struct ParentNames<'w, 's> {
    names: Query<'w, 's, &'static Name>,
    #[cfg(feature = "gltf")]
    extras: Query<'w, 's, &'static GltfExtras>,
}

/// Run condition: there are newly spawned meshes.
pub(crate) fn any_new_mesh(new: Query<(), (Added<Mesh3d>, Without<Cloth>)>) -> bool {
    !new.is_empty()
}

/// Applies the rules to newly spawned meshes.
pub(crate) fn apply_rules(
    new: Query<NamedMesh, (Added<Mesh3d>, Without<Cloth>)>,
    parents: ParentNames,
    rules: Res<ClothRules>,
    mut commands: Commands,
) {
    for named in &new {
        let parent = named.parent.map(ChildOf::parent);
        let node_name = parent.and_then(|parent| parents.names.get(parent).ok());
        let names = MeshNames {
            entity: named.label.name.map(Name::as_str),
            parent: node_name.map(Name::as_str),
            #[cfg(feature = "gltf")]
            mesh: named.mesh.map(|name| name.0.as_str()),
            #[cfg(feature = "gltf")]
            material: named.material.map(|name| name.0.as_str()),
            #[cfg(not(feature = "gltf"))]
            mesh: None,
            #[cfg(not(feature = "gltf"))]
            material: None,
        };
        if let Some(rule) = rules.find(&names) {
            (rule.insert)(&mut commands.entity(named.label.entity));
            continue;
        }
        #[cfg(feature = "gltf")]
        if !rules.ignores_extras {
            let node = parent.and_then(|parent| parents.extras.get(parent).ok());
            let (own, mesh, material) = named.extras;
            let texts = [
                own.map(|extras| extras.value.as_str()),
                node.map(|extras| extras.value.as_str()),
                mesh.map(|extras| extras.value.as_str()),
                material.map(|extras| extras.value.as_str()),
            ];
            // Properties are those of the object, whose name is that of the node.
            let label = EntityLabelItem {
                name: node_name.or(named.label.name),
                ..named.label
            };
            extras::insert_components(
                &mut commands.entity(label.entity),
                label,
                texts.into_iter().flatten(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_matching_rule_applies() {
        let rules = ClothRules::default()
            .named("cloth_*", Cloth::default())
            .material("Silk", Cloth::default())
            .matching(|names| names.mesh == Some("Flag"), Cloth::default());
        let found = |names: MeshNames| rules.find(&names).map(|rule| format!("{rule:?}"));
        let node = MeshNames {
            parent: Some("cloth_cape"),
            material: Some("Silk"),
            ..default()
        };
        assert_eq!(found(node).unwrap(), "named \"cloth_*\"");
        let silk = MeshNames {
            parent: Some("Cape"),
            material: Some("Silk"),
            ..default()
        };
        assert_eq!(found(silk).unwrap(), "of material \"Silk\"");
        let flag = MeshNames {
            mesh: Some("Flag"),
            ..default()
        };
        assert_eq!(found(flag).unwrap(), "by predicate");
        assert_eq!(found(MeshNames::default()), None);
    }
}
