//! Values as Rust code, to keep in a program a cloth that was tuned while it ran. Reflection visits all fields, so
//! that none is forgotten.

use super::ClothPreset;
use bevy::{
    prelude::*,
    reflect::{
        GetTypeRegistration, PartialReflect, ReflectRef, TypeRegistry, enums::VariantType,
        std_traits::ReflectDefault, structs::Struct,
    },
};

impl ClothPreset {
    /// Returns Rust code that creates the same cloth and inserts the same environment, with only the fields that
    /// differ from their defaults. The code needs `bevy::prelude::*`, this crate's prelude and, for the
    /// environment, a variable `commands` of type `Commands`.
    ///
    /// ```
    /// # use bevy::prelude::*;
    /// # use bevy_drape::{prelude::*, preset::ClothPreset};
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
        if let Some(environment) = &self.environment {
            let registry = registry_of(environment);
            for (_, resource) in non_default_fields(&registry, environment) {
                let resource = expression(&registry, resource, 0);
                code += &format!("commands.insert_resource({resource});\n");
            }
        }
        code
    }
}

/// Returns a Rust expression for a value. Of structs, only fields that differ from their default are written.
pub fn rust_code<T: Reflect + GetTypeRegistration>(value: &T) -> String {
    expression(&registry_of(value), value, 0)
}

fn registry_of<T: GetTypeRegistration>(_: &T) -> TypeRegistry {
    let mut registry = TypeRegistry::new();
    registry.register::<T>();
    registry
}

/// Returns the fields of a struct that differ from the default of its type; all fields if the type has no default.
fn non_default_fields<'a>(
    registry: &TypeRegistry,
    value: &'a dyn Struct,
) -> Vec<(&'a str, &'a dyn PartialReflect)> {
    let type_id = value.get_represented_type_info().map(|info| info.type_id());
    let default = type_id
        .and_then(|id| registry.get_type_data::<ReflectDefault>(id))
        .map(ReflectDefault::default);
    let is_default = |name: &str, field: &dyn PartialReflect| {
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
        .filter(|(name, field)| !is_default(name, *field))
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
            let fields = non_default_fields(registry, value);
            if fields.is_empty() {
                return format!("{name}::default()");
            }
            let rest = fields.len() < value.field_len();
            struct_expression(registry, name, &fields, rest, indent)
        }
        ReflectRef::TupleStruct(value) => format!("{name}({})", list(&mut value.iter_fields())),
        ReflectRef::Enum(value) => {
            let name = match name {
                "Option" => value.variant_name().into(),
                _ => format!("{name}::{}", value.variant_name()),
            };
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
                    struct_expression(registry, &name, &fields, false, indent)
                }
            }
        }
        // Integers, booleans, strings.
        _ => format!("{value:?}"),
    }
}

/// Returns a struct expression with one field per line; with `rest`, the other fields come from `..default()`.
fn struct_expression(
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
    use crate::{
        cloth::{Cloth, ClothGravity, ClothSubsteps, Fabric, SelfCollision, StretchSolver},
        wind::Wind,
    };

    /// Removes white space, in which `stringify!` differs.
    fn without_spaces(code: &str) -> String {
        code.split_whitespace().collect()
    }

    /// Asserts that the code of a value equals the expression that created it.
    macro_rules! assert_same_code {
        ($value:expr) => {
            assert_eq!(
                without_spaces(&rust_code(&$value)),
                without_spaces(stringify!($value))
            )
        };
    }

    #[test]
    fn code_equals_the_expression_that_creates_the_value() {
        assert_same_code!(Cloth::default());
        assert_same_code!(Cloth {
            fabric: Fabric {
                areal_density: 0.05,
                bending_stiffness: 1e-6,
                lift: 0.0,
                ..default()
            },
            iterations: 12,
            gravity_scale: -0.5,
            stretch_solver: StretchSolver::GaussSeidel,
            self_collision: SelfCollision::On,
            ..default()
        });
        assert_same_code!(Wind {
            velocity: Vec3::new(0.0, -1.5, 3.0),
            air_density: 1.0,
            gusts: 0.3,
        });
        assert_same_code!(ClothSubsteps::PerStep(12));
        assert_same_code!(ClothGravity(Vec3::new(0.0, -1.6, 0.0)));
        assert_same_code!(Cloth {
            damping: f32::INFINITY,
            tether_scale: Some(f32::NAN),
            sleep_speed: -f32::INFINITY,
            ..default()
        });
    }
}
