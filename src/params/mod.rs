//! Tables of every number that a user can tune: name, unit, range and effect. Validation, panel and presets share
//! them.
//!
//! | file | numbers of |
//! |---|---|
//! | `cloth` | `Cloth` and the components beside it |
//! | `fabric` | `Fabric` |
//! | `rope` | `Rope` |
//! | `world` | gravity, wind, substeps |

mod cloth;
mod fabric;
mod rope;
mod world;

use std::ops::RangeInclusive;

pub use cloth::{CLOTH, INERTIA, PRESSURE};
pub use fabric::FABRIC;
pub use rope::ROPE;
pub use world::{GRAVITY, SUBSTEPS, TURBULENCE, WIND, WIND_OCCLUSION, WIND_ZONE};

/// A tunable number of a `T`.
pub struct Param<T: 'static> {
    /// Label in the panel.
    pub name: &'static str,
    /// Path in code, for log messages.
    pub field: &'static str,
    /// Unit; empty for a bare number.
    pub unit: &'static str,
    /// Effect, in a sentence or two.
    pub help: &'static str,
    /// Allowed values. Values outside are clamped; NaN becomes the default.
    pub range: RangeInclusive<f32>,
    /// Spans several orders of magnitude, so that a slider should be logarithmic.
    pub logarithmic: bool,
    /// Takes whole numbers only.
    pub integer: bool,
    /// Reads and writes the number.
    pub access: Access<T>,
}

/// Accessors of a [`Param`]: getter and setter.
pub enum Access<T: 'static> {
    /// A number that is always there.
    Number(fn(&T) -> f32, fn(&mut T, f32)),
    /// A number that may be absent, and the meaning of its absence in a word.
    Optional(&'static str, fn(&T) -> Option<f32>, fn(&mut T, Option<f32>)),
}

impl<T> Param<T> {
    /// Returns the number, or `None` if it is absent.
    pub fn get(&self, value: &T) -> Option<f32> {
        match self.access {
            Access::Number(get, _) => Some(get(value)),
            Access::Optional(_, get, _) => get(value),
        }
    }

    /// Writes the number. `None` leaves a number that cannot be absent as it is.
    pub fn set(&self, value: &mut T, number: Option<f32>) {
        match (&self.access, number) {
            (Access::Number(_, set), Some(number)) => set(value, number),
            (Access::Number(..), None) => {}
            (Access::Optional(.., set), number) => set(value, number),
        }
    }

    /// Returns the meaning of `None` in a word, if the number may be absent.
    pub fn none_label(&self) -> Option<&'static str> {
        match self.access {
            Access::Number(..) => None,
            Access::Optional(none, ..) => Some(none),
        }
    }

    /// Returns a number in words: `None` by its meaning.
    pub fn describe(&self, number: Option<f32>) -> String {
        number.map_or_else(|| self.none_label().unwrap_or("").into(), |n| n.to_string())
    }
}

impl<T: Default> Param<T> {
    /// Returns the default, from the `Default` of the type itself.
    pub fn default_value(&self) -> Option<f32> {
        self.get(&T::default())
    }

    /// Returns the nearest allowed number.
    pub fn clamp(&self, number: Option<f32>) -> Option<f32> {
        match number {
            Some(n) if n.is_nan() => self.default_value(),
            Some(n) => Some(n.clamp(*self.range.start(), *self.range.end())),
            None => None,
        }
    }

    /// Returns a message with field, value and range if the number is out of range.
    pub fn range_error(&self, value: &T) -> Option<String> {
        let given = self.get(value)?;
        let allowed = self.clamp(Some(given));
        // Not `given != allowed`: NaN differs from everything and must be reported too.
        let same = |a: f32| given.to_bits() == a.to_bits() || (given == 0.0 && a == 0.0);
        if allowed.is_some_and(same) {
            return None;
        }
        let (low, high) = (self.range.start(), self.range.end());
        let unit = if self.unit.is_empty() { "" } else { " " };
        Some(format!(
            "{} is {given}, must be {low} to {high}{unit}{}",
            self.field, self.unit
        ))
    }
}

/// Clamps every number of `value` to its range. Returns a message for each number that was outside.
pub fn sanitize<T: Default>(params: &[Param<T>], value: &mut T) -> Vec<String> {
    let mut messages = Vec::new();
    for param in params {
        if let Some(error) = param.range_error(value) {
            let allowed = param.clamp(param.get(value));
            param.set(value, allowed);
            let allowed = param.describe(allowed);
            messages.push(format!("{error}; using {allowed}"));
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
                (f32::NEG_INFINITY, Some(low)),
                (f32::INFINITY, Some(high)),
            ];
            for (bad, allowed) in cases {
                // Whole numbers cannot be NaN or infinite in the first place.
                if param.integer && !bad.is_finite() {
                    continue;
                }
                let mut value = T::default();
                param.set(&mut value, Some(bad));
                let messages = sanitize(params, &mut value);
                assert_eq!(param.get(&value), allowed, "{}", param.field);
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
        check(INERTIA);
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
