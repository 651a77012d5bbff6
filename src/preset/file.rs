//! Text form of presets. Syntax errors report file, line and column, and quote the line.

use super::ClothPreset;
use crate::params::{self, Param};
use ron::{Options, error::Position, extensions::Extensions, ser::PrettyConfig};
use thiserror::Error;

/// Reason why a preset was not read or written.
#[derive(Error, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClothPresetError {
    /// The file does not exist or cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Read {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        reason: String,
    },
    /// The text is not a preset.
    #[error("{path}:{line}:{column}: {reason}, in: {text}")]
    Syntax {
        /// Path of the file.
        path: String,
        /// Line number, from 1.
        line: usize,
        /// Column number in characters, from 1.
        column: usize,
        /// Description of the error, with the tokens expected.
        reason: String,
        /// Text of the line.
        text: String,
    },
    /// Numbers are out of range.
    #[error("{path}: {}", .messages.join("; "))]
    OutOfRange {
        /// Path of the file.
        path: String,
        /// One message per number: field, value and range.
        messages: Vec<String>,
    },
    /// The file cannot be written.
    #[error("{path}: cannot be written: {reason}")]
    Write {
        /// Path of the file.
        path: String,
        /// Error of the operating system.
        reason: String,
    },
}

/// Returns the options of the file format: `gravity: (0, -3, 0)` instead of `gravity: ((0, -3, 0))`, and optional values without
/// `Some`.
fn options() -> Options {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES;
    Options::default().with_default_extension(extensions)
}

impl ClothPreset {
    /// Reads a preset from text. Errors name the file by `path`.
    ///
    /// # Errors
    ///
    /// The text is not a preset, or a number is out of range.
    pub fn from_ron(text: &str, path: &str) -> Result<Self, ClothPresetError> {
        let preset: Self = options().from_str(text).map_err(|error| {
            let Position { line, col } = error.span.start;
            let text = text.lines().nth(line.saturating_sub(1)).unwrap_or("");
            // The span of a value includes the space after its name.
            let before = text.chars().skip(col.saturating_sub(1));
            let space = before.take_while(|c| c.is_whitespace()).count();
            ClothPresetError::Syntax {
                path: path.into(),
                line,
                column: col + space,
                reason: error.code.to_string(),
                text: text.trim().into(),
            }
        })?;
        preset.check(path)?;
        Ok(preset)
    }

    /// Returns the preset as text with all fields in order, from which [`from_ron`](Self::from_ron) reads the same
    /// preset.
    pub fn to_ron(&self) -> String {
        let pretty = PrettyConfig::new().new_line("\n");
        let mut text = options()
            .to_string_pretty(self, pretty)
            .expect("numbers and names are serializable");
        text.push('\n');
        text
    }

    /// Writes the preset to a file. To write it into the asset folder, use [`save_asset`](Self::save_asset).
    ///
    /// # Errors
    ///
    /// The file cannot be written, or a number is out of range, so that the file could not be read again.
    #[cfg(not(target_family = "wasm"))]
    pub fn save_to(&self, path: impl AsRef<std::path::Path>) -> Result<(), ClothPresetError> {
        let name = path.as_ref().display().to_string();
        self.check(&name)?;
        std::fs::write(path, self.to_ron()).map_err(|error| ClothPresetError::Write {
            path: name,
            reason: error.to_string(),
        })
    }

    /// Returns an error if any number is out of range.
    pub(super) fn check(&self, path: &str) -> Result<(), ClothPresetError> {
        fn range_errors<T: Default>(params: &[Param<T>], value: &T) -> Vec<String> {
            let errors = params.iter().filter_map(|param| param.range_error(value));
            errors.collect()
        }
        let mut messages = range_errors(params::CLOTH, &self.cloth);
        messages.extend(range_errors(params::FABRIC, &self.cloth.fabric));
        if let Some(environment) = &self.environment {
            messages.extend(range_errors(params::GRAVITY, &environment.gravity));
            messages.extend(range_errors(params::WIND, &environment.wind));
            messages.extend(range_errors(params::TURBULENCE, &environment.turbulence));
            messages.extend(range_errors(
                params::WIND_OCCLUSION,
                &environment.wind_occlusion,
            ));
            messages.extend(range_errors(params::SUBSTEPS, &environment.substeps));
        }
        if messages.is_empty() {
            Ok(())
        } else {
            Err(ClothPresetError::OutOfRange {
                path: path.into(),
                messages,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cloth::{ClothSubsteps, SelfCollision},
        preset::ClothEnvironment,
        solver::StretchSolver,
    };
    use bevy::reflect::{PartialReflect, ReflectRef};

    /// Returns a preset in which no field has its default. Each number is at this fraction of its range.
    fn non_default_preset(fraction: f32) -> ClothPreset {
        fn set<T: Default>(params: &[Param<T>], value: &mut T, fraction: f32) {
            for param in params {
                let (low, high) = (*param.range.start(), *param.range.end());
                let number = low + (high - low) * fraction;
                let number = if param.integer {
                    number.round()
                } else {
                    number
                };
                param.set(value, Some(number));
            }
        }
        let mut preset = ClothPreset::default();
        let cloth = &mut preset.cloth;
        set(params::CLOTH, cloth, fraction);
        set(params::FABRIC, &mut cloth.fabric, fraction);
        cloth.stretch_solver = StretchSolver::GaussSeidel;
        cloth.self_collision = SelfCollision::On;
        let mut environment = ClothEnvironment::default();
        set(params::GRAVITY, &mut environment.gravity, fraction);
        set(params::WIND, &mut environment.wind, fraction);
        set(params::TURBULENCE, &mut environment.turbulence, fraction);
        set(
            params::WIND_OCCLUSION,
            &mut environment.wind_occlusion,
            fraction,
        );
        set(params::SUBSTEPS, &mut environment.substeps, fraction);
        environment.turbulence.seed = u32::MAX;
        preset.environment = Some(environment);
        preset
    }

    /// Returns the paths of the fields, at the leaves of both trees, that are equal.
    fn equal_fields(a: &dyn PartialReflect, b: &dyn PartialReflect, path: &str) -> Vec<String> {
        match (a.reflect_ref(), b.reflect_ref()) {
            (ReflectRef::Struct(a), ReflectRef::Struct(b)) => {
                let each = a.iter_fields().zip(b.iter_fields());
                each.flat_map(|((name, a), (_, b))| equal_fields(a, b, &format!("{path}.{name}")))
                    .collect()
            }
            _ if a.reflect_partial_eq(b) == Some(true) => vec![path.into()],
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_field_round_trips() {
        let default = ClothPreset {
            environment: Some(ClothEnvironment::default()),
            ..ClothPreset::default()
        };
        for fraction in [0.123_456_79, 1e-7, 0.999_9] {
            let preset = non_default_preset(fraction);
            if fraction > 0.1 && fraction < 0.2 {
                let environment = (preset.environment.unwrap(), default.environment.unwrap());
                assert_eq!(equal_fields(&preset.cloth, &default.cloth, ""), [""; 0]);
                assert_eq!(equal_fields(&environment.0, &environment.1, ""), [""; 0]);
            }
            let text = preset.to_ron();
            assert_eq!(ClothPreset::from_ron(&text, "odd").as_ref(), Ok(&preset));
            assert_eq!(preset.to_ron(), text);
        }
        let plain = ClothPreset::default();
        assert_eq!(ClothPreset::from_ron(&plain.to_ron(), ""), Ok(plain));
    }

    #[test]
    fn omitted_fields_have_their_defaults() {
        let read = |text| ClothPreset::from_ron(text, "a.cloth.ron").unwrap();
        assert_eq!(read("()"), ClothPreset::default());
        let preset = read(
            "// Light.
            (
                cloth: (fabric: (like: \"silk\", drag: 2), damping: 0.5),
                environment: (wind: (velocity: (0, 0, 4)), substeps: PerStep(12)),
            )",
        );
        assert_eq!(preset.cloth.fabric.drag, 2.0);
        assert_eq!(
            preset.cloth.fabric.areal_density,
            crate::cloth::Fabric::silk().areal_density
        );
        assert_eq!(preset.cloth.damping, 0.5);
        assert_eq!(preset.cloth.iterations, 1);
        let environment = preset.environment.unwrap();
        assert_eq!(environment.wind.velocity.z, 4.0);
        assert_eq!(environment.wind.air_density, 1.2);
        assert_eq!(environment.substeps, ClothSubsteps::PerStep(12));
        assert_eq!(environment.gravity.y, -9.81);
    }

    #[test]
    fn errors_report_position_and_cause() {
        let cases = [
            (
                "(\n    cloth: (\n        fabric: (\n            lfit: 0.4,",
                "flag.cloth.ron:4:13: Unexpected field named `lfit` in `Fabric`, expected one of",
            ),
            (
                "(\n    cloth: (\n        damping: \"much\",\n    ),\n)",
                "flag.cloth.ron:3:18: Expected float, in: damping: \"much\",",
            ),
            (
                "(cloth: (fabric: (like: \"sikl\")))",
                "flag.cloth.ron:1:31: Expected one of cotton, wool",
            ),
            (
                "(\n    cloth: (stretch_solver: Fast),\n)",
                "flag.cloth.ron:2:29: Unexpected variant named `Fast` in enum `StretchSolver`",
            ),
            (
                "(environment: (gusts: 1))",
                "flag.cloth.ron:1:16: Unexpected field named `gusts` in `ClothEnvironment`",
            ),
            (
                "(\n    cloth: (\n",
                "flag.cloth.ron:2:13: Unexpected end of RON",
            ),
            ("", "flag.cloth.ron:1:1: Expected opening `(`"),
        ];
        for (text, expected) in cases {
            let error = ClothPreset::from_ron(text, "flag.cloth.ron").unwrap_err();
            let message = error.to_string();
            assert!(
                message.starts_with(expected),
                "{message}\nis not\n{expected}"
            );
        }
    }

    #[test]
    fn numbers_out_of_range_are_errors() {
        let message_of = |text| {
            let error = ClothPreset::from_ron(text, "flag.cloth.ron").unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message_of("(cloth: (damping: 200, fabric: (drag: NaN)))"),
            "flag.cloth.ron: Cloth::damping is 200, must be 0 to 100 1/s; Fabric::drag is NaN, must be 0 to 10"
        );
        assert_eq!(
            message_of("(environment: (gravity: (0, -1e60, 0), substeps: PerStep(0)))"),
            "flag.cloth.ron: ClothGravity.y is -inf, must be -200 to 200 m/s²; ClothSubsteps::PerStep is 0, must be \
             1 to 100 per step"
        );
    }

    #[test]
    #[cfg(not(target_family = "wasm"))]
    fn files_are_written_unless_they_would_be_unreadable() {
        let folder = std::env::temp_dir().join(format!("bevy_drape_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("saved.cloth.ron");
        let preset = non_default_preset(0.3);
        preset.save_to(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(ClothPreset::from_ron(&text, "").unwrap(), preset);
        let mut bad = preset.clone();
        bad.cloth.damping = f32::NAN;
        let error = bad.save_to(&path).unwrap_err();
        assert!(matches!(error, ClothPresetError::OutOfRange { .. }));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let nowhere = folder.join("none").join("saved.cloth.ron");
        let message = preset.save_to(&nowhere).unwrap_err().to_string();
        let name = nowhere.display().to_string();
        assert!(message.starts_with(&name) && message.contains("cannot be written"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
