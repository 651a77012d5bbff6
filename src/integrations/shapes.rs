//! Shapes of parry, as what cloth bumps into. Both engines have them, each of another version of the crate,
//! so that the same text is compiled for either.

use crate::{
    mesh::weld_triangles,
    solver::{BodyPart, Friction, Pose, Shape, Solid, TriangleSurface},
};
use bevy::{ecs::entity::EntityHashMap, prelude::*};
use std::sync::Arc;

/// A solid and where it is in the frame of its collider.
pub(super) type Placed = (Solid, Pose);

/// What colliders are made of: each shape is read once, and kept so that another one is known from it.
pub(super) struct Shapes<S>(EntityHashMap<(S, Vec<Placed>)>);

impl<S> Default for Shapes<S> {
    fn default() -> Self {
        Self(EntityHashMap::default())
    }
}

impl<S: Clone> Shapes<S> {
    /// The solids of a collider of this shape. What cannot be read is reported, and has none.
    pub(super) fn of(
        &mut self,
        collider: Entity,
        shape: &S,
        is_same: impl Fn(&S, &S) -> bool,
        read: impl Fn(&S, &mut Vec<Placed>) -> Result<(), String>,
    ) -> &[Placed] {
        let read = || {
            let mut solids = Vec::new();
            if let Err(reason) = read(shape, &mut solids) {
                error!("cloth goes through the collider {collider}: {reason}");
            }
            (shape.clone(), solids)
        };
        let known = self.0.entry(collider).or_insert_with(&read);
        if !is_same(&known.0, shape) {
            *known = read();
        }
        &known.1
    }

    /// Forgets colliders that are gone.
    pub(super) fn retain(&mut self, is_there: impl Fn(Entity) -> bool) {
        self.0.retain(|&entity, _| is_there(entity));
    }
}

/// How thick lines are, m: they have no inside that cloth could be kept out of.
const LINE: f32 = 1e-3;

/// Adds solids, placed in a collider that is here, seen from this centre.
pub(super) fn place(
    solids: &[Placed],
    collider: &Pose,
    centre: &Pose,
    friction: Friction,
    parts: &mut Vec<BodyPart>,
) {
    let back = centre.rotation.inverse();
    let local = Pose {
        rotation: back * collider.rotation,
        translation: back * (collider.translation - centre.translation),
    };
    parts.extend(solids.iter().map(|(solid, at)| BodyPart {
        solid: solid.clone(),
        place: local.carrying(at),
        friction,
    }));
}

/// A capsule between two points.
fn capsule([a, b]: [Vec3; 2], radius: f32, at: &Pose) -> Placed {
    let way = b - a;
    let local = Pose {
        rotation: Quat::from_rotation_arc(Vec3::Y, way.normalize_or(Vec3::Y)),
        translation: (a + b) * 0.5,
    };
    let half_length = way.length() * 0.5;
    let shape = Shape::Capsule {
        radius,
        half_length,
    };
    (Solid::Shape(shape), at.carrying(&local))
}

fn surface(points: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Solid, String> {
    let (points, triangles) = weld_triangles(&points, &triangles);
    let surface = TriangleSurface::new(points, triangles);
    surface
        .map(|surface| Solid::Surface(Arc::new(surface)))
        .map_err(|reason| reason.to_string())
}

fn hull(points: &[Vec3]) -> Result<Solid, String> {
    TriangleSurface::convex_hull(points)
        .map(|surface| Solid::Surface(Arc::new(surface)))
        .map_err(|reason| reason.to_string())
}

/// The hull of all points nearer than `radius` to the hull of these.
fn rounded(points: impl Iterator<Item = Vec3>, radius: f32) -> Result<Solid, String> {
    let steps = || (-2..=2).map(|step| step as f32);
    let directions = || {
        steps()
            .flat_map(move |x| steps().flat_map(move |y| steps().map(move |z| Vec3::new(x, y, z))))
    };
    // Those on the sides of a cube, two steps wide.
    let on_sides = |direction: &Vec3| direction.abs().max_element() == 2.0;
    let all: Vec<Vec3> = points
        .flat_map(|point| {
            let around = directions().filter(on_sides);
            around.map(move |direction| point + direction.normalize() * radius)
        })
        .collect();
    hull(&all)
}

/// The corners of a box.
fn corners(half: Vec3) -> impl Iterator<Item = Vec3> {
    (0..8).map(move |i| {
        let side = |axis: usize| if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
        half * Vec3::new(side(0), side(1), side(2))
    })
}

/// A circle around the y axis.
fn circle(radius: f32, height: f32) -> impl Iterator<Item = Vec3> {
    (0..24).map(move |k| {
        let angle = k as f32 * (std::f32::consts::TAU / 24.0);
        Vec3::new(radius * angle.cos(), height, radius * angle.sin())
    })
}

fn vertices_and_indices((points, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> Result<Solid, String> {
    surface(points, triangles)
}

/// Reads shapes of one version of parry.
macro_rules! reader {
    ($name:ident, $feature:literal, $parry:path) => {
        #[cfg(feature = $feature)]
        pub(super) mod $name {
            use super::*;
            use parry::shape::{HeightField, Shape as ParryShape, TypedShape};
            use $parry as parry;

            /// Adds the solids of a shape that is placed like this, or says why it cannot.
            pub(in crate::integrations) fn read(
                shape: &dyn ParryShape,
                at: &Pose,
                into: &mut Vec<Placed>,
            ) -> Result<(), String> {
                let solid = match shape.as_typed_shape() {
                    TypedShape::Ball(ball) => Solid::Shape(Shape::Sphere {
                        radius: ball.radius,
                    }),
                    TypedShape::Cuboid(cuboid) => Solid::Shape(Shape::Cuboid {
                        half_size: cuboid.half_extents,
                    }),
                    TypedShape::Capsule(of) => {
                        let ends = [of.segment.a, of.segment.b];
                        into.push(capsule(ends, of.radius, at));
                        return Ok(());
                    }
                    TypedShape::Segment(segment) => {
                        into.push(capsule([segment.a, segment.b], LINE, at));
                        return Ok(());
                    }
                    TypedShape::Polyline(line) => {
                        into.extend(line.segments().map(|s| capsule([s.a, s.b], LINE, at)));
                        return Ok(());
                    }
                    TypedShape::Cylinder(cylinder) => Solid::Shape(Shape::Cylinder {
                        radius: cylinder.radius,
                        half_height: cylinder.half_height,
                    }),
                    TypedShape::Cone(cone) => Solid::Shape(Shape::Cone {
                        radius: cone.radius,
                        half_height: cone.half_height,
                    }),
                    TypedShape::HalfSpace(half_space) => {
                        let up = Pose {
                            rotation: Quat::from_rotation_arc(Vec3::Y, half_space.normal),
                            translation: Vec3::ZERO,
                        };
                        into.push((Solid::Shape(Shape::HalfSpace), at.carrying(&up)));
                        return Ok(());
                    }
                    TypedShape::Triangle(triangle) => {
                        surface(vec![triangle.a, triangle.b, triangle.c], vec![[0, 1, 2]])?
                    }
                    TypedShape::TriMesh(mesh) => {
                        surface(mesh.vertices().to_vec(), mesh.indices().to_vec())?
                    }
                    TypedShape::HeightField(field) => heights(field)?,
                    TypedShape::Voxels(voxels) => vertices_and_indices(voxels.to_trimesh())?,
                    TypedShape::ConvexPolyhedron(polyhedron) => hull(polyhedron.points())?,
                    TypedShape::Compound(compound) => {
                        for (place, shape) in compound.shapes() {
                            let place = Pose {
                                rotation: place.rotation,
                                translation: place.translation,
                            };
                            read(&**shape, &at.carrying(&place), into)?;
                        }
                        return Ok(());
                    }
                    TypedShape::RoundCuboid(round) => {
                        rounded(corners(round.inner_shape.half_extents), round.border_radius)?
                    }
                    TypedShape::RoundTriangle(round) => {
                        let of = &round.inner_shape;
                        rounded([of.a, of.b, of.c].into_iter(), round.border_radius)?
                    }
                    TypedShape::RoundCylinder(round) => {
                        let of = &round.inner_shape;
                        let ring = |y| circle(of.radius, y);
                        let points = ring(of.half_height).chain(ring(-of.half_height));
                        rounded(points, round.border_radius)?
                    }
                    TypedShape::RoundCone(round) => {
                        let of = &round.inner_shape;
                        let tip = std::iter::once(Vec3::Y * of.half_height);
                        let points = circle(of.radius, -of.half_height).chain(tip);
                        rounded(points, round.border_radius)?
                    }
                    TypedShape::RoundConvexPolyhedron(round) => {
                        let points = round.inner_shape.points().iter().copied();
                        rounded(points, round.border_radius)?
                    }
                    TypedShape::Custom(_) => {
                        return Err("cloth does not know shapes of your own".into());
                    }
                };
                if let Solid::Shape(shape) = &solid
                    && !shape.is_valid()
                {
                    return Err(format!("{shape:?} has a length that is not above 0"));
                }
                into.push((solid, *at));
                Ok(())
            }

            fn heights(field: &HeightField) -> Result<Solid, String> {
                let statuses = field.cells_statuses();
                let (rows, columns) = field.num_cells_ij();
                let whole = (0..rows).all(|i| (0..columns).all(|j| statuses[(i, j)].is_empty()));
                if !whole {
                    return vertices_and_indices(field.to_trimesh());
                }
                let (heights, scale) = (field.heights(), field.scale());
                let row = |i| (0..heights.ncols()).map(move |j| heights[(i, j)] * scale.y);
                let all: Vec<f32> = (0..heights.nrows()).flat_map(row).collect();
                let size = Vec2::new(scale.x, scale.z);
                TriangleSurface::heightfield(&all, heights.ncols() as u32, size, Vec3::ONE)
                    .map(|surface| Solid::Surface(Arc::new(surface)))
                    .map_err(|reason| reason.to_string())
            }
        }
    };
}

reader!(avian, "avian", avian3d::parry);
reader!(rapier, "rapier", bevy_rapier3d::parry);
