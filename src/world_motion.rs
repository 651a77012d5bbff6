//! How much a cloth feels of the motion of what carries it.

use crate::{pins::PinAnchor, solver::Feeling};
use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// How much a cloth feels of the motion of its character, or of whatever carries it.
///
/// Cloth lives in the world and feels all of it: that is right for a flag on a car and too much for the
/// cape of a hero who turns on the spot. What it is not to feel, it is taken along with, without being
/// stretched or blown about.
///
/// Whatever it feels, cloth with this component is worn: it is drawn where what holds its pins is drawn (where its
/// frame is, if it has none), though steps lie up to a step and a frame before that. Cloth that follows a skeleton, or
/// has [`MaxDistance`](crate::MaxDistance), is worn, too. Other cloth is drawn where its steps have it in the world.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// commands.spawn((
///     Cloth::default(),
///     WorldMotion {
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
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[component(map_entities)]
pub struct WorldMotion {
    /// What moves it: its own transform, which is that of the character if it is a child of it, or another
    /// entity's. [`PinAnchor::World`] moves nothing. Default [`PinAnchor::Cloth`].
    pub frame: PinAnchor,
    /// Share of the frame's motion that is felt: 1 is all, as in the world, 0 nothing. 0 to 1, default 1.
    pub linear: f32,
    /// Share of its turns that is felt. 0 to 1, default 1.
    pub angular: f32,
    /// At most this much is felt, m/s: of the share above. 0 or more, default `None`: no limit.
    pub max_speed: Option<f32>,
    /// At most this much of its turns is felt, rad/s: of the share above. 0 or more, default `None`: no limit.
    pub max_turn: Option<f32>,
    /// A frame that moves by more at once has been teleported, m. Above 0, default `None`: never.
    pub teleport_distance: Option<f32>,
    /// A frame that turns by more at once has been teleported, rad. Above 0, default `None`: never.
    pub teleport_angle: Option<f32>,
    /// What a teleport does to the cloth. Default [`Teleport::Keep`].
    pub teleport: Teleport,
}

/// What a teleport does to a cloth.
#[derive(Reflect, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[reflect(Default, Clone, Debug, PartialEq, Hash)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub enum Teleport {
    /// It goes along as it is, and moves on as it did.
    #[default]
    Keep,
    /// It is reset to its rest shape, or to where its skeleton carries it, at rest.
    Reset,
}

impl Default for WorldMotion {
    fn default() -> Self {
        Self {
            frame: PinAnchor::Cloth,
            linear: 1.0,
            angular: 1.0,
            max_speed: None,
            max_turn: None,
            teleport_distance: None,
            teleport_angle: None,
            teleport: Teleport::Keep,
        }
    }
}

impl WorldMotion {
    /// Feels this share of both motion and turns.
    pub fn felt(share: f32) -> Self {
        Self {
            linear: share,
            angular: share,
            ..default()
        }
    }

    /// What moves a cloth, if anything does.
    pub(crate) fn frame_of(&self, cloth: Entity) -> Option<Entity> {
        match self.frame {
            PinAnchor::Cloth => Some(cloth),
            PinAnchor::World => None,
            PinAnchor::Entity(other) => Some(other),
        }
    }

    pub(crate) fn feeling(&self) -> Feeling {
        // A share that is no number is none that was wanted.
        let share = |share: f32| if share.is_nan() { 1.0 } else { share };
        Feeling {
            linear: share(self.linear),
            angular: share(self.angular),
            max_speed: self.max_speed.unwrap_or(f32::INFINITY),
            max_turn: self.max_turn.unwrap_or(f32::INFINITY),
        }
    }

    /// Whether it finds teleports by itself.
    pub(crate) fn detects_teleports(&self) -> bool {
        self.teleport_distance.is_some() || self.teleport_angle.is_some()
    }

    /// Whether going so far, m, and turning by so much, rad, at once is a teleport.
    pub(crate) fn is_teleport(&self, distance: f32, angle: f32) -> bool {
        let exceeds = |way: f32, limit: Option<f32>| limit.is_some_and(|limit| way > limit);
        exceeds(distance, self.teleport_distance) || exceeds(angle, self.teleport_angle)
    }
}

impl MapEntities for WorldMotion {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.frame.map_entities(mapper);
    }
}

/// Trigger it when you teleport what carries a cloth, with the new [`Transform`] already written: the cloth
/// goes along at once instead of being dragged there.
/// `commands.trigger(TeleportCloth { entity, how: Teleport::Keep })`.
///
/// A cloth with [`WorldMotion`] goes with its frame, another with its own transform.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct TeleportCloth {
    /// The cloth.
    pub entity: Entity,
    /// What it does to the cloth.
    pub how: Teleport,
}
