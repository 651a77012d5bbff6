//! Events that cut and tear cloths, and the event that reports it.

use crate::solver::topology::Blade;
use bevy::prelude::*;

/// Cuts a cloth along a blade when triggered. See also [`cut_segment`](crate::ClothCommands::cut_segment). A
/// moving sword triggers one per frame, with the position of its edge in the last frame and now:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::tearing::{Blade, CutCloth};
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
    /// The area swept by the blade, in world space.
    pub blade: Blade,
    /// The entity that cuts. A cut continues where the last one of the same entity ended, so that a stroke in many
    /// parts leaves no bridges.
    pub by: Option<Entity>,
}

/// Breaks the edge between two particles of a cloth when triggered. See also
/// [`tear_edge`](crate::ClothCommands::tear_edge). Has no effect if the particles do not share an edge.
#[derive(EntityEvent, Clone, Debug)]
pub struct TearEdge {
    /// The cloth.
    pub entity: Entity,
    /// The particles at the ends of the edge.
    pub edge: [u32; 2],
}

/// Breaks all structural edges of a cloth within a ball when triggered, down to single grid cells. See also
/// [`shred`](crate::ClothCommands::shred).
#[derive(EntityEvent, Clone, Debug)]
pub struct ShredCloth {
    /// The cloth.
    pub entity: Entity,
    /// Centre of the ball, in world space, m.
    pub centre: Vec3,
    /// Radius of the ball, m.
    pub radius: f32,
}

/// Triggered on the entity when its cloth has torn or was cut.
#[derive(EntityEvent, Clone, Debug)]
pub struct ClothTorn {
    /// The cloth.
    pub entity: Entity,
    /// Cause of the tear.
    pub cause: TearCause,
    /// The edges that broke or opened, at least one.
    pub edges: Vec<TornEdge>,
}

/// Cause of a tear.
#[derive(Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Clone, Debug, PartialEq)]
pub enum TearCause {
    /// The load exceeded the limit.
    Overload,
    /// A blade.
    Cut,
    /// [`TearEdge`] or [`ShredCloth`].
    Broken,
}

/// Edge that broke or opened.
#[derive(Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Clone, Debug, PartialEq)]
pub struct TornEdge {
    /// The particles at its ends, by their numbers before the tear. Where a particle was duplicated, one of the
    /// copies has kept the number.
    pub particles: [u32; 2],
    /// Midpoint of the edge, in world space, m.
    pub position: Vec3,
}
