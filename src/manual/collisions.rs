//! Collisions with shapes, meshes, other cloths and physics engines.
//!
//! # Primitives
//!
//! Add [`ClothCollider`](crate::collision::ClothCollider) to any entity with a `Transform`. Moving and rotating
//! colliders drag cloth along by friction. The shapes are `sphere`, `half_space`, `capsule`, `tapered_capsule`,
//! `cuboid`, `cylinder` and `cone`, along the local y axis; Bevy's own primitives convert with `From`. The scale of
//! the transform scales the shape.
//!
//! ```
//! use bevy::prelude::*;
//! use bevy_drape::prelude::*;
//!
//! fn set_up(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>) {
//!     commands.spawn(ClothCollider::half_space()); // solid below its xz plane
//!     commands.spawn((
//!         ClothCollider::from(Capsule3d::new(0.2, 0.6)).with_friction(0.8, 0.6),
//!         Transform::from_xyz(0.0, 0.5, 0.0),
//!     ));
//!     // A box that contains the cloth.
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
//! #     .insert_resource(bevy_drape::cloth::ClothBuildMode::Immediate)
//! #     .add_systems(Startup, set_up);
//! # (0..64).for_each(|_| app.update());
//! # let particles = app.world_mut().query::<&ClothParticles>().single(app.world()).unwrap();
//! # let top = (0..particles.len()).map(|i| particles.world_position(i).y).fold(f32::MIN, f32::max);
//! # assert!((0.9..1.1).contains(&top), "it lies on the capsule: {top}");
//! ```
//!
//! Particles keep a distance from colliders, the [`thickness`](crate::cloth::Fabric::thickness) of the fabric, 1 cm by
//! default, and a fiftieth of its size for cloth smaller than 50 cm. Between particles, a flat triangle may cut into a sphere, which then shows through: use a finer mesh
//! or more thickness. Spheres and capsules smaller than a cell do not slip through.
//!
//! The friction coefficient is the geometric mean of those of fabric and collider, so 0 in either means no
//! friction. Resting cloth stays on slopes up to atan(static coefficient).
//!
//! # Meshes, hulls, terrain
//!
//! The feature `parry` adds `ClothMeshCollider` for all other shapes:
//!
//! | | |
//! |---|---|
//! | `ClothMeshCollider::convex_hull()` | on an entity with a `Mesh3d`: its convex hull. Fast; cloth cannot get caught in concave parts |
//! | `ClothMeshCollider::mesh()` | on an entity with a `Mesh3d`: its triangles. A closed mesh is solid; cloth stays on its side of an open one |
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
//! Coarse meshes make better colliders. Where a capsule is accurate enough, use a capsule.
//!
//! # Collision layers
//!
//! [`ClothLayers`](crate::collision::ClothLayers), on cloths and colliders, has memberships in 32 layers and a filter of the
//! layers to interact with. Two entities interact if the filter of each contains a layer of the other; without the
//! component, everything interacts.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{collision::ClothLayers, prelude::*};
//! # fn spawn(mut commands: Commands, cape: Entity, body: Entity) {
//! const BODIES: u32 = 1 << 1;
//! commands.entity(body).insert(ClothLayers::on(BODIES));
//! // This cape collides with bodies, but not with walls or floors.
//! commands.entity(cape).insert(ClothLayers::default().with_filters(BODIES));
//! # }
//! ```
//!
//! # Self-collision and cloth against cloth
//!
//! Both are off by default. [`SelfCollision::On`](crate::cloth::SelfCollision::On) keeps the particles of a
//! cloth apart, and its edges from passing through triangles; two cloths collide if *both* have it and their layers
//! interact. Contacts have friction; between cloths they respect masses and conserve momentum.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! let skirt = Cloth { self_collision: SelfCollision::On, ..default() };
//! ```
//!
//! Layers keep at least the distance of neighbouring particles, so those of a coarse mesh lie visibly apart: by
//! 6.5 cm with 32 particles on 2 m, by 1.6 cm with 128. Particles nearer than 1.75 times that at rest do not
//! collide; in tight pleats, edges and triangles keep a tenth of it.
//!
//! # Bodies of a physics engine
//!
//! With the feature `avian` or `rapier`, add `AvianClothPlugin` or `RapierClothPlugin`, but not both, besides the
//! engine's own plugins. Cloth then collides with all colliders of the engine except sensors, with their collision
//! layers and friction, and needs no `ClothCollider`. Forces act both ways: a net catches a ball, a hammock
//! supports a crate, and a banner pinned to a crate (`Pins::edge(ClothEdge::Bottom).to_entity(crate_entity)`)
//! pulls it. Sleeping bodies wake when the force of the cloth on them changes. See the examples: `cargo run
//! --release --example avian --features avian`, and the same with `rapier`. Rapier steps in `PostUpdate` by
//! default; run it in the steps of the cloth, `RapierPhysicsPlugin::<NoUserData>::default().in_fixed_schedule()`
//! with `TimestepMode::Fixed`, as the example does.
//!
//! A heavy and fast body would stretch light cloth far before it is stopped. A cloth that such a body approaches
//! or stretches takes up to four times as many substeps for a second or two, at as many times the cost, and so do
//! cloths that may touch it; all others keep their substeps. A caught body rebounds with at most half of its
//! speed, or slightly more if it is very heavy, with any fabric.
//!
//! An entity that has both a `ClothCollider` and a collider of the engine collides twice: keep only one of them.
//!
//! # High speeds
//!
//! Collision detection is continuous within each substep: no particle passes through a collider at up to 200 m/s
//! (100 m/s for meshes). Three cases remain:
//!
//! - A collider that is *placed* elsewhere instead of moved. Up to 200 m/s this counts as motion and drags along
//!   the cloth in between; above, the collider appears at its new position.
//! - Cloth that starts inside a collider. It is pushed out in the nearest direction, which may be the wrong side:
//!   start outside, or hide the first second with [`ClothWarmUp`](crate::cloth::ClothWarmUp).
//! - Cloth between two overlapping colliders, such as an arm pressed against a chest. No position is valid there;
//!   use [`ClothMaxDistance`](crate::character::ClothMaxDistance) for that part of the cloth, or thinner capsules.
//!
//! With self-collision, particles move by at most 0.75 of the self-collision distance per substep, relative to the
//! whole cloth: about 11 m/s for 64 particles on 2 m. More substeps raise this speed.
//!
//! # Debugging
//!
//! The gizmos "contacts" show contacts with `ClothCollider`s and self-contacts; "colliders" show the outlines of
//! all colliders, including meshes. Physics engines draw their own. "deepest penetration" in the panel and
//! [`ClothStats::deepest_penetration`](crate::diagnostics::ClothStats::deepest_penetration) are those of the deepest particle.
