//! Troubleshooting: symptoms, causes and remedies.
//!
//! Check three things first. **The log** reports everything impossible or out of range, with the entity and a
//! remedy. **The panel** (`ClothPanelPlugin`) shows the figures "worst stretch", "deepest penetration", "step
//! time" and "asleep", and has the sections "World", "Cloth" and "Fabric". **The gizmos** (`ClothDebugPlugin`) are
//! in the panel's section "View": "wireframe", "shear", "bend", "pins", "tethers", "normals", "max distance",
//! "contacts", "colliders" and "wind zones". Without a panel, enable them in code:
//!
//! ```
//! # use bevy::prelude::*;
//! # #[cfg(feature = "debug")]
//! # use bevy_drape::debug::ClothGizmos;
//! # #[cfg(feature = "debug")]
//! fn show_gizmos(mut gizmos: ResMut<ClothGizmos>) {
//!     gizmos.structural = true; // white at rest length, red at 5 % more, blue at 5 % less
//!     gizmos.pins = true;
//!     gizmos.colliders = true;
//! }
//! ```
//!
//! # Cloth does not move
//!
//! | cause | sign | remedy |
//! |---|---|---|
//! | it is not built because it has no mesh yet | log: "has no Mesh3d yet"; no [`ClothParticles`](crate::cloth::ClothParticles) on the entity | wait for [`ClothReady`](crate::cloth::ClothReady); if it has a `Mesh3d`, Bevy's log says why the file was not loaded |
//! | its mesh cannot become cloth | log: "is not built: …"; [`ClothBuildFailed`](crate::cloth::ClothBuildFailed) has the reason | follow the message: `RenderAssetUsages::MAIN_WORLD`, triangles, positions, no scale of 0 |
//! | there are no meshes in the app | log: "there are no meshes in this app" | add `AssetPlugin` and `MeshPlugin`, as on a [server](super::performance) |
//! | a component or an event of cloth is on another entity | log: "has no effect" | put it on the entity with [`Cloth`](crate::cloth::Cloth) or [`Rope`](crate::rope::Rope) |
//! | all particles are pinned | log: "all … particles are pinned"; "pins": a cross at each | paint fewer vertices, or use another [channel](super::characters) |
//! | time is paused | the panel's button is labelled "Run" | [`ClothTime::paused`](crate::time::ClothTime::paused), or `Time<Virtual>` |
//! | it sleeps | figure "asleep" | see the list of events that wake it, [`ClothSleeping`](crate::sleep::ClothSleeping) |
//! | it is culled or paused | [`ClothCulled`](crate::lod::ClothCulled) or [`ClothPaused`](crate::lod::ClothPaused) on its entity | larger distances in [`ClothLod`](crate::lod::ClothLod), `cull_unseen: false`; remove `ClothPaused` |
//! | its maximum distance is too small | "max distance": small spheres | a larger [`ClothMaxDistance`](crate::character::ClothMaxDistance); grey paint has lower values in the file than it looks |
//! | it is not rendered: no material, or seen from behind | gizmos show it | `MeshMaterial3d`, with `double_sided: true` and `cull_mode: None` |
//!
//! # Cloth falls through an object
//!
//! | cause | sign | remedy |
//! |---|---|---|
//! | the object has no [`ClothCollider`](crate::collision::ClothCollider) | "colliders": none there | add one; a rendered mesh alone is no collider |
//! | the collider is ignored | log: "is ignored" | lengths above 0, a finite transform |
//! | the layers do not interact | the inspector, or your code | the filters of both [`ClothLayers`](crate::collision::ClothLayers) must contain a layer of the other |
//! | a half-space is upside down: it is solid *below* its xz plane | "colliders": the grid | rotate its transform, or remove `.hollow()` |
//! | it started inside | it shoots out, or stays inside | start outside, or use [`ClothWarmUp`](crate::cloth::ClothWarmUp) |
//! | it sinks into the body despite a backstop | "normals": they point into the body; "max distance": rings | flip the normals of the mesh, away from the body |
//! | the object is a body of a physics engine | the engine's own gizmos show it | the features `avian` and `rapier`, and [their plugins](super::collisions) |
//! | a coarse mesh on a pointed object | "contacts": few crosses | a finer mesh, or more "thickness" |
//! | it passes through itself or other cloth | "contacts": no crosses between layers | "self-collision" on both, see [collisions](super::collisions) |
//! | it falls at once because it has no pins | "pins": none | [`Pins`](crate::pins::Pins) |
//!
//! # Cloth stretches
//!
//! "worst stretch" shows by how much, "wireframe" shows the stretched edges in red.
//!
//! | cause | remedy |
//! |---|---|
//! | the fabric is elastic, as cotton, wool, polyester and rubber are | higher "warp" and "weft", or a lower "strain limit" |
//! | "stretch solver" is "Gauss–Seidel" | "direct" |
//! | "tether scale" is above 1 or off | 1 |
//! | it tears by load, so it has no tethers | tearing by strain |
//! | too few substeps for a fine mesh | more "substeps", or a coarser mesh |
//! | single red edges next to folds and contacts, in fine meshes | more "substeps", or a coarser mesh |
//! | a mesh without rows and columns | a grid of quads |
//! | a body of a physics engine with a hundred times the mass of the cloth | a heavier fabric, more "substeps" |
//! | its pins are pulled apart | expected; move them less |
//! | the entity was scaled after it was built | [`ResetCloth`](crate::cloth::ResetCloth) reads the scale again |
//!
//! # Cloth jitters
//!
//! | cause | remedy |
//! |---|---|
//! | two colliders push it in opposite directions | thinner capsules; [`ClothMaxDistance`](crate::character::ClothMaxDistance) there |
//! | neighbouring particles tremble | higher "bending damping" and "internal friction" |
//! | the anchor of its pins is moved sometimes in `FixedUpdate`, sometimes in `Update` | move it in only one of them |
//! | a system of yours writes positions after `Collide` | write them between `Relax` and `Collide`, see [own code](super::own_code) |
//! | turbulence is too strong, or its eddies are smaller than the cloth's cells | lower "turbulence", larger "eddy size" |
//! | self-collision presses layers of a coarse mesh together | a finer mesh |
//!
//! # Cloth explodes
//!
//! The solver is stable; look for external causes.
//!
//! | cause | sign | remedy |
//! |---|---|---|
//! | numbers that are not finite | log: "has a position or force that is not finite" | check your systems, and the transforms of pins and colliders |
//! | forces that accumulate | | `add_force` once per step, in `FixedUpdate`, not in [`ClothSubstep`](crate::cloth::ClothSubstep) |
//! | an unannounced teleport | it is dragged across the world | [`TeleportCloth`](crate::character::TeleportCloth), or [`ClothInertia::teleport_distance`](crate::character::ClothInertia::teleport_distance) |
//! | an exporter scaled an object by 100 | "colliders": huge | apply scales in Blender |
//! | a tangled initial shape with self-collision | | an initial shape without overlaps; tangles come apart within about a second |
//!
//! # Cloth lags behind the character
//!
//! Some lag is physical: air drag. Reduce it with less "drag", a lower [`ClothInertia`](crate::character::ClothInertia)
//! (`uniform(0.3)`, `max_speed`; in the panel "linear inertia" and "angular inertia"), or a smaller
//! [`ClothMaxDistance`](crate::character::ClothMaxDistance).
//!
//! If even pinned particles lag, by a hand's breadth at running speed: cloth is interpolated between its last two
//! steps, and follows animations with one frame of delay. Cloth with [`ClothInertia`](crate::character::ClothInertia) (the
//! default changes nothing else), [`ClothMaxDistance`](crate::character::ClothMaxDistance) or a skeleton is rendered relative
//! to the current transform of its reference entity, which removes this lag. A rope that is only pinned to a hand
//! should have none of these, or its far end would swing with the hand.
//!
//! Errors of millimetres remain where joints move relative to the joint that moves most of the cloth. Put the
//! collar of the cape under that of the coat, or make it part of the body ([`ClothPart`](crate::character::ClothPart)).
//!
//! # Cloth looks faceted or has wrong lighting
//!
//! | symptom | cause and remedy |
//! |---|---|
//! | the outline is faceted | normals are smooth, but triangles are flat: use a finer mesh, or a [`ClothProxy`](crate::proxy::ClothProxy) |
//! | the back is black or missing | set `double_sided: true` and `cull_mode: None` in its material |
//! | hard edges are gone | cloth has smooth shading: vertices at the same position share a normal |
//! | a mesh with two sides back to back acts as one layer | expected: one layer of particles with two normals |
//! | a normal map looks wrong | the mesh needs tangents: `mesh.generate_tangents()`; `ClothGrid` has them |
//! | it is tinted | vertex colours are rendered unless a cloth setting uses them |
//! | it is dark or flickers in folds | thin cloth shadows itself: adjust the shadow bias of the light |
//! | it is straight where it should be round | it is pinned there: check "pins" |
//!
//! # Cloth is too slow
//!
//! "step time" and "particles" show the cost; [performance](super::performance) lists remedies. More than 200 000
//! particles cause a warning in the log.
//!
//! # Paint from a file is not found
//!
//! The log names the missing channel and the channels that the mesh has.
//!
//! | symptom | cause | remedy |
//! |---|---|---|
//! | the mesh has no paint | Blender exported no colours, because no material uses them | *Vertex Colors: Active* in the export |
//! | all vertex colours are white: the whole cloth is free | another colour attribute was active, or all were exported and the first is a white dummy | make yours active and choose *Active* |
//! | no attribute of that name | its name has no underscore in Blender, *Attributes* is off in the export, or it is not registered in Bevy | see [characters](super::characters) |
//! | no joint of that name | the skeleton of this mesh has no such bone: misspelt, or not exported | the log has the list; enable *Deform* on the bone |
//! | nothing in the log, and no cloth | *Custom Properties* was off in the export, or the feature `gltf` is off | enable it; look for `"extras"` in a `.gltf` |
//! | "is not a property of bevy_drape" | a property is misspelt | the log has the list |
