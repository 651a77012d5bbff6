//! Enclosed air: balls from limp to taut, and a cushion, to be cut.

use super::{PLAIN, Scene, Set};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_drape::{prelude::*, pressure::ClothPressure};

pub(super) const SCENE: Scene = Scene {
    name: "balloon",
    about: "balls from limp to taut and a cushion; cut them with the right button",
    spawn,
    view: [Vec3::new(0.7, 1.0, 2.1), Vec3::new(0.0, 0.2, 0.1)],
    ..PLAIN
};

/// Thin, smooth and a little elastic.
fn rubber() -> Cloth {
    Cloth {
        damping: 0.4,
        fabric: Fabric {
            areal_density: 0.12,
            warp_stiffness: Some(5000.0),
            weft_stiffness: Some(5000.0),
            strain_limit: Some(1.0),
            ..default()
        },
        ..default()
    }
}

fn spawn(set: &mut Set) {
    set.floor();
    // From limp to taut.
    for (number, pressure) in [15.0, 150.0, 900.0].into_iter().enumerate() {
        let ball = Sphere::new(0.24).mesh().ico(16);
        let ball = set.meshes.add(ball.expect("16 is not too fine"));
        let paint = [
            Color::srgb(0.72, 0.16, 0.12),
            Color::srgb(0.85, 0.62, 0.14),
            Color::srgb(0.16, 0.38, 0.62),
        ][number];
        let paint = set.paint(paint);
        let across = number as f32 - 1.0;
        set.spawn((
            Name::new(format!("{pressure} Pa")),
            Mesh3d(ball),
            MeshMaterial3d(paint),
            Transform::from_xyz(0.55 * across, 0.5 + 0.15 * across, -0.2),
            ClothPressure::new(pressure),
            rubber(),
        ));
    }
    // A cushion: two sheets, joined along their edges, separated by air.
    let cushion = set.meshes.add(pillow(0.8, 0.6, 32, 24));
    set.spawn((
        Name::new("cushion"),
        Mesh3d(cushion),
        MeshMaterial3d(set.props.fabric.clone()),
        Transform::from_xyz(-0.15, 0.2, 0.55),
        ClothPressure {
            overpressure: 400.0,
            ambient: 20_000.0,
        },
        Cloth::default(),
    ));
}

/// Returns two horizontal, bulging sheets that share their edges, each with this many cells. Lengths in m.
fn pillow(width: f32, depth: f32, columns: u32, rows: u32) -> Mesh {
    let (mut positions, mut uvs, mut indices) = (Vec::new(), Vec::new(), Vec::new());
    for side in [1.0, -1.0] {
        let first = positions.len() as u32;
        for r in 0..=rows {
            for c in 0..=columns {
                let (u, v) = (c as f32 / columns as f32, r as f32 / rows as f32);
                let bulge = 4.0 * u * (1.0 - u) * 4.0 * v * (1.0 - v);
                positions.push([
                    (u - 0.5) * width,
                    side * 0.05 * bulge.sqrt(),
                    (v - 0.5) * depth,
                ]);
                uvs.push([u * width, v * depth]);
            }
        }
        for r in 0..rows {
            for c in 0..columns {
                let a = first + r * (columns + 1) + c;
                let (b, d) = (a + 1, a + columns + 1);
                // Diagonals point to the centre: in a corner, both sides would otherwise share a triangle.
                let quad = if (2 * r < rows) == (2 * c < columns) {
                    [a, d, d + 1, a, d + 1, b]
                } else {
                    [a, d, b, b, d, d + 1]
                };
                if side > 0.0 {
                    indices.extend(quad);
                } else {
                    indices.extend(quad.into_iter().rev());
                }
            }
        }
    }
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::all())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_UV_0, uvs)
        .with_inserted_indices(Indices::U32(indices))
        .with_computed_smooth_normals()
}
