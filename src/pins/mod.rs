//! Pins: kinematic particles of a cloth and the anchors that move them.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | components and types for users |
//! | `template` | [`PinsTemplate`], for pins in `bsn!` scenes |
//! | `select` | resolves selectors to particles |
//! | `bound_pin` | pinned particles of a cloth, with their positions in the frames of their anchors |
//! | `bind` | resolves the pins of a cloth when it is built and when they change |
//! | `plugin` | registration; makes pins a required component of cloth |

pub(crate) mod bind;
mod bound_pin;
pub(crate) mod plugin;
mod select;
pub(crate) mod template;

pub use crate::mesh::paint::PinPredicate;
pub use template::PinsTemplate;

use crate::mesh::paint::VertexChannel;
use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
pub(crate) use bound_pin::{BoundPin, BoundPins};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Pinned particles of a cloth: they follow an anchor instead of the simulation.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{pins::ClothCorner, prelude::*};
/// # let hand = Entity::PLACEHOLDER;
/// let curtain = Pins::edge(ClothEdge::Top);
/// let flag = Pins::edge(ClothEdge::Left);
/// let cape = Pins::edge(ClothEdge::Top).to_entity(hand);
/// let sheet = Pins::corner(ClothCorner::TopLeft).and(Pins::index(17));
/// let line = Pins::ends().to_world();
/// let ring = Pins::predicate(|at| at.length() < 0.2);
/// ```
///
/// Can be changed at any time: newly pinned particles keep their current position, released ones fall.
#[derive(Component, Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[component(map_entities)]
pub struct Pins {
    /// All pins. If several select the same particle, the first one applies.
    #[cfg_attr(feature = "serialize", serde(serialize_with = "without_predicates"))]
    pub pins: Vec<Pin>,
}

/// Selection of particles with their anchor.
#[derive(Reflect, Clone, Debug, Default, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct Pin {
    /// Selected particles.
    pub select: PinSelector,
    /// Anchor of the particles.
    pub anchor: PinAnchor,
}

/// Frame that pinned particles follow.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum PinAnchor {
    /// Skeleton of the mesh, with the skin weights of each particle, or the transform of the cloth's own entity if
    /// it has no skeleton.
    #[default]
    Cloth,
    /// World: the particles do not move.
    World,
    /// Transform of another entity, such as a hand or a joint. The particles stop where they are when it is
    /// despawned.
    Entity(Entity),
}

/// Selects the particles to pin. Edges and corners are those of the mesh's bounding box, seen along its shortest
/// axis: for an upright cloth top is +y and left −x, for a horizontal one top is −z and left −x. Default: the top
/// left corner.
#[derive(Reflect, Clone, Debug, PartialEq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum PinSelector {
    /// Particle nearest to a corner.
    Corner(ClothCorner),
    /// All particles on a side of the bounding box, within 0.1 % of its size.
    Edge(ClothEdge),
    /// Particle of this vertex of the mesh; for a `Rope`, the particle with this index along it, from 0.
    Index(u32),
    /// Particles of the first and the last vertex: the two ends of a `Rope`.
    Ends,
    /// All particles above a threshold of a painted channel.
    Painted {
        /// Painted channel.
        channel: VertexChannel,
        /// Threshold: particles with more than this are pinned.
        above: f32,
    },
    /// All particles that a predicate accepts.
    #[cfg_attr(feature = "serialize", serde(skip))]
    Predicate(PinPredicate),
}

/// Corner of a cloth.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[allow(missing_docs, reason = "self-explanatory names")]
pub enum ClothCorner {
    #[default]
    TopLeft,
    TopRight,
    BottomLeft,
    BottomRight,
}

/// Side of a cloth.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[allow(missing_docs, reason = "self-explanatory names")]
pub enum ClothEdge {
    #[default]
    Top,
    Bottom,
    Left,
    Right,
}

impl Default for PinSelector {
    fn default() -> Self {
        Self::Corner(ClothCorner::default())
    }
}

impl Pins {
    /// Pins nothing.
    pub fn none() -> Self {
        Self::default()
    }

    /// Pins one corner.
    pub fn corner(corner: ClothCorner) -> Self {
        Self::one(PinSelector::Corner(corner))
    }

    /// Pins all four corners.
    pub fn corners() -> Self {
        Self::top_corners()
            .and(Self::corner(ClothCorner::BottomLeft))
            .and(Self::corner(ClothCorner::BottomRight))
    }

    /// Pins the two upper corners.
    pub fn top_corners() -> Self {
        Self::corner(ClothCorner::TopLeft).and(Self::corner(ClothCorner::TopRight))
    }

    /// Pins a whole side.
    pub fn edge(edge: ClothEdge) -> Self {
        Self::one(PinSelector::Edge(edge))
    }

    /// Pins both ends of a `Rope`.
    pub fn ends() -> Self {
        Self::one(PinSelector::Ends)
    }

    /// Pins the particle of a vertex of the mesh, or with this index along a `Rope`.
    pub fn index(vertex: u32) -> Self {
        Self::one(PinSelector::Index(vertex))
    }

    /// Pins all particles with more than 0.5 of a painted channel: `Pins::painted(VertexChannel::Red)` or
    /// `Pins::painted(VertexChannel::attribute("Pinned"))`.
    pub fn painted(channel: VertexChannel) -> Self {
        Self::one(PinSelector::Painted {
            channel,
            above: 0.5,
        })
    }

    /// Pins all particles whose position in the mesh (mesh space, m) the function accepts.
    pub fn predicate(pins: impl Fn(Vec3) -> bool + Send + Sync + 'static) -> Self {
        Self::one(PinSelector::Predicate(PinPredicate::new(pins)))
    }

    /// Combines these pins with others.
    pub fn and(mut self, other: Self) -> Self {
        self.pins.extend(other.pins);
        self
    }

    /// Anchors all of these pins to another entity.
    pub fn to_entity(self, entity: Entity) -> Self {
        self.with_anchor(PinAnchor::Entity(entity))
    }

    /// Anchors all of these pins to the world.
    pub fn to_world(self) -> Self {
        self.with_anchor(PinAnchor::World)
    }

    fn with_anchor(mut self, anchor: PinAnchor) -> Self {
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

/// Serializes all pins but predicates, which are closures.
#[cfg(feature = "serialize")]
fn without_predicates<S: serde::Serializer>(pins: &[Pin], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(
        pins.iter()
            .filter(|pin| !matches!(pin.select, PinSelector::Predicate(_))),
    )
}

impl PinAnchor {
    /// Returns the anchor entity, if there is one.
    pub(crate) fn entity(self) -> Option<Entity> {
        match self {
            Self::Entity(entity) => Some(entity),
            Self::Cloth | Self::World => None,
        }
    }

    /// Returns the entity whose transform it is, given the entity of the cloth; `None` for the world.
    pub(crate) fn entity_of(self, cloth: Entity) -> Option<Entity> {
        match self {
            Self::Cloth => Some(cloth),
            other => other.entity(),
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
