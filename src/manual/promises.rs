//! Promises of bevy_drape: what never happens, what is clamped, what is told, and how each is tested.
//!
//! Games have bugs: a velocity divided by a frame time of 0, an anchor that was despawned, a mesh with a broken vertex, a save
//! game cut off in the middle. Cloth must not make them worse.
//!
//! # What never happens
//!
//! | promise | test |
//! |---|---|
//! | No component, resource, event, mesh, transform or file makes a system panic. | random worlds, damaged files |
//! | Positions, velocities, bounds and everything drawn are finite, and drawn normals and tangents are unit vectors to a thousandth. | random worlds, after every update |
//! | No particle is farther than 16 777 km from the origin of its cloth, nor the origin from that of the world: beyond that, `f32` is coarser than a metre. | random worlds, `extremes` |
//! | A step that goes wrong is undone: a cloth with a number that is not finite returns to its last valid state. | `bad_input` |
//! | No entity or component is lost that was not removed. | random worlds |
//! | Cloth that interacts with nothing keeps its bits, whatever becomes of others. | random worlds, beside a world without the others. [`ClothLod`](crate::lod::ClothLod) and [`ClothBudget`](crate::lod::ClothBudget) are for all cloths, so they are an exception |
//! | No number makes a step cost more than 20 times the usual one per particle. A step takes at most 160 relaxation iterations in all its substeps. | random worlds, counted in iterations, particles and pairs in contact |
//! | Cuts and tears keep mass and area to 1e-4. | `tears`: random cuts of random meshes |
//! | Nothing is kept of cloth that is despawned. | `memory`: 1,000 sheets, ropes, proxies, colliders and zones |
//! | Nothing drifts: memory, rest lengths, origins, clocks, energy. | `soak`: a simulated day |
//! | Cloth that starts without crossings has none later: see [collisions](super::collisions). Moving it fast is allowed; shaking it at 20 m/s for a minute can still break this. | `validate --only cross` |
//! | Equal input gives equal bits on any number of threads. | `determinism`, `golden`, random worlds on 1, 2 and 7 |
//! | The work-sharing code has no data race. | `loom`: the code itself, run in all orders of its threads with few preemptions |
//!
//! # What is clamped or left out
//!
//! | input | effect |
//! |---|---|
//! | a number outside of its range | the nearest one in range, written back to the component; NaN becomes the default. [`params`](crate::params) lists ranges |
//! | a transform that is not finite, has a scale of 0, below 1e-12 or above 1e12, or lies beyond 16 777 km | the cloth is not built or reset; a running cloth goes on, its mesh stays as it was drawn last |
//! | more than 160 iterations in all substeps of a step | only as many are taken; numbers of substeps that follow from speeds are limited likewise |
//! | a [`ClothWarmUp`](crate::cloth::ClothWarmUp) of more than 1000 steps, or 8 million divided by the number of particles | only as many are taken, in one frame of about a second |
//! | a normal or tangent that is not of unit length | it is normalized; without direction, it points upwards |
//! | a vertex that is not finite or beyond 16 777 km | in a triangle: the mesh is refused. In no triangle: it is moved to the origin of the mesh |
//! | pins on an anchor that does not exist or is not finite | they stay where they were |
//! | a collider or wind zone that is not finite | it is ignored |
//! | a damaged snapshot or preset | it is refused, and nothing is changed |
//! | a frame of several steps | all are taken: Bevy's `Time<Virtual>::max_delta` limits how many |
//!
//! # What is told
//!
//! Each of these is logged once, with the name and the id of the entity, the cause and the remedy. Whatever was written and has
//! no effect is told too: components and events without a cloth, pins that select nothing, proxies that follow nothing.
//! Silence means that everything is in use. Not an effect, and not told: a grab with nothing in reach.
//!
//! # How it is tested
//!
//! - **Random worlds** (`tests/app/worlds`): cloths, ropes, proxies, characters, colliders and bodies of both engines with random edits of
//!   all that is public, one number in five hostile. All promises above are checked after each update. CI runs a few;
//!   `BEVY_DRAPE_WORLDS=5000 BEVY_DRAPE_WORLD_SEED=1` before the test command of the README as many as you like. A world that fails
//!   is reduced to the few edits that matter.
//! - **Damaged files** (`tests/app/damaged_files.rs`): bytes flipped, cut out, repeated and replaced in snapshots (JSON,
//!   RON and CBOR), presets, scenes, custom properties of glTF and components, with lists of 2⁶⁰ elements among them.
//!   `BEVY_DRAPE_FILES` sets their number.
//! - **Soak** (`cargo run --release --example soak --features avian,rapier`): a flag in gusts, a cape on a running figure, a
//!   sheet that falls asleep and is woken, ropes, tears and resets, nets with bodies of both engines, for as many simulated
//!   hours as you like; 24 take an hour. CI runs two minutes.
//! - **Loom** (`tests/loom`): compiles the work-sharing code of the solver against
//!   [loom](https://docs.rs/loom)'s atomics and locks.
