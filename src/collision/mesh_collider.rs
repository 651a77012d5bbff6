//! [`ClothMeshCollider`]: triangle meshes, convex hulls and heightfields with which cloth collides. Feature `parry`.

use crate::{
    cloth::transforms::TransformHistory,
    collision::collider::{ClothCollider, LastPose},
    solver::Friction,
};
use bevy::prelude::*;
use parry3d::shape::{ConvexPolyhedron, HeightField, TriMesh};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Convex hull, triangle mesh or heightfield with which all cloths collide, at the [`Transform`] of its entity. A
/// moving collider drags cloth along by friction. Needs the feature `parry`.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands, assets: Res<AssetServer>, heights: Vec<f32>) {
/// // From the entity's own mesh, once loaded: its triangles, or their convex hull.
/// commands.spawn((ClothMeshCollider::mesh(), Mesh3d(assets.load("chair.glb#Mesh0/Primitive0"))));
/// commands.spawn((ClothMeshCollider::convex_hull(), Mesh3d(assets.load("rock.glb#Mesh0/Primitive0"))));
/// // 64 heights per row over 20 m × 20 m.
/// commands.spawn(ClothMeshCollider::heightfield(heights, 64, Vec2::splat(20.0)));
/// # }
/// ```
///
/// A closed mesh, in which each edge has a triangle on both sides and all triangles have the same orientation, is
/// solid: cloth inside is pushed out. At an open mesh cloth stays on its current side. Coarse meshes are the
/// better colliders: each particle is tested against all triangles within the thickness of the cloth. Hulls are
/// fast, and have no concavities in which cloth could be caught.
///
/// The scale of the transform scales everything; changing it is expensive, since the surface is rebuilt. A surface
/// that cannot be built is left out, with an error in the log that gives the reason. [`ClothLayers`] on the same
/// entity select the cloths that collide with it. For spheres, boxes and other primitives [`ClothCollider`] is
/// faster.
///
/// [`ClothLayers`]: crate::collision::ClothLayers
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform, LastPose, TransformHistory)]
pub struct ClothMeshCollider {
    /// Source of the surface. Default the triangles of the entity's mesh.
    pub shape: ClothMeshShape,
    /// Static friction coefficient, combined with the fabric's as the geometric mean. Negative values and NaN
    /// count as 0. Default 0.5.
    pub static_friction: f32,
    /// Kinetic friction coefficient, combined in the same way. Default 0.4.
    pub kinetic_friction: f32,
    /// Inverts the collider into a container: cloth is kept inside instead of outside, and cloth that starts
    /// outside is pulled in. Has no effect on open meshes. Default `false`.
    pub hollow: bool,
}

/// Source of the surface of a [`ClothMeshCollider`]. Positions are in the local space of the entity, m.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum ClothMeshShape {
    /// Triangles of the entity's `Mesh3d`. Rebuilt when the mesh is replaced or its asset changes.
    #[default]
    Mesh,
    /// Convex hull of the entity's `Mesh3d`, rebuilt likewise.
    MeshHull,
    /// Triangles between vertices. Vertices at the same position are merged.
    Triangles {
        /// Positions of the vertices, m.
        vertices: Vec<Vec3>,
        /// Vertex indices of each triangle.
        indices: Vec<[u32; 3]>,
    },
    /// Convex hull of points.
    Hull {
        /// Positions of at least four points that do not lie in a plane, m.
        points: Vec<Vec3>,
    },
    /// Heights over a rectangle around the origin, such as a terrain. Solid down to the length of its longer side
    /// below the lowest height.
    Heightfield {
        /// Heights along y, m, row by row. A row runs along +x; rows follow each other along +z.
        heights: Vec<f32>,
        /// Number of heights per row, at least 2.
        columns: u32,
        /// Size of the rectangle along x and z, m.
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
    /// Converts the heights; cells that were removed from the heightfield are present again.
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
    /// Creates a collider from the triangles of the entity's `Mesh3d`.
    pub fn mesh() -> Self {
        ClothMeshShape::Mesh.into()
    }

    /// Creates a collider from the convex hull of the entity's `Mesh3d`.
    pub fn convex_hull() -> Self {
        ClothMeshShape::MeshHull.into()
    }

    /// Creates a collider from vertices, m, and the indices of each triangle.
    pub fn triangles(vertices: Vec<Vec3>, indices: Vec<[u32; 3]>) -> Self {
        ClothMeshShape::Triangles { vertices, indices }.into()
    }

    /// Creates the convex hull of at least four points that do not lie in a plane, m.
    pub fn hull_of(points: Vec<Vec3>) -> Self {
        ClothMeshShape::Hull { points }.into()
    }

    /// Creates a heightfield over a rectangle of this size, with `columns` heights per row. See
    /// [`ClothMeshShape::Heightfield`].
    pub fn heightfield(heights: Vec<f32>, columns: u32, size: Vec2) -> Self {
        ClothMeshShape::Heightfield {
            heights,
            columns,
            size,
        }
        .into()
    }

    /// Returns the collider inverted: a container that keeps cloth inside.
    pub fn hollow(self) -> Self {
        Self {
            hollow: true,
            ..self
        }
    }

    /// Returns the collider with these friction coefficients.
    pub fn with_friction(self, static_friction: f32, kinetic_friction: f32) -> Self {
        Self {
            static_friction,
            kinetic_friction,
            ..self
        }
    }

    /// Returns the friction for the solver; negative values and NaN become 0.
    pub(crate) fn friction(&self) -> Friction {
        let primitive = ClothCollider::default();
        primitive
            .with_friction(self.static_friction, self.kinetic_friction)
            .friction()
    }
}

/// Forgets the last pose with the collider, so that a collider added again later has no motion in its first step.
pub(crate) fn forget_last_pose(
    event: On<Remove, ClothMeshCollider>,
    primitives: Query<(), With<ClothCollider>>,
    mut commands: Commands,
) {
    // A primitive collider on the same entity still needs it.
    if !primitives.contains(event.entity)
        && let Ok(mut entity) = commands.get_entity(event.entity)
    {
        entity.try_remove::<LastPose>();
    }
}
