//! Builds the app: with a window, offscreen, or without rendering.

use crate::{
    arguments::{Arguments, DEFAULT_FRAMES},
    change,
    figures::{self, Ending},
    keys, plot, scenes,
    scenes::{SCENES, integrators::CsvFile},
    stage::{self, BACKGROUND, DrawInto},
    surroundings,
};
use bevy::{
    app::{AppExit, ScheduleRunnerPlugin},
    log::LogPlugin,
    prelude::*,
    render::{
        RenderPlugin,
        render_resource::TextureFormat,
        settings::{RenderCreation, WgpuSettings},
        view::screenshot::Screenshot,
    },
    time::TimeUpdateStrategy,
    window::{ExitCondition, PresentMode, WindowResolution},
    winit::WinitPlugin,
};
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use bevy_drape::{cloth::ClothBuildMode, diagnostics::ClothDiagnosticsPlugin, prelude::*};
use bevy_egui::{EguiPlugin, input::egui_wants_any_keyboard_input};
use bevy_panorbit_camera::{EguiFocusIncludesHover, PanOrbitCameraPlugin, PanOrbitCameraSystemSet};
use std::{panic, path::PathBuf, time::Duration};

const WIDTH: u32 = 1280;
const HEIGHT: u32 = 720;

/// Runs until the user quits or the last frame.
pub(crate) fn run(arguments: &Arguments) -> AppExit {
    let Some(adapter) = surroundings::adapter() else {
        println!("{}", surroundings::adapter_remedy());
        return numbers_only(arguments).run();
    };
    let display = if arguments.headless {
        Err("requested".to_string())
    } else {
        surroundings::display()
    };
    let reason = match display {
        // A display can still fail, for example because libraries are missing.
        Ok(()) => match panic::catch_unwind(|| in_window(arguments)) {
            Ok(mut app) => return app.run(),
            Err(_) => "the window system failed, see above".to_string(),
        },
        Err(reason) => reason,
    };
    println!("no window: {reason}; drawing offscreen on {adapter}");
    offscreen(arguments).run()
}

fn in_window(arguments: &Arguments) -> App {
    let mut app = App::new();
    let window = Window {
        title: "bevy_drape".into(),
        resolution: WindowResolution::new(WIDTH, HEIGHT),
        present_mode: PresentMode::AutoVsync,
        ..default()
    };
    let plugins = DefaultPlugins
        .set(WindowPlugin {
            primary_window: Some(window),
            ..default()
        })
        .set(renderer(arguments.screenshot.is_some()))
        .set(quiet_log());
    app.add_plugins((plugins, EguiPlugin::default(), PanOrbitCameraPlugin))
        .add_plugins((
            ClothPanelPlugin,
            ClothDebugPlugin,
            ClothInteractionPlugin,
            plot::plugin,
        ))
        .insert_resource(EguiFocusIncludesHover(true))
        .add_systems(
            PostUpdate,
            keys::hold_camera.before(PanOrbitCameraSystemSet),
        )
        .add_systems(
            Update,
            keys::keys.run_if(not(egui_wants_any_keyboard_input)),
        );
    add_scenes(&mut app, arguments);
    let frames = arguments
        .frames
        .or(arguments.screenshot.as_ref().map(|_| DEFAULT_FRAMES));
    if let Some(frames) = frames {
        let ending = Ending::after(
            frames,
            arguments.screenshot.clone(),
            Some(Screenshot::primary_window()),
        );
        end_by_itself(&mut app, ending);
    }
    app
}

fn offscreen(arguments: &Arguments) -> App {
    let mut app = App::new();
    app.add_plugins((
        without_window().set(renderer(true)),
        ClothDiagnosticsPlugin::default(),
        ClothDebugPlugin,
    ))
    .add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
    let mut images = app.world_mut().resource_mut::<Assets<Image>>();
    let picture = images.add(Image::new_target_texture(
        WIDTH,
        HEIGHT,
        TextureFormat::Rgba8UnormSrgb,
        None,
    ));
    app.insert_resource(DrawInto(picture.clone()))
        .insert_resource(csv_file(arguments));
    add_scenes(&mut app, arguments);
    let path = arguments
        .screenshot
        .clone()
        .unwrap_or_else(|| PathBuf::from("demo.png"));
    let ending = Ending::after(
        arguments.frames.unwrap_or(DEFAULT_FRAMES),
        Some(path),
        Some(Screenshot::image(picture)),
    );
    end_by_itself(&mut app, ending);
    app
}

fn numbers_only(arguments: &Arguments) -> App {
    let mut app = App::new();
    let no_renderer = RenderPlugin {
        render_creation: RenderCreation::Automatic(Box::new(WgpuSettings {
            backends: None,
            ..default()
        })),
        ..default()
    };
    app.add_plugins((
        without_window().set(no_renderer),
        ClothDiagnosticsPlugin::default(),
    ))
    .add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
    app.insert_resource(csv_file(arguments));
    add_scenes(&mut app, arguments);
    let frames = arguments.frames.unwrap_or(DEFAULT_FRAMES);
    end_by_itself(&mut app, Ending::after(frames, None, None));
    app
}

/// Returns the CSV file next to the image, or next to its default path.
fn csv_file(arguments: &Arguments) -> CsvFile {
    let picture = arguments.screenshot.clone().unwrap_or_default();
    CsvFile(picture.with_file_name("integrators.csv"))
}

fn without_window() -> bevy::app::PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(quiet_log())
        .disable::<WinitPlugin>()
}

fn renderer(wait_for_shaders: bool) -> RenderPlugin {
    RenderPlugin {
        // Otherwise the last frame might come before the first shader is compiled.
        synchronous_pipeline_compilation: wait_for_shaders,
        ..default()
    }
}

/// Limits the log to messages about cloth: no warnings about slow software adapters, missing settings of a bare X
/// server, or a missing renderer that the demo itself reports.
fn quiet_log() -> LogPlugin {
    LogPlugin {
        filter: "warn,bevy_drape=info,wgpu_hal=error,winit=error,bevy_egui=error,bevy_render=off,\
                 bevy_gizmos_render=off"
            .into(),
        ..default()
    }
}

fn add_scenes(app: &mut App, arguments: &Arguments) {
    if let Some(fabric) = arguments.fabric {
        app.add_observer(
            move |added: On<Insert, Cloth>, mut cloths: Query<&mut Cloth>| {
                if let Ok(mut cloth) = cloths.get_mut(added.entity) {
                    cloth.fabric = fabric;
                }
            },
        );
    }
    app.add_plugins(ClothPlugin::default())
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(ClothPanel {
            scenes: SCENES.iter().map(|scene| scene.name.to_string()).collect(),
            scene: arguments.scene,
            ..default()
        })
        .init_resource::<scenes::Shown>()
        .add_plugins(scenes::plugin)
        .add_systems(Startup, stage::set_up)
        .add_systems(Update, change::change_scene);
}

/// Takes one step of 1/60 s per frame, independent of real time: the same image everywhere.
fn end_by_itself(app: &mut App, ending: Ending) {
    app.insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .insert_resource(Time::<Fixed>::from_hz(60.0))
        // The picture must not depend on how fast cloths are built.
        .insert_resource(ClothBuildMode::Immediate)
        .insert_resource(ending)
        .add_systems(Last, figures::end);
}
