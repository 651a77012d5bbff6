//! Files in which bytes are flipped, cut out, repeated or replaced: each gives an error, or a cloth that runs.
//!
//! `BEVY_DRAPE_FILES=100000` sets the number of files of each kind.

use crate::{
    add_mesh, app, command, particles, run, sheet, spawn,
    worlds::{oracles::check_cloths, runner, variable},
};
use bevy::{
    ecs::{entity::EntityHashMap, reflect::AppTypeRegistry},
    prelude::*,
    reflect::serde::TypedReflectDeserializer,
    world_serialization::serde::WorldDeserializer,
};
use bevy_drape::{
    character::ClothInertia, collision::ClothLayers, prelude::*, preset::ClothPreset,
    snapshot::ClothSnapshot, tearing::CutCloth,
};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::TestCaseError};
use serde::de::DeserializeSeed;
use std::cell::{Cell, RefCell};

/// Damage at a fraction of the length of a file.
#[derive(Clone, Debug)]
enum Damage {
    Flip(f64, u8),
    Cut(f64, usize),
    Repeat(f64, usize),
    /// Replaces what stands there: in text a whole number or word.
    Replace(f64, Vec<u8>),
}

impl Damage {
    fn any(words: &'static [&'static [u8]]) -> impl Strategy<Value = Self> {
        let at = || 0.0..1.0;
        prop_oneof![
            2 => (at(), 0u8..8).prop_map(|(at, bit)| Self::Flip(at, 1 << bit)),
            1 => (at(), 1usize..64).prop_map(|(at, length)| Self::Cut(at, length)),
            1 => (at(), 1usize..64).prop_map(|(at, length)| Self::Repeat(at, length)),
            8 => (at(), select(words)).prop_map(|(at, word)| Self::Replace(at, word.to_vec())),
        ]
    }

    fn apply(&self, bytes: &mut Vec<u8>) {
        let index = |at: f64| (at * bytes.len() as f64) as usize;
        let range = |at: f64, length: usize| index(at)..(index(at) + length).min(bytes.len());
        match self {
            _ if bytes.is_empty() => {}
            Self::Flip(at, mask) => {
                let index = index(*at);
                bytes[index] ^= mask;
            }
            Self::Cut(at, length) => drop(bytes.drain(range(*at, *length))),
            Self::Repeat(at, length) => {
                let range = range(*at, *length);
                let part = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, part);
            }
            Self::Replace(at, word) => {
                let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte);
                let index = index(*at);
                let before = bytes[..index]
                    .iter()
                    .rev()
                    .take_while(|byte| is_inside(byte));
                let start = index - before.count();
                let length = bytes[start..]
                    .iter()
                    .take_while(|byte| is_inside(byte))
                    .count();
                bytes.splice(start..start + length.max(1), word.iter().copied());
            }
        }
    }
}

/// Words that replace others in text.
const WORDS: &[&[u8]] = &[
    b"1152921504606846976",
    b"4294967295",
    b"-1",
    b"0",
    b"1e39",
    b"1e300",
    b"NaN",
    b"-inf",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"()",
    b"\"\"",
    b"Some(1)",
];

/// Beginnings of values in CBOR (RFC 8949, 2020): lists, maps and byte strings of 2⁶⁰ elements, numbers, and null.
const CBOR: &[&[u8]] = &[
    &[0x9b, 0x10, 0, 0, 0, 0, 0, 0, 0],
    &[0xbb, 0x10, 0, 0, 0, 0, 0, 0, 0],
    &[0x5b, 0x10, 0, 0, 0, 0, 0, 0, 0],
    &[0x1b, 0x10, 0, 0, 0, 0, 0, 0, 0],
    &[0xfa, 0x7f, 0xc0, 0, 0],
    &[0xfa, 0x7f, 0x7f, 0xff, 0xff],
    &[0x20],
    &[0x80],
    &[0xf6],
    &[0x9f],
];

/// Calls `read` with many damaged versions of a file. It returns whether the file was accepted, or a violation.
fn damage(
    file: &[u8],
    words: &'static [&'static [u8]],
    mut read: impl FnMut(&[u8]) -> Result<bool, String>,
) {
    let count = variable("BEVY_DRAPE_FILES", 300);
    let damages = vec(Damage::any(words), 1..3);
    let read = RefCell::new(&mut read);
    let accepted = Cell::new(0);
    for seed in 0..count {
        let found = runner(seed).run(&damages, |damages| {
            let mut bytes = file.to_vec();
            damages.iter().for_each(|damage| damage.apply(&mut bytes));
            let is_accepted = (read.borrow_mut())(&bytes).map_err(|error| {
                TestCaseError::fail(format!("{error} in {}", String::from_utf8_lossy(&bytes)))
            })?;
            accepted.set(accepted.get() + u64::from(is_accepted));
            Ok(())
        });
        if let Err(error) = found {
            panic!("file {seed}: {error}");
        }
    }
    let accepted = accepted.get();
    println!("{accepted} of {count} files were accepted");
    assert!(
        accepted > count / 100,
        "{accepted} of {count} were accepted"
    );
}

/// Spawns a cloth that is cut and held by a hand, so that a snapshot has something in all fields.
fn edited_cloth(app: &mut App) -> Entity {
    let cloth = spawn(app, Pins::corners());
    let hand = app.world_mut().spawn(Transform::default()).id();
    run(app, 5);
    let at = particles(app, cloth).world_position(44);
    command(app, cloth, |cloth| {
        cloth.grab(hand, at);
        cloth.trigger(|entity| CutCloth {
            entity,
            blade: bevy_drape::tearing::Blade::stroke(Vec3::X * -0.8, Vec3::X * 0.2, Vec3::Z),
            by: Some(hand),
        });
    });
    run(app, 2);
    cloth
}

/// Restores a snapshot read from a damaged file, and takes steps.
fn restore(app: &mut App, cloth: Entity, snapshot: ClothSnapshot) -> Result<bool, String> {
    let good = ClothSnapshot::take(app.world(), cloth).expect("it is built");
    let is_restored = snapshot.restore(app.world_mut(), cloth).is_ok();
    if is_restored {
        run(app, 2);
        check_cloths(app.world_mut())?;
        good.restore(app.world_mut(), cloth)
            .map_err(|error| error.to_string())?;
    }
    Ok(is_restored)
}

/// Damages the file of a snapshot in some format.
fn damage_snapshots(
    words: &'static [&'static [u8]],
    write: impl Fn(&ClothSnapshot) -> Vec<u8>,
    read: impl Fn(&[u8]) -> Option<ClothSnapshot>,
) {
    let mut app = app();
    let cloth = edited_cloth(&mut app);
    let saved = ClothSnapshot::take(app.world(), cloth).unwrap();
    damage(&write(&saved), words, |bytes| match read(bytes) {
        Some(snapshot) => restore(&mut app, cloth, snapshot),
        None => Ok(false),
    });
}

#[test]
fn damaged_snapshots_in_json() {
    let write = |saved: &ClothSnapshot| serde_json::to_vec(saved).unwrap();
    damage_snapshots(WORDS, write, |bytes| serde_json::from_slice(bytes).ok());
}

#[test]
fn damaged_snapshots_in_cbor() {
    let write = |saved: &ClothSnapshot| {
        let mut file = Vec::new();
        ciborium::into_writer(saved, &mut file).unwrap();
        file
    };
    damage_snapshots(CBOR, write, |bytes| ciborium::from_reader(bytes).ok());
}

#[test]
fn damaged_snapshots_in_ron() {
    let write = |saved: &ClothSnapshot| ron::to_string(saved).unwrap().into_bytes();
    damage_snapshots(WORDS, write, |bytes| ron::de::from_bytes(bytes).ok());
}

#[test]
fn damaged_presets() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 2);
    let file = std::fs::read(format!("{}/presets/cape.cloth.ron", crate::ASSETS)).unwrap();
    damage(&file, WORDS, |bytes| {
        let Ok(preset) = ClothPreset::from_ron(&String::from_utf8_lossy(bytes), "cape.cloth.ron")
        else {
            return Ok(false);
        };
        *app.world_mut().get_mut::<Cloth>(cloth).unwrap() = preset.cloth;
        run(&mut app, 2);
        check_cloths(app.world_mut()).map(|()| true)
    });
}

#[cfg(feature = "gltf")]
#[test]
fn damaged_custom_properties() {
    use bevy_drape::character::ClothRules;
    let mut app = app();
    app.init_resource::<ClothRules>();
    let file = br#"{"cloth": "silk", "cloth_pins": "top", "cloth_max_distance": 0.2, "cloth_inertia": 0.5, "cloth_mass": 2,
        "cloth_self_collision": true, "cloth_damping": 0.3, "cloth_gravity_scale": 1.0, "cloth_stiffness": 3.0}"#;
    damage(file, WORDS, |bytes| {
        let mesh = Mesh3d(add_mesh(&mut app, sheet()));
        let value = String::from_utf8_lossy(bytes).into_owned();
        let cloth = app
            .world_mut()
            .spawn((mesh, bevy::gltf::GltfExtras { value }))
            .id();
        run(&mut app, 2);
        let checked = check_cloths(app.world_mut()).map(|()| true);
        app.world_mut().despawn(cloth);
        checked
    });
}

/// Scenes with all that a user may save: cloths, a rope, colliders, wind.
#[test]
fn damaged_scenes() {
    let mut app = app();
    let hand = app.world_mut().spawn(Transform::default()).id();
    let held = Pins::top_corners().to_entity(hand);
    let cloth = (
        Cloth::default(),
        held,
        ClothTearing::default(),
        ClothInertia::default(),
    );
    let rope = Rope::between(Vec3::ZERO, Vec3::X, 12);
    let spawned = [
        hand,
        app.world_mut()
            .spawn((cloth, Name::new("a"), Transform::default()))
            .id(),
        app.world_mut().spawn((rope, Pins::ends())).id(),
        app.world_mut()
            .spawn((ClothCollider::sphere(0.3), ClothLayers::default()))
            .id(),
        app.world_mut()
            .spawn((WindZone::default(), Transform::default()))
            .id(),
    ];
    let types = app.world().resource::<AppTypeRegistry>().clone();
    let saved = DynamicWorldBuilder::from_world(app.world(), &types.read())
        .extract_entities(spawned.into_iter())
        .build();
    let file = saved.serialize(&types.read()).unwrap();
    let mesh = Mesh3d(add_mesh(&mut app, sheet()));
    damage(file.as_bytes(), WORDS, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(mut source) = ron::Deserializer::from_str(&text) else {
            return Ok(false);
        };
        let seed = WorldDeserializer {
            type_registry: &types.read(),
            load_from_path: &mut app.world().resource::<AssetServer>().clone(),
        };
        let Ok(read) = seed.deserialize(&mut source) else {
            return Ok(false);
        };
        let mut loaded = EntityHashMap::default();
        // Bevy spawns a scene as far as it understands it.
        let _ = read.write_to_world(app.world_mut(), &mut loaded);
        for &entity in loaded.values() {
            if app.world().get::<Cloth>(entity).is_some() {
                app.world_mut().entity_mut(entity).insert(mesh.clone());
            }
        }
        run(&mut app, 2);
        let checked = check_cloths(app.world_mut()).map(|()| true);
        for &entity in loaded.values() {
            app.world_mut().despawn(entity);
        }
        checked
    });
}

/// Components in scenes are read by reflection.
#[test]
fn damaged_components_of_scenes() {
    let mut app = app();
    let cloth = spawn(&mut app, Pins::corners());
    run(&mut app, 2);
    let types = app.world().resource::<AppTypeRegistry>().clone();
    let value = app.world().get::<Cloth>(cloth).unwrap().clone();
    let file = ron::to_string(&bevy::reflect::serde::TypedReflectSerializer::new(
        &value,
        &types.read(),
    ))
    .unwrap();
    damage(file.as_bytes(), WORDS, |bytes| {
        let types = types.read();
        let known = types.get(std::any::TypeId::of::<Cloth>()).unwrap();
        let text = String::from_utf8_lossy(bytes);
        let Ok(mut source) = ron::Deserializer::from_str(&text) else {
            return Ok(false);
        };
        if let Ok(read) = TypedReflectDeserializer::new(known, &types).deserialize(&mut source)
            && let Some(settings) = Cloth::from_reflect(&*read)
        {
            *app.world_mut().get_mut::<Cloth>(cloth).unwrap() = settings;
            run(&mut app, 2);
            return check_cloths(app.world_mut()).map(|()| true);
        }
        Ok(false)
    });
}
