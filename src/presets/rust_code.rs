//! Values as Rust, for whoever has tuned a cloth while it ran and wants to keep that in code. Reflection walks
//! through all fields, so that none is forgotten.

use super::ClothPreset;
use bevy::{
    prelude::*,
    reflect::{
        GetTypeRegistration, PartialReflect, ReflectRef, TypeRegistry, enums::VariantType,
        std_traits::ReflectDefault, structs::Struct,
    },
};

impl ClothPreset {
    /// Rust that makes the same cloth and gives a world the same settings: only what differs from the
    /// defaults. It needs `bevy::prelude::*` and this crate's prelude, and for settings `Commands`.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_drape::prelude::*;
    /// let mut preset = ClothPreset::default();
    /// preset.cloth.fabric.drag = 0.8;
    /// assert_eq!(
    ///     preset.to_rust(),
    ///     "let cloth = Cloth {
    ///     fabric: Fabric {
    ///         drag: 0.8,
    ///         ..default()
    ///     },
    ///     ..default()
    /// };
    /// "
    /// );
    /// ```
    pub fn to_rust(&self) -> String {
        let mut code = format!("let cloth = {};\n", rust_code(&self.cloth));
        if let Some(settings) = &self.settings {
            let registry = registry_of(settings);
            for (_, resource) in different(&registry, settings) {
                let resource = expression(&registry, resource, 0);
                code += &format!("commands.insert_resource({resource});\n");
            }
        }
        code
    }
}

/// An expression for a value, in Rust: of structs only the fields that differ from their default.
pub fn rust_code<T: Reflect + GetTypeRegistration>(value: &T) -> String {
    expression(&registry_of(value), value, 0)
}

fn registry_of<T: GetTypeRegistration>(_: &T) -> TypeRegistry {
    let mut registry = TypeRegistry::new();
    registry.register::<T>();
    registry
}

/// The fields of a struct that are not as in the default of its type; all of them if it has none.
fn different<'a>(
    registry: &TypeRegistry,
    value: &'a dyn Struct,
) -> Vec<(&'a str, &'a dyn PartialReflect)> {
    let type_id = value.get_represented_type_info().map(|info| info.type_id());
    let default = type_id
        .and_then(|id| registry.get_type_data::<ReflectDefault>(id))
        .map(ReflectDefault::default);
    let as_default = |name: &str, field: &dyn PartialReflect| {
        let default = default.as_ref().and_then(|default| {
            let ReflectRef::Struct(default) = default.reflect_ref() else {
                return None;
            };
            field.reflect_partial_eq(default.field(name)?)
        });
        default == Some(true)
    };
    let fields = value.iter_fields();
    fields
        .filter(|(name, field)| !as_default(name, *field))
        .collect()
}

fn expression(registry: &TypeRegistry, value: &dyn PartialReflect, indent: usize) -> String {
    if let Some(number) = value.try_downcast_ref::<f32>() {
        return float(*number);
    }
    if let Some(Vec3 { x, y, z }) = value.try_downcast_ref() {
        return format!("Vec3::new({}, {}, {})", float(*x), float(*y), float(*z));
    }
    let info = value.get_represented_type_info();
    let name = info.map_or("", |info| info.type_path_table().ident().unwrap_or(""));
    let list = |fields: &mut dyn Iterator<Item = &dyn PartialReflect>| {
        let fields: Vec<_> = fields
            .map(|field| expression(registry, field, indent))
            .collect();
        fields.join(", ")
    };
    match value.reflect_ref() {
        ReflectRef::Struct(value) => {
            let different = different(registry, value);
            if different.is_empty() {
                return format!("{name}::default()");
            }
            let rest = different.len() < value.field_len();
            braces(registry, name, &different, rest, indent)
        }
        ReflectRef::TupleStruct(value) => format!("{name}({})", list(&mut value.iter_fields())),
        ReflectRef::Enum(value) => {
            let name = format!("{name}::{}", value.variant_name());
            let fields = || value.iter_fields();
            match value.variant_type() {
                VariantType::Unit => name,
                VariantType::Tuple => {
                    format!("{name}({})", list(&mut fields().map(|field| field.value())))
                }
                VariantType::Struct => {
                    let fields: Vec<_> = fields()
                        .map(|field| (field.name().unwrap_or(""), field.value()))
                        .collect();
                    braces(registry, &name, &fields, false, indent)
                }
            }
        }
        // Whole numbers, switches, texts.
        _ => format!("{value:?}"),
    }
}

/// Fields with their names, each in a line of its own; with the `rest` as it is by default.
fn braces(
    registry: &TypeRegistry,
    name: &str,
    fields: &[(&str, &dyn PartialReflect)],
    rest: bool,
    indent: usize,
) -> String {
    let margin = "    ".repeat(indent);
    let mut code = format!("{name} {{\n");
    for (field, value) in fields {
        let value = expression(registry, *value, indent + 1);
        code += &format!("{margin}    {field}: {value},\n");
    }
    if rest {
        code += &format!("{margin}    ..default()\n");
    }
    code + &margin + "}"
}

fn float(number: f32) -> String {
    if number.is_nan() {
        "f32::NAN".into()
    } else if number.is_infinite() {
        let sign = if number < 0.0 { "-" } else { "" };
        format!("{sign}f32::INFINITY")
    } else {
        format!("{number:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cloth, ClothGravity, Fabric, SelfCollision, Substeps, ThreadSolver, Wind};

    /// Without white space, in which the compiler's own text of a program differs.
    fn dense(code: &str) -> String {
        code.split_whitespace().collect()
    }

    /// Compares the code of a value with the program that made it.
    macro_rules! same_code {
        ($value:expr) => {
            assert_eq!(dense(&rust_code(&$value)), dense(stringify!($value)))
        };
    }

    #[test]
    fn code_is_the_program_that_makes_the_value() {
        same_code!(Cloth::default());
        same_code!(Cloth {
            fabric: Fabric {
                areal_density: 0.05,
                bending_stiffness: 1e-6,
                lift: 0.0,
                ..default()
            },
            iterations: 12,
            gravity_scale: -0.5,
            threads: ThreadSolver::Relaxation,
            self_collision: SelfCollision::ParticlesAndEdges,
            ..default()
        });
        same_code!(Wind {
            velocity: Vec3::new(0.0, -1.5, 3.0),
            air_density: 1.0,
            gusts: 0.3,
        });
        same_code!(Substeps(12));
        same_code!(ClothGravity(Vec3::new(0.0, -1.6, 0.0)));
        same_code!(Cloth {
            damping: f32::INFINITY,
            tether_scale: f32::NAN,
            sleep_speed: -f32::INFINITY,
            ..default()
        });
    }
}
