//! A flag in strong wind keeps its length, and moves in the same way whatever the rate of the steps.

use super::{Experiment, Row};
use crate::sample::{Sample, at_rate};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::{Cloth, Fabric},
    mesh::ClothGrid,
    solver::{StepSettings, break_symmetry, measure_stretch},
    wind::Wind,
};
use std::f64::consts::TAU;

/// Flag of 1.8 m × 1.2 m, pinned at its left edge.
const SIZE: [f32; 2] = [1.8, 1.2];
const COLUMNS: u32 = 48;
const ROWS: u32 = 32;
/// Duration of a run, s. Means are those of its second half.
const SECONDS: u32 = 10;
/// Steps per second.
const RATES: [u32; 3] = [30, 60, 120];
/// Wind speeds, m/s, with the largest stretch at each, %.
const WINDS: [(f32, f64); 2] = [(30.0, 5.0), (80.0, 15.0)];

/// Motion of a flag.
#[derive(Clone, Debug, Default)]
struct Flutter {
    /// Largest stretch, %.
    stretch: f64,
    /// Largest speed of a particle, m/s.
    fastest: f64,
    /// Mean height of the free edge above its lower end at rest, m.
    height: f64,
    /// Mean speed of all particles, m/s.
    speed: f64,
    /// Frequency of the motion of the free edge across the wind, Hz: how often it passes its mean, by Rice's formula.
    frequency: f64,
    /// Positions, m, and velocities, m/s, of the free edge across the wind, in the steps of the second half.
    across: Vec<Vec<[f32; 2]>>,
}

/// Returns a flag of a fabric.
fn flag(fabric: Fabric) -> Sample {
    let grid = ClothGrid::vertical(SIZE[0], SIZE[1], COLUMNS, ROWS);
    let mut flag = Sample::of_grid(grid, fabric.areal_density);
    (0..ROWS).for_each(|row| flag.pin(row * COLUMNS));
    flag.add_tethers();
    break_symmetry(&mut flag.particles, &flag.triangles.indices);
    flag
}

/// Lets a flag flutter in a wind of this speed, m/s, with gusts of this strength and this number of steps per second.
fn flutter(fabric: Fabric, speed: f32, gusts: f32, rate: u32) -> Flutter {
    let mut flag = flag(fabric);
    let cloth = Cloth {
        fabric,
        ..Cloth::default()
    };
    let wind = Wind {
        velocity: Vec3::X * speed,
        gusts,
        ..Wind::default()
    };
    let settings = at_rate(&cloth, rate);
    let steps = SECONDS * rate;
    let mut flutter = Flutter::default();
    for step in 1..=steps {
        let velocity = wind.at(f64::from(step) / f64::from(rate));
        flag.settings = StepSettings {
            air: fabric.air(velocity, wind.air_density),
            ..settings
        };
        flag.step();
        let stretch = measure_stretch(&flag.particles, &flag.constraints).max;
        flutter.stretch = flutter.stretch.max(100.0 * f64::from(stretch));
        let (mut total, mut fastest) = (0.0, 0.0_f64);
        for i in 0..flag.particles.len() {
            let speed = f64::from(flag.particles.velocity(i).length());
            total += speed;
            fastest = fastest.max(speed);
        }
        flutter.fastest = flutter.fastest.max(fastest);
        if step > steps / 2 {
            let edge = (1..=ROWS).map(|row| flag.at((row * COLUMNS - 1) as usize));
            let mean = edge.sum::<Vec3>() / ROWS as f32;
            flutter.height += f64::from(mean.y + 0.5 * SIZE[1]);
            flutter.speed += total / flag.particles.len() as f64;
            let edge = (1..=ROWS).map(|row| (row * COLUMNS - 1) as usize);
            flutter.across.push(
                edge.map(|i| [flag.at(i).z, flag.particles.velocity(i).z])
                    .collect(),
            );
        }
    }
    let samples = flutter.across.len() as f64;
    flutter.height /= samples;
    flutter.speed /= samples;
    flutter.frequency = frequency(&flutter.across, rate as usize / 4);
    flutter
}

/// Returns the frequency of points, Hz, from their positions and velocities over time. The mean over `window` samples
/// before and after each is subtracted: slow motion with the gusts is no flapping.
///
/// Rice, "Mathematical Analysis of Random Noise" (1945): f = σ(v)/2πσ(x).
fn frequency(samples: &[Vec<[f32; 2]>], window: usize) -> f64 {
    let mut squares = [0.0; 2];
    for (i, points) in samples.iter().enumerate().skip(window) {
        let Some(around) = samples.get(i - window..=i + window) else {
            break;
        };
        for (point, now) in points.iter().enumerate() {
            for (k, square) in squares.iter_mut().enumerate() {
                let all = around.iter().map(|points| f64::from(points[point][k]));
                let mean = all.sum::<f64>() / around.len() as f64;
                *square += (f64::from(now[k]) - mean).powi(2);
            }
        }
    }
    (squares[1] / squares[0]).sqrt() / TAU
}

/// Returns the frequency, Hz, at which the power spectrum of the positions of points, summed over all of them, has its peak.
fn strongest_frequency(samples: &[Vec<[f32; 2]>], rate: f64) -> f64 {
    let (points, count) = (samples[0].len(), samples.len() as f64);
    let means: Vec<f64> = (0..points)
        .map(|point| {
            samples
                .iter()
                .map(|points| f64::from(points[point][0]))
                .sum::<f64>()
                / count
        })
        .collect();
    let power = |frequency: f64| {
        let mut sums = vec![[0.0; 2]; points];
        for (i, now) in (0..).zip(samples) {
            let time = f64::from(i);
            // Hann's window: the samples do not begin and end at the same phase.
            let window = 1.0 - (TAU * (time + 0.5) / count).cos();
            let (sin, cos) = (TAU * frequency * time / rate).sin_cos();
            for ((sum, point), mean) in sums.iter_mut().zip(now).zip(&means) {
                let z = window * (f64::from(point[0]) - mean);
                sum[0] += z * cos;
                sum[1] += z * sin;
            }
        }
        sums.as_flattened().iter().map(|sum| sum * sum).sum::<f64>()
    };
    let frequencies = (5..(rate * 2.5) as u32).map(|tenths| f64::from(tenths) / 10.0);
    let spectrum = frequencies.map(|frequency| (power(frequency), frequency));
    let strongest = spectrum.max_by(|a, b| a.0.total_cmp(&b.0));
    strongest.map_or(0.0, |(_, frequency)| frequency)
}

/// Compares the strongest frequency of a flag in steady wind with that of waves which run along it as fast as the wind and
/// are 1.87 times as long as the flag, as sheets of paper show them in a wind tunnel.
pub(crate) fn flapping() -> Vec<Row> {
    [(10.0, 70.0), (20.0, 55.0), (30.0, 15.0)]
        .map(|(wind, so_far)| {
            let rate = 60;
            let flag = flutter(Fabric::default(), wind, 0.0, rate);
            let measured = strongest_frequency(&flag.across, rate.into());
            let published = f64::from(wind / (1.87 * SIZE[0]));
            let difference = 100.0 * (measured / published - 1.0).abs();
            let label = format!("difference from {published:.1} Hz at {wind} m/s, %");
            Row::at_most(label, 15.0, difference).so_far(so_far)
        })
        .into()
}

/// Compares the motion of a flag at different rates.
fn compare(name: &str, fabric: Fabric, wind: f32, limit: f64) -> Vec<Row> {
    let all = RATES.map(|rate| flutter(fabric, wind, 0.3, rate));
    let [_, usual, _] = &all;
    let label = |what: &str| format!("{what} of {name} at {wind} m/s");
    let most = |value: fn(&Flutter) -> f64| all.iter().map(value).fold(0.0, f64::max);
    let mut rows = vec![
        Row::at_most(label("worst stretch, %,"), limit, most(|flag| flag.stretch))
            .so_far(1.2 * limit),
        Row::at_most(
            label("fastest particle, m/s,"),
            wind.into(),
            most(|flag| flag.fastest),
        ),
    ];
    let motion: [(&str, fn(&Flutter) -> f64); 3] = [
        ("height of the free edge, m,", |flag| flag.height),
        ("mean speed, m/s,", |flag| flag.speed),
        ("flapping frequency, Hz,", |flag| flag.frequency),
    ];
    for (what, value) in motion {
        for (rate, flag) in RATES.iter().zip(&all).filter(|(rate, _)| **rate != 60) {
            let label = format!("{}, {rate} steps per second", label(what));
            rows.push(Row::near(label, value(usual), value(flag), 0.15));
        }
    }
    rows
}

/// The default fabric and the lightest one.
pub(crate) fn sample() -> Vec<Row> {
    let fabrics = [("default", Fabric::default()), ("silk", Fabric::silk())];
    let rows = fabrics.map(|(name, fabric)| {
        WINDS
            .map(|(wind, limit)| compare(name, fabric, wind, limit))
            .concat()
    });
    rows.concat()
}

/// All inextensible fabrics.
pub(crate) const FULL: &[Experiment] = &[Experiment {
    name: "storm, all fabrics",
    source: "a flag keeps its length, and moves in the same way at any rate",
    run: || {
        let presets = Fabric::PRESETS.iter().copied();
        let inextensible = presets.filter(|(_, fabric)| {
            fabric.warp_stiffness.is_none() && fabric.weft_stiffness.is_none()
        });
        let rows = inextensible.flat_map(|(name, fabric)| {
            WINDS
                .map(|(wind, limit)| compare(name, fabric, wind, limit))
                .concat()
        });
        rows.collect()
    },
}];
