//! Command line.

use crate::scenes::SCENES;
use bevy_drape::cloth::Fabric;
use clap::Parser;
use std::path::{Path, PathBuf};

/// Cloth that drapes, flutters and collides. Keys: space pause, . step, R reset, H hide the panel,
/// Esc quit. The left button grabs cloth, the right button cuts it; beside the cloth the left button
/// orbits, the middle button pans, the wheel zooms.
#[derive(Parser, Clone, Debug)]
#[command(name = "demo", after_help = scene_list())]
pub(crate) struct Arguments {
    /// First scene
    #[arg(long, value_name = "NAME", default_value = SCENES[0].name, value_parser = scene_index)]
    pub(crate) scene: usize,
    /// Fabric of all cloths: cotton, wool, … [default: the fabric of each scene]
    #[arg(long, value_name = "PRESET", value_parser = preset)]
    pub(crate) fabric: Option<Fabric>,
    /// Open no window: render offscreen, write an image, print the figures
    #[arg(long)]
    pub(crate) headless: bool,
    /// Quit after this many frames of 1/60 s [default: 240 without a window, else never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frames: Option<u32>,
    /// Write an image (PNG) of the last frame [default without a window: demo.png]
    #[arg(long, value_name = "FILE")]
    pub(crate) screenshot: Option<PathBuf>,
}

/// Number of frames without a window.
pub(crate) const DEFAULT_FRAMES: u32 = 240;

impl Arguments {
    /// Checks early for errors that would otherwise show only after minutes.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some(path) = &self.screenshot else {
            return Ok(());
        };
        if path
            .extension()
            .is_none_or(|e| !e.eq_ignore_ascii_case("png"))
        {
            return Err(format!(
                "--screenshot {}: the name must end in .png",
                path.display()
            ));
        }
        match path.parent() {
            Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(format!(
                "--screenshot {}: there is no folder {}",
                path.display(),
                folder.display()
            )),
            _ => Ok(()),
        }
    }
}

fn scene_index(name: &str) -> Result<usize, String> {
    SCENES
        .iter()
        .position(|scene| scene.name == name)
        .ok_or_else(|| format!("there is no such scene\n\n{}", scene_list()))
}

fn preset(name: &str) -> Result<Fabric, String> {
    let names = Fabric::PRESETS.iter().map(|(name, _)| *name);
    let preset = Fabric::PRESETS.iter().find(|(known, _)| *known == name);
    preset.map(|(_, fabric)| *fabric).ok_or_else(|| {
        format!(
            "there is no such preset; there are {}",
            names.collect::<Vec<_>>().join(", ")
        )
    })
}

fn scene_list() -> String {
    let mut list = "Scenes:".to_string();
    for scene in SCENES {
        list += &format!("\n  {:10} {}", scene.name, scene.about);
    }
    list
}
