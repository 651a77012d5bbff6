//! Building of cloths and ropes from their components, in the order in which the other modules add to a cloth, and
//! checking of settings.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | binds pins, wherever a cloth is built or its pins change |
//! | `from_mesh` | builds cloths as soon as their meshes are loaded |
//! | `from_rope` | builds ropes |
//! | `rebuild` | rebuilds cloths whose mesh was replaced or changed; restores the mesh when [`Cloth`](crate::cloth::Cloth) is removed |
//! | `reset` | returns a cloth to its untorn rest shape |
//! | `check_settings` | clamps settings to their allowed ranges, with a warning |
//! | `plugin` | registration |

pub(crate) mod check_settings;
pub(crate) mod from_mesh;
pub(crate) mod from_rope;
pub(crate) mod plugin;
pub(crate) mod rebuild;
pub(crate) mod reset;

use crate::{
    character::{
        reference_frame::{find_dominant_joint, implicitly_pinned},
        skin_weights::SkinWeights,
    },
    cloth::{components::ClothBody, particles::ClothParticles, tethers::StaleDistances},
    pins::{
        Pins,
        bind::{PinnedCloth, bind_pins},
    },
};
use bevy::prelude::*;

/// Query filter: cloths that wait for no preset to load.
#[cfg(feature = "presets")]
pub(crate) type PresetResolved = Without<crate::preset::AwaitsPreset>;
/// Query filter: cloths that wait for no preset to load, which are all.
#[cfg(not(feature = "presets"))]
pub(crate) type PresetResolved = ();

/// Resolves the pins of a cloth to particles, and records all that depends on them as outdated.
pub(crate) fn rebind_pins(
    entity: Entity,
    pins: &Pins,
    particles: &ClothParticles,
    body: &mut ClothBody,
) {
    body.bound_pins = pins.clone();
    body.tether_source.stale = StaleDistances::All;
    body.tracked_frame = None;
    let implicit: Vec<u32> = implicitly_pinned(body).collect();
    let mut bound = std::mem::take(&mut body.pins);
    let cloth = PinnedCloth {
        topology: &body.topology,
        torn: body.torn.as_deref(),
        is_rope: body.rope.is_some(),
        paint: &body.paint,
        joints: body.skin.as_ref().map(SkinWeights::as_joints),
        implicit: &implicit,
    };
    bind_pins(entity, pins, particles, &cloth, &mut bound);
    body.pins = bound;
    find_dominant_joint(body);
}
