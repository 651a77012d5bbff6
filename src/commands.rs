//! Short ways to write what a game does to a cloth.

use crate::{
    grab::{DragCloth, GrabCloth, ReleaseCloth},
    snapshot::ClothSnapshot,
    solver::tear::Blade,
    tearing::{CutCloth, ShredCloth, TearThread},
};
use bevy::prelude::*;

/// What hands and blades do to the cloth of an entity: the same as the mouse does, from code.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn play(mut commands: Commands, sail: Entity, hook: Entity) {
/// // A cut from one point to another; the blade reaches 0.5 m to both sides along z.
/// commands.entity(sail).cut_segment(Vec3::ZERO, Vec3::X, Vec3::Z * 0.5);
/// // A hook takes the sail at a point, pulls, and lets go.
/// commands.entity(sail).grab(hook, Vec3::Y);
/// commands.entity(sail).drag(hook, Vec3::Y * 2.0);
/// commands.entity(sail).release(hook);
/// # }
/// ```
///
/// Each triggers the event of the same meaning ([`CutCloth`], [`TearThread`], [`ShredCloth`],
/// [`GrabCloth`], [`DragCloth`], [`ReleaseCloth`]), which has more to set. On entities without cloth
/// they do nothing.
pub trait ClothCommands {
    /// Cuts from one point of the world to another, m, with a blade that reaches as far as `along` to
    /// both sides.
    fn cut_segment(&mut self, from: Vec3, to: Vec3, along: Vec3) -> &mut Self;

    /// Breaks the thread between two particles.
    fn tear_edge(&mut self, a: u32, b: u32) -> &mut Self;

    /// Breaks all threads within a radius, m, around a point of the world.
    fn shred(&mut self, centre: Vec3, radius: f32) -> &mut Self;

    /// Takes hold of the point that is nearest to a point of the world, m.
    fn grab(&mut self, by: Entity, at: Vec3) -> &mut Self;

    /// Moves the hand that holds the cloth to a point of the world, m.
    fn drag(&mut self, by: Entity, to: Vec3) -> &mut Self;

    /// Lets go of the cloth.
    fn release(&mut self, by: Entity) -> &mut Self;

    /// Puts the state of a cloth back. If it cannot be restored here, the log says why.
    fn restore_cloth(&mut self, snapshot: ClothSnapshot) -> &mut Self;
}

impl ClothCommands for EntityCommands<'_> {
    fn cut_segment(&mut self, from: Vec3, to: Vec3, along: Vec3) -> &mut Self {
        self.trigger(|entity| CutCloth {
            entity,
            blade: Blade::stroke(from, to, along),
            by: None,
        })
    }

    fn tear_edge(&mut self, a: u32, b: u32) -> &mut Self {
        self.trigger(|entity| TearThread {
            entity,
            thread: [a, b],
        })
    }

    fn shred(&mut self, centre: Vec3, radius: f32) -> &mut Self {
        self.trigger(|entity| ShredCloth {
            entity,
            centre,
            radius,
        })
    }

    fn grab(&mut self, by: Entity, at: Vec3) -> &mut Self {
        self.trigger(|entity| GrabCloth::new(entity, by, at))
    }

    fn drag(&mut self, by: Entity, to: Vec3) -> &mut Self {
        self.trigger(|entity| DragCloth { entity, by, to })
    }

    fn release(&mut self, by: Entity) -> &mut Self {
        self.trigger(|entity| ReleaseCloth { entity, by })
    }

    fn restore_cloth(&mut self, snapshot: ClothSnapshot) -> &mut Self {
        self.queue(move |mut entity: EntityWorldMut| {
            let cloth = entity.id();
            entity.world_scope(|world| {
                if let Err(error) = snapshot.restore(world, cloth) {
                    error!("{error}");
                }
            });
        })
    }
}
