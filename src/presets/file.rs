//! Presets as text. Errors say where: file, line and column, and they show the line.

use super::ClothPreset;
use crate::params::{self, Param};
use ron::{Options, error::Position, extensions::Extensions, ser::PrettyConfig};
use thiserror::Error;

/// Why a preset was not read or written.
#[derive(Error, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClothPresetError {
    /// The file is not there, or cannot be read.
    #[error("{path}: cannot be read: {reason}")]
    Read {
        /// The file.
        path: String,
        /// What the operating system says.
        reason: String,
    },
    /// The text is no preset.
    #[error("{path}:{line}:{column}: {reason}, in: {text}")]
    Syntax {
        /// The file.
        path: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
        /// What is wrong, and what may stand there.
        reason: String,
        /// What stands in that line.
        text: String,
    },
    /// Numbers are not in their ranges.
    #[error("{path}: {}", .complaints.join("; "))]
    OutOfRange {
        /// The file.
        path: String,
        /// A sentence about each of them: field, value and range.
        complaints: Vec<String>,
    },
    /// The file cannot be written.
    #[error("{path}: cannot be written: {reason}")]
    Write {
        /// The file.
        path: String,
        /// What the operating system says.
        reason: String,
    },
}

/// `substeps: 12` instead of `substeps: (12)`, and no `Some` around settings.
fn options() -> Options {
    let extensions = Extensions::IMPLICIT_SOME | Extensions::UNWRAP_NEWTYPES;
    Options::default().with_default_extension(extensions)
}

impl ClothPreset {
    /// Reads it from a text. `path` is what errors call it.
    ///
    /// # Errors
    ///
    /// The text is no preset, or a number is out of range.
    pub fn from_ron(text: &str, path: &str) -> Result<Self, ClothPresetError> {
        let preset: Self = options().from_str(text).map_err(|error| {
            let Position { line, col } = error.span.start;
            let text = text.lines().nth(line.saturating_sub(1)).unwrap_or("");
            // Values begin behind the space that is behind their names.
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

    /// It as a text that [`from_ron`](Self::from_ron) reads to the same value: all fields, in their order.
    pub fn to_ron(&self) -> String {
        let pretty = PrettyConfig::new().new_line("\n");
        let mut text = options()
            .to_string_pretty(self, pretty)
            .expect("numbers and names can be written");
        text.push('\n');
        text
    }

    /// Writes it to a file. Assets are in a folder of their own: [`save_asset`](Self::save_asset) knows it.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or a number is out of range, so that it could not be read again.
    #[cfg(not(target_family = "wasm"))]
    pub fn save_to(&self, path: impl AsRef<std::path::Path>) -> Result<(), ClothPresetError> {
        let name = path.as_ref().display().to_string();
        self.check(&name)?;
        std::fs::write(path, self.to_ron()).map_err(|error| ClothPresetError::Write {
            path: name,
            reason: error.to_string(),
        })
    }

    /// Whether all its numbers are in their ranges.
    pub(super) fn check(&self, path: &str) -> Result<(), ClothPresetError> {
        fn among<T: Default>(params: &[Param<T>], value: &T) -> Vec<String> {
            let complaints = params.iter().filter_map(|param| param.complaint(value));
            complaints.collect()
        }
        let mut complaints = among(params::CLOTH, &self.cloth);
        complaints.extend(among(params::FABRIC, &self.cloth.fabric));
        if let Some(settings) = &self.settings {
            complaints.extend(among(params::GRAVITY, &settings.gravity));
            complaints.extend(among(params::WIND, &settings.wind));
            complaints.extend(among(params::TURBULENCE, &settings.turbulence));
            complaints.extend(among(params::WIND_OCCLUSION, &settings.wind_occlusion));
            complaints.extend(among(params::SUBSTEPS, &settings.substeps));
        }
        if complaints.is_empty() {
            Ok(())
        } else {
            Err(ClothPresetError::OutOfRange {
                path: path.into(),
                complaints,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{cloth::SelfCollision, presets::ClothSettings, solver::ThreadSolver};
    use bevy::reflect::{PartialReflect, ReflectRef};

    /// A preset in which no number is the default. `share` says where in its range each is.
    fn odd(share: f32) -> ClothPreset {
        fn set<T: Default>(params: &[Param<T>], value: &mut T, share: f32) {
            for param in params {
                let (low, high) = (*param.range.start(), *param.range.end());
                let number = low + (high - low) * share;
                let number = if param.integer {
                    number.round()
                } else {
                    number
                };
                (param.set)(value, number);
            }
        }
        let mut preset = ClothPreset::default();
        let cloth = &mut preset.cloth;
        set(params::CLOTH, cloth, share);
        set(params::FABRIC, &mut cloth.fabric, share);
        cloth.threads = ThreadSolver::Relaxation;
        cloth.self_collision = SelfCollision::ParticlesAndEdges;
        let mut settings = ClothSettings::default();
        set(params::GRAVITY, &mut settings.gravity, share);
        set(params::WIND, &mut settings.wind, share);
        set(params::TURBULENCE, &mut settings.turbulence, share);
        set(params::WIND_OCCLUSION, &mut settings.wind_occlusion, share);
        set(params::SUBSTEPS, &mut settings.substeps, share);
        settings.turbulence.seed = u32::MAX;
        preset.settings = Some(settings);
        preset
    }

    /// The leaves of a tree of fields that are the same in both.
    fn same(a: &dyn PartialReflect, b: &dyn PartialReflect, path: &str) -> Vec<String> {
        match (a.reflect_ref(), b.reflect_ref()) {
            (ReflectRef::Struct(a), ReflectRef::Struct(b)) => {
                let each = a.iter_fields().zip(b.iter_fields());
                each.flat_map(|((name, a), (_, b))| same(a, b, &format!("{path}.{name}")))
                    .collect()
            }
            _ if a.reflect_partial_eq(b) == Some(true) => vec![path.into()],
            _ => Vec::new(),
        }
    }

    #[test]
    fn every_field_comes_back_whatever_it_is() {
        let default = ClothPreset {
            settings: Some(ClothSettings::default()),
            ..ClothPreset::default()
        };
        for share in [0.123_456_79, 1e-7, 0.999_9] {
            let preset = odd(share);
            if share > 0.1 && share < 0.2 {
                let settings = (preset.settings.unwrap(), default.settings.unwrap());
                assert_eq!(same(&preset.cloth, &default.cloth, ""), [""; 0]);
                assert_eq!(same(&settings.0, &settings.1, ""), [""; 0]);
            }
            let text = preset.to_ron();
            assert_eq!(ClothPreset::from_ron(&text, "odd").as_ref(), Ok(&preset));
            assert_eq!(preset.to_ron(), text);
        }
        let plain = ClothPreset::default();
        assert_eq!(ClothPreset::from_ron(&plain.to_ron(), ""), Ok(plain));
    }

    #[test]
    fn what_is_not_written_has_its_default() {
        let read = |text| ClothPreset::from_ron(text, "a.cloth.ron").unwrap();
        assert_eq!(read("()"), ClothPreset::default());
        let preset = read(
            "// Light.
            (
                cloth: (fabric: (like: \"silk\", drag: 2), damping: 0.5),
                settings: (wind: (velocity: (0, 0, 4)), substeps: 12),
            )",
        );
        assert_eq!(preset.cloth.fabric.drag, 2.0);
        assert_eq!(
            preset.cloth.fabric.areal_density,
            crate::Fabric::silk().areal_density
        );
        assert_eq!(preset.cloth.damping, 0.5);
        assert_eq!(preset.cloth.iterations, 1);
        let settings = preset.settings.unwrap();
        assert_eq!(settings.wind.velocity.z, 4.0);
        assert_eq!(settings.wind.air_density, 1.2);
        assert_eq!(settings.substeps.0, 12);
        assert_eq!(settings.gravity.y, -9.81);
    }

    #[test]
    fn errors_say_where_and_what() {
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
                "(\n    cloth: (threads: Fast),\n)",
                "flag.cloth.ron:2:22: Unexpected variant named `Fast` in enum `ThreadSolver`",
            ),
            (
                "(settings: (gusts: 1))",
                "flag.cloth.ron:1:13: Unexpected field named `gusts` in `ClothSettings`",
            ),
            (
                "(\n    cloth: (\n",
                "flag.cloth.ron:2:13: Unexpected end of RON",
            ),
            ("", "flag.cloth.ron:1:1: Expected opening `(`"),
        ];
        for (text, expected) in cases {
            let error = ClothPreset::from_ron(text, "flag.cloth.ron").unwrap_err();
            let told = error.to_string();
            assert!(told.starts_with(expected), "{told}\nis not\n{expected}");
        }
    }

    #[test]
    fn what_is_out_of_range_is_told_and_not_taken() {
        let told = |text| {
            let error = ClothPreset::from_ron(text, "flag.cloth.ron").unwrap_err();
            error.to_string()
        };
        assert_eq!(
            told("(cloth: (damping: 200, fabric: (drag: NaN)))"),
            "flag.cloth.ron: Cloth::damping is 200, allowed is 0 to 100 1/s; Fabric::drag is NaN, \
             allowed is 0 to 10"
        );
        assert_eq!(
            told("(settings: (gravity: (0, -1e60, 0), substeps: 0))"),
            "flag.cloth.ron: ClothGravity.y is -inf, allowed is -200 to 200 m/s²; Substeps is 0, \
             allowed is 1 to 100 per step"
        );
    }

    #[test]
    #[cfg(not(target_family = "wasm"))]
    fn files_are_written_unless_they_could_not_be_read() {
        let folder = std::env::temp_dir().join(format!("bevy_drape_{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("saved.cloth.ron");
        let preset = odd(0.3);
        preset.save_to(&path).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(ClothPreset::from_ron(&text, "").unwrap(), preset);
        let mut bad = preset.clone();
        bad.cloth.damping = f32::NAN;
        let error = bad.save_to(&path).unwrap_err();
        assert!(matches!(error, ClothPresetError::OutOfRange { .. }));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        let nowhere = folder.join("none").join("saved.cloth.ron");
        let told = preset.save_to(&nowhere).unwrap_err().to_string();
        let name = nowhere.display().to_string();
        assert!(told.starts_with(&name) && told.contains("cannot be written"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
