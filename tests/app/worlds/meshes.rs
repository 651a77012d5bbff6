//! Meshes of random worlds: those of games, and broken ones.

use super::edit::Value;
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology, VertexAttributeValues},
    prelude::*,
};
use bevy_drape::prelude::*;
use proptest::{prelude::*, sample::select};

/// Mesh of a cloth.
#[derive(Clone, Copy, Debug)]
pub(super) enum MeshKind {
    Grid(u8, u8),
    Sphere,
    Torus,
    Cuboid,
    /// Triangles between few points at random, so that edges have many triangles. From a seed.
    Soup(u8),
    /// All vertices on a line.
    Line,
    /// All vertices in one point.
    Point,
    /// A sheet of that size, m.
    Scaled(f32),
    /// A sheet in which that vertex has this coordinate.
    Broken(u8, f32),
    /// A sheet with a vertex in no triangle, there.
    Stray(f32),
    Empty,
    WithoutPositions,
    WrongIndices,
    Lines,
}

impl MeshKind {
    /// Returns meshes of which two in three are in order.
    pub(super) fn any() -> impl Strategy<Value = Self> {
        let hostile = || {
            select(vec![
                f32::NAN,
                f32::INFINITY,
                f32::MAX,
                1e20,
                1e-20,
                1e6,
                0.0,
            ])
        };
        prop_oneof![
            8 => (2u8..24, 2u8..24).prop_map(|(columns, rows)| Self::Grid(columns, rows)),
            1 => Just(Self::Sphere),
            1 => Just(Self::Torus),
            1 => Just(Self::Cuboid),
            1 => any::<u8>().prop_map(Self::Soup),
            1 => hostile().prop_map(Self::Scaled),
            1 => (any::<u8>(), hostile()).prop_map(|(vertex, x)| Self::Broken(vertex, x)),
            1 => hostile().prop_map(Self::Stray),
            1 => select(vec![
                Self::Line,
                Self::Point,
                Self::Empty,
                Self::WithoutPositions,
                Self::WrongIndices,
                Self::Lines,
            ]),
        ]
    }

    /// Returns a mesh that is in order.
    pub(super) fn tamed(self) -> Self {
        match self {
            Self::Grid(..) | Self::Sphere | Self::Torus | Self::Cuboid | Self::Soup(_) => self,
            _ => Self::Grid(8, 8),
        }
    }

    pub(super) fn mesh(self) -> Mesh {
        match self {
            Self::Grid(columns, rows) => {
                ClothGrid::new(1.0, 1.0, columns.into(), rows.into()).into()
            }
            Self::Sphere => Sphere::new(0.4).mesh().ico(3).unwrap(),
            Self::Torus => Torus::new(0.15, 0.4).mesh().minor_resolution(12).build(),
            Self::Cuboid => Cuboid::new(0.5, 0.5, 0.5).into(),
            Self::Soup(seed) => soup(seed),
            Self::Line => moved(|_, at| Vec3::X * at.x),
            Self::Point => moved(|_, _| Vec3::ONE),
            Self::Scaled(size) => moved(|_, at| at * size),
            Self::Broken(vertex, x) => moved(|i, at| {
                if i == usize::from(vertex) % 64 {
                    at.with_y(x)
                } else {
                    at
                }
            }),
            Self::Stray(x) => {
                let (mut positions, indices) = (positions(&sheet()), indices(&sheet()));
                positions.push(Vec3::new(0.0, x, 0.0));
                triangles(positions, indices)
            }
            Self::Empty => triangles(Vec::new(), Vec::new()),
            Self::WithoutPositions => {
                let mut mesh = sheet();
                mesh.remove_attribute(Mesh::ATTRIBUTE_POSITION);
                mesh
            }
            Self::WrongIndices => triangles(positions(&sheet()), vec![0, 1, 2, 3, 4, 64_000]),
            Self::Lines => {
                let mut mesh = Mesh::new(PrimitiveTopology::LineList, RenderAssetUsages::default());
                mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, positions(&sheet()));
                mesh
            }
        }
    }
}

/// Writes a number of an attribute of a mesh, or one of its indices, or removes an attribute.
pub(super) fn damage(mesh: &mut Mesh, attribute: u8, number: u8, value: Value) {
    let ids: Vec<_> = mesh
        .attributes()
        .map(|(attribute, _)| attribute.id)
        .collect();
    let chosen = usize::from(attribute) % (ids.len() + 1);
    if chosen == ids.len() {
        if let Some(indices) = mesh.indices_mut() {
            let at = usize::from(number) % indices.len().max(1);
            match indices {
                Indices::U16(all) if !all.is_empty() => all[at] = value.number as u16,
                Indices::U32(all) if !all.is_empty() => all[at] = value.number as u32,
                _ => {}
            }
        }
        return;
    }
    if value.choice == 0 {
        mesh.remove_attribute(ids[chosen]);
        return;
    }
    let component = usize::from(value.choice);
    match mesh.attribute_mut(ids[chosen]) {
        Some(VertexAttributeValues::Float32x2(all)) => write(all, number, component, value.number),
        Some(VertexAttributeValues::Float32x3(all)) => write(all, number, component, value.number),
        Some(VertexAttributeValues::Float32x4(all)) => write(all, number, component, value.number),
        // Joints of a skin.
        Some(VertexAttributeValues::Uint16x4(all)) => {
            write(all, number, component, value.number as u16);
        }
        _ => {}
    }
}

fn write<T, const N: usize>(all: &mut [[T; N]], at: u8, component: usize, number: T) {
    if !all.is_empty() {
        let at = usize::from(at) % all.len();
        all[at][component % N] = number;
    }
}

fn sheet() -> Mesh {
    ClothGrid::new(1.0, 1.0, 8, 8).into()
}

fn positions(mesh: &Mesh) -> Vec<Vec3> {
    crate::float3(mesh, Mesh::ATTRIBUTE_POSITION)
}

fn indices(mesh: &Mesh) -> Vec<u32> {
    let indices = mesh.indices().unwrap();
    indices.iter().map(|index| index as u32).collect()
}

fn triangles(positions: Vec<Vec3>, indices: Vec<u32>) -> Mesh {
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_indices(Indices::U32(indices))
}

/// Returns a sheet with its vertices elsewhere.
fn moved(to: impl Fn(usize, Vec3) -> Vec3) -> Mesh {
    let positions = positions(&sheet());
    let moved = positions.iter().enumerate().map(|(i, &at)| to(i, at));
    triangles(moved.collect(), indices(&sheet()))
}

fn soup(seed: u8) -> Mesh {
    // Numbers of a multiplicative generator (Lehmer 1951).
    let mut state = u64::from(seed) + 1;
    let mut next = || {
        state = state * 48_271 % 0x7fff_ffff;
        state as u32
    };
    let mut coordinate = || (next() % 1000) as f32 / 1000.0;
    let positions: Vec<_> = (0..40)
        .map(|_| Vec3::from_array([(); 3].map(|()| coordinate())))
        .collect();
    let indices = (0..120).map(|_| next() % 40).collect();
    triangles(positions, indices)
}
