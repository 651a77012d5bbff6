//! Cloth that is jerked by hands keeps its length.

use super::Row;
use crate::sample::{Sample, at_rate};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::Cloth,
    mesh::ClothGrid,
    solver::{break_symmetry, measure_stretch},
};

/// Speed of the hands, m/s, and how long they move, s.
const SPEED: f32 = 20.0;
const DURATION: f32 = 0.1;
/// Steps per second.
const RATE: u32 = 60;

/// Largest stretch, %, while hands move in a direction, and a tenth of a second later.
fn jerk(side: u32, pins: &[u32], direction: Vec3) -> [f64; 2] {
    let grid = ClothGrid::vertical(1.0, 1.0, side, side);
    let cloth = Cloth::default();
    let mut sample = Sample::of_grid(grid, cloth.fabric.areal_density);
    pins.iter().for_each(|&pin| sample.pin(pin));
    sample.add_tethers();
    break_symmetry(&mut sample.particles, &sample.triangles.indices);
    sample.settings = at_rate(&cloth, RATE);
    sample.run(2.0);
    let start: Vec<Vec3> = pins.iter().map(|&pin| sample.at(pin as usize)).collect();
    let mut worst = [0.0_f64; 2];
    let [during, after] = [DURATION, 0.1].map(|time| (time * RATE as f32).round() as u32);
    for step in 1..=during + after {
        let moved = direction * (SPEED * step.min(during) as f32 / RATE as f32);
        let origin = sample.particles.origin;
        for (pin, at) in sample.pins.iter_mut().zip(&start) {
            pin.position = *at + moved - origin;
        }
        sample.step();
        let stretch =
            100.0 * f64::from(measure_stretch(&sample.particles, &sample.constraints).max);
        if step <= during {
            worst[0] = worst[0].max(stretch);
        }
        worst[1] = stretch;
    }
    worst
}

/// Sheets on a whole edge, on two corners and on one, jerked sideways, up and down, and across.
pub(crate) fn jerked() -> Vec<Row> {
    let mut rows = Vec::new();
    for side in [16, 32, 64] {
        let pins: [(&str, Vec<u32>); 3] = [
            ("edge", (0..side).collect()),
            ("two corners", vec![0, side - 1]),
            ("corner", vec![0]),
        ];
        for (name, pins) in pins {
            let directions = [Vec3::X, Vec3::Y, Vec3::Z, Vec3::NEG_Y];
            let all = directions.map(|direction| jerk(side, &pins, direction));
            let worst = |k: usize| all.iter().map(|stretch| stretch[k]).fold(0.0, f64::max);
            let label = |when: &str| format!("worst stretch of {side}² on its {name}, {when}, %");
            rows.push(Row::at_most(label("meanwhile"), 20.0, worst(0)).so_far(45.0));
            rows.push(Row::at_most(label("0.1 s later"), 5.0, worst(1)).so_far(25.0));
        }
    }
    rows
}
