//! Sheets that fall on colliders and come to rest.

use crate::{
    mesh_layout::MeshLayout,
    own_sheet::OwnSheet,
    supports::{Support, write_value},
};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::{Cloth, Fabric, SelfCollision},
    mesh::{ClothGrid, TriangleMesh},
    sleep::{MAX_SETTLING_TIME, TIME_TO_SLEEP},
    solver::{MAX_SETTLED_STRAIN, measure_stretch},
};
use std::{fmt, time::Instant};

/// Steps per second.
const RATE: f32 = 60.0;
/// Height from which the sheets fall, m.
const HEIGHT: f32 = 1.5;

/// Sheet of 2 m, and what it falls on.
#[derive(Clone, Copy)]
pub(crate) struct Drape {
    pub(crate) on: Support,
    /// Particles along each side.
    pub(crate) side: u32,
    pub(crate) layout: MeshLayout,
    /// Static friction; kinetic friction is four fifths of it.
    pub(crate) friction: f32,
    pub(crate) substeps: u32,
    pub(crate) fabric: Fabric,
    pub(crate) self_collision: SelfCollision,
}

/// Result of a simulation: speeds in mm/s, distances in mm, strains in per cent, time in ms.
#[derive(Clone, Copy, Default)]
pub(crate) struct DrapeFigures {
    /// Largest speed of all particles during the last half second, and the 99.9 % quantile.
    pub(crate) fastest: f32,
    pub(crate) quantile: f32,
    /// Farthest that a particle is from where it was half a second before.
    pub(crate) moved: f32,
    /// Mean and largest stretch at the end, and the largest of all steps.
    pub(crate) mean: f32,
    pub(crate) worst: f32,
    pub(crate) peak: f32,
    /// Largest stretch after the cloth has settled to fall asleep.
    pub(crate) asleep: f32,
    /// Mean duration of a step.
    pub(crate) step: f32,
}

impl Drape {
    /// A sheet of 64² particles with the default settings.
    pub(crate) fn on(on: Support) -> Self {
        Self {
            on,
            side: 64,
            layout: MeshLayout::Grid,
            friction: 0.5,
            substeps: 8,
            fabric: Fabric::default(),
            self_collision: SelfCollision::Off,
        }
    }

    /// Returns the sheet above the colliders.
    pub(crate) fn sheet(&self) -> OwnSheet {
        let grid = ClothGrid::new(2.0, 2.0, self.side, self.side);
        let mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
        let cloth = Cloth {
            fabric: self.fabric,
            self_collision: self.self_collision,
            ..Cloth::default()
        };
        let mut sheet = OwnSheet::of_topology(&self.layout.topology(mesh), &cloth);
        sheet.deform(|rest| rest + Vec3::Y * HEIGHT);
        let sample = &mut sheet.sample;
        (sample.colliders, sample.meshes) = self.on.colliders(self.friction);
        sample.settings.substeps = self.substeps;
        sheet
    }

    /// Simulates the sheet for this time, s.
    pub(crate) fn run(&self, seconds: f32) -> DrapeFigures {
        let mut sheet = self.sheet();
        let steps = (seconds * RATE) as u32;
        let last = steps.saturating_sub((TIME_TO_SLEEP * RATE) as u32);
        let mut figures = DrapeFigures::default();
        let mut simulated = 0.0;
        let mut still = Vec::new();
        for step in 0..steps {
            let before = (step >= last).then(|| sheet.at());
            let begin = Instant::now();
            sheet.step();
            simulated += begin.elapsed().as_secs_f32();
            let stretch = measure_stretch(&sheet.sample.particles, &sheet.sample.constraints);
            [figures.mean, figures.worst] = [stretch.mean, stretch.max].map(|s| s * 100.0);
            figures.peak = figures.peak.max(figures.worst);
            let Some(before) = before else { continue };
            let distances = sorted_distances(&before, &sheet.at());
            let speeds: Vec<f32> = distances.iter().map(|distance| distance * RATE).collect();
            figures.quantile = figures.quantile.max(speeds[speeds.len() * 999 / 1000]);
            figures.fastest = figures.fastest.max(speeds[speeds.len() - 1]);
            if still.is_empty() {
                still = before;
            }
        }
        let moved = sorted_distances(&still, &sheet.at());
        figures.moved = moved.last().copied().unwrap_or_default();
        figures.step = simulated * 1e3 / steps as f32;
        figures.asleep = settle(&mut sheet);
        figures
    }
}

/// Lets cloth at rest settle, like the plugin. Returns its largest stretch afterwards, in per cent.
fn settle(sheet: &mut OwnSheet) -> f32 {
    sheet.sample.settings = sheet.sample.settings.settling();
    let mut worst = f32::INFINITY;
    for _ in 0..(MAX_SETTLING_TIME * RATE) as u32 {
        sheet.step();
        worst = measure_stretch(&sheet.sample.particles, &sheet.sample.constraints).max;
        if worst <= MAX_SETTLED_STRAIN {
            break;
        }
    }
    worst * 100.0
}

/// Returns the distances of points from others in ascending order, mm.
fn sorted_distances(from: &[Vec3], to: &[Vec3]) -> Vec<f32> {
    let both = from.iter().zip(to);
    let mut distances: Vec<f32> = both.map(|(a, b)| a.distance(*b) * 1e3).collect();
    distances.sort_unstable_by(f32::total_cmp);
    distances
}

/// Names the sheet by all that is not the default.
impl fmt::Display for Drape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            on,
            side,
            layout,
            friction,
            substeps,
            fabric,
            self_collision,
        } = self;
        let usual = Self::on(*on);
        write!(f, "{on} {side}²")?;
        if *layout != usual.layout {
            write!(f, " {layout}")?;
        }
        if *friction != usual.friction {
            write!(f, " μ {friction}")?;
        }
        if *substeps != usual.substeps {
            write!(f, " {substeps} substeps")?;
        }
        let mut presets = Fabric::PRESETS.iter();
        if let Some((name, _)) = presets.find(|(_, preset)| preset == fabric) {
            write!(f, " {name}")?;
        }
        if *self_collision == SelfCollision::On {
            write!(f, " self-collision")?;
        }
        Ok(())
    }
}

impl fmt::Display for MeshLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self, f)
    }
}
