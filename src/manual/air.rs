//! Wind, gusts, eddies, fans, calm behind walls, and air that is shut in.
//!
//! Each triangle of a cloth feels the air that moves past it: drag takes it along, lift pushes what is slanted to the
//! side. Still air slows cloth down, too: that is what makes it float. How much a fabric catches is in
//! [`Fabric::drag`](crate::Fabric::drag) and [`lift`](crate::Fabric::lift); how much that moves it depends on its
//! [`areal_density`](crate::Fabric::areal_density). Silk flies where denim only swings.
//!
//! # Wind
//!
//! The resource [`Wind`](crate::Wind) is the same everywhere. 5 m/s moves leaves, 15 makes walking hard.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{Particles, prelude::*};
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.insert_resource(Wind {
//!         velocity: Vec3::new(6.0, 0.0, 1.0),
//!         // It dies down and swells by up to 60 %, and swings to the sides.
//!         gusts: 0.6,
//!         ..default()
//!     });
//!     // Eddies of half a metre that add up to 2 m/s along each axis: they make a flag ripple.
//!     commands.insert_resource(Turbulence { strength: 2.0, size: 0.5, ..default() });
//!     commands.spawn((
//!         Cloth::default(),
//!         Pins::edge(ClothEdge::Left),
//!         Mesh3d(meshes.add(ClothGrid::vertical(1.5, 1.0, 24, 16))),
//!     ));
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .add_systems(Startup, set_up);
//! # (0..128).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&Particles>().single(app.world()).unwrap();
//! # assert!(particles.world_position(23).x > 0.0, "it flies");
//! ```
//!
//! Steady wind alone blows a sheet up like a sail and holds it there. What moves is gusts, over seconds, and
//! [`Turbulence`](crate::Turbulence), over the cloth. `air_density` 0 is space, 1000 is under water: give cloth less
//! `gravity_scale` there.
//!
//! Gusts come the same way each time: they depend on [`WindTime`](crate::WindTime) alone, which you may write, and which
//! pauses with the cloths. A wind of your own is a system that writes the resource:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{ClothSystems, prelude::*};
//! fn sea_breeze(mut wind: ResMut<Wind>, time: Res<Time>) {
//!     wind.velocity = Vec3::X * (4.0 + 3.0 * (0.5 * time.elapsed_secs()).sin());
//! }
//! # let mut app = App::new();
//! app.add_systems(FixedUpdate, sea_breeze.before(ClothSystems::Prepare));
//! ```
//!
//! Wind that changes keeps cloths awake; a steady one lets them sleep once they hang still.
//!
//! # Wind in one place
//!
//! [`WindZone`](crate::WindZone) blows where its entity is, and moves and turns with it. Zones and the wind add up.
//!
//! | | |
//! |---|---|
//! | `WindZone::cuboid(1.0, 1.0, 6.0)` | a fan: a box, along its −Z |
//! | `WindZone::sphere(2.0).vortex()` | a whirl around +Y |
//! | `WindZone::sphere(4.0).radial().with_strength(30.0)` | an explosion; negative strengths pull |
//! | `WindZone::default()` | everywhere, along −Z |
//!
//! [`Falloff`](crate::Falloff) says how it fades to the edge: `Smooth`, which is the default, `Linear` or `None`. Despawn
//! the entity, or set `strength` to 0, to switch it off.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! #[derive(Component)]
//! struct Blast(Timer);
//!
//! fn explode(at: Vec3, commands: &mut Commands) {
//!     commands.spawn((
//!         WindZone::sphere(5.0).radial().with_strength(40.0),
//!         Blast(Timer::from_seconds(0.2, TimerMode::Once)),
//!         Transform::from_translation(at),
//!     ));
//! }
//!
//! fn fade(mut blasts: Query<(Entity, &mut Blast)>, time: Res<Time>, mut commands: Commands) {
//!     for (entity, mut blast) in &mut blasts {
//!         if blast.0.tick(time.delta()).is_finished() {
//!             commands.entity(entity).despawn();
//!         }
//!     }
//! }
//! ```
//!
//! # Calm behind walls
//!
//! [`WindOcclusion`](crate::WindOcclusion) is off by default, for it costs. With a `length` above 0, primitives
//! ([`ClothCollider`](crate::ClothCollider)) keep off all wind for so many metres behind them. Hollow ones and meshes do
//! not. A wall also blocks a fan that is closer to it than that length.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # let mut app = App::new();
//! app.insert_resource(WindOcclusion { length: 4.0, ..default() });
//! ```
//!
//! Leaves and smoke can ask for the same wind: the system parameter [`LocalWind`](crate::LocalWind) has `at(place)`.
//!
//! # Air that is shut in
//!
//! [`Pressure`](crate::Pressure) beside `Cloth` fills a closed mesh: a balloon, a ball, a cushion. It is the overpressure in
//! pascals at the volume of the mesh (500 by default, a party balloon has 2000); from there on the law of Boyle goes. It
//! pushes back when sat on, and a cut lets it out.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//! commands.spawn((
//!     Cloth { fabric: Fabric::rubber_sheet(), gravity_scale: 0.1, ..default() },
//!     Pressure::new(2000.0),
//!     Mesh3d(meshes.add(Sphere::new(0.3).mesh().ico(12).unwrap())),
//! ));
//! # }
//! ```
//!
//! If nothing happens, the mesh is open, and the log says so: each edge needs a triangle on both sides, all facing the
//! same way. A closed mesh without `Pressure` collapses like the bag that it is.
//!
//! # To look at
//!
//! The gizmos' "wind zones" draw their outlines and the wind in them, 5 cm for 1 m/s. In the panel's section "World" there
//! are "wind", "direction", "elevation", "air density", "gusts", "turbulence", "eddy size", "eddy period", "lee" and "lee
//! spread", which is the occlusion.
