//! Porting a game from `bevy_silk` to this crate.
//!
//! Both crates turn the mesh of an entity into cloth. In `bevy_silk` it is a net of equal sticks, updated every
//! frame; here it is fabric in physical units, updated in fixed steps. This chapter refers to version 0.9 and its
//! branch for Bevy 0.15.
//!
//! # A flag before and after
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
//! use bevy_drape::{prelude::*, wind::WindTurbulence};
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!     .insert_resource(Wind { velocity: Vec3::new(3.0, 1.0, 0.0), gusts: 0.7, ..default() })
//!     .insert_resource(WindTurbulence { strength: 1.5, ..default() })
//!     .add_systems(Startup, spawn)
//!     .run();
//!
//! fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         // 29 × 14 cells of 0.1 m. The origin is the centre, not the upper left corner.
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
//! | `ClothBuilder::new()` on an entity with a mesh | [`Cloth::default()`](crate::cloth::Cloth); built when the mesh is loaded, even if that is later |
//! | `Cloth` (created by the builder) | [`ClothParticles`](crate::cloth::ClothParticles) and [`ClothConstraints`](crate::cloth::ClothConstraints) |
//! | `with_pinned_vertex_id(s)` | [`Pins::index(17)`](crate::pins::Pins::index), `.and(..)`; `Pins::edge(..)` or `Pins::top_corners()` are usually simpler |
//! | `with_pinned_vertex_positions(fn)` | [`Pins::predicate(fn)`](crate::pins::Pins::predicate) |
//! | `with_pinned_vertex_color(s)` | [`Pins::painted(VertexChannel::Red)`](crate::pins::Pins::painted): where a channel is above one half, not one exact colour |
//! | `with_anchored_…(.., VertexAnchor)` | the same pins with `.to_entity(target)` |
//! | `VertexAnchor::custom_target` | `.to_entity(target)`, [`PinAnchor::Entity`](crate::pins::PinAnchor) |
//! | `VertexAnchor::custom_offset`, `ignore_vertex_position` | none: pins keep their positions relative to the target at the time they are created. Move the entity, or pin to a child of the target |
//! | `StickGeneration::Quads`, `Triangles` | found in the mesh: stretch constraints along the sides of quads, shear constraints across them |
//! | `StickLen::Auto` | always |
//! | `StickLen::Coefficient(c)`, `Offset`, `Fixed` | [`rest_lengths_mut`](crate::solver::ConstraintGraph::rest_lengths_mut), with a larger [`tether_scale`](crate::cloth::Cloth::tether_scale) |
//! | `StickMode::Fixed` | the default: inextensible |
//! | `StickMode::Spring { min_percent, max_percent }` | `warp_stiffness`, `weft_stiffness` in N/m, and [`strain_limit`](crate::cloth::Fabric::strain_limit) = `max_percent` − 1. There is no minimum length: under compression cloth buckles |
//! | `NormalComputing`, `with_flat_normals` | always smooth, with tangents; flat shading only in a shader |
//! | `rectangle_mesh((x, y), (step_x, step_y), normal)` | [`ClothGrid`](crate::mesh::ClothGrid): width and height in metres, then numbers of particles |
//! | `ClothConfig` (resource) | [`ClothGravity`](crate::cloth::ClothGravity), [`ClothSubsteps`](crate::cloth::ClothSubsteps) |
//! | `ClothConfig` (component) | fields of [`Cloth`](crate::cloth::Cloth) on that entity |
//! | `ClothConfig::gravity` | [`ClothGravity`](crate::cloth::ClothGravity); for one cloth [`gravity_scale`](crate::cloth::Cloth::gravity_scale) |
//! | `ClothConfig::friction` | [`damping`](crate::cloth::Cloth::damping) in 1/s: −60·ln(1 − friction) at 60 frames per second, so 0.01 becomes 0.6 and 0.02 becomes 1.2 |
//! | `ClothConfig::sticks_computation_depth` | [`iterations`](crate::cloth::Cloth::iterations), or better [`ClothSubsteps`](crate::cloth::ClothSubsteps); usually neither is needed |
//! | `AccelerationSmoothing` | none: all steps have the same length |
//! | `Winds`, `Wind::ConstantWind` | the resource [`Wind`](crate::wind::Wind), for all cloths |
//! | `Wind::SinWave` | `gusts`, or a system that writes [`Wind::velocity`](crate::wind::Wind::velocity), see [air](super::air) |
//! | `ClothCollider` on the *cloth* | [`ClothCollider`](crate::collision::ClothCollider) on *the object it hits* |
//! | `ClothCollider::offset`, 0.25 | [`Fabric::thickness`](crate::cloth::Fabric::thickness), 0.01 m for cloth of 0.5 m or more |
//! | `ClothCollider::velocity_coefficient` | none: moving colliders drag cloth along by friction |
//!
//! # Differences in behaviour
//!
//! - **Wind is a velocity of the air, not a force.** In `bevy_silk`, 20 is an acceleration of 20 m/s² of each
//!   point, independent of the direction the cloth faces. Here, drag and lift of each triangle follow from the
//!   velocity of the air. A wind of 3.7 m/s accelerates default fabric that faces it by about the same 20 m/s².
//!   Still air slows cloth down; `air_density: 0.0` switches that off.
//! - **Cloth does not stretch.** For the old, rubbery look, use `Cloth { stretch_solver:
//!   StretchSolver::GaussSeidel, tether_scale: None, ..default() }` with `ClothSubsteps::PerStep(1)` and 5 `iterations`.
//! - **Cloth resists bending and shearing**, unlike a net of sticks. With
//!   [`Fabric::bending_stiffness`](crate::cloth::Fabric) 0 it is as limp.
//! - **Motion does not depend on the frame rate.** Cloth moves in `FixedUpdate`; rendering interpolates.
//! - **The mesh is copied.** The original is never written to, and is restored when `Cloth` is removed.
//! - **Vertices at the same position are welded.** The mesh need not be welded beforehand.
//! - **Collision needs no physics engine.** Primitives are always supported; meshes, hulls and terrain with the
//!   feature `parry`. With the features `avian` and `rapier`, cloth and the bodies of a physics engine push each
//!   other.
//! - **Indices that do not exist** are reported in the log; nothing panics.
//! - **Cloth at rest sleeps.**
