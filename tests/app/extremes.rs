//! Settings at which others would break, and meshes of odd shapes.

use crate::{
    add_mesh, app, centre, command, drawn, float3,
    log::{lines_about, lines_with, record},
    particles, run, spawn,
    tearing::islands,
};
use bevy::{
    asset::RenderAssetUsages,
    mesh::{Indices, PrimitiveTopology},
    prelude::*,
};
use bevy_drape::{Constraints, Particles, prelude::*, solver::ConstraintKind};

fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
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

/// All normals that are drawn are directions.
fn normals_are_sound(app: &App, cloth: Entity) -> bool {
    let normals = float3(drawn(app, cloth), Mesh::ATTRIBUTE_NORMAL);
    normals.iter().all(|normal| normal.is_normalized())
}

#[test]
fn settings_that_contradict_each_other_are_clamped_with_one_line_each() {
    let mut app = app();
    record(&mut app, 29_000);
    app.insert_resource(Substeps(0));
    let cloth = spawn(&mut app, Pins::corners());
    let mut settings = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
    settings.iterations = 1_000_000;
    settings.fabric.warp_stiffness = f32::NAN;
    settings.fabric.areal_density = -1.0;
    run(&mut app, 30);
    let settings = app.world().get::<Cloth>(cloth).unwrap();
    assert_eq!(*app.world().resource::<Substeps>(), Substeps(1));
    assert_eq!(settings.iterations, 100);
    assert_eq!(settings.fabric.warp_stiffness, 1e6);
    assert_eq!(settings.fabric.areal_density, 0.001);
    let log = lines_about(cloth);
    assert_eq!(log.len(), 3, "{log:?}");
    for field in [
        "Cloth::iterations is 1000000",
        "Fabric::warp_stiffness is NaN",
        "Fabric::areal_density is -1",
    ] {
        let told = log.iter().filter(|line| line.contains(field));
        assert_eq!(told.count(), 1, "{field}: {log:?}");
    }
    assert!(log.iter().all(|line| line.starts_with("WARN")), "{log:?}");
    assert!(!lines_with("Substeps is 0, allowed is 1 to 100").is_empty());
    // The masses are those of the density that is used: 1 m², of which the pins hold little.
    let inverse = particles(&app, cloth).inverse_mass.iter();
    let mass: f32 = inverse.filter(|w| **w > 0.0).map(|w| 1.0 / w).sum();
    assert!((0.00097..0.001).contains(&mass), "{mass} kg");
    // Too many substeps, and it goes on.
    app.insert_resource(Substeps(1_234_567));
    run(&mut app, 30);
    assert_eq!(*app.world().resource::<Substeps>(), Substeps(100));
    assert_eq!(lines_with("Substeps is 1234567").len(), 1);
    let centre = centre(&app, cloth);
    assert!(centre.y < 0.0 && centre.y > -0.5, "{centre}");
    assert_eq!(lines_about(cloth).len(), 3);
}

#[test]
fn islands_of_one_mesh_go_their_own_ways() {
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
                let place = positions.iter().position(|&place| place == vertex);
                place.unwrap() as u32
            })
        })
        .collect();
    // A vertex of no triangle, and a triangle on its own.
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
    assert!(normals_are_sound(&app, cloth));
    assert!(lines_about(cloth).is_empty(), "{:?}", lines_about(cloth));
}

/// Sheets of 1 m that share their upper edge, each turned about it a little more.
fn book(pages: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for page in 0..pages {
        let turn = Quat::from_rotation_x(page as f32 * 0.4 - 0.4);
        let base = positions.len() as u32;
        for row in 0..8 {
            for column in 0..8 {
                let place = Vec3::new(column as f32, -(row as f32), 0.0) / 7.0;
                // To the last bit: what is on the edge is the same place on all pages.
                positions.push(if row == 0 { place } else { turn * place });
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
fn pages_that_share_an_edge_hang_together_and_can_be_cut() {
    let mut app = app();
    record(&mut app, 31_000);
    let (positions, triangles) = book(4);
    let count = positions.len();
    let spine = Pins::predicate(|at| at.y > -0.01 && at.z.abs() < 0.01);
    let cloth = cloth_of(&mut app, mesh(positions, triangles), spine);
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
        "the pages hang down to {hangs} m"
    );
    assert!(normals_are_sound(&app, cloth));
    // Across all pages, and along the edge that they share.
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
    assert!(lowest(&app) < -2.0, "what was cut off falls");
    assert!(particles(&app, cloth).is_finite() && normals_are_sound(&app, cloth));
    assert!(lines_about(cloth).is_empty(), "{:?}", lines_about(cloth));
}

#[test]
fn triangles_that_share_one_vertex_hold_by_it() {
    let mut app = app();
    // A bow tie, turned upright.
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
    assert!(normals_are_sound(&app, cloth));
}

#[test]
fn a_strip_with_half_a_twist_is_cloth_too() {
    let mut app = app();
    let (around, across) = (60, 5);
    let mut positions = Vec::new();
    for i in 0..around {
        let angle = i as f32 / around as f32 * std::f32::consts::TAU;
        let out = Quat::from_rotation_y(angle);
        let twist = Quat::from_rotation_z(angle * 0.5);
        for j in 0..across {
            let place = twist * Vec3::Y * (j as f32 - 2.0) * 0.05;
            positions.push(out * (Vec3::X * 0.5 + place));
        }
    }
    let mut triangles = Vec::new();
    for i in 0..around {
        for j in 0..across - 1 {
            let at = |i: u32, j: u32| {
                // Once around, up is down.
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
    let stretch = bevy_drape::solver::measure_stretch(
        particles(&app, cloth),
        app.world().get::<Constraints>(cloth).unwrap(),
    );
    assert!(stretch.max < 0.5, "{stretch:?}");
    assert!(particles(&app, cloth).is_finite());
}

#[test]
fn a_hub_of_many_triangles_has_constraints_in_proportion() {
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
        let constraints = app.world().get::<Constraints>(cloth).unwrap();
        assert_eq!(
            constraints.count(ConstraintKind::Structural),
            2 * spokes as usize
        );
        (constraints.len(), constraints.batch_count())
    };
    let (few, few_batches) = constraints(2_000);
    let (many, many_batches) = constraints(20_000);
    assert_eq!(many, few * 10);
    // What does not fit into batches comes last, in one for each direction.
    assert!(
        many_batches < few_batches + 64,
        "{few_batches}, {many_batches}"
    );
}

#[test]
fn an_edge_of_many_pages_has_constraints_in_proportion() {
    let constraints = |pages: u32| {
        let mut app = app();
        let tips = (0..pages).map(|i| {
            let angle = i as f32 / pages as f32 * std::f32::consts::TAU;
            Vec3::new(angle.cos(), angle.sin(), 0.5) * 50.0
        });
        let positions = [Vec3::ZERO, Vec3::Z * 50.0].into_iter().chain(tips);
        let triangles = (0..pages).map(|i| [0, 1, i + 2]).collect();
        let cloth = cloth_of(
            &mut app,
            mesh(positions.collect(), triangles),
            Pins::index(0),
        );
        run(&mut app, 3);
        assert!(app.world().get::<Particles>(cloth).unwrap().is_finite());
        app.world().get::<Constraints>(cloth).unwrap().len() as u32
    };
    // Two threads for each page, one for the edge, and what resists bending from page to page.
    for pages in [1_000, 10_000] {
        assert_eq!(constraints(pages), 2 * pages + 1 + pages - 1);
    }
}
