//! Building of cloths and ropes from their components, in the order in which the other modules add to a cloth, and
//! checking of settings.
//!
//! | file | contents |
//! |---|---|
//! | `components` | all components that building adds |
//! | `from_mesh` | builds cloths as soon as their meshes are loaded, in the background or at once |
//! | `assemble` | builds a cloth from owned inputs |
//! | `select_part` | reads the part of a mesh that becomes cloth |
//! | `shared` | shapes that cloths of equal meshes share |
//! | `from_rope` | builds ropes |
//! | `rebuild` | rebuilds cloths whose mesh was replaced or changed; restores the mesh when [`Cloth`](crate::cloth::Cloth) is removed |
//! | `reset` | returns a cloth to its untorn rest shape |
//! | `check_settings` | clamps settings to their allowed ranges, with a warning |
//! | `check_tear_limit` | tells if weight and wind are about to tear a cloth |
//! | `check_target` | tells of components and events on entities that are no cloth |
//! | `plugin` | registration |

mod assemble;
pub(crate) mod check_settings;
mod check_target;
mod check_tear_limit;
mod components;
pub(crate) mod from_mesh;
pub(crate) mod from_rope;
pub(crate) mod plugin;
pub(crate) mod rebuild;
pub(crate) mod reset;
mod select_part;
mod shared;

#[cfg(feature = "presets")]
use bevy::prelude::*;

/// Marks cloths that are not built yet because their preset is still being loaded.
#[cfg(feature = "presets")]
#[derive(Component, Clone)]
pub(crate) struct AwaitsPreset;

/// Query filter: cloths that wait for no preset to load.
#[cfg(feature = "presets")]
pub(crate) type PresetResolved = Without<AwaitsPreset>;
/// Query filter: cloths that wait for no preset to load, which are all.
#[cfg(not(feature = "presets"))]
pub(crate) type PresetResolved = ();
