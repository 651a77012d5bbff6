//! What a cloth has that is not as it was built: torn, edited, or a rope.

use super::print::ShapePrint;
use crate::{
    components::{Binding, ClothBody, ClothMesh, Constraints, Torn},
    mesh::{MeshBinding, tube::Pieces},
    solver::{ConstraintGraph, Lines, Triangles},
};
use bevy::prelude::*;

/// The shape of a cloth that is not as it was built.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Shape {
    pub(super) constraints: ConstraintGraph,
    pub(super) triangles: Triangles,
    pub(super) area: Vec<f32>,
    pub(super) rope: Option<RopeShape>,
    pub(super) torn: Option<Box<Torn>>,
    /// How the mesh follows it, if it is a sheet that was torn.
    pub(super) binding: Option<MeshBinding>,
}

/// What a rope has instead of triangles.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct RopeShape {
    pub(super) lines: Lines,
    pub(super) radius: f32,
    pub(super) pieces: Pieces,
}

impl Shape {
    pub(super) fn of(constraints: &Constraints, body: &ClothBody, mesh: &ClothMesh) -> Self {
        let (rope, binding) = match (&body.rope, &mesh.binding) {
            (Some(rope), Binding::Tube(tube)) => {
                let rope = RopeShape {
                    lines: rope.lines.clone(),
                    radius: rope.radius,
                    pieces: tube.pieces().clone(),
                };
                (Some(rope), None)
            }
            (_, Binding::Sheet(sheet)) => (None, body.torn.is_some().then(|| sheet.to_save())),
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

/// What a cloth must become.
pub(super) enum Change<'a> {
    /// What it is in a snapshot.
    To(&'a Shape),
    /// What it was when it was built.
    AsBuilt(Box<ConstraintGraph>, Triangles),
}

impl Change<'_> {
    /// Makes a sheet as it was built in a frame. `None` if that would not become what the snapshot has:
    /// the cloth was built otherwise.
    pub(super) fn back(body: &ClothBody, frame: Mat3, print: ShapePrint) -> Option<Self> {
        let rest = body.topology.rest_in_world(frame);
        let triangles = Triangles::new(body.topology.triangles.clone(), &rest)
            .woven_into(&body.topology.sheets);
        // Mostly what it was before it tore; building it anew takes longer.
        let whole = body.torn.as_ref().map(|torn| &*torn.whole_constraints);
        let constraints = match whole.filter(|whole| print.has_constraints(whole)) {
            Some(whole) => whole.clone(),
            None => {
                let mut built = body.topology.constraints_at(&rest);
                body.stiffen(&mut built);
                built
            }
        };
        print
            .has_constraints(&constraints)
            .then_some(Self::AsBuilt(Box::new(constraints), triangles))
    }

    /// Makes it so.
    pub(super) fn apply(
        self,
        constraints: &mut Constraints,
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
                mesh.binding.mend(whole, own);
            }
            Self::To(shape) => {
                constraints.0.clone_from(&shape.constraints);
                body.triangles.clone_from(&shape.triangles);
                body.area.clone_from(&shape.area);
                body.torn.clone_from(&shape.torn);
                if let (Some(rope), Some(to)) = (&mut body.rope, &shape.rope) {
                    rope.lines.clone_from(&to.lines);
                    rope.radius = to.radius;
                }
                match (&mut mesh.binding, &shape.rope, &shape.binding) {
                    (Binding::Tube(tube), Some(to), _) => {
                        let is_other = tube.pieces().strands != to.pieces.strands;
                        tube.set_pieces(to.pieces.clone());
                        if let Some(own) = own.filter(|_| is_other) {
                            *own = tube.mesh();
                        }
                    }
                    (Binding::Sheet(sheet), _, Some(to)) => {
                        // What cannot be reached cannot be drawn either.
                        drop(sheet.become_like(to, own));
                    }
                    (binding, ..) => binding.mend(whole, own),
                }
            }
        }
    }
}
