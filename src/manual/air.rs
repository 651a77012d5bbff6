//! Wind, gusts, eddies, fans, shelter behind walls, and enclosed air.
//!
//! Air that moves relative to a triangle of a cloth acts on it: drag along the flow, and lift, a sideways force on
//! inclined triangles. On a segment of a rope it acts as cross-flow drag. Still air slows cloth down, which makes it
//! float. The coefficients are [`Fabric::drag`](crate::cloth::Fabric::drag) and
//! [`lift`](crate::cloth::Fabric::lift); the resulting acceleration is inversely proportional to the
//! [`areal_density`](crate::cloth::Fabric::areal_density): silk flies where denim only swings.
//!
//! # Wind
//!
//! The resource [`Wind`](crate::wind::Wind) is uniform in space. 5 m/s moves leaves, 15 m/s makes walking hard.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{prelude::*, wind::WindTurbulence};
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.insert_resource(Wind {
//!         velocity: Vec3::new(6.0, 0.0, 1.0),
//!         // The speed varies by up to 60 %, and the direction swings to the sides.
//!         gusts: 0.6,
//!         ..default()
//!     });
//!     // Eddies of half a metre with up to 2 m/s along each axis make a flag ripple.
//!     commands.insert_resource(WindTurbulence { strength: 2.0, size: 0.5, ..default() });
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
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
//! #     .add_systems(Startup, set_up);
//! # (0..128).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&ClothParticles>().single(app.world()).unwrap();
//! # assert!(particles.world_position(23).x > 0.0, "it flies");
//! ```
//!
//! In strong wind the forces act in every substep instead of once per step, for a third more of the cost of a step:
//! cloth keeps its length in a storm, at any rate of steps.
//!
//! Steady wind alone inflates a sheet like a sail and keeps it there. Motion comes from gusts, which vary within
//! seconds, and from [`WindTurbulence`](crate::wind::WindTurbulence), which varies over the cloth. `air_density` is 0 in
//! space and 1000 under water; use a lower `gravity_scale` there.
//!
//! Gusts are reproducible: they depend only on [`WindTime`](crate::wind::WindTime), which pauses with the cloths and may
//! be set. For a custom wind, write the resource in a system:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! fn sea_breeze(mut wind: ResMut<Wind>, time: Res<Time>) {
//!     wind.velocity = Vec3::X * (4.0 + 3.0 * (0.5 * time.elapsed_secs()).sin());
//! }
//! # let mut app = App::new();
//! app.add_systems(FixedUpdate, sea_breeze.before(ClothSystems::Prepare));
//! ```
//!
//! Changing wind keeps cloths awake; in steady wind they fall asleep once they hang still.
//!
//! # Wind zones
//!
//! [`WindZone`](crate::wind::WindZone) adds wind in a region that moves and turns with its entity. All zones and the
//! global wind add up.
//!
//! | | |
//! |---|---|
//! | `WindZone::cuboid(1.0, 1.0, 6.0)` | a fan: a box with wind along its −Z |
//! | `WindZone::sphere(2.0).vortex()` | a vortex around +Y |
//! | `WindZone::sphere(4.0).radial().with_strength(30.0)` | an explosion; negative strengths pull inwards |
//! | `WindZone::default()` | everywhere, along −Z |
//!
//! [`Falloff`](crate::wind::Falloff) is the decrease towards the edge: `Smooth` (the default), `Linear` or `None`.
//! Despawn the entity, or set `strength` to 0, to switch the zone off.
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
//! # Shelter behind walls
//!
//! [`WindOcclusion`](crate::wind::WindOcclusion) is off by default because of its cost. With a `length` above 0,
//! primitives ([`ClothCollider`](crate::collision::ClothCollider)) shield cloth from all wind over that length behind them,
//! in metres; hollow colliders and meshes do not. A wall also blocks a fan that is closer to it than that length.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{prelude::*, wind::WindOcclusion};
//! # let mut app = App::new();
//! app.insert_resource(WindOcclusion { length: 4.0, ..default() });
//! ```
//!
//! The system parameter [`LocalWind`](crate::wind::LocalWind) samples the same wind at any position, for leaves or
//! smoke: `wind.at(position)`.
//!
//! # Enclosed air
//!
//! [`ClothPressure`](crate::pressure::ClothPressure) on the entity of a `Cloth` fills a closed mesh: a balloon, a ball, a
//! cushion. Its value is the overpressure in pascals at the volume of the mesh (500 by default; a party balloon
//! has 2000). At other volumes the pressure follows Boyle's law. A cut releases the air.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{prelude::*, pressure::ClothPressure};
//! # fn spawn(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//! commands.spawn((
//!     Cloth { fabric: Fabric::rubber_sheet(), gravity_scale: 0.1, ..default() },
//!     ClothPressure::new(2000.0),
//!     Mesh3d(meshes.add(Sphere::new(0.3).mesh().ico(12).unwrap())),
//! ));
//! # }
//! ```
//!
//! If nothing happens, the mesh is open, which the log reports: each edge needs a triangle on both sides, all
//! facing the same way. A closed mesh without `ClothPressure` collapses like an empty bag.
//!
//! # Debugging
//!
//! The gizmos "wind zones" draw the outlines of zones and the wind in them, 5 cm per 1 m/s. The panel's section
//! "World" has "wind", "direction", "elevation", "air density", "gusts", "turbulence", "eddy size", "eddy period",
//! and for occlusion "lee" and "lee spread".
