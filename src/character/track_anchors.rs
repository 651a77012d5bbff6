//! Tracking of the entities whose transforms cloths and colliders follow: anchors, joints and frames.

use crate::{
    character::{
        frame_history::ReferenceFrame, inertia::ClothInertia, skin_weights::SkinWeights,
        skinned_surface::SkinnedSurface,
    },
    cloth::{Cloth, transforms::TransformHistory},
    pins::BoundPins,
};
use bevy::prelude::*;

/// Starts tracking the transforms of anchors, joints and frames of cloths, of joints of colliders, and of the ancestors of all tracked
/// entities.
pub(crate) fn track_anchors(
    mut cloths: Query<(
        Entity,
        &mut ReferenceFrame,
        &BoundPins,
        Option<&SkinWeights>,
        Option<&ClothInertia>,
    )>,
    bodies: Query<&SkinnedSurface>,
    unbuilt: Query<(Entity, &ClothInertia), (With<Cloth>, Without<ReferenceFrame>)>,
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
    for body in &bodies {
        body.joints().iter().copied().for_each(&mut track);
    }
    // Before the cloth is built, so that the previous transform is known.
    for (entity, motion) in &unbuilt {
        track(motion.frame_of(entity).unwrap_or(entity));
    }
    for (entity, mut reference, pins, skin, motion) in &mut cloths {
        let frame = motion.and_then(|motion| motion.frame_of(entity));
        let frame = frame.unwrap_or(entity);
        if reference.tracked == Some(frame) {
            continue;
        }
        reference.bypass_change_detection().tracked = Some(frame);
        track(frame);
        let mut last = entity;
        for other in pins.anchors() {
            if other != last {
                track(other);
                last = other;
            }
        }
        if let Some(skin) = skin {
            skin.joints.iter().copied().for_each(&mut track);
        }
    }
}
