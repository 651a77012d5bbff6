//! Positions and colours of the debug lines.

use crate::{add_mesh, headless::headless_app, particles, positions, run, sheet, spawn};
use bevy::{
    color::palettes::css::AQUA,
    gizmos::{GizmoAsset, GizmoHandles, GizmoPlugin},
    prelude::*,
};
#[cfg(feature = "debug")]
use bevy_drape::debug::{ClothGizmoGroup, ClothGizmos};
use bevy_drape::{
    character::{Backstop, ClothMaxDistance},
    cloth::ClothConstraints,
    pins::ClothCorner,
    prelude::*,
};
use std::any::TypeId;

fn app_with(show: ClothGizmos) -> App {
    let mut app = headless_app((GizmoPlugin, ClothPlugin::default(), ClothDebugPlugin));
    app.insert_resource(show);
    app
}

/// Pauses, so that the lines show the state after the last step.
fn pause(app: &mut App) {
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    run(app, 2);
}

/// Returns all lines drawn in the last frame, and their colours.
fn lines(app: &App) -> Vec<([Vec3; 2], LinearRgba)> {
    let handles = app.world().resource::<GizmoHandles>().handles();
    let Some(handle) = handles.get(&TypeId::of::<ClothGizmoGroup>()).unwrap() else {
        return Vec::new();
    };
    let assets = app.world().resource::<Assets<GizmoAsset>>();
    let buffer = assets.get(handle).unwrap().buffer().buffer();
    let pairs = buffer
        .list_positions
        .chunks(2)
        .zip(buffer.list_colors.chunks(2));
    let single = pairs.map(|(at, colour)| ([at[0], at[1]], colour[0]));
    // Strips are separated by NaN.
    let strips = buffer.strip_positions.windows(2).zip(buffer.strip_colors);
    let strips = strips.map(|(at, colour)| ([at[0], at[1]], *colour));
    let strips = strips.filter(|(at, _)| at.iter().all(|at| at.is_finite()));
    single.chain(strips).collect()
}

#[test]
fn nothing_is_drawn_by_default() {
    let mut app = app_with(ClothGizmos::default());
    let cloth = (Pins::corners(), ClothMaxDistance::everywhere(0.2));
    spawn(&mut app, cloth);
    app.world_mut().spawn(ClothCollider::sphere(1.0));
    app.world_mut().spawn(WindZone::default());
    run(&mut app, 10);
    assert!(lines(&app).is_empty());
}

#[test]
fn edges_are_drawn_between_their_particles_in_the_colour_of_their_strain() {
    let mut app = app_with(ClothGizmos {
        structural: true,
        ..default()
    });
    let cloth = spawn(&mut app, ());
    run(&mut app, 2);
    pause(&mut app);
    let drawn = lines(&app);
    // 10 rows and 10 columns with 9 edges each.
    assert_eq!(drawn.len(), 180);
    let at = positions(&app, cloth);
    for (ends, colour) in &drawn {
        for end in ends {
            assert!(at.iter().any(|at| at.distance(*end) < 1e-5), "{end}");
        }
        let [r, g, b] = [colour.red, colour.green, colour.blue];
        assert!(r > 0.98 && g > 0.98 && b > 0.98, "at rest: {colour:?}");
    }
    let scale_rest_lengths = |app: &mut App, factor: f32| {
        let mut constraints = app.world_mut().get_mut::<ClothConstraints>(cloth).unwrap();
        constraints
            .rest_lengths_mut()
            .for_each(|rest| *rest *= factor);
    };
    // Strains of about +10 % and −10 %, by other rest lengths.
    for (factor, full) in [(0.9, [1.0, 0.0, 0.0]), (1.1, [0.0, 0.0, 1.0])] {
        scale_rest_lengths(&mut app, factor);
        run(&mut app, 1);
        for (_, colour) in lines(&app) {
            assert_eq!([colour.red, colour.green, colour.blue], full);
        }
        scale_rest_lengths(&mut app, 1.0 / factor);
    }
}

#[test]
fn pins_are_drawn_as_crosses() {
    let mut app = app_with(ClothGizmos {
        pins: true,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 20);
    pause(&mut app);
    let drawn = lines(&app);
    assert_eq!(drawn.len(), 4 * 3, "three lines each");
    let at = positions(&app, cloth);
    for ([a, b], _) in drawn {
        let middle = a.midpoint(b);
        let pinned = (0..100).filter(|&i| particles(&app, cloth).is_pinned(i));
        assert!(pinned.into_iter().any(|i| at[i].distance(middle) < 1e-5));
    }
}

#[test]
fn tethers_are_drawn_to_their_pins() {
    let mut app = app_with(ClothGizmos {
        tethers: true,
        ..default()
    });
    let cloth = spawn(&mut app, Pins::edge(ClothEdge::Top));
    // The cloth hangs: particles straight below their pin are held by their tether.
    run(&mut app, 400);
    pause(&mut app);
    let at = positions(&app, cloth);
    let p = particles(&app, cloth);
    let particle_at = |end: Vec3| (0..100).find(|&i| at[i].distance(end) < 1e-5);
    let drawn = lines(&app);
    // At least one per free particle.
    assert!(drawn.len() >= 90, "{}", drawn.len());
    for ([from, to], _) in &drawn {
        let [from, to] = [from, to].map(|&end| particle_at(end).expect("a particle"));
        assert!(!p.is_pinned(from) && p.is_pinned(to));
    }
    let orange = |colour: &LinearRgba| colour.red > 0.9;
    assert!(
        drawn.iter().any(|(_, colour)| orange(colour)),
        "no tether is taut"
    );
    // With tethers off, none is drawn.
    app.world_mut().resource_mut::<ClothTime>().paused = false;
    app.world_mut()
        .get_mut::<Cloth>(cloth)
        .unwrap()
        .tether_scale = None;
    run(&mut app, 5);
    assert!(lines(&app).is_empty());
}

#[test]
fn normals_are_drawn_on_the_cloth() {
    let mut app = app_with(ClothGizmos {
        normals: true,
        ..default()
    });
    let transform = Transform::from_xyz(1000.0, 2.0, 0.0).with_rotation(Quat::from_rotation_z(0.5));
    let cloth = spawn(&mut app, transform);
    let rope = (Rope::default(), Pins::ends());
    app.world_mut().spawn(rope);
    run(&mut app, 1);
    pause(&mut app);
    let drawn = lines(&app);
    assert_eq!(drawn.len(), 100, "a rope has none");
    let up = transform.rotation * Vec3::Y;
    for (([from, to], _), at) in drawn.into_iter().zip(positions(&app, cloth)) {
        assert!(from.distance(at) < 1e-3);
        let along = (to - from) / 0.03;
        assert!(along.distance(up) < 0.02, "{along}");
    }
}

#[test]
fn max_distances_are_spheres_around_target_positions() {
    let mut app = app_with(ClothGizmos {
        max_distance: true,
        ..default()
    });
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 4, 4));
    let max_distance = ClothMaxDistance {
        backstop: Some(Backstop {
            distance: 0.05.into(),
            radius: 1.0,
        }),
        ..ClothMaxDistance::everywhere(0.2)
    };
    let cloth = (Cloth::default(), Mesh3d(mesh), max_distance);
    app.world_mut().spawn(cloth);
    run(&mut app, 30);
    let drawn = lines(&app);
    assert!(!drawn.is_empty());
    // Target positions are the vertices of the flat cloth at its transform: a grid with a spacing of 1/3 m.
    let third = |at: f32| ((at + 0.5) * 3.0).round() / 3.0 - 0.5;
    let mut sphere_ends = 0;
    for ([a, b], colour) in &drawn {
        for end in [a, b] {
            let target = Vec3::new(third(end.x), 0.0, third(end.z));
            if colour.red > colour.blue {
                // A ring of 2 cm on the surface of the backstop, or the line to this surface.
                assert!((-0.0501..=1e-5).contains(&end.y), "{end}");
                assert!(end.distance(target) < 0.06, "{end}");
            } else {
                sphere_ends += 1;
                let near = |x: i32, z: i32| {
                    let target =
                        Vec3::new(x as f32, 0.0, z as f32) / 3.0 - Vec3::new(0.5, 0.0, 0.5);
                    (target.distance(*end) - 0.2).abs() < 1e-4
                };
                assert!((0..16).any(|i| near(i % 4, i / 4)), "{end}");
            }
        }
    }
    assert!(sphere_ends > 16 * 3 * 16, "{sphere_ends}");
}

#[test]
fn large_cloths_show_a_subset_of_max_distances_and_tethers() {
    let mut app = app_with(ClothGizmos {
        max_distance: true,
        tethers: true,
        ..default()
    });
    let mesh = add_mesh(&mut app, ClothGrid::new(1.0, 1.0, 60, 60));
    let pins = Pins::corner(ClothCorner::TopLeft);
    let max_distance = ClothMaxDistance::everywhere(0.2);
    let cloth = (Cloth::default(), Mesh3d(mesh), pins, max_distance);
    app.world_mut().spawn(cloth);
    run(&mut app, 5);
    let drawn = lines(&app).len();
    assert!((1..80 * 3 * 20 + 400).contains(&drawn), "{drawn}");
}

#[test]
fn contacts_and_colliders_are_drawn_where_they_touch() {
    let mut app = app_with(ClothGizmos {
        contacts: true,
        ..default()
    });
    let mesh = add_mesh(&mut app, sheet());
    let cloth = (
        Cloth::default(),
        Mesh3d(mesh),
        Transform::from_xyz(0.0, 0.05, 0.0),
    );
    app.world_mut().spawn(cloth);
    app.world_mut().spawn(ClothCollider::half_space());
    run(&mut app, 120);
    let drawn = lines(&app);
    assert!(
        drawn.len() > 50 * 3,
        "the cloth lies on the floor: {}",
        drawn.len()
    );
    assert!(
        drawn
            .iter()
            .all(|([a, b], _)| a.midpoint(*b).y.abs() < 1e-4)
    );
    app.insert_resource(ClothGizmos {
        colliders: true,
        ..default()
    });
    let ball = (
        ClothCollider::sphere(0.3),
        Transform::from_xyz(0.0, 3.0, 0.0),
    );
    app.world_mut().spawn(ball);
    run(&mut app, 2);
    let drawn = lines(&app);
    let on_ball = |at: &Vec3| (at.distance(Vec3::Y * 3.0) - 0.3).abs() < 1e-4;
    let high = drawn
        .iter()
        .flat_map(|(ends, _)| ends)
        .filter(|at| at.y > 1.0);
    let (count, on) = high.fold((0, 0), |(n, on), at| (n + 1, on + i32::from(on_ball(at))));
    assert!(count > 60 && count == on, "{on} of {count}");
}

#[test]
fn contacts_of_a_cloth_with_itself_are_drawn_between_its_layers() {
    let mut app = app_with(ClothGizmos {
        contacts: true,
        ..default()
    });
    app.world_mut().spawn(ClothCollider::half_space());
    // A strip that falls edge first, and so onto itself.
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.5, 1.5, 12, 34));
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    let transform = Transform::from_xyz(0.0, 0.9, 0.0).with_rotation(Quat::from_rotation_x(0.1));
    let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh), transform)).id();
    let crosses = |app: &App| -> Vec<Vec3> {
        let own = lines(app)
            .into_iter()
            .filter(|(_, colour)| *colour == LinearRgba::from(AQUA));
        own.map(|([a, b], _)| a.midpoint(b)).collect()
    };
    run(&mut app, 10);
    assert!(crosses(&app).is_empty(), "the strip is still straight");
    run(&mut app, 80);
    pause(&mut app);
    let drawn = crosses(&app);
    assert!(!drawn.is_empty());
    // Each cross is about half a cell from two particles.
    let positions = positions(&app, cloth);
    let cell = 0.5 / 11.0;
    for cross in &drawn {
        let near = |at: &&Vec3| at.distance(*cross) < 0.65 * cell;
        assert!(positions.iter().filter(near).count() >= 2, "{cross}");
    }
    let cloth = app.world_mut().get_mut::<Cloth>(cloth);
    cloth.unwrap().self_collision = SelfCollision::Off;
    run(&mut app, 1);
    assert!(crosses(&app).is_empty());
}

#[test]
fn wind_zones_have_arrows_along_the_wind() {
    let mut app = app_with(ClothGizmos {
        wind_zones: true,
        ..default()
    });
    let zone = WindZone::cuboid(1.0, 1.0, 1.0).with_strength(8.0);
    app.world_mut()
        .spawn((zone, Transform::from_xyz(5.0, 0.0, 0.0)));
    run(&mut app, 3);
    let drawn = lines(&app);
    let along = |([a, b], _): &&([Vec3; 2], LinearRgba)| {
        let direction = *b - *a;
        direction.z < -0.05 && direction.x.abs() < 1e-4 && direction.y.abs() < 1e-4
    };
    assert!(drawn.iter().filter(along).count() >= 27);
}
