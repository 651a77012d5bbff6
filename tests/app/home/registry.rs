//! Registered types and diagnostics, for inspectors, scenes and overlays.

use crate::{add_mesh, app, particles, run, sheet, spawn};
use bevy::{
    asset::AssetPlugin,
    diagnostic::{DiagnosticPath, DiagnosticsStore},
    mesh::MeshPlugin,
    prelude::*,
    reflect::{TypeInfo, TypeRegistration, TypeRegistry, enums::VariantInfo},
    time::TimeUpdateStrategy,
    transform::TransformPlugin,
};
#[cfg(feature = "debug")]
use bevy_drape::debug::ClothGizmos;
#[cfg(feature = "picking")]
use bevy_drape::picking::ClothTools;
use bevy_drape::{
    character::{ClothInertia, ClothMaxDistance, ClothPaint, ClothPart, SkeletonColliders},
    cloth::{
        ClothBuildFailed, ClothBuildMode, ClothMaxThreads, ClothSource, ClothWarmUp, PlanarCloth,
    },
    collision::{ClothLayers, LastPose},
    diagnostics::{ClothDiagnosticsPlugin, ClothStats},
    lod::{ClothBudget, ClothLod, ClothPaused, ClothViewer},
    pins::Pin,
    prelude::*,
    pressure::ClothPressure,
    proxy::ClothProxy,
    sleep::ClothSleeping,
    time::ClothClock,
    wind::{WindOcclusion, WindTime, WindTurbulence},
};
use std::any::TypeId;

/// Returns all components and resources that users write.
fn user_types() -> Vec<TypeId> {
    macro_rules! ids {
        ($($name:ty),* $(,)?) => { vec![$(TypeId::of::<$name>()),*] };
    }
    #[allow(unused_mut, reason = "features add to it")]
    let mut all = ids![
        Cloth,
        ClothBudget,
        ClothClock,
        ClothCollider,
        ClothGravity,
        ClothLayers,
        ClothLod,
        ClothPaint,
        ClothPart,
        ClothPaused,
        ClothProxy,
        ClothSleeping,
        ClothMaxThreads,
        ClothTime,
        ClothViewer,
        ClothBuildMode,
        LastPose,
        ClothMaxDistance,
        Pins,
        PlanarCloth,
        ClothPressure,
        Rope,
        SkeletonColliders,
        ClothSubsteps,
        ClothTearing,
        WindTurbulence,
        ClothWarmUp,
        Wind,
        WindOcclusion,
        WindTime,
        WindZone,
        ClothInertia,
    ];
    #[cfg(feature = "parry")]
    all.extend(ids![ClothMeshCollider]);
    #[cfg(feature = "debug")]
    all.extend(ids![ClothGizmos]);
    #[cfg(feature = "picking")]
    all.extend(ids![ClothTools]);
    all
}

/// Returns the components that only the plugin inserts, which need no default.
fn plugin_types() -> [TypeId; 2] {
    [
        TypeId::of::<ClothSource>(),
        TypeId::of::<ClothBuildFailed>(),
    ]
}

fn with_all_plugins() -> App {
    let mut app = App::new();
    // A new registry: types that derives register automatically (a Bevy feature) must not hide types that the
    // plugins fail to register.
    app.insert_resource(AppTypeRegistry::default())
        .add_plugins((
            MinimalPlugins,
            AssetPlugin::default(),
            MeshPlugin,
            TransformPlugin,
            ClothPlugin::default(),
            ClothDiagnosticsPlugin::default(),
        ));
    #[cfg(feature = "debug")]
    app.add_plugins((bevy::gizmos::GizmoPlugin, ClothDebugPlugin));
    #[cfg(feature = "picking")]
    app.add_plugins(ClothInteractionPlugin);
    app.insert_resource(Time::<Fixed>::from_hz(60.0))
        .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
    app.finish();
    app.cleanup();
    app
}

fn is_ours(registration: &TypeRegistration) -> bool {
    registration
        .type_info()
        .type_path()
        .starts_with("bevy_drape::")
}

#[test]
fn everything_a_user_writes_can_be_added_in_an_inspector() {
    let app = with_all_plugins();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    for id in user_types() {
        let known = registry.get(id).expect("the type is registered");
        let name = known.type_info().type_path();
        assert!(known.contains::<ReflectComponent>(), "{name}");
        assert!(known.contains::<ReflectDefault>(), "{name}");
        #[cfg(feature = "serialize")]
        assert!(
            known.contains::<ReflectSerialize>() && known.contains::<ReflectDeserialize>(),
            "{name}"
        );
    }
    // The list above is complete.
    let ours = registry.iter().filter(|known| is_ours(known));
    for known in ours.filter(|known| known.contains::<ReflectComponent>()) {
        let name = known.type_info().type_path();
        let listed =
            user_types().contains(&known.type_id()) || plugin_types().contains(&known.type_id());
        // Read only, used in scenes only, or the handle of a file.
        let private = [
            "ClothStats",
            "ClothCulled",
            "ClothSkin",
            "GeneratedFor",
            "ClothPresetHandle",
            "ClothEnvironmentHandle",
        ];
        let private = private.iter().any(|private| name.ends_with(private));
        assert!(listed || private, "{name} is in no list");
    }
}

/// Returns the types of all fields, elements and variants of a type.
fn member_types(info: &'static TypeInfo) -> Vec<TypeId> {
    let variant = |variant: &'static VariantInfo| -> Vec<TypeId> {
        match variant {
            VariantInfo::Struct(fields) => fields.iter().map(|f| f.type_id()).collect(),
            VariantInfo::Tuple(fields) => fields.iter().map(|f| f.type_id()).collect(),
            VariantInfo::Unit(_) => Vec::new(),
        }
    };
    match info {
        TypeInfo::Struct(fields) => fields.iter().map(|f| f.type_id()).collect(),
        TypeInfo::TupleStruct(fields) => fields.iter().map(|f| f.type_id()).collect(),
        TypeInfo::List(list) => vec![list.item_ty().id()],
        TypeInfo::Enum(variants) => variants.iter().flat_map(variant).collect(),
        _ => Vec::new(),
    }
}

/// Returns the types that an inspector creates when a list gets an element or an enum another variant.
fn types_created_by_inspectors(registry: &TypeRegistry) -> Vec<&TypeRegistration> {
    let mut all = Vec::new();
    let mut wanted = user_types();
    let mut visited = Vec::new();
    while let Some(id) = wanted.pop() {
        let Some(known) = registry.get(id).filter(|_| !visited.contains(&id)) else {
            continue;
        };
        visited.push(id);
        let inside = member_types(known.type_info());
        if matches!(known.type_info(), TypeInfo::List(_) | TypeInfo::Enum(_)) {
            all.extend(inside.iter().filter_map(|&id| registry.get(id)));
        }
        wanted.extend(inside);
    }
    all
}

#[test]
fn inspectors_can_extend_lists_and_choose_variants() {
    let app = with_all_plugins();
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let all = types_created_by_inspectors(&registry);
    assert!(
        all.iter()
            .any(|known| known.type_id() == TypeId::of::<Pin>())
    );
    for known in all.into_iter().filter(|known| is_ours(known)) {
        // A function can be set in code only.
        let name = known.type_info().type_path();
        let is_code = name.ends_with("ResistanceFunction");
        assert!(is_code || known.contains::<ReflectDefault>(), "{name}");
    }
}

#[test]
fn components_added_in_an_inspector_work() {
    let mut app = with_all_plugins();
    let types = app.world().resource::<AppTypeRegistry>().clone();
    let registry = types.read();
    // Types that do not turn a sheet into cloth. Resources are skipped below.
    let others = [TypeId::of::<Rope>(), TypeId::of::<ClothPart>()];
    let mut cloths = Vec::new();
    for id in user_types() {
        let known = registry.get(id).unwrap();
        if others.contains(&id) || known.contains::<ReflectResource>() {
            continue;
        }
        let mesh = add_mesh(&mut app, sheet());
        let mut entity = app.world_mut().spawn((Cloth::default(), Mesh3d(mesh)));
        let value = known.data::<ReflectDefault>().unwrap().default();
        let component = known.data::<ReflectComponent>().unwrap();
        component.insert(&mut entity, value.as_partial_reflect(), &registry);
        assert!(component.contains(&entity));
        cloths.push((entity.id(), known.type_info().type_path()));
    }
    drop(registry);
    run(&mut app, 20);
    for (cloth, with) in cloths {
        let built = app.world().get::<ClothParticles>(cloth);
        assert!(built.is_some_and(|built| built.is_finite()), "{with}");
    }
}

#[test]
fn all_diagnostics_are_measured() {
    type Paths = ClothDiagnosticsPlugin;
    let mut app = with_all_plugins();
    spawn(&mut app, Pins::top_corners());
    spawn(&mut app, ClothSleeping);
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -5.0, 0.0),
    ));
    run(&mut app, 10);
    let store = app.world().resource::<DiagnosticsStore>();
    let value = |path: &DiagnosticPath| {
        let known = store.get(path).unwrap_or_else(|| panic!("no {path}"));
        known
            .value()
            .unwrap_or_else(|| panic!("{path} has no value"))
    };
    assert_eq!(value(&Paths::CLOTHS), 2.0);
    assert_eq!(value(&Paths::PARTICLES), 200.0);
    assert_eq!(value(&Paths::CONSTRAINTS), 1004.0);
    assert!(value(&Paths::STEP_TIME) > 0.0);
    assert_eq!(value(&Paths::CONTACT_PAIRS), 0.0);
    assert!(value(&Paths::SLEEPING) <= 1.0);
    assert!((0.0..10.0).contains(&value(&Paths::WORST_STRETCH)));
    assert_eq!(value(&Paths::DEEPEST_PENETRATION), 0.0);
    let ours = store
        .iter()
        .filter(|known| known.path().as_str().starts_with("cloth/"));
    assert_eq!(ours.count(), 8, "a path that this test does not know");
}

#[test]
fn sleeping_cloths_are_counted() {
    let mut app = with_all_plugins();
    let cloths = [(); 3].map(|()| spawn(&mut app, Pins::corners()));
    app.world_mut()
        .get_mut::<Cloth>(cloths[0])
        .unwrap()
        .sleep_speed = 0.0;
    for &cloth in &cloths {
        app.world_mut().get_mut::<Cloth>(cloth).unwrap().damping = 20.0;
    }
    run(&mut app, 600);
    let asleep = |&&cloth: &&Entity| app.world().get::<ClothSleeping>(cloth).is_some();
    assert_eq!(cloths.iter().filter(asleep).count(), 2);
    let store = app.world().resource::<DiagnosticsStore>();
    let sleeping = store.get(&ClothDiagnosticsPlugin::SLEEPING).unwrap();
    assert_eq!(sleeping.value(), Some(2.0));
    assert!(app.world().get::<ClothStats>(cloths[1]).unwrap().sleeping);
    assert_eq!(particles(&app, cloths[0]).len(), 100);
}

#[test]
fn an_app_without_the_diagnostics_plugin_has_no_stats() {
    let mut app = app();
    let cloth = spawn(&mut app, ());
    run(&mut app, 3);
    assert!(app.world().get::<ClothStats>(cloth).is_none());
}
