//! Cutting, tearing and grabbing cloth, by players and from code.
//!
//! # With mouse and touch
//!
//! `ClothInteractionPlugin` (feature `picking`, on by default) uses Bevy's picking, which is part of
//! `DefaultPlugins` with Bevy's feature `bevy_picking`. The left button and touch grab, the right button cuts, the
//! wheel changes the depth of the grab. The resource `ClothTools` sets the tool of each button and the strength of
//! grabs:
//!
//! ```no_run
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # #[cfg(feature = "picking")]
//! # use bevy_drape::picking::{ClothTool, ClothTools};
//! # #[cfg(feature = "picking")]
//! App::new()
//!     .add_plugins((DefaultPlugins, ClothPlugin::default(), ClothInteractionPlugin))
//!     .insert_resource(ClothTools {
//!         secondary: ClothTool::Shred,
//!         radius: 0.2, // of brushes, m
//!         force: 50.0, // largest force of a grab, N
//!         ..default()
//!     })
//!     .run();
//! ```
//!
//! | `ClothTool` | effect while the button is held |
//! |---|---|
//! | `Grab` | grabs the point under the pointer |
//! | `Brush` | grabs all particles within `radius` |
//! | `Blade` | cuts along the path of the pointer |
//! | `Edge` | tears the edge under the pointer, once per press |
//! | `Shred` | tears all edges within `radius` |
//! | `None` | none |
//!
//! A camera controller that uses the same buttons should query the resource `ClothPointers` and pause while
//! `pointers.are_busy()`. `Pickable::IGNORE` on a cloth disables all tools on it. Egui windows, Bevy's UI and
//! other pickable meshes in front of a cloth block the pointer.
//!
//! # From code
//!
//! [`ClothCommands`](crate::ClothCommands) does the same from code, for swords, hooks and bullets. Any entity can
//! grab or cut.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # fn play(mut commands: Commands, sail: Entity, hook: Entity) {
//! // Cut from one point to another; the blade extends 0.5 m to both sides along z.
//! commands.entity(sail).cut_segment(Vec3::ZERO, Vec3::X, Vec3::Z * 0.5);
//! // Tear a hole, as by a cannonball.
//! commands.entity(sail).shred(Vec3::Y, 0.15);
//! // Grab the sail with a hook, pull, and release it.
//! commands.entity(sail).grab(hook, Vec3::Y);
//! commands.entity(sail).drag(hook, Vec3::Y * 2.0);
//! commands.entity(sail).release(hook);
//! # }
//! ```
//!
//! Each command triggers an event with more settings: [`GrabCloth`](crate::grab::GrabCloth) has radius, reach, force and
//! speed, [`CutCloth`](crate::tearing::CutCloth) the area swept by a blade and the entity that cuts. A sword triggers one
//! `CutCloth` per frame, with the previous and the current position of its edge, and its own entity as `by`, which
//! joins the cuts of one stroke.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! use bevy_drape::tearing::{Blade, CutCloth};
//!
//! #[derive(Component)]
//! struct Sword {
//!     /// Positions of hilt and tip in the last frame.
//!     previous: [Vec3; 2],
//! }
//!
//! fn swing(
//!     mut swords: Query<(Entity, &mut Sword, &GlobalTransform)>,
//!     cloths: Query<Entity, With<Cloth>>,
//!     mut commands: Commands,
//! ) {
//!     for (sword_entity, mut sword, transform) in &mut swords {
//!         let current = [Vec3::ZERO, Vec3::Y].map(|end| transform.transform_point(end));
//!         for entity in &cloths {
//!             let blade = Blade { from: sword.previous, to: current };
//!             commands.trigger(CutCloth { entity, blade, by: Some(sword_entity) });
//!         }
//!         sword.previous = current;
//!     }
//! }
//! ```
//!
//! # Tearing under load
//!
//! With [`ClothTearing`](crate::tearing::ClothTearing), cloth also tears where its edges exceed a load, in newtons per
//! metre of cloth across, or a strain:
//!
//! | | |
//! |---|---|
//! | `ClothTearing::at_load(400.0)` | the default limit; real fabric withstands thousands, more than a player can pull |
//! | `ClothTearing::at_strain(0.5)` | length 1.5 times the rest length; for elastic fabric |
//! | `resistance` | local fraction of the limit: `TearResistance::VertexColour` (the red channel, 0 to 1) or a function |
//! | `most_per_step`, `least_piece` | largest number of edges that break per step; smallest piece that can be torn off, in triangles |
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{prelude::*, tearing::{ClothTorn, TearResistance}};
//!
//! #[derive(Resource, Default)]
//! struct TornEdges(usize);
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn((
//!         Cloth::default(),
//!         Pins::corners(),
//!         ClothTearing {
//!             // A weak seam along x = 0.
//!             resistance: TearResistance::by(|at| if at.x.abs() < 0.05 { 0.3 } else { 1.0 }),
//!             ..ClothTearing::at_load(300.0)
//!         },
//!         Mesh3d(meshes.add(ClothGrid::vertical(1.0, 1.0, 16, 16))),
//!     ));
//! }
//!
//! fn count_torn_edges(torn: On<ClothTorn>, mut count: ResMut<TornEdges>) {
//!     // A game could play a sound at `edge.position` here.
//!     count.0 += torn.edges.len();
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
//! #     .init_resource::<TornEdges>()
//! #     .add_systems(Startup, set_up)
//! #     .add_observer(count_torn_edges);
//! # (0..4).for_each(|_| app.update());
//! # let cloth = app.world_mut().query_filtered::<Entity, With<Cloth>>().single(app.world()).unwrap();
//! # app.world_mut().commands().entity(cloth).cut_segment(Vec3::new(-0.8, 0.1, 0.0), Vec3::new(0.8, 0.1, 0.0), Vec3::Z);
//! # (0..4).for_each(|_| app.update());
//! # assert!(app.world().resource::<TornEdges>().0 > 10, "it is cut from side to side");
//! ```
//!
//! Cloth that tears by load has no tethers, and cloth that tears at all has no strain limit, because the load that
//! these carry would not reach the edges. If a cloth tears at once, its own weight exceeds the limit: let it start
//! at rest, or raise the limit.
//!
//! # Events
//!
//! Observe these events on the cloth or globally: [`ClothTorn`](crate::tearing::ClothTorn) with its cause
//! ([`TearCause`](crate::tearing::TearCause)) and edges, [`ClothGrabbed`](crate::grab::ClothGrabbed) and
//! [`ClothReleased`](crate::grab::ClothReleased). [`ResetCloth`](crate::cloth::ResetCloth) restores the intact cloth.
//!
//! A tear opens the mesh, keeping UVs, colours, tangents and skin weights. Pieces fall separately but belong to
//! the same entity.
