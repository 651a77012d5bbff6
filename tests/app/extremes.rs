//! Extreme settings and unusual mesh topologies.

use crate::{
    add_mesh, app, centre, characters, command, drawn, float3,
    log::{lines_about, lines_with, record},
    particles, run, spawn,
    tearing::islands,
    worlds::oracles::check_cloths,
    worst_stretch,
};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
    reflect::GetPath,
};
use bevy_drape::{
    character::{Teleport, TeleportCloth},
    cloth::ClothConstraints,
    prelude::*,
    proxy::ClothProxy,
    solver::ConstraintKind,
    time::ClothClock,
};

pub(crate) fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_indices(Indices::U32(triangles.concat()))
}

fn cloth_of(app: &mut App, mesh: Mesh, pins: Pins) -> Entity {
    let mesh = add_mesh(app, mesh);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), pins))
        .id()
}

/// Returns whether all drawn normals are unit vectors.
fn normals_are_valid(app: &App, cloth: Entity) -> bool {
    let normals = float3(drawn(app, cloth), Mesh::ATTRIBUTE_NORMAL);
    normals.iter().all(|normal| normal.is_normalized())
}

#[test]
fn extreme_settings_are_clamped_with_one_warning_each() {
    let mut app = app();
    record(&mut app, 29_000);
    app.insert_resource(ClothSubsteps::PerStep(0));
    let cloth = spawn(&mut app, Pins::corners());
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.iterations = 1_000_000;
    settings.fabric.warp_stiffness = Some(f32::NAN);
    settings.fabric.areal_density = -1.0;
    run(&mut app, 30);
    let settings = app.world().get::<Cloth>(cloth).unwrap();
    assert_eq!(
        *app.world().resource::<ClothSubsteps>(),
        ClothSubsteps::PerStep(1)
    );
    assert_eq!(settings.iterations, 100);
    assert_eq!(settings.fabric.warp_stiffness, None);
    assert_eq!(settings.fabric.areal_density, 0.001);
    let log = lines_about(cloth);
    assert_eq!(log.len(), 3, "{log:?}");
    for field in [
        "Cloth::iterations is 1000000",
        "Fabric::warp_stiffness is NaN",
        "Fabric::areal_density is -1",
    ] {
        let warnings = log.iter().filter(|line| line.contains(field));
        assert_eq!(warnings.count(), 1, "{field}: {log:?}");
    }
    assert!(log.iter().all(|line| line.starts_with("WARN")), "{log:?}");
    assert!(!lines_with("ClothSubsteps::PerStep is 0, must be 1 to 100").is_empty());
    // The masses follow from the clamped density: 1 m² of cloth, little of it in pinned particles.
    let inverse = particles(&app, cloth).inverse_mass.iter();
    let mass: f32 = inverse.filter(|w| **w > 0.0).map(|w| 1.0 / w).sum();
    assert!((0.00097..0.001).contains(&mass), "{mass} kg");
    // Too many substeps are clamped while the app runs on.
    app.insert_resource(ClothSubsteps::PerStep(1_234_567));
    run(&mut app, 30);
    assert_eq!(
        *app.world().resource::<ClothSubsteps>(),
        ClothSubsteps::PerStep(100)
    );
    assert_eq!(lines_with("ClothSubsteps::PerStep is 1234567").len(), 1);
    let centre = centre(&app, cloth);
    assert!(centre.y < 0.0 && centre.y > -0.5, "{centre}");
    // Of 100 substeps, each may take one iteration only.
    let log = lines_about(cloth);
    assert_eq!(log.len(), 4, "{log:?}");
    assert!(log[3].contains("takes 1 of its 100 iterations"), "{log:?}");
}

#[test]
fn disconnected_parts_of_one_mesh_move_independently() {
    let mut app = app();
    record(&mut app, 30_000);
    let mut one = Mesh::from(ClothGrid::vertical(1.0, 1.0, 10, 10));
    for shift in [3.0, 6.0] {
        let other = Mesh::from(ClothGrid::vertical(0.5, 0.5, 6, 6));
        one.merge(&other.translated_by(Vec3::X * shift)).unwrap();
    }
    let mut positions = float3(&one, Mesh::ATTRIBUTE_POSITION);
    let mut triangles: Vec<[u32; 3]> = one
        .triangles()
        .unwrap()
        .map(|triangle| {
            triangle.vertices.map(|vertex| {
                let index = positions.iter().position(|&other| other == vertex);
                index.unwrap() as u32
            })
        })
        .collect();
    // An unused vertex, and a separate triangle.
    let count = positions.len() as u32;
    positions.push(Vec3::splat(5.0));
    positions.extend([Vec3::Z * 4.0, Vec3::Z * 4.0 + Vec3::X * 0.1, Vec3::Z * 4.1]);
    triangles.push([count + 1, count + 2, count + 3]);
    let pins = Pins::index(0).and(Pins::index(9)).and(Pins::index(100));
    let cloth = cloth_of(&mut app, mesh(positions, triangles), pins);
    run(&mut app, 60);
    assert_eq!(particles(&app, cloth).len(), 100 + 36 + 36 + 3);
    assert_eq!(islands(&app, cloth), 4);
    let height = |range: std::ops::Range<usize>| {
        let count = range.len() as f32;
        range
            .map(|i| particles(&app, cloth).world_position(i).y)
            .sum::<f32>()
            / count
    };
    assert!(height(0..100) > -0.5, "the first hangs by two corners");
    assert!(height(100..136) > -0.7, "the second by one");
    assert!(height(136..172) < -1.5, "the third falls");
    assert!(height(172..175) < -1.5, "the triangle too");
    assert!(normals_are_valid(&app, cloth));
    assert!(lines_about(cloth).is_empty(), "{:?}", lines_about(cloth));
}

/// Returns square sheets of 1 m that share their upper edge, each rotated about this edge by a further 0.4 rad.
fn fan_of_sheets(count: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for sheet in 0..count {
        let rotation = Quat::from_rotation_x(sheet as f32 * 0.4 - 0.4);
        let base = positions.len() as u32;
        for row in 0..8 {
            for column in 0..8 {
                let flat = Vec3::new(column as f32, -(row as f32), 0.0) / 7.0;
                // Positions on the shared edge are equal to the bit on all sheets.
                positions.push(if row == 0 { flat } else { rotation * flat });
            }
        }
        for row in 0..7 {
            for column in 0..7 {
                let a = base + row * 8 + column;
                triangles.extend([[a, a + 8, a + 1], [a + 1, a + 8, a + 9]]);
            }
        }
    }
    (positions, triangles)
}

#[test]
fn sheets_that_share_an_edge_hang_together_and_can_be_cut() {
    let mut app = app();
    record(&mut app, 31_000);
    let (positions, triangles) = fan_of_sheets(4);
    let count = positions.len();
    let shared_edge = Pins::predicate(|at| at.y > -0.01 && at.z.abs() < 0.01);
    let cloth = cloth_of(&mut app, mesh(positions, triangles), shared_edge);
    run(&mut app, 2);
    assert_eq!(particles(&app, cloth).len(), count - 3 * 8);
    assert_eq!(islands(&app, cloth), 1);
    run(&mut app, 120);
    let lowest = |app: &App| {
        let bounds = particles(app, cloth).position.bounds().unwrap();
        bounds.0.y + particles(app, cloth).origin.y
    };
    let hangs = lowest(&app);
    assert!(
        (-1.1..-0.9).contains(&hangs),
        "the sheets hang down to {hangs} m"
    );
    assert!(normals_are_valid(&app, cloth));
    // Cuts across all sheets, and tears the shared edge.
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(
            Vec3::new(-0.5, -0.5, 0.0),
            Vec3::new(1.5, -0.5, 0.0),
            Vec3::Z * 3.0,
        );
        cloth.tear_edge(3, 4);
    });
    assert!(islands(&app, cloth) >= 5);
    run(&mut app, 60);
    assert!(lowest(&app) < -2.0, "the pieces that were cut off fall");
    assert!(particles(&app, cloth).is_finite() && normals_are_valid(&app, cloth));
    assert!(lines_about(cloth).is_empty(), "{:?}", lines_about(cloth));
}

#[test]
fn triangles_that_share_one_vertex_stay_connected() {
    let mut app = app();
    // An upright bow tie.
    let positions = vec![
        Vec3::new(-0.1, 0.2, 0.0),
        Vec3::new(0.1, 0.2, 0.0),
        Vec3::ZERO,
        Vec3::new(-0.1, -0.2, 0.0),
        Vec3::new(0.1, -0.2, 0.0),
    ];
    let triangles = vec![[0, 1, 2], [2, 3, 4]];
    let pins = Pins::index(0).and(Pins::index(1));
    let cloth = cloth_of(&mut app, mesh(positions, triangles), pins);
    run(&mut app, 120);
    assert_eq!(islands(&app, cloth), 1);
    let low = particles(&app, cloth).world_position(3);
    assert!((low.y + 0.2).abs() < 0.05, "{low}");
    assert!(normals_are_valid(&app, cloth));
}

#[test]
fn a_moebius_strip_is_cloth_too() {
    let mut app = app();
    let (around, across) = (60, 5);
    let mut positions = Vec::new();
    for i in 0..around {
        let angle = i as f32 / around as f32 * std::f32::consts::TAU;
        let out = Quat::from_rotation_y(angle);
        let twist = Quat::from_rotation_z(angle * 0.5);
        for j in 0..across {
            let offset = twist * Vec3::Y * (j as f32 - 2.0) * 0.05;
            positions.push(out * (Vec3::X * 0.5 + offset));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..around {
        for j in 0..across - 1 {
            let at = |i: u32, j: u32| {
                // After a full turn, up is down.
                let (i, j) = if i == around {
                    (0, across - 1 - j)
                } else {
                    (i, j)
                };
                i * across + j
            };
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
            triangles.extend([[a, b, c], [c, b, d]]);
        }
    }
    let cloth = cloth_of(&mut app, mesh(positions, triangles), Pins::index(0));
    run(&mut app, 120);
    assert_eq!(islands(&app, cloth), 1);
    assert_eq!(particles(&app, cloth).len(), (around * across) as usize);
    let stretch = worst_stretch(&app, cloth);
    assert!(stretch < 0.5, "{stretch}");
    assert!(particles(&app, cloth).is_finite());
}

#[test]
fn constraints_around_a_vertex_grow_linearly_with_its_triangles() {
    let constraints = |spokes: u32| {
        let mut app = app();
        let rim = (0..spokes).map(|i| {
            let angle = i as f32 / spokes as f32 * std::f32::consts::TAU;
            Vec3::new(angle.cos(), 0.0, angle.sin()) * 100.0
        });
        let positions = [Vec3::ZERO].into_iter().chain(rim).collect();
        let triangles = (0..spokes).map(|i| [0, 1 + (i + 1) % spokes, 1 + i]);
        let cloth = cloth_of(
            &mut app,
            mesh(positions, triangles.collect()),
            Pins::index(0),
        );
        run(&mut app, 3);
        assert!(particles(&app, cloth).is_finite());
        let constraints = app.world().get::<ClothConstraints>(cloth).unwrap();
        assert_eq!(
            constraints.count(ConstraintKind::Structural),
            2 * spokes as usize
        );
        (constraints.len(), constraints.batch_count())
    };
    let (few, few_batches) = constraints(2_000);
    let (many, many_batches) = constraints(20_000);
    assert_eq!(many, few * 10);
    // Constraints that fit into no batch come last, in one batch per direction and region.
    assert!(
        many_batches < few_batches * 4,
        "{few_batches}, {many_batches}"
    );
}

#[test]
fn constraints_around_an_edge_grow_linearly_with_its_triangles() {
    let constraints = |triangles: u32| {
        let mut app = app();
        let tips = (0..triangles).map(|i| {
            let angle = i as f32 / triangles as f32 * std::f32::consts::TAU;
            Vec3::new(angle.cos(), angle.sin(), 0.5) * 50.0
        });
        let positions = [Vec3::ZERO, Vec3::Z * 50.0].into_iter().chain(tips);
        let triangles = (0..triangles).map(|i| [0, 1, i + 2]).collect();
        let cloth = cloth_of(
            &mut app,
            mesh(positions.collect(), triangles),
            Pins::index(0),
        );
        run(&mut app, 3);
        assert!(
            app.world()
                .get::<ClothParticles>(cloth)
                .unwrap()
                .is_finite()
        );
        app.world().get::<ClothConstraints>(cloth).unwrap().len() as u32
    };
    // Two edge constraints per triangle, one for the shared edge, and bend constraints between consecutive
    // triangles.
    for triangles in [1_000, 10_000] {
        assert_eq!(constraints(triangles), 2 * triangles + 1 + triangles - 1);
    }
}

/// Places and scales that overflow, found by random worlds.
fn impossible_transforms() -> [Transform; 6] {
    let turned = Quat::from_xyzw(1e12, 0.0, 0.0, 1.0);
    [
        Transform::from_xyz(0.0, f32::MAX, 0.0),
        Transform::from_scale(Vec3::new(1.0, f32::MIN, 1.0)),
        Transform::from_scale(Vec3::splat(1e30)),
        Transform::from_scale(Vec3::splat(1e-30)),
        Transform::from_rotation(turned),
        Transform::from_xyz(1e6, 0.0, 0.0).with_scale(Vec3::splat(1e6)),
    ]
}

#[test]
fn cloth_stays_finite_whatever_becomes_of_its_transform() {
    for transform in impossible_transforms() {
        for is_late in [false, true] {
            let mut app = app();
            let parent = app.world_mut().spawn(Transform::default()).id();
            let cloth = spawn(&mut app, ChildOf(parent));
            let fine = Mesh3d(add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 15, 15)));
            let world = app.world_mut();
            world.spawn((ClothProxy { cloth }, fine, ChildOf(parent)));
            world.spawn((Rope::between(Vec3::ZERO, Vec3::X, 20), ChildOf(parent)));
            let coat = characters::spawn(&mut app, characters::skinned(), Vec3::Y, ());
            app.world_mut()
                .entity_mut(coat.joints[0])
                .insert(ChildOf(parent));
            run(&mut app, if is_late { 10 } else { 0 });
            app.world_mut().entity_mut(parent).insert(transform);
            let check = |app: &mut App| {
                for _ in 0..3 {
                    app.update();
                    check_cloths(app.world_mut())
                        .unwrap_or_else(|error| panic!("{transform:?}: {error}"));
                }
            };
            check(&mut app);
            for entity in [cloth, coat.cloth] {
                app.world_mut().trigger(ResetCloth { entity });
                check(&mut app);
                let how = Teleport::Keep;
                app.world_mut().trigger(TeleportCloth { entity, how });
                check(&mut app);
            }
        }
    }
}

#[test]
fn a_damaged_clock_goes_on() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 5);
    for progress in [f32::NAN, f32::INFINITY, -1e30] {
        let mut clock = app.world_mut().resource_mut::<ClothClock>();
        let field = clock.reflect_path_mut("progress").unwrap();
        *field.try_downcast_mut::<f32>().unwrap() = progress;
        let before = centre(&app, cloth);
        run(&mut app, 3);
        check_cloths(app.world_mut()).unwrap();
        assert_ne!(centre(&app, cloth), before);
    }
}
