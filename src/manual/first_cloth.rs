//! A first cloth: a sheet with pins, a collider and wind.
//!
//! # The program
//!
//! Cloth is an entity with a mesh and the component [`Cloth`](crate::cloth::Cloth). Everything else is optional.
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!         .add_systems(Startup, set_up)
//!         .run();
//! }
//!
//! fn set_up(
//!     mut commands: Commands,
//!     mut meshes: ResMut<Assets<Mesh>>,
//!     mut materials: ResMut<Assets<StandardMaterial>>,
//! ) {
//!     commands.spawn((
//!         Cloth::default(),
//!         // 2 m × 2 m, 64 particles along each side.
//!         Mesh3d(meshes.add(ClothGrid::vertical(2.0, 2.0, 64, 64))),
//!         MeshMaterial3d(materials.add(StandardMaterial {
//!             base_color: Color::srgb(0.6, 0.15, 0.12),
//!             // Both sides of a cloth are visible.
//!             double_sided: true,
//!             cull_mode: None,
//!             ..default()
//!         })),
//!         Pins::top_corners(),
//!     ));
//!     let light = Transform::from_xyz(2.0, 3.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
//!     commands.spawn((DirectionalLight::default(), light));
//!     commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 5.0)));
//! }
//! ```
//!
//! Any mesh works: [`ClothGrid`](crate::mesh::ClothGrid) creates horizontal (`new`) or vertical (`vertical`)
//! sheets, and loaded meshes and Bevy's primitives become cloth just as well. Vertices at the same position are
//! welded into one particle, so UV seams do not open. Grids of quads are solved best; they are found in any mesh
//! that contains them. A [`Rope`](crate::rope::Rope) needs no mesh.
//!
//! # Pins
//!
//! Without [`Pins`](crate::pins::Pins) the cloth falls. They select the pinned particles and the anchor that moves them:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{pins::ClothCorner, prelude::*};
//! # let pole = Entity::PLACEHOLDER;
//! let curtain = Pins::edge(ClothEdge::Top);
//! let flag = Pins::edge(ClothEdge::Left).to_entity(pole);
//! let sheet = Pins::corner(ClothCorner::TopLeft).and(Pins::index(17));
//! let patch = Pins::predicate(|at| at.length() < 0.2).to_world();
//! ```
//!
//! By default, pins follow the `Transform` of the cloth's own entity: moving the entity moves the pinned
//! particles, but not the free ones. Cloth is simulated in world space; its transform only sets the initial pose
//! and moves its pins. `.to_world()` fixes pins in the world, `.to_entity(hand)` attaches them to another entity.
//! Pins can be changed at any time; released particles fall.
//!
//! # Colliders and wind
//!
//! Cloth collides with entities that have a [`ClothCollider`](crate::collision::ClothCollider), not with rendered meshes.
//! [`Wind`](crate::wind::Wind) is a resource. This program runs for a second without a window:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         Cloth { fabric: Fabric::cotton(), ..default() },
//!         Mesh3d(meshes.add(ClothGrid::new(1.6, 1.6, 24, 24))),
//!         Transform::from_xyz(0.0, 1.2, 0.0),
//!     ));
//!     commands.spawn((ClothCollider::sphere(0.5), Transform::from_xyz(0.0, 0.6, 0.0)));
//!     commands.spawn(ClothCollider::half_space()); // the floor: solid below y = 0
//!     commands.insert_resource(Wind { velocity: Vec3::X * 2.0, ..default() });
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
//! #     .add_systems(Startup, set_up);
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&ClothParticles>().single(app.world()).unwrap();
//! # let height = |i| particles.world_position(i).y;
//! # let lowest = (0..particles.len()).map(height).fold(f32::INFINITY, f32::min);
//! # assert!((-0.01..1.0).contains(&lowest), "it has fallen, and not through the floor: {lowest}");
//! # assert!(height(12 * 24 + 12) > 0.9, "its middle lies on the ball");
//! ```
//!
//! # Life cycle
//!
//! 1. **Build**, as soon as the mesh is loaded, [in the background](crate::cloth::ClothBuildMode), so that no frame takes
//!    longer. The entity then gets, in `PostUpdate`,
//!    [`ClothParticles`](crate::cloth::ClothParticles), [`ClothConstraints`](crate::cloth::ClothConstraints) and its own copy of
//!    the mesh, since several entities may share the original. [`ClothReady`](crate::cloth::ClothReady) is triggered. An
//!    entity that cannot become cloth gets [`ClothBuildFailed`](crate::cloth::ClothBuildFailed), and the reason is
//!    logged.
//! 2. **Simulation**, in `FixedUpdate`, in steps of constant length (by default in Bevy, 64 per second). Each step
//!    is divided into [`ClothSubsteps`](crate::cloth::ClothSubsteps), by default 480 per second: integration,
//!    constraints, contacts.
//! 3. **Rendering**, in `PostUpdate`: the mesh is interpolated between the last two steps, with smooth normals and
//!    tangents. Motion is therefore smooth at 144 frames per second, and one step behind.
//! 4. **Sleep** ([`ClothSleeping`](crate::sleep::ClothSleeping)): cloth at rest falls asleep and costs nothing until
//!    something near it changes.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! fn greet(ready: On<ClothReady>, names: Query<NameOrEntity>) {
//!     if let Ok(name) = names.get(ready.entity) {
//!         info!("{name} is cloth now");
//!     }
//! }
//! # let mut app = App::new();
//! app.add_observer(greet);
//! ```
//!
//! Every setting can be changed while the cloth moves, without a jerk. Trigger [`ResetCloth`](crate::cloth::ResetCloth)
//! to return a cloth to its initial shape; remove `Cloth` to restore the entity's original mesh.
//! [`ClothTime`](crate::time::ClothTime) pauses, single-steps and slows down all cloths.
//!
//! # Tools
//!
//! Two plugins are useful from the start; their features are on by default. `ClothPanelPlugin` (add `EguiPlugin`
//! first) has a slider for each setting and shows the time per step. `ClothDebugPlugin` draws constraints, pins,
//! contacts and colliders as gizmos.
//!
//! Next: [the material](super::fabric).
