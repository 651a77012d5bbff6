//! Cloth and settings that follow files.

use crate::{
    add_mesh,
    files::{app_with_files, until, write},
    headless::headless,
    log::{lines_about, lines_with, record},
    particles, run, sheet,
};
use bevy::{
    asset::{LoadState, io::memory::Dir},
    prelude::*,
};
use bevy_drape::{ClothReady, Particles, Rope, prelude::*};

const FLAG: &str = "presets/flag.cloth.ron";

fn app() -> (App, Dir) {
    let (app, folder) = app_with_files();
    (headless(app, ClothPlugin::default()), folder)
}

fn load(app: &App, path: &'static str) -> Handle<ClothPreset> {
    app.world().resource::<AssetServer>().load(path)
}

/// Spawns a sheet that follows a file.
fn spawn(app: &mut App, from: Handle<ClothPreset>) -> Entity {
    let mesh = add_mesh(app, sheet());
    let sheet = (ClothFrom(from), Pins::top_corners(), Mesh3d(mesh));
    app.world_mut().spawn(sheet).id()
}

fn cloth(app: &App, entity: Entity) -> &Cloth {
    app.world().get(entity).unwrap()
}

fn is_built(app: &App, entity: Entity) -> bool {
    app.world().get::<Particles>(entity).is_some()
}

/// Runs the app until something is so.
fn run_until(app: &mut App, is_so: impl Fn(&App) -> bool) {
    until(|| {
        app.update();
        is_so(app).then_some(())
    });
}

fn reload(app: &App) {
    app.world().resource::<AssetServer>().reload(FLAG);
}

fn state(app: &App, handle: &Handle<ClothPreset>) -> LoadState {
    app.world().resource::<AssetServer>().load_state(handle)
}

fn damped(damping: f32) -> String {
    format!("(cloth: (damping: {damping}))")
}

#[test]
fn a_cloth_is_built_as_its_file_says() {
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
        .spawn((ClothFrom(flag), Rope::between(Vec3::ZERO, Vec3::X, 10)))
        .id();
    run_until(&mut app, |app| is_built(app, sheet) && is_built(app, rope));
    // It never was anything else.
    assert_eq!(app.world().resource::<Built>().0, [3.0, 3.0]);
    let fabric = Fabric {
        drag: 2.0,
        ..Fabric::denim()
    };
    for entity in [sheet, rope] {
        assert_eq!(cloth(&app, entity).fabric, fabric);
        assert!(app.world().get::<Pins>(entity).is_some());
    }
    // It weighs as much as one that was made in code.
    let same = Cloth {
        fabric,
        ..default()
    };
    let mesh = add_mesh(&mut app, crate::sheet());
    let made = (same, Pins::top_corners(), Mesh3d(mesh));
    let made = app.world_mut().spawn(made).id();
    run(&mut app, 1);
    let weights = [sheet, made].map(|cloth| particles(&app, cloth).inverse_mass[55]);
    assert_eq!(weights[0], weights[1]);
}

#[test]
fn a_changed_file_changes_its_cloths_without_a_jerk() {
    let (mut app, folder) = app();
    write(&folder, FLAG, &damped(1.0));
    let flag = load(&app, FLAG);
    let cloths = [(); 2].map(|()| spawn(&mut app, flag.clone()));
    run_until(&mut app, |app| is_built(app, cloths[1]));
    run(&mut app, 30);
    let low = |app: &App| particles(app, cloths[0]).world_position(95);
    let (mut at, mut most) = (low(&app), 0_f32);
    let mut watch = |app: &App| {
        let before = std::mem::replace(&mut at, low(app));
        most = most.max(at.distance(before));
    };
    write(
        &folder,
        FLAG,
        "(cloth: (fabric: (thickness: 0.5, bending_stiffness: 10)))",
    );
    reload(&app);
    until(|| {
        app.update();
        watch(&app);
        let thick = |&c: &Entity| cloth(&app, c).fabric.thickness == 0.5;
        cloths.iter().all(thick).then_some(())
    });
    // What the file does not say any more has its default.
    assert_eq!(cloth(&app, cloths[0]).damping, Cloth::default().damping);
    for _ in 0..60 {
        app.update();
        watch(&app);
    }
    // It swings at some 3 m/s.
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
    for (bad, told) in [
        (
            "(cloth: (damipng: 2))",
            "presets/flag.cloth.ron:1:10: Unexpected field named `damipng`",
        ),
        (
            "(cloth: (damping: 2000))",
            "Cloth::damping is 2000, allowed is 0 to 100 1/s",
        ),
        (
            "(cloth: (damping: 2, iterations: NaN))",
            "presets/flag.cloth.ron:1:34: Expected integer",
        ),
    ] {
        write(&folder, FLAG, bad);
        reload(&app);
        run_until(&mut app, |_| {
            lines_about(entity).iter().any(|line| line.contains(told))
        });
        assert_eq!(cloth(&app, entity).damping, 1.0);
        let presets = app.world().resource::<Assets<ClothPreset>>();
        assert_eq!(presets.get(&flag).unwrap().cloth.damping, 1.0);
    }
    let lines = lines_about(entity);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("ERROR") && lines[0].contains("stays as it is"));
    // A cloth that comes now takes what is in force.
    let late = spawn(&mut app, flag.clone());
    run(&mut app, 2);
    assert!(is_built(&app, late));
    assert_eq!(cloth(&app, late).damping, 1.0);
    write(&folder, FLAG, &damped(4.0));
    reload(&app);
    run_until(&mut app, |app| cloth(app, entity).damping == 4.0);
}

#[test]
fn what_a_user_edits_stays_until_the_file_is_another() {
    let (mut app, folder) = app();
    write(&folder, FLAG, &damped(1.0));
    let flag = load(&app, FLAG);
    let entity = spawn(&mut app, flag.clone());
    run_until(&mut app, |app| is_built(app, entity));
    let edit = |app: &mut App| {
        app.world_mut().get_mut::<Cloth>(entity).unwrap().damping = 7.0;
    };
    // At once, and after the event has gone round.
    edit(&mut app);
    run(&mut app, 5);
    assert_eq!(cloth(&app, entity).damping, 7.0);
    // The same text again, or another scene around the same cloth.
    for text in [damped(1.0), "(cloth: (damping: 1), settings: ())".into()] {
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
    // Inserted again, it is taken anew.
    edit(&mut app);
    app.world_mut().entity_mut(entity).insert(ClothFrom(flag));
    run(&mut app, 1);
    assert_eq!(cloth(&app, entity).damping, 2.0);
    // A clone has the edits of its original.
    edit(&mut app);
    let clone = app.world_mut().entity_mut(entity).clone_and_spawn();
    run(&mut app, 3);
    assert_eq!(cloth(&app, clone).damping, 7.0);
    // Without the file it stays as it is.
    app.world_mut().entity_mut(entity).remove::<ClothFrom>();
    write(&folder, FLAG, &damped(3.0));
    reload(&app);
    run_until(&mut app, |app| cloth(app, clone).damping == 3.0);
    assert_eq!(cloth(&app, entity).damping, 7.0);
}

#[test]
fn a_file_that_is_missing_is_told_and_its_cloth_is_built_as_it_is() {
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
    // Whoever comes later is told as well.
    let late = spawn(&mut app, missing);
    run(&mut app, 2);
    assert_eq!(lines_about(late).len(), 1);
    assert!(is_built(&app, late));
    // Now it is there.
    write(&folder, "presets/none.cloth.ron", &damped(6.0));
    app.world()
        .resource::<AssetServer>()
        .reload("presets/none.cloth.ron");
    run_until(&mut app, |app| cloth(app, entity).damping == 6.0);
}

#[test]
fn files_are_loaded_once_and_cloths_may_leave_meanwhile() {
    let (mut app, folder) = app();
    record(&mut app, 9500);
    write(&folder, FLAG, &damped(1.0));
    let [flag, again] = [(); 2].map(|()| load(&app, FLAG));
    assert_eq!(flag, again);
    let gone = spawn(&mut app, flag.clone());
    let bare = spawn(&mut app, flag.clone());
    app.update();
    app.world_mut().despawn(gone);
    app.world_mut().entity_mut(bare).remove::<ClothFrom>();
    let stays = spawn(&mut app, again);
    run_until(&mut app, |app| is_built(app, stays));
    assert_eq!(app.world().resource::<Assets<ClothPreset>>().len(), 1);
    // Nobody waits for a file that is none of its business.
    run(&mut app, 2);
    assert!(is_built(&app, bare));
    assert_eq!(lines_about(gone), [""; 0]);
}

#[test]
fn presets_need_no_file() {
    let (mut app, _) = app();
    let mut preset = ClothPreset::default();
    preset.cloth.damping = 8.0;
    let mut presets = app.world_mut().resource_mut::<Assets<ClothPreset>>();
    let made = presets.add(preset);
    let entity = spawn(&mut app, made.clone());
    let nothing = spawn(&mut app, Handle::default());
    run(&mut app, 2);
    assert!(is_built(&app, entity) && is_built(&app, nothing));
    assert_eq!(cloth(&app, entity).damping, 8.0);
    let mut presets = app.world_mut().resource_mut::<Assets<ClothPreset>>();
    presets.get_mut(&made).unwrap().cloth.damping = 9.0;
    run(&mut app, 1);
    assert_eq!(cloth(&app, entity).damping, 9.0);
}

#[test]
fn settings_follow_a_file() {
    const STORM: &str = "presets/storm.cloth.ron";
    let (mut app, folder) = app();
    record(&mut app, 0);
    let text = "(settings: (wind: (velocity: (20, 0, 0)), substeps: 12, gravity: (0, -3, 0)))";
    write(&folder, STORM, text);
    app.insert_resource(Turbulence {
        strength: 3.0,
        ..default()
    });
    let storm = load(&app, STORM);
    app.insert_resource(ClothSettingsFrom(storm));
    run_until(&mut app, |app| app.world().resource::<Substeps>().0 == 12);
    let world = app.world();
    assert_eq!(world.resource::<Wind>().velocity, Vec3::X * 20.0);
    assert_eq!(world.resource::<ClothGravity>().0, Vec3::Y * -3.0);
    // What is not written has its default.
    assert_eq!(world.resource::<Turbulence>().strength, 0.0);
    // Edits stay, also when only the cloth in the file is another.
    app.insert_resource(Substeps(20));
    let reload = |app: &App| app.world().resource::<AssetServer>().reload(STORM);
    write(
        &folder,
        STORM,
        &text.replace("(settings", "(cloth: (damping: 1), settings"),
    );
    reload(&app);
    let presets = |app: &App| {
        let presets = app.world().resource::<Assets<ClothPreset>>();
        presets.iter().next().unwrap().1.clone()
    };
    run_until(&mut app, |app| presets(app).cloth.damping == 1.0);
    run(&mut app, 3);
    assert_eq!(app.world().resource::<Substeps>().0, 20);
    // A file that has become unreadable changes nothing.
    write(&folder, STORM, "(settings: (wind: (gusts: 2)))");
    reload(&app);
    run_until(&mut app, |_| {
        !lines_with("settings stay as they are: presets/storm.cloth.ron").is_empty()
    });
    assert_eq!(app.world().resource::<Substeps>().0, 20);
    assert_eq!(app.world().resource::<Wind>().gusts, 0.0);
    write(&folder, STORM, "(settings: (substeps: 4))");
    reload(&app);
    run_until(&mut app, |app| app.world().resource::<Substeps>().0 == 4);
    assert_eq!(app.world().resource::<Wind>().velocity, Vec3::ZERO);
    // One without settings leaves them alone, and says so.
    write(&folder, STORM, "()");
    reload(&app);
    run_until(&mut app, |_| {
        !lines_with("presets/storm.cloth.ron has no settings").is_empty()
    });
    assert_eq!(app.world().resource::<Substeps>().0, 4);
}

#[test]
fn what_is_saved_as_an_asset_is_loaded_as_it_was() {
    let (mut app, folder) = app();
    let mut preset = ClothPreset {
        settings: Some(ClothSettings::of(app.world())),
        ..default()
    };
    preset.cloth.fabric = Fabric::chain_mail();
    preset.cloth.self_collision = SelfCollision::Particles;
    let server = app.world().resource::<AssetServer>().clone();
    preset.save_asset(&server, "made/by/me.cloth.ron").unwrap();
    let made = load(&app, "made/by/me.cloth.ron");
    run_until(&mut app, |app| state(app, &made).is_loaded());
    let presets = app.world().resource::<Assets<ClothPreset>>();
    assert_eq!(presets.get(&made), Some(&preset));
    preset.cloth.fabric.drag = -1.0;
    let told = preset.save_asset(&server, "bad.cloth.ron").unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("bad.cloth.ron: Fabric::drag is -1, allowed is 0 to 10"),
        "{told}"
    );
    assert!(folder.get_asset("bad.cloth.ron".as_ref()).is_none());
    let told = preset
        .save_asset(&server, "none://a.cloth.ron")
        .unwrap_err();
    assert!(told.to_string().contains("none://a.cloth.ron"), "{told}");
}

#[test]
fn the_presets_of_this_repository_can_be_loaded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/presets");
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
