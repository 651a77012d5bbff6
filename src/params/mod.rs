//! Every number that a user can tune: name, unit, range and what it does. One table, which the
//! validation, the panel and the documentation of limits share.
//!
//! | file | whose numbers |
//! |---|---|
//! | `cloth` | a cloth and what may be beside it |
//! | `fabric` | what it is made of |
//! | `world` | gravity, wind, substeps |

mod cloth;
mod fabric;
mod world;

use std::ops::RangeInclusive;

pub use crate::rope::ROPE;
pub use cloth::{CLOTH, PRESSURE, WORLD_MOTION};
pub use fabric::FABRIC;
pub use world::{GRAVITY, SUBSTEPS, TURBULENCE, WIND, WIND_OCCLUSION, WIND_ZONE};

/// A tunable number of a `T`.
pub struct Param<T: 'static> {
    /// What the panel calls it.
    pub name: &'static str,
    /// How code calls it, for log messages.
    pub field: &'static str,
    /// Its unit; empty if it is a bare number.
    pub unit: &'static str,
    /// What it does, in a sentence or two.
    pub help: &'static str,
    /// What it may be. Values outside are clamped; NaN becomes the default.
    pub range: RangeInclusive<f32>,
    /// Spans several orders of magnitude, so a slider should be logarithmic.
    pub logarithmic: bool,
    /// Takes whole numbers only.
    pub integer: bool,
    /// Reads it.
    pub get: fn(&T) -> f32,
    /// Writes it.
    pub set: fn(&mut T, f32),
}

impl<T: Default> Param<T> {
    /// The default, from the `Default` of the type itself.
    pub fn default_value(&self) -> f32 {
        (self.get)(&T::default())
    }

    /// The nearest value that is allowed.
    pub fn clamp(&self, value: f32) -> f32 {
        if value.is_nan() {
            self.default_value()
        } else {
            value.clamp(*self.range.start(), *self.range.end())
        }
    }

    /// A sentence about its value, if that is out of range.
    pub fn complaint(&self, value: &T) -> Option<String> {
        let given = (self.get)(value);
        let allowed = self.clamp(given);
        // Not `given != allowed`: NaN differs from everything and must be told too.
        if given.to_bits() == allowed.to_bits() || (given == 0.0 && allowed == 0.0) {
            return None;
        }
        let (low, high) = (self.range.start(), self.range.end());
        let unit = if self.unit.is_empty() { "" } else { " " };
        Some(format!(
            "{} is {given}, allowed is {low} to {high}{unit}{}",
            self.field, self.unit
        ))
    }
}

/// Puts every number of `value` into its range. Returns a sentence for each one that was outside.
pub fn sanitize<T: Default>(params: &[Param<T>], value: &mut T) -> Vec<String> {
    let mut messages = Vec::new();
    for param in params {
        if let Some(complaint) = param.complaint(value) {
            let allowed = param.clamp((param.get)(value));
            (param.set)(value, allowed);
            messages.push(format!("{complaint}; using {allowed}"));
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloth::Cloth;

    fn check<T: Default + Clone>(params: &[Param<T>]) {
        let mut value = T::default();
        assert_eq!(sanitize(params, &mut value), Vec::<String>::new());
        for param in params {
            let (low, high) = (*param.range.start(), *param.range.end());
            let cases = [
                (f32::NAN, param.default_value()),
                (f32::NEG_INFINITY, low),
                (f32::INFINITY, high),
            ];
            for (bad, allowed) in cases {
                // Whole numbers cannot be NaN or infinite in the first place.
                if param.integer && !bad.is_finite() {
                    continue;
                }
                let mut value = T::default();
                (param.set)(&mut value, bad);
                let messages = sanitize(params, &mut value);
                assert_eq!((param.get)(&value), allowed, "{}", param.field);
                assert_eq!(messages.len(), 1, "{}: {messages:?}", param.field);
                assert!(messages[0].starts_with(param.field));
            }
        }
    }

    #[test]
    fn every_number_is_kept_in_its_range() {
        check(CLOTH);
        check(FABRIC);
        check(ROPE);
        check(SUBSTEPS);
        check(GRAVITY);
        check(WIND);
        check(TURBULENCE);
        check(WIND_OCCLUSION);
        check(WIND_ZONE);
        check(PRESSURE);
        check(WORLD_MOTION);
    }

    #[test]
    fn zero_iterations_become_one() {
        let mut cloth = Cloth {
            iterations: 0,
            ..Default::default()
        };
        assert_eq!(sanitize(CLOTH, &mut cloth).len(), 1);
        assert_eq!(cloth.iterations, 1);
    }
}
