//! Enclosed air: pressure in closed cloth.

use crate::{
    add_mesh, app, centre, command,
    log::{lines_about, record},
    particles, run, spawn,
};
use bevy::prelude::*;
use bevy_drape::{
    cloth::ClothSubstep,
    prelude::*,
    pressure::ClothPressure,
    snapshot::ClothSnapshot,
    solver::enclosed_volume,
    tearing::{Blade, ClothTorn, CutCloth},
};

const RADIUS: f32 = 0.3;

/// Spawns a ball of cloth.
fn ball(app: &mut App, extra: impl Bundle) -> Entity {
    let mesh = Sphere::new(RADIUS).mesh().uv(32, 16);
    let mesh = add_mesh(app, mesh);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), extra))
        .id()
}

/// Returns the enclosed volume of the rendered mesh, m³.
fn volume(app: &App, cloth: Entity) -> f32 {
    let mesh = crate::drawn(app, cloth);
    let positions = crate::float3(mesh, Mesh::ATTRIBUTE_POSITION);
    let corners: Vec<u32> = mesh.indices().unwrap().iter().map(|i| i as u32).collect();
    let triangles = corners.as_chunks::<3>().0.to_vec().into();
    enclosed_volume(&triangles, |i| positions[i as usize])
}

fn on_floor() -> App {
    let mut app = app();
    app.world_mut().spawn(ClothCollider::half_space());
    app
}

fn above() -> Transform {
    Transform::from_xyz(0.0, RADIUS + 0.05, 0.0)
}

#[test]
fn a_ball_with_air_keeps_its_volume_and_one_without_does_not() {
    let mut app = on_floor();
    let full = ball(&mut app, (above(), ClothPressure::default()));
    let empty = ball(
        &mut app,
        above().with_translation(Vec3::new(2.0, RADIUS + 0.05, 0.0)),
    );
    run(&mut app, 1);
    let at_rest = volume(&app, full);
    run(&mut app, 240);
    let (full, empty) = (volume(&app, full) / at_rest, volume(&app, empty) / at_rest);
    assert!((0.97..1.03).contains(&full), "{full}");
    assert!(empty < 0.85, "{empty}");
}

#[test]
fn more_pressure_makes_elastic_cloth_larger() {
    let relative_volume = |overpressure| {
        let mut app = app();
        app.insert_resource(ClothGravity(Vec3::ZERO));
        let cloth = ball(&mut app, ClothPressure::new(overpressure));
        let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
        settings.fabric.warp_stiffness = Some(1e3);
        settings.fabric.weft_stiffness = Some(1e3);
        run(&mut app, 1);
        let at_rest = volume(&app, cloth);
        run(&mut app, 300);
        volume(&app, cloth) / at_rest
    };
    let [negative, low, high] = [-2000.0, 500.0, 5000.0].map(relative_volume);
    assert!(
        negative < 0.995 && low > 1.0 && high > low + 0.01,
        "{negative} {low} {high}"
    );
}

#[test]
fn adding_pressure_inflates_a_ball_and_removing_it_deflates_the_ball() {
    let mut app = on_floor();
    let cloth = ball(&mut app, above());
    run(&mut app, 1);
    let at_rest = volume(&app, cloth);
    run(&mut app, 180);
    let limp = volume(&app, cloth);
    command(&mut app, cloth, |cloth| {
        cloth.insert(ClothPressure::default());
    });
    // The ball inflates slower than 3 m/s.
    let mut before = centre(&app, cloth);
    for _ in 0..180 {
        run(&mut app, 1);
        let now = centre(&app, cloth);
        assert!(
            before.distance(now) * 60.0 < 3.0,
            "{}",
            before.distance(now) * 60.0
        );
        before = now;
    }
    let full = volume(&app, cloth);
    assert!(
        full > 0.95 * at_rest && full > 1.2 * limp,
        "{limp} {full} {at_rest}"
    );
    command(&mut app, cloth, |cloth| {
        cloth.remove::<ClothPressure>();
    });
    run(&mut app, 400);
    let now = volume(&app, cloth) / at_rest;
    assert!(now < 0.9, "{now}");
}

#[test]
fn a_cut_lets_the_air_out_and_a_reset_restores_it() {
    let mut app = on_floor();
    let cloth = ball(&mut app, (above(), ClothPressure::default()));
    run(&mut app, 1);
    let at_rest = volume(&app, cloth);
    run(&mut app, 30);
    let middle = centre(&app, cloth);
    let torn = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let observed = torn.clone();
    app.add_observer(move |_: On<ClothTorn>| {
        observed.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let top = middle + Vec3::Y * RADIUS;
    let across = Vec3::new(0.2, 0.0, 0.03);
    app.world_mut().trigger(CutCloth {
        entity: cloth,
        blade: Blade::stroke(top - across, top + across, Vec3::Y * 0.2),
        by: None,
    });
    run(&mut app, 240);
    assert!(torn.load(std::sync::atomic::Ordering::Relaxed));
    let now = volume(&app, cloth) / at_rest;
    assert!(now < 0.9, "{now}");
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 240);
    assert!(volume(&app, cloth) > 0.97 * at_rest);
}

#[test]
fn an_open_cloth_holds_no_air_and_is_reported_once() {
    let mut app = app();
    record(&mut app, 3001);
    let open = spawn(&mut app, ClothPressure::default());
    let plain = spawn(&mut app, ());
    run(&mut app, 30);
    let lines = lines_about(open);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("open"), "{lines:?}");
    assert_eq!(
        particles(&app, open).state_hash(),
        particles(&app, plain).state_hash()
    );
}

#[test]
fn values_out_of_range_are_clamped_and_an_inverted_mesh_holds_air_too() {
    let mut app = on_floor();
    record(&mut app, 3002);
    let bad = ClothPressure {
        overpressure: f32::NAN,
        ambient: -1.0,
    };
    let cloth = ball(&mut app, (above(), bad));
    run(&mut app, 2);
    assert_eq!(lines_about(cloth).len(), 2);
    for overpressure in [50_000.0, -50_000.0] {
        app.world_mut()
            .entity_mut(cloth)
            .insert(ClothPressure::new(overpressure));
        run(&mut app, 120);
        assert!(particles(&app, cloth).is_finite());
        assert!(centre(&app, cloth).length() < 3.0);
    }
    let mut mesh = Sphere::new(RADIUS).mesh().uv(32, 16);
    mesh.invert_winding().unwrap();
    let mesh = add_mesh(&mut app, mesh);
    let inverted = app
        .world_mut()
        .spawn((
            Cloth::default(),
            Mesh3d(mesh),
            above(),
            ClothPressure::default(),
        ))
        .id();
    run(&mut app, 1);
    let at_rest = volume(&app, inverted);
    assert!(at_rest < 0.0);
    run(&mut app, 200);
    let now = volume(&app, inverted) / at_rest;
    assert!((0.97..1.03).contains(&now), "{now}");
}

#[test]
fn pressure_gives_the_same_bits_phase_by_phase_and_after_a_snapshot() {
    let hash = |by_phases: bool, restored: bool| {
        let mut app = on_floor();
        if by_phases {
            app.add_systems(ClothSubstep, || {});
        }
        let cloth = ball(&mut app, (above(), ClothPressure::new(3000.0)));
        run(&mut app, 20);
        if restored {
            let snapshot = ClothSnapshot::take(app.world(), cloth).unwrap();
            run(&mut app, 15);
            snapshot.restore(app.world_mut(), cloth).unwrap();
        }
        run(&mut app, 30);
        particles(&app, cloth).state_hash()
    };
    let expected = hash(false, false);
    assert_eq!(hash(true, false), expected);
    assert_eq!(hash(false, true), expected);
}
