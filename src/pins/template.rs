//! Templates of components that refer to other entities of the same `bsn!` scene.
//!
//! All other components are their own templates, as they are `Default` and `Clone`.

use crate::pins::{Pin, PinAnchor, Pins};
use bevy::{
    ecs::template::{EntityTemplate, Template, TemplateContext},
    prelude::*,
};

/// Template of [`Pins`] anchored to named entities of the same scene.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{pins::PinsTemplate, prelude::*};
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
/// For several entities, take their names as `EntityTemplate` parameters of a function.
///
/// ```
/// # use bevy::{ecs::template::EntityTemplate, prelude::*};
/// # use bevy_drape::{pins::PinsTemplate, prelude::*};
/// fn line(left: EntityTemplate, right: EntityTemplate) -> PinsTemplate {
///     PinsTemplate::held_by(left, Pins::index(0)).and(PinsTemplate::held_by(right, Pins::index(31)))
/// }
/// ```
#[derive(Debug, Default)]
pub struct PinsTemplate {
    pins: Vec<(Pin, Option<EntityTemplate>)>,
}

impl PinsTemplate {
    /// Anchors all of these pins to an entity.
    pub fn held_by(entity: impl Into<EntityTemplate>, pins: Pins) -> Self {
        let entity = entity.into();
        let pins = pins.pins.into_iter().map(|pin| (pin, Some(entity)));
        Self {
            pins: pins.collect(),
        }
    }

    /// Combines these pins with others.
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
