//! The demo: its keys, its scenes, and an image of its drape scene, rendered on any available adapter (CI installs
//! a software one) and compared with a stored image. Deliberate faults prove that the comparison notices them.
//!
//! After an intended visual change, store a new image, look at it and commit it:
//! `BEVY_DRAPE_WRITE_PICTURES=1 cargo test --test demo`

#[path = "../../examples/demo/euler.rs"]
#[allow(dead_code, reason = "not all of the demo is tested here")]
mod euler;
#[cfg(feature = "panel")]
#[path = "../../examples/demo/keys.rs"]
#[allow(dead_code, reason = "not all of the demo is tested here")]
mod keys;
#[path = "../../examples/demo/scenes/mod.rs"]
#[allow(dead_code, reason = "not all of the demo is tested here")]
mod scenes;
#[path = "../../examples/demo/stage.rs"]
#[allow(dead_code)]
mod stage;
#[path = "../../examples/demo/surroundings.rs"]
#[allow(dead_code)]
mod surroundings;
#[path = "../../examples/demo/textures.rs"]
mod textures;

mod compare;
#[path = "../common/headless.rs"]
mod headless;
#[cfg(feature = "panel")]
mod keyboard;
#[cfg(feature = "panel")]
#[path = "../../examples/demo/plot.rs"]
#[allow(dead_code, reason = "its window is not tested")]
mod plot;
mod scene_behaviour;

use bevy::{
    app::ScheduleRunnerPlugin,
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        render_resource::TextureFormat,
        view::screenshot::{Screenshot, ScreenshotCaptured},
    },
    time::TimeUpdateStrategy,
    window::ExitCondition,
    winit::WinitPlugin,
};
use bevy_drape::prelude::*;
use compare::Difference;
use image::RgbImage;
use std::{env, io::Write, path::PathBuf};

const WIDTH: u32 = 480;
const HEIGHT: u32 = 270;

#[test]
fn the_drape_looks_as_it_should() {
    let Some(adapter) = surroundings::adapter() else {
        assert!(
            env::var_os("BEVY_DRAPE_NEEDS_ADAPTER").is_none(),
            "there is no graphics adapter"
        );
        // Not `eprintln!`: the test harness would hide it.
        let remedy = surroundings::adapter_remedy();
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED, no picture was tested: {remedy}"
        );
        return;
    };
    eprintln!("drawing on {adapter}");
    let mut studio = Studio::new();
    studio.run(200);
    let good = studio.photograph();

    let stored = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("demo/drape.png");
    if env::var_os("BEVY_DRAPE_WRITE_PICTURES").is_some() {
        good.save(&stored).unwrap();
    }
    let expected = image::open(&stored).unwrap().to_rgb8();
    let difference = Difference::between(&good, &expected);
    eprintln!("as stored: {difference:?}");
    if !difference.is_small() {
        let seen = env::temp_dir().join("bevy_drape_seen.png");
        good.save(&seen).unwrap();
        panic!(
            "{} differs from the stored picture: {difference:?}",
            seen.display()
        );
    }

    // The same comparison must notice each of these faults.
    for (fault, introduce) in FAULTS {
        let mut faulty = Studio::new();
        faulty.run(200);
        introduce(faulty.app.world_mut());
        let difference = Difference::between(&faulty.photograph(), &expected);
        eprintln!("{fault}: {difference:?}");
        assert!(
            !difference.is_small(),
            "the comparison does not notice that the cloth is {fault}"
        );
    }
}

/// Description of a fault, and a function that introduces it.
type Fault = (&'static str, fn(&mut World));

const FAULTS: &[Fault] = &[
    ("missing", |world| {
        let cloth = cloth(world);
        world.entity_mut(cloth).insert(Visibility::Hidden);
    }),
    ("inside out", |world| {
        fabric(world, |fabric| {
            fabric.double_sided = false;
            fabric.cull_mode = Some(bevy::render::render_resource::Face::Front);
        });
    }),
    ("black", |world| {
        fabric(world, |fabric| fabric.base_color = Color::BLACK);
    }),
    ("pierced by the sphere", |world| {
        let mut spheres = world.query::<(&Name, &mut Transform)>();
        for (name, mut transform) in spheres.iter_mut(world) {
            if name.as_str() == "sphere" {
                // Only the rendered sphere grows, since time is paused.
                transform.scale *= 1.06;
            }
        }
    }),
];

fn cloth(world: &mut World) -> Entity {
    world
        .query_filtered::<Entity, With<Cloth>>()
        .single(world)
        .unwrap()
}

fn fabric(world: &mut World, change: fn(&mut StandardMaterial)) {
    let handle = world.resource::<stage::Props>().fabric.clone();
    let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
    change(&mut materials.get_mut(&handle).unwrap());
}

/// The demo's stage and first scene, without a window.
struct Studio {
    app: App,
    picture: Handle<Image>,
}

#[derive(Resource, Default)]
struct Photograph(Option<Image>);

impl Studio {
    fn new() -> Self {
        let mut app = App::new();
        app.add_plugins(
            DefaultPlugins
                .set(WindowPlugin {
                    primary_window: None,
                    exit_condition: ExitCondition::DontExit,
                    ..default()
                })
                .set(RenderPlugin {
                    synchronous_pipeline_compilation: true,
                    ..default()
                })
                .disable::<WinitPlugin>()
                .disable::<LogPlugin>(),
        )
        .add_plugins(ScheduleRunnerPlugin::run_once())
        .add_plugins(ClothPlugin::default())
        .insert_resource(ClearColor(stage::BACKGROUND))
        .insert_resource(Time::<Fixed>::from_hz(60.0))
        .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Photograph>()
        .add_systems(Startup, stage::set_up)
        .add_systems(PostStartup, put_up);
        let mut images = app.world_mut().resource_mut::<Assets<Image>>();
        let picture = images.add(Image::new_target_texture(
            WIDTH,
            HEIGHT,
            TextureFormat::Rgba8UnormSrgb,
            None,
        ));
        app.insert_resource(stage::DrawInto(picture.clone()));
        app.finish();
        app.cleanup();
        Self { app, picture }
    }

    /// Simulates frames. None is rendered before `photograph` activates the camera.
    fn run(&mut self, frames: u32) {
        (0..frames).for_each(|_| self.app.update());
    }

    /// Pauses time and takes a picture.
    fn photograph(&mut self) -> RgbImage {
        let world = self.app.world_mut();
        world.resource_mut::<ClothTime>().paused = true;
        let mut cameras = world.query::<&mut Camera>();
        cameras
            .iter_mut(world)
            .for_each(|mut camera| camera.is_active = true);
        self.run(4);
        self.app
            .world_mut()
            .spawn(Screenshot::image(self.picture.clone()))
            .observe(
                |captured: On<ScreenshotCaptured>, mut photograph: ResMut<Photograph>| {
                    photograph.0 = Some(captured.image.clone());
                },
            );
        for _ in 0..100 {
            self.app.update();
            if let Some(image) = self.app.world_mut().resource_mut::<Photograph>().0.take() {
                return image.try_into_dynamic().unwrap().to_rgb8();
            }
        }
        panic!("no picture after 100 frames");
    }
}

fn put_up(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    props: Res<stage::Props>,
) {
    (scenes::SCENES[0].spawn)(&mut scenes::Set {
        commands: &mut commands,
        meshes: &mut meshes,
        materials: &mut materials,
        props: &props,
    });
}
