//! Gusts: varies the strength and direction of the wind by value noise over time.
//!
//! An integer hash of the number of each tick gives its value, and smoothstep, 3f² − 2f³, interpolates between
//! ticks (value noise, after Perlin, "An Image Synthesizer", 1985). All arithmetic is on integers or + − × ÷, so
//! the same time gives the same wind on every machine.

use crate::solver::math::smoothstep;
use bevy::math::Vec3;

/// Time between ticks of the slow octave of a gust, s.
const SLOW_PERIOD: f64 = 1.6;
/// Time between ticks of the fast octave, s. No divisor of the slow one, so that their ticks do not coincide.
const FAST_PERIOD: f64 = 0.45;
/// Weight of the slow octave, 0 to 1.
const SLOW_WEIGHT: f32 = 0.7;
/// Largest sideways component of full gusts, as a fraction of the wind speed: 0.35 is 19°.
const SIDEWAYS_FRACTION: f32 = 0.35;

/// Returns the wind at a time, m/s. `velocity` is its mean, m/s; `gusts` is the largest relative change of its
/// strength, 0 to 1; `seconds` is the time, s.
///
/// w = v·(1 + g·a(t)) + 0.35·g·b(t)·(−v_z, 0, v_x), where a and b are noise from −1 to 1 with mean 0.
pub fn gusty(velocity: Vec3, gusts: f32, seconds: f64) -> Vec3 {
    if gusts == 0.0 {
        return velocity;
    }
    let swell = 1.0 + gusts * noise(seconds, 1);
    let across = Vec3::new(-velocity.z, 0.0, velocity.x);
    velocity * swell + across * (SIDEWAYS_FRACTION * gusts * noise(seconds, 2))
}

/// Returns noise from −1 to 1: the sum of both octaves. Streams are independent of each other.
fn noise(seconds: f64, stream: u64) -> f32 {
    let slow = value_noise(seconds / SLOW_PERIOD, stream);
    let fast = value_noise(seconds / FAST_PERIOD, stream + 1000);
    SLOW_WEIGHT * slow + (1.0 - SLOW_WEIGHT) * fast
}

/// Returns one octave of noise from −1 to 1, with a tick at each whole number.
fn value_noise(at: f64, stream: u64) -> f32 {
    let tick = at.floor();
    let f = (at - tick) as f32;
    let weight = smoothstep(f);
    // A non-finite time saturates: some finite wind, never a panic.
    let tick = tick as i64;
    let (from, to) = (
        tick_value(tick, stream),
        tick_value(tick.wrapping_add(1), stream),
    );
    if weight.is_finite() {
        from + (to - from) * weight
    } else {
        from
    }
}

/// Returns the value of a tick, −1 to 1: the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
fn tick_value(tick: i64, stream: u64) -> f32 {
    let mut h = (tick as u64).wrapping_add(stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^= h >> 31;
    // 24 bits, which an f32 holds exactly.
    (h >> 40) as f32 / (1 << 23) as f32 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIND: Vec3 = Vec3::new(3.0, 0.0, 4.0);

    /// Ten minutes in steps of 1/60 s.
    fn times() -> impl Iterator<Item = f64> {
        (0..36_000).map(|step| f64::from(step) / 60.0)
    }

    #[test]
    fn without_gusts_the_wind_is_steady() {
        assert!(times().all(|t| gusty(WIND, 0.0, t) == WIND));
    }

    #[test]
    fn gusts_are_bounded_and_use_their_range() {
        let along = |t| gusty(WIND, 0.5, t).dot(WIND) / WIND.length_squared();
        let (low, high) = times()
            .map(along)
            .fold((f32::MAX, f32::MIN), |(low, high), s| {
                (low.min(s), high.max(s))
            });
        assert!(low >= 0.5 && high <= 1.5, "{low} to {high}");
        assert!(low < 0.7 && high > 1.3, "{low} to {high}");
        let across = Vec3::new(-0.8, 0.0, 0.6);
        let sideways = |t| (gusty(WIND, 0.5, t).dot(across) / WIND.length()).abs();
        let most = times().map(sideways).fold(0.0, f32::max);
        assert!(most <= 0.5 * SIDEWAYS_FRACTION && most > 0.08, "{most}");
        assert!(times().all(|t| gusty(WIND, 1.0, t).dot(WIND) >= 0.0));
    }

    #[test]
    fn gusts_leave_the_mean_wind() {
        let mean = times().map(|t| gusty(WIND, 1.0, t)).sum::<Vec3>() / 36_000.0;
        assert!((mean - WIND).length() < 0.05 * WIND.length(), "{mean}");
    }

    #[test]
    fn gusts_are_continuous() {
        // The largest slope of an octave is 1.5·2 per tick.
        let steepest =
            3.0 * (SLOW_WEIGHT / SLOW_PERIOD as f32 + (1.0 - SLOW_WEIGHT) / FAST_PERIOD as f32);
        let most = steepest * 1.06 * WIND.length() / 60.0;
        for t in times() {
            let change = gusty(WIND, 1.0, t + 1.0 / 60.0) - gusty(WIND, 1.0, t);
            assert!(change.length() <= most * 1.01, "{change} at {t}");
        }
    }

    #[test]
    fn the_same_time_gives_the_same_bits() {
        // Computed by hand from the definition: the hash of tick 0 is the first output of SplitMix64 with seed 0.
        assert_eq!(tick_value(0, 1), 0x00e2_20a8 as f32 / 8_388_608.0 - 1.0);
        let bits = |t| gusty(WIND, 0.7, t).to_array().map(f32::to_bits);
        assert!(times().all(|t| bits(t) == bits(t)));
        assert_ne!(bits(1.0), bits(2.0));
    }

    #[test]
    fn extreme_and_non_finite_times_give_finite_wind() {
        for t in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -5.0] {
            assert!(gusty(WIND, 1.0, t).is_finite(), "{t}");
        }
    }
}
