//! Commands that trigger the events of cloth.

use crate::{
    grab::{DragCloth, GrabCloth, ReleaseCloth},
    label::EntityLabel,
    snapshot::ClothSnapshot,
    solver::topology::Blade,
    tearing::{CutCloth, ShredCloth, TearEdge},
};
use bevy::prelude::*;

/// Cuts, tears and grabs the cloth of an entity from code, as the pointer tools do.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn play(mut commands: Commands, sail: Entity, hook: Entity) {
/// // Cut from one point to another; the blade extends 0.5 m to both sides along z.
/// commands.entity(sail).cut_segment(Vec3::ZERO, Vec3::X, Vec3::Z * 0.5);
/// // Grab the sail at a point with a hook, pull, and release it.
/// commands.entity(sail).grab(hook, Vec3::Y);
/// commands.entity(sail).drag(hook, Vec3::Y * 2.0);
/// commands.entity(sail).release(hook);
/// # }
/// ```
///
/// Each triggers the corresponding event ([`CutCloth`], [`TearEdge`], [`ShredCloth`], [`GrabCloth`],
/// [`DragCloth`], [`ReleaseCloth`]), which has more settings. Entities without cloth are
/// ignored, with a warning.
pub trait ClothCommands {
    /// Cuts from one point of the world to another, m, with a blade that extends by `along` to both sides.
    fn cut_segment(&mut self, from: Vec3, to: Vec3, along: Vec3) -> &mut Self;

    /// Tears the edge between two particles.
    fn tear_edge(&mut self, a: u32, b: u32) -> &mut Self;

    /// Tears all edges within a radius, m, around a point of the world.
    fn shred(&mut self, centre: Vec3, radius: f32) -> &mut Self;

    /// Grabs the point of the cloth nearest to a point of the world, m.
    fn grab(&mut self, by: Entity, at: Vec3) -> &mut Self;

    /// Moves the grab towards a point of the world, m.
    fn drag(&mut self, by: Entity, to: Vec3) -> &mut Self;

    /// Ends the grab.
    fn release(&mut self, by: Entity) -> &mut Self;

    /// Restores the state of a cloth from a snapshot. Logs an error if it does not fit.
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
        self.trigger(|entity| TearEdge {
            entity,
            edge: [a, b],
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
            let error = entity.world_scope(|world| snapshot.restore(world, cloth).err());
            if let (Some(error), Ok(label)) = (error, entity.get_components::<EntityLabel>()) {
                error!("cloth {label}: {}", error.reason());
            }
        })
    }
}
