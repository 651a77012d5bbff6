//! Figures and screenshot of runs with a limited number of frames.

use crate::scenes::SCENES;
use bevy::{
    diagnostic::{DiagnosticPath, DiagnosticsStore},
    prelude::*,
    render::view::screenshot::{Screenshot, ScreenshotCaptured},
};
use bevy_drape::diagnostics::ClothDiagnosticsPlugin;
#[cfg(feature = "panel")]
use bevy_drape::panel::ClothPanel;
use std::path::PathBuf;

/// End of a run with a limited number of frames.
#[derive(Resource)]
pub(crate) struct Ending {
    /// Number of frames to render.
    pub(crate) frames: u32,
    /// File for an image of the last frame.
    pub(crate) screenshot: Option<PathBuf>,
    /// Source of the image.
    pub(crate) source: Option<Screenshot>,
    /// Number of frames rendered so far.
    pub(crate) drawn: u32,
    /// Time of each step so far, ms.
    pub(crate) step_times: Vec<f64>,
    /// Deepest penetration so far, mm.
    pub(crate) deepest: f64,
    /// Largest stretch so far, %.
    pub(crate) most_stretched: f64,
}

impl Ending {
    /// Ends after this many frames.
    pub(crate) fn after(
        frames: u32,
        screenshot: Option<PathBuf>,
        source: Option<Screenshot>,
    ) -> Self {
        Self {
            frames,
            screenshot,
            source,
            drawn: 0,
            step_times: Vec::new(),
            deepest: 0.0,
            most_stretched: 0.0,
        }
    }
}

/// Number of last frames in which an offscreen camera renders, so that all resources are ready.
const FRAMES_TO_DRAW: u32 = 4;

/// Counts frames; after the last one, prints the figures, takes the screenshot and quits.
pub(crate) fn end(
    mut ending: ResMut<Ending>,
    diagnostics: Res<DiagnosticsStore>,
    panel: Res<ClothPanel>,
    mut cameras: Query<&mut Camera>,
    mut commands: Commands,
    mut exit: MessageWriter<AppExit>,
) {
    ending.drawn += 1;
    if ending.drawn + FRAMES_TO_DRAW >= ending.frames {
        for mut camera in &mut cameras {
            camera.is_active = true;
        }
    }
    let value = |path: &DiagnosticPath| {
        diagnostics
            .get(path)
            .and_then(|diagnostic| diagnostic.value())
            .unwrap_or_default()
    };
    let deepest = value(&ClothDiagnosticsPlugin::DEEPEST_PENETRATION);
    ending.deepest = ending.deepest.max(deepest);
    let stretch = value(&ClothDiagnosticsPlugin::WORST_STRETCH);
    ending.most_stretched = ending.most_stretched.max(stretch);
    let time = value(&ClothDiagnosticsPlugin::STEP_TIME);
    ending.step_times.push(time);
    if ending.drawn != ending.frames {
        return;
    }

    ending.step_times.sort_by(f64::total_cmp);
    println!(
        "scene {}, {} frames: {} particles, {} constraints, median step {:.2} ms, worst stretch \
         {:.2} % (at most {:.0} %), deepest penetration {:.3} mm",
        SCENES[panel.scene].name,
        ending.frames,
        value(&ClothDiagnosticsPlugin::PARTICLES),
        value(&ClothDiagnosticsPlugin::CONSTRAINTS),
        ending.step_times[ending.step_times.len() / 2],
        stretch,
        ending.most_stretched,
        ending.deepest,
    );
    match (ending.screenshot.clone(), ending.source.take()) {
        (Some(path), Some(source)) => {
            commands.spawn(source).observe(
                move |captured: On<ScreenshotCaptured>, mut exit: MessageWriter<AppExit>| {
                    exit.write(match save(&captured.image, &path) {
                        Ok(()) => {
                            println!("wrote {}", path.display());
                            AppExit::Success
                        }
                        Err(error) => {
                            eprintln!("error: cannot write {}: {error}", path.display());
                            AppExit::error()
                        }
                    });
                },
            );
        }
        _ => {
            exit.write(AppExit::Success);
        }
    }
}

fn save(image: &Image, path: &PathBuf) -> Result<(), String> {
    let picture = image
        .clone()
        .try_into_dynamic()
        .map_err(|e| e.to_string())?;
    // Drop the alpha channel.
    picture.to_rgb8().save(path).map_err(|e| e.to_string())
}
