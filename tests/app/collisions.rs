//! Hollow colliders (containers), layers, and colliders smaller or faster (per step) than a cell, in the plugin.

use crate::{app, centre, headless::headless_app, particles, run, spawn};
use bevy::prelude::*;
use bevy_drape::{
    collision::ClothLayers,
    diagnostics::{ClothDiagnosticsPlugin, ClothStats},
    prelude::*,
};

fn lowest(app: &App, cloth: Entity) -> f32 {
    let particles = particles(app, cloth);
    let heights = (0..particles.len()).map(|i| particles.world_position(i).y);
    heights.fold(f32::INFINITY, f32::min)
}

#[test]
fn hollow_primitives_contain_cloth() {
    for collider in [
        ClothCollider::cuboid(1.2, 0.8, 1.2).hollow(),
        ClothCollider::from(Cylinder::new(0.8, 0.8)).hollow(),
        ClothCollider::sphere(0.9).hollow(),
    ] {
        let mut app = app();
        app.world_mut().spawn(collider);
        let cloth = spawn(&mut app, ());
        run(&mut app, 200);
        let low = lowest(&app, cloth);
        assert!((-0.9..-0.3).contains(&low), "{collider:?}: {low}");
    }
}

#[test]
fn cloth_and_colliders_collide_if_the_layers_of_both_allow_it() {
    const WALLS: u32 = 2;
    let wall = ClothLayers::on(WALLS);
    for (on_floor, on_cloth, collide) in [
        (None, None, true),
        (Some(wall), None, true),
        (
            Some(wall),
            Some(ClothLayers::default().with_filters(WALLS)),
            true,
        ),
        (
            Some(wall),
            Some(ClothLayers::default().with_filters(!WALLS)),
            false,
        ),
        (Some(wall.with_filters(WALLS)), None, false),
        (None, Some(ClothLayers::on(0)), false),
    ] {
        let mut app = headless_app((ClothPlugin::default(), ClothDiagnosticsPlugin::default()));
        let floor = app.world_mut().spawn(ClothCollider::half_space()).id();
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.3, 0.0));
        for (entity, layers) in [(floor, on_floor), (cloth, on_cloth)] {
            if let Some(layers) = layers {
                app.world_mut().entity_mut(entity).insert(layers);
            }
        }
        run(&mut app, 60);
        let height = centre(&app, cloth).y;
        assert_eq!(
            height > 0.0,
            collide,
            "{on_floor:?}, {on_cloth:?}: {height}"
        );
        // Colliders on other layers do not count towards the penetration depth.
        let stats = app.world().get::<ClothStats>(cloth).unwrap();
        assert_eq!(stats.deepest_penetration, 0.0);
        // Changed layers take effect from the next step on.
        if !collide {
            let up = Vec3::Y * 3.0;
            app.world_mut().entity_mut(cloth).remove::<ClothLayers>();
            app.world_mut().entity_mut(floor).remove::<ClothLayers>();
            app.world_mut()
                .get_mut::<Transform>(cloth)
                .unwrap()
                .translation += up;
            app.world_mut().trigger(ResetCloth { entity: cloth });
            run(&mut app, 120);
            assert!(centre(&app, cloth).y > 0.0);
        }
    }
}

#[test]
fn a_ball_smaller_than_a_cell_is_caught_fused_and_phase_by_phase() {
    let run_with = |schedule: bool| {
        let mut app = app();
        if schedule {
            // A user's system makes the plugin run the substep schedule, phase by phase.
            app.add_systems(bevy_drape::cloth::ClothSubstep, || {});
        }
        let ball = app.world_mut().spawn(ClothCollider::sphere(0.0185)).id();
        let cloth = spawn(
            &mut app,
            Pins::edge(ClothEdge::Left).and(Pins::edge(ClothEdge::Right)),
        );
        let drop = move |mut transforms: Query<&mut Transform>, mut y: Local<f32>| {
            *y = if *y == 0.0 {
                0.5
            } else {
                (*y - 0.1).max(-0.03)
            };
            transforms.get_mut(ball).unwrap().translation = Vec3::new(0.05, *y, 0.04);
        };
        app.add_systems(FixedUpdate, drop.before(ClothSystems::Prepare));
        run(&mut app, 60);
        let low = lowest(&app, cloth);
        assert!(low < -0.03, "the ball presses the cloth down: {low}");
        particles(&app, cloth).state_hash()
    };
    assert_eq!(run_with(false), run_with(true));
}
