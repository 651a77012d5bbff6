//! Converts parry's shapes to collision shapes of cloth. Both engines use parry, each in another version: the
//! reader is a macro compiled once per engine.

use crate::{
    label::{EntityLabel, label_of},
    mesh::weld_triangles,
    solver::{Pose, Shape, Solid, SurfaceError, TriangleSurface},
};
use bevy::{ecs::entity::EntityHashMap, prelude::*};
use std::sync::Arc;

/// Solid and its pose in the frame of its collider.
pub(super) type PlacedSolid = (Solid, Pose);

/// Shape of an engine's collider.
pub(super) trait EngineShape: Clone + Send + Sync + 'static {
    /// Returns whether both are the same shape in memory.
    fn is_same(&self, other: &Self) -> bool;
    /// Appends the solids of the shape, or returns an error if it is not supported.
    fn read(&self, into: &mut Vec<PlacedSolid>) -> Result<(), String>;
}

/// Converted shapes of colliders, with the source shape to detect changes.
#[derive(Resource)]
pub(super) struct ShapeCache<S: EngineShape>(EntityHashMap<(S, Vec<PlacedSolid>)>);

impl<S: EngineShape> Default for ShapeCache<S> {
    fn default() -> Self {
        Self(EntityHashMap::default())
    }
}

impl<S: EngineShape> ShapeCache<S> {
    /// Returns the solids of a collider, converting its shape if it is new or has changed. Unsupported shapes are
    /// logged and have none.
    pub(super) fn solids(
        &mut self,
        collider: Entity,
        shape: &S,
        labels: &Query<EntityLabel>,
    ) -> &[PlacedSolid] {
        let read = || {
            let mut solids = Vec::new();
            if let Err(reason) = shape.read(&mut solids) {
                let label = label_of(collider, labels);
                error!("cloth ignores the collider {label}: {reason}");
            }
            (shape.clone(), solids)
        };
        let cached = self.0.entry(collider).or_insert_with(read);
        if !cached.0.is_same(shape) {
            *cached = read();
        }
        &cached.1
    }

    /// Removes colliders that no longer exist.
    pub(super) fn retain(&mut self, exists: impl Fn(Entity) -> bool) {
        self.0.retain(|&entity, _| exists(entity));
    }
}

/// Radius of capsules for segments and polylines, which have no volume, m.
const LINE_RADIUS: f32 = 1e-3;

/// Builds a capsule between two points.
fn capsule([a, b]: [Vec3; 2], radius: f32, at: &Pose) -> PlacedSolid {
    let axis = b - a;
    let local = Pose {
        rotation: Quat::from_rotation_arc(Vec3::Y, axis.normalize_or(Vec3::Y)),
        translation: (a + b) * 0.5,
    };
    let half_length = axis.length() * 0.5;
    let shape = Shape::Capsule {
        radius,
        half_length,
    };
    (Solid::Shape(shape), at.compose(&local))
}

fn solid(surface: Result<TriangleSurface, SurfaceError>) -> Result<Solid, String> {
    match surface {
        Ok(surface) => Ok(Solid::Surface(Arc::new(surface))),
        Err(reason) => Err(reason.to_string()),
    }
}

fn surface(points: &[Vec3], triangles: &[[u32; 3]]) -> Result<Solid, String> {
    let (points, triangles) = weld_triangles(points, triangles);
    solid(TriangleSurface::new(points, triangles))
}

fn hull(points: &[Vec3]) -> Result<Solid, String> {
    solid(TriangleSurface::convex_hull(points))
}

/// Builds the hull of all points within `radius` of the hull of `points`.
fn rounded_hull(points: impl Iterator<Item = Vec3>, radius: f32) -> Result<Solid, String> {
    let coordinates = || (-2..=2).map(|step| step as f32);
    let directions = || {
        coordinates().flat_map(move |x| {
            coordinates().flat_map(move |y| coordinates().map(move |z| Vec3::new(x, y, z)))
        })
    };
    // Grid points on the surface of a cube of half side 2.
    let is_on_surface = |direction: &Vec3| direction.abs().max_element() == 2.0;
    let all: Vec<Vec3> = points
        .flat_map(|point| {
            let around = directions().filter(is_on_surface);
            around.map(move |direction| point + direction.normalize() * radius)
        })
        .collect();
    hull(&all)
}

/// Returns the corners of a box.
fn corners(half: Vec3) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |i| {
        let side = |axis: usize| if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
        half * Vec3::new(side(0), side(1), side(2))
    })
}

/// Returns 24 points on a circle around the y axis.
fn circle(radius: f32, height: f32) -> impl Iterator<Item = Vec3> {
    (0..24).map(move |k| {
        let angle = k as f32 * (std::f32::consts::TAU / 24.0);
        Vec3::new(radius * angle.cos(), height, radius * angle.sin())
    })
}

/// Defines the reader for one version of parry.
macro_rules! reader {
    ($name:ident, $feature:literal, $parry:path) => {
        #[cfg(feature = $feature)]
        mod $name {
            use super::*;
            use parry::shape::{HeightField, Shape as ParryShape, SharedShape, TypedShape};
            use $parry as parry;

            impl EngineShape for SharedShape {
                fn is_same(&self, other: &Self) -> bool {
                    Arc::ptr_eq(&self.0, &other.0)
                }

                fn read(&self, into: &mut Vec<PlacedSolid>) -> Result<(), String> {
                    read(&**self, &Pose::ORIGIN, into)
                }
            }

            /// Appends the solids of a shape with this pose, or returns an error if it is not supported.
            fn read(
                shape: &dyn ParryShape,
                at: &Pose,
                into: &mut Vec<PlacedSolid>,
            ) -> Result<(), String> {
                match shape.as_typed_shape() {
                    TypedShape::Capsule(source) => {
                        let ends = [source.segment.a, source.segment.b];
                        into.push(capsule(ends, source.radius, at));
                    }
                    TypedShape::Segment(segment) => {
                        into.push(capsule([segment.a, segment.b], LINE_RADIUS, at));
                    }
                    TypedShape::Polyline(line) => {
                        let segments = line.segments();
                        into.extend(segments.map(|s| capsule([s.a, s.b], LINE_RADIUS, at)));
                    }
                    TypedShape::HalfSpace(half_space) => {
                        let up = Pose {
                            rotation: Quat::from_rotation_arc(Vec3::Y, half_space.normal),
                            translation: Vec3::ZERO,
                        };
                        into.push((Solid::Shape(Shape::HalfSpace), at.compose(&up)));
                    }
                    TypedShape::Compound(compound) => {
                        for (pose, shape) in compound.shapes() {
                            let pose = Pose {
                                rotation: pose.rotation,
                                translation: pose.translation,
                            };
                            read(&**shape, &at.compose(&pose), into)?;
                        }
                    }
                    shape => into.push((primitive(shape)?, *at)),
                }
                Ok(())
            }

            /// Converts a shape whose pose is that of its collider.
            fn primitive(shape: TypedShape) -> Result<Solid, String> {
                let shape = match shape {
                    TypedShape::Ball(ball) => Shape::Sphere {
                        radius: ball.radius,
                    },
                    TypedShape::Cuboid(cuboid) => Shape::Cuboid {
                        half_size: cuboid.half_extents,
                    },
                    TypedShape::Cylinder(cylinder) => Shape::Cylinder {
                        radius: cylinder.radius,
                        half_height: cylinder.half_height,
                    },
                    TypedShape::Cone(cone) => Shape::Cone {
                        radius: cone.radius,
                        half_height: cone.half_height,
                    },
                    shape => return triangulated(shape),
                };
                match shape.is_valid() {
                    true => Ok(Solid::Shape(shape)),
                    false => Err(format!("{shape:?} has a length that is not above 0")),
                }
            }

            /// Converts a shape to a triangle surface.
            fn triangulated(shape: TypedShape) -> Result<Solid, String> {
                match shape {
                    TypedShape::Triangle(triangle) => {
                        surface(&[triangle.a, triangle.b, triangle.c], &[[0, 1, 2]])
                    }
                    TypedShape::TriMesh(mesh) => surface(mesh.vertices(), mesh.indices()),
                    TypedShape::HeightField(field) => heightfield(field),
                    TypedShape::Voxels(voxels) => {
                        let (points, triangles) = voxels.to_trimesh();
                        surface(&points, &triangles)
                    }
                    TypedShape::ConvexPolyhedron(polyhedron) => hull(polyhedron.points()),
                    TypedShape::RoundCuboid(round) => {
                        rounded_hull(corners(round.inner_shape.half_extents), round.border_radius)
                    }
                    TypedShape::RoundTriangle(round) => {
                        let inner = &round.inner_shape;
                        rounded_hull([inner.a, inner.b, inner.c].into_iter(), round.border_radius)
                    }
                    TypedShape::RoundCylinder(round) => {
                        let inner = &round.inner_shape;
                        let ring = |y| circle(inner.radius, y);
                        let points = ring(inner.half_height).chain(ring(-inner.half_height));
                        rounded_hull(points, round.border_radius)
                    }
                    TypedShape::RoundCone(round) => {
                        let inner = &round.inner_shape;
                        let tip = std::iter::once(Vec3::Y * inner.half_height);
                        let points = circle(inner.radius, -inner.half_height).chain(tip);
                        rounded_hull(points, round.border_radius)
                    }
                    TypedShape::RoundConvexPolyhedron(round) => {
                        let points = round.inner_shape.points().iter().copied();
                        rounded_hull(points, round.border_radius)
                    }
                    _ => Err("custom shapes are not supported; use a parry shape or a mesh".into()),
                }
            }

            fn heightfield(field: &HeightField) -> Result<Solid, String> {
                let statuses = field.cells_statuses();
                let (rows, columns) = field.num_cells_ij();
                let is_complete =
                    (0..rows).all(|i| (0..columns).all(|j| statuses[(i, j)].is_empty()));
                if !is_complete {
                    let (points, triangles) = field.to_trimesh();
                    return surface(&points, &triangles);
                }
                let (heights, scale) = (field.heights(), field.scale());
                let row = |i| (0..heights.ncols()).map(move |j| heights[(i, j)] * scale.y);
                let all: Vec<f32> = (0..heights.nrows()).flat_map(row).collect();
                let size = Vec2::new(scale.x, scale.z);
                let columns = heights.ncols() as u32;
                solid(TriangleSurface::heightfield(&all, columns, size, Vec3::ONE))
            }
        }
    };
}

reader!(avian, "avian", avian3d::parry);
reader!(rapier, "rapier", bevy_rapier3d::parry);
