//! Deserialization of a fabric. Omitted fields have their defaults, or the values of the preset named by `like`.

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

/// Field that names a preset.
const LIKE: &str = "like";

/// Known fields, for messages.
static KNOWN: LazyLock<Vec<&str>> = LazyLock::new(|| [fields(), &[LIKE]].concat());

/// Returns the names of all fields.
fn fields() -> &'static [&'static str] {
    let info = Fabric::type_info().as_struct();
    info.map_or(&[], StructInfo::field_names)
}

/// Value of a field: a number, or `None` in fields that may be absent.
#[derive(Clone, Copy)]
enum FieldValue {
    Number(f32),
    Optional(Option<f32>),
}

/// Returns whether a field may be `None`.
fn is_optional(field: &str) -> bool {
    let info = Fabric::type_info().as_struct();
    let field = info.ok().and_then(|info| info.field(field));
    field.is_some_and(|field| field.is::<Option<f32>>())
}

impl Fabric {
    fn write(&mut self, field: &str, value: FieldValue) {
        let field = self.field_mut(field);
        match value {
            FieldValue::Number(value) => {
                if let Some(number) = field.and_then(|field| field.try_downcast_mut()) {
                    *number = value;
                }
            }
            FieldValue::Optional(value) => {
                if let Some(number) = field.and_then(|field| field.try_downcast_mut()) {
                    *number = value;
                }
            }
        }
    }
}

impl<'de> Deserialize<'de> for Fabric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct("Fabric", fields(), FabricVisitor)
    }
}

struct FabricVisitor;

impl<'de> Visitor<'de> for FabricVisitor {
    type Value = Fabric;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a fabric")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fabric, A::Error> {
        let mut fabric = Fabric::default();
        // `like` may come after the fields that differ from the preset.
        let mut written: Vec<(&str, FieldValue)> = Vec::new();
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
            let value = match is_optional(field) {
                true => FieldValue::Optional(map.next_value()?),
                false => FieldValue::Number(map.next_value()?),
            };
            written.push((field, value));
        }
        for (field, value) in written {
            fabric.write(field, value);
        }
        Ok(fabric)
    }

    /// Reads formats without field names, which have all fields in order.
    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Fabric, A::Error> {
        let mut fabric = Fabric::default();
        for (i, field) in fields().iter().enumerate() {
            let value = match is_optional(field) {
                true => values.next_element()?.map(FieldValue::Optional),
                false => values.next_element()?.map(FieldValue::Number),
            };
            fabric.write(
                field,
                value.ok_or_else(|| A::Error::invalid_length(i, &self))?,
            );
        }
        Ok(fabric)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, from_value, json, to_value};

    /// Returns a fabric with a different number in each field, none of them the default.
    fn non_default_fabric() -> Fabric {
        let mut fabric = Fabric::default();
        for (i, field) in fields().iter().enumerate() {
            let number = 0.1 + i as f32;
            let value = match is_optional(field) {
                true => FieldValue::Optional(Some(number)),
                false => FieldValue::Number(number),
            };
            fabric.write(field, value);
        }
        fabric
    }

    #[test]
    fn fabrics_round_trip_with_and_without_field_names() {
        let fabric = non_default_fabric();
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
    fn omitted_fields_come_from_the_preset() {
        let read = |value| from_value::<Fabric>(value).map_err(|error| error.to_string());
        let expected = Fabric {
            drag: 0.8,
            ..Fabric::denim()
        };
        assert_eq!(read(json!({})), Ok(Fabric::default()));
        assert_eq!(read(json!({"like": "denim", "drag": 0.8})), Ok(expected));
        assert_eq!(read(json!({"drag": 0.8, "like": "Denim"})), Ok(expected));
        let assert_error = |value: Value, part: &str| {
            let error = read(value).unwrap_err();
            assert!(error.contains(part), "{error}");
        };
        let absent = json!({"strain_limit": null, "warp_stiffness": 50, "shear_stiffness": null});
        let expected = Fabric {
            strain_limit: None,
            warp_stiffness: Some(50.0),
            shear_stiffness: None,
            ..Fabric::default()
        };
        assert_eq!(read(absent), Ok(expected));
        assert_error(json!({"drag": null}), "expected f32");
        assert_error(json!({"like": "lead"}), "expected one of cotton, wool");
        assert_error(json!({"drga": 0.8}), "unknown field `drga`");
        assert_error(json!({"drga": 0.8}), "`like`");
        assert_error(json!({"drag": "much"}), "expected f32");
        assert_error(json!([0.1, 0.2]), "invalid length 2");
        let twice = serde_json::from_str::<Fabric>(r#"{"drag": 1, "drag": 2}"#);
        assert!(twice.unwrap_err().to_string().contains("duplicate field"));
    }
}
