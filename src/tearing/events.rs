//! What a game asks for, and what it hears of.

use crate::solver::tear::Blade;
use bevy::prelude::*;

/// Trigger it to cut a cloth along a blade, or use
/// [`cut_segment`](crate::ClothCommands::cut_segment). A sword that moves triggers one in each frame,
/// with its edge in the last frame and now:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{Blade, CutCloth};
/// # fn swing(mut commands: Commands, cloth: Entity, sword: Entity, before: [Vec3; 2], now: [Vec3; 2]) {
/// commands.trigger(CutCloth {
///     entity: cloth,
///     blade: Blade { from: before, to: now },
///     by: Some(sword),
/// });
/// # }
/// ```
#[derive(EntityEvent, Clone, Debug)]
pub struct CutCloth {
    /// The cloth.
    pub entity: Entity,
    /// The area that the blade sweeps, in the world.
    pub blade: Blade,
    /// Who cuts. The cut goes on where the last one of the same entity ended, so that a stroke in
    /// many parts leaves no bridges.
    pub by: Option<Entity>,
}

/// Trigger it to break the thread between two particles of a cloth, or use
/// [`tear_edge`](crate::ClothCommands::tear_edge). Particles that are not the ends of an edge do
/// nothing.
#[derive(EntityEvent, Clone, Debug)]
pub struct TearThread {
    /// The cloth.
    pub entity: Entity,
    /// The particles at its ends.
    pub thread: [u32; 2],
}

/// Trigger it to break all threads of a cloth within a ball, or use
/// [`shred`](crate::ClothCommands::shred). What is left there are single cells.
#[derive(EntityEvent, Clone, Debug)]
pub struct ShredCloth {
    /// The cloth.
    pub entity: Entity,
    /// The middle of the ball, in the world, m.
    pub centre: Vec3,
    /// Its radius, m.
    pub radius: f32,
}

/// Triggered on the entity when its cloth has torn or was cut.
#[derive(EntityEvent, Clone, Debug)]
pub struct ClothTorn {
    /// The cloth.
    pub entity: Entity,
    /// Why.
    pub cause: TearCause,
    /// The threads that broke or edges that opened, at least one.
    pub edges: Vec<TornEdge>,
}

/// Why a cloth opened.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Clone, Debug, PartialEq)]
pub enum TearCause {
    /// It carried too much.
    Overload,
    /// A blade went through it.
    Cut,
    /// A thread was broken, or many in a ball.
    Broken,
}

/// Where a cloth opened.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
pub struct TornEdge {
    /// The particles at its ends, by the numbers that they had before. Of the particle at which it
    /// parted, one side has kept the number.
    pub particles: [u32; 2],
    /// Its middle, in the world, m.
    pub position: Vec3,
}
