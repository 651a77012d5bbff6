//! Code for each task. The third column links the names that are not in the [prelude](crate::prelude), to
//! be imported from their modules.
//!
//! # Shapes
//!
//! See [a first cloth](super::first_cloth).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | turn any mesh into cloth: your own, a primitive, a loaded one | `Cloth` on an entity with a `Mesh3d`; it is built when the mesh is loaded | |
//! | a sheet | `ClothGrid::new(width, height, columns, rows)`, or `::vertical(..)`; sizes in metres, numbers of particles | |
//! | a rope | `Rope::between(a, b, 60)` or `Rope::new(points, 60)`, with a thickness and a length; no mesh needed | |
//! | cloth as part of a mesh | `ClothPart::painted(VertexChannel::Green)` or `::predicate(\|at\| at.y < 1.0)`; pinned to the rest along the seam | [`ClothPart`](crate::character::ClothPart), [`VertexChannel`](crate::character::VertexChannel) |
//! | cloth in two dimensions | `PlanarCloth` on the entity of a `Cloth` | [`PlanarCloth`](crate::cloth::PlanarCloth) |
//! | cloth that already hangs in the first frame | `ClothWarmUp(90)`: number of steps before | [`ClothWarmUp`](crate::cloth::ClothWarmUp) |
//! | a mesh that changes at run time | no code: cloth is rebuilt when its mesh asset changes | |
//!
//! # Pins
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | pin it | `Pins::top_corners()`, `::edge(ClothEdge::Left)`, `::index(17)`, `::ends()`, `::predicate(\|at\| ..)`, combined with `.and(..)`; anchored to its own transform, `.to_world()` or `.to_entity(hand)` | |
//! | painted pins, masses, stiffness | `Pins::painted(VertexChannel::Red)`, `ClothPaint`: vertex colours, `VertexChannel::attribute("Name")`, weights of a joint | [`ClothPaint`](crate::character::ClothPaint), [`VertexChannel`](crate::character::VertexChannel) |
//!
//! # Fabric and solver
//!
//! See [fabric](super::fabric) and [presets](super::presets).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | another fabric | `Cloth { fabric: Fabric::denim(), ..default() }`, or your own numbers, `Fabric { areal_density: 0.4, bending_stiffness: 1e-4, ..default() }` | |
//! | fabric and environment in a file that is reloaded at run time | `ClothPresetHandle(assets.load("presets/flag.cloth.ron"))`, the resource `ClothEnvironmentHandle(..)` | both in `bevy_drape::preset` (feature `presets`) |
//! | elastic cloth with a strain limit | `Fabric { warp_stiffness: Some(200.0), weft_stiffness: Some(80.0), shear_stiffness: Some(50.0), strain_limit: Some(0.1), ..default() }`, stiffness in N/m, for any mesh; the strain is at most a tenth | |
//! | cloth that stretches while it hangs | `Cloth { tether_scale: None, ..default() }` has no tethers; `Some(1.0)`, the default, limits distances to those along the cloth | |
//! | cloth as soft as in tutorials | `Cloth { stretch_solver: StretchSolver::GaussSeidel, tether_scale: None, ..default() }` | [`StretchSolver`](crate::cloth::StretchSolver) |
//! | stiffer cloth, with Gauss–Seidel or without a grid | the resource `ClothSubsteps`: stiffness grows with their square, cost in proportion | |
//!
//! # Collisions
//!
//! See [collisions](super::collisions).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | colliders: primitives | `ClothCollider::sphere(0.5)`, `::half_space()`, `::capsule(r, length)`, `::tapered_capsule(r, r2, length)`, `::cuboid(x, y, z)`, `::cylinder(r, height)`, `::cone(r, height)` on any entity with a `Transform`, moving or not | |
//! | colliders: convex hulls, triangle meshes, heightfields, for rocks, furniture, terrain | `ClothMeshCollider::convex_hull()` or `::mesh()` on an entity with a `Mesh3d`, `::heightfield(heights, columns, size)`, with the feature `parry` | |
//! | contain it in a box, a bottle, a dome | `.hollow()` on any collider | |
//! | two-way coupling with the bodies of a physics engine: nets, hammocks, banners | `AvianClothPlugin` with the feature `avian`, `RapierClothPlugin` with the feature `rapier`; pins `.to_entity(body)`: see the examples `avian.rs`, `rapier.rs` | |
//! | collision layers | `ClothLayers` on cloths and colliders | [`ClothLayers`](crate::collision::ClothLayers) |
//! | self-collision | `Cloth { self_collision: SelfCollision::On, ..default() }`: off by default; layers keep at least the distance of neighbouring particles | |
//! | collision between cloths | `self_collision: SelfCollision::On` on both | |
//!
//! # Air
//!
//! See [air](super::air).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | wind, gravity | the resources `Wind`, steady or with `gusts`, and `ClothGravity` | |
//! | turbulent air | the resource `WindTurbulence`: strength, size and period of its eddies, and a seed | [`WindTurbulence`](crate::wind::WindTurbulence) |
//! | local wind: a fan, a vortex, an explosion | `WindZone::cuboid(1.0, 1.0, 4.0)`, `::sphere(2.0).vortex()`, `.radial()`, `.with_strength(8.0)` on any entity with a `Transform`, moving or not; `WindZone::default()` acts everywhere along its −Z | |
//! | shelter behind walls | the resource `WindOcclusion { length: 4.0, ..default() }`: colliders shield cloth behind them from the wind; off by default | [`WindOcclusion`](crate::wind::WindOcclusion) |
//! | the wind at a position, for leaves and smoke | the system parameter `LocalWind`: `wind.at(position)` | [`LocalWind`](crate::wind::LocalWind) |
//! | a balloon, a ball, a cushion | `ClothPressure::default()` on a cloth with a closed mesh: enclosed air with Boyle's law, released by a cut | [`ClothPressure`](crate::pressure::ClothPressure) |
//!
//! # Characters and models
//!
//! See [characters](super::characters).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | cloth on a model from a file | custom properties of its objects (`cloth = "wool"`, `cloth_pins = "red"`), without code; or the resource `ClothRules::default().named("cloth_*", (Cloth::default(), Pins::top_corners()))` | [`ClothRules`](crate::character::ClothRules) |
//! | a cape on a character | `Cloth` on an entity with a `SkinnedMesh`: it starts at its skinned positions, and its pins follow the skeleton; `ClothMaxDistance::painted(VertexChannel::Red, 0.8)` limits the distance from there by painting, `.with_backstop(..)` keeps it out of the body | [`ClothMaxDistance`](crate::character::ClothMaxDistance), [`VertexChannel`](crate::character::VertexChannel) |
//! | capsules around a body, or its triangles | `SkeletonColliders::capsules()` or `::mesh()` on an entity with a `SkinnedMesh` | [`SkeletonColliders`](crate::character::SkeletonColliders) |
//! | a character that turns and runs too fast for its cape | `ClothInertia { linear: 0.5, max_speed: Some(6.0), ..default() }`: fraction of its motion that acts on the cloth | [`ClothInertia`](crate::character::ClothInertia) |
//! | a cape, a skirt, a banner on a moving entity | `Pins` and `ClothInertia::default()`, if it has no skeleton: it is rendered relative to the current transform of that entity, not of the last step | [`ClothInertia`](crate::character::ClothInertia) |
//! | a teleport | `commands.trigger(TeleportCloth { entity, how: Teleport::Keep })`, or `ClothInertia::teleport_distance` | [`TeleportCloth`](crate::character::TeleportCloth), [`Teleport`](crate::character::Teleport) |
//!
//! # Tearing and grabbing
//!
//! See [tearing and grabbing](super::tearing_and_grabbing).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | grab, cut and tear it with mouse or touch | `ClothInteractionPlugin`; the resource `ClothTools` sets the tool of each button | `bevy_drape::picking::ClothTools` (feature `picking`) |
//! | the same from code: a sword, a hook, a hand | `commands.entity(cloth).cut_segment(from, to, along)`, `.tear_edge(a, b)`, `.shred(at, radius)`, `.grab(by, at)`, `.drag(by, to)`, `.release(by)` | |
//! | cloth that tears under load | `ClothTearing::at_load(400.0)` or `::at_strain(0.5)` on the entity, with local resistance by vertex colour or function | |
//! | react to tears, grabs, releases | observers of `ClothTorn`, `ClothGrabbed`, `ClothReleased` | [`ClothTorn`](crate::tearing::ClothTorn), [`ClothGrabbed`](crate::grab::ClothGrabbed), [`ClothReleased`](crate::grab::ClothReleased) |
//!
//! # Time and many cloths
//!
//! See [performance](super::performance).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | pause, single step, slow motion | the resource `ClothTime`; `ClothPaused` on one cloth | [`ClothPaused`](crate::lod::ClothPaused) |
//! | pause cloth in a menu | a run condition on the sets `ClothSystems::Prepare`, `Simulate` and `Finish` | |
//! | sleeping cloths | `Query<.., With<ClothSleeping>>`; insert and remove `ClothSleeping` yourself, or set `Cloth { sleep_speed: 0.0, ..default() }` to keep a cloth awake | [`ClothSleeping`](crate::sleep::ClothSleeping) |
//! | many cloths | the resource `ClothLod::standard()`: fewer substeps and steps at a distance, culling of cloths out of view; `ClothBudget { milliseconds: 2.0, ..default() }` limits the time | [`ClothLod`](crate::lod::ClothLod), [`ClothBudget`](crate::lod::ClothBudget) |
//! | limit the number of threads | the resource `ClothMaxThreads` | [`ClothMaxThreads`](crate::cloth::ClothMaxThreads) |
//!
//! # Reset, snapshots, scenes
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | react when it is built | an observer of `ClothReady` | |
//! | have it built in the frame in which it is spawned | the resource `ClothBuildMode::Immediate` | [`ClothBuildMode`](crate::cloth::ClothBuildMode) |
//! | reset it, intact | `commands.trigger(ResetCloth { entity })` | |
//! | save and restore it, for rollback | `ClothSnapshot::take(world, cloth)`, `.restore(world, cloth)`; the following steps are bitwise reproducible | [`ClothSnapshot`](crate::snapshot::ClothSnapshot) |
//! | save it with a scene | no code: cloth loaded from a `DynamicWorld` is built from its mesh again | |
//! | cloth in `bsn!` | `Cloth { fabric: Fabric { areal_density: 0.4 } } Pins::top_corners()`; `ClothProxy { cloth: #Cape }`; `~PinsTemplate::held_by(#Hand, Pins::edge(ClothEdge::Top))` | [`ClothProxy`](crate::proxy::ClothProxy), [`PinsTemplate`](crate::pins::PinsTemplate) |
//!
//! # Tools and your own code
//!
//! See [own code](super::own_code) and [troubleshooting](super::troubleshooting).
//!
//! | task | code | not in the prelude |
//! |---|---|---|
//! | a panel | `EguiPlugin` and `ClothPanelPlugin` | |
//! | an inspector | any that uses reflection, see the example `inspector.rs` | |
//! | show constraints and their strain, pins, tethers, normals, max distances, contacts, colliders, wind zones | `ClothDebugPlugin` and the resource `ClothGizmos` | `bevy_drape::debug::ClothGizmos` (feature `debug`) |
//! | your own force or constraint | a system between two `ClothSystems`, see the example `own_constraint.rs` | |
