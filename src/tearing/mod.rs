//! Tearing and cutting.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`ClothTearing`], the component that lets a cloth tear |
//! | `events` | events: [`CutCloth`], [`TearEdge`], [`ShredCloth`], [`ClothTorn`] |
//! | `apply_edit` | applies a topology edit to all components of a cloth |
//! | `progress` | strokes that cut a cloth, and its resistance to tears |
//! | `requests` | observers of the events |
//! | `overload` | breaks overloaded edges |
//! | `plugin` | registration |

mod apply_edit;
mod events;
mod overload;
pub(crate) mod plugin;
mod progress;
mod requests;

pub use crate::solver::topology::{Blade, TearLimit};

pub(crate) use apply_edit::TopologyEditor;
pub use events::{ClothTorn, CutCloth, ShredCloth, TearCause, TearEdge, TornEdge};
pub(crate) use progress::{CutEnd, TearProgress};

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Lets a cloth tear where its edges are overloaded. Without it, a cloth opens only where it is cut.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, tearing::{TearLimit, TearResistance}};
/// # fn spawn(mut commands: Commands, sheet: Handle<Mesh>) {
/// commands.spawn((
///     Cloth::default(),
///     Mesh3d(sheet),
///     ClothTearing {
///         limit: TearLimit::Strain(0.6),
///         // A weak seam along x = 0.
///         resistance: TearResistance::by(|at| if at.x.abs() < 0.02 { 0.3 } else { 1.0 }),
///         ..default()
///     },
/// ));
/// # }
/// ```
///
/// A broken edge opens the cloth across itself, particle by particle, so that a tear propagates while the cloth is
/// pulled. [`ClothTorn`] is triggered; [`ResetCloth`](crate::cloth::ResetCloth) restores the intact cloth.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothTearing {
    /// Limit beyond which an edge breaks: strain, or load in N per metre of cloth across it. Above 0; other values
    /// count as infinite. Defaults to a load of 400 N/m, which a person's pull or a storm brings about in cloth of some
    /// metres; if the weight of the cloth or the wind exceed it from the start, a warning says so.
    pub limit: TearLimit,
    /// Fraction of the limit that each part of the cloth withstands. Defaults to the same everywhere.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "without_code"))]
    pub resistance: TearResistance,
    /// Largest number of edges that break in one fixed step. Defaults to 8.
    pub most_per_step: u32,
    /// Smallest piece that may be torn off, in triangles. Does not apply to cuts. Defaults to 8.
    pub least_piece: u32,
}

impl Default for ClothTearing {
    fn default() -> Self {
        Self {
            limit: TearLimit::Load(400.0),
            resistance: TearResistance::default(),
            most_per_step: 8,
            least_piece: 8,
        }
    }
}

impl ClothTearing {
    /// Tears at this strain: length over rest length, minus 1. Tethers
    /// ([`Cloth::tether_scale`](crate::cloth::Cloth::tether_scale)) take most of the load off the edges of a hanging
    /// cloth; switch them off if it should tear under its own weight.
    pub fn at_strain(strain: f32) -> Self {
        Self {
            limit: TearLimit::Strain(strain),
            ..default()
        }
    }

    /// Returns whether loads must be measured.
    pub(crate) fn by_load(&self) -> bool {
        matches!(self.limit, TearLimit::Load(_))
    }

    /// Tears at this load, in N per metre of cloth across the edge.
    pub fn at_load(load: f32) -> Self {
        Self {
            limit: TearLimit::Load(load),
            ..default()
        }
    }
}

/// Saves a function as [`TearResistance::Uniform`], as code cannot be saved.
#[cfg(feature = "serialize")]
fn without_code<S: serde::Serializer>(
    resistance: &TearResistance,
    to: S,
) -> Result<S::Ok, S::Error> {
    match resistance {
        TearResistance::Predicate(_) => TearResistance::Uniform.serialize(to),
        other => other.serialize(to),
    }
}

/// Fraction of the tear limit that a cloth withstands at each of its particles.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum TearResistance {
    /// 1 everywhere.
    #[default]
    Uniform,
    /// The red channel of the mesh's vertex colours, 0 to 1.
    VertexColour,
    /// The value of a function. It is code, so it is not saved with a scene.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Predicate(ResistanceFunction),
}

impl TearResistance {
    /// Sets the resistance as a function of the position in the mesh (mesh space, m).
    pub fn by(resistance: impl Fn(Vec3) -> f32 + Send + Sync + 'static) -> Self {
        Self::Predicate(ResistanceFunction(Arc::new(resistance)))
    }
}

/// Function from the position in the mesh (mesh space, m) to the fraction of the tear limit withstood there.
#[derive(Reflect, Clone)]
#[reflect(opaque, Clone, Debug, PartialEq)]
pub struct ResistanceFunction(Arc<dyn Fn(Vec3) -> f32 + Send + Sync>);

impl fmt::Debug for ResistanceFunction {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("ResistanceFunction")
    }
}

impl PartialEq for ResistanceFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
