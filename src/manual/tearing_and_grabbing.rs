//! Cloth that is cut, torn and held: by the player, and by the game.
//!
//! # By mouse and finger
//!
//! `ClothInteractionPlugin` (feature `picking`, on by default) goes through Bevy's picking, which `DefaultPlugins` bring
//! along with the feature `bevy_picking` of Bevy. The left button and fingers grab, the right one cuts, the wheel brings
//! what is held nearer. The resource `ClothTools` says what each button does, and how strong a hand is:
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # #[cfg(feature = "picking")]
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default(), ClothInteractionPlugin))
//!     .insert_resource(ClothTools {
//!         secondary: ClothTool::Shred,
//!         radius: 0.2, // m, of the brushes
//!         force: 50.0, // N, the most that a hand pulls
//!         ..default()
//!     })
//!     .run();
//! ```
//!
//! | `ClothTool` | while the button is held |
//! |---|---|
//! | `Grab` | holds the very point under the pointer |
//! | `Brush` | holds all within `radius` |
//! | `Blade` | cuts where it goes |
//! | `Thread` | breaks the thread under the pointer, once |
//! | `Shred` | breaks all threads within `radius` |
//! | `None` | nothing |
//!
//! A camera that uses the same buttons should ask the resource `ClothHands`, and stand still while
//! `hands.are_busy()`. `Pickable::IGNORE` on a cloth keeps all hands off it. A window of egui, Bevy's UI and other
//! pickable meshes are in the way, as they should be.
//!
//! # From code
//!
//! [`ClothCommands`](crate::ClothCommands) does the same for swords, hooks and bullets. Who holds or cuts is an entity: any
//! will do.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # fn play(mut commands: Commands, sail: Entity, hook: Entity) {
//! // From one point to another; the blade reaches 0.5 m to both sides, along z.
//! commands.entity(sail).cut_segment(Vec3::ZERO, Vec3::X, Vec3::Z * 0.5);
//! // A cannon ball.
//! commands.entity(sail).shred(Vec3::Y, 0.15);
//! // A hook takes hold, pulls, and lets go.
//! commands.entity(sail).grab(hook, Vec3::Y);
//! commands.entity(sail).drag(hook, Vec3::Y * 2.0);
//! commands.entity(sail).release(hook);
//! # }
//! ```
//!
//! Each triggers an event that has more to set: [`GrabCloth`](crate::GrabCloth) a radius, reach, force and speed,
//! [`CutCloth`](crate::CutCloth) the whole area that a blade sweeps, and who cuts. A sword triggers one in each frame, with
//! its edge before and now, and itself as `by`: then the cuts of one stroke join.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! use bevy_drape::{Blade, CutCloth};
//!
//! #[derive(Component)]
//! struct Sword {
//!     /// Hilt and tip in the last frame.
//!     before: [Vec3; 2],
//! }
//!
//! fn swing(
//!     mut swords: Query<(Entity, &mut Sword, &GlobalTransform)>,
//!     cloths: Query<Entity, With<Cloth>>,
//!     mut commands: Commands,
//! ) {
//!     for (by, mut sword, place) in &mut swords {
//!         let now = [Vec3::ZERO, Vec3::Y].map(|end| place.transform_point(end));
//!         for entity in &cloths {
//!             let blade = Blade { from: sword.before, to: now };
//!             commands.trigger(CutCloth { entity, blade, by: Some(by) });
//!         }
//!         sword.before = now;
//!     }
//! }
//! ```
//!
//! # Under load
//!
//! Cloth is cut when told to. With [`Tearing`](crate::Tearing) it also tears by itself where its threads carry too much,
//! in newtons for each metre of cloth across, or where they are stretched too far:
//!
//! | | |
//! |---|---|
//! | `Tearing::at_load(400.0)` | the default limit; real fabric holds thousands, which no player will pull |
//! | `Tearing::at_strain(0.5)` | half as long again; for fabric that gives |
//! | `resistance` | where it is weaker: `TearResistance::VertexColour` (red: 1 all of the limit, 0 nothing) or a function |
//! | `most_per_step`, `least_piece` | how fast a tear runs; no crumbs smaller than so many triangles |
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{ClothTorn, TearResistance, prelude::*};
//!
//! #[derive(Resource, Default)]
//! struct Heard(usize);
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         Cloth::default(),
//!         Pins::corners(),
//!         Tearing {
//!             // A seam along x = 0 that gives way first.
//!             resistance: TearResistance::by(|at| if at.x.abs() < 0.05 { 0.3 } else { 1.0 }),
//!             ..Tearing::at_load(300.0)
//!         },
//!         Mesh3d(meshes.add(ClothGrid::vertical(1.0, 1.0, 16, 16))),
//!     ));
//! }
//!
//! fn rip(torn: On<ClothTorn>, mut heard: ResMut<Heard>) {
//!     // Here a game plays a sound at `edge.position`.
//!     heard.0 += torn.edges.len();
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .init_resource::<Heard>()
//! #     .add_systems(Startup, set_up)
//! #     .add_observer(rip);
//! # (0..4).for_each(|_| app.update());
//! # let cloth = app.world_mut().query_filtered::<Entity, With<Cloth>>().single(app.world()).unwrap();
//! # app.world_mut().commands().entity(cloth).cut_segment(Vec3::new(-0.8, 0.1, 0.0), Vec3::new(0.8, 0.1, 0.0), Vec3::Z);
//! # (0..4).for_each(|_| app.update());
//! # assert!(app.world().resource::<Heard>().0 > 10, "it is cut from side to side");
//! ```
//!
//! A cloth that tears by load has no tethers, and one that tears has no strain limit: what those carry, no thread would
//! feel. If it tears at once, the limit is below what its own weight asks for; start it at rest, or raise it.
//!
//! # What a game hears
//!
//! Observe these on the cloth or everywhere: [`ClothTorn`](crate::ClothTorn) with its cause
//! ([`TearCause`](crate::TearCause)) and edges, [`ClothGrabbed`](crate::ClothGrabbed) and
//! [`ClothReleased`](crate::ClothReleased). [`ResetCloth`](crate::ResetCloth) mends everything.
//!
//! A tear opens the mesh with its UVs, colours, tangents and skin weights. Pieces fall on their own and stay one entity.
