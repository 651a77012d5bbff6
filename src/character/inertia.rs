//! Inertia of cloth: the fraction of its reference frame's motion that acts on it.

use crate::{pins::PinAnchor, solver::InertiaScale};
use bevy::{
    ecs::{
        entity::{EntityMapper, MapEntities},
        template::{EntityTemplate, Template, TemplateContext},
    },
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Inertia settings of a cloth: the fraction of the motion of its character, or another reference frame, that acts
/// on it.
///
/// Cloth is simulated in world space and feels the full motion: right for a flag on a car, too much for the cape
/// of a hero who turns on the spot. The remaining fraction moves the cloth rigidly with its frame, without
/// stretching it or causing air drag.
///
/// Independent of its settings, this component makes cloth render relative to the current transform of its
/// reference entity (the anchor of its pins, or the frame if it has no pins), although simulation steps lag by up
/// to a step and a frame. The same holds for cloth that follows a skeleton (near its animated position, with
/// all of its joints) or has [`ClothMaxDistance`](crate::character::ClothMaxDistance). Other cloth is rendered at its
/// simulated position in the world.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{character::ClothInertia, prelude::*};
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     ClothInertia {
///         linear: 0.5,
///         angular: 0.3,
///         max_speed: Some(6.0),
///         teleport_distance: Some(3.0),
///         ..default()
///     },
/// ));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[component(map_entities)]
pub struct ClothInertia {
    /// Reference frame: its own transform, which includes that of a parent character, or another entity's.
    /// [`PinAnchor::World`] does not move. Default [`PinAnchor::Cloth`].
    pub frame: PinAnchor,
    /// Fraction of the frame's translation that acts on the cloth: 1 is all, as in the world, 0 none. 0 to 1,
    /// default 1.
    pub linear: f32,
    /// Fraction of the frame's rotation that acts on the cloth. 0 to 1, default 1.
    pub angular: f32,
    /// Upper limit of the linear velocity that acts on the cloth after scaling, m/s. 0 or more, default `None`: no
    /// limit.
    pub max_speed: Option<f32>,
    /// Upper limit of the angular velocity that acts on the cloth after scaling, rad/s. 0 or more, default `None`:
    /// no limit.
    pub max_angular_speed: Option<f32>,
    /// A larger displacement of the frame in one update counts as a teleport, m. Above 0, default `None`: never.
    pub teleport_distance: Option<f32>,
    /// A larger rotation of the frame in one update counts as a teleport, rad. Above 0, default `None`: never.
    pub teleport_angle: Option<f32>,
    /// Effect of a teleport on the cloth. Default [`Teleport::Keep`].
    pub teleport: Teleport,
}

/// Effect of a teleport on a cloth.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub enum Teleport {
    /// Moves the cloth rigidly with the frame, and keeps its relative velocity.
    #[default]
    Keep,
    /// Resets the cloth to its rest shape, or to its skinned positions, without velocity.
    Reset,
}

impl Default for ClothInertia {
    fn default() -> Self {
        Self {
            frame: PinAnchor::Cloth,
            linear: 1.0,
            angular: 1.0,
            max_speed: None,
            max_angular_speed: None,
            teleport_distance: None,
            teleport_angle: None,
            teleport: Teleport::Keep,
        }
    }
}

impl ClothInertia {
    /// Sets the same fraction for translation and rotation.
    pub fn uniform(fraction: f32) -> Self {
        Self {
            linear: fraction,
            angular: fraction,
            ..default()
        }
    }

    /// Returns the frame entity of a cloth, if it has one.
    pub(crate) fn frame_of(&self, cloth: Entity) -> Option<Entity> {
        self.frame.entity_of(cloth)
    }

    pub(crate) fn inertia_scale(&self) -> InertiaScale {
        // NaN counts as the default of 1.
        let fraction = |value: f32| if value.is_nan() { 1.0 } else { value };
        InertiaScale {
            linear: fraction(self.linear),
            angular: fraction(self.angular),
            max_speed: self.max_speed.unwrap_or(f32::INFINITY),
            max_angular_speed: self.max_angular_speed.unwrap_or(f32::INFINITY),
        }
    }

    /// Returns whether teleports are detected automatically.
    pub(crate) fn detects_teleports(&self) -> bool {
        self.teleport_distance.is_some() || self.teleport_angle.is_some()
    }

    /// Returns whether a displacement, m, and a rotation, rad, in one update count as a teleport.
    pub(crate) fn is_teleport(&self, distance: f32, angle: f32) -> bool {
        let exceeds = |value: f32, limit: Option<f32>| limit.is_some_and(|limit| value > limit);
        exceeds(distance, self.teleport_distance) || exceeds(angle, self.teleport_angle)
    }
}

impl MapEntities for ClothInertia {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.frame.map_entities(mapper);
    }
}

/// Event that teleports a cloth; write the new [`Transform`] of its frame before triggering it. The cloth moves
/// along at once instead of being dragged there.
///
/// A cloth with [`ClothInertia`] moves with its frame, others with their own transform.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct TeleportCloth {
    /// The cloth.
    pub entity: Entity,
    /// Effect on the cloth.
    pub how: Teleport,
}

/// Template of a [`ClothInertia`] with a named entity of the same scene as its frame:
/// `~ClothInertiaTemplate::of(#Hero, ClothInertia::uniform(0.5))` in `bsn!`.
#[derive(Debug, Default)]
pub struct ClothInertiaTemplate {
    inertia: ClothInertia,
    frame: Option<EntityTemplate>,
}

impl ClothInertiaTemplate {
    /// Uses an entity as the frame of these settings.
    pub fn of(entity: impl Into<EntityTemplate>, inertia: ClothInertia) -> Self {
        Self {
            inertia,
            frame: Some(entity.into()),
        }
    }
}

impl Template for ClothInertiaTemplate {
    type Output = ClothInertia;

    fn build_template(&self, context: &mut TemplateContext) -> Result<ClothInertia> {
        let frame = match &self.frame {
            Some(entity) => PinAnchor::Entity(entity.build_template(context)?),
            None => self.inertia.frame,
        };
        Ok(ClothInertia {
            frame,
            ..self.inertia.clone()
        })
    }

    fn clone_template(&self) -> Self {
        Self {
            inertia: self.inertia.clone(),
            frame: self.frame,
        }
    }
}
