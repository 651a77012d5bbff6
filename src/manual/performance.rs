//! What cloth costs, and how to pay less.
//!
//! # Measure first
//!
//! The panel shows "step time", the mean of the last two seconds for all cloths together. Without the panel,
//! `ClothDiagnosticsPlugin` brings the same figures as Bevy diagnostics, and [`ClothStats`](crate::ClothStats) for each
//! cloth:
//!
//! ```
//! use bevy::{diagnostic::DiagnosticsStore, prelude::*};
//! use bevy_drape::{ClothDiagnosticsPlugin, ClothStats, prelude::*};
//!
//! fn report(store: Res<DiagnosticsStore>, cloths: Query<(NameOrEntity, &ClothStats)>) {
//!     let step_time = store.get(&ClothDiagnosticsPlugin::STEP_TIME);
//!     if let Some(ms) = step_time.and_then(|step_time| step_time.average()) {
//!         info!("all cloths take {ms:.2} ms a step");
//!     }
//!     for (name, stats) in &cloths {
//!         info!("{name}: {} particles, worst stretch {}", stats.particles, stats.worst_stretch);
//!     }
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
//! app.add_plugins(ClothDiagnosticsPlugin::default()).add_systems(Update, report);
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::vertical(1.0, 1.0, 12, 12));
//! # app.world_mut().spawn((Cloth::default(), Pins::top_corners(), Mesh3d(mesh)));
//! # (0..8).for_each(|_| app.update());
//! # let store = app.world().resource::<DiagnosticsStore>();
//! # assert_eq!(store.get(&ClothDiagnosticsPlugin::PARTICLES).unwrap().value(), Some(144.0));
//! # assert!(store.get(&ClothDiagnosticsPlugin::STEP_TIME).unwrap().average().unwrap() > 0.0);
//! ```
//!
//! Build with optimisation: without, the solver is many times slower. `opt-level = 2` for dependencies in the `dev` profile
//! will do.
//!
//! As a guide, on one core of a server of 2023, with the defaults: a cape of 24 × 24 particles takes 0.1 ms a step, a sheet
//! of 64 × 64 takes 0.4 ms, one of 128 × 128 takes 2 ms. Writing the mesh of 64 × 64 for a picture takes 0.1 ms more.
//!
//! # What to turn
//!
//! 1. **Fewer particles.** Cost is in proportion. 24 × 24 make a good cape, 64 × 64 a good tablecloth. Where the picture
//!    needs more, let a fine mesh follow a coarse cloth ([`ClothProxy`](crate::ClothProxy)): 20 000 vertices cost 0.1 ms a
//!    frame.
//! 2. **Grids.** Rows and columns of quads are solved in half the time of other triangles. They are found in any mesh,
//!    whatever the order of its vertices.
//! 3. **Fewer substeps.** [`Substeps`](crate::Substeps) of 4 instead of 8 take half the time. Cloth that does not give
//!    hardly stretches for it; what gives gets softer, and contacts are coarser.
//! 4. **A slower step.** `Time::<Fixed>::from_hz(30.0)` with 16 substeps costs what 60 Hz with 8 does, but pictures are
//!    another sixtieth of a second behind. What counts are substeps for each second.
//! 5. **No self-collision** where nobody looks, and no [`WindOcclusion`](crate::WindOcclusion).
//! 6. **A backstop** ([`MaxDistance`](crate::MaxDistance)) instead of a dozen capsules; a hull instead of a mesh; few
//!    coarse triangles instead of many.
//!
//! # Sleep
//!
//! Cloth at rest sleeps ([`ClothSleeping`](crate::ClothSleeping)) and costs next to nothing. "asleep" in the panel counts
//! them. If yours never do:
//!
//! - gusts, turbulence, or a wind that a system writes anew: what blows keeps cloth awake, a steady wind does not;
//! - a system that takes `&mut Particles` and writes to all of them: filter with `Without<ClothSleeping>`;
//! - `sleep_speed` is 0, or below what it trembles with: more [`internal_friction`](crate::Fabric::internal_friction);
//! - a collider that never stands still nearby.
//!
//! Insert `ClothSleeping` by hand to have a cloth stand still, until something near it changes or you remove it
//! (a coarse cloth that is hidden behind a [`ClothProxy`](crate::ClothProxy) is never seen itself: ask its proxy):
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! /// On cloths that have been put to sleep because nobody sees them.
//! #[derive(Component)]
//! struct OutOfSight;
//!
//! fn rest_out_of_sight(
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
//! Cloths are spread over Bevy's compute pool, and one of 8192 particles or more is shared by several threads. Nothing is
//! to be set; `ClothThreads` leaves cores to others ([`ClothThreads`](crate::ClothThreads), 1 for none of it). Results are
//! the same to the bit.
//!
//! With hundreds of cloths, keep systems out of [`ClothSubstep`](crate::ClothSubstep): without any, each cloth takes all
//! its substeps while it is in the cache.
//!
//! # Many cloths
//!
//! What is far away needs less work. One line is enough for characters of human size:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # let mut app = App::new();
//! app.insert_resource(ClothLod::standard());
//! ```
//!
//! Beyond 12 m cloth then takes at most 4 substeps and does not collide with itself, beyond 25 m it takes half of its steps,
//! beyond 50 m a quarter of them,
//! drawn on its way between two; beyond 100 m, and where no camera and no light looks, it stands still and goes
//! along with its entity. [`ClothLod`](crate::ClothLod) has your own distances, [`ClothViewer`](crate::ClothViewer) says
//! from where they are measured if not from cameras. What is grabbed always has all its detail.
//!
//! [`ClothBudget`](crate::ClothBudget) sets a limit in milliseconds a frame: when cloths take longer for a while, all of
//! them get the detail of the next level, with a line in the log, and have it back when there is time.
//! [`ClothPaused`](crate::ClothPaused) on a cloth has it stand still until you take it off.
//!
//! Cloths that are spawned at once are built in several frames, 8192 particles in each
//! ([`ClothsPerFrame`](crate::ClothsPerFrame)).
//!
//! # A server without a renderer
//!
//!
//! `default-features = false` builds no renderer, no egui and no gizmos. This is all that cloth needs:
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
//! Meshes are written there, too, since somebody might read them; cloth that sleeps writes none.
//!
//! # Spikes
//!
//! - **Building** a cloth of 64 × 64 takes some 5 ms, of 256 × 256 more than 100 ms, tethers most of it: spawn large ones
//!   while loading. [`WarmUp`](crate::WarmUp) takes all its steps in that frame, too.
//! - **Slow frames** make `FixedUpdate` run several steps to catch up. If cloth is what is slow, that makes it worse;
//!   `Time<Virtual>` has `set_max_delta` to end it.
//! - **A heap of cloth** that collides with itself has many more pairs than one that hangs.
