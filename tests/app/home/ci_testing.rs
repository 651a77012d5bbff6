//! Apps driven by Bevy's `bevy_ci_testing`.

use crate::{add_mesh, particles, sheet};
use bevy::{
    asset::AssetPlugin, mesh::MeshPlugin, prelude::*, time::TimeUpdateStrategy,
    transform::TransformPlugin,
};
use bevy_dev_tools::ci_testing::{
    CiTestingConfig, CiTestingCustomEvent, CiTestingEvent, CiTestingEventOnFrame, CiTestingPlugin,
    CiTestingSetup,
};
use bevy_drape::prelude::*;
use std::time::Duration;

/// Duration of a frame, s: a little longer than a step.
const FRAME: f32 = 0.02;

/// Returns an app with a sheet that hangs by an edge, in which the custom event "wind" starts wind.
fn app() -> (App, Entity) {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin::default(),
        MeshPlugin,
        TransformPlugin,
        ClothPlugin::default(),
    ))
    .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
    .add_message::<CiTestingCustomEvent>()
    .add_systems(
        Update,
        |mut events: MessageReader<CiTestingCustomEvent>, mut wind: ResMut<Wind>| {
            for CiTestingCustomEvent(name) in events.read() {
                assert_eq!(name, "wind");
                wind.velocity = Vec3::X * 6.0;
            }
        },
    );
    let mesh = add_mesh(&mut app, sheet());
    let cloth = (Cloth::default(), Pins::edge(ClothEdge::Top), Mesh3d(mesh));
    let cloth = app.world_mut().spawn(cloth).id();
    (app, cloth)
}

/// Runs an app until the script exits. Returns the number of frames and the state hash of the cloth.
fn scripted(events: Vec<CiTestingEventOnFrame>) -> (u32, u64) {
    let (mut app, cloth) = app();
    app.insert_resource(CiTestingConfig {
        setup: CiTestingSetup {
            fixed_frame_time: Some(FRAME),
        },
        events,
    })
    .add_plugins(CiTestingPlugin);
    app.finish();
    app.cleanup();
    for frame in 1..1000 {
        app.update();
        if let Some(exit) = app.should_exit() {
            assert!(exit.is_success());
            return (frame, particles(&app, cloth).state_hash());
        }
    }
    panic!("the script did not end the app");
}

#[test]
fn a_script_gives_the_same_bits_each_time_and_as_manual_frames_of_its_length() {
    let exit = || CiTestingEventOnFrame(90, CiTestingEvent::AppExit);
    let (frames, plain) = scripted(vec![exit()]);
    assert_eq!(frames, 91);
    let (mut app, cloth) = app();
    let frame = Duration::from_secs_f32(FRAME);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
    app.finish();
    app.cleanup();
    for _ in 0..frames {
        app.update();
    }
    assert_eq!(particles(&app, cloth).state_hash(), plain);
    // A custom event takes effect, with the same result each time.
    let wind = || CiTestingEventOnFrame(30, CiTestingEvent::Custom("wind".into()));
    let blown = scripted(vec![wind(), exit()]);
    assert_ne!(blown.1, plain);
    assert_eq!(scripted(vec![wind(), exit()]), blown);
}
