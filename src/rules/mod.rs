//! Makes cloth of meshes by their names, or by what an artist wrote into the file.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes, and the system that looks |
//! | `pattern` | names with a `*` |
//! | `extras` | custom properties of a glTF file (feature `gltf`) |

#[cfg(feature = "gltf")]
mod extras;
mod pattern;

use crate::{cloth::Cloth, skeleton_colliders::SkeletonColliders};
#[cfg(feature = "gltf")]
use bevy::gltf::{GltfExtras, GltfMaterialExtras, GltfMaterialName, GltfMeshExtras, GltfMeshName};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use std::{fmt, sync::Arc};

/// Which meshes become cloth when they are spawned, by their names: for models from a file, whose entities no
/// code has seen yet.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let mut app = App::new();
/// app.insert_resource(
///     ClothRules::default()
///         .named("cloth_*", (Cloth::default(), Pins::painted(VertexChannel::Red)))
///         .material("Silk", (Cloth { fabric: Fabric::silk(), ..default() }, Pins::top_corners()))
///         .colliders("Body"),
/// );
/// ```
///
/// A name may be that of the mesh entity itself, of the entity above it (a node of a glTF file, whose meshes
/// are its children, one for each material) or of the mesh in the file. `*` stands for any letters. Of several
/// rules that fit, the first one counts. What has [`Cloth`] already is left as it is.
///
/// With the feature `gltf`, custom properties of objects, meshes and materials do the same without any code:
/// the README lists them.
#[derive(Resource, Clone, Debug, Default)]
pub struct ClothRules {
    rules: Vec<Rule>,
    /// Custom properties are not looked at.
    #[cfg(feature = "gltf")]
    ignores_extras: bool,
}

#[derive(Clone)]
struct Rule {
    fits: Fits,
    dress: Arc<dyn Fn(&mut EntityCommands) + Send + Sync>,
}

#[derive(Clone)]
enum Fits {
    Name(String),
    Material(String),
    Predicate(Arc<dyn Fn(&MeshNames) -> bool + Send + Sync>),
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.fits {
            Fits::Name(name) => write!(f, "named {name:?}"),
            Fits::Material(name) => write!(f, "of material {name:?}"),
            Fits::Predicate(_) => f.write_str("by predicate"),
        }
    }
}

/// The names that a mesh entity goes by.
#[derive(Clone, Copy, Debug, Default)]
pub struct MeshNames<'a> {
    /// That of the entity.
    pub entity: Option<&'a str>,
    /// That of the entity above it: of a glTF file, the node.
    pub parent: Option<&'a str>,
    /// That of the mesh in its glTF file.
    pub mesh: Option<&'a str>,
    /// That of its material in its glTF file.
    pub material: Option<&'a str>,
}

impl MeshNames<'_> {
    /// Whether a pattern fits the entity, what is above it, or the mesh.
    fn fit(&self, wanted: &str) -> bool {
        let all = [self.entity, self.parent, self.mesh];
        all.into_iter()
            .flatten()
            .any(|name| pattern::fits(wanted, name))
    }
}

impl ClothRules {
    /// Meshes with this name get these components, [`Cloth`] among them.
    pub fn named(self, pattern: impl Into<String>, cloth: impl Bundle + Clone) -> Self {
        self.and(Fits::Name(pattern.into()), cloth)
    }

    /// Meshes whose material has this name in their glTF file get these components. Needs the feature `gltf`.
    pub fn material(self, pattern: impl Into<String>, cloth: impl Bundle + Clone) -> Self {
        self.and(Fits::Material(pattern.into()), cloth)
    }

    /// Meshes for whose names this is true get these components.
    pub fn matching(
        self,
        fits: impl Fn(&MeshNames) -> bool + Send + Sync + 'static,
        cloth: impl Bundle + Clone,
    ) -> Self {
        self.and(Fits::Predicate(Arc::new(fits)), cloth)
    }

    /// Meshes with this name get capsules around the joints of their skeleton
    /// ([`SkeletonColliders`]).
    pub fn colliders(self, pattern: impl Into<String>) -> Self {
        self.named(pattern, SkeletonColliders::default())
    }

    /// Custom properties of glTF files make no cloth.
    #[cfg(feature = "gltf")]
    pub fn without_extras(self) -> Self {
        Self {
            ignores_extras: true,
            ..self
        }
    }

    fn and(mut self, fits: Fits, cloth: impl Bundle + Clone) -> Self {
        self.rules.push(Rule {
            fits,
            dress: Arc::new(move |entity| {
                entity.try_insert(cloth.clone());
            }),
        });
        self
    }

    /// The first rule that fits.
    fn find(&self, names: &MeshNames) -> Option<&Rule> {
        self.rules.iter().find(|rule| match &rule.fits {
            Fits::Name(wanted) => names.fit(wanted),
            Fits::Material(wanted) => {
                let name = names.material;
                name.is_some_and(|name| pattern::fits(wanted, name))
            }
            Fits::Predicate(fits) => fits(names),
        })
    }
}

/// What of an entity may name it.
#[derive(QueryData)]
pub(crate) struct Named {
    entity: Entity,
    name: Option<&'static Name>,
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

/// What is above it.
#[derive(SystemParam)]
pub(crate) struct Above<'w, 's> {
    names: Query<'w, 's, &'static Name>,
    #[cfg(feature = "gltf")]
    extras: Query<'w, 's, &'static GltfExtras>,
}

/// Dresses meshes that have just been spawned.
pub(crate) fn dress(
    new: Query<Named, (Added<Mesh3d>, Without<Cloth>)>,
    above: Above,
    rules: Res<ClothRules>,
    mut commands: Commands,
) {
    for named in &new {
        let parent = named.parent.map(ChildOf::parent);
        let names = MeshNames {
            entity: named.name.map(Name::as_str),
            parent: parent.and_then(|parent| above.names.get(parent).ok().map(Name::as_str)),
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
            (rule.dress)(&mut commands.entity(named.entity));
            continue;
        }
        #[cfg(feature = "gltf")]
        if !rules.ignores_extras {
            let of_node = parent.and_then(|parent| above.extras.get(parent).ok());
            let (own, mesh, material) = named.extras;
            let texts = [
                own.map(|extras| extras.value.as_str()),
                of_node.map(|extras| extras.value.as_str()),
                mesh.map(|extras| extras.value.as_str()),
                material.map(|extras| extras.value.as_str()),
            ];
            let name = names
                .parent
                .or(names.entity)
                .unwrap_or("a mesh without a name");
            extras::dress(
                &mut commands.entity(named.entity),
                name,
                texts.into_iter().flatten(),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
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
