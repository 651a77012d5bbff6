//! Holding cloth by hand: with a mouse, a finger, or whatever a game has.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | what a game asks for and hears of, and what is held |
//! | `systems` | takes hold, follows the hand, lets go |

mod systems;

pub(crate) use systems::{begin_step, drag, grab, let_go_of_all, release, tell_released};

use crate::solver::{
    grab::{Grip, Handle},
    tear::Changes,
};
use bevy::prelude::*;

/// Trigger it to take hold of a cloth, or use [`grab`](crate::ClothCommands::grab). Whoever holds then
/// moves its hand with [`DragCloth`] and lets go with [`ReleaseCloth`]; several may hold one cloth.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::GrabCloth;
/// # fn reach(mut commands: Commands, curtain: Entity, hand: Entity, place: Vec3) {
/// commands.trigger(GrabCloth::new(curtain, hand, place));
/// # }
/// ```
#[derive(EntityEvent, Clone, Debug)]
pub struct GrabCloth {
    /// The cloth.
    pub entity: Entity,
    /// Who holds. What it held of this cloth before it lets go. If it is despawned, it lets go.
    pub by: Entity,
    /// Where, in the world, m: the nearest point of the cloth is held.
    pub at: Vec3,
    /// Above 0, everything within this radius is held, m. Default 0: just the point.
    pub radius: f32,
    /// Nothing that is farther from `at` than this is held, m. Default 0.2.
    pub reach: f32,
    /// Most that the hand pulls, N. Default 20.
    pub force: f32,
    /// Most that the hand moves, m/s. Default 15.
    pub speed: f32,
    /// How much the cloth gives in the hand, m/N. Default 0.0001.
    pub compliance: f32,
}

impl GrabCloth {
    /// Takes hold of one point with the default strength.
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

/// Trigger it to move the hand that holds a cloth, or use [`drag`](crate::ClothCommands::drag). It goes
/// there in a straight line, at most at its speed.
#[derive(EntityEvent, Clone, Debug)]
pub struct DragCloth {
    /// The cloth.
    pub entity: Entity,
    /// Who holds it.
    pub by: Entity,
    /// Where to, in the world, m.
    pub to: Vec3,
}

/// Trigger it to let go of a cloth, or use [`release`](crate::ClothCommands::release). The cloth keeps
/// its velocity: it can be thrown.
#[derive(EntityEvent, Clone, Debug)]
pub struct ReleaseCloth {
    /// The cloth.
    pub entity: Entity,
    /// Who holds it.
    pub by: Entity,
}

/// Triggered on the entity when its cloth has been taken hold of.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothGrabbed {
    /// The cloth.
    pub entity: Entity,
    /// Who holds it.
    pub by: Entity,
    /// Where, in the world, m.
    pub at: Vec3,
}

/// Triggered on the entity when its cloth has been let go of.
#[derive(EntityEvent, Reflect, Clone, Debug)]
#[reflect(Event, Clone, Debug)]
pub struct ClothReleased {
    /// The cloth.
    pub entity: Entity,
    /// Who held it.
    pub by: Entity,
}

/// Who holds a cloth, and where. Every cloth has it once it is built.
#[derive(Component, Clone, Debug, Default, Deref)]
#[component(clone_behavior = Ignore)]
pub struct ClothGrabs(pub(crate) Vec<Grab>);

/// One hand that holds a cloth.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Grab {
    /// Whose it is.
    pub by: Entity,
    /// Where it is drawn to, in the world, m.
    pub target: Vec3,
    /// Where it is, in the world, m: it follows its target at a limited speed.
    pub place: Vec3,
    /// Most that it moves, m/s.
    #[cfg_attr(feature = "serialize", serde(with = "crate::solver::bits"))]
    pub speed: f32,
    grip: Grip,
    handles: Vec<Handle>,
    /// Where it was when the fixed step began.
    start: Vec3,
    /// The triangle that is held, if it is a point of one.
    triangle: Option<u32>,
}

impl Grab {
    /// The points of the cloth that it holds.
    pub fn handles(&self) -> &[Handle] {
        &self.handles
    }

    /// Keeps hold of the same point of its triangle when that has changed.
    pub(crate) fn follow(&mut self, changes: &Changes) {
        let Some(triangle) = self.triangle else {
            return;
        };
        let Some(replaced) = changes.replaced.iter().find(|r| r.triangle == triangle) else {
            return;
        };
        for handle in &mut self.handles {
            // The shares of the corners of each piece: positive all three where the point is.
            let point = Vec3::from(handle.weights);
            let pieces = replaced.pieces.iter().map(|piece| {
                let [a, b, c] = piece.corners.map(|corner| Vec3::from(corner.weights()));
                (Mat3::from_cols(a, b, c).inverse() * point, piece)
            });
            let inside = pieces.max_by(|x, y| x.0.min_element().total_cmp(&y.0.min_element()));
            if let Some((weights, piece)) = inside
                && weights.is_finite()
            {
                handle.weights = weights.to_array();
                handle.particles = piece.particles;
                self.triangle = Some(piece.triangle);
            }
        }
    }

    /// Keeps hold of one side of a rope that has parted between two particles: the first has become a
    /// copy there.
    pub(crate) fn follow_strand(&mut self, at: u32, next: u32, copy: u32) {
        for handle in &mut self.handles {
            if handle.particles.contains(&next) {
                for particle in &mut handle.particles {
                    if *particle == at {
                        *particle = copy;
                    }
                }
            }
        }
    }
}
