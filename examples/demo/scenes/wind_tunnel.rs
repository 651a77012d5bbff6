//! Cloths behind each other in a tunnel of turbulent air, one in a vortex behind it, and one outside.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::prelude::*;
use bevy_drape::{
    prelude::*,
    wind::{Falloff, WindTurbulence},
};

pub(super) const SCENE: Scene = Scene {
    name: "wind_tunnel",
    about: "cloths in a wind zone with turbulence, one in a vortex, one beside them",
    spawn,
    world: || Surroundings {
        turbulence: WindTurbulence {
            strength: 3.0,
            size: 0.4,
            period: 0.3,
            seed: 1,
        },
        wind_zones: true,
        ..default()
    },
    view: [Vec3::new(-0.7, 1.8, 3.6), Vec3::new(0.2, 0.72, 0.0)],
    ..PLAIN
};

/// Size of each cloth, m.
const SIZE: Vec2 = Vec2::new(0.7, 0.9);
/// Height of their upper edges, m.
const TOP: f32 = 1.4;

fn spawn(set: &mut Set) {
    set.floor();
    // Perpendicular to the wind.
    let across = Quat::from_rotation_y(std::f32::consts::FRAC_PI_2);
    let cloths = [
        ("first", Vec3::new(-1.2, 0.0, 0.0), across),
        ("second", Vec3::new(-0.5, 0.0, 0.0), across),
        ("third", Vec3::new(0.2, 0.0, 0.0), across),
        ("in the vortex", Vec3::new(1.6, 0.0, 0.0), Quat::IDENTITY),
        ("beside", Vec3::new(-0.5, 0.0, -1.5), across),
    ];
    for (name, position, rotation) in cloths {
        let height = Vec3::Y * (TOP - SIZE.y / 2.0);
        let transform = Transform::from_translation(position + height).with_rotation(rotation);
        set.sheet(ClothGrid::vertical(SIZE.x, SIZE.y, 32, 40), transform)
            .insert((
                Name::new(name),
                Pins::edge(ClothEdge::Top),
                Cloth {
                    fabric: Fabric {
                        areal_density: 0.12,
                        ..default()
                    },
                    ..default()
                },
            ));
        let rod = Cylinder::new(0.012, SIZE.x + 0.1).mesh().resolution(16);
        let lying = rotation * Quat::from_rotation_z(std::f32::consts::FRAC_PI_2);
        let above = transform.translation + Vec3::Y * (SIZE.y / 2.0 + 0.012);
        let rod = set.meshes.add(rod);
        let steel = set.paint(Color::srgb(0.35, 0.36, 0.38));
        let transform = Transform::from_translation(above).with_rotation(lying);
        set.spawn((Mesh3d(rod), MeshMaterial3d(steel), transform));
    }
    let tunnel = WindZone::cuboid(1.2, 1.2, 2.4)
        .with_strength(6.0)
        .with_falloff(Falloff::None);
    let transform = Transform::from_xyz(-0.6, 0.8, 0.0).looking_to(Vec3::X, Vec3::Y);
    set.spawn((Name::new("tunnel"), tunnel, transform));
    let vortex = WindZone::sphere(0.8).vortex().with_strength(7.0);
    let transform = Transform::from_xyz(1.6, 0.85, 0.0);
    set.spawn((Name::new("vortex"), vortex, transform));
}
