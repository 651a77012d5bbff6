//! What cloth bumps into that is no primitive. Feature `parry`.

use crate::{
    collider::{ClothCollider, LastPose},
    solver::Friction,
    systems::FramePath,
};
use bevy::prelude::*;
use parry3d::shape::{ConvexPolyhedron, HeightField, TriMesh};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// A convex hull, a triangle mesh or a heightfield that all cloths bump into, at the [`Transform`] of its
/// entity. It may move; moving ones take cloth along by their friction. Needs the feature `parry`.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, heights: Vec<f32>) {
/// // Of the entity's own mesh, once it is loaded: as it is, or its hull.
/// commands.spawn((ClothMeshCollider::mesh(), Mesh3d(assets.load("chair.glb#Mesh0/Primitive0"))));
/// commands.spawn((ClothMeshCollider::convex_hull(), Mesh3d(assets.load("rock.glb#Mesh0/Primitive0"))));
/// // 64 heights a row over 20 m × 20 m.
/// commands.spawn(ClothMeshCollider::heightfield(heights, 64, Vec2::splat(20.0)));
/// # }
/// ```
///
/// A mesh that is closed, each edge with a triangle on both sides and all facing the same way, is solid:
/// cloth that is inside is brought out. In others cloth stays on the side on which it is. Coarse meshes are
/// the better colliders: each particle meets all triangles that are as near as the cloth is thick. Hulls
/// are fast and never hold cloth in a hole.
///
/// A scale of the transform scales everything; it takes time to change it, for the surface is built anew.
/// What cannot be built is left out, with an error in the log that says why. [`ClothLayers`] on the same
/// entity says which cloths meet it. For spheres, boxes and the like [`ClothCollider`] is faster.
///
/// [`ClothLayers`]: crate::ClothLayers
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform, LastPose, FramePath)]
pub struct ClothMeshCollider {
    /// Where its surface comes from. Default the triangles of the entity's mesh.
    pub shape: ClothMeshShape,
    /// Static friction coefficient; what counts is the geometric mean with that of the fabric.
    /// Below 0 and NaN count as 0. Default 0.5.
    pub static_friction: f32,
    /// Kinetic friction coefficient, likewise. Default 0.4.
    pub kinetic_friction: f32,
    /// Cloth is kept inside instead of outside; cloth that begins outside is drawn in. Of a mesh that is
    /// not closed it does nothing. Default `false`.
    pub hollow: bool,
}

/// Where the surface of a [`ClothMeshCollider`] comes from. Places are in the frame of its entity, in
/// metres.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum ClothMeshShape {
    /// The triangles of the entity's `Mesh3d`. They follow when it gets another one or when its asset
    /// changes.
    #[default]
    Mesh,
    /// The convex hull of the entity's `Mesh3d`, likewise.
    MeshHull,
    /// Triangles between vertices; those at the same place count as one.
    Triangles {
        /// The places of the vertices.
        vertices: Vec<Vec3>,
        /// The vertices of each triangle.
        indices: Vec<[u32; 3]>,
    },
    /// The convex hull of points.
    Hull {
        /// The points, at least four.
        points: Vec<Vec3>,
    },
    /// Heights over a rectangle around the origin: a terrain, solid below, down to as far below its lowest
    /// place as it is wide.
    Heightfield {
        /// The heights along y, row after row. A row goes along +x, the rows along +z.
        heights: Vec<f32>,
        /// How many heights a row has, at least 2.
        columns: u32,
        /// The size of the rectangle along x and z.
        size: Vec2,
    },
}

impl Default for ClothMeshCollider {
    fn default() -> Self {
        ClothMeshShape::default().into()
    }
}

impl From<ClothMeshShape> for ClothMeshCollider {
    fn from(shape: ClothMeshShape) -> Self {
        let ClothCollider {
            static_friction,
            kinetic_friction,
            ..
        } = ClothCollider::default();
        Self {
            shape,
            static_friction,
            kinetic_friction,
            hollow: false,
        }
    }
}

impl From<&TriMesh> for ClothMeshCollider {
    fn from(mesh: &TriMesh) -> Self {
        Self::triangles(mesh.vertices().to_vec(), mesh.indices().to_vec())
    }
}

impl From<&ConvexPolyhedron> for ClothMeshCollider {
    fn from(hull: &ConvexPolyhedron) -> Self {
        Self::hull_of(hull.points().to_vec())
    }
}

impl From<&HeightField> for ClothMeshCollider {
    /// Cells that were removed from it are there again.
    fn from(field: &HeightField) -> Self {
        let (heights, scale) = (field.heights(), field.scale());
        let rows = 0..heights.nrows();
        let heights_of = |row| (0..heights.ncols()).map(move |column| heights[(row, column)]);
        Self::heightfield(
            rows.flat_map(heights_of).map(|h| h * scale.y).collect(),
            heights.ncols() as u32,
            Vec2::new(scale.x, scale.z),
        )
    }
}

impl ClothMeshCollider {
    /// The triangles of the entity's `Mesh3d`.
    pub fn mesh() -> Self {
        ClothMeshShape::Mesh.into()
    }

    /// The convex hull of the entity's `Mesh3d`.
    pub fn convex_hull() -> Self {
        ClothMeshShape::MeshHull.into()
    }

    /// Triangles between vertices.
    pub fn triangles(vertices: Vec<Vec3>, indices: Vec<[u32; 3]>) -> Self {
        ClothMeshShape::Triangles { vertices, indices }.into()
    }

    /// The convex hull of points, at least four that do not lie in a plane.
    pub fn hull_of(points: Vec<Vec3>) -> Self {
        ClothMeshShape::Hull { points }.into()
    }

    /// Heights over a rectangle of this size, so many of them a row. See [`ClothMeshShape::Heightfield`].
    pub fn heightfield(heights: Vec<f32>, columns: u32, size: Vec2) -> Self {
        ClothMeshShape::Heightfield {
            heights,
            columns,
            size,
        }
        .into()
    }

    /// The same collider as a container, which keeps cloth inside.
    pub fn hollow(self) -> Self {
        Self {
            hollow: true,
            ..self
        }
    }

    /// The same collider with other friction coefficients.
    pub fn with_friction(self, fixed: f32, kinetic: f32) -> Self {
        Self {
            static_friction: fixed,
            kinetic_friction: kinetic,
            ..self
        }
    }

    /// Its friction, without negative values and NaN.
    pub(crate) fn friction(&self) -> Friction {
        let like = ClothCollider::default();
        like.with_friction(self.static_friction, self.kinetic_friction)
            .friction()
    }
}

/// What is no collider any more moves nothing when it becomes one again.
pub(crate) fn forget_last_pose(
    event: On<Remove, ClothMeshCollider>,
    primitives: Query<(), With<ClothCollider>>,
    mut commands: Commands,
) {
    // What is another kind of collider still needs it.
    if !primitives.contains(event.entity)
        && let Ok(mut entity) = commands.get_entity(event.entity)
    {
        entity.try_remove::<LastPose>();
    }
}
