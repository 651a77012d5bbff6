//! Presets that are applied to cloths and to the environment.

use crate::{
    ASSETS, add_mesh,
    files::{app_with_files, until, write},
    headless::headless,
    log::{lines_about, lines_with, record},
    particles, run, sheet,
};
use bevy::{
    asset::{LoadState, io::memory::Dir},
    prelude::*,
};
#[cfg(feature = "presets")]
use bevy_drape::preset::{
    ClothEnvironment, ClothEnvironmentHandle, ClothPreset, ClothPresetHandle,
};
use bevy_drape::{prelude::*, wind::WindTurbulence};

const FLAG: &str = "presets/flag.cloth.ron";

fn app() -> (App, Dir) {
    let (app, folder) = app_with_files();
    (headless(app, ClothPlugin::default()), folder)
}

fn load(app: &App, path: &'static str) -> Handle<ClothPreset> {
    app.world().resource::<AssetServer>().load(path)
}

/// Spawns a sheet with a preset.
fn spawn(app: &mut App, preset: Handle<ClothPreset>) -> Entity {
    let mesh = add_mesh(app, sheet());
    let sheet = (ClothPresetHandle(preset), Pins::top_corners(), Mesh3d(mesh));
    app.world_mut().spawn(sheet).id()
}

fn cloth(app: &App, entity: Entity) -> &Cloth {
    app.world().get(entity).unwrap()
}

fn is_built(app: &App, entity: Entity) -> bool {
    app.world().get::<ClothParticles>(entity).is_some()
}

/// Runs the app until a condition holds.
fn run_until(app: &mut App, condition: impl Fn(&App) -> bool) {
    until(|| {
        app.update();
        condition(app).then_some(())
    });
}

fn reload(app: &App) {
    app.world().resource::<AssetServer>().reload(FLAG);
}

fn state(app: &App, handle: &Handle<ClothPreset>) -> LoadState {
    app.world().resource::<AssetServer>().load_state(handle)
}

/// Returns the text of a preset with this damping, 1/s.
fn damped(damping: f32) -> String {
    format!("(cloth: (damping: {damping}))")
}

#[test]
fn a_cloth_is_built_with_the_values_of_its_file() {
    let (mut app, folder) = app();
    let text = "(cloth: (fabric: (like: \"denim\", drag: 2), damping: 3))";
    write(&folder, FLAG, text);
    #[derive(Resource, Default)]
    struct Built(Vec<f32>);
    app.init_resource::<Built>();
    app.add_observer(
        |event: On<ClothReady>, cloths: Query<&Cloth>, mut built: ResMut<Built>| {
            built.0.push(cloths.get(event.entity).unwrap().damping);
        },
    );
    let flag = load(&app, FLAG);
    let sheet = spawn(&mut app, flag.clone());
    let rope = app
        .world_mut()
        .spawn((
            ClothPresetHandle(flag),
            Rope::between(Vec3::ZERO, Vec3::X, 10),
        ))
        .id();
    run_until(&mut app, |app| is_built(app, sheet) && is_built(app, rope));
    // Built with the values of the file from the start.
    assert_eq!(app.world().resource::<Built>().0, [3.0, 3.0]);
    let fabric = Fabric {
        drag: 2.0,
        ..Fabric::denim()
    };
    for entity in [sheet, rope] {
        assert_eq!(cloth(&app, entity).fabric, fabric);
        assert!(app.world().get::<Pins>(entity).is_some());
    }
    // The masses equal those of a cloth made in code.
    let same = Cloth {
        fabric,
        ..default()
    };
    let mesh = add_mesh(&mut app, crate::sheet());
    let coded = (same, Pins::top_corners(), Mesh3d(mesh));
    let coded = app.world_mut().spawn(coded).id();
    run(&mut app, 1);
    let masses = [sheet, coded].map(|cloth| particles(&app, cloth).inverse_mass[55]);
    assert_eq!(masses[0], masses[1]);
}

#[test]
fn a_changed_file_changes_its_cloths_without_a_jerk() {
    let (mut app, folder) = app();
    write(&folder, FLAG, &damped(1.0));
    let flag = load(&app, FLAG);
    let cloths = [(); 2].map(|()| spawn(&mut app, flag.clone()));
    run_until(&mut app, |app| is_built(app, cloths[1]));
    run(&mut app, 30);
    let lowest = |app: &App| particles(app, cloths[0]).world_position(95);
    let (mut position, mut most) = (lowest(&app), 0_f32);
    let mut record_displacement = |app: &App| {
        let before = std::mem::replace(&mut position, lowest(app));
        most = most.max(position.distance(before));
    };
    write(
        &folder,
        FLAG,
        "(cloth: (fabric: (thickness: 0.5, bending_stiffness: 10)))",
    );
    reload(&app);
    until(|| {
        app.update();
        record_displacement(&app);
        let is_thick = |&c: &Entity| cloth(&app, c).fabric.thickness == Some(0.5);
        cloths.iter().all(is_thick).then_some(())
    });
    // Fields that the file omits now have their defaults.
    assert_eq!(cloth(&app, cloths[0]).damping, Cloth::default().damping);
    for _ in 0..60 {
        app.update();
        record_displacement(&app);
    }
    // The cloth swings at about 3 m/s, 0.05 m per step.
    assert!(most > 0.01 && most < 0.1, "{most} m in a step");
}

#[test]
fn a_file_that_has_become_unreadable_changes_nothing() {
    let (mut app, folder) = app();
    record(&mut app, 9100);
    write(&folder, FLAG, &damped(1.0));
    let flag = load(&app, FLAG);
    let entity = spawn(&mut app, flag.clone());
    run_until(&mut app, |app| is_built(app, entity));
    for (bad, message) in [
        (
            "(cloth: (damipng: 2))",
            "presets/flag.cloth.ron:1:10: Unexpected field named `damipng`",
        ),
        (
            "(cloth: (damping: 2000))",
            "Cloth::damping is 2000, must be 0 to 100 1/s",
        ),
        (
            "(cloth: (damping: 2, iterations: NaN))",
            "presets/flag.cloth.ron:1:34: Expected integer",
        ),
    ] {
        write(&folder, FLAG, bad);
        reload(&app);
        run_until(&mut app, |_| {
            lines_about(entity)
                .iter()
                .any(|line| line.contains(message))
        });
        assert_eq!(cloth(&app, entity).damping, 1.0);
        let presets = app.world().resource::<Assets<ClothPreset>>();
        assert_eq!(presets.get(&flag).unwrap().cloth.damping, 1.0);
    }
    let lines = lines_about(entity);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("ERROR") && lines[0].contains("stays as it is"));
    // A cloth that comes now gets the last valid preset.
    let late = spawn(&mut app, flag.clone());
    run(&mut app, 2);
    assert!(is_built(&app, late));
    assert_eq!(cloth(&app, late).damping, 1.0);
    write(&folder, FLAG, &damped(4.0));
    reload(&app);
    run_until(&mut app, |app| cloth(app, entity).damping == 4.0);
}

#[test]
fn edits_of_a_user_stay_until_the_values_in_the_file_change() {
    let (mut app, folder) = app();
    write(&folder, FLAG, &damped(1.0));
    let flag = load(&app, FLAG);
    let entity = spawn(&mut app, flag.clone());
    run_until(&mut app, |app| is_built(app, entity));
    let edit = |app: &mut App| {
        app.world_mut().get_mut::<Cloth>(entity).unwrap().damping = 7.0;
    };
    // At once, and after the load event.
    edit(&mut app);
    run(&mut app, 5);
    assert_eq!(cloth(&app, entity).damping, 7.0);
    // The same text again, or another environment around the same cloth.
    for text in [damped(1.0), "(cloth: (damping: 1), environment: ())".into()] {
        write(&folder, FLAG, &text);
        let cursor = app.world().resource::<Messages<AssetEvent<ClothPreset>>>();
        let mut cursor = cursor.get_cursor_current();
        reload(&app);
        until(|| {
            app.update();
            let events = app.world().resource::<Messages<AssetEvent<ClothPreset>>>();
            let changed = |event: &AssetEvent<_>| matches!(event, AssetEvent::Modified { .. });
            cursor.read(events).any(changed).then_some(())
        });
        run(&mut app, 3);
        assert_eq!(cloth(&app, entity).damping, 7.0);
    }
    write(&folder, FLAG, &damped(2.0));
    reload(&app);
    run_until(&mut app, |app| cloth(app, entity).damping == 2.0);
    // Inserting the handle again applies the preset again.
    edit(&mut app);
    app.world_mut()
        .entity_mut(entity)
        .insert(ClothPresetHandle(flag));
    run(&mut app, 1);
    assert_eq!(cloth(&app, entity).damping, 2.0);
    // A clone keeps the edits of its original.
    edit(&mut app);
    let clone = app.world_mut().entity_mut(entity).clone_and_spawn();
    run(&mut app, 3);
    assert_eq!(cloth(&app, clone).damping, 7.0);
    // Without the handle the cloth stays as it is.
    app.world_mut()
        .entity_mut(entity)
        .remove::<ClothPresetHandle>();
    write(&folder, FLAG, &damped(3.0));
    reload(&app);
    run_until(&mut app, |app| cloth(app, clone).damping == 3.0);
    assert_eq!(cloth(&app, entity).damping, 7.0);
}

#[test]
fn a_missing_file_is_reported_and_its_cloth_is_built_without_it() {
    let (mut app, folder) = app();
    record(&mut app, 9300);
    let missing = load(&app, "presets/none.cloth.ron");
    let entity = spawn(&mut app, missing.clone());
    app.world_mut().get_mut::<Cloth>(entity).unwrap().damping = 5.0;
    run_until(&mut app, |app| is_built(app, entity));
    run(&mut app, 5);
    let lines = lines_about(entity);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR") && lines[0].contains("presets/none.cloth.ron"));
    assert_eq!(cloth(&app, entity).damping, 5.0);
    // The failure is also logged for cloths that come later.
    let late = spawn(&mut app, missing);
    run(&mut app, 2);
    assert_eq!(lines_about(late).len(), 1);
    assert!(is_built(&app, late));
    // Now the file exists.
    write(&folder, "presets/none.cloth.ron", &damped(6.0));
    app.world()
        .resource::<AssetServer>()
        .reload("presets/none.cloth.ron");
    run_until(&mut app, |app| cloth(app, entity).damping == 6.0);
}

#[test]
fn files_are_loaded_once_and_cloths_may_despawn_meanwhile() {
    let (mut app, folder) = app();
    record(&mut app, 9500);
    write(&folder, FLAG, &damped(1.0));
    let [flag, again] = [(); 2].map(|()| load(&app, FLAG));
    assert_eq!(flag, again);
    let despawned = spawn(&mut app, flag.clone());
    let bare = spawn(&mut app, flag.clone());
    app.update();
    app.world_mut().despawn(despawned);
    app.world_mut()
        .entity_mut(bare)
        .remove::<ClothPresetHandle>();
    let stays = spawn(&mut app, again);
    run_until(&mut app, |app| is_built(app, stays));
    assert_eq!(app.world().resource::<Assets<ClothPreset>>().len(), 1);
    // A cloth without a handle does not wait for the file.
    run(&mut app, 2);
    assert!(is_built(&app, bare));
    assert_eq!(lines_about(despawned), [""; 0]);
}

#[test]
fn presets_need_no_file() {
    let (mut app, _) = app();
    let mut preset = ClothPreset::default();
    preset.cloth.damping = 8.0;
    let mut presets = app.world_mut().resource_mut::<Assets<ClothPreset>>();
    let preset = presets.add(preset);
    let entity = spawn(&mut app, preset.clone());
    let default = spawn(&mut app, Handle::default());
    run(&mut app, 2);
    assert!(is_built(&app, entity) && is_built(&app, default));
    assert_eq!(cloth(&app, entity).damping, 8.0);
    let mut presets = app.world_mut().resource_mut::<Assets<ClothPreset>>();
    presets.get_mut(&preset).unwrap().cloth.damping = 9.0;
    run(&mut app, 1);
    assert_eq!(cloth(&app, entity).damping, 9.0);
}

#[test]
fn the_environment_follows_a_file() {
    const STORM: &str = "presets/storm.cloth.ron";
    let (mut app, folder) = app();
    record(&mut app, 0);
    let text =
        "(environment: (wind: (velocity: (20, 0, 0)), substeps: PerStep(12), gravity: (0, -3, 0)))";
    write(&folder, STORM, text);
    app.insert_resource(WindTurbulence {
        strength: 3.0,
        ..default()
    });
    let storm = load(&app, STORM);
    app.insert_resource(ClothEnvironmentHandle(storm));
    run_until(&mut app, |app| {
        *app.world().resource::<ClothSubsteps>() == ClothSubsteps::PerStep(12)
    });
    let world = app.world();
    assert_eq!(world.resource::<Wind>().velocity, Vec3::X * 20.0);
    assert_eq!(world.resource::<ClothGravity>().0, Vec3::Y * -3.0);
    // Omitted fields have their defaults.
    assert_eq!(world.resource::<WindTurbulence>().strength, 0.0);
    // Edits last, also when only the cloth in the file changes.
    app.insert_resource(ClothSubsteps::PerStep(20));
    let reload = |app: &App| app.world().resource::<AssetServer>().reload(STORM);
    write(
        &folder,
        STORM,
        &text.replace("(environment", "(cloth: (damping: 1), environment"),
    );
    reload(&app);
    let presets = |app: &App| {
        let presets = app.world().resource::<Assets<ClothPreset>>();
        presets.iter().next().unwrap().1.clone()
    };
    run_until(&mut app, |app| presets(app).cloth.damping == 1.0);
    run(&mut app, 3);
    assert_eq!(
        *app.world().resource::<ClothSubsteps>(),
        ClothSubsteps::PerStep(20)
    );
    // A file that has become unreadable changes nothing.
    write(&folder, STORM, "(environment: (wind: (gusts: 2)))");
    reload(&app);
    run_until(&mut app, |_| {
        !lines_with("the cloth environment stays as it is: presets/storm.cloth.ron").is_empty()
    });
    assert_eq!(
        *app.world().resource::<ClothSubsteps>(),
        ClothSubsteps::PerStep(20)
    );
    assert_eq!(app.world().resource::<Wind>().gusts, 0.0);
    write(&folder, STORM, "(environment: (substeps: PerStep(4)))");
    reload(&app);
    run_until(&mut app, |app| {
        *app.world().resource::<ClothSubsteps>() == ClothSubsteps::PerStep(4)
    });
    assert_eq!(app.world().resource::<Wind>().velocity, Vec3::ZERO);
    // A file without an environment leaves it as it is, with a warning.
    write(&folder, STORM, "()");
    reload(&app);
    run_until(&mut app, |_| {
        !lines_with("presets/storm.cloth.ron has no environment").is_empty()
    });
    assert_eq!(
        *app.world().resource::<ClothSubsteps>(),
        ClothSubsteps::PerStep(4)
    );
}

#[test]
fn a_preset_saved_as_an_asset_loads_unchanged() {
    let (mut app, folder) = app();
    let mut preset = ClothPreset {
        environment: Some(ClothEnvironment::of(app.world())),
        ..default()
    };
    preset.cloth.fabric = Fabric::chain_mail();
    preset.cloth.self_collision = SelfCollision::On;
    let server = app.world().resource::<AssetServer>().clone();
    preset.save_asset(&server, "made/by/me.cloth.ron").unwrap();
    let saved = load(&app, "made/by/me.cloth.ron");
    run_until(&mut app, |app| state(app, &saved).is_loaded());
    let presets = app.world().resource::<Assets<ClothPreset>>();
    assert_eq!(presets.get(&saved), Some(&preset));
    preset.cloth.fabric.drag = -1.0;
    let error = preset.save_asset(&server, "bad.cloth.ron").unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("bad.cloth.ron: Fabric::drag is -1, must be 0 to 10"),
        "{error}"
    );
    assert!(folder.get_asset("bad.cloth.ron".as_ref()).is_none());
    let error = preset
        .save_asset(&server, "none://a.cloth.ron")
        .unwrap_err();
    assert!(error.to_string().contains("none://a.cloth.ron"), "{error}");
}

#[test]
fn the_presets_of_this_repository_can_be_loaded() {
    let folder = format!("{ASSETS}/presets");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let preset = ClothPreset::from_ron(&text, &path.display().to_string());
        let preset = preset.unwrap_or_else(|error| panic!("{error}"));
        assert_ne!(preset.cloth, Cloth::default(), "{}", path.display());
        count += 1;
    }
    assert_eq!(count, 5);
}
