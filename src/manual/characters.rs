//! From Blender to a fluttering cape, step by step.
//!
//! What you need: a character with an armature, Blender's glTF exporter, and the feature `gltf`, which is on by
//! default. What is cloth and how is written into the file; the program does not change. `assets/models/hero.py` in
//! the repository writes such a file, and `cargo run --release --example demo -- --scene cape` shows it.
//!
//! # In Blender
//!
//! 1. **Model the cape** as an object of its own, where it hangs at rest: a grid of quads, 20 to 40 a side, its
//!    normals pointing away from the body. Keep a finger's breadth of air between it and the body. Apply the scale
//!    (*Ctrl A*) of cape and armature.
//! 2. **Bind it to the armature** like the rest of the character. Rough weights will do: chest for the upper part,
//!    hips for the lower one. They say where the cape would be if it were stiff.
//! 3. **Paint how far each vertex may go** from there. *Object Data Properties > Color Attributes > +*, then the mode
//!    *Vertex Paint*: black where it is sewn on, white where it flies, a ramp between. A black vertex is pinned; no
//!    other pins are needed. Files hold linear values: a grey of half brightness arrives as about 0.2.
//!    Give it a material with *Backface Culling* off, or its inside cannot be seen.
//! 4. **Say that it is cloth.** *Object Properties > Custom Properties > New*, then the gear to name it and to choose
//!    its type:
//!
//!    | object | property | type | value |
//!    |---|---|---|---|
//!    | cape | `cloth` | string | `wool` |
//!    | cape | `cloth_max_distance` | float | `1.2`: m, where it is white |
//!    | cape | `cloth_max_distance_paint` | string | `red`: white is full red, too |
//!    | body | `cloth_collider` | boolean | on: capsules around its limbs |
//! 5. **Export** *glTF 2.0*. Tick *Include > Data > Custom Properties*. Under *Data > Mesh > Vertex Colors* choose
//!    *Active*; *Material*, the default, writes colours only where a material uses them. (Older versions have one tick,
//!    *Vertex Colors*.) *+Y Up* and *Skinning* stay on, *Compression* stays off.
//!
//! # In the game
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! const HERO: &str = "hero.glb";
//!
//! fn main() {
//!     App::new()
//!         .add_plugins((DefaultPlugins, ClothPlugin::default()))
//!         .insert_resource(Wind { velocity: Vec3::new(0.0, 0.0, -4.0), gusts: 0.5, ..default() })
//!         .add_systems(Startup, spawn)
//!         .add_systems(Update, play)
//!         .run();
//! }
//!
//! fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
//!     commands.spawn(WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset(HERO))));
//!     let eye = Transform::from_xyz(2.0, 2.0, -3.0).looking_at(Vec3::Y, Vec3::Y);
//!     commands.spawn((Camera3d::default(), eye));
//!     let sun = Transform::from_xyz(1.0, 3.0, -2.0).looking_at(Vec3::ZERO, Vec3::Y);
//!     commands.spawn((DirectionalLight::default(), sun));
//! }
//!
//! /// Plays the first animation of the file as soon as the model is there, for ever.
//! fn play(
//!     mut players: Query<(Entity, &mut AnimationPlayer), Added<AnimationPlayer>>,
//!     assets: Res<AssetServer>,
//!     mut graphs: ResMut<Assets<AnimationGraph>>,
//!     mut commands: Commands,
//! ) {
//!     for (entity, mut player) in &mut players {
//!         let clip = assets.load(GltfAssetLabel::Animation(0).from_asset(HERO));
//!         let (graph, clip) = AnimationGraph::from_clip(clip);
//!         player.play(clip).repeat();
//!         commands.entity(entity).insert(AnimationGraphHandle(graphs.add(graph)));
//!     }
//! }
//! ```
//!
//! Cloth takes two lines of it, `ClothPlugin` and `Wind`; the rest shows any model. The paint is not drawn: a cloth that
//! uses a vertex colour has none in its own mesh. What is misspelt is told in the log, with the name of the object and the
//! list of what there is.
//!
//! # All properties
//!
//! Those of the object count, then of its mesh, then of its material; the first that says something wins.
//!
//! | property | value |
//! |---|---|
//! | `cloth` | `true`, or a fabric: `cotton`, `wool`, `polyester`, `silk`, `denim`, `leather`, `rubber sheet`, `paper`, `chain mail`. Without it the others have no effect, but for `cloth_collider` |
//! | `cloth_pins` | `top`, `bottom`, `left`, `right`, `corners`, `top_corners`, or a channel; several with commas |
//! | `cloth_max_distance`, `cloth_max_distance_paint` | m; the channel in which it is painted, else it is the same everywhere |
//! | `cloth_backstop`, `cloth_backstop_radius` | with `cloth_max_distance`: m, how far behind its place it may sink; m, 1 if not given |
//! | `cloth_part` | the channel of what is cloth, if not all of the mesh is |
//! | `cloth_mass`, `cloth_mass_paint`, `cloth_stiffness`, `cloth_stiffness_paint` | multiples; their channels |
//! | `cloth_self_collision` | `true`, `off`, `particles`, `edges` |
//! | `cloth_damping`, `cloth_gravity_scale` | 1/s; a factor |
//! | `cloth_world_motion` | 0 to 1, how much it feels of how the character moves |
//! | `cloth_collider` | on a mesh with a skeleton: `true`, or how thick its capsules are; 1 fits |
//!
//! A *channel* is `red`, `green`, `blue`, `alpha`, `joint:NAME` (the weights of a bone: a vertex group) or
//! `attribute:NAME`. Attributes need a name that begins with an underscore in Blender, the tick *Data > Mesh >
//! Attributes*, and a line in the program, for Bevy loads only those that it is told of:
//!
//! ```
//! # use bevy::prelude::*;
//! use bevy::{gltf::GltfPlugin, mesh::{MeshVertexAttribute, VertexFormat}};
//!
//! // In Blender it is called "_FLY"; for `cloth_max_distance_paint` it is "attribute:Fly".
//! const FLY: MeshVertexAttribute = MeshVertexAttribute::new("Fly", 0x00c1_0c57, VertexFormat::Float32);
//! let plugins = DefaultPlugins.set(GltfPlugin::default().add_custom_vertex_attribute("FLY", FLY));
//! # let _ = plugins;
//! ```
//!
//! # The same from code
//!
//! [`ClothRules`](crate::ClothRules) make cloth of meshes by their names, when the artist cannot or should not. `*` stands
//! for anything; names are those of the object, its mesh, or, with `material`, its material. The first rule that fits
//! counts, and custom properties do not then.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # let mut app = App::new();
//! app.insert_resource(
//!     ClothRules::default()
//!         .named("cloth_*", (
//!             Cloth { fabric: Fabric::wool(), ..default() },
//!             // Black is held, white may go 1.2 m away, nothing sinks more than 2 cm into the back.
//!             MaxDistance::painted(VertexChannel::Red, 1.2).with_backstop(0.02, 0.3),
//!             WorldMotion { teleport_distance: Some(3.0), ..WorldMotion::felt(0.5) },
//!             WarmUp(60),
//!         ))
//!         .material("Flag*", (Cloth::default(), Pins::painted(VertexChannel::joint("Pole"))))
//!         .colliders("Body"),
//! );
//! ```
//!
//! # The body
//!
//! - [`SkeletonColliders`](crate::SkeletonColliders) (`cloth_collider`) fits a tapered capsule to each limb. `thickness`
//!   1.1 to 1.2 keeps a thick coat off the skin. The gizmos' "colliders" show them.
//! - A [`Backstop`](crate::Backstop) is cheaper than colliders and never misses: a ball behind each particle, placed by
//!   the animation. It needs normals that point away from the body. Use it for what lies close: shirts, skirts, the
//!   upper part of a cape.
//! - [`MaxDistance`](crate::MaxDistance) keeps cloth near the animation whatever happens. A tight jacket has 0.05 m, a
//!   cape as much as it is long.
//! - [`ClothPart`](crate::ClothPart) (`cloth_part`) makes cloth of the tails of a coat and leaves the rest to its bones.
//!
//! # The motion
//!
//! Cloth lives in the world and feels all of it. For a hero who turns on the spot that is too much:
//! [`WorldMotion`](crate::WorldMotion) says which share of the character's motion is felt; with the rest, it is taken
//! along. Give it to cloth without a skeleton even if all is to be felt: it is what makes that worn, drawn where its
//! wearer is, and not where that was a step and a frame ago.
//!
//! | field | what for | try |
//! |---|---|---|
//! | `linear`, `angular` | share that is felt | 0.5, 0.3 |
//! | `max_speed`, `max_turn` | at most this much of that share is felt, m/s and rad/s: dashes, snap turns | `Some(6.0)`, `Some(8.0)` |
//! | `teleport_distance`, `teleport_angle` | what moves farther at once has been teleported, m and rad | `Some(3.0)` |
//! | `teleport` | [`Keep`](crate::Teleport::Keep) its shape, or [`Reset`](crate::Teleport::Reset) it | |
//!
//! Without `teleport_distance`, tell it: write the new `Transform`, then trigger
//! [`TeleportCloth`](crate::TeleportCloth). [`WarmUp`](crate::WarmUp) lets a cape take its first second before it is
//! seen. Cloth that a file has dressed can be given both as soon as it is there (and a `cloth_world_motion` of the file is then
//! replaced):
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! fn on_cloth(added: On<Add, Cloth>, mut commands: Commands) {
//!     commands.entity(added.entity).insert((WarmUp(60), WorldMotion::felt(0.5)));
//! }
//!
//! fn respawn(hero: Single<&mut Transform, With<Player>>, cape: Single<Entity, With<Cloth>>, mut commands: Commands) {
//!     hero.into_inner().translation = Vec3::ZERO;
//!     commands.trigger(TeleportCloth { entity: *cape, how: Teleport::Keep });
//! }
//! # #[derive(Component)]
//! # struct Player;
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(0));
//! app.add_observer(on_cloth);
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::new(1.0, 1.0, 8, 8));
//! # let cape = app.world_mut().spawn((Cloth::default(), Pins::edge(ClothEdge::Top), Mesh3d(mesh), Player)).id();
//! # app.add_systems(Update, respawn);
//! # app.update();
//! # let particles = app.world().get::<bevy_drape::Particles>(cape).expect("it is built");
//! # assert!(particles.world_position(60).y < -0.1, "it hangs before its first step");
//! ```
//!
//! # A fine cape
//!
//! A cape with pockets and seams has too many vertices to be simulated. [`ClothProxy`](crate::ClothProxy) lets it follow
//! a coarse one that lies in the same place: both are objects in the file, bound to the same armature.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! /// Beside the object of the coarse cape there is one called "CapeFine".
//! fn dress(
//!     ready: On<ClothReady>,
//!     parents: Query<&ChildOf>,
//!     children: Query<&Children>,
//!     names: Query<&Name>,
//!     mut commands: Commands,
//! ) {
//!     let cloth = ready.entity;
//!     let Some(model) = parents.iter_ancestors(cloth).nth(1) else { return };
//!     for object in children.iter_descendants(model) {
//!         if names.get(object).is_ok_and(|name| name.as_str() == "CapeFine") {
//!             // The meshes of an object are its children, one for each material.
//!             for mesh in children.iter_descendants(object) {
//!                 commands.entity(mesh).insert(ClothProxy { cloth });
//!             }
//!             commands.entity(cloth).insert(Visibility::Hidden);
//!         }
//!     }
//! }
//! # let mut app = App::new();
//! app.add_observer(dress);
//! ```
//!
//! Next: [what it bumps into](super::collisions). If it does not work: [troubleshooting](super::troubleshooting).
