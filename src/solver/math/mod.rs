//! Small numeric tools. Functions return the same bits on every platform, so they use + − × ÷ √ only.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | e^(−x) without the platform's `exp`; smoothstep |
//! | `pose` | rigid poses |
//! | `closest_point` | closest point on a triangle |
//! | `components` | connected components of a graph |
//! | `sort` | sorting of per-particle lists |
//! | `particle_lists` | one list per particle |
//! | `noise` | pseudo-random numbers |
//! | `bits` | serialization of numbers that may be infinite (feature `serialize`) |

#[cfg(feature = "serialize")]
pub(crate) mod bits;
pub(crate) mod closest_point;
pub(crate) mod components;
pub(in crate::solver) mod noise;
pub(in crate::solver) mod particle_lists;
pub(crate) mod pose;
pub(in crate::solver) mod sort;

/// Returns e^(−x) for x ≥ 0 without the platform's `exp`, whose last bits differ between platforms.
///
/// The argument is halved until it is small, a Taylor series is summed, and the result is squared as often.
pub(crate) fn exp_neg(x: f64) -> f64 {
    if x > 700.0 {
        return 0.0;
    }
    let mut small = x;
    let mut halvings = 0;
    while small > 0.125 {
        small *= 0.5;
        halvings += 1;
    }
    // Horner form of 1 − s + s²/2! − … to the tenth power: below f64 rounding for s ≤ 1/8.
    let mut e = 1.0;
    for k in (1..=10).rev() {
        e = 1.0 - small * e / f64::from(k);
    }
    for _ in 0..halvings {
        e *= e;
    }
    e
}

/// Smoothstep, 3f² − 2f³: from 0 to 1, with slope 0 at both ends.
#[inline(always)]
pub(in crate::solver) fn smoothstep(f: f32) -> f32 {
    f * f * (3.0 - 2.0 * f)
}

#[cfg(test)]
mod tests {
    use super::exp_neg;

    #[test]
    fn exp_neg_agrees_with_std() {
        for x in [0.0, 1e-9, 0.01, 0.125, 0.2, 1.0, 3.7, 20.0, 300.0] {
            let (got, want) = (exp_neg(x), f64::exp(-x));
            assert!(
                (got - want).abs() <= want * 1e-12,
                "e^-{x}: {got} instead of {want}"
            );
        }
        assert_eq!(exp_neg(1e9), 0.0);
    }
}
