//! Helpers to spawn the entities of a scene.

use super::InScene;
use crate::stage::Props;
use bevy::prelude::*;
use bevy_drape::prelude::*;

/// Spawns the entities of a scene.
pub(crate) struct Set<'a, 'w, 's> {
    pub(crate) commands: &'a mut Commands<'w, 's>,
    pub(crate) meshes: &'a mut Assets<Mesh>,
    pub(crate) materials: &'a mut Assets<StandardMaterial>,
    pub(crate) props: &'a Props,
}

impl Set<'_, '_, '_> {
    /// Spawns an entity of the scene.
    pub(crate) fn spawn(&mut self, bundle: impl Bundle) -> EntityCommands<'_> {
        self.commands.spawn((InScene, bundle))
    }

    /// Adds a matt material of one colour.
    pub(crate) fn paint(&mut self, colour: Color) -> Handle<StandardMaterial> {
        self.materials.add(StandardMaterial {
            base_color: colour,
            perceptual_roughness: 0.6,
            reflectance: 0.3,
            ..default()
        })
    }

    /// Adds a tinted tartan material.
    pub(crate) fn dye(&mut self, colour: Color) -> Handle<StandardMaterial> {
        let tartan = self.materials.get(&self.props.fabric);
        let tartan = tartan.cloned().unwrap_or_default();
        self.materials.add(StandardMaterial {
            base_color: colour,
            ..tartan
        })
    }

    /// Spawns the collider of the floor. Its mesh is always there.
    pub(crate) fn floor(&mut self) {
        self.spawn((ClothCollider::half_space(), Name::new("floor")));
    }

    /// Spawns a solid object of stone.
    pub(crate) fn stone(
        &mut self,
        name: &'static str,
        collider: impl Into<ClothCollider>,
        mesh: impl Into<Mesh>,
        transform: Transform,
    ) -> EntityCommands<'_> {
        let mesh = self.meshes.add(mesh);
        let material = self.props.stone.clone();
        self.spawn((
            Name::new(name),
            collider.into(),
            Mesh3d(mesh),
            MeshMaterial3d(material),
            transform,
        ))
    }

    /// Spawns a tartan sheet.
    pub(crate) fn sheet(&mut self, grid: ClothGrid, transform: Transform) -> EntityCommands<'_> {
        let mesh = self.meshes.add(grid);
        let material = self.props.fabric.clone();
        self.spawn((
            Name::new("sheet"),
            Cloth::default(),
            Mesh3d(mesh),
            MeshMaterial3d(material),
            transform,
        ))
    }
}
