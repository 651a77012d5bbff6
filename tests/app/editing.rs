//! Settings that change while the cloth moves.

use crate::{app, centre, particles, positions, run, spawn, worst_stretch};
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_drape::{
    cloth::{ClothSubstep, ClothSubstepTime, StretchSolver},
    params,
    prelude::*,
};
use std::fmt::Debug;

/// Returns the largest displacement of a particle in the next update, m.
fn largest_displacement(app: &mut App, cloth: Entity) -> f32 {
    let before = positions(app, cloth);
    app.update();
    let after = positions(app, cloth);
    let displacements = before.iter().zip(&after).map(|(a, b)| a.distance(*b));
    displacements.fold(0.0, f32::max)
}

fn edit(app: &mut App, cloth: Entity, change: impl FnOnce(&mut Cloth)) {
    change(&mut app.world_mut().get_mut::<Cloth>(cloth).unwrap());
}

/// Returns an app with a sheet that hangs and one that lies on a sphere and a floor, both at rest.
fn settled() -> (App, Vec<Entity>) {
    let mut app = app();
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_xyz(3.0, -0.4, 0.0),
    ));
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -1.5, 0.0),
    ));
    let hanging = spawn(&mut app, Pins::corners());
    let lying = spawn(&mut app, Transform::from_xyz(3.0, 0.0, 0.0));
    for cloth in [hanging, lying] {
        edit(&mut app, cloth, |c| c.damping = 3.0);
    }
    run(&mut app, 400);
    (app, vec![hanging, lying])
}

#[test]
fn no_edit_makes_the_cloth_jump() {
    let (mut app, cloths) = settled();
    // Sets each number to both ends of its range, to `None` if the number is optional, and back to its default.
    for param in params::CLOTH {
        let mut values = vec![Some(*param.range.end())];
        if param.none_label().is_some() {
            values.push(None);
        }
        values.extend([Some(*param.range.start()), param.default_value()]);
        if param.field == "Cloth::gravity_scale" {
            // Ten times gravity is no jump, but moves the cloth fast all the same.
            values = [1.5, 0.7, 1.0].map(Some).to_vec();
        }
        for value in values {
            for &cloth in &cloths {
                assert_no_jump(&mut app, cloth, param.field, value, |c| {
                    param.set(c, value);
                });
            }
        }
    }
    for param in params::FABRIC {
        let mut values = vec![Some(*param.range.end())];
        if param.none_label().is_some() {
            values.push(None);
        }
        values.extend([Some(*param.range.start()), param.default_value()]);
        for value in values {
            for &cloth in &cloths {
                assert_no_jump(&mut app, cloth, param.field, value, |c| {
                    param.set(&mut c.fabric, value);
                });
            }
        }
    }
    for count in [100, 1, 8, 16, 8] {
        app.insert_resource(ClothSubsteps::PerStep(count));
        assert_no_jump(&mut app, cloths[0], "ClothSubsteps", count, |_| ());
        assert_no_jump(&mut app, cloths[1], "ClothSubsteps", count, |_| ());
    }
    for solver in [StretchSolver::GaussSeidel, StretchSolver::Direct] {
        for &cloth in &cloths {
            assert_no_jump(&mut app, cloth, "Cloth::stretch_solver", solver, |c| {
                c.stretch_solver = solver;
            });
        }
    }
}

#[test]
fn a_strain_limit_contracts_soft_cloth_without_a_jump() {
    let (mut app, cloths) = settled();
    let cloth = cloths[0];
    let strain = |app: &App| worst_stretch(app, cloth);
    edit(&mut app, cloth, |c| {
        c.fabric.warp_stiffness = Some(3.0);
        c.fabric.weft_stiffness = Some(3.0);
        c.fabric.strain_limit = None;
    });
    run(&mut app, 200);
    assert!(strain(&app) > 0.15, "{}", strain(&app));
    assert_no_jump(&mut app, cloth, "Fabric::strain_limit", Some(0.05), |c| {
        c.fabric.strain_limit = Some(0.05);
    });
    run(&mut app, 400);
    assert!((0.04..0.06).contains(&strain(&app)), "{}", strain(&app));
    // The limit does not apply to cloth that tears at a strain: the cloth must be able to stretch.
    app.world_mut()
        .entity_mut(cloth)
        .insert(ClothTearing::at_strain(30.0));
    run(&mut app, 200);
    assert!(strain(&app) > 0.15, "{}", strain(&app));
    app.world_mut().entity_mut(cloth).remove::<ClothTearing>();
    assert_no_jump(&mut app, cloth, "ClothTearing", "removed", |_| ());
    run(&mut app, 400);
    assert!((0.04..0.06).contains(&strain(&app)), "{}", strain(&app));
}

/// Edits a cloth and checks for 30 updates that no particle moves faster than before or than the forces of the
/// scene explain.
fn assert_no_jump(
    app: &mut App,
    cloth: Entity,
    field: &str,
    value: impl Debug,
    change: impl FnOnce(&mut Cloth),
) {
    let before = largest_displacement(app, cloth) * 60.0;
    edit(app, cloth, change);
    for update in 0..30 {
        let speed = largest_displacement(app, cloth) * 60.0;
        // Gravity may accelerate the cloth, and free corners may whip later on; a jump shows at once.
        let limit = if update < 10 {
            before + 1.5 + 10.0 * (update + 2) as f32 / 60.0
        } else {
            10.0
        };
        assert!(
            speed < limit,
            "{field} = {value:?}: {speed} m/s after {update} updates, {:?}",
            app.world().get::<Cloth>(cloth)
        );
    }
}

#[test]
fn edits_take_effect() {
    let mut app = app();
    let floating = spawn(&mut app, ());
    let heavy = spawn(&mut app, ());
    run(&mut app, 1);
    edit(&mut app, floating, |c| c.gravity_scale = 0.0);
    edit(&mut app, heavy, |c| c.fabric.areal_density = 0.4);
    run(&mut app, 1);
    // 0.4 kg/m² over 1 m².
    let mass: f32 = particles(&app, heavy)
        .inverse_mass
        .iter()
        .map(|w| 1.0 / w)
        .sum();
    assert!((mass - 0.4).abs() < 1e-4, "{mass} kg");
    run(&mut app, 30);
    assert!(centre(&app, floating).length() < 1e-3);
    assert!(centre(&app, heavy).y < -0.5);
}

#[test]
fn wind_and_gravity_take_effect() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 1);
    app.insert_resource(ClothGravity(Vec3::ZERO));
    run(&mut app, 10);
    assert!(centre(&app, cloth).length() < 1e-6);
    app.world_mut().resource_mut::<Wind>().velocity = Vec3::Y * 5.0;
    run(&mut app, 30);
    assert!(centre(&app, cloth).y > 0.5);
}

#[test]
fn uneven_steps_do_not_disturb_cloth_at_rest() {
    let mut app = crate::headless_app(ClothPlugin::new(Update));
    let cloth = spawn(&mut app, Pins::corners());
    edit(&mut app, cloth, |c| c.damping = 3.0);
    let frame = |app: &mut App, ms: u64| {
        let length = std::time::Duration::from_millis(ms);
        app.insert_resource(TimeUpdateStrategy::ManualDuration(length));
        largest_displacement(app, cloth) / length.as_secs_f32()
    };
    app.update();
    (0..200).for_each(|_| {
        frame(&mut app, 33);
    });
    for ms in [33, 2, 33, 1, 10, 33, 5, 33, 2, 2, 2, 33] {
        let speed = frame(&mut app, ms);
        assert!(speed < 2.0, "{speed} m/s in a frame of {ms} ms");
    }
}

#[test]
fn a_storm_with_strong_lift_does_not_blow_up() {
    let mut app = app();
    let free = spawn(&mut app, ());
    let held = spawn(&mut app, Pins::top_corners());
    for cloth in [free, held] {
        edit(&mut app, cloth, |c| c.fabric.lift = 10.0);
    }
    app.world_mut().resource_mut::<Wind>().velocity = Vec3::new(3.0, 1.0, 30.0);
    run(&mut app, 240);
    for _ in 0..60 {
        for cloth in [free, held] {
            let speed = largest_displacement(&mut app, cloth) * 60.0;
            assert!(speed < 150.0, "{speed} m/s");
        }
    }
}

#[test]
fn every_step_runs_the_requested_number_of_substeps() {
    #[derive(Resource, Default)]
    struct Runs(u32);
    let mut app = app();
    app.init_resource::<Runs>()
        .add_systems(ClothSubstep, |mut runs: ResMut<Runs>| runs.0 += 1);
    spawn(&mut app, ());
    run(&mut app, 2);
    for count in [12, 1, 40, 8] {
        app.insert_resource(ClothSubsteps::PerStep(count));
        app.insert_resource(Runs(0));
        run(&mut app, 3);
        assert_eq!(app.world().resource::<Runs>().0, 3 * count);
        assert_eq!(app.world().resource::<ClothSubstepTime>().count, count);
    }
}

#[test]
fn pause_step_and_slow_motion() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 10);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    let still = positions(&app, cloth);
    run(&mut app, 10);
    assert_eq!(positions(&app, cloth), still);
    app.world_mut().resource_mut::<ClothTime>().request_step();
    run(&mut app, 10);
    let stepped = positions(&app, cloth);
    assert_ne!(stepped, still);
    // Slow motion passes through exactly the same states.
    let full_speed = {
        let mut time = app.world_mut().resource_mut::<ClothTime>();
        time.paused = false;
        time.speed = 0.25;
        run(&mut app, 40);
        positions(&app, cloth)
    };
    let mut other = crate::app();
    let reference = spawn(&mut other, ());
    run(&mut other, 10 + 1 + 10);
    assert_eq!(positions(&other, reference), full_speed);
}

#[test]
fn reset_restores_the_rest_shape_at_the_current_transform() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::top_corners());
    run(&mut app, 60);
    let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
    *transform = Transform::from_xyz(10.0, 20.0, 30.0).with_scale(Vec3::splat(2.0));
    app.world_mut().trigger(ResetCloth { entity: cloth });
    let corner = particles(&app, cloth).world_position(0);
    assert!(
        (corner - Vec3::new(9.0, 20.0, 29.0)).length() < 1e-4,
        "{corner}"
    );
    assert_eq!(particles(&app, cloth).velocity(50), Vec3::ZERO);
    run(&mut app, 120);
    let held = particles(&app, cloth).world_position(0);
    assert!((held - corner).length() < 1e-4, "the pin is at {held}");
    // The cloth is larger now, not stretched.
    let width = particles(&app, cloth).world_position(9).distance(held);
    assert!((width - 2.0).abs() < 1e-3);
}

#[test]
fn a_frame_of_ten_seconds_does_not_disturb_cloth() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 10);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_secs(10),
    ));
    run(&mut app, 3);
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    run(&mut app, 10);
    let centre = centre(&app, cloth);
    assert!(centre.is_finite() && centre.length() < 1.0, "{centre}");
}

#[test]
fn another_schedule_works_too() {
    let mut app = crate::headless_app(ClothPlugin::new(Update));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(
        std::time::Duration::from_millis(10),
    ));
    let cloth = spawn(&mut app, ());
    run(&mut app, 51);
    let fallen = -centre(&app, cloth).y;
    assert!(fallen > 0.5 && fallen < 1.3, "{fallen} m in half a second");
    assert!(app.world().get::<ClothParticles>(cloth).is_some());
}
