//! Level of detail: reduced work for cloths that are far away, invisible, paused or too many.

use crate::{add_mesh, app, centre, drawn, float3, particles, run, sheet, spawn};
use bevy::{
    camera::{Camera, visibility::SetViewVisibility},
    prelude::*,
    time::TimeUpdateStrategy,
};
use bevy_drape::{
    cloth::ClothSubstep,
    lod::{ClothBudget, ClothCulled, ClothLod, ClothPaused, ClothViewer, LodLevel},
    prelude::*,
    proxy::ClothProxy,
};
use std::time::Duration;

/// Returns settings with one level, which applies at every distance.
fn lod(level: LodLevel) -> ClothLod {
    ClothLod {
        levels: vec![level],
        ..default()
    }
}

fn spawn_viewer(app: &mut App, position: Vec3) -> Entity {
    let transform = Transform::from_translation(position);
    app.world_mut().spawn((ClothViewer, transform)).id()
}

fn is_culled(app: &App, cloth: Entity) -> bool {
    app.world().get::<ClothCulled>(cloth).is_some()
}

#[test]
fn a_paused_cloth_stops_and_resumes() {
    let mut app = app();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 5.0, 0.0));
    let other = spawn(&mut app, Transform::from_xyz(3.0, 5.0, 0.0));
    run(&mut app, 20);
    app.world_mut().entity_mut(cloth).insert(ClothPaused);
    let before = particles(&app, cloth).state_hash();
    let other_before = centre(&app, other).y;
    run(&mut app, 20);
    assert_eq!(particles(&app, cloth).state_hash(), before);
    let expected = centre(&app, other).y;
    assert!(expected < other_before - 0.5);
    app.world_mut().entity_mut(cloth).remove::<ClothPaused>();
    run(&mut app, 20);
    // The cloth resumes with its old position and velocity.
    let height = centre(&app, cloth).y;
    assert!((height - expected).abs() < 1e-3, "{height}, not {expected}");
    let speed = particles(&app, cloth).velocity(0).y;
    assert!(speed < -2.0, "{speed}");
}

#[test]
fn distant_cloth_is_culled_and_returns_without_a_jerk() {
    let mut app = app();
    app.insert_resource(ClothLod {
        cull_beyond: 20.0,
        ..default()
    });
    let viewer = spawn_viewer(&mut app, Vec3::Z * 5.0);
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    run(&mut app, 240);
    assert!(!is_culled(&app, cloth));
    let move_to = |app: &mut App, entity: Entity, at: Vec3| {
        app.world_mut()
            .get_mut::<Transform>(entity)
            .unwrap()
            .translation = at;
    };
    move_to(&mut app, viewer, Vec3::Z * 50.0);
    run(&mut app, 2);
    assert!(is_culled(&app, cloth));
    let before = particles(&app, cloth).state_hash();
    // Meanwhile the entity moves far away, and the drawn mesh moves with its transform.
    let shape = float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION);
    for step in 0..60 {
        move_to(&mut app, cloth, Vec3::X * step as f32);
        run(&mut app, 1);
    }
    assert_eq!(particles(&app, cloth).state_hash(), before);
    assert_eq!(float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION), shape);
    move_to(&mut app, viewer, Vec3::new(59.0, 0.0, 5.0));
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
fn cloth_that_no_camera_sees_is_culled() {
    let mut app = app();
    app.insert_resource(ClothLod {
        cull_unseen: true,
        ..default()
    });
    let cloth = spawn(&mut app, Visibility::default());
    // No camera at all, as on a server: nothing is culled.
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
fn a_hidden_cloth_moves_while_its_proxy_is_visible() {
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
fn less_frequent_steps_are_longer() {
    let fall = |every| {
        let mut app = app();
        app.insert_resource(lod(LodLevel { every, ..default() }));
        spawn_viewer(&mut app, Vec3::ZERO);
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
    // Up to three updates of the last step are still missing, at up to 9 m/s.
    assert!((less - exact).abs() < 0.5, "{less}, not {exact}");
}

#[test]
fn rendering_interpolates_between_less_frequent_steps() {
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
    spawn_viewer(&mut app, Vec3::ZERO);
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.0, -5.0));
    run(&mut app, 30);
    let mut p = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
    for i in 0..p.len() {
        p.set_velocity(i, Vec3::X);
    }
    run(&mut app, 30);
    let mut drawn_x = Vec::new();
    for _ in 0..40 {
        run(&mut app, 1);
        drawn_x.push(float3(drawn(&app, cloth), Mesh::ATTRIBUTE_POSITION)[0].x);
    }
    for ends in drawn_x.windows(2) {
        let speed = (ends[1] - ends[0]) * 120.0;
        // Damping slows the cloth a little.
        assert!((speed - 0.9).abs() < 0.15, "{speed} m/s, not 1 m/s");
    }
}

#[test]
fn cloth_stays_stable_at_low_detail() {
    let mut app = app();
    app.insert_resource(lod(LodLevel {
        substeps: ClothSubsteps::PerStep(2),
        every: 4,
        ..default()
    }));
    spawn_viewer(&mut app, Vec3::ZERO);
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
fn fused_and_phased_substeps_give_the_same_bits_at_lower_detail() {
    let hash = |by_phases: bool| {
        let mut app = app();
        app.insert_resource(ClothLod::standard());
        spawn_viewer(&mut app, Vec3::ZERO);
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
            let below = Transform::from_xyz(0.1, -0.5, -far);
            app.world_mut().spawn((ball, below));
            let transform = Transform::from_xyz(0.0, 0.0, -far);
            let cloth = Cloth {
                self_collision: SelfCollision::On,
                iterations: 2,
                ..default()
            };
            let mesh = add_mesh(&mut app, sheet());
            app.world_mut().spawn((cloth, Mesh3d(mesh), transform)).id()
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
fn an_exceeded_budget_lowers_detail_until_time_is_left_again() {
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
        "the cloth moves in each update again"
    );
}

#[test]
fn a_wrong_number_of_lost_levels_is_corrected() {
    let mut app = app();
    app.insert_resource(ClothBudget {
        milliseconds: 1e6,
        levels_lost: u32::MAX,
    });
    app.insert_resource(ClothLod::standard());
    app.world_mut()
        .spawn((ClothViewer, Transform::from_xyz(0.0, 0.0, 1000.0)));
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    run(&mut app, 500);
    assert_eq!(app.world().resource::<ClothBudget>().levels_lost, 0);
    assert!(particles(&app, cloth).is_finite());
}

#[test]
fn distant_colliders_do_not_change_the_bits() {
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
