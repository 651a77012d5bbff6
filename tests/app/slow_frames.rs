//! Cloth that is built, reset or comes back at four frames a second: what moves in frames is seen up to a frame
//! late, and all that belongs together must be seen in the same place.

use crate::{add_mesh, app, particles, run};
use bevy::{prelude::*, time::TimeUpdateStrategy};
use bevy_drape::{ClothCulled, ClothLod, Constraints, prelude::*, solver::measure_stretch};

/// Somebody who goes at 1.3 m/s, a third of a metre in each frame.
fn marching(app: &mut App) -> Entity {
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(15));
    let wearer = app.world_mut().spawn(Transform::default()).id();
    app.add_systems(
        Update,
        move |mut all: Query<&mut Transform>, time: Res<Time>| {
            if let Ok(mut place) = all.get_mut(wearer) {
                place.translation.x += 1.3 * time.delta_secs();
            }
        },
    );
    wearer
}

/// The body of somebody, as an entity of its own.
fn give_body(app: &mut App, wearer: Entity) {
    let body = (ClothCollider::capsule(0.2, 0.9), Transform::default());
    app.world_mut().spawn((body, ChildOf(wearer)));
}

/// On the back of somebody who looks along x.
fn behind() -> Transform {
    Transform::from_xyz(-0.23, 0.08, 0.0).with_rotation(Quat::from_rotation_y(-1.57))
}

/// A cape that hangs by its upper edge.
fn cape(app: &mut App, place: Transform, pins: Pins, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, ClothGrid::vertical(0.62, 0.95, 16, 24));
    let cloth = (Cloth::default(), Mesh3d(mesh), place, pins, extra);
    app.world_mut().spawn(cloth).id()
}

fn top() -> Pins {
    Pins::edge(ClothEdge::Top)
}

fn worst_stretch(app: &App, cloth: Entity) -> f32 {
    let constraints = app.world().get::<Constraints>(cloth).unwrap();
    measure_stretch(particles(app, cloth), constraints).max
}

#[test]
fn who_was_culled_hangs_on_as_before() {
    let mut app = app();
    let wearer = marching(&mut app);
    give_body(&mut app, wearer);
    app.world_mut()
        .spawn((ClothViewer, Transform::from_xyz(0.0, 0.0, 5.0)));
    let wears = (WorldMotion::default(), ChildOf(wearer));
    let cloth = cape(&mut app, behind(), top(), wears);
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
fn what_is_put_on_late_begins_on_its_wearer() {
    // His body is his own collider, or beside what he wears.
    for own in [true, false] {
        let mut app = app();
        let wearer = marching(&mut app);
        match own {
            true => {
                let body = ClothCollider::capsule(0.2, 0.9);
                app.world_mut().entity_mut(wearer).insert(body);
            }
            false => give_body(&mut app, wearer),
        }
        // He goes for a while before anything hangs on him.
        run(&mut app, 5);
        let on_him = *app.world().get::<Transform>(wearer).unwrap() * behind();
        let motion = WorldMotion::default();
        let capes = [
            cape(&mut app, behind(), top(), ChildOf(wearer)),
            cape(&mut app, behind(), top(), (motion.clone(), ChildOf(wearer))),
            cape(
                &mut app,
                behind(),
                top(),
                (motion, WarmUp(30), ChildOf(wearer)),
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
                // All hang on the same place.
                let collar = |cape| particles(&app, cape).world_position(0);
                let off = collar(cape).distance(collar(capes[0]));
                assert!(off < 1e-3, "{case}: {off}");
            }
        }
        assert!(particles(&app, capes[0]).world_position(0).x > on_him.translation.x);
    }
}

#[test]
fn what_hangs_on_somebody_else_begins_where_he_is_seen() {
    let mut app = app();
    let wearer = marching(&mut app);
    give_body(&mut app, wearer);
    run(&mut app, 5);
    // Built at the end of the next frame, where he will be then.
    let mut place = *app.world().get::<Transform>(wearer).unwrap() * behind();
    place.translation.x += 1.3 * 15.0 / 60.0;
    let cloth = cape(&mut app, place, top().to_entity(wearer), ());
    for frame in 0..8 {
        run(&mut app, 1);
        if frame == 0 {
            let collar = particles(&app, cloth).world_position(0).x;
            let wearer = app.world().get::<Transform>(wearer).unwrap();
            let behind = wearer.translation.x - collar;
            assert!((behind - 0.23).abs() < 1e-3, "{behind}");
        }
        let stretch = worst_stretch(&app, cloth);
        assert!(stretch < 0.1, "frame {frame}: {stretch}");
    }
}

#[test]
fn what_hangs_in_the_world_stays_there() {
    let mut app = app();
    let wearer = marching(&mut app);
    run(&mut app, 5);
    let cloth = cape(&mut app, behind(), top().to_world(), ChildOf(wearer));
    run(&mut app, 1);
    let began = particles(&app, cloth).world_position(0);
    for frame in 0..8 {
        run(&mut app, 1);
        assert_eq!(particles(&app, cloth).world_position(0), began);
        let stretch = worst_stretch(&app, cloth);
        assert!(stretch < 0.02, "frame {frame}: {stretch}");
    }
}
