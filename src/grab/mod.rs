//! Grabs points of a cloth from code, for a mouse, a finger or a character's hand.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | events, and the component with the active grabs |
//! | `systems` | observers that begin, move and end grabs; grab constraints in the substep |
//! | `plugin` | registration |

pub(crate) mod plugin;
mod systems;

pub(crate) use systems::release_all;

use crate::solver::{
    constraints::grab::{GrabPoint, GrabSettings},
    topology::TopologyChanges,
};
use bevy::prelude::*;

/// Event that grabs a cloth; [`grab`](crate::ClothCommands::grab) is the short form. [`DragCloth`] then moves the
/// grab and [`ReleaseCloth`] ends it. A cloth can have several grabs.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::grab::GrabCloth;
/// # fn reach(mut commands: Commands, curtain: Entity, hand: Entity, point: Vec3) {
/// commands.trigger(GrabCloth::new(curtain, hand, point));
/// # }
/// ```
#[derive(EntityEvent, Clone, Debug)]
pub struct GrabCloth {
    /// The cloth.
    pub entity: Entity,
    /// Entity that grabs, such as a hand or a pointer: at most one grab per cloth, a new one replaces the old one.
    /// The grab ends when the entity is despawned.
    pub by: Entity,
    /// Point of the world to grab at, m: the nearest point of the cloth is taken.
    pub at: Vec3,
    /// Above 0, all particles within this radius of `at` are grabbed, m. Default 0: a single point.
    pub radius: f32,
    /// Largest distance of the nearest point of the cloth from `at`, m; beyond it nothing is grabbed, whatever the
    /// `radius`. Infinity sets no limit. Default 0.2.
    pub reach: f32,
    /// Largest force of the grab, N. Default 20.
    pub force: f32,
    /// Largest speed of the grab, m/s. Default 15.
    pub speed: f32,
    /// Compliance of the grab constraint, m/N. Default 0.0001.
    pub compliance: f32,
}

impl GrabCloth {
    /// Grabs one point with the default force, speed and compliance.
    pub fn new(cloth: Entity, by: Entity, at: Vec3) -> Self {
        Self {
            entity: cloth,
            by,
            at,
            radius: 0.0,
            reach: 0.2,
            force: 20.0,
            speed: 15.0,
            compliance: 1e-4,
        }
    }
}

/// Event that moves a grab; [`drag`](crate::ClothCommands::drag) is the short form. The grab moves in a straight
/// line, at most at its `speed`.
#[derive(EntityEvent, Clone, Debug)]
pub struct DragCloth {
    /// The cloth.
    pub entity: Entity,
    /// Entity that grabs.
    pub by: Entity,
    /// Target, in the world, m.
    pub to: Vec3,
}

/// Event that ends a grab; [`release`](crate::ClothCommands::release) is the short form. The cloth keeps its
/// velocity and can be thrown.
#[derive(EntityEvent, Clone, Debug)]
pub struct ReleaseCloth {
    /// The cloth.
    pub entity: Entity,
    /// Entity that grabs.
    pub by: Entity,
}

/// Triggered on the entity when its cloth was grabbed.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothGrabbed {
    /// The cloth.
    pub entity: Entity,
    /// Entity that grabs.
    pub by: Entity,
    /// Grabbed point, in the world, m.
    pub at: Vec3,
}

/// Triggered on the entity when its cloth was released.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothReleased {
    /// The cloth.
    pub entity: Entity,
    /// Entity that grabbed.
    pub by: Entity,
}

/// Active grabs of a cloth. Every built cloth has this component.
#[derive(Component, Clone, Debug, Default, Deref)]
#[component(clone_behavior = Ignore)]
pub struct ClothGrabs(pub(crate) Vec<Grab>);

/// Grab of a cloth by one entity.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Grab {
    /// Entity that grabs.
    pub by: Entity,
    /// Position it moves towards, in the world, m.
    pub target: Vec3,
    /// Current position, in the world, m: follows `target` at most at `speed`.
    pub position: Vec3,
    /// Largest speed, m/s.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::math::bits"))]
    pub speed: f32,
    settings: GrabSettings,
    points: Vec<GrabPoint>,
    /// Position at the start of the fixed step.
    start: Vec3,
    /// Grabbed triangle, if the grab is at a point of one.
    triangle: Option<u32>,
}

impl Grab {
    /// Returns the grabbed points of the cloth.
    pub fn points(&self) -> &[GrabPoint] {
        &self.points
    }

    /// Moves the grab to the piece of its triangle that contains the grabbed point, after the triangle was
    /// replaced.
    pub(crate) fn update_after_tear(&mut self, changes: &TopologyChanges) {
        let Some(triangle) = self.triangle else {
            return;
        };
        let Some(replaced) = changes.replaced.iter().find(|r| r.triangle == triangle) else {
            return;
        };
        for grab_point in &mut self.points {
            // Barycentric coordinates in each piece: all three are positive where the point is inside.
            let point = Vec3::from(grab_point.weights);
            let pieces = replaced.pieces.iter().map(|piece| {
                let [a, b, c] = piece.corners.map(|corner| Vec3::from(corner.weights()));
                (Mat3::from_cols(a, b, c).inverse() * point, piece)
            });
            // Not in a piece without area.
            let pieces = pieces.filter(|(weights, _)| weights.is_finite());
            let containing = pieces.max_by(|x, y| x.0.min_element().total_cmp(&y.0.min_element()));
            if let Some((weights, piece)) = containing {
                grab_point.weights = weights.to_array();
                grab_point.particles = piece.particles;
                self.triangle = Some(piece.triangle);
            }
        }
    }

    /// Keeps the grab on one side of a rope that was cut at particle `at`, which that side replaced with `copy`.
    pub(crate) fn update_after_rope_break(&mut self, at: u32, next: u32, copy: u32) {
        for grab_point in &mut self.points {
            if grab_point.particles.contains(&next) {
                for particle in &mut grab_point.particles {
                    if *particle == at {
                        *particle = copy;
                    }
                }
            }
        }
    }
}
