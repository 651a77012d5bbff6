//! State of a cloth whose shape has changed since it was built: torn, edited, or a rope.

use crate::solver::{ConstraintGraph, RopeSegments, Triangles};
use crate::{
    cloth::{
        components::ClothBody, fingerprint::ShapeFingerprint, particles::ClothConstraints,
        shape::TornShape,
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
    pub(super) radius: f32,
    pub(super) pieces: TubePieces,
}

impl ModifiedShape {
    pub(crate) fn of(constraints: &ClothConstraints, body: &ClothBody, mesh: &ClothMesh) -> Self {
        let (rope, binding) = match (&body.rope, &mesh.binding) {
            (Some(rope), Binding::Tube(tube)) => {
                let rope = RopeShape {
                    segments: rope.segments.clone(),
                    radius: rope.radius,
                    pieces: tube.pieces().clone(),
                };
                (Some(rope), None)
            }
            (_, Binding::Mesh(sheet)) => {
                (None, body.torn.is_some().then(|| sheet.without_caches()))
            }
            _ => (None, None),
        };
        Self {
            constraints: constraints.0.clone(),
            triangles: body.triangles.clone(),
            area: body.area.clone(),
            rope,
            torn: body.torn.clone(),
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
        body: &ClothBody,
        frame: Mat3,
        fingerprint: ShapeFingerprint,
    ) -> Option<Self> {
        let rest = body.topology.rest_in_world(frame);
        let triangles =
            Triangles::new(body.topology.triangles.clone(), &rest).with_grids(&body.topology.grids);
        // Usually the constraints from before the tear; rebuilding them takes longer.
        let whole = body.torn.as_ref().map(|torn| &*torn.intact_constraints);
        let constraints = match whole.filter(|whole| fingerprint.has_constraints(whole)) {
            Some(whole) => whole.clone(),
            None => {
                let mut built = body.topology.constraints_at(&rest);
                body.apply_painted_stiffness(&mut built);
                built
            }
        };
        fingerprint
            .has_constraints(&constraints)
            .then_some(Self::AsBuilt(Box::new(constraints), triangles))
    }

    /// Applies the change.
    pub(super) fn apply(
        self,
        constraints: &mut ClothConstraints,
        body: &mut ClothBody,
        mesh: &mut ClothMesh,
        own: Option<impl std::ops::DerefMut<Target = Mesh>>,
    ) {
        let mut own = own;
        let own = own.as_deref_mut();
        let whole = body.topology.positions.len();
        match self {
            Self::AsBuilt(graph, triangles) => {
                constraints.0 = *graph;
                body.area = Vec::new();
                body.triangles = triangles;
                body.torn = None;
                mesh.binding.restore(whole, own);
            }
            Self::FromSnapshot(shape) => {
                constraints.0.clone_from(&shape.constraints);
                body.triangles.clone_from(&shape.triangles);
                body.area.clone_from(&shape.area);
                body.torn.clone_from(&shape.torn);
                if let (Some(rope), Some(to)) = (&mut body.rope, &shape.rope) {
                    rope.segments.clone_from(&to.segments);
                    rope.radius = to.radius;
                }
                match (&mut mesh.binding, &shape.rope, &shape.binding) {
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
