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
};

/// Rates that are compared with 60 steps per second.
const RATES: [u32; 4] = [24, 30, 120, 144];
/// Allowed difference.
const TOLERANCE: f64 = 0.03;
/// Particles along each side of the sheets.
const SIDE: u32 = 32;

/// Compares numbers at all rates with those at 60 steps per second.
fn compare<const N: usize>(labels: [&str; N], measure: impl Fn(u32) -> [f64; N]) -> Vec<Row> {
    let usual = measure(60);
    let rows = RATES.into_iter().flat_map(|rate| {
        let measured = measure(rate);
        std::array::from_fn::<_, N, _>(|k| {
            let label = format!("{}, {rate} steps per second", labels[k]);
            Row::near(label, usual[k], measured[k], TOLERANCE)
        })
    });
    rows.collect()
}

/// Returns a horizontal sheet of 1 m, some of whose particles are pinned.
fn pinned_sheet(rate: u32, pins: impl Iterator<Item = u32>) -> Sample {
    let grid = ClothGrid::new(1.0, 1.0, SIDE, SIDE);
    let mut sample = OwnSheet::new(grid, SelfCollision::Off).sample;
    pins.for_each(|pin| sample.pin(pin));
    sample.add_tethers();
    sample.settings = at_rate(&Cloth::default(), rate);
    sample
}

/// Returns the mean position of all particles, m.
pub(super) fn centre(sample: &Sample) -> Vec3 {
    sample.particles.position.iter().sum::<Vec3>() / sample.particles.len() as f32
}

/// A sheet that hangs from two corners, and one that swings about its edge.
pub(crate) fn hanging() -> Vec<Row> {
    let sag = compare(["sag below two corners, m"], |rate| {
        let mut sample = pinned_sheet(rate, [0, SIDE - 1].into_iter());
        sample.run(10.0);
        [-f64::from(centre(&sample).y)]
    });
    let labels = [
        "period of a swing about an edge, s",
        "decay of the swing, 1/s",
    ];
    let swing = compare(labels, |rate| {
        let mut sample = pinned_sheet(rate, 0..SIDE);
        let mut signal = Vec::new();
        for _ in 0..8 * rate {
            sample.step();
            signal.push(f64::from(centre(&sample).z - sample.at(0).z));
        }
        let dt = 1.0 / f64::from(rate);
        // Energy of the oscillation in the first and the second half.
        let half = signal.len() / 2;
        let energy = |part: &[f64]| part.iter().map(|z| z * z).sum::<f64>();
        let ratio = energy(&signal[..half]) / energy(&signal[half..]);
        [period(&signal, dt), 0.5 * ratio.ln() / (half as f64 * dt)]
    });
    [sag, swing].concat()
}

/// Speed below which a drape is at rest, the root mean square of all particles, m/s.
const SPEED_AT_REST: f64 = 0.02;

/// A sheet that falls on a ball.
pub(crate) fn drape() -> Vec<Row> {
    let labels = [
        "mean height of a drape over a ball, m",
        "time until it rests, s",
    ];
    compare(labels, |rate| {
        let drape = Drape {
            side: 48,
            ..Drape::on(Support::Ball)
        };
        let mut sample = drape.sheet().sample;
        sample.settings = at_rate(&Cloth::default(), rate);
        let mass: f64 = sample.masses().iter().sum();
        let mut moving = 0;
        for step in 1..=8 * rate {
            sample.step();
            if (2.0 * sample.energy()[0] / mass).sqrt() > SPEED_AT_REST {
                moving = step;
            }
        }
        let rest = f64::from(moving) / f64::from(rate);
        [f64::from(centre(&sample).y), rest]
    })
}
