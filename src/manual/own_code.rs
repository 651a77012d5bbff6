//! Your own forces and constraints, the solver without an app, determinism and rollback.
//!
//! # Reading
//!
//! The state of a cloth is in two components on its entity, there from [`ClothReady`](crate::ClothReady) on:
//! [`Particles`](crate::Particles) and [`Constraints`](crate::Constraints). Positions are stored from an origin near the
//! cloth; `world_position` adds it. Those of a `ClothGrid` are numbered row by row, as its vertices are, those of a
//! [`Rope`](crate::Rope) along it; in other meshes they may have another order than the vertices. `velocity(i)`, in m/s,
//! and `is_pinned(i)` tell the rest.
//!
//! # When
//!
//! [`ClothSystems`](crate::ClothSystems) are sets. `Prepare`, `Simulate` and `Finish` are in `FixedUpdate`; `Integrate`,
//! `Relax` and `Collide` in the schedule [`ClothSubstep`](crate::ClothSubstep), which runs once for each substep; `Build`
//! and `WriteMesh` in `PostUpdate`.
//!
//! | you want | write it | in |
//! |---|---|---|
//! | a force | `particles.add_force(i, newtons)` | `FixedUpdate`, after `Prepare`, before `Simulate` |
//! | a kick | `particles.set_velocity(i, v)` | `FixedUpdate`, before `Prepare` or after `Finish` |
//! | a constraint | `particles.set_world_position(i, place)` | `ClothSubstep`, after `Relax`, before `Collide` |
//! | another rest length | `constraints.rest_lengths_mut()` | `FixedUpdate`, before `Prepare` |
//! | to see what was moved | `particles.world_position(i)` | `FixedUpdate`, after `Finish` |
//!
//! Forces are kept for all substeps of a step and cleared when the next one is prepared; added in `ClothSubstep` they
//! would pile up.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{ClothSubstep, ClothSystems, Particles, prelude::*};
//!
//! /// Pulls all cloth to a point, the more the farther it is.
//! fn attract(mut cloths: Query<&mut Particles, Without<ClothSleeping>>) {
//!     for mut particles in &mut cloths {
//!         for i in 0..particles.len() {
//!             let away = Vec3::new(0.0, 2.0, 0.0) - particles.world_position(i);
//!             particles.add_force(i, away * 0.001);
//!         }
//!     }
//! }
//!
//! /// No particle goes below y = 0.2. Before the contacts, what is moved counts as motion.
//! fn hold_up(mut cloths: Query<&mut Particles, Without<ClothSleeping>>) {
//!     for mut particles in &mut cloths {
//!         for i in 0..particles.len() {
//!             let place = particles.world_position(i);
//!             if place.y < 0.2 && !particles.is_pinned(i) {
//!                 particles.set_world_position(i, place.with_y(0.2));
//!             }
//!         }
//!     }
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
//!
//! app.add_systems(FixedUpdate, attract.after(ClothSystems::Prepare).before(ClothSystems::Simulate))
//!     .add_systems(ClothSubstep, hold_up.after(ClothSystems::Relax).before(ClothSystems::Collide));
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::new(1.0, 1.0, 12, 12));
//! # app.world_mut().spawn((Cloth::default(), Mesh3d(mesh), Transform::from_xyz(0.0, 1.0, 0.0)));
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&Particles>().single(app.world()).unwrap();
//! # let lowest = (0..particles.len()).map(|i| particles.world_position(i).y).fold(1.0, f32::min);
//! # assert!((0.19..0.3).contains(&lowest), "{lowest}");
//! ```
//!
//! Writing wakes a cloth that sleeps, whatever is written: leave sleeping ones out. And a system of your own in
//! `ClothSubstep` has all cloths go through one phase after the other, which costs some cache with hundreds of them;
//! without one, each goes through all its substeps at once, with the same bits. Numbers that are not finite put the cloth
//! back to its last good state, and the log says so once.
//!
//! [`Constraints`](crate::Constraints) can be shortened, lengthened and taken out (`retain`). Tethers know the mesh only,
//! so they have to reach farther when threads get longer:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{Constraints, prelude::*};
//! /// Rain makes it longer by a twentieth. To be run once.
//! fn soak(mut cloths: Query<(&mut Cloth, &mut Constraints)>) {
//!     for (mut cloth, mut constraints) in &mut cloths {
//!         constraints.rest_lengths_mut().for_each(|length| *length *= 1.05);
//!         cloth.tether_scale = 1.05;
//!     }
//! }
//! ```
//!
//! # The solver alone
//!
//! [`solver`](crate::solver) is pure numerics: no app, no assets. [`mesh`](crate::mesh) makes what it needs of a mesh.
//! [`solver::step`](crate::solver::step()) takes the same phases as the plugin, with the same bits.
//!
//! ```
//! use bevy::math::{Mat3, Vec3};
//! use bevy_drape::{
//!     Cloth, Pins,
//!     mesh::{Assembly, ClothGrid, Topology, TriangleMesh},
//!     solver::{self, Body, PinTarget, RestShape, StepSettings, Tethers},
//! };
//!
//! let cloth = Cloth::default();
//! let mesh = TriangleMesh::read(&ClothGrid::vertical(1.0, 1.0, 16, 16).into())?;
//! let topology = Topology::new(&mesh).expect("a grid has triangles");
//! let Assembly { mut particles, mut constraints, triangles, .. } =
//!     topology.assemble(Vec3::ZERO, Mat3::IDENTITY, cloth.fabric.areal_density);
//!
//! let pinned = Pins::top_corners().select(&topology);
//! let mut pins = Vec::new();
//! for &particle in &pinned {
//!     particles.inverse_mass[particle as usize] = 0.0;
//!     pins.push(PinTarget { particle, position: particles.position.get(particle as usize) });
//! }
//! let tethers = Tethers::new(
//!     &RestShape {
//!         positions: &particles.position,
//!         triangles: &triangles.indices.to_vec(),
//!         constraints: &constraints,
//!     },
//!     &pinned,
//! );
//! let settings = StepSettings {
//!     dt: 1.0 / 60.0,
//!     substeps: 8,
//!     iterations: cloth.iterations,
//!     threads: cloth.threads,
//!     strain_limit: cloth.fabric.strain_limit,
//!     gravity: Vec3::NEG_Y * 9.81,
//!     damping: cloth.damping,
//!     compliance: cloth.fabric.compliance(),
//!     tether_scale: cloth.tether_scale,
//!     air: cloth.fabric.air(Vec3::ZERO, 1.2),
//!     surface: cloth.fabric.surface(),
//!     internal_friction: cloth.fabric.internal_friction,
//!     retardation: cloth.fabric.retardation(),
//! };
//! for _ in 0..60 {
//!     let body = Body {
//!         particles: &mut particles,
//!         constraints: &mut constraints,
//!         triangles: &triangles,
//!         tethers: &tethers,
//!         pins: &pins,
//!         self_contacts: None,
//!     };
//!     assert!(solver::step(body, &[], &settings), "all numbers are finite");
//! }
//! let stretch = solver::measure_stretch(&particles, &constraints);
//! assert!(stretch.max < 0.01, "{}", stretch.max);
//! # Ok::<(), bevy_drape::mesh::MeshError>(())
//! ```
//!
//! # Determinism and rollback
//!
//! The same input gives the same bits, on however many threads and whatever the processor. Steps have to be of the same
//! length (`FixedUpdate` sees to that), and your own systems have to be in a clear order. `particles.state_hash()` is what
//! two machines compare.
//!
//! [`ClothSnapshot`](crate::ClothSnapshot) saves a cloth, torn and held as it may be, and puts it back. What is around it,
//! the game saves: its documentation has the list.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{ClothSnapshot, SnapshotError, prelude::*};
//!
//! # fn rollback(app: &mut App, flag: Entity) -> Result<(), SnapshotError> {
//! let saved = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! (0..10).for_each(|_| app.update());
//! let first = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! // What another player did 10 steps ago arrives: back, and forth again.
//! saved.restore(app.world_mut(), flag)?;
//! (0..10).for_each(|_| app.update());
//! let second = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! assert_eq!(first.state_hash(), second.state_hash());
//! # Ok(())
//! # }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1));
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::vertical(1.0, 1.0, 12, 12));
//! # let flag = app.world_mut().spawn((Cloth::default(), Pins::edge(ClothEdge::Left), Mesh3d(mesh))).id();
//! # (0..20).for_each(|_| app.update());
//! # rollback(&mut app, flag).unwrap();
//! ```
//!
//! Take and restore them between steps. Each is 64 bytes for each particle of a sheet; with the feature `serialize` they
//! can be saved and sent.
