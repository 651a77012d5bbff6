//! Components and resources that users write, and their fields, by index.

use super::edit::Value;
use bevy::{
    prelude::*,
    reflect::{
        PartialReflect, ReflectMut, TypeInfo, TypeRegistration, TypeRegistry,
        enums::{DynamicEnum, DynamicVariant, Enum, VariantInfo},
        list::List,
        structs::DynamicStruct,
        tuple::DynamicTuple,
    },
};

/// Returns the types with a kind of data and a default that users of the plugin write, in the order of their names.
fn types(
    registry: &TypeRegistry,
    is_wanted: impl Fn(&TypeRegistration) -> bool,
) -> Vec<&TypeRegistration> {
    let of_users = |known: &&TypeRegistration| {
        let path = known.type_info().type_path();
        let of_bevy = ["::Transform", "::Visibility", "::Name"];
        (path.starts_with("bevy_drape::") || of_bevy.iter().any(|end| path.ends_with(end)))
            && known.contains::<ReflectDefault>()
            // The oracles read these.
            && !path.ends_with("::ClothStats")
    };
    let mut all: Vec<_> = registry
        .iter()
        .filter(of_users)
        .filter(|known| is_wanted(known))
        .collect();
    all.sort_by_key(|known| known.type_info().type_path());
    all
}

/// Components of which every entity may have one.
pub(super) fn components(registry: &TypeRegistry) -> Vec<&TypeRegistration> {
    types(registry, |known| {
        known.contains::<ReflectComponent>() && !known.contains::<ReflectResource>()
    })
}

/// Resources, except those of the app's own clocks.
pub(super) fn resources(registry: &TypeRegistry) -> Vec<&TypeRegistration> {
    types(registry, |known| known.contains::<ReflectResource>())
}

/// Writes a value into a field, by its index modulo the number of fields in all parts of a value.
pub(super) fn set(
    target: &mut dyn PartialReflect,
    field: u8,
    value: Value,
    entities: &[Entity],
    registry: &TypeRegistry,
) {
    let mut count = 0;
    visit(target, &mut |_| count += 1);
    let chosen = usize::from(field) % count.max(1);
    let mut index = 0;
    visit(target, &mut |leaf| {
        if index == chosen {
            write(leaf, value, entities, registry);
        }
        index += 1;
    });
}

/// Calls `leaf` for all numbers, flags, entities, lists and enums in a value.
fn visit(value: &mut dyn PartialReflect, leaf: &mut dyn FnMut(&mut dyn PartialReflect)) {
    if matches!(
        value.reflect_mut(),
        ReflectMut::Enum(_) | ReflectMut::List(_) | ReflectMut::Opaque(_)
    ) {
        leaf(value);
    }
    match value.reflect_mut() {
        ReflectMut::Struct(fields) => {
            (0..fields.field_len()).for_each(|i| visit(fields.field_at_mut(i).unwrap(), leaf));
        }
        ReflectMut::TupleStruct(fields) => {
            (0..fields.field_len()).for_each(|i| visit(fields.field_mut(i).unwrap(), leaf));
        }
        ReflectMut::Tuple(fields) => {
            (0..fields.field_len()).for_each(|i| visit(fields.field_mut(i).unwrap(), leaf));
        }
        ReflectMut::Array(items) => {
            (0..items.len()).for_each(|i| visit(items.get_mut(i).unwrap(), leaf));
        }
        ReflectMut::List(items) => {
            (0..items.len()).for_each(|i| visit(items.get_mut(i).unwrap(), leaf));
        }
        ReflectMut::Enum(variant) => {
            (0..variant.field_len()).for_each(|i| visit(variant.field_at_mut(i).unwrap(), leaf));
        }
        _ => {}
    }
}

fn write(
    leaf: &mut dyn PartialReflect,
    value: Value,
    entities: &[Entity],
    registry: &TypeRegistry,
) {
    macro_rules! numbers {
        ($($number:ty),*) => { $(
            if let Some(leaf) = leaf.try_downcast_mut::<$number>() {
                if !value.has_no_number {
                    // Integers end at their limits.
                    *leaf = value.number as $number;
                }
                return;
            }
        )* };
    }
    numbers!(f32, f64, u8, u16, u32, u64, usize, i32, i64);
    if let Some(leaf) = leaf.try_downcast_mut::<bool>() {
        *leaf = value.choice % 2 == 1;
    } else if let Some(leaf) = leaf.try_downcast_mut::<Entity>()
        && !entities.is_empty()
    {
        *leaf = entities[usize::from(value.choice) % entities.len()];
    } else {
        match leaf.reflect_mut() {
            ReflectMut::List(items) => resize(items, value.choice % 4, registry),
            ReflectMut::Enum(target) => choose(target, value.choice, registry),
            _ => {}
        }
    }
}

/// Gives a list that many items; new ones have their default.
fn resize(items: &mut dyn List, length: u8, registry: &TypeRegistry) {
    while items.len() > length.into() {
        items.pop();
    }
    let Some(TypeInfo::List(info)) = items.get_represented_type_info() else {
        return;
    };
    while items.len() < length.into() {
        let Some(item) = default_of(info.item_ty().id(), registry) else {
            return;
        };
        items.push(item);
    }
}

/// Changes an enum to another variant, whose fields have their defaults.
fn choose(target: &mut dyn Enum, choice: u8, registry: &TypeRegistry) {
    let Some(TypeInfo::Enum(info)) = target.get_represented_type_info() else {
        return;
    };
    let variant = info
        .variant_at(usize::from(choice) % info.variant_len())
        .unwrap();
    // Code cannot be created by reflection.
    if let Some(fields) = fields_of(variant, registry) {
        let _ = target.try_apply(&DynamicEnum::new(variant.name(), fields));
    }
}

/// Returns the fields of a variant with their defaults.
fn fields_of(variant: &VariantInfo, registry: &TypeRegistry) -> Option<DynamicVariant> {
    Some(match variant {
        VariantInfo::Unit(_) => DynamicVariant::Unit,
        VariantInfo::Tuple(info) => {
            let mut fields = DynamicTuple::default();
            for field in info.iter() {
                fields.insert_boxed(default_of(field.type_id(), registry)?);
            }
            DynamicVariant::Tuple(fields)
        }
        VariantInfo::Struct(info) => {
            let mut fields = DynamicStruct::default();
            for field in info.iter() {
                fields.insert_boxed(field.name(), default_of(field.type_id(), registry)?);
            }
            DynamicVariant::Struct(fields)
        }
    })
}

fn default_of(id: std::any::TypeId, registry: &TypeRegistry) -> Option<Box<dyn PartialReflect>> {
    let known = registry.get(id)?;
    Some(
        known
            .data::<ReflectDefault>()?
            .default()
            .into_partial_reflect(),
    )
}
