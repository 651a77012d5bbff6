//! Your own forces and constraints, the solver without an app, determinism and rollback.
//!
//! # State of a cloth
//!
//! From [`ClothReady`](crate::cloth::ClothReady) on, two components of the entity contain the state of its cloth:
//! [`ClothParticles`](crate::cloth::ClothParticles) and [`ClothConstraints`](crate::cloth::ClothConstraints). Positions are
//! stored relative to an origin near the cloth; `world_position(i)` adds the origin. Particles of a `ClothGrid`
//! are numbered row by row, like its vertices, those of a [`Rope`](crate::rope::Rope) along it; in other meshes their
//! order may differ from that of the vertices. `velocity(i)` returns the velocity in m/s, `is_pinned(i)` whether
//! the particle is pinned.
//!
//! # Order of systems
//!
//! [`ClothSystems`](crate::cloth::ClothSystems) are system sets. `Prepare`, `Simulate` and `Finish` run in `FixedUpdate`;
//! `Integrate`, `Relax` and `Collide` in the schedule [`ClothSubstep`](crate::cloth::ClothSubstep), which runs once per
//! substep; `Build` and `WriteMesh` in `PostUpdate`.
//!
//! | task | call | in |
//! |---|---|---|
//! | apply a force | `particles.add_force(i, newtons)` | `FixedUpdate`, after `Prepare`, before `Simulate` |
//! | set a velocity | `particles.set_velocity(i, v)` | `FixedUpdate`, before `Prepare` or after `Finish` |
//! | enforce a constraint | `particles.set_world_position(i, position)` | `ClothSubstep`, after `Relax`, before `Collide` |
//! | change rest lengths | `constraints.rest_lengths_mut()` | `FixedUpdate`, before `Prepare` |
//! | read the result | `particles.world_position(i)` | `FixedUpdate`, after `Finish` |
//!
//! Forces act during all substeps of a step and are cleared when the next one is prepared; forces added in
//! `ClothSubstep` would accumulate.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{cloth::ClothSubstep, prelude::*, sleep::ClothSleeping};
//!
//! /// Pulls all cloth towards a point, with a force proportional to the distance.
//! fn attract(mut cloths: Query<&mut ClothParticles, Without<ClothSleeping>>) {
//!     for mut particles in &mut cloths {
//!         for i in 0..particles.len() {
//!             let offset = Vec3::new(0.0, 2.0, 0.0) - particles.world_position(i);
//!             particles.add_force(i, offset * 0.001);
//!         }
//!     }
//! }
//!
//! /// Keeps all particles above y = 0.2. Displacements before `Collide` also change the velocity.
//! fn hold_up(mut cloths: Query<&mut ClothParticles, Without<ClothSleeping>>) {
//!     for mut particles in &mut cloths {
//!         for i in 0..particles.len() {
//!             let position = particles.world_position(i);
//!             if position.y < 0.2 && !particles.is_pinned(i) {
//!                 particles.set_world_position(i, position.with_y(0.2));
//!             }
//!         }
//!     }
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate);
//!
//! app.add_systems(FixedUpdate, attract.after(ClothSystems::Prepare).before(ClothSystems::Simulate))
//!     .add_systems(ClothSubstep, hold_up.after(ClothSystems::Relax).before(ClothSystems::Collide));
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::new(1.0, 1.0, 12, 12));
//! # app.world_mut().spawn((Cloth::default(), Mesh3d(mesh), Transform::from_xyz(0.0, 1.0, 0.0)));
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&ClothParticles>().single(app.world()).unwrap();
//! # let lowest = (0..particles.len()).map(|i| particles.world_position(i).y).fold(1.0, f32::min);
//! # assert!((0.19..0.3).contains(&lowest), "{lowest}");
//! ```
//!
//! Any write access wakes a sleeping cloth, so exclude sleeping cloths from your queries. With a system of yours
//! in `ClothSubstep`, all cloths go through each phase together, which causes cache misses with hundreds of
//! cloths; without one, each cloth takes all its substeps at once, with bitwise equal results. If a number is not
//! finite, the cloth is put back into its last valid state, and the log reports it once.
//!
//! [`ClothConstraints`](crate::cloth::ClothConstraints) can be shortened, lengthened and removed (`retain`). Tethers are
//! measured on the mesh, so they need a larger scale when constraints get longer:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{cloth::ClothConstraints, prelude::*};
//! /// Lengthens wet cloth by a twentieth. Run it once.
//! fn soak(mut cloths: Query<(&mut Cloth, &mut ClothConstraints)>) {
//!     for (mut cloth, mut constraints) in &mut cloths {
//!         constraints.rest_lengths_mut().for_each(|length| *length *= 1.05);
//!         cloth.tether_scale = Some(1.05);
//!     }
//! }
//! ```
//!
//! # The solver without an app
//!
//! [`solver`](crate::solver) is pure numerics, without app or assets. [`mesh`](crate::mesh) converts a mesh to its
//! input. [`ClothState::step`](crate::solver::ClothState::step) runs the same stages as the plugin, with bitwise
//! equal results.
//!
//! ```
//! use bevy::math::{Mat3, Vec3};
//! use bevy_drape::{cloth::Cloth, mesh::{Assembly, ClothGrid, Topology, TriangleMesh}, pins::Pins, solver::{self, Bodies, ClothState, Contacts, MotionConstraints, PinTarget, RestShape, StepInput, Tethers, Workers}};
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
//! // Steps of 1/60 s in 8 substeps, in still air.
//! let settings = cloth.step_settings(1.0 / 60.0, 8, Vec3::NEG_Y * 9.81, Vec3::ZERO, 1.2);
//! let input = StepInput { pins: &pins, ..Default::default() };
//! let mut contacts = Contacts::default();
//! for _ in 0..60 {
//!     let mut state = ClothState {
//!         particles: &mut particles,
//!         constraints: &mut constraints,
//!         triangles: &triangles,
//!         segments: None,
//!         tethers: &tethers,
//!         motion_constraints: &MotionConstraints::default(),
//!         bodies: &mut Bodies::default(),
//!         contacts: &mut contacts,
//!     };
//!     assert!(state.step(&mut Workers::serial(), &settings, &input), "all numbers are finite");
//! }
//! let stretch = solver::measure_stretch(&particles, &constraints);
//! assert!(stretch.max < 0.01, "{}", stretch.max);
//! # Ok::<(), bevy_drape::mesh::MeshError>(())
//! ```
//!
//! # Determinism and rollback
//!
//! Equal input produces bitwise equal results on any number of threads and any processor. The steps must have
//! equal lengths (as in `FixedUpdate`), and your own systems an unambiguous order. To compare two machines,
//! compare `particles.state_hash()`. A cloth that is built in the background is ready sooner on one machine than on
//! another: begin when all are, or set [`ClothBuildMode::Immediate`](crate::cloth::ClothBuildMode).
//!
//! [`ClothSnapshot`](crate::snapshot::ClothSnapshot) saves and restores a cloth, including tears and grabs. The game saves
//! the environment; the documentation of `ClothSnapshot` lists it.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{prelude::*, snapshot::{ClothSnapshot, SnapshotError}};
//!
//! # fn rollback(app: &mut App, flag: Entity) -> Result<(), SnapshotError> {
//! let saved = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! (0..10).for_each(|_| app.update());
//! let first = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! // Input of another player from 10 steps ago arrives: restore, then simulate again.
//! saved.restore(app.world_mut(), flag)?;
//! (0..10).for_each(|_| app.update());
//! let second = ClothSnapshot::take(app.world(), flag).expect("it is built");
//! assert_eq!(first.state_hash(), second.state_hash());
//! # Ok(())
//! # }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate);
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::vertical(1.0, 1.0, 12, 12));
//! # let flag = app.world_mut().spawn((Cloth::default(), Pins::edge(ClothEdge::Left), Mesh3d(mesh))).id();
//! # (0..20).for_each(|_| app.update());
//! # rollback(&mut app, flag).unwrap();
//! ```
//!
//! Take and restore snapshots between steps, of all cloths that lie on each other. Each takes 64 bytes per particle of a sheet,
//! more where it touches cloth; with the feature `serialize` snapshots can be saved and sent.
