//! Tearing and cutting.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes: [`Tearing`] on a cloth |
//! | `events` | what a game asks for ([`CutCloth`], [`TearThread`], [`ShredCloth`]) and hears of ([`ClothTorn`]) |
//! | `operate` | carries an operation out on everything that a cloth has |
//! | `requests` | does what the events ask for |
//! | `overload` | tears what carries too much |

mod events;
mod operate;
mod overload;
mod requests;

pub use events::{ClothTorn, CutCloth, ShredCloth, TearCause, TearThread, TornEdge};
pub(crate) use operate::Operate;
pub(crate) use overload::tear_overloaded;
pub(crate) use requests::{cut, shred, tear_thread};

use crate::solver::tear::TearLimit;
use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Lets a cloth tear where its threads carry too much. Without it, cloth only opens where it is cut.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, TearLimit, TearResistance};
/// # fn spawn(mut commands: Commands, sheet: Handle<Mesh>) {
/// commands.spawn((
///     Cloth::default(),
///     Mesh3d(sheet),
///     Tearing {
///         limit: TearLimit::Strain(0.6),
///         // A seam along x = 0 that gives way first.
///         resistance: TearResistance::by(|at| if at.x.abs() < 0.02 { 0.3 } else { 1.0 }),
///         ..default()
///     },
/// ));
/// # }
/// ```
///
/// A thread that breaks opens the cloth across itself, particle by particle, so that a tear runs on
/// while it is pulled. [`ClothTorn`] is triggered, and [`ResetCloth`](crate::ResetCloth) mends
/// everything.
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Tearing {
    /// What a thread can take: strain, or load in N per metre of cloth across it. Above 0; what is
    /// not counts as infinite. Default a load of 400 N/m.
    pub limit: TearLimit,
    /// Where it is weaker or stronger than that. Default the same everywhere.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "without_code"))]
    pub resistance: TearResistance,
    /// Most threads that break in one fixed step. Default 8.
    pub most_per_step: u32,
    /// Pieces with fewer triangles are not torn off. Cuts do not care. Default 8.
    pub least_piece: u32,
}

impl Default for Tearing {
    fn default() -> Self {
        Self {
            limit: TearLimit::Load(400.0),
            resistance: TearResistance::default(),
            most_per_step: 8,
            least_piece: 8,
        }
    }
}

impl Tearing {
    /// Tears at this strain: length over rest length, minus 1.
    /// Tethers ([`Cloth::tether_scale`](crate::Cloth::tether_scale)) spare the threads of a hanging cloth
    /// most of it; switch them off where its own weight is to tear it.
    pub fn at_strain(strain: f32) -> Self {
        Self {
            limit: TearLimit::Strain(strain),
            ..default()
        }
    }

    /// Whether loads have to be measured.
    pub(crate) fn by_load(&self) -> bool {
        matches!(self.limit, TearLimit::Load(_))
    }

    /// Tears at this load, in N per metre of cloth across the thread.
    pub fn at_load(load: f32) -> Self {
        Self {
            limit: TearLimit::Load(load),
            ..default()
        }
    }
}

/// Functions are code and cannot be saved; the other kinds of resistance can.
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

/// Share of the limit that a cloth can take at each of its particles.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum TearResistance {
    /// All of it everywhere.
    #[default]
    Uniform,
    /// The red channel of the mesh's vertex colours: 1 all of it, 0 nothing.
    VertexColour,
    /// What a function says. Being code, it is not saved with a scene.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Predicate(ResistanceFunction),
}

impl TearResistance {
    /// By the place of a particle in the mesh (mesh space, m).
    pub fn by(resistance: impl Fn(Vec3) -> f32 + Send + Sync + 'static) -> Self {
        Self::Predicate(ResistanceFunction(Arc::new(resistance)))
    }
}

/// Says by the place of a particle in the mesh (mesh space, m) what share of the limit it can take.
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
