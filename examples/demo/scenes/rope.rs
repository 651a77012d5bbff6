//! Ropes: the swinging rope of the tutorial, pinned at one end; one between two posts, which forms a catenary; and
//! one lying over a sphere.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::prelude::*;
use bevy_drape::prelude::*;

pub(super) const SCENE: Scene = Scene {
    name: "rope",
    about: "ropes that swing, sag and lie; drag them, or cut them with the right button",
    spawn,
    world: || Surroundings {
        // As in the tutorial: one substep, many iterations.
        substeps: ClothSubsteps::PerStep(2),
        ..default()
    },
    view: [Vec3::new(0.3, 1.35, 3.6), Vec3::new(0.0, 0.85, 0.0)],
    ..PLAIN
};

/// Returns the settings of the ropes.
fn hemp() -> Cloth {
    Cloth {
        iterations: 50,
        damping: 0.3,
        // Iterations only, without tethers.
        tether_scale: None,
        fabric: Fabric {
            areal_density: 3.0,
            thickness: Some(0.002),
            static_friction: 0.8,
            kinetic_friction: 0.6,
            ..default()
        },
        ..default()
    }
}

fn spawn(set: &mut Set) {
    set.floor();
    let hemp_colour = set.paint(Color::srgb(0.66, 0.50, 0.28));
    let wood = set.paint(Color::srgb(0.30, 0.19, 0.11));

    // 30 particles, the first one pinned; starts horizontally and swings down.
    let hook = Vec3::new(-1.55, 1.75, 0.0);
    let swinging = Rope::between(hook, hook + Vec3::new(0.95, 0.3, 0.0), 30);
    let pole = Cylinder::new(0.04, 1.9).mesh().resolution(32);
    let transform = Transform::from_xyz(hook.x, 0.93, hook.z - 0.14);
    set.stone("post", ClothCollider::capsule(0.04, 1.82), pole, transform)
        .insert(MeshMaterial3d(wood.clone()));
    let arm = set.meshes.add(Cuboid::new(0.03, 0.03, 0.2));
    let transform = Transform::from_translation(hook - Vec3::Z * 0.08);
    set.spawn((Mesh3d(arm), MeshMaterial3d(wood.clone()), transform));
    let ball = set.meshes.add(Sphere::new(0.035).mesh().uv(24, 12));
    let transform = Transform::from_translation(hook);
    set.spawn((
        Mesh3d(ball.clone()),
        MeshMaterial3d(wood.clone()),
        transform,
    ));
    set.spawn((
        Name::new("swinging rope"),
        swinging,
        hemp(),
        Pins::index(0),
        MeshMaterial3d(hemp_colour.clone()),
    ));

    // 2 m of rope between two posts 1.2 m apart: a catenary.
    let posts = [Vec3::new(-0.35, 1.5, -0.3), Vec3::new(0.85, 1.5, -0.3)];
    set.spawn((
        Name::new("catenary"),
        Rope {
            length: Some(2.0),
            ..Rope::between(posts[0], posts[1], 40)
        },
        hemp(),
        Pins::ends(),
        MeshMaterial3d(hemp_colour.clone()),
    ));
    let post = Cylinder::new(0.04, 1.6).mesh().resolution(32);
    for top in posts {
        let transform = Transform::from_xyz(top.x, 0.78, top.z);
        set.stone("post", ClothCollider::capsule(0.04, 1.52), post, transform)
            .insert(MeshMaterial3d(wood.clone()));
        let transform = Transform::from_translation(top);
        set.spawn((
            Mesh3d(ball.clone()),
            MeshMaterial3d(wood.clone()),
            transform,
        ));
    }

    // A rope that falls over a sphere.
    let sphere = Sphere::new(0.32);
    let transform = Transform::from_xyz(0.25, 0.32, 0.75);
    set.stone("sphere", sphere, sphere.mesh().uv(48, 24), transform);
    set.spawn((
        Name::new("fallen rope"),
        Rope::between(
            Vec3::new(-0.55, 0.85, 0.62),
            Vec3::new(1.05, 0.95, 0.86),
            60,
        )
        .with_thickness(0.04),
        hemp(),
        MeshMaterial3d(hemp_colour),
    ));
}
