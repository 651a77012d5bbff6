//! Tracking of the entities whose transforms cloths follow: anchors, joints and frames.

use crate::{
    character::inertia::ClothInertia,
    cloth::{Cloth, components::ClothBody, transforms::TransformHistory},
};
use bevy::prelude::*;

/// Starts tracking the transforms of anchors, joints and frames of cloths, and of the ancestors of all tracked
/// entities.
pub(crate) fn track_anchors(
    mut cloths: Query<(Entity, &mut ClothBody, Option<&ClothInertia>)>,
    unbuilt: Query<(Entity, &ClothInertia), (With<Cloth>, Without<ClothBody>)>,
    followed: Query<(), With<TransformHistory>>,
    new: Query<Entity, Added<TransformHistory>>,
    parents: Query<&ChildOf>,
    mut commands: Commands,
) {
    let mut track = |anchor: Entity| {
        if !followed.contains(anchor)
            && let Ok(mut anchor) = commands.get_entity(anchor)
        {
            anchor.try_insert_if_new(TransformHistory::default());
        }
    };
    for ancestor in new.iter().flat_map(|new| parents.iter_ancestors(new)) {
        track(ancestor);
    }
    // Before the cloth is built, so that the previous transform is known.
    for (entity, motion) in &unbuilt {
        track(motion.frame_of(entity).unwrap_or(entity));
    }
    for (entity, mut body, motion) in &mut cloths {
        let frame = motion.and_then(|motion| motion.frame_of(entity));
        let frame = frame.unwrap_or(entity);
        if body.tracked_frame == Some(frame) {
            continue;
        }
        let body = body.bypass_change_detection();
        body.tracked_frame = Some(frame);
        track(frame);
        let mut last = entity;
        for other in body.pins.iter().filter_map(|pin| pin.anchor.entity()) {
            if other != last {
                track(other);
                last = other;
            }
        }
        if let Some(skin) = &body.skin {
            skin.joints.iter().copied().for_each(&mut track);
        }
    }
}
