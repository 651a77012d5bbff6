//! Poses of skeletons that change at once: the first one of an animation, and that of a figure which was culled.

use crate::{
    models::{app_with_models, load, mean_stretch, named, the_cloth},
    particles, run,
};
use bevy::prelude::*;
use bevy_drape::{
    character::ClothRules,
    lod::{ClothCulled, ClothLod, ClothViewer},
};

/// Lowers both arms of a figure by this angle.
fn lower_arms(app: &mut App, angle: f32) {
    for (name, angle) in [("UpperArm.L", -angle), ("UpperArm.R", angle)] {
        let arm = named(app, name);
        let mut arm = app.world_mut().get_mut::<Transform>(arm).unwrap();
        arm.rotate_local_z(angle);
    }
}

/// Returns the centre of particles in the frame of the left arm.
fn centre_on_arm(app: &mut App, cloth: Entity, cuff: &[usize]) -> Vec3 {
    let arm = named(app, "UpperArm.L");
    let arm = app.world().get::<GlobalTransform>(arm).unwrap().affine();
    let p = particles(app, cloth);
    let sum: Vec3 = cuff.iter().map(|&i| p.world_position(i)).sum();
    arm.inverse().transform_point3(sum / cuff.len() as f32)
}

/// Loads the figure in the shirt. Returns its shirt, and the particles of its left cuff.
fn load_shirt(app: &mut App) -> (Entity, Vec<usize>) {
    load(app, "models/shirt.glb", Transform::default());
    let shirt = the_cloth(app);
    let p = particles(app, shirt);
    let cuff: Vec<usize> = (0..p.len())
        .filter(|&i| p.world_position(i).x > 0.29)
        .collect();
    assert!(cuff.len() > 50);
    (shirt, cuff)
}

#[test]
fn cloth_moves_to_the_first_pose_of_an_animation() {
    // At once, and after its figure has stood in the bind pose.
    for updates in [0, 30] {
        let mut app = app_with_models(ClothRules::default());
        let (shirt, cuff) = load_shirt(&mut app);
        run(&mut app, updates);
        let before = centre_on_arm(&mut app, shirt, &cuff);
        lower_arms(&mut app, 0.35);
        run(&mut app, 1);
        let moved = centre_on_arm(&mut app, shirt, &cuff).distance(before);
        // Left behind by the arm: 5 cm.
        assert!(moved < 0.025, "after {updates}: {moved} m");
    }
}

#[test]
fn an_arm_that_is_lowered_at_once_does_not_leave_its_sleeve() {
    let mut app = app_with_models(ClothRules::default());
    let (shirt, _) = load_shirt(&mut app);
    run(&mut app, 30);
    lower_arms(&mut app, 0.7);
    run(&mut app, 10);
    let mean = mean_stretch(&app, shirt);
    // With sleeves that were caught in front of the arms: 4 %.
    assert!(mean < 0.01, "{mean}");
}

#[test]
fn a_culled_figure_returns_in_its_shirt() {
    let mut app = app_with_models(ClothRules::default());
    app.insert_resource(ClothLod {
        cull_beyond: 20.0,
        ..default()
    });
    let viewer = (ClothViewer, Transform::default());
    let viewer = app.world_mut().spawn(viewer).id();
    let (shirt, cuff) = load_shirt(&mut app);
    lower_arms(&mut app, 0.1);
    run(&mut app, 30);
    let before = centre_on_arm(&mut app, shirt, &cuff);
    let move_viewer = |app: &mut App, x: f32| {
        let mut viewer = app.world_mut().get_mut::<Transform>(viewer).unwrap();
        viewer.translation.x = x;
        run(app, 2);
        app.world().get::<ClothCulled>(shirt).is_some()
    };
    assert!(move_viewer(&mut app, 100.0));
    lower_arms(&mut app, 0.6);
    run(&mut app, 10);
    assert!(!move_viewer(&mut app, 0.0));
    let moved = centre_on_arm(&mut app, shirt, &cuff).distance(before);
    // Moved rigidly with the figure: 11 cm. A loose sleeve hangs a few centimetres lower on another side of a lowered arm.
    assert!(moved < 0.045, "{moved} m");
}
