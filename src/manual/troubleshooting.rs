//! Something is wrong: what it may be, where to look, what to do.
//!
//! Look at three things first. **The log**: whatever is impossible or out of range is told there, with the entity and what
//! to do. **The panel** (`ClothPanelPlugin`): the figures "worst stretch", "deepest penetration", "step time" and "asleep",
//! and its sections "World", "Cloth" and "Fabric". **The gizmos** (`ClothDebugPlugin`): the panel's section "View" has
//! "wireframe", "shear", "bend", "pins", "tethers", "normals", "limits", "contacts", "colliders" and "wind zones". Without a panel, switch them on in code:
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # #[cfg(feature = "debug")]
//! fn look_inside(mut show: ResMut<ClothGizmos>) {
//!     show.threads = true; // white at rest length, red at 5 % more, blue at 5 % less
//!     show.pins = true;
//!     show.colliders = true;
//! }
//! ```
//!
//! # My cloth does nothing
//!
//! | cause | to be seen | what to do |
//! |---|---|---|
//! | it is not built: it has no mesh yet | log: "has no Mesh3d yet"; no [`Particles`](crate::Particles) on the entity | wait for [`ClothReady`](crate::ClothReady); if it has a `Mesh3d`, Bevy's log says why the file is not loaded |
//! | its mesh cannot be cloth | log: "is not built: …"; [`BuildFailed`](crate::BuildFailed) has the reason | as it says: `RenderAssetUsages::MAIN_WORLD`, triangles, positions, no scale of 0 |
//! | there are no meshes in the app | log: "there are no meshes in this app" | `AssetPlugin` and `MeshPlugin`, as on a [server](super::performance) |
//! | all of it is pinned | log: "all … particles are pinned"; gizmos: a cross on each | paint less, or another [channel](super::characters) |
//! | time stands still | the panel's button says "Run" | [`ClothTime::paused`](crate::ClothTime::paused), or `Time<Virtual>` |
//! | it sleeps | figures: "asleep" | what should have woken it? See [`ClothSleeping`](crate::ClothSleeping) |
//! | it is culled or paused | [`ClothCulled`](crate::ClothCulled) or [`ClothPaused`](crate::ClothPaused) on its entity | larger distances in [`ClothLod`](crate::ClothLod), `cull_unseen: false`; take `ClothPaused` off |
//! | it may not leave its animation | "limits": small balls | a larger [`MaxDistance`](crate::MaxDistance); greys are darker in the file than they look |
//! | it is not drawn: no material, or seen from behind | gizmos show it | `MeshMaterial3d`, with `double_sided: true` and `cull_mode: None` |
//!
//! # My cloth falls through
//!
//! | cause | to be seen | what to do |
//! |---|---|---|
//! | what it should lie on has no [`ClothCollider`](crate::ClothCollider) | "colliders": nothing there | add one; a mesh that is merely drawn does not count |
//! | the collider is left out | log: "is left out" | lengths above 0, a finite transform |
//! | layers do not meet | the inspector, or your code | both [`ClothLayers`](crate::ClothLayers) must let the other in |
//! | a half-space is turned: it is solid *below* its xz plane | "colliders": the grid | turn its transform, or take away `.hollow()` |
//! | it began inside | it shoots out, or stays in | begin outside, or [`WarmUp`](crate::WarmUp) |
//! | it sinks into the body although it has a backstop | "normals": they point into the body; "limits": rings | turn the normals of the mesh round, away from the body |
//! | it is a body of a physics engine | the engine's own gizmos show it | the features `avian` and `rapier`, and [their plugins](super::collisions) |
//! | a coarse mesh on something pointed | "contacts": few crosses | a finer mesh, or more "thickness" |
//! | it goes through itself or other cloth | "contacts": no crosses between its layers | "self-collision" on both, see [collisions](super::collisions) |
//! | it falls at once: no pins | "pins": none | [`Pins`](crate::Pins) |
//!
//! # My cloth stretches
//!
//! "worst stretch" says how much, "wireframe" shows where, in red.
//!
//! | cause | what to do |
//! |---|---|
//! | the fabric gives: cotton, wool, polyester and rubber do | "warp" and "weft" higher, or a lower "strain limit" |
//! | "threads" is on relaxation | direct |
//! | "tether scale" is above 1, or it tears by load | 1 |
//! | too few substeps for so fine a mesh | "substeps" higher, or a coarser mesh |
//! | single red threads beside folds, in fine meshes (up to a fifth at 256 × 256 particles) | "substeps" higher, or a coarser mesh |
//! | a mesh without rows and columns | quads in a grid |
//! | a body of an engine that weighs a hundred times as much as it | a heavier fabric, more "substeps" |
//! | its pins are pulled apart | that is what happens then; move them less |
//! | the entity was scaled after it was built | [`ResetCloth`](crate::ResetCloth) reads the scale again |
//!
//! # My cloth jitters
//!
//! | cause | what to do |
//! |---|---|
//! | two colliders want it in different places | thinner capsules; [`MaxDistance`](crate::MaxDistance) there |
//! | it trembles from particle to particle | "bending damping" higher, "internal friction" higher |
//! | what holds it is moved in `FixedUpdate` now and in `Update` then | move it in one of them |
//! | a system of yours writes positions after `Collide` | between `Relax` and `Collide`, see [own code](super::own_code) |
//! | turbulence is too strong, or its eddies are smaller than the cloth's cells | "turbulence" lower, "eddy size" larger |
//! | it collides with itself, and layers of a coarse mesh are pressed together | a finer mesh |
//!
//! # My cloth explodes
//!
//! It should not. Look for what comes from outside.
//!
//! | cause | to be seen | what to do |
//! |---|---|---|
//! | numbers that are not finite | log: "met a position or force that is not a finite number" | look in your systems, and in the transforms of pins and colliders |
//! | forces that pile up | | `add_force` once a step, in `FixedUpdate`, not in [`ClothSubstep`](crate::ClothSubstep) |
//! | a teleport that nobody told of | it is whipped across the world | [`TeleportCloth`](crate::TeleportCloth), or [`WorldMotion::teleport_distance`](crate::WorldMotion::teleport_distance) |
//! | something was scaled by 100 by an exporter | "colliders": huge | apply scales in Blender |
//! | it began as a tangle that collides with itself | | `ParticlesAndEdges`, or a rest shape that has room |
//!
//! # My cloth lags behind the character
//!
//! Some of it is physics: air holds it back. Less "drag", a lower [`WorldMotion`](crate::WorldMotion) (`felt(0.3)`,
//! `max_speed`; in the panel "motion felt" and "turns felt"), a tighter [`MaxDistance`](crate::MaxDistance).
//!
//! If even pinned particles are behind, by a hand's breadth at a run: cloth is drawn between its last two steps, and
//! sees what is animated one frame late. Cloth that is worn is drawn where its wearer is all the same; it is worn if it
//! has [`WorldMotion`](crate::WorldMotion) (the default changes nothing else), [`MaxDistance`](crate::MaxDistance) or a
//! skeleton. A rope that only begins at a hand has none of these, or its far end would swing about with that.
//!
//! What is left are millimetres, where joints move against the one that holds most of the cloth. Let the collar of the
//! cape be under that of the coat, or be part of the body ([`ClothPart`](crate::ClothPart)).
//!
//! # My cloth looks faceted, or its light is wrong
//!
//! | cause | what to do |
//! |---|---|
//! | its normals are smooth, but its triangles are seen against the sky | a finer mesh, or a [`ClothProxy`](crate::ClothProxy) |
//! | the back is black or missing | `double_sided: true` and `cull_mode: None` in its material |
//! | hard edges are gone | cloth is smooth: vertices at one place share a normal |
//! | two sides lie in one place, back to back | they are one layer of particles with two normals; that is as it should be |
//! | a normal map looks wrong | the mesh needs tangents: `mesh.generate_tangents()`; `ClothGrid` has them |
//! | it is tinted | vertex colours that no cloth setting uses are colours, and drawn |
//! | it is dark or flickers in folds | shadow bias of the light; the back of thin cloth shadows itself |
//! | it is straight where it should be round | it is pinned there: "pins" |
//!
//! # My cloth costs too much
//!
//! "step time" and "particles" say what it is; [performance](super::performance) says what to do. More than 200 000
//! particles are told in the log.
//!
//! # The paint of my file is not found
//!
//! The log says which channel is missing, and what the mesh has: "its mesh has …", or "it has …".
//!
//! | it has | cause | what to do |
//! |---|---|---|
//! | nothing painted | Blender wrote no colours: no material uses them | *Vertex Colors: Active* in the export |
//! | vertex colours, all white: everything flies | another colour attribute was active, or all were exported and the first is a white dummy | make yours active and choose *Active* |
//! | no attribute of that name | its name has no underscore in Blender, *Attributes* is not ticked, or Bevy was not told | see [characters](super::characters) |
//! | no joint of that name | the skeleton of this mesh has no such bone: misspelt, or not exported | the log has the list; *Deform* on the bone |
//! | nothing in the log, and no cloth | *Custom Properties* was not ticked, or the feature `gltf` is off | tick it; look for `"extras"` in a `.gltf` |
//! | "is none that bevy_drape knows" | a property is misspelt | the log has the list |
