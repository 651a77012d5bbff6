//! Invalid input is reported with the name of its entity, and everything else keeps running.

use crate::{
    add_mesh, app, centre,
    log::{lines_about, lines_with, record},
    particles, run, sheet, spawn,
};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_drape::{
    cloth::{ClothBuildFailed, ClothBuildMode, ClothConstraints, ClothSubstep},
    grab::{DragCloth, GrabCloth},
    prelude::*,
};

fn list(positions: Vec<[f32; 3]>) -> Mesh {
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
}

#[test]
fn meshes_that_cannot_be_cloth_are_reported_and_other_cloths_keep_running() {
    let mut app = app();
    record(&mut app, 1000);
    let good = spawn(&mut app, ());
    let no_positions = Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    );
    let lines = Mesh::new(PrimitiveTopology::LineList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; 2]);
    let mut on_gpu = Mesh::from(sheet());
    on_gpu.take_gpu_data().unwrap();
    let bad = [
        (no_positions, "ATTRIBUTE_POSITION"),
        (lines, "TriangleList"),
        (on_gpu, "not readable"),
        (list(vec![]), "no triangle"),
        (list(vec![[0.0; 3], [1.0, 0.0, 0.0]]), "no triangle"),
        (list(vec![[0.0; 3]; 3]), "no triangle"),
        (list(vec![[0.0; 3], [f32::NAN; 3], [1.0; 3]]), "finite"),
        (list(vec![[0.0; 3], [f32::INFINITY; 3], [1.0; 3]]), "finite"),
    ];
    let bad: Vec<_> = bad
        .into_iter()
        .map(|(mesh, reason)| {
            let mesh = add_mesh(&mut app, mesh);
            let cloth = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
            (cloth, reason)
        })
        .collect();
    run(&mut app, 60);
    for (cloth, reason) in bad {
        let failed = app.world().get::<ClothBuildFailed>(cloth).expect(reason);
        assert!(failed.reason.contains(reason), "{}", failed.reason);
        let log = lines_about(cloth);
        assert_eq!(log.len(), 1, "once, not in each frame: {log:?}");
        assert!(
            log[0].starts_with("ERROR") && log[0].contains(reason),
            "{log:?}"
        );
    }
    assert!(centre(&app, good).y < -0.5);
}

#[test]
fn a_repaired_mesh_becomes_cloth() {
    let mut app = app();
    let broken = add_mesh(&mut app, list(vec![]));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(broken.clone())))
        .id();
    run(&mut app, 3);
    assert!(app.world().get::<ClothBuildFailed>(cloth).is_some());
    app.world_mut()
        .resource_mut::<Assets<Mesh>>()
        .insert(&broken, sheet().into())
        .unwrap();
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 100);
    assert!(app.world().get::<ClothBuildFailed>(cloth).is_none());
}

#[test]
fn degenerate_and_duplicate_triangles_do_not_prevent_building() {
    let mut app = app();
    record(&mut app, 2000);
    let good = Mesh::from(sheet());
    let mut indices: Vec<u32> = good.indices().unwrap().iter().map(|i| i as u32).collect();
    // A duplicate, a flipped duplicate, a line, a point, and vertices that do not exist.
    indices.extend([
        0,
        10,
        1,
        1,
        10,
        0,
        0,
        1,
        2,
        5,
        5,
        5,
        0,
        1,
        1000,
        7,
        u32::MAX,
        8,
    ]);
    let mesh = good.with_inserted_indices(Indices::U32(indices));
    let handle = add_mesh(&mut app, mesh);
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(handle)))
        .id();
    run(&mut app, 60);
    assert!(centre(&app, cloth).y < -0.5);
    let log = lines_about(cloth);
    assert_eq!(log.len(), 1, "{log:?}");
    assert!(
        log[0].starts_with("WARN") && log[0].contains("2 triangles"),
        "{log:?}"
    );
    let drawn = crate::drawn(&app, cloth);
    assert!(drawn.indices().unwrap().iter().all(|i| i < 100));
}

#[test]
fn unused_vertices_are_not_part_of_the_cloth() {
    let mut app = app();
    let mut mesh = Mesh::from(sheet());
    for attribute in [Mesh::ATTRIBUTE_POSITION, Mesh::ATTRIBUTE_NORMAL] {
        let mut values = mesh
            .attribute(attribute)
            .unwrap()
            .as_float3()
            .unwrap()
            .to_vec();
        values.extend([[f32::NAN; 3], [-900.0, 0.0, -900.0]]);
        mesh.insert_attribute(attribute, values);
    }
    // There are now too few tangents and UVs; that must not matter either.
    let mesh = add_mesh(&mut app, mesh);
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), Pins::top_corners()))
        .id();
    run(&mut app, 60);
    assert_eq!(particles(&app, cloth).len(), 100);
    assert!(particles(&app, cloth).is_pinned(0));
    assert!(crate::bounds(&app, cloth).half_extents.max_element() < 2.0);
}

#[test]
fn settings_out_of_range_are_clamped_with_a_warning() {
    let mut app = app();
    record(&mut app, 3000);
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 2);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1e30, 1e30] {
        {
            let mut cloth = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
            cloth.iterations = if bad > 0.0 { u32::MAX } else { 0 };
            cloth.damping = bad;
            cloth.gravity_scale = bad;
            cloth.sleep_speed = bad;
            cloth.fabric = Fabric {
                areal_density: bad,
                thickness: Some(bad),
                warp_stiffness: Some(bad),
                weft_stiffness: Some(bad),
                strain_limit: Some(bad),
                shear_stiffness: Some(bad),
                bending_stiffness: bad,
                static_friction: bad,
                kinetic_friction: bad,
                internal_friction: bad,
                stretch_damping: bad,
                shear_damping: bad,
                bending_damping: bad,
                drag: bad,
                lift: bad,
            };
        }
        app.insert_resource(ClothGravity(Vec3::splat(bad)));
        app.insert_resource(Wind {
            velocity: Vec3::splat(bad),
            air_density: bad,
            gusts: bad,
        });
        app.insert_resource(ClothSubsteps::PerStep(if bad > 0.0 { u32::MAX } else { 0 }));
        app.world_mut().resource_mut::<ClothTime>().speed = bad;
        run(&mut app, 5);
        app.world_mut().resource_mut::<ClothTime>().speed = 1.0;
        run(&mut app, 5);
        assert!(centre(&app, cloth).is_finite(), "after {bad}");
    }
    for field in ["damping", "thickness", "lift", "areal_density"] {
        let warned = lines_about(cloth)
            .iter()
            .filter(|line| line.starts_with("WARN") && line.contains(&format!("::{field}")))
            .count();
        assert_eq!(warned, 5, "{field}");
    }
    assert!(!lines_with("ClothGravity.x is NaN").is_empty());
    assert!(!lines_with("ClothSubsteps::PerStep is 0").is_empty());
}

#[test]
fn bad_transforms_are_reported_and_their_cloths_built_once_repaired() {
    let mut app = app();
    record(&mut app, 4000);
    let bad = [
        Transform::from_scale(Vec3::ZERO),
        Transform::from_xyz(f32::NAN, 0.0, 0.0),
        Transform::from_scale(Vec3::splat(f32::INFINITY)),
        Transform::from_xyz(0.0, 1e30, 0.0),
    ];
    let cloths = bad.map(|transform| spawn(&mut app, transform));
    run(&mut app, 10);
    for cloth in cloths {
        assert!(app.world().get::<ClothBuildFailed>(cloth).is_some());
        assert_eq!(lines_about(cloth).len(), 1, "{:?}", lines_about(cloth));
        *app.world_mut().get_mut::<Transform>(cloth).unwrap() = Transform::default();
    }
    run(&mut app, 3);
    for cloth in cloths {
        assert_eq!(particles(&app, cloth).len(), 100);
        // A transform that becomes invalid while the cloth moves leaves the cloth finite.
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation.x = f32::NAN;
        transform.scale = Vec3::ZERO;
    }
    run(&mut app, 30);
    for cloth in cloths {
        assert!(centre(&app, cloth).is_finite());
    }
}

#[test]
fn a_transform_that_becomes_nan_is_reported_once() {
    let mut app = app();
    record(&mut app, 50_000);
    let free = spawn(&mut app, ());
    let in_the_world = spawn(&mut app, Pins::top_corners().to_world());
    let below = spawn(&mut app, ());
    let parent = app.world_mut().spawn(Transform::default()).id();
    app.world_mut().entity_mut(below).insert(ChildOf(parent));
    run(&mut app, 5);
    for entity in [free, in_the_world, parent] {
        let mut entity = app.world_mut().entity_mut(entity);
        entity.get_mut::<Transform>().unwrap().translation = Vec3::NAN;
    }
    run(&mut app, 60);
    for cloth in [free, in_the_world, below] {
        let log = lines_about(cloth);
        assert!(
            log.len() == 1
                && log[0].starts_with("ERROR")
                && log[0].contains("its transform is not finite"),
            "{log:?}"
        );
        assert!(centre(&app, cloth).is_finite());
    }
}

#[test]
fn invalid_colliders_are_ignored() {
    let mut app = app();
    record(&mut app, 5000);
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -0.3, 0.0),
    ));
    let bad = [
        (ClothCollider::sphere(0.0), Transform::default()),
        (ClothCollider::sphere(-1.0), Transform::default()),
        (ClothCollider::capsule(f32::NAN, 1.0), Transform::default()),
        (
            ClothCollider::cuboid(1.0, f32::INFINITY, 1.0),
            Transform::default(),
        ),
        (
            ClothCollider::sphere(0.2),
            Transform::from_scale(Vec3::ZERO),
        ),
        (
            ClothCollider::sphere(0.2),
            Transform::from_xyz(f32::NAN, 0.0, 0.0),
        ),
    ]
    .map(|bundle| app.world_mut().spawn(bundle).id());
    let cloth = spawn(&mut app, ());
    run(&mut app, 120);
    for collider in bad {
        let log = lines_about(collider);
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(
            log[0].starts_with("ERROR") && log[0].contains("above 0"),
            "{log:?}"
        );
    }
    // The valid floor still collides.
    assert!((centre(&app, cloth).y + 0.29).abs() < 1e-3);
}

#[test]
fn invalid_friction_of_a_collider_is_harmless() {
    for friction in [f32::NAN, -1.0, f32::INFINITY] {
        let mut app = app();
        app.world_mut().spawn((
            ClothCollider::half_space().with_friction(friction, friction),
            Transform::from_xyz(0.0, -0.3, 0.0),
        ));
        let cloth = spawn(&mut app, ());
        run(&mut app, 90);
        assert!((centre(&app, cloth).y + 0.29).abs() < 1e-3);
    }
}

#[test]
fn a_cloth_with_nan_is_restored_and_other_cloths_are_unaffected() {
    let mut app = app();
    record(&mut app, 6000);
    let invalid = spawn(&mut app, Pins::corners());
    let other = spawn(&mut app, Pins::corners());
    run(&mut app, 60);
    let hash = |app: &App, cloth| particles(app, cloth).state_hash();

    // Between two steps.
    for bad in [f32::NAN, f32::INFINITY] {
        let mut particles = app.world_mut().get_mut::<ClothParticles>(invalid).unwrap();
        particles.position.set(55, Vec3::splat(bad));
        run(&mut app, 5);
        assert!(particles_are_valid(&app, invalid));
    }
    let mut particles = app.world_mut().get_mut::<ClothParticles>(invalid).unwrap();
    particles.inverse_mass[33] = f32::NAN;
    run(&mut app, 5);
    assert!(particles_are_valid(&app, invalid));
    // Within a step.
    app.add_systems(
        ClothSubstep,
        (move |mut cloths: Query<&mut ClothParticles>, mut done: Local<bool>| {
            if !*done {
                *done = true;
                let mut particles = cloths.get_mut(invalid).unwrap();
                particles.position.set(44, Vec3::splat(f32::NAN));
            }
        })
        .after(ClothSystems::Integrate)
        .before(ClothSystems::Relax),
    );
    run(&mut app, 10);
    assert!(particles_are_valid(&app, invalid));
    // One line for all of these; another line after the cloth has been valid for a while.
    let log = lines_about(invalid);
    assert!(
        log.len() == 1 && log[0].contains("last valid state"),
        "{log:?}"
    );
    run(&mut app, 70);
    let mut particles = app.world_mut().get_mut::<ClothParticles>(invalid).unwrap();
    particles.position.set(55, Vec3::NAN);
    run(&mut app, 5);
    assert_eq!(lines_about(invalid).len(), 2);
    assert!(lines_about(other).is_empty());

    let mut healthy = crate::app();
    spawn(&mut healthy, Pins::corners());
    let reference = spawn(&mut healthy, Pins::corners());
    run(&mut healthy, 160);
    assert_eq!(hash(&app, other), hash(&healthy, reference));
}

fn particles_are_valid(app: &App, cloth: Entity) -> bool {
    let centre = centre(app, cloth);
    particles(app, cloth).is_finite() && centre.length() < 2.0
}

#[test]
fn pinning_all_particles_is_reported_and_harmless() {
    let mut app = app();
    record(&mut app, 7000);
    let cloth = spawn(&mut app, Pins::predicate(|_| true));
    run(&mut app, 30);
    assert!(centre(&app, cloth).length() < 1e-6);
    assert!(lines_about(cloth)[0].contains("pinned"));
}

#[test]
fn pins_of_vertices_that_do_not_exist_are_reported() {
    let mut app = app();
    record(&mut app, 8000);
    let cloth = spawn(&mut app, Pins::index(3).and(Pins::index(12_345)));
    run(&mut app, 30);
    let log = lines_about(cloth);
    assert!(log.len() == 1 && log[0].contains("12345"), "{log:?}");
    assert!(particles(&app, cloth).is_pinned(3));
}

#[test]
fn pins_that_select_no_particle_are_reported() {
    let mut app = app();
    record(&mut app, 8100);
    let cloth = spawn(
        &mut app,
        Pins::top_corners().and(Pins::predicate(|at| at.y > 9.0)),
    );
    run(&mut app, 30);
    let log = lines_about(cloth);
    assert!(
        log.len() == 1 && log[0].contains("3 pins") && log[0].contains("[2] select no particle"),
        "{log:?}"
    );
}

#[test]
fn pins_of_an_entity_that_is_lost_are_reported_and_stay() {
    let mut app = app();
    record(&mut app, 8200);
    let gone = app.world_mut().spawn(Transform::default()).id();
    let bare = app.world_mut().spawn_empty().id();
    let pinned = |app: &mut App, to: Entity| spawn(app, Pins::top_corners().to_entity(to));
    let [left, on_bare] = [gone, bare].map(|anchor| pinned(&mut app, anchor));
    let both = Pins::index(0).to_entity(gone);
    let on_both = spawn(&mut app, both.and(Pins::index(9).to_entity(bare)));
    let lost = spawn(&mut app, Pins::top_corners());
    let far = spawn(&mut app, Pins::top_corners());
    run(&mut app, 5);
    for cloth in [left, lost, far] {
        assert_eq!(lines_about(cloth), [""; 0]);
    }
    let corner = |app: &App, cloth| particles(app, cloth).world_position(0);
    let before = [left, on_bare, lost, far].map(|cloth| corner(&app, cloth));
    app.world_mut().despawn(gone);
    for (cloth, to) in [(lost, Vec3::NAN), (far, Vec3::splat(1e30))] {
        let mut cloth = app.world_mut().entity_mut(cloth);
        cloth.get_mut::<Transform>().unwrap().translation = to;
    }
    run(&mut app, 30);
    for (cloth, anchor) in [(left, gone), (on_bare, bare), (lost, lost), (far, far)] {
        let log = lines_about(cloth);
        let names = |line: &String| line.contains(&format!("{anchor}, which holds its pins"));
        assert!(log.len() == 1 && names(&log[0]), "{log:?}");
    }
    let log = lines_about(on_both);
    assert!(log.len() == 2, "{log:?}");
    let after = [left, on_bare, lost, far].map(|cloth| corner(&app, cloth));
    assert_eq!(after, before);
}

#[test]
fn cloth_that_is_dragged_out_of_the_world_stays_in_it() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 2);
    let by = app.world_mut().spawn_empty().id();
    let at = particles(&app, cloth).world_position(0);
    app.world_mut().trigger(GrabCloth {
        force: f32::INFINITY,
        speed: f32::INFINITY,
        ..GrabCloth::new(cloth, by, at)
    });
    for distance in [1e6, 1e15, 1e30, 1e38] {
        let to = Vec3::splat(distance);
        let entity = cloth;
        app.world_mut().trigger(DragCloth { entity, by, to });
        run(&mut app, 30);
        let particles = particles(&app, cloth);
        let distances = (0..particles.len()).map(|i| particles.world_position(i).length());
        assert!(distances.fold(0.0, f32::max) < 1e7);
    }
}

#[test]
fn an_app_without_time_is_reported_and_goes_on() {
    let mut app = App::new();
    record(&mut app, 0);
    app.add_plugins((
        bevy::app::TaskPoolPlugin::default(),
        bevy::transform::TransformPlugin,
        AssetPlugin::default(),
        bevy::mesh::MeshPlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(ClothBuildMode::Immediate);
    app.finish();
    app.cleanup();
    let cloth = spawn(&mut app, ());
    run(&mut app, 3);
    assert!(!lines_with("there is no time in this app").is_empty());
    assert!(app.world().get::<ClothParticles>(cloth).is_some());
}

#[test]
fn missing_mesh_assets_are_reported() {
    let mut app = App::new();
    record(&mut app, 0);
    app.add_plugins((MinimalPlugins, ClothPlugin::default()));
    app.finish();
    app.cleanup();
    app.world_mut().spawn(Cloth::default());
    run(&mut app, 3);
    assert!(!lines_with("no meshes in this app").is_empty());
}

#[test]
fn a_mesh_of_many_vertices_is_built_with_a_warning() {
    let mut app = app();
    record(&mut app, 9000);
    let mesh = add_mesh(&mut app, ClothGrid::new(10.0, 10.0, 1000, 1000));
    let cloth = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 1_000_000);
    // Steps have run, and the number of constraints per particle is that of a small sheet.
    assert!(centre(&app, cloth).y < 0.0);
    let small = spawn(&mut app, ());
    run(&mut app, 1);
    let constraints = |cloth, n: usize| {
        let all = app.world().get::<ClothConstraints>(cloth).unwrap();
        let expected = 2 * n * (n - 1) + 2 * (n - 1) * (n - 1) + 2 * n * (n - 2);
        assert_eq!(all.len(), expected);
        all.batch_count()
    };
    assert_eq!(constraints(cloth, 1000), constraints(small, 10));
    let log = lines_about(cloth);
    assert!(
        log.len() == 1 && log[0].contains("1000000 particles"),
        "{log:?}"
    );
}
