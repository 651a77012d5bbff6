//! Performance: measuring and reducing the cost of cloth.
//!
//! # Measure first
//!
//! The panel shows "step time", the mean time of a step of all cloths over the last two seconds. Without the
//! panel, `ClothDiagnosticsPlugin` provides the same figures as Bevy diagnostics, and
//! [`ClothStats`](crate::diagnostics::ClothStats) on each cloth:
//!
//! ```
//! use bevy::{diagnostic::DiagnosticsStore, prelude::*};
//! use bevy_drape::{diagnostics::{ClothDiagnosticsPlugin, ClothStats}, prelude::*};
//!
//! fn report(store: Res<DiagnosticsStore>, cloths: Query<(NameOrEntity, &ClothStats)>) {
//!     let step_time = store.get(&ClothDiagnosticsPlugin::STEP_TIME);
//!     if let Some(ms) = step_time.and_then(|step_time| step_time.average()) {
//!         info!("a step of all cloths takes {ms:.2} ms");
//!     }
//!     for (name, stats) in &cloths {
//!         info!("{name}: {} particles, worst stretch {}", stats.particles, stats.worst_stretch);
//!     }
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate);
//! app.add_plugins(ClothDiagnosticsPlugin::default()).add_systems(Update, report);
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::vertical(1.0, 1.0, 12, 12));
//! # app.world_mut().spawn((Cloth::default(), Pins::top_corners(), Mesh3d(mesh)));
//! # (0..8).for_each(|_| app.update());
//! # let store = app.world().resource::<DiagnosticsStore>();
//! # assert_eq!(store.get(&ClothDiagnosticsPlugin::PARTICLES).unwrap().value(), Some(144.0));
//! # assert!(store.get(&ClothDiagnosticsPlugin::STEP_TIME).unwrap().average().unwrap() > 0.0);
//! ```
//!
//! Build with optimisation, or the solver is many times slower. `opt-level = 2` for dependencies in the `dev`
//! profile is enough.
//!
//! For orientation, with the defaults on one core of a server of 2023: a step of a cape of 24 × 24 particles takes
//! 0.1 ms, of a sheet of 64 × 64 0.4 ms, of 128 × 128 2 ms. Writing the mesh of 64 × 64 takes another 0.1 ms per
//! frame.
//!
//! # Reducing the cost
//!
//! 1. **Fewer particles.** Cost is in proportion. 24 × 24 particles make a good cape, 64 × 64 a good tablecloth.
//!    For more visual detail, let a fine mesh follow a coarse cloth ([`ClothProxy`](crate::proxy::ClothProxy)): 20 000
//!    vertices cost 0.1 ms per frame.
//! 2. **Grids.** Rows and columns of quads are solved in half the time of other triangles. They are found in any
//!    mesh, with any order of its vertices.
//! 3. **Fewer substeps.** [`ClothSubsteps::Every(1.0 / 240.0)`](crate::cloth::ClothSubsteps) halves the cost.
//!    Inextensible cloth then hardly stretches more; elastic cloth gets softer, and contacts less accurate.
//! 4. **Any rate of steps.** The cost depends on the number of substeps per second, which is the same at 30, 60 and
//!    144 steps per second. A slower step only adds latency.
//! 5. **No self-collision** where it does not show, and no [`WindOcclusion`](crate::wind::WindOcclusion).
//! 6. **A backstop** ([`ClothMaxDistance`](crate::character::ClothMaxDistance)) instead of a dozen capsules; a hull instead
//!    of a mesh; few large triangles instead of many small ones.
//!
//! # Sleep
//!
//! Cloth at rest falls asleep ([`ClothSleeping`](crate::sleep::ClothSleeping)) and costs next to nothing. "asleep" in the
//! panel is the number of sleeping cloths. If a cloth never falls asleep, the cause may be
//!
//! - changing wind: gusts, turbulence, or a system that changes it; steady wind does not keep cloth awake;
//! - a system that writes to `&mut ClothParticles` of all cloths: filter with `Without<ClothSleeping>`;
//! - `sleep_speed` that is 0 or less than the speed of trembling: raise
//!   [`internal_friction`](crate::cloth::Fabric::internal_friction);
//! - a collider nearby that never stands still.
//!
//! Insert `ClothSleeping` yourself to freeze a cloth until something near it changes or you remove the component.
//! (A coarse cloth hidden behind a [`ClothProxy`](crate::proxy::ClothProxy) is never visible itself: check the visibility
//! of its proxy.)
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{prelude::*, sleep::ClothSleeping};
//! /// Marks cloths that sleep because they are not visible.
//! #[derive(Component)]
//! struct OutOfSight;
//!
//! fn sleep_out_of_sight(
//!     cloths: Query<(Entity, &ViewVisibility, Has<OutOfSight>), With<Cloth>>,
//!     mut commands: Commands,
//! ) {
//!     for (cloth, visible, out_of_sight) in &cloths {
//!         let mut cloth = commands.entity(cloth);
//!         match (visible.get(), out_of_sight) {
//!             (false, false) => drop(cloth.insert((ClothSleeping, OutOfSight))),
//!             (true, true) => drop(cloth.remove::<(ClothSleeping, OutOfSight)>()),
//!             _ => {}
//!         }
//!     }
//! }
//! ```
//!
//! # Threads
//!
//! Cloths are distributed over Bevy's compute pool, and a cloth of 8192 particles or more is split among several
//! threads. This needs no configuration; [`ClothMaxThreads`](crate::cloth::ClothMaxThreads) limits the number of threads,
//! 1 for a single one. Results do not depend on it, to the bit.
//!
//! With hundreds of cloths, keep systems out of [`ClothSubstep`](crate::cloth::ClothSubstep): without any, each cloth
//! takes all its substeps while it is in the cache.
//!
//! # Many cloths
//!
//! Distant cloth needs less detail. One line is enough for characters of human size:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{lod::ClothLod, prelude::*};
//! # let mut app = App::new();
//! app.insert_resource(ClothLod::standard());
//! ```
//!
//! Beyond 12 m, cloth then takes at most 4 substeps, without self-collision; beyond 25 m it takes half as many,
//! longer steps, beyond 50 m a quarter, interpolated between them. Beyond 100 m, and where it is not visible to
//! any camera or light, it is culled: it stands still and moves rigidly with its entity. Set your own distances in
//! [`ClothLod`](crate::lod::ClothLod); they are measured from cameras, or from [`ClothViewer`](crate::lod::ClothViewer)s if
//! there are any. Grabbed cloth always has full detail.
//!
//! [`ClothBudget`](crate::lod::ClothBudget) sets a limit in milliseconds per frame: when cloths take longer for a
//! while, all of them drop to the next level of detail, which is logged, and regain detail when there is time
//! again. [`ClothPaused`](crate::lod::ClothPaused) freezes a single cloth until it is removed.
//!
//! Cloths are built in the background, on Bevy's pool for asynchronous computations: 64 × 64 particles take some 5 ms,
//! 256 × 256 some 100 ms. Further cloths of an equal mesh share its shape, rest lengths and tethers, as long as they are
//! turned and scaled alike; turned otherwise, its topology. Until [`ClothReady`](crate::cloth::ClothReady) their meshes are rendered
//! as they are. [`ClothBuildMode::Immediate`](crate::cloth::ClothBuildMode) builds them at once, as under a loading screen.
//!
//! # A server without a renderer
//!
//! `default-features = false` builds no renderer, no egui and no gizmos. Cloth needs only these plugins:
//!
//! ```
//! use bevy::{asset::AssetPlugin, mesh::MeshPlugin, prelude::*, transform::TransformPlugin};
//! use bevy_drape::prelude::*;
//!
//! let mut app = App::new();
//! app.add_plugins((
//!     MinimalPlugins,
//!     AssetPlugin::default(),
//!     MeshPlugin,
//!     TransformPlugin,
//!     ClothPlugin::default(),
//! ));
//! # app.update();
//! ```
//!
//! Meshes are written there, too, in case a system reads them, except those of sleeping cloths.
//!
//! # Slow frames
//!
//! - **Warm-up**: [`ClothWarmUp`](crate::cloth::ClothWarmUp) takes all its steps in the frame in which the cloth is ready.
//! - **New pins** on a cloth of 256 × 256 particles: its tethers are measured again, which takes some 40 ms.
//! - **Catching up**: after a slow frame, `FixedUpdate` runs several steps. If cloth itself is slow, this makes it
//!   worse; limit it with `set_max_delta` of `Time<Virtual>`.
//! - **A heap of cloth** with self-collision has many more contact pairs than hanging cloth.
