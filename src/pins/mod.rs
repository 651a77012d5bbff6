//! Which particles of a cloth are held, and by what.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a user writes |
//! | `select` | which particles a selector means |
//! | `bound` | a pinned particle and where it must go |

mod bound;
mod select;

pub(crate) use bound::BoundPin;

use crate::paint::VertexChannel;
use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// Holds particles of a cloth.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # let hand = Entity::PLACEHOLDER;
/// let curtain = Pins::edge(ClothEdge::Top);
/// let flag = Pins::edge(ClothEdge::Left);
/// let cape = Pins::edge(ClothEdge::Top).to_entity(hand);
/// let sheet = Pins::corner(ClothCorner::TopLeft).and(Pins::index(17));
/// let line = Pins::ends().to_world();
/// let ring = Pins::predicate(|at| at.length() < 0.2);
/// ```
///
/// May be changed at any time: a particle that is newly pinned is held where it is, one that is no
/// longer pinned falls.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[component(map_entities)]
pub struct Pins {
    /// All pins. Where two hold the same particle, the first one does.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "without_predicates"))]
    pub pins: Vec<Pin>,
}

/// Particles and what holds them.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct Pin {
    /// Which particles.
    pub select: PinSelector,
    /// What holds them.
    pub anchor: PinAnchor,
}

/// What holds pinned particles.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PinAnchor {
    /// What the mesh follows: its skeleton, each particle by the joints that move its vertices, or the
    /// transform of the cloth's own entity if it has none.
    #[default]
    Cloth,
    /// Nothing that moves: they stay where they are in the world.
    World,
    /// The transform of another entity, such as a hand or a joint. If it is despawned, they stay.
    Entity(Entity),
}

/// Which particles are pinned. Sides and corners are those of the mesh's bounding box, seen from
/// the side the sheet is flat on: for an upright sheet top is +y and left −x, for a lying one top is
/// −z and left −x. Default the top left corner.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum PinSelector {
    /// The particle nearest to a corner.
    Corner(ClothCorner),
    /// All particles on a side (within 0.1 % of the size of the mesh).
    Edge(ClothEdge),
    /// The particle of this vertex of the mesh; of a [`Rope`](crate::Rope), the particle with this
    /// number along it, from 0.
    Index(u32),
    /// The particles of the first and the last vertex: the two ends of a [`Rope`](crate::Rope).
    Ends,
    /// All particles where something was painted.
    Painted {
        /// What was painted.
        channel: VertexChannel,
        /// They are held where there is more than this of it.
        above: f32,
    },
    /// All particles for which this is true.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Predicate(PinPredicate),
}

/// A corner of a sheet.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ClothCorner {
    #[default]
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

/// A side of a sheet.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[allow(missing_docs, reason = "the names say it all")]
pub enum ClothEdge {
    #[default]
    Top,
    Bottom,
    Left,
    Right,
}

/// Decides by the place of a particle in the mesh (mesh space, m) whether to pin it. Being code, it
/// is not saved with a scene. The default accepts nothing.
#[derive(Reflect, Clone)]
#[reflect(opaque, Default, Clone, Debug, PartialEq)]
pub struct PinPredicate(Arc<dyn Fn(Vec3) -> bool + Send + Sync>);

impl PinPredicate {
    /// Wraps a function.
    pub fn new(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(pins))
    }

    /// What it says of a place.
    pub(crate) fn accepts(&self, place: Vec3) -> bool {
        (self.0)(place)
    }
}

impl Default for PinPredicate {
    fn default() -> Self {
        Self::new(|_| false)
    }
}

impl fmt::Debug for PinPredicate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PinPredicate")
    }
}

impl PartialEq for PinPredicate {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Default for PinSelector {
    fn default() -> Self {
        Self::Corner(ClothCorner::default())
    }
}

impl Pins {
    /// Nothing is held.
    pub fn none() -> Self {
        Self::default()
    }

    /// One corner.
    pub fn corner(corner: ClothCorner) -> Self {
        Self::one(PinSelector::Corner(corner))
    }

    /// All four corners.
    pub fn corners() -> Self {
        Self::top_corners()
            .and(Self::corner(ClothCorner::BottomLeft))
            .and(Self::corner(ClothCorner::BottomRight))
    }

    /// The two upper corners.
    pub fn top_corners() -> Self {
        Self::corner(ClothCorner::TopLeft).and(Self::corner(ClothCorner::TopRight))
    }

    /// A whole side.
    pub fn edge(edge: ClothEdge) -> Self {
        Self::one(PinSelector::Edge(edge))
    }

    /// Both ends of a [`Rope`](crate::Rope).
    pub fn ends() -> Self {
        Self::one(PinSelector::Ends)
    }

    /// The particle of a vertex of the mesh, or with this number along a [`Rope`](crate::Rope).
    pub fn index(vertex: u32) -> Self {
        Self::one(PinSelector::Index(vertex))
    }

    /// Every particle where there is more than a half of what was painted: `Pins::painted(VertexChannel::Red)`
    /// or `Pins::painted(VertexChannel::attribute("Pinned"))`.
    pub fn painted(channel: VertexChannel) -> Self {
        Self::one(PinSelector::Painted {
            channel,
            above: 0.5,
        })
    }

    /// Every particle whose place in the mesh (mesh space, m) the function accepts.
    pub fn predicate(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self::one(PinSelector::Predicate(PinPredicate::new(pins)))
    }

    /// These and other pins.
    pub fn and(mut self, other: Self) -> Self {
        self.pins.extend(other.pins);
        self
    }

    /// All of these held by another entity.
    pub fn to_entity(self, entity: Entity) -> Self {
        self.held_by(PinAnchor::Entity(entity))
    }

    /// All of these held in place in the world.
    pub fn to_world(self) -> Self {
        self.held_by(PinAnchor::World)
    }

    fn held_by(mut self, anchor: PinAnchor) -> Self {
        self.pins.iter_mut().for_each(|pin| pin.anchor = anchor);
        self
    }

    fn one(select: PinSelector) -> Self {
        Self {
            pins: vec![Pin {
                select,
                anchor: PinAnchor::default(),
            }],
        }
    }
}

/// Being code, it is saved as nothing.
#[cfg(feature = "serialize")]
impl Serialize for PinPredicate {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_unit()
    }
}

/// And comes back as one that accepts nothing.
#[cfg(feature = "serialize")]
impl<'de> Deserialize<'de> for PinPredicate {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        <()>::deserialize(from)?;
        Ok(Self::default())
    }
}

/// Predicates are code and cannot be saved; the other pins can.
#[cfg(feature = "serialize")]
fn without_predicates<S: serde::Serializer>(pins: &[Pin], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(
        pins.iter()
            .filter(|pin| !matches!(pin.select, PinSelector::Predicate(_))),
    )
}

impl PinAnchor {
    /// The other entity, if it is one.
    pub(crate) fn entity(self) -> Option<Entity> {
        match self {
            Self::Entity(entity) => Some(entity),
            Self::Cloth | Self::World => None,
        }
    }
}

impl MapEntities for PinAnchor {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        if let Self::Entity(entity) = self {
            *entity = mapper.get_mapped(*entity);
        }
    }
}

impl MapEntities for Pins {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        for pin in &mut self.pins {
            pin.anchor.map_entities(mapper);
        }
    }
}
