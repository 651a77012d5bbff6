//! Motion does not depend on the number of steps per second.

use super::Row;
use crate::{
    drape::Drape,
    own_sheet::OwnSheet,
    sample::{Sample, at_rate, period},
    supports::Support,
};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::{Cloth, SelfCollision},
    mesh::ClothGrid,
    solver::StepSettings,
};

/// Rates that are compared with 60 steps per second.
const RATES: [u32; 4] = [24, 30, 120, 144];
/// Allowed difference.
const TOLERANCE: f64 = 0.03;
/// Particles along each side of the sheets.
const SIDE: u32 = 32;

/// Compares a number at all rates with that at 60 steps per second.
fn compare(label: &str, measure: impl Fn(u32) -> f64) -> Vec<Row> {
    let usual = measure(60);
    let row = |rate| {
        let label = format!("{label}, {rate} steps per second");
        Row::near(label, usual, measure(rate), TOLERANCE)
    };
    RATES.into_iter().map(row).collect()
}

/// Returns a horizontal sheet of 1 m, some of whose particles are pinned.
fn pinned_sheet(rate: u32, pins: impl Iterator<Item = u32>) -> Sample {
    let grid = ClothGrid::new(1.0, 1.0, SIDE, SIDE);
    let mut sample = OwnSheet::new(grid, SelfCollision::Off).sample;
    pins.for_each(|pin| sample.pin(pin));
    sample.add_tethers();
    sample.settings = StepSettings {
        air: sample.settings.air,
        ..at_rate(&Cloth::default(), rate)
    };
    sample
}

/// Returns the mean position of all particles, m.
fn centre(sample: &Sample) -> Vec3 {
    sample.particles.position.iter().sum::<Vec3>() / sample.particles.len() as f32
}

/// A sheet that hangs from two corners, and one that swings about its edge.
pub(crate) fn hanging() -> Vec<Row> {
    let sag = compare("sag below two corners, m", |rate| {
        let mut sample = pinned_sheet(rate, [0, SIDE - 1].into_iter());
        sample.run(10.0);
        -f64::from(centre(&sample).y)
    });
    let swing = |rate: u32| {
        let mut sample = pinned_sheet(rate, 0..SIDE);
        let mut signal = Vec::new();
        for _ in 0..8 * rate {
            sample.step();
            signal.push(f64::from(centre(&sample).z - sample.at(0).z));
        }
        (signal, 1.0 / f64::from(rate))
    };
    let periods = compare("period of a swing about an edge, s", |rate| {
        let (signal, dt) = swing(rate);
        period(&signal, dt)
    });
    let decay = compare("decay of the swing, 1/s", |rate| {
        let (signal, dt) = swing(rate);
        // Energy of the oscillation in its first and last three seconds.
        let half = signal.len() / 2;
        let energy = |part: &[f64]| part.iter().map(|z| z * z).sum::<f64>();
        let ratio = energy(&signal[..half]) / energy(&signal[half..]);
        0.5 * ratio.ln() / (half as f64 * dt)
    });
    [sag, periods, decay].concat()
}

/// A sheet that falls on a ball.
pub(crate) fn drape() -> Vec<Row> {
    let sheet = |rate| {
        let drape = Drape {
            side: 48,
            ..Drape::on(Support::Ball)
        };
        let mut sample = drape.sheet().sample;
        sample.settings = at_rate(&Cloth::default(), rate);
        sample
    };
    let height = compare("mean height of a drape over a ball, m", |rate| {
        let mut sample = sheet(rate);
        sample.run(8.0);
        f64::from(centre(&sample).y)
    });
    let rest = compare("time until a drape over a ball rests, s", |rate| {
        let mut sample = sheet(rate);
        let mut moving = 0;
        let speed_at_rest = 0.02;
        let mass: f64 = sample.masses().iter().sum();
        for step in 1..=8 * rate {
            sample.step();
            let speed = (2.0 * sample.energy()[0] / mass).sqrt();
            if speed > speed_at_rest {
                moving = step;
            }
        }
        f64::from(moving) / f64::from(rate)
    });
    [height, rest].concat()
}
