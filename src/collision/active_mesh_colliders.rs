//! Triangle surfaces of the current step with which cloth collides.

use crate::{collision::layers::ClothLayers, solver::MeshCollider};

/// Mesh collider, and the layers of cloths that collide with it.
pub(crate) type LayeredMesh = (MeshCollider, ClothLayers);

/// Triangle surfaces of the current step. Each list is ordered by entity: the same order gives the same bits.
#[derive(Default)]
pub(crate) struct ActiveMeshColliders {
    /// Surfaces of `ClothMeshCollider`s.
    pub(crate) rigid: Vec<LayeredMesh>,
    /// Surfaces of skinned meshes.
    pub(crate) skinned: Vec<LayeredMesh>,
}

impl ActiveMeshColliders {
    /// Returns the mesh colliders that interact with a cloth on these layers.
    pub(crate) fn on_layers(
        &self,
        layers: Option<&ClothLayers>,
    ) -> impl Iterator<Item = &MeshCollider> + Clone {
        let layers = layers.copied().unwrap_or_default();
        let matching = self
            .with_layers()
            .filter(move |(_, other)| layers.interacts_with(*other));
        matching.map(|(collider, _)| collider)
    }

    /// Returns all mesh colliders with their layers.
    pub(crate) fn with_layers(&self) -> impl Iterator<Item = &LayeredMesh> + Clone {
        self.rigid.iter().chain(&self.skinned)
    }

    /// Returns all mesh colliders at their current poses, without velocity.
    pub(crate) fn stationary(&self) -> Self {
        let stopped = |(collider, layers): &LayeredMesh| (collider.stopped(), *layers);
        Self {
            rigid: self.rigid.iter().map(stopped).collect(),
            skinned: self.skinned.iter().map(stopped).collect(),
        }
    }
}
