//! Convex hulls, triangle meshes and heightfields as colliders, in the plugin.

use crate::{
    add_mesh, app, centre,
    headless::headless_app,
    log::{lines_about, record},
    particles, positions, run, spawn,
};
use bevy::{mesh::PrimitiveTopology, prelude::*};
#[cfg(feature = "parry")]
use bevy_drape::collision::ClothMeshShape;
use bevy_drape::{
    cloth::ClothMaxThreads,
    collision::ClothLayers,
    diagnostics::{ClothDiagnosticsPlugin, ClothStats},
    prelude::*,
    sleep::ClothSleeping,
    snapshot::ClothSnapshot,
};

const THICKNESS: f32 = 0.01;

fn ball(radius: f32) -> Mesh {
    Sphere::new(radius).mesh().ico(6).unwrap()
}

/// Returns a box with these full lengths, m, as a closed mesh.
fn block(size: Vec3) -> Mesh {
    Cuboid::from_size(size).into()
}

/// Returns a flat, two-sided square in the xz plane.
fn sheet_of_triangles(side: f32) -> ClothMeshCollider {
    let corner = |x: f32, z: f32| Vec3::new(x, 0.0, z) * (side / 2.0);
    let vertices = vec![
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(-1.0, 1.0),
        corner(1.0, 1.0),
    ];
    ClothMeshCollider::triangles(vertices, vec![[0, 2, 1], [1, 2, 3]])
}

#[test]
fn cloth_lies_on_a_mesh_a_hull_and_a_heightfield() {
    for kind in ["mesh", "hull", "triangles", "field"] {
        let mut app = app();
        let block = add_mesh(&mut app, block(Vec3::new(3.0, 1.0, 3.0)));
        let spawned = app.world_mut();
        match kind {
            "mesh" => spawned.spawn((ClothMeshCollider::mesh(), Mesh3d(block))),
            "hull" => spawned.spawn((ClothMeshCollider::convex_hull(), Mesh3d(block))),
            "triangles" => {
                spawned.spawn((sheet_of_triangles(3.0), Transform::from_xyz(0.0, 0.5, 0.0)))
            }
            _ => spawned.spawn(ClothMeshCollider::heightfield(
                vec![0.5; 12],
                4,
                Vec2::splat(3.0),
            )),
        };
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.8, 0.0));
        run(&mut app, 200);
        for position in positions(&app, cloth) {
            let height = position.y - 0.5 - THICKNESS;
            assert!(height.abs() < 1e-3, "{kind}: {height} m above the surface");
        }
    }
}

#[test]
fn cloth_rests_on_a_sphere_mesh_as_on_a_sphere_collider() {
    let settle = |mesh: bool| {
        let mut app = app();
        let ball = add_mesh(&mut app, ball(0.4));
        match mesh {
            true => app
                .world_mut()
                .spawn((ClothMeshCollider::mesh(), Mesh3d(ball))),
            false => app.world_mut().spawn(ClothCollider::sphere(0.4)),
        };
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.5, 0.0));
        run(&mut app, 240);
        positions(&app, cloth)
    };
    let (primitive, mesh) = (settle(false), settle(true));
    // The centres of the triangles lie up to 3 mm inside the sphere.
    for position in &mesh {
        assert!(
            position.length() > 0.4 - 0.004 + THICKNESS,
            "{}",
            position.length()
        );
    }
    let distances = primitive.iter().zip(&mesh).map(|(a, b)| a.distance(*b));
    let mean = distances.sum::<f32>() / primitive.len() as f32;
    // Some folds fall to the other side.
    assert!(mean < 0.03, "{mean} m apart on average");
}

#[test]
fn cloth_follows_the_hills_of_a_heightfield() {
    let mut app = app();
    let columns = 33;
    let height = |x: f32, z: f32| 0.15 * (x * 4.0).sin() * (z * 3.0).cos();
    let at = |k: u32| (k as f32 / (columns - 1) as f32 - 0.5) * 4.0;
    let heights = (0..columns * columns).map(|i| height(at(i % columns), at(i / columns)));
    let field = ClothMeshCollider::heightfield(heights.collect(), columns, Vec2::splat(4.0));
    // Half as high, and lowered by 0.2 m.
    app.world_mut().spawn((
        field,
        Transform::from_xyz(0.0, -0.2, 0.0).with_scale(Vec3::new(1.0, 0.5, 1.0)),
    ));
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.2, 0.0));
    run(&mut app, 240);
    let mut least = f32::INFINITY;
    for position in positions(&app, cloth) {
        let above = position.y + 0.2 - 0.5 * height(position.x, position.z);
        assert!(
            (0.005..0.05).contains(&above),
            "{above} m above at {position}"
        );
        least = least.min(above);
    }
    assert!(least < 0.012, "{least}");
}

/// Displacement of an entity in each fixed step, m.
#[derive(Component)]
struct StepDisplacement(Vec3);

fn add_motion(app: &mut App) {
    app.add_systems(
        FixedUpdate,
        (|mut moving: Query<(&mut Transform, &StepDisplacement)>| {
            for (mut transform, displacement) in &mut moving {
                transform.translation += displacement.0;
            }
        })
        .before(ClothSystems::Prepare),
    );
}

#[test]
fn nothing_goes_through_at_100_metres_a_second() {
    for kind in ["sheet", "block", "hull", "field"] {
        for side in [1.0, -1.0] {
            // A heightfield stops cloth only from above.
            if kind == "field" && side < 0.0 {
                continue;
            }
            for cloth_is_fast in [true, false] {
                let mut app = app();
                app.insert_resource(ClothGravity(Vec3::ZERO));
                add_motion(&mut app);
                let slab = add_mesh(&mut app, block(Vec3::new(6.0, 0.02, 6.0)));
                let speed = Vec3::NEG_Y * side * 100.0;
                let still = Vec3::ZERO;
                // Chosen so that contact happens in the middle of a step.
                let start = Vec3::Y * side * 2.37;
                let shape = match kind {
                    "sheet" => sheet_of_triangles(6.0),
                    "block" => ClothMeshCollider::mesh(),
                    "hull" => ClothMeshCollider::convex_hull(),
                    _ => ClothMeshCollider::heightfield(vec![0.0; 25], 5, Vec2::splat(6.0)),
                };
                let displacement = if cloth_is_fast { still } else { -speed / 60.0 };
                let motion = StepDisplacement(displacement);
                let collider = app.world_mut().spawn((shape, Mesh3d(slab), motion)).id();
                let cloth = spawn(&mut app, Transform::from_translation(start));
                app.update();
                if cloth_is_fast {
                    let mut particles = app.world_mut().get_mut::<ClothParticles>(cloth).unwrap();
                    (0..particles.len()).for_each(|i| particles.set_velocity(i, speed));
                }
                for _ in 0..30 {
                    app.update();
                    let surface = app
                        .world()
                        .get::<Transform>(collider)
                        .unwrap()
                        .translation
                        .y;
                    for position in positions(&app, cloth) {
                        let ahead = (position.y - surface) * side;
                        assert!(ahead > 0.0, "{kind}, {side}, {cloth_is_fast}: {ahead} m");
                    }
                }
                let ahead = (centre(&app, cloth).y
                    - app
                        .world()
                        .get::<Transform>(collider)
                        .unwrap()
                        .translation
                        .y)
                    * side;
                assert!(
                    ahead < 1.0,
                    "{kind}, {side}, {cloth_is_fast}: not stopped: {ahead} m"
                );
            }
        }
    }
}

#[test]
fn a_turning_mesh_drags_cloth_along() {
    let turned_angle = |mesh: bool| {
        let mut app = app();
        let table = add_mesh(&mut app, Cylinder::new(1.0, 0.1));
        let transform = Transform::from_xyz(0.0, -0.07, 0.0);
        let table = match mesh {
            true => {
                let rough = ClothMeshCollider::mesh().with_friction(2.0, 2.0);
                app.world_mut()
                    .spawn((rough, Mesh3d(table), transform))
                    .id()
            }
            false => {
                let rough = ClothCollider::cylinder(1.0, 0.1).with_friction(2.0, 2.0);
                app.world_mut().spawn((rough, transform)).id()
            }
        };
        let cloth = spawn(&mut app, ());
        run(&mut app, 60);
        app.add_systems(FixedUpdate, move |mut transforms: Query<&mut Transform>| {
            transforms.get_mut(table).unwrap().rotate_y(1.0 / 60.0);
        });
        let before = positions(&app, cloth)[9];
        run(&mut app, 60);
        let after = positions(&app, cloth)[9];
        (before.xz()).angle_to(after.xz()).abs()
    };
    let (primitive, mesh) = (turned_angle(false), turned_angle(true));
    assert!((mesh - 1.0).abs() < 0.1, "{mesh} rad of 1");
    assert!(
        (mesh - primitive).abs() < 0.05,
        "{mesh} and {primitive} rad"
    );
}

#[test]
fn cloth_that_begins_inside_a_mesh_comes_out_and_inside_a_hollow_mesh_stays_in() {
    for hollow in [false, true] {
        let mut app = headless_app((ClothPlugin::default(), ClothDiagnosticsPlugin::default()));
        let ball = add_mesh(&mut app, ball(0.9));
        let collider = ClothMeshCollider {
            hollow,
            ..ClothMeshCollider::mesh()
        };
        app.world_mut().spawn((collider, Mesh3d(ball)));
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.1, 0.0));
        run(&mut app, 2);
        let is_inside = |position: &Vec3| position.length() < 0.9;
        let count = positions(&app, cloth)
            .iter()
            .filter(|position| is_inside(position))
            .count();
        assert_eq!(count, if hollow { 100 } else { 0 });
        run(&mut app, 120);
        let all = positions(&app, cloth);
        assert!(all.iter().all(|position| is_inside(position) == hollow));
        let stats = app.world().get::<ClothStats>(cloth).unwrap();
        assert!(stats.deepest_penetration < 1e-4, "{stats:?}");
        if hollow {
            let low = all.iter().map(|position| position.y).fold(0.0, f32::min);
            assert!(low < -0.7, "not at the bottom: {low} m");
        }
    }
}

#[test]
fn penetration_is_measured() {
    let mut app = headless_app((ClothPlugin::default(), ClothDiagnosticsPlugin::default()));
    app.world_mut().spawn(ClothMeshCollider::heightfield(
        vec![0.0; 9],
        3,
        Vec2::splat(4.0),
    ));
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 1.0, 0.0));
    run(&mut app, 1);
    let deepest = |app: &App| {
        app.world()
            .get::<ClothStats>(cloth)
            .unwrap()
            .deepest_penetration
    };
    run(&mut app, 1);
    assert_eq!(deepest(&app), 0.0);
    app.add_systems(
        FixedUpdate,
        (move |mut particles: Query<&mut ClothParticles>| {
            let mut particles = particles.get_mut(cloth).unwrap();
            particles.set_world_position(0, Vec3::new(0.1, -0.25, 0.1));
        })
        .in_set(ClothSystems::Finish),
    );
    run(&mut app, 1);
    assert!((deepest(&app) - 0.25).abs() < 1e-4, "{}", deepest(&app));
}

#[test]
fn mesh_colliders_that_load_late_or_change_are_rebuilt() {
    let mut app = app();
    let later = app.world().resource::<Assets<Mesh>>().reserve_handle();
    let collider = (ClothMeshCollider::mesh(), Mesh3d(later.clone()));
    let collider = app.world_mut().spawn(collider).id();
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.5, 0.0));
    run(&mut app, 5);
    let size = Vec3::new(3.0, 0.2, 3.0);
    let insert = |app: &mut App, size: Vec3| {
        let mut meshes = app.world_mut().resource_mut::<Assets<Mesh>>();
        meshes.insert(later.id(), block(size)).unwrap();
    };
    insert(&mut app, size);
    run(&mut app, 120);
    let assert_rests_at = |app: &App, height: f32| {
        let y = centre(app, cloth).y - height - THICKNESS;
        assert!(y.abs() < 2e-3, "{y} m above {height}");
    };
    assert_rests_at(&app, 0.1);
    // The mesh asset grows and lifts the cloth.
    insert(&mut app, size + Vec3::Y * 0.01);
    run(&mut app, 60);
    assert_rests_at(&app, 0.105);
    // Another mesh.
    let other = add_mesh(&mut app, block(size + Vec3::Y * 0.02));
    app.world_mut().entity_mut(collider).insert(Mesh3d(other));
    run(&mut app, 60);
    assert_rests_at(&app, 0.11);
    // Another scale.
    let mut transform = app.world_mut().get_mut::<Transform>(collider).unwrap();
    transform.scale = Vec3::new(1.0, 1.1, 1.0);
    run(&mut app, 60);
    assert_rests_at(&app, 0.121);
    // The collider is removed.
    app.world_mut()
        .entity_mut(collider)
        .remove::<ClothMeshCollider>();
    run(&mut app, 60);
    assert!(centre(&app, cloth).y < -1.0);
}

#[test]
fn a_collider_that_cannot_be_built_is_reported_once_and_disturbs_no_cloth() {
    let mut app = app();
    record(&mut app, 47_000);
    let cloth = spawn(&mut app, Pins::top_corners());
    let lines = Mesh::new(PrimitiveTopology::LineList, default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, vec![[0.0; 3]; 4]);
    let lines = add_mesh(&mut app, lines);
    let flat = add_mesh(&mut app, Plane3d::default().mesh().size(1.0, 1.0));
    let solid = add_mesh(&mut app, ball(0.2));
    let point = |x| Vec3::new(x, 0.0, 0.0);
    let triangles =
        |indices| ClothMeshCollider::triangles(vec![point(0.0), point(1.0), Vec3::Y], indices);
    let field = |heights, columns| ClothMeshCollider::heightfield(heights, columns, Vec2::ONE);
    let here = Transform::IDENTITY;
    let cases = [
        (ClothMeshCollider::mesh(), Some(lines), here, "LineList"),
        (ClothMeshCollider::convex_hull(), Some(flat), here, "plane"),
        (
            ClothMeshCollider::mesh(),
            Some(solid.clone()),
            here.with_scale(Vec3::ZERO),
            "scale",
        ),
        (
            ClothMeshCollider::convex_hull(),
            Some(solid),
            Transform::from_scale(Vec3::splat(f32::NAN)),
            "finite",
        ),
        (triangles(vec![]), None, here, "no triangle"),
        (triangles(vec![[0, 1, 9]]), None, here, "vertex 9"),
        (triangles(vec![[0, 1, 1]]), None, here, "no triangle"),
        (
            ClothMeshCollider::triangles(vec![Vec3::NAN; 3], vec![[0, 1, 2]]),
            None,
            here,
            "vertex 0",
        ),
        (ClothMeshCollider::hull_of(vec![]), None, here, "plane"),
        (
            ClothMeshCollider::hull_of(vec![Vec3::ONE; 100]),
            None,
            here,
            "plane",
        ),
        (
            ClothMeshCollider::hull_of((0..100).map(|i| point(i as f32)).collect()),
            None,
            here,
            "plane",
        ),
        (field(vec![0.0; 7], 3), None, here, "7 heights in rows of 3"),
        (field(vec![0.0; 4], 0), None, here, "rows of 0"),
        (field(vec![f32::INFINITY; 4], 2), None, here, "vertex 0"),
        (
            sheet_of_triangles(1.0),
            None,
            Transform::from_xyz(f32::NAN, 0.0, 0.0),
            "transform",
        ),
    ];
    let cases = cases.map(|(collider, mesh, transform, message)| {
        let entity = app.world_mut().spawn((collider, transform)).id();
        if let Some(mesh) = mesh {
            app.world_mut().entity_mut(entity).insert(Mesh3d(mesh));
        }
        (entity, message)
    });
    run(&mut app, 30);
    for (entity, message) in cases {
        let log = lines_about(entity);
        assert_eq!(log.len(), 1, "{message}: {log:?}");
        assert!(log[0].contains(message), "{message}: {log:?}");
    }
    assert!(particles(&app, cloth).is_finite());
    // A repaired collider is built.
    let mut shape = app
        .world_mut()
        .get_mut::<ClothMeshCollider>(cases[4].0)
        .unwrap();
    *shape = sheet_of_triangles(9.0);
    app.world_mut()
        .get_mut::<Transform>(cases[4].0)
        .unwrap()
        .translation
        .y = -0.3;
    // The cloth hangs through the new floor, and an open surface keeps cloth on its current side; the reset
    // returns the cloth to the upper side.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 120);
    assert!(
        positions(&app, cloth)
            .iter()
            .all(|position| position.y > -0.3)
    );
}

#[test]
fn a_cloth_cannot_be_its_own_mesh_collider() {
    let mut app = app();
    record(&mut app, 48_000);
    let cloth = spawn(&mut app, ClothMeshCollider::mesh());
    run(&mut app, 10);
    assert!(
        lines_about(cloth)
            .iter()
            .any(|line| line.contains("of its own"))
    );
    assert!(particles(&app, cloth).is_finite());
}

#[test]
fn layers_decide_which_cloth_collides_with_a_mesh() {
    let mut app = app();
    let wall = ClothLayers::on(2);
    app.world_mut().spawn((sheet_of_triangles(4.0), wall));
    let transform = Transform::from_xyz(0.0, 0.2, 0.0);
    let stopped = spawn(&mut app, transform);
    let passing = spawn(
        &mut app,
        (transform, ClothLayers::default().with_filters(1)),
    );
    run(&mut app, 60);
    assert!(centre(&app, stopped).y > 0.0 && centre(&app, passing).y < -1.0);
}

#[test]
fn cloth_falls_asleep_on_a_mesh_collider_and_wakes_when_the_collider_changes() {
    type Change = fn(&mut App, Entity);
    let changes: [(&str, Change); 4] = [
        ("moved", |app, ground| {
            let mut transform = app.world_mut().get_mut::<Transform>(ground).unwrap();
            transform.translation.y -= 0.01;
        }),
        ("other shape", |app, ground| {
            *app.world_mut()
                .get_mut::<ClothMeshCollider>(ground)
                .unwrap() = sheet_of_triangles(0.5);
        }),
        ("other layer", |app, ground| {
            let layers = ClothLayers::on(0);
            app.world_mut().entity_mut(ground).insert(layers);
        }),
        ("gone", |app, ground| {
            app.world_mut().despawn(ground);
        }),
    ];
    for (what, change) in changes {
        let mut app = app();
        let ground = (sheet_of_triangles(4.0), Transform::default());
        let ground = app.world_mut().spawn(ground).id();
        let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.05, 0.0));
        let sleeps = |app: &App| app.world().get::<ClothSleeping>(cloth).is_some();
        run(&mut app, 300);
        assert!(sleeps(&app), "{what}: it does not fall asleep");
        change(&mut app, ground);
        run(&mut app, 2);
        assert!(!sleeps(&app), "{what}: it does not wake");
    }
}

#[test]
fn a_rope_rests_above_a_heightfield_by_its_radius() {
    let mut app = app();
    app.world_mut().spawn(ClothMeshCollider::heightfield(
        vec![0.0; 9],
        3,
        Vec2::splat(4.0),
    ));
    let rope = Rope {
        thickness: 0.06,
        ..Rope::between(Vec3::new(-0.5, 0.3, 0.0), Vec3::new(0.5, 0.3, 0.0), 30)
    };
    let rope = app.world_mut().spawn(rope).id();
    run(&mut app, 200);
    for position in positions(&app, rope) {
        assert!((0.029..0.045).contains(&position.y), "{position}");
    }
}

/// Drapes a cloth over a moving sphere mesh above a heightfield, for 40 steps. Returns the app, the cloth and the
/// sphere.
fn draped(threads: usize) -> (App, Entity, Entity) {
    let mut app = app();
    app.insert_resource(ClothMaxThreads(threads));
    add_motion(&mut app);
    let ball = add_mesh(&mut app, ball(0.3));
    let motion = StepDisplacement(Vec3::new(0.002, 0.001, 0.0));
    let ball = (ClothMeshCollider::mesh(), Mesh3d(ball), motion);
    let ball = app.world_mut().spawn(ball).id();
    let floor = ClothMeshCollider::heightfield(vec![-0.4; 9], 3, Vec2::splat(4.0));
    app.world_mut().spawn(floor);
    let cloth = spawn(&mut app, Transform::from_xyz(0.0, 0.4, 0.0));
    run(&mut app, 40);
    (app, cloth, ball)
}

#[test]
fn the_bits_depend_neither_on_threads_nor_on_cached_contacts() {
    let (mut app, cloth, ball) = draped(usize::MAX);
    let (serial, other, _) = draped(1);
    let hash = |app: &App, cloth| particles(app, cloth).state_hash();
    assert_eq!(hash(&app, cloth), hash(&serial, other));
    let snapshot = ClothSnapshot::take(app.world(), cloth).unwrap();
    let pose = |app: &App| {
        let ball = app.world().entity(ball);
        (
            *ball.get::<Transform>().unwrap(),
            *ball.get::<bevy_drape::collision::LastPose>().unwrap(),
        )
    };
    let saved = pose(&app);
    run(&mut app, 40);
    let after = hash(&app, cloth);
    // The sphere is far away for a while, so that no contact stays cached.
    app.world_mut()
        .get_mut::<Transform>(ball)
        .unwrap()
        .translation
        .y = 90.0;
    run(&mut app, 5);
    snapshot.restore(app.world_mut(), cloth).unwrap();
    app.world_mut().entity_mut(ball).insert(saved);
    run(&mut app, 40);
    assert_eq!(hash(&app, cloth), after);
}

#[test]
fn parry_shapes_become_colliders() {
    use parry3d::{
        shape::{ConvexPolyhedron, HeightField, TriMesh},
        utils::Array2,
    };
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let mesh = TriMesh::new(corners.to_vec(), vec![[0, 1, 2]]).unwrap();
    let hull = ConvexPolyhedron::from_convex_hull(&corners).unwrap();
    let heights = Array2::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let field = HeightField::new(heights, Vec3::new(4.0, 10.0, 2.0));
    assert_eq!(
        ClothMeshCollider::from(&mesh),
        ClothMeshCollider::triangles(corners.to_vec(), vec![[0, 1, 2]])
    );
    let ClothMeshShape::Hull { points } = ClothMeshCollider::from(&hull).shape else {
        panic!("not a hull");
    };
    assert_eq!(points.len(), 4);
    // parry stores the heights column by column.
    assert_eq!(
        ClothMeshCollider::from(&field),
        ClothMeshCollider::heightfield(
            vec![10.0, 30.0, 50.0, 20.0, 40.0, 60.0],
            3,
            Vec2::new(4.0, 2.0)
        )
    );
}
