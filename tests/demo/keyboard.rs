//! Keys of the demo.

use crate::{headless::headless_app, keys};
use bevy::prelude::*;
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use bevy_drape::prelude::*;

fn app() -> (App, Entity) {
    let mut app = headless_app(ClothPlugin::default());
    app.init_resource::<ClothPanel>()
        .init_resource::<ButtonInput<KeyCode>>()
        .add_systems(Update, keys::keys);
    let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 4, 4));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    let cloth = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh))).id();
    (0..30).for_each(|_| app.update());
    (app, cloth)
}

/// Presses and releases a key, within five frames.
fn press(app: &mut App, key: KeyCode) {
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.press(key);
    app.update();
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.release(key);
    keys.clear();
    (0..4).for_each(|_| app.update());
}

fn height(app: &App, cloth: Entity) -> f32 {
    app.world()
        .get::<ClothParticles>(cloth)
        .unwrap()
        .world_position(0)
        .y
}

#[test]
fn the_keys_space_period_r_h_and_esc_work() {
    let (mut app, cloth) = app();
    press(&mut app, KeyCode::Space);
    let paused = height(&app, cloth);
    assert!(paused < -0.5);
    press(&mut app, KeyCode::KeyJ);
    assert_eq!(height(&app, cloth), paused);
    press(&mut app, KeyCode::Period);
    let stepped = paused - height(&app, cloth);
    assert!(stepped > 0.0 && stepped < 0.2, "{stepped} m in one step");
    press(&mut app, KeyCode::KeyR);
    assert!(height(&app, cloth).abs() < 1e-5);
    press(&mut app, KeyCode::Space);
    assert!(height(&app, cloth) < -0.001, "still paused");
    for visible in [false, true] {
        press(&mut app, KeyCode::KeyH);
        assert_eq!(app.world().resource::<ClothPanel>().visible, visible);
    }
    assert_eq!(app.should_exit(), None);
    app.world_mut()
        .resource_mut::<ButtonInput<KeyCode>>()
        .press(KeyCode::Escape);
    app.update();
    assert_eq!(app.should_exit(), Some(AppExit::Success));
}
