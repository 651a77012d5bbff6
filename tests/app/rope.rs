//! Ropes: building, pins, collisions, changes, reset and removal.

use crate::{add_mesh, app, bounds, drawn, float3, particles, run, sheet};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothBuildFailed, ClothConstraints, ClothSource},
    prelude::*,
    solver::ConstraintKind,
};

/// Returns a rope of 21 particles from the origin to 2 m along x.
pub(crate) fn line() -> Rope {
    Rope::between(Vec3::ZERO, Vec3::X * 2.0, 21)
}

pub(crate) fn spawn_rope(app: &mut App, rope: Rope, extra: impl Bundle) -> Entity {
    app.world_mut().spawn((rope, extra)).id()
}

pub(crate) fn position(app: &App, rope: Entity, i: usize) -> Vec3 {
    particles(app, rope).world_position(i)
}

fn edit(app: &mut App, rope: Entity, change: impl FnOnce(&mut Rope)) {
    change(&mut app.world_mut().get_mut::<Rope>(rope).unwrap());
}

fn assert_at(app: &App, rope: Entity, i: usize, expected: Vec3) {
    let actual = position(app, rope, i);
    assert!(
        actual.distance(expected) < 1e-4,
        "particle {i} is at {actual}, not at {expected}"
    );
}

#[derive(Resource, Default)]
struct Ready(Vec<Entity>);

fn count_ready(app: &mut App) {
    app.init_resource::<Ready>()
        .add_observer(|event: On<ClothReady>, mut ready: ResMut<Ready>| ready.0.push(event.entity));
}

#[test]
fn a_rope_is_built_without_a_mesh_and_falls() {
    let mut app = app();
    count_ready(&mut app);
    let rope = spawn_rope(&mut app, line(), Transform::from_xyz(0.0, 5.0, 0.0));
    run(&mut app, 1);
    assert_eq!(app.world().resource::<Ready>().0, [rope]);
    assert_eq!(particles(&app, rope).len(), 21);
    let constraints = app.world().get::<ClothConstraints>(rope).unwrap();
    assert_eq!(constraints.count(ConstraintKind::Structural), 20);
    assert_eq!(constraints.count(ConstraintKind::Bend), 19);
    // Areal density 0.2 kg/m², lateral surface π · 0.03 m · 2 m.
    let mass: f32 = particles(&app, rope)
        .inverse_mass
        .iter()
        .map(|w| 1.0 / w)
        .sum();
    assert!((mass - 0.2 * std::f32::consts::PI * 0.06).abs() < 1e-5);
    let mesh = drawn(&app, rope);
    let attributes = [
        Mesh::ATTRIBUTE_POSITION,
        Mesh::ATTRIBUTE_NORMAL,
        Mesh::ATTRIBUTE_TANGENT,
        Mesh::ATTRIBUTE_UV_0,
    ];
    assert!(attributes.iter().all(|&a| mesh.contains_attribute(a)));
    run(&mut app, 60);
    let fallen = 5.0 - position(&app, rope, 10).y;
    assert!(fallen > 1.0 && fallen < 4.905, "{fallen} m");
    assert_eq!(app.world().resource::<Ready>().0.len(), 1);
}

#[test]
fn the_rendered_tube_and_its_bounding_box_enclose_the_particles() {
    let mut app = app();
    let transform = Transform::from_xyz(3.0, 2.0, 1.0)
        .with_rotation(Quat::from_rotation_y(1.0))
        .with_scale(Vec3::splat(2.0));
    let rope = spawn_rope(&mut app, line(), (transform, Pins::ends()));
    run(&mut app, 1);
    app.world_mut().resource_mut::<ClothTime>().paused = true;
    app.world_mut().resource_mut::<ClothTime>().requested_steps = 50;
    run(&mut app, 60);
    // The scale applies to the length and to the thickness.
    assert_at(&app, rope, 20, transform.transform_point(Vec3::X * 2.0));
    let positions = float3(drawn(&app, rope), Mesh::ATTRIBUTE_POSITION);
    for i in 0..21 {
        let particle = position(&app, rope, i);
        let nearest = positions
            .iter()
            .map(|&p| transform.transform_point(p).distance(particle))
            .fold(f32::INFINITY, f32::min);
        assert!((nearest - 0.03).abs() < 1e-3, "particle {i}: {nearest} m");
    }
    let bounds = bounds(&app, rope);
    let (low, high) = (Vec3::from(bounds.min()), Vec3::from(bounds.max()));
    assert!(
        positions
            .iter()
            .all(|p| p.cmpge(low - 1e-6).all() && p.cmple(high + 1e-6).all())
    );
    assert!(bounds.half_extents.z > 0.014 && bounds.half_extents.z < 0.016);
}

#[test]
fn ropes_can_be_pinned_by_index_at_their_ends_and_to_entities() {
    let mut app = app();
    let anchor = app
        .world_mut()
        .spawn(Transform::from_xyz(5.0, 0.0, 0.0))
        .id();
    let middle = spawn_rope(&mut app, line(), Pins::index(10));
    let ends = spawn_rope(&mut app, line(), Pins::ends().to_world());
    let pulled = spawn_rope(&mut app, line(), Pins::index(0).to_entity(anchor));
    run(&mut app, 60);
    assert_at(&app, middle, 10, Vec3::X);
    assert!(position(&app, middle, 0).y < -0.5 && position(&app, middle, 20).y < -0.5);
    assert_at(&app, ends, 0, Vec3::ZERO);
    assert_at(&app, ends, 20, Vec3::X * 2.0);
    for step in 1..=120 {
        let mut transform = app.world_mut().get_mut::<Transform>(anchor).unwrap();
        transform.translation.x = 5.0 + step as f32 * 0.02;
        app.update();
    }
    assert_at(&app, pulled, 0, Vec3::X * 2.4);
    // The whole rope has followed its pinned end.
    assert!((0..21).all(|i| position(&app, pulled, i).x > 1.0));
}

#[test]
fn a_rope_keeps_its_radius_and_the_fabric_thickness_from_a_sphere() {
    let mut app = app();
    app.world_mut()
        .spawn(ClothCollider::sphere(0.3).with_friction(1.0, 1.0));
    let rope = spawn_rope(
        &mut app,
        line().with_thickness(0.08),
        Transform::from_xyz(-1.0, 0.5, 0.0),
    );
    let mut touched = false;
    for _ in 0..120 {
        app.update();
        for i in 0..21 {
            let distance = position(&app, rope, i).length();
            assert!(
                distance > 0.3 + 0.04 + 0.01 - 1e-5,
                "particle {i}: {distance}"
            );
            touched |= distance < 0.3501;
        }
    }
    assert!(touched);
    // The rendered tube does not touch the sphere either; 1 cm is left for its straight pieces.
    let transform = Transform::from_xyz(-1.0, 0.5, 0.0);
    for position in float3(drawn(&app, rope), Mesh::ATTRIBUTE_POSITION) {
        let distance = transform.transform_point(position).length();
        assert!(distance > 0.3, "{distance}");
    }
}

#[test]
fn a_changed_rope_is_rebuilt_and_an_equal_one_is_not() {
    let mut app = app();
    count_ready(&mut app);
    let rope = spawn_rope(&mut app, line(), Pins::index(0));
    run(&mut app, 30);
    let own = app.world().get::<Mesh3d>(rope).unwrap().id();
    // An equal value is written, as an editor does.
    edit(&mut app, rope, |rope| *rope = rope.clone());
    run(&mut app, 2);
    assert_eq!(app.world().resource::<Ready>().0.len(), 1);
    assert!(position(&app, rope, 20).y < -0.1);
    edit(&mut app, rope, |rope| {
        rope.particles = 11;
        rope.thickness = 0.1;
    });
    run(&mut app, 1);
    assert_eq!(app.world().resource::<Ready>().0.len(), 2);
    assert_eq!(particles(&app, rope).len(), 11);
    run(&mut app, 1);
    // The mesh of the old tube is removed.
    assert!(app.world().resource::<Assets<Mesh>>().get(own).is_none());
    assert!((bounds(&app, rope).half_extents.z - 0.05).abs() < 1e-3);
    run(&mut app, 60);
    assert_at(&app, rope, 0, Vec3::ZERO);
    assert_eq!(app.world().resource::<Ready>().0.len(), 2);
}

#[test]
fn nothing_is_left_when_rope_or_cloth_is_removed() {
    let mut app = app();
    let ropes = [(); 2].map(|()| spawn_rope(&mut app, line(), ()));
    run(&mut app, 3);
    let meshes = ropes.map(|rope| app.world().get::<Mesh3d>(rope).unwrap().id());
    app.world_mut().entity_mut(ropes[0]).remove::<Rope>();
    app.world_mut().entity_mut(ropes[1]).remove::<Cloth>();
    run(&mut app, 3);
    for (rope, mesh) in ropes.into_iter().zip(meshes) {
        let entity = app.world().entity(rope);
        assert!(!entity.contains::<ClothParticles>() && !entity.contains::<ClothConstraints>());
        assert!(!entity.contains::<Mesh3d>() && !entity.contains::<ClothSource>());
        assert!(app.world().resource::<Assets<Mesh>>().get(mesh).is_none());
    }
    // The components are inserted again.
    app.world_mut().entity_mut(ropes[0]).insert(line());
    app.world_mut()
        .entity_mut(ropes[1])
        .insert(Cloth::default());
    run(&mut app, 2);
    for rope in ropes {
        assert_eq!(particles(&app, rope).len(), 21);
    }
    app.world_mut().despawn(ropes[0]);
    run(&mut app, 2);
}

#[test]
fn a_sheet_that_became_a_rope_gets_its_mesh_back() {
    let mut app = app();
    let mesh = add_mesh(&mut app, sheet());
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Mesh3d(mesh.clone())))
        .id();
    run(&mut app, 3);
    app.world_mut().entity_mut(cloth).insert(line());
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 21);
    edit(&mut app, cloth, |rope| rope.particles = 7);
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 7);
    app.world_mut().entity_mut(cloth).remove::<Rope>();
    run(&mut app, 3);
    assert_eq!(particles(&app, cloth).len(), 100);
    let source = &app.world().get::<ClothSource>(cloth).unwrap().source;
    assert_eq!(*source, mesh);
}

#[test]
fn reset_lays_a_rope_out_at_the_current_transform() {
    let mut app = app();
    let slack = Rope {
        length: Some(2.5),
        ..line()
    };
    let rope = spawn_rope(&mut app, slack, Pins::index(0));
    run(&mut app, 1);
    let start = position(&app, rope, 10);
    run(&mut app, 60);
    let mut transform = app.world_mut().get_mut::<Transform>(rope).unwrap();
    *transform = Transform::from_xyz(10.0, 20.0, 30.0).with_scale(Vec3::splat(2.0));
    app.world_mut().trigger(ResetCloth { entity: rope });
    let transformed = |p: Vec3| Vec3::new(10.0, 20.0, 30.0) + p * 2.0;
    assert_at(&app, rope, 0, transformed(Vec3::ZERO));
    assert_at(&app, rope, 10, transformed(start));
    assert_at(&app, rope, 20, transformed(Vec3::X * 2.0));
    assert_eq!(particles(&app, rope).velocity(10), Vec3::ZERO);
    let constraints = app.world().get::<ClothConstraints>(rope).unwrap();
    let segments = constraints.of_kind(ConstraintKind::Structural);
    let length: f32 = segments.map(|(_, rest)| rest).sum();
    assert!((length - 5.0).abs() < 1e-4, "{length} m");
    run(&mut app, 60);
    assert_at(&app, rope, 0, transformed(Vec3::ZERO));
}

#[test]
fn a_cloned_rope_starts_from_its_rest_shape_with_its_own_tube() {
    let mut app = app();
    let rope = spawn_rope(&mut app, line(), Pins::index(0));
    run(&mut app, 60);
    let clone = app.world_mut().entity_mut(rope).clone_and_spawn();
    run(&mut app, 1);
    assert_at(&app, clone, 20, Vec3::X * 2.0);
    assert!(position(&app, rope, 20).y < -0.5);
    let own = |e| app.world().get::<Mesh3d>(e).unwrap().id();
    assert_ne!(own(clone), own(rope), "both write to the same mesh");
    app.world_mut().entity_mut(clone).remove::<Rope>();
    run(&mut app, 2);
    assert!(app.world().get::<Mesh3d>(clone).is_none());
    assert!(app.world().get::<Mesh3d>(rope).is_some());
}

#[test]
fn many_ropes_with_pins_in_between_stay_finite() {
    let mut app = app();
    let ropes: Vec<Entity> = (0..20)
        .map(|i| {
            let rope = Rope::new(
                [Vec3::ZERO, Vec3::new(1.0, -0.5, 0.0), Vec3::X * 2.0],
                10 + i,
            );
            spawn_rope(&mut app, rope, Pins::ends().and(Pins::index(5)))
        })
        .collect();
    run(&mut app, 120);
    for rope in ropes {
        assert!(particles(&app, rope).is_finite());
        let pinned = particles(&app, rope).inverse_mass.iter();
        assert_eq!(pinned.filter(|w| **w == 0.0).count(), 3);
        assert!(app.world().get::<ClothBuildFailed>(rope).is_none());
    }
}
