//! Reads a fabric from a file. What is not written there has its default, or the value of the preset that the
//! fabric is `like`.

use super::Fabric;
use bevy::{
    prelude::*,
    reflect::{
        Typed,
        structs::{Struct, StructInfo},
    },
};
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Unexpected, Visitor},
};
use std::{fmt, sync::LazyLock};

/// The field that names a preset.
const LIKE: &str = "like";

/// What may be written, for messages.
static KNOWN: LazyLock<Vec<&str>> = LazyLock::new(|| [fields(), &[LIKE]].concat());

/// The names of all its numbers.
fn fields() -> &'static [&'static str] {
    let info = Fabric::type_info().as_struct();
    info.map_or(&[], StructInfo::field_names)
}

impl Fabric {
    fn write(&mut self, field: &str, value: f32) {
        let number = self.field_mut(field);
        if let Some(number) = number.and_then(|number| number.try_downcast_mut()) {
            *number = value;
        }
    }
}

impl<'de> Deserialize<'de> for Fabric {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_struct("Fabric", fields(), Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Fabric;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a fabric")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fabric, A::Error> {
        let mut fabric = Fabric::default();
        // The preset may stand behind the numbers that differ from it.
        let mut written: Vec<(&str, f32)> = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == LIKE {
                let name: String = map.next_value()?;
                fabric = Fabric::named(&name).ok_or_else(|| {
                    let known = format!("one of {}", Fabric::names());
                    A::Error::invalid_value(Unexpected::Str(&name), &known.as_str())
                })?;
                continue;
            }
            let Some(field) = fields().iter().find(|field| **field == key) else {
                return Err(A::Error::unknown_field(&key, &KNOWN));
            };
            if written.iter().any(|(known, _)| known == field) {
                return Err(A::Error::duplicate_field(field));
            }
            written.push((field, map.next_value()?));
        }
        for (field, value) in written {
            fabric.write(field, value);
        }
        Ok(fabric)
    }

    /// Formats without names have all numbers, in order.
    fn visit_seq<A: SeqAccess<'de>>(self, mut numbers: A) -> Result<Fabric, A::Error> {
        let mut fabric = Fabric::default();
        for (i, field) in fields().iter().enumerate() {
            let number = numbers.next_element()?;
            fabric.write(
                field,
                number.ok_or_else(|| A::Error::invalid_length(i, &self))?,
            );
        }
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    fn odd() -> Fabric {
        let mut fabric = Fabric::default();
        for (i, field) in fields().iter().enumerate() {
            fabric.write(field, 0.1 + i as f32);
        }
        fabric
    }

    #[test]
    fn every_number_comes_back_with_its_name_or_without() {
        let fabric = odd();
        let named = to_value(fabric).unwrap();
        let numbers = named.as_object().unwrap();
        assert_eq!(numbers.len(), fields().len());
        for (field, number) in numbers {
            assert_ne!(to_value(Fabric::default()).unwrap()[field], *number);
        }
        let in_order: Vec<Value> = fields().iter().map(|f| named[f].clone()).collect();
        assert_eq!(from_value::<Fabric>(named).unwrap(), fabric);
        assert_eq!(from_value::<Fabric>(in_order.into()).unwrap(), fabric);
    }

    #[test]
    fn what_is_not_written_is_that_of_the_preset() {
        let read = |value| from_value::<Fabric>(value).map_err(|error| error.to_string());
        let expected = Fabric {
            drag: 0.8,
            ..Fabric::denim()
        };
        assert_eq!(read(json!({})), Ok(Fabric::default()));
        assert_eq!(read(json!({"like": "denim", "drag": 0.8})), Ok(expected));
        assert_eq!(read(json!({"drag": 0.8, "like": "Denim"})), Ok(expected));
        let told = |value: Value, part: &str| {
            let error = read(value).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        told(json!({"like": "lead"}), "expected one of cotton, wool");
        told(json!({"drga": 0.8}), "unknown field `drga`");
        told(json!({"drga": 0.8}), "`like`");
        told(json!({"drag": "much"}), "expected f32");
        told(json!([0.1, 0.2]), "invalid length 2");
        let twice = serde_json::from_str::<Fabric>(r#"{"drag": 1, "drag": 2}"#);
        assert!(twice.unwrap_err().to_string().contains("duplicate field"));
    }
}
