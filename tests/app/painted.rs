//! Per-vertex paint: pins, cloth parts, masses, stiffness, maximum distances.

use crate::{
    add_mesh, app, bounds, command, drawn, float3,
    log::{lines_about, record},
    particles, run, sheet,
};
use bevy::{
    mesh::{MeshVertexAttribute, VertexFormat},
    prelude::*,
};
use bevy_drape::{
    character::{ClothMaxDistance, ClothPaint, ClothPart, PerVertex, VertexChannel},
    prelude::*,
};
use std::f32::consts::FRAC_PI_4;

const LOOSE: MeshVertexAttribute =
    MeshVertexAttribute::new("Loose", 0x100_0e5e, VertexFormat::Float32);

/// Returns the sheet of 10 × 10 particles with vertex colours: red in its first row, green in its last three.
fn painted() -> Mesh {
    let mut mesh = Mesh::from(sheet());
    let colours: Vec<[f32; 4]> = (0..100)
        .map(|i| {
            [
                f32::from(u8::from(i < 10)),
                f32::from(u8::from(i >= 70)),
                0.0,
                1.0,
            ]
        })
        .collect();
    mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, colours);
    mesh
}

fn spawn(app: &mut App, mesh: Mesh, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, mesh);
    app.world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh), extra))
        .id()
}

fn pinned(app: &App, cloth: Entity) -> Vec<usize> {
    let particles = particles(app, cloth);
    (0..particles.len())
        .filter(|&i| particles.is_pinned(i))
        .collect()
}

#[test]
fn painted_pins_hold_and_their_colours_are_not_rendered() {
    let mut app = app();
    let by_colour = spawn(&mut app, painted(), Pins::painted(VertexChannel::Red));
    let mut mesh = Mesh::from(sheet());
    let loose: Vec<f32> = (0..100)
        .map(|i| if i % 10 == 0 { 0.9 } else { 0.1 })
        .collect();
    mesh.insert_attribute(LOOSE, loose);
    let by_attribute = VertexChannel::attribute("Loose");
    let by_attribute = spawn(&mut app, mesh, Pins::painted(by_attribute));
    let unpainted = spawn(&mut app, painted(), Pins::none());
    run(&mut app, 30);
    assert_eq!(pinned(&app, by_colour), (0..10).collect::<Vec<_>>());
    assert_eq!(
        pinned(&app, by_attribute),
        (0..100).step_by(10).collect::<Vec<_>>()
    );
    let has_colours = |cloth| drawn(&app, cloth).contains_attribute(Mesh::ATTRIBUTE_COLOR);
    assert!(!has_colours(by_colour) && has_colours(unpainted));
    // The source mesh keeps its colours.
    let source = app
        .world()
        .get::<bevy_drape::cloth::ClothSource>(by_colour)
        .unwrap();
    let meshes = app.world().resource::<Assets<Mesh>>();
    let source = meshes.get(&source.source).unwrap();
    assert!(source.contains_attribute(Mesh::ATTRIBUTE_COLOR));
    // Pins may use another channel at any time.
    *app.world_mut().get_mut::<Pins>(by_colour).unwrap() = Pins::painted(VertexChannel::Green);
    run(&mut app, 1);
    assert_eq!(pinned(&app, by_colour), (70..100).collect::<Vec<_>>());
}

#[test]
fn a_missing_channel_is_reported_by_name() {
    let mut app = app();
    record(&mut app, 7100);
    let cloth = spawn(
        &mut app,
        painted(),
        (
            Pins::painted(VertexChannel::attribute("Pinned")),
            ClothMaxDistance::painted(VertexChannel::joint("Hip"), 0.1),
            ClothPaint {
                mass: PerVertex::painted(VertexChannel::attribute("Heavy"), 2.0),
                ..default()
            },
        ),
    );
    let part = spawn(
        &mut app,
        sheet().into(),
        ClothPart::painted(VertexChannel::Blue),
    );
    run(&mut app, 3);
    let lines = lines_about(cloth);
    let count = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    for channel in ["Pinned", "Hip", "Heavy"] {
        assert_eq!(count(channel), 1, "{channel}: {lines:#?}");
    }
    assert_eq!(count("vertex colours"), 3, "available channels: {lines:#?}");
    assert!(
        particles(&app, cloth).is_finite(),
        "the cloth is simulated without them"
    );
    let lines = lines_about(part);
    assert!(lines.iter().any(|line| line.contains("Blue")), "{lines:#?}");
    assert!(app.world().get::<ClothParticles>(part).is_none());
    // The cloth is built once its part selects triangles.
    app.world_mut()
        .entity_mut(part)
        .insert(ClothPart::predicate(|at| at.x > 0.0));
    run(&mut app, 2);
    assert!(app.world().get::<ClothParticles>(part).is_some());
}

#[test]
fn a_cloth_part_stays_attached_to_the_rest_of_the_mesh() {
    let mut app = app();
    let cloth = spawn(
        &mut app,
        painted(),
        (
            ClothPart::painted(VertexChannel::Green),
            Transform::from_xyz(0.0, 3.0, 0.0),
        ),
    );
    let before = float3(&painted(), Mesh::ATTRIBUTE_POSITION);
    run(&mut app, 60);
    assert_eq!(particles(&app, cloth).len(), 40, "three rows and the seam");
    assert_eq!(pinned(&app, cloth), (0..10).collect::<Vec<_>>());
    let mesh = drawn(&app, cloth);
    let after = float3(mesh, Mesh::ATTRIBUTE_POSITION);
    assert_eq!(after[..60], before[..60], "the rest stays");
    let seam = after[60..70].iter().zip(&before[60..70]);
    assert!(seam.clone().all(|(a, b)| a.distance(*b) < 1e-5));
    assert!(after[95].y < before[95].y - 0.1, "the cloth hangs");
    let aabb = bounds(&app, cloth);
    for position in &after {
        let beyond = (*position - Vec3::from(aabb.center)).abs() - Vec3::from(aabb.half_extents);
        assert!(
            beyond.max_element() < 1e-4,
            "{position} is outside of {aabb:?}"
        );
    }
}

#[test]
fn the_seam_moves_with_the_mesh() {
    let mut app = app();
    let cloth = spawn(
        &mut app,
        painted(),
        ClothPart::painted(VertexChannel::Green),
    );
    run(&mut app, 2);
    app.world_mut()
        .get_mut::<Transform>(cloth)
        .unwrap()
        .translation = Vec3::X;
    // Other pins do not release the seam.
    app.world_mut().entity_mut(cloth).insert(Pins::index(99));
    run(&mut app, 2);
    assert_eq!(pinned(&app, cloth).len(), 11);
    let first = particles(&app, cloth).world_position(0);
    let rest = float3(&painted(), Mesh::ATTRIBUTE_POSITION)[60];
    assert!(first.distance(rest + Vec3::X) < 1e-5, "{first}");
}

#[test]
fn painted_masses_multiply_the_mass() {
    let mut app = app();
    let paint = ClothPaint {
        mass: PerVertex::Painted {
            channel: VertexChannel::Red,
            zero: 1.0,
            one: 4.0,
        },
        ..default()
    };
    let plain = spawn(&mut app, painted(), ());
    let heavy = spawn(&mut app, painted(), paint);
    run(&mut app, 2);
    let masses = |app: &App, cloth| particles(app, cloth).inverse_mass.to_vec();
    let [without, with] = [plain, heavy].map(|cloth| masses(&app, cloth));
    assert_eq!(with[5], without[5] / 4.0);
    assert_eq!(with[50], without[50]);
    // The paint may change, and values out of range are clamped.
    app.world_mut().get_mut::<ClothPaint>(heavy).unwrap().mass = (-3.0).into();
    run(&mut app, 1);
    assert!(
        masses(&app, heavy)
            .iter()
            .all(|w| w.is_finite() && *w > 0.0)
    );
    app.world_mut().entity_mut(heavy).remove::<ClothPaint>();
    run(&mut app, 1);
    assert_eq!(masses(&app, heavy), without);
}

/// Returns the sag of the free end of a strip that overhangs a table edge, m.
fn sag(bending_stiffness: PerVertex) -> f32 {
    let mut app = app();
    let grid = ClothGrid::new(0.12, 0.04, 25, 9);
    let cloth = spawn(
        &mut app,
        grid.into(),
        (
            Pins::predicate(|at| at.x < -0.05),
            ClothPaint {
                bending_stiffness,
                ..default()
            },
        ),
    );
    app.world_mut().get_mut::<Cloth>(cloth).unwrap().fabric = Fabric::denim();
    run(&mut app, 240);
    // A reset keeps the paint.
    app.world_mut().trigger(ResetCloth { entity: cloth });
    run(&mut app, 240);
    -particles(&app, cloth).world_position(24).y
}

#[test]
fn painted_stiffness_holds_cloth_up() {
    let plain = sag(PerVertex::default());
    let stiff = sag(20.0.into());
    assert!(plain > 0.02, "{plain}");
    assert!(stiff < 0.5 * plain, "{stiff} m instead of {plain} m");
}

#[test]
fn particles_stay_within_their_maximum_distance() {
    let mut app = app();
    let max_distance = ClothMaxDistance::everywhere(0.1);
    let cloth = spawn(
        &mut app,
        painted(),
        (max_distance, Transform::from_xyz(0.0, 2.0, 0.0)),
    );
    let painted_cloth = spawn(
        &mut app,
        painted(),
        ClothMaxDistance {
            distance: PerVertex::Painted {
                channel: VertexChannel::Red,
                zero: 0.3,
                one: 0.0,
            },
            backstop: None,
        },
    );
    let rest = float3(&painted(), Mesh::ATTRIBUTE_POSITION);
    let farthest = |app: &App, cloth, offset: Vec3| {
        let particles = particles(app, cloth);
        let distance = |i: usize| particles.world_position(i).distance(rest[i] + offset);
        (0..100).map(distance).fold(0.0, f32::max)
    };
    run(&mut app, 60);
    let far = farthest(&app, cloth, Vec3::Y * 2.0);
    assert!((0.0999..0.1001).contains(&far), "{far}");
    assert_eq!(pinned(&app, painted_cloth), (0..10).collect::<Vec<_>>());
    assert!(farthest(&app, painted_cloth, Vec3::ZERO) < 0.3001);
    // The cloth follows its entity, and is free once the component is removed.
    app.world_mut()
        .get_mut::<Transform>(cloth)
        .unwrap()
        .translation
        .x = 5.0;
    run(&mut app, 2);
    assert!(farthest(&app, cloth, Vec3::new(5.0, 2.0, 0.0)) < 0.1001);
    app.world_mut()
        .entity_mut(cloth)
        .remove::<ClothMaxDistance>();
    run(&mut app, 60);
    assert!(farthest(&app, cloth, Vec3::new(5.0, 2.0, 0.0)) > 1.0);
}

#[test]
fn a_backstop_keeps_cloth_in_front_of_it() {
    let mut app = app();
    // The normals of the horizontal cloth point up: particles may fall by 2 cm.
    let max_distance = ClothMaxDistance::everywhere(1.0).with_backstop(0.02, 10.0);
    let cloth = spawn(&mut app, painted(), max_distance);
    run(&mut app, 60);
    let particles = particles(&app, cloth);
    let lowest = (0..100)
        .map(|i| particles.world_position(i).y)
        .fold(0.0, f32::min);
    assert!((-0.025..-0.0199).contains(&lowest), "{lowest}");
}

#[test]
fn a_backstop_faces_the_right_way_under_scaling_and_mirroring() {
    for depth in [4.0, -4.0] {
        let mut app = app();
        let max_distance = ClothMaxDistance::everywhere(1.0).with_backstop(0.02, 100.0);
        // The scale makes the slope of 45° less steep; the cloth slides down on it by 1 m.
        let slope = Quat::from_rotation_x(FRAC_PI_4);
        let mesh = painted().rotated_by(slope);
        let transform = Transform::from_scale(Vec3::new(1.0, 1.0, depth));
        let rest = float3(&mesh, Mesh::ATTRIBUTE_POSITION);
        let cloth = spawn(&mut app, mesh, (max_distance, transform));
        run(&mut app, 120);
        let front = slope * Vec3::Y / transform.scale;
        let particles = particles(&app, cloth);
        let displacements =
            (0..100).map(|i| particles.world_position(i) - rest[i] * transform.scale);
        let (mut deepest, mut farthest) = (0.0f32, 0.0f32);
        for displacement in displacements {
            deepest = deepest.min(displacement.dot(front.normalize()));
            farthest = farthest.max(displacement.length());
        }
        assert!((-0.03..-0.019).contains(&deepest), "{deepest} at {depth}");
        assert!(farthest > 0.9, "{farthest} at {depth}");
    }
}

#[test]
fn torn_cloth_keeps_its_maximum_distances() {
    let mut app = app();
    let cloth = spawn(&mut app, painted(), ClothMaxDistance::everywhere(0.2));
    run(&mut app, 5);
    let across = [Vec3::new(-0.6, 0.5, 0.03), Vec3::new(0.6, 0.5, 0.03)];
    command(&mut app, cloth, |cloth| {
        cloth.cut_segment(across[0], across[1], Vec3::NEG_Y);
    });
    run(&mut app, 60);
    let particles = particles(&app, cloth);
    assert!(particles.len() > 100, "the cut splits particles");
    let far = (0..100)
        .map(|i| particles.world_position(i).y)
        .fold(0.0, f32::min);
    assert!(far > -0.2001, "{far}");
    assert!(particles.is_finite());
}
