//! From `bevy_silk` to this crate.
//!
//! Both make cloth of a mesh on an entity. What is different: there the cloth is a web of equal sticks that lives in
//! frames; here it is fabric in real units that lives in fixed steps. This chapter goes by version 0.9 and its branch for
//! Bevy 0.15.
//!
//! # A flag, before and after
//!
//! ```text
//! // bevy_silk
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin))
//!     .insert_resource(Winds::from(vec![Wind::SinWave {
//!         max_velocity: Vec3::new(20.0, 15.0, 0.0),
//!         frequency: 3.0,
//!         normalize: true,
//!         abs: false,
//!     }]))
//!     .insert_resource(ClothConfig { friction: 0.02, ..default() })
//!     .add_systems(Startup, spawn)
//!     .run();
//!
//! fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     let (size_x, size_y) = (30, 15);
//!     let mesh = rectangle_mesh((size_x, size_y), (Vec3::X * 0.1, -Vec3::Y * 0.1), Vec3::Z);
//!     commands.spawn((
//!         Mesh3d(meshes.add(mesh)),
//!         ClothBuilder::new()
//!             .with_pinned_vertex_ids((0..size_y).map(|i| i * size_x))
//!             .with_stick_generation(StickGeneration::Triangles),
//!     ));
//! }
//! ```
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!     .insert_resource(Wind { velocity: Vec3::new(3.0, 1.0, 0.0), gusts: 0.7, ..default() })
//!     .insert_resource(Turbulence { strength: 1.5, ..default() })
//!     .add_systems(Startup, spawn)
//!     .run();
//!
//! fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         // 29 × 14 cells of 0.1 m. Its middle is at the origin, not its upper left corner.
//!         Mesh3d(meshes.add(ClothGrid::vertical(2.9, 1.4, 30, 15))),
//!         Cloth { damping: 1.2, ..default() },
//!         Pins::edge(ClothEdge::Left),
//!     ));
//! }
//! ```
//!
//! # Names
//!
//! | `bevy_silk` | here |
//! |---|---|
//! | `ClothPlugin` | `ClothPlugin::default()` |
//! | `ClothBuilder::new()` on an entity with a mesh | [`Cloth::default()`](crate::Cloth); it is built when the mesh is loaded, also if that is later |
//! | `Cloth` (made from the builder) | [`Particles`](crate::Particles) and [`Constraints`](crate::Constraints) |
//! | `with_pinned_vertex_id(s)` | [`Pins::index(17)`](crate::Pins::index), `.and(..)`; mostly `Pins::edge(..)`, `Pins::top_corners()` say it better |
//! | `with_pinned_vertex_positions(fn)` | [`Pins::predicate(fn)`](crate::Pins::predicate) |
//! | `with_pinned_vertex_color(s)` | [`Pins::painted(VertexChannel::Red)`](crate::Pins::painted): where there is more than a half of a channel, not one exact colour |
//! | `with_anchored_…(.., VertexAnchor)` | the same pins with `.to_entity(target)` |
//! | `VertexAnchor::custom_target` | `.to_entity(target)`, [`PinAnchor::Entity`](crate::PinAnchor) |
//! | `VertexAnchor::custom_offset`, `ignore_vertex_position` | none: pins keep the place that they have when they are made. Move the entity, or hang a child of the target in between |
//! | `StickGeneration::Quads`, `Triangles` | found in the mesh: threads along the sides of quads, shear across them |
//! | `StickLen::Auto` | that is how it is |
//! | `StickLen::Coefficient(c)`, `Offset`, `Fixed` | [`rest_lengths_mut`](crate::solver::ConstraintGraph::rest_lengths_mut), with a higher [`tether_scale`](crate::Cloth::tether_scale) |
//! | `StickMode::Fixed` | the default: threads do not give |
//! | `StickMode::Spring { min_percent, max_percent }` | `warp_stiffness`, `weft_stiffness` in N/m, and [`strain_limit`](crate::Fabric::strain_limit) = `max_percent` − 1. There is no least length: cloth buckles, as bending allows |
//! | `NormalComputing`, `with_flat_normals` | always smooth, tangents too; flat ones only in a shader |
//! | `rectangle_mesh((x, y), (step_x, step_y), normal)` | [`ClothGrid`](crate::mesh::ClothGrid): width and height in metres, then particles |
//! | `ClothConfig` (resource) | [`ClothGravity`](crate::ClothGravity), [`Substeps`](crate::Substeps) |
//! | `ClothConfig` (component) | fields of [`Cloth`](crate::Cloth) on that entity |
//! | `ClothConfig::gravity` | [`ClothGravity`](crate::ClothGravity); of one cloth [`gravity_scale`](crate::Cloth::gravity_scale) |
//! | `ClothConfig::friction` | [`damping`](crate::Cloth::damping) in 1/s: −60·ln(1 − friction) at 60 frames a second, so 0.01 is 0.6 and 0.02 is 1.2 |
//! | `ClothConfig::sticks_computation_depth` | [`iterations`](crate::Cloth::iterations), but rather [`Substeps`](crate::Substeps), and mostly neither |
//! | `AccelerationSmoothing` | none: steps have all the same length |
//! | `Winds`, `Wind::ConstantWind` | the resource [`Wind`](crate::Wind), one for all |
//! | `Wind::SinWave` | `gusts`, or a system that writes [`Wind::velocity`](crate::Wind::velocity), see [air](super::air) |
//! | `ClothCollider` on the *cloth* | [`ClothCollider`](crate::ClothCollider) on *what it bumps into* |
//! | `ClothCollider::offset`, 0.25 | [`Fabric::thickness`](crate::Fabric::thickness), 0.01 m |
//! | `ClothCollider::velocity_coefficient` | none: what moves takes cloth along by its friction |
//!
//! # What behaves in another way
//!
//! - **Wind is air, not force.** There, 20 is an acceleration of 20 m/s² for each point, in whatever direction the cloth
//!   faces. Here it is the speed of the air, and drag and lift of each triangle follow. Default fabric that faces a wind of
//!   3.7 m/s is pushed by as much as 20 there. And still air slows cloth down: `air_density: 0.0` switches that off.
//! - **It does not stretch.** What hung down like rubber keeps its size. For the old look:
//!   `Cloth { threads: ThreadSolver::Relaxation, tether_scale: 100.0, ..default() }` with `Substeps(1)` and 5 `iterations`.
//! - **It resists bending and shearing.** Sticks alone do not; [`Fabric::bending_stiffness`](crate::Fabric) 0 is as limp.
//! - **The rate of frames does not matter.** It moves in `FixedUpdate` and is drawn in between.
//! - **The mesh is copied.** The handle that you gave is not written to, and comes back when `Cloth` is removed.
//! - **Vertices at one place hold together.** A mesh need not be welded before.
//! - **Collision needs no physics engine.** It is always there, for primitives, and with the feature `parry` for meshes,
//!   hulls and terrain. If you have one, cloth and its bodies push each other: features `avian` and `rapier`.
//! - **Ids that do not exist** are told in the log; nothing panics.
//! - **It sleeps** when it has come to rest.
