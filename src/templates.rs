//! What `bsn!` needs for components that name other entities of the same scene.
//!
//! All other components are their own templates: they are `Default` and `Clone`.

use crate::{
    pins::{Pin, PinAnchor, Pins},
    world_motion::WorldMotion,
};
use bevy::{
    ecs::template::{EntityTemplate, Template, TemplateContext},
    prelude::*,
};

/// Makes [`Pins`] that are held by entities which the same scene names.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// fn hand_with_a_towel() -> impl Scene {
///     bsn! {
///         #Hand
///         Children [
///             (Cloth ~PinsTemplate::held_by(#Hand, Pins::edge(ClothEdge::Top))),
///         ]
///     }
/// }
/// ```
///
/// For several entities, let a function make the scene: it gets `EntityTemplate`s for their names.
///
/// ```
/// # use bevy::{ecs::template::EntityTemplate, prelude::*};
/// # use bevy_drape::{prelude::*, PinsTemplate};
/// fn line(left: EntityTemplate, right: EntityTemplate) -> PinsTemplate {
///     PinsTemplate::held_by(left, Pins::index(0)).and(PinsTemplate::held_by(right, Pins::index(31)))
/// }
/// ```
#[derive(Debug, Default)]
pub struct PinsTemplate {
    pins: Vec<(Pin, Option<EntityTemplate>)>,
}

impl PinsTemplate {
    /// All of these pins, held by this entity.
    pub fn held_by(entity: impl Into<EntityTemplate>, pins: Pins) -> Self {
        let entity = entity.into();
        let pins = pins.pins.into_iter().map(|pin| (pin, Some(entity)));
        Self {
            pins: pins.collect(),
        }
    }

    /// These and other pins.
    pub fn and(mut self, other: impl Into<Self>) -> Self {
        self.pins.extend(other.into().pins);
        self
    }
}

impl From<Pins> for PinsTemplate {
    fn from(pins: Pins) -> Self {
        let pins = pins.pins.into_iter().map(|pin| (pin, None));
        Self {
            pins: pins.collect(),
        }
    }
}

impl Template for PinsTemplate {
    type Output = Pins;

    fn build_template(&self, context: &mut TemplateContext) -> Result<Pins> {
        let pins = self.pins.iter().map(|(pin, entity)| {
            let anchor = match entity {
                Some(entity) => PinAnchor::Entity(entity.build_template(context)?),
                None => pin.anchor,
            };
            Ok(Pin {
                select: pin.select.clone(),
                anchor,
            })
        });
        Ok(Pins {
            pins: pins.collect::<Result<_>>()?,
        })
    }

    fn clone_template(&self) -> Self {
        Self {
            pins: self.pins.clone(),
        }
    }
}

/// Makes a [`WorldMotion`] whose frame is an entity which the same scene names:
/// `~WorldMotionTemplate::of(#Hero, WorldMotion::felt(0.5))` in `bsn!`.
#[derive(Debug, Default)]
pub struct WorldMotionTemplate {
    motion: WorldMotion,
    frame: Option<EntityTemplate>,
}

impl WorldMotionTemplate {
    /// This motion, with this entity for its frame.
    pub fn of(entity: impl Into<EntityTemplate>, motion: WorldMotion) -> Self {
        Self {
            motion,
            frame: Some(entity.into()),
        }
    }
}

impl Template for WorldMotionTemplate {
    type Output = WorldMotion;

    fn build_template(&self, context: &mut TemplateContext) -> Result<WorldMotion> {
        let frame = match &self.frame {
            Some(entity) => PinAnchor::Entity(entity.build_template(context)?),
            None => self.motion.frame,
        };
        Ok(WorldMotion {
            frame,
            ..self.motion.clone()
        })
    }

    fn clone_template(&self) -> Self {
        Self {
            motion: self.motion.clone(),
            frame: self.frame,
        }
    }
}
