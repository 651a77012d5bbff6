//! Air in closed cloth.

use crate::{
    add_mesh, app, centre, command,
    log::{lines_about, record},
    particles, run, spawn,
};
use bevy::prelude::*;
use bevy_drape::{
    Blade, ClothSnapshot, ClothSubstep, CutCloth, prelude::*, solver::enclosed_volume,
};

const RADIUS: f32 = 0.3;

/// A ball of cloth.
fn ball(app: &mut App, extra: impl Bundle) -> Entity {
    let mesh = Sphere::new(RADIUS).mesh().uv(32, 16);
    let mesh = add_mesh(app, mesh);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), extra))
        .id()
}

/// Its volume, as the solver sees it, by its drawn mesh.
fn volume(app: &App, cloth: Entity) -> f32 {
    let mesh = crate::drawn(app, cloth);
    let places = crate::float3(mesh, Mesh::ATTRIBUTE_POSITION);
    let corners: Vec<u32> = mesh.indices().unwrap().iter().map(|i| i as u32).collect();
    let triangles = corners.as_chunks::<3>().0.to_vec().into();
    enclosed_volume(&triangles, |i| places[i as usize])
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
    let full = ball(&mut app, (above(), Pressure::default()));
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
fn more_pressure_takes_more_room_where_cloth_gives() {
    let with = |overpressure| {
        let mut app = app();
        app.insert_resource(ClothGravity(Vec3::ZERO));
        let cloth = ball(&mut app, Pressure::new(overpressure));
        let mut of = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
        of.fabric.warp_stiffness = 1e3;
        of.fabric.weft_stiffness = 1e3;
        run(&mut app, 1);
        let at_rest = volume(&app, cloth);
        run(&mut app, 300);
        volume(&app, cloth) / at_rest
    };
    let [sucked, little, much] = [-2000.0, 500.0, 5000.0].map(with);
    assert!(
        sucked < 0.995 && little > 1.0 && much > little + 0.01,
        "{sucked} {little} {much}"
    );
}

#[test]
fn air_is_pumped_in_and_let_out() {
    let mut app = on_floor();
    let cloth = ball(&mut app, above());
    run(&mut app, 1);
    let at_rest = volume(&app, cloth);
    run(&mut app, 180);
    let limp = volume(&app, cloth);
    command(&mut app, cloth, |cloth| {
        cloth.insert(Pressure::default());
    });
    // It swells, it does not burst apart.
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
        cloth.remove::<Pressure>();
    });
    run(&mut app, 400);
    let now = volume(&app, cloth) / at_rest;
    assert!(now < 0.9, "{now}");
}

#[test]
fn a_cut_lets_the_air_out_and_a_reset_brings_it_back() {
    let mut app = on_floor();
    let cloth = ball(&mut app, (above(), Pressure::default()));
    run(&mut app, 1);
    let at_rest = volume(&app, cloth);
    run(&mut app, 30);
    let middle = centre(&app, cloth);
    let torn = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let heard = torn.clone();
    app.add_observer(move |_: On<ClothTorn>| {
        heard.store(true, std::sync::atomic::Ordering::Relaxed);
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
fn an_open_cloth_holds_no_air_and_says_so_once() {
    let mut app = app();
    record(&mut app, 3001);
    let open = spawn(&mut app, Pressure::default());
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
fn bad_numbers_are_clamped_and_inside_out_is_no_harm() {
    let mut app = on_floor();
    record(&mut app, 3002);
    let bad = Pressure {
        overpressure: f32::NAN,
        ambient: -1.0,
    };
    let cloth = ball(&mut app, (above(), bad));
    run(&mut app, 2);
    assert_eq!(lines_about(cloth).len(), 2);
    for overpressure in [50_000.0, -50_000.0] {
        app.world_mut()
            .entity_mut(cloth)
            .insert(Pressure::new(overpressure));
        run(&mut app, 120);
        assert!(particles(&app, cloth).is_finite());
        assert!(centre(&app, cloth).length() < 3.0);
    }
    let mut mesh = Sphere::new(RADIUS).mesh().uv(32, 16);
    mesh.invert_winding().unwrap();
    let mesh = add_mesh(&mut app, mesh);
    let inverted = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), above(), Pressure::default()))
        .id();
    run(&mut app, 1);
    let at_rest = volume(&app, inverted);
    assert!(at_rest < 0.0);
    run(&mut app, 200);
    let now = volume(&app, inverted) / at_rest;
    assert!((0.97..1.03).contains(&now), "{now}");
}

#[test]
fn a_schedule_of_phases_and_a_snapshot_change_no_bit() {
    let run_one = |by_phases: bool, restored: bool| {
        let mut app = on_floor();
        if by_phases {
            app.add_systems(ClothSubstep, || {});
        }
        let cloth = ball(&mut app, (above(), Pressure::new(3000.0)));
        run(&mut app, 20);
        if restored {
            let snapshot = ClothSnapshot::take(app.world(), cloth).unwrap();
            run(&mut app, 15);
            snapshot.restore(app.world_mut(), cloth).unwrap();
        }
        run(&mut app, 30);
        particles(&app, cloth).state_hash()
    };
    let expected = run_one(false, false);
    assert_eq!(run_one(true, false), expected);
    assert_eq!(run_one(false, true), expected);
}
