//! Cloth does not pass through itself, and slides over itself freely.

use super::{Experiment, Row};
use crate::{
    contact_scenes::{
        ContactScene, Crossings, cape, collision, crumple, knot, layers, press, shaken, slide,
        stack, tablecloth, twist,
    },
    folds::in_half,
};
use bevy_drape::{cloth::SelfCollision, solver::measure_stretch};

pub(crate) fn twisted() -> Vec<Row> {
    let mut strip = twist(SelfCollision::On);
    let times = [2, 4, 6, 8, 10];
    times
        .map(|time| row(format!("until {time} s"), strip.run(120)))
        .into()
}

/// Some scenes of the whole list, small.
pub(crate) fn sample() -> Vec<Row> {
    let scenes = [
        ("knot", knot(2.3), 360),
        ("crumple 32²", crumple(32, 0.0), 240),
        ("crumple 32² at 20 m/s", crumple(32, 20.0), 120),
        ("crumple 64² at 20 m/s", crumple(64, 20.0), 30),
        ("two sheets of 24² at 20 m/s", collision(24, 20.0), 60),
        ("stack of 4 × 24²", stack(4, 24, 0.0), 180),
        ("5 layers of 24²", layers(5, 24), 120),
        ("tablecloth 40 × 35", tablecloth(40, 1.7), 270),
        ("tablecloth 48 × 42", tablecloth(48, 2.0), 270),
        ("tablecloth 56 × 49", tablecloth(56, 2.1), 270),
        ("cape 20 × 28", cape(20), 240),
        ("folded 33², pressed", press(33, in_half), 480),
    ];
    let rows = scenes
        .into_iter()
        .flat_map(|(name, scene, steps)| rows(name, scene, steps));
    rows.chain(slides()).collect()
}

/// Creates an experiment for each scene, of many steps.
macro_rules! long {
    ($($name:literal: $scene:expr,)*) => {
        &[$(Experiment {
            name: concat!("long ", $name),
            source: "no crossing in 10 000 steps",
            run: || rows($name, $scene, 10_000).into(),
        }),*]
    };
}

/// The same scenes larger, for many steps, and at high speeds.
pub(crate) const LONG: &[Experiment] = long! {
    "twist": twist(SelfCollision::On),
    "knot": knot(2.4),
    "crumple 64²": crumple(64, 0.0),
    "crumple 64² at 10 m/s": crumple(64, 10.0),
    "crumple 64² at 20 m/s": crumple(64, 20.0),
    "two sheets of 48² at 20 m/s": collision(48, 20.0),
    "stack of 5 × 40²": stack(5, 40, 0.0),
    "stack of 5 × 40² at 20 m/s": stack(5, 40, 20.0),
    "tablecloth 96 × 84": tablecloth(96, 3.0),
    "cape 32 × 44": cape(32),
    "folded 65², pressed": press(65, in_half),
    "shaken 48² at 20 m/s": shaken(48, 20.0),
    "20 layers of 64²": layers(20, 64),
};

/// Runs a scene, and compares its crossings and its worst link at the end with the goals.
fn rows(name: &str, mut scene: ContactScene, steps: u32) -> [Row; 2] {
    let found = scene.run(steps);
    let sample = &scene.sheet.sample;
    let stretch = measure_stretch(&sample.particles, &sample.constraints).max;
    let label = format!("{name}: worst link, %");
    let length = Row::at_most(label, 5.0, f64::from(stretch) * 100.0);
    [row(name.into(), found), length]
}

/// Compares the crossings of a scene with none.
fn row(name: String, found: Crossings) -> Row {
    let Crossings {
        passages,
        intersections,
        first,
    } = found;
    let since = first.map(|step| format!(", from step {step}"));
    let label = format!("{name}: crossings{}", since.unwrap_or_default());
    Row::at_most(label, 0.0, (passages + intersections) as f64)
}

/// Cloth that slides over cloth without friction keeps its energy.
fn slides() -> Vec<Row> {
    [("touching", 0.0), ("under its weight", 9.81)]
        .map(|(name, gravity)| {
            let label = format!("energy after a slide, {name}, %");
            Row::at_least(label, 98.0, slide(gravity))
        })
        .into()
}
