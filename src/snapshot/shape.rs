//! State of a cloth whose shape has changed since it was built: torn, edited, or a rope.

use crate::solver::{ConstraintGraph, RopeSegments, Triangles};
use crate::{
    cloth::{
        fingerprint::ShapeFingerprint,
        multipliers::ParticleMultipliers,
        particles::ClothConstraints,
        shape::{ClothShape, TornShape},
    },
    mesh::{MeshBinding, tube::TubePieces},
    render::own_mesh::{Binding, ClothMesh},
};
use bevy::prelude::*;

/// Shape of a cloth that has changed since it was built.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct ModifiedShape {
    pub(crate) constraints: ConstraintGraph,
    pub(crate) triangles: Triangles,
    pub(crate) area: Vec<f32>,
    pub(crate) rope: Option<RopeShape>,
    pub(crate) torn: Option<Box<TornShape>>,
    /// The binding of the mesh of a torn sheet.
    pub(crate) binding: Option<MeshBinding>,
}

/// Data of a rope in place of triangles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct RopeShape {
    pub(super) segments: RopeSegments,
    pub(super) pieces: TubePieces,
}

impl ModifiedShape {
    pub(crate) fn of(constraints: &ClothConstraints, shape: &ClothShape, mesh: &ClothMesh) -> Self {
        let (rope, binding) = match (&shape.segments, &mesh.binding) {
            (Some(segments), Binding::Tube(tube)) => {
                let rope = RopeShape {
                    segments: segments.clone(),
                    pieces: tube.pieces().clone(),
                };
                (Some(rope), None)
            }
            (_, Binding::Mesh(sheet)) => {
                (None, shape.torn.is_some().then(|| sheet.without_caches()))
            }
            _ => (None, None),
        };
        Self {
            constraints: constraints.0.clone(),
            triangles: shape.triangles.clone(),
            area: shape.area.clone(),
            rope,
            torn: shape.torn.clone(),
            binding,
        }
    }

    pub(super) fn is_rope(&self) -> bool {
        self.rope.is_some()
    }
}

/// Shape that a cloth is to be given.
pub(super) enum ShapeChange<'a> {
    /// The shape in a snapshot.
    FromSnapshot(&'a ModifiedShape),
    /// The shape as built.
    AsBuilt(Box<ConstraintGraph>, Triangles),
}

impl ShapeChange<'_> {
    /// Rebuilds the original shape of a sheet in a frame. `None` if the result differs from the snapshot: the
    /// cloth was built with other settings.
    pub(super) fn as_built(
        shape: &ClothShape,
        multipliers: &ParticleMultipliers,
        frame: Mat3,
        fingerprint: ShapeFingerprint,
    ) -> Option<Self> {
        let rest = shape.topology.rest_in_world(frame);
        // Usually the constraints from before the tear; rebuilding them takes longer.
        let whole = shape.torn.as_ref().map(|torn| &*torn.intact_constraints);
        let constraints = match whole.filter(|whole| fingerprint.has_constraints(whole)) {
            Some(whole) => whole.clone(),
            None => {
                let mut built = shape.topology.constraints_at(&rest);
                multipliers.apply_stiffness(&mut built);
                built
            }
        };
        fingerprint
            .has_constraints(&constraints)
            .then(|| Self::AsBuilt(Box::new(constraints), shape.topology.triangles_at(&rest)))
    }

    /// Applies the change.
    pub(super) fn apply(
        self,
        constraints: &mut ClothConstraints,
        shape: &mut ClothShape,
        mesh: &mut ClothMesh,
        own: Option<impl std::ops::DerefMut<Target = Mesh>>,
    ) {
        let mut own = own;
        let own = own.as_deref_mut();
        let whole = shape.topology.positions.len();
        match self {
            Self::AsBuilt(graph, triangles) => {
                constraints.0 = *graph;
                shape.area = Vec::new();
                shape.triangles = triangles;
                shape.torn = None;
                mesh.binding.restore(whole, own);
            }
            Self::FromSnapshot(saved) => {
                constraints.0.clone_from(&saved.constraints);
                shape.triangles.clone_from(&saved.triangles);
                shape.area.clone_from(&saved.area);
                shape.torn.clone_from(&saved.torn);
                if let (Some(segments), Some(to)) = (&mut shape.segments, &saved.rope) {
                    segments.clone_from(&to.segments);
                }
                match (&mut mesh.binding, &saved.rope, &saved.binding) {
                    (Binding::Tube(tube), Some(to), _) => {
                        let is_other = tube.pieces().chains != to.pieces.chains;
                        tube.set_pieces(to.pieces.clone());
                        if let Some(own) = own.filter(|_| is_other) {
                            *own = tube.mesh();
                        }
                    }
                    (Binding::Mesh(sheet), _, Some(to)) => {
                        // A mesh without access is not drawn, so an error does not matter.
                        drop(sheet.copy_state_from(to, own));
                    }
                    (binding, ..) => binding.restore(whole, own),
                }
            }
        }
    }
}
