//! Cloth on characters: from Blender to a fluttering cape, step by step.
//!
//! Requirements: a character with an armature, Blender's glTF exporter, and the feature `gltf`, which is on by
//! default. Cloth is described in the file; the program does not change. `assets/models/hero.py` and
//! `shirt.py` in the repository create such files; `cargo run --release --example demo -- --scene cape` and `--scene shirt`
//! show them.
//!
//! # In Blender
//!
//! 1. **Model the cape** as a separate object, in its hanging pose: a grid of some hundred quads, 20 to 40 per
//!    side, with normals pointing away from the body. Keep a finger's breadth of air between cape and body. Apply
//!    the scale (*Ctrl A*) of cape and armature.
//! 2. **Bind it to the armature** like the rest of the character. Rough weights, those of the spine, are enough:
//!    chest for the upper part, hips for the lower one. They define the position of a stiff cape.
//! 3. **Paint the maximum distance of each vertex** from that position. Add a colour attribute with *Object Data
//!    Properties > Color Attributes > +*, then switch to *Vertex Paint*: black where the cape is sewn on, white where
//!    it is free, a gradient between. Black vertices are pinned; no other pins are needed. Files contain linear
//!    values: a grey of half brightness is read as about 0.2. Use a material with *Backface Culling* off, or the
//!    inside is invisible.
//! 4. **Mark it as cloth.** *Object Properties > Custom Properties > New*, then the gear to set its name and type:
//!
//!    | object | property | type | value |
//!    |---|---|---|---|
//!    | cape | `cloth` | string | `wool` |
//!    | cape | `cloth_max_distance` | float | `1.2`: m, where the paint is white |
//!    | cape | `cloth_max_distance_paint` | string | `red`: white has full red, too |
//!    | body | `cloth_collider` | string | `capsules` around its limbs, or its `mesh` |
//! 5. **Export** *glTF 2.0*. Enable *Include > Data > Custom Properties*. Under *Data > Mesh > Vertex Colors*
//!    choose *Active*; *Material*, the default, exports colours only if a material uses them. (Older versions have
//!    one checkbox, *Vertex Colors*.) *+Y Up* and *Skinning* stay on, *Compression* stays off.
//!
//! # Shirts and skirts
//!
//! The steps are the same; `assets/models/shirt.py` takes them for a shirt of 3,800 particles in irregular places.
//!
//! - Any triangles do, those of a program for pattern makers too. Model the clothes 2 to 3 cm off the skin, in a pose in which
//!   arms and legs are spread: what begins inside a capsule, or is pinched between two, cannot keep its size.
//! - Give them the weights of the trunk, the upper arms and the thighs alone. The skinned position need not be beautiful, but near
//!   the body, since `cloth_max_distance` keeps the cloth near it: black at collar or waistband, 0.2 to 0.4 m where they are free.
//! - Leave the thickness of the capsules at 1. `cloth_self_collision` costs two to three times the step, and shows where sleeves
//!   brush the trunk and where folds lie on each other; without it, such clothes take 5 ms a step on one core.
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
//! /// Plays the first animation of the file in a loop, as soon as the model is loaded.
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
//! Only two lines are for cloth, `ClothPlugin` and `Wind`; the rest shows any model. The paint is not rendered: if
//! a cloth setting uses the vertex colours, they are removed from the cloth's own mesh. Misspelt properties are
//! reported in the log, with the name of the object and the list of supported names.
//!
//! # All properties
//!
//! Properties of the object take precedence over those of its mesh, and those over properties of its material.
//!
//! | property | value |
//! |---|---|
//! | `cloth` | `true`, or a fabric: `cotton`, `wool`, `polyester`, `silk`, `denim`, `leather`, `rubber sheet`, `paper`, `chain mail`. Without it, all other properties except `cloth_collider` have no effect |
//! | `cloth_pins` | `top`, `bottom`, `left`, `right`, `corners`, `top_corners`, or a channel; separate several with commas |
//! | `cloth_max_distance`, `cloth_max_distance_paint` | m; the painted channel, otherwise the distance is uniform |
//! | `cloth_backstop`, `cloth_backstop_radius` | with `cloth_max_distance`: distance of the backstop behind the skinned position, m; its radius, m, default 1 |
//! | `cloth_part` | the channel that marks the cloth, if only a part of the mesh is cloth |
//! | `cloth_mass`, `cloth_mass_paint`, `cloth_stiffness`, `cloth_stiffness_paint` | factors; their channels |
//! | `cloth_self_collision` | `true` or `on`, `false` or `off` |
//! | `cloth_damping`, `cloth_gravity_scale` | 1/s; a factor |
//! | `cloth_inertia` | 0 to 1: fraction of the character's motion that acts on the cloth |
//! | `cloth_collider` | on a mesh with a skeleton: `capsules` or `true`, `mesh` for its triangles, or the thickness of its capsules relative to the limbs, 1 for an exact fit |
//!
//! A *channel* is `red`, `green`, `blue`, `alpha`, `joint:NAME` (the weights of a bone: a vertex group) or
//! `attribute:NAME`. An attribute needs a name that begins with an underscore in Blender, the export option *Data
//! > Mesh > Attributes*, and a line in the program, because Bevy loads only registered attributes:
//!
//! ```
//! # use bevy::prelude::*;
//! use bevy::{gltf::GltfPlugin, mesh::{MeshVertexAttribute, VertexFormat}};
//!
//! // Its name is "_FLY" in Blender, and "attribute:Fly" for `cloth_max_distance_paint`.
//! const FLY: MeshVertexAttribute = MeshVertexAttribute::new("Fly", 0x00c1_0c57, VertexFormat::Float32);
//! let plugins = DefaultPlugins.set(GltfPlugin::default().add_custom_vertex_attribute("FLY", FLY));
//! # let _ = plugins;
//! ```
//!
//! # The same from code
//!
//! [`ClothRules`](crate::character::ClothRules) turn meshes into cloth by their names, without custom properties. `*` matches
//! anything; names are those of the object, its mesh, or, with `material`, its material. The first matching rule
//! applies; custom properties of that mesh are then ignored.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{character::{ClothInertia, ClothMaxDistance, ClothRules, VertexChannel}, cloth::ClothWarmUp, prelude::*};
//! # let mut app = App::new();
//! app.insert_resource(
//!     ClothRules::default()
//!         .named("cloth_*", (
//!             Cloth { fabric: Fabric::wool(), ..default() },
//!             // Black is pinned, white may move by 1.2 m, nothing sinks more than 2 cm into the back.
//!             ClothMaxDistance::painted(VertexChannel::Red, 1.2).with_backstop(0.02, 0.3),
//!             ClothInertia { teleport_distance: Some(3.0), ..ClothInertia::uniform(0.5) },
//!             ClothWarmUp(60),
//!         ))
//!         .material("Flag*", (Cloth::default(), Pins::painted(VertexChannel::joint("Pole"))))
//!         .colliders("Body")
//!         .mesh_colliders("Hands"),
//! );
//! ```
//!
//! # The body
//!
//! - [`SkeletonColliders`](crate::character::SkeletonColliders) (`cloth_collider`) makes the body solid. Its
//!   [`shape`](crate::character::SkeletonShape) is one of two, and the gizmos "colliders" show it:
//!
//!   | | `capsules` | `mesh` |
//!   |---|---|---|
//!   | from code | `SkeletonColliders::capsules()` | `SkeletonColliders::mesh()` |
//!   | by a rule | `.colliders("Body")` | `.mesh_colliders("Body")` |
//!   | contacts | one to four tapered capsules per joint, fitted by least squares | triangles, skinned in each step |
//!   | fits | limbs to about a centimetre, a broad chest to 3 cm; fingers, ears and horns not at all | exactly |
//!   | use it for | most characters: fast, and robust with any animation | slow characters of up to about 2 000 triangles |
//!
//!   `thickness` 1.1 to 1.2 of the capsules keeps a thick coat off the skin. Clothes that are worn closer than that need 1:
//!   inside a capsule they have no room, and are stretched. A mesh whose edges all have a triangle on
//!   both sides is solid: cloth that gets inside is pushed out. At any other one cloth stays on its current side, so begin
//!   outside, and cap neck and wrists if cloth can be squeezed in there. An elbow that closes on cloth pinches it between
//!   two surfaces: give the cloth room, or use capsules. Limbs may move at 10 m/s.
//! - A [`Backstop`](crate::character::Backstop) is cheaper than colliders and misses no contact: a sphere behind each
//!   particle that follows the animation. It needs normals that point away from the body. Use it for close-fitting
//!   cloth: shirts, skirts, the upper part of a cape.
//! - [`ClothMaxDistance`](crate::character::ClothMaxDistance) always keeps cloth near the animation. 0.05 m suits a tight
//!   jacket; for a cape, use its length.
//! - [`ClothPart`](crate::character::ClothPart) (`cloth_part`) turns the tails of a coat into cloth and leaves the rest to
//!   its bones.
//!
//! Cloth with a skeleton is built in the pose in which its model is spawned, and moves with its joints to the first pose of an
//! animation. A pose that is set at once later on (out of a ragdoll, say) drags it along, unless it is reset
//! ([`ResetCloth`](crate::cloth::ResetCloth)).
//!
//! # Inertia
//!
//! Cloth is simulated in world space, so the full motion of the character acts on it. For a hero who turns on the
//! spot that is too much: [`ClothInertia`](crate::character::ClothInertia) sets the fraction that acts as inertia; the rest
//! moves the cloth along rigidly. Insert it even with all fractions at 1 if the cloth has no skeleton: with it,
//! cloth is rendered relative to the current transform of its reference entity, instead of that of the last step.
//!
//! | field | meaning | try |
//! |---|---|---|
//! | `linear`, `angular` | fraction of the motion that acts on the cloth | 0.5, 0.3 |
//! | `max_speed`, `max_angular_speed` | upper limit of that motion, m/s and rad/s, for dashes and snap turns | `Some(6.0)`, `Some(8.0)` |
//! | `teleport_distance`, `teleport_angle` | larger displacements in one update count as teleports, m and rad | `Some(3.0)` |
//! | `teleport` | [`Keep`](crate::character::Teleport::Keep) the shape, or [`Reset`](crate::character::Teleport::Reset) it | |
//!
//! Without `teleport_distance`, announce teleports: write the new `Transform`, then trigger
//! [`TeleportCloth`](crate::character::TeleportCloth). [`ClothWarmUp`](crate::cloth::ClothWarmUp) simulates the first second of a
//! cape before it is visible. Insert both into cloth from a file as soon as it is spawned (this replaces a
//! `cloth_inertia` in the file):
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{character::{ClothInertia, Teleport, TeleportCloth}, cloth::ClothWarmUp, prelude::*};
//! fn on_cloth(added: On<Add, Cloth>, mut commands: Commands) {
//!     commands.entity(added.entity).insert((ClothWarmUp(60), ClothInertia::uniform(0.5)));
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
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(0))
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate);
//! app.add_observer(on_cloth);
//! # let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(ClothGrid::new(1.0, 1.0, 8, 8));
//! # let cape = app.world_mut().spawn((Cloth::default(), Pins::edge(ClothEdge::Top), Mesh3d(mesh), Player)).id();
//! # app.add_systems(Update, respawn);
//! # app.update();
//! # let particles = app.world().get::<bevy_drape::cloth::ClothParticles>(cape).expect("it is built");
//! # assert!(particles.world_position(60).y < -0.1, "it hangs before its first step");
//! ```
//!
//! # A fine cape
//!
//! A cape with pockets and seams has too many vertices to be simulated. [`ClothProxy`](crate::proxy::ClothProxy) makes it
//! follow a coarse cape in the same position: both are objects in the file, bound to the same armature.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{prelude::*, proxy::ClothProxy};
//! /// The sibling "CapeFine" of the coarse cape follows it.
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
//!             // The meshes of an object are its children, one per material.
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
//! Next: [collisions](super::collisions). If something does not work: [troubleshooting](super::troubleshooting).
