//! Less work for cloths that are far away, unseen, paused or too many.

use crate::{add_mesh, app, centre, drawn, float3, particles, run, sheet, spawn};
use bevy::{
    camera::{Camera, visibility::SetViewVisibility},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_drape::{
    ClothBudget, ClothCulled, ClothLod, ClothSubstep, ClothSystems, ClothsPerFrame, LodLevel,
    Particles, prelude::*,
};
use std::time::Duration;

/// From this far on everything is done at this level.
fn lod(level: LodLevel) -> ClothLod {
    ClothLod {
        levels: vec![level],
        ..default()
    }
}

fn viewer(app: &mut App, at: Vec3) -> Entity {
    let place = Transform::from_translation(at);
    app.world_mut().spawn((ClothViewer, place)).id()
}

fn is_culled(app: &App, cloth: Entity) -> bool {
    app.world().get::<ClothCulled>(cloth).is_some()
}

#[test]
fn a_paused_cloth_waits_and_goes_on() {
    let mut app = app();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 5.0, 0.0));
    let other = spawn(&mut app, Transform::from_xyz(3.0, 5.0, 0.0));
    run(&mut app, 20);
    app.world_mut().entity_mut(cloth).insert(ClothPaused);
    let before = particles(&app, cloth).state_hash();
    let of_other = centre(&app, other).y;
    run(&mut app, 20);
    assert_eq!(particles(&app, cloth).state_hash(), before);
    let expected = centre(&app, other).y;
    assert!(expected < of_other - 0.5);
    app.world_mut().entity_mut(cloth).remove::<ClothPaused>();
    run(&mut app, 20);
    // It falls on from where it was, as fast as it was.
    let height = centre(&app, cloth).y;
    assert!((height - expected).abs() < 1e-3, "{height}, not {expected}");
    let speed = particles(&app, cloth).velocity(0).y;
    assert!(speed < -2.0, "{speed}");
}

#[test]
fn what_is_far_away_stands_still_and_comes_back_without_a_jerk() {
    let mut app = app();
    app.insert_resource(ClothLod {
        cull_beyond: 20.0,
        ..default()
    });
    let viewer = viewer(&mut app, Vec3::Z * 5.0);
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    run(&mut app, 240);
    assert!(!is_culled(&app, cloth));
    let put = |app: &mut App, entity: Entity, at: Vec3| {
        app.world_mut()
            .get_mut::<Transform>(entity)
            .unwrap()
            .translation = at;
    };
    put(&mut app, viewer, Vec3::Z * 50.0);
    run(&mut app, 2);
    assert!(is_culled(&app, cloth));
    let before = particles(&app, cloth).state_hash();
    // Its entity goes far away meanwhile; what is drawn goes with it.
    let shape = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    for step in 0..60 {
        put(&mut app, cloth, Vec3::X * step as f32);
        run(&mut app, 1);
    }
    assert_eq!(particles(&app, cloth).state_hash(), before);
    assert_eq!(float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION), shape);
    put(&mut app, viewer, Vec3::new(59.0, 0.0, 5.0));
    let mut fastest = 0.0_f32;
    for _ in 0..30 {
        run(&mut app, 1);
        let p = particles(&app, cloth);
        fastest = (0..p.len())
            .map(|i| p.velocity(i).length())
            .fold(fastest, f32::max);
    }
    assert!(!is_culled(&app, cloth));
    assert!(
        (centre(&app, cloth).x - 59.0).abs() < 0.1,
        "{}",
        centre(&app, cloth)
    );
    assert!(fastest < 0.5, "{fastest} m/s");
}

#[test]
fn what_no_camera_sees_stands_still() {
    let mut app = app();
    app.insert_resource(ClothLod {
        cull_unseen: true,
        ..default()
    });
    let cloth = spawn(&mut app, Visibility::default());
    // Nobody looks at all: a server.
    run(&mut app, 30);
    assert!(!is_culled(&app, cloth));
    app.world_mut()
        .spawn((Camera::default(), Transform::default()));
    run(&mut app, 30);
    assert!(is_culled(&app, cloth));
    app.add_systems(Update, |mut all: Query<&mut ViewVisibility>| {
        all.iter_mut().for_each(|mut visible| visible.set_visible());
    });
    run(&mut app, 2);
    assert!(!is_culled(&app, cloth));
}

#[test]
fn a_hidden_cloth_moves_as_long_as_its_proxy_is_seen() {
    let mut app = app();
    app.insert_resource(ClothLod {
        cull_unseen: true,
        ..default()
    });
    let cloth = spawn(&mut app, Visibility::Hidden);
    let fine = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 30, 30));
    let proxy = (ClothProxy { cloth }, Mesh3d(fine), Visibility::default());
    let proxy = app.world_mut().spawn(proxy).id();
    app.world_mut()
        .spawn((Camera::default(), Transform::default()));
    app.add_systems(
        Update,
        |mut all: Query<&mut ViewVisibility, With<ClothProxy>>| {
            all.iter_mut().for_each(|mut visible| visible.set_visible());
        },
    );
    run(&mut app, 40);
    assert!(!is_culled(&app, cloth));
    app.world_mut().despawn(proxy);
    run(&mut app, 40);
    assert!(is_culled(&app, cloth));
}

#[test]
fn steps_that_are_taken_less_often_are_longer() {
    let fall = |every| {
        let mut app = app();
        app.insert_resource(lod(LodLevel { every, ..default() }));
        viewer(&mut app, Vec3::ZERO);
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.0, -5.0));
        app.world_mut().resource_mut::<Wind>().air_density = 0.0;
        let mut hashes = Vec::new();
        for _ in 0..61 {
            run(&mut app, 1);
            hashes.push(particles(&app, cloth).state_hash());
        }
        hashes.dedup();
        (hashes.len(), centre(&app, cloth).y)
    };
    let (all, exact) = fall(1);
    assert!((60..=61).contains(&all));
    let (some, less) = fall(4);
    assert!((15..=17).contains(&some), "{some}");
    // Up to three updates of the last step are still to come, at up to 9 m/s.
    assert!((less - exact).abs() < 0.5, "{less}, not {exact}");
}

#[test]
fn pictures_lie_between_steps_that_are_taken_less_often() {
    let mut app = app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f64(
        1.0 / 120.0,
    )));
    app.insert_resource(lod(LodLevel {
        every: 3,
        ..default()
    }));
    app.insert_resource(ClothGravity(Vec3::ZERO));
    app.world_mut().resource_mut::<Wind>().air_density = 0.0;
    viewer(&mut app, Vec3::ZERO);
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.0, -5.0));
    run(&mut app, 30);
    let mut p = app.world_mut().get_mut::<Particles>(cloth).unwrap();
    for i in 0..p.len() {
        p.set_velocity(i, Vec3::X);
    }
    run(&mut app, 30);
    let mut places = Vec::new();
    for _ in 0..40 {
        run(&mut app, 1);
        places.push(float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION)[0].x);
    }
    for ends in places.windows(2) {
        let way = (ends[1] - ends[0]) * 120.0;
        // Damping takes a little.
        assert!((way - 0.9).abs() < 0.15, "{way} m/s, not 1 m/s");
    }
}

#[test]
fn cloth_holds_with_little_detail() {
    let mut app = app();
    app.insert_resource(lod(LodLevel {
        substeps: 2,
        every: 4,
        ..default()
    }));
    viewer(&mut app, Vec3::ZERO);
    app.world_mut().spawn((
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.0, -0.5, -5.0),
    ));
    let cloth = spawn(
        &mut app,
        (
            Pins::edge(ClothEdge::Top),
            Transform::from_xyz(0.0, 0.0, -5.0),
        ),
    );
    run(&mut app, 300);
    let p = particles(&app, cloth);
    let lowest = (0..p.len())
        .map(|i| p.world_position(i).y)
        .fold(0.0, f32::min);
    assert!((-1.3..-0.3).contains(&lowest), "{lowest}");
}

#[test]
fn all_at_once_and_by_phases_give_the_same_bits_with_less_detail() {
    let hash = |by_phases: bool| {
        let mut app = app();
        app.insert_resource(ClothLod::standard());
        viewer(&mut app, Vec3::ZERO);
        if by_phases {
            app.add_systems(
                ClothSubstep,
                (|| ())
                    .after(ClothSystems::Relax)
                    .before(ClothSystems::Collide),
            );
        }
        let ball = ClothCollider::sphere(0.3);
        let cloths = [1.0, 14.0, 30.0, 60.0].map(|far| {
            let moving = Transform::from_xyz(0.1, -0.5, -far);
            app.world_mut().spawn((ball, moving));
            let place = Transform::from_xyz(0.0, 0.0, -far);
            let cloth = Cloth {
                self_collision: SelfCollision::Particles,
                iterations: 2,
                ..default()
            };
            let mesh = add_mesh(&mut app, sheet());
            app.world_mut().spawn((cloth, Mesh3d(mesh), place)).id()
        });
        app.add_systems(
            FixedUpdate,
            |mut balls: Query<&mut Transform, With<ClothCollider>>| {
                balls
                    .iter_mut()
                    .for_each(|mut ball| ball.translation.x += 0.005);
            },
        );
        run(&mut app, 100);
        cloths.map(|cloth| particles(&app, cloth).state_hash())
    };
    assert_eq!(hash(false), hash(true));
}

#[test]
fn too_little_time_costs_detail_until_there_is_more() {
    let mut app = app();
    app.insert_resource(ClothBudget {
        milliseconds: 1e-6,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    app.world_mut().get_mut::<Cloth>(cloth).unwrap().sleep_speed = 0.0;
    run(&mut app, 120);
    let lost = |app: &App| app.world().resource::<ClothBudget>().levels_lost;
    assert_eq!(lost(&app), ClothLod::standard().levels.len() as u32);
    assert!(particles(&app, cloth).is_finite());
    app.world_mut().resource_mut::<ClothBudget>().milliseconds = 1e6;
    run(&mut app, 500);
    assert_eq!(lost(&app), 0);
    let before = particles(&app, cloth).state_hash();
    run(&mut app, 1);
    assert_ne!(
        particles(&app, cloth).state_hash(),
        before,
        "it moves in each update again"
    );
}

#[test]
fn a_hundred_cloths_at_once_are_built_in_several_frames() {
    let mut app = app();
    app.insert_resource(ClothsPerFrame(1000));
    for k in 0..35 {
        spawn(&mut app, Transform::from_xyz(2.0 * k as f32, 0.0, 0.0));
    }
    let built = |app: &mut App| {
        let mut all = app.world_mut().query::<&Particles>();
        all.iter(app.world()).count()
    };
    let mut seen = Vec::new();
    for _ in 0..5 {
        run(&mut app, 1);
        seen.push(built(&mut app));
    }
    // Of 100 particles each.
    assert_eq!(seen, [10, 20, 30, 35, 35]);
}

#[test]
fn of_many_colliders_those_that_are_near_are_met() {
    let lie = |others: i32| {
        let mut app = app();
        app.world_mut().spawn((
            ClothCollider::cuboid(3.0, 0.2, 3.0),
            Transform::from_xyz(0.0, -1.0, 0.0),
        ));
        for k in 0..others {
            app.world_mut().spawn((
                ClothCollider::sphere(0.5),
                Transform::from_xyz(10.0 + k as f32, 0.0, 0.0),
            ));
        }
        let cloth = spawn(&mut app, Transform::default());
        run(&mut app, 100);
        particles(&app, cloth).state_hash()
    };
    assert_eq!(lie(0), lie(40));
}
