//! What cloth bumps into, and how it keeps from going through it.
//!
//! # Primitives
//!
//! [`ClothCollider`](crate::ClothCollider) on any entity with a `Transform`. It may move, and then takes cloth along by
//! its friction. There are `sphere`, `half_space`, `capsule`, `tapered_capsule`, `cuboid`, `cylinder` and `cone`, all
//! along the local y axis, and `From` Bevy's own primitives. A scale of the transform scales the shape.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::{Particles, prelude::*};
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn(ClothCollider::half_space()); // all below its xz plane
//!     commands.spawn((
//!         ClothCollider::from(Capsule3d::new(0.2, 0.6)).with_friction(0.8, 0.6),
//!         Transform::from_xyz(0.0, 0.5, 0.0),
//!     ));
//!     // A box that cloth cannot get out of.
//!     commands.spawn(ClothCollider::cuboid(3.0, 3.0, 3.0).hollow());
//!     commands.spawn((
//!         Cloth::default(),
//!         Mesh3d(meshes.add(ClothGrid::new(1.0, 1.0, 20, 20))),
//!         Transform::from_xyz(0.0, 1.2, 0.0),
//!     ));
//! }
//! # use bevy::{asset::AssetPlugin, mesh::MeshPlugin, time::TimeUpdateStrategy, transform::TransformPlugin};
//! # let mut app = App::new();
//! # app.add_plugins((MinimalPlugins, AssetPlugin::default(), MeshPlugin, TransformPlugin, ClothPlugin::default()))
//! #     .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
//! #     .add_systems(Startup, set_up);
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&Particles>().single(app.world()).unwrap();
//! # let top = (0..particles.len()).map(|i| particles.world_position(i).y).fold(f32::MIN, f32::max);
//! # assert!((0.9..1.1).contains(&top), "it lies on the capsule: {top}");
//! ```
//!
//! Cloth keeps the [`thickness`](crate::Fabric::thickness) of its fabric from them, 1 cm by default. Only particles
//! keep it. Between them a flat triangle may cut into a ball, and the ball shines through: a finer mesh or more
//! thickness helps. Balls and capsules that are smaller than a cell do not slip through all the same.
//!
//! Friction is the geometric mean of that of the fabric and that of the collider, so 0 on either means none. At rest,
//! cloth stays on a slope up to the angle whose tangent the static coefficient is.
//!
//! # Meshes, hulls, terrain
//!
//! With the feature `parry` there is `ClothMeshCollider` for what is no primitive:
//!
//! | | |
//! |---|---|
//! | `ClothMeshCollider::convex_hull()` | beside a `Mesh3d`: its hull. Fast, and never holds cloth in a hole |
//! | `ClothMeshCollider::mesh()` | beside a `Mesh3d`: its triangles. A closed one is solid, of an open one cloth stays on its side |
//! | `::triangles(vertices, indices)`, `::hull_of(points)` | the same from arrays, in metres |
//! | `::heightfield(heights, columns, size)` | terrain, solid below |
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # #[cfg(feature = "parry")]
//! fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
//!     let rock = assets.load("rock.glb#Mesh0/Primitive0");
//!     commands.spawn((ClothMeshCollider::convex_hull(), Mesh3d(rock)));
//!     // 3 × 3 heights over 20 m × 20 m: a bowl.
//!     let heights = vec![1.0, 0.5, 1.0, 0.5, 0.0, 0.5, 1.0, 0.5, 1.0];
//!     commands.spawn(ClothMeshCollider::heightfield(heights, 3, Vec2::splat(20.0)));
//! }
//! ```
//!
//! Coarse meshes are the better colliders. If a capsule will do, take the capsule.
//!
//! # Who meets whom
//!
//! [`ClothLayers`](crate::ClothLayers) on either says which of 32 layers it is on, and which it lets in. Both have to let
//! the other in; without the component, everything meets everything.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # fn spawn(mut commands: Commands, cape: Entity, body: Entity) {
//! const BODIES: u32 = 1 << 1;
//! commands.entity(body).insert(ClothLayers::on(BODIES));
//! // This cape meets bodies, and no walls or floors.
//! commands.entity(cape).insert(ClothLayers::default().meeting(BODIES));
//! # }
//! ```
//!
//! # Cloth on itself, cloth on cloth
//!
//! Both are off by default. [`SelfCollision::Particles`](crate::SelfCollision::Particles) keeps the particles of a cloth
//! apart; two cloths meet where *both* are set so and their layers meet. `ParticlesAndEdges` besides brings back what has
//! gone through all the same: for cloth that is wrung, or begins as a tangle.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! let skirt = Cloth { self_collision: SelfCollision::Particles, ..default() };
//! ```
//!
//! Layers keep at least the distance of neighbouring particles, so those of a coarse mesh lie visibly apart: 2 m with 32
//! particles are 6.5 cm, with 128 they are 1.6 cm. What is nearer than 1.5 times that at rest does not collide; tight
//! pleats go through themselves.
//!
//! # Bodies of a physics engine
//!
//! With the feature `avian` or `rapier`, add `AvianClothPlugin` or `RapierClothPlugin`, one of both, beside the
//! engine's own plugins. Cloth then meets all that collides there, by its collision layers and its friction, without a
//! `ClothCollider`; sensors it goes through. Dynamic bodies feel cloth as much as cloth feels them: a net catches a
//! ball, a hammock carries a crate, and a banner that is pinned to a crate
//! (`Pins::edge(ClothEdge::Bottom).to_entity(crate_entity)`) pulls it. Bodies that sleep are woken when cloth pushes
//! them otherwise than it did when they fell asleep. See the examples: `cargo run --release --example avian --features
//! avian`, and the same with `rapier`. Rapier steps in `PostUpdate` by default; give it the steps of cloth,
//! `RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule()` with `TimestepMode::Fixed`, as the example does.
//!
//! A body that is heavy and fast would stretch light cloth far before it is stopped. A cloth to which such a body comes, or
//! which is stretched by one, takes up to four times as many substeps for a second or two, and costs as much more, and
//! so do cloths that may touch it; all others take what they always do. What it catches it throws back with half of its
//! speed or less, or somewhat more if it is very heavy, whatever the fabric.
//!
//! A `ClothCollider` on an entity that is a collider of the engine too is met twice: give it one of both.
//!
//! # What is fast
//!
//!
//! Contacts are looked for along the way of a particle, in each substep: none goes through a collider at up to 200 m/s
//! (100 m/s for meshes). There are three ways to fool them:
//!
//! - A collider that is *put* somewhere else rather than moved. Up to 200 m/s it is moved, and sweeps along what is in
//!   between; beyond that it is just there.
//! - Cloth that begins inside. It is pushed out the nearest way, which may be the wrong side: begin outside, or let
//!   [`WarmUp`](crate::WarmUp) sort it out unseen.
//! - Cloth between two colliders that overlap, such as an arm pressed against a chest. Nothing is right there; use
//!   [`MaxDistance`](crate::MaxDistance) for that part of the cloth, or thinner capsules.
//!
//! Cloth that collides with itself is slowed to 0.75 of that distance for each substep, seen from the cloth as a whole:
//! about 11 m/s for 64 particles on 2 m. More substeps let it be faster.
//!
//! # To look at
//!
//! Gizmos "contacts" and "colliders" show what touches and what is there: `ClothCollider`s and the cloth itself, and meshes
//! in "colliders". Engines draw their own. "deepest penetration" in the panel's figures, and
//! [`ClothStats::deepest_penetration`](crate::ClothStats::deepest_penetration), say how deep the worst particle is.
