//! Cloth that is built, reset or restored from culling at four frames per second: transforms that change once per
//! frame are read up to a frame late, but cloth and everything attached to it must use the same ones.

use crate::{add_mesh, app, particles, run, worst_stretch};
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_drape::{
    character::ClothInertia,
    cloth::ClothWarmUp,
    lod::{ClothCulled, ClothLod, ClothViewer},
    prelude::*,
};

/// Spawns a character that walks at 1.3 m/s, 0.33 m per frame.
fn spawn_character(app: &mut App) -> Entity {
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(15));
    let character = app.world_mut().spawn(Transform::default()).id();
    app.add_systems(
        Update,
        move |mut all: Query<&mut Transform>, time: Res<Time>| {
            if let Ok(mut transform) = all.get_mut(character) {
                transform.translation.x += 1.3 * time.delta_secs();
            }
        },
    );
    character
}

/// Adds a body collider, as a child of the character.
fn add_body(app: &mut App, character: Entity) {
    let body = (ClothCollider::capsule(0.2, 0.9), Transform::default());
    app.world_mut().spawn((body, ChildOf(character)));
}

/// Returns a transform on the back of a character that faces +x.
fn behind() -> Transform {
    Transform::from_xyz(-0.23, 0.08, 0.0).with_rotation(Quat::from_rotation_y(-1.57))
}

/// Spawns a cape.
fn cape(app: &mut App, transform: Transform, pins: Pins, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(0.62, 0.95, 16, 24));
    let cloth = (Cloth::default(), Mesh3d(mesh), transform, pins, extra);
    app.world_mut().spawn(cloth).id()
}

fn top() -> Pins {
    Pins::edge(ClothEdge::Top)
}

#[test]
fn a_culled_cape_returns_without_stretching() {
    let mut app = app();
    let character = spawn_character(&mut app);
    add_body(&mut app, character);
    app.world_mut()
        .spawn((ClothViewer, Transform::from_xyz(0.0, 0.0, 5.0)));
    let attached = (ClothInertia::default(), ChildOf(character));
    let cloth = cape(&mut app, behind(), top(), attached);
    let is_culled = |app: &App| app.world().get::<ClothCulled>(cloth).is_some();
    run(&mut app, 8);
    for _ in 0..3 {
        app.insert_resource(ClothLod {
            cull_beyond: 0.0,
            ..default()
        });
        run(&mut app, 6);
        assert!(is_culled(&app));
        app.insert_resource(ClothLod::default());
        for _ in 0..4 {
            run(&mut app, 1);
            let stretch = worst_stretch(&app, cloth);
            assert!(stretch < 0.1, "{stretch}");
        }
        assert!(!is_culled(&app));
    }
}

#[test]
fn a_cape_added_late_begins_on_its_character() {
    // The body collider is on the character itself, or on a child beside the cape.
    for own in [true, false] {
        let mut app = app();
        let character = spawn_character(&mut app);
        match own {
            true => {
                let body = ClothCollider::capsule(0.2, 0.9);
                app.world_mut().entity_mut(character).insert(body);
            }
            false => add_body(&mut app, character),
        }
        // The character walks before the capes are added.
        run(&mut app, 5);
        let start = *app.world().get::<Transform>(character).unwrap() * behind();
        let motion = ClothInertia::default();
        let capes = [
            cape(&mut app, behind(), top(), ChildOf(character)),
            cape(
                &mut app,
                behind(),
                top(),
                (motion.clone(), ChildOf(character)),
            ),
            cape(
                &mut app,
                behind(),
                top(),
                (motion, ClothWarmUp(30), ChildOf(character)),
            ),
        ];
        for frame in 0..8 {
            if frame == 5 {
                app.world_mut().trigger(ResetCloth { entity: capes[1] });
            }
            run(&mut app, 1);
            for (kind, &cape) in capes.iter().enumerate() {
                let stretch = worst_stretch(&app, cape);
                let case = format!("own {own}, cape {kind}, frame {frame}");
                assert!(stretch < 0.1, "{case}: {stretch}");
                // All capes hang at the same position.
                let collar = |cape| particles(&app, cape).world_position(0);
                let distance = collar(cape).distance(collar(capes[0]));
                assert!(distance < 1e-3, "{case}: {distance}");
            }
        }
        assert!(particles(&app, capes[0]).world_position(0).x > start.translation.x);
    }
}

#[test]
fn a_cape_pinned_to_another_entity_begins_at_its_current_transform() {
    let mut app = app();
    let character = spawn_character(&mut app);
    add_body(&mut app, character);
    run(&mut app, 5);
    // The cape is built at the end of the next frame: this is where the character will be.
    let mut transform = *app.world().get::<Transform>(character).unwrap() * behind();
    transform.translation.x += 1.3 * 15.0 / 60.0;
    let cloth = cape(&mut app, transform, top().to_entity(character), ());
    for frame in 0..8 {
        run(&mut app, 1);
        if frame == 0 {
            let collar = particles(&app, cloth).world_position(0).x;
            let character = app.world().get::<Transform>(character).unwrap();
            let behind = character.translation.x - collar;
            assert!((behind - 0.23).abs() < 1e-3, "{behind}");
        }
        let stretch = worst_stretch(&app, cloth);
        assert!(stretch < 0.1, "frame {frame}: {stretch}");
    }
}

#[test]
fn cloth_pinned_to_the_world_stays_there() {
    let mut app = app();
    let character = spawn_character(&mut app);
    run(&mut app, 5);
    let cloth = cape(&mut app, behind(), top().to_world(), ChildOf(character));
    run(&mut app, 1);
    let start = particles(&app, cloth).world_position(0);
    for frame in 0..8 {
        run(&mut app, 1);
        assert_eq!(particles(&app, cloth).world_position(0), start);
        let stretch = worst_stretch(&app, cloth);
        assert!(stretch < 0.02, "frame {frame}: {stretch}");
    }
}
