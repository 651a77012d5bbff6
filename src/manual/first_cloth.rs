//! A first cloth: a sheet, what holds it, what it falls on, what blows it about.
//!
//! # The program
//!
//! Cloth is a mesh with [`Cloth`](crate::Cloth) beside it. Everything else is optional.
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
//!             // Both sides of a cloth are seen.
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
//! Any mesh will do: [`ClothGrid`](crate::mesh::ClothGrid) makes sheets, lying (`new`) or upright (`vertical`), but a
//! loaded mesh or one of Bevy's primitives becomes cloth just as well. Vertices at the same place count as one
//! particle, so seams of UVs do not open. Grids of quads are solved best, and are found in any mesh that has them.
//! A [`Rope`](crate::Rope) needs no mesh at all.
//!
//! # What holds it
//!
//! Without [`Pins`](crate::Pins) it falls. Pins say *which* particles are held, and *by what*:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # let pole = Entity::PLACEHOLDER;
//! let curtain = Pins::edge(ClothEdge::Top);
//! let flag = Pins::edge(ClothEdge::Left).to_entity(pole);
//! let sheet = Pins::corner(ClothCorner::TopLeft).and(Pins::index(17));
//! let patch = Pins::predicate(|at| at.length() < 0.2).to_world();
//! ```
//!
//! Held by nothing in particular, pins follow the `Transform` of the cloth's own entity: move that, and the pinned
//! particles move. The free ones do not. Cloth lives in the world, and its transform only says where it starts and
//! carries its pins. `.to_world()` nails pins to the world, `.to_entity(hand)` gives them to another entity. Pins may
//! change at any time; what is no longer held falls.
//!
//! # What it falls on, and what blows
//!
//! Cloth meets entities with a [`ClothCollider`](crate::ClothCollider); a mesh that is merely drawn means nothing to it.
//! [`Wind`](crate::Wind) is a resource. This runs for a second without a window:
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{Particles, prelude::*};
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         Cloth { fabric: Fabric::cotton(), ..default() },
//!         Mesh3d(meshes.add(ClothGrid::new(1.6, 1.6, 24, 24))),
//!         Transform::from_xyz(0.0, 1.2, 0.0),
//!     ));
//!     commands.spawn((ClothCollider::sphere(0.5), Transform::from_xyz(0.0, 0.6, 0.0)));
//!     commands.spawn(ClothCollider::half_space()); // the floor: all below y = 0
//!     commands.insert_resource(Wind { velocity: Vec3::X * 2.0, ..default() });
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .add_systems(Startup, set_up);
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&Particles>().single(app.world()).unwrap();
//! # let height = |i| particles.world_position(i).y;
//! # let lowest = (0..particles.len()).map(height).fold(f32::INFINITY, f32::min);
//! # assert!((-0.01..1.0).contains(&lowest), "it has fallen, and not through the floor: {lowest}");
//! # assert!(height(12 * 24 + 12) > 0.9, "its middle lies on the ball");
//! ```
//!
//! # What happens when
//!
//! 1. **It is built**, in `PostUpdate`, as soon as its mesh is loaded. The entity gets
//!    [`Particles`](crate::Particles), [`Constraints`](crate::Constraints) and a mesh of its own: a handle that several
//!    entities share is not written to. [`ClothReady`](crate::ClothReady) is triggered. What cannot become cloth gets
//!    [`BuildFailed`](crate::BuildFailed), and the log says why.
//! 2. **It moves** in `FixedUpdate`, in steps of the same length (64 a second is Bevy's default). Each is cut into
//!    [`Substeps`](crate::Substeps), 8 if you say nothing: everything moves, constraints pull it together, contacts
//!    push it out.
//! 3. **It is drawn** in `PostUpdate` between its last two steps, with smooth normals and tangents. That is why it
//!    is smooth at 144 frames a second, and a step behind.
//! 4. **It falls asleep** ([`ClothSleeping`](crate::ClothSleeping)) when it has come to rest, and costs nothing until
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
//! Every number may change while the cloth moves: none of them makes it jump. To put a cloth back, trigger
//! [`ResetCloth`](crate::ResetCloth); to give the entity its old mesh back, remove `Cloth`. `ClothTime` pauses, steps
//! and slows down all cloths ([`ClothTime`](crate::ClothTime)).
//!
//! # Look inside
//!
//! Two plugins are worth having from the first day, both on by default as features: `ClothPanelPlugin` (add
//! `EguiPlugin` first) shows a slider for each number and what a step costs, `ClothDebugPlugin` draws threads,
//! pins, contacts and colliders with gizmos.
//!
//! Next: [what it is made of](super::fabric).
