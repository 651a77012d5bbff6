//! Edits of a running cloth that would jerk it are taken in small strides.
//!
//! A cloth that hangs is stretched by its weight as far as its stiffness allows. If the stiffness
//! rose at once, it would snap back like rubber; if the thickness did, it would leap off whatever it
//! lies on. Softening needs no such care: then gravity sets the pace.

use super::constraints::Compliance;

/// Stiffness rises by at most this factor from one step to the next, or by one count.
const STRIDE: f32 = 1.125;

/// Compliances below this are no softer than the solver is anyway, m/N.
const RIGID: f32 = 1e-9;

/// Speed at which thickness grows, m/s.
const GROWTH: f32 = 0.2;

/// The next value of a count (iterations, substeps) on its way to `target`.
pub fn glide_count(now: u32, target: u32) -> u32 {
    let stride = ((now as f32 * (STRIDE - 1.0)) as u32).max(1);
    target.min(now.saturating_add(stride))
}

/// The next value of a compliance on its way to `target`, m/N.
pub fn glide_compliance(now: Compliance, target: Compliance) -> Compliance {
    let glide = |now: f32, target: f32| {
        let next = now / STRIDE;
        if next <= target || next < RIGID {
            target
        } else {
            next
        }
    };
    Compliance {
        stretch: glide(now.stretch, target.stretch),
        shear: glide(now.shear, target.shear),
        bend: glide(now.bend, target.bend),
    }
}

/// The next value of a thickness on its way to `target`, m, after a step of `dt` seconds.
pub fn glide_thickness(now: f32, target: f32, dt: f32) -> f32 {
    target.min(now + GROWTH * dt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stiffening_takes_strides_and_arrives() {
        let mut count = 8;
        let mut steps = 0;
        while count != 100 {
            let next = glide_count(count, 100);
            assert!(next > count && next as f32 <= (count as f32 * STRIDE).max(count as f32 + 1.0));
            count = next;
            steps += 1;
        }
        assert!(steps < 40, "{steps} steps");
        let rigid = Compliance::default();
        let mut soft = Compliance {
            stretch: 1.0,
            shear: 1e-3,
            bend: 0.0,
        };
        for _ in 0..200 {
            soft = glide_compliance(soft, rigid);
        }
        assert_eq!(soft, rigid);
        assert_eq!(glide_thickness(0.01, 0.011, 0.1), 0.011);
        assert!(glide_thickness(0.01, 1.0, 0.1) < 0.031);
    }

    #[test]
    fn softening_is_immediate() {
        assert_eq!(glide_count(100, 1), 1);
        assert_eq!(glide_thickness(0.5, 0.1, 0.1), 0.1);
        let soft = Compliance {
            stretch: 1.0,
            shear: 1.0,
            bend: 1.0,
        };
        assert_eq!(glide_compliance(Compliance::default(), soft), soft);
    }
}
