//! Start of animations. Models are spawned in their bind poses, so their cloth is built there; the first frame of an
//! animation moves limbs far at once. Cloth then moves with its joints instead of being dragged along.

use crate::{
    character::{
        frame_history::{BindPose, ReferenceFrame},
        inertia::ClothInertia,
        reference_frame::frame_of,
        skin_weights::SkinWeights,
        teleport::{FollowingCloth, MotionRecords},
    },
    cloth::{particles::ClothParticles, shape::ClothShape},
    pins::BoundPins,
};
use bevy::prelude::*;

impl BindPose {
    /// Returns whether it is to be read, or the joints of its cloth have other local transforms now.
    fn has_changed(&self, skin: &SkinWeights, transforms: &Query<&Transform>) -> bool {
        match self {
            Self::Left => false,
            Self::Unread => true,
            Self::Held(before) => !local_transforms(skin, transforms).eq(before.iter().copied()),
        }
    }
}

/// Iterates over the local transforms of the joints of a cloth; `None` for one that does not exist.
fn local_transforms(
    skin: &SkinWeights,
    transforms: &Query<&Transform>,
) -> impl Iterator<Item = Option<Transform>> {
    let joints = skin.joints.iter();
    joints.map(|&joint| transforms.get(joint).ok().copied())
}

/// Run condition: a bind pose is to be read, or was left.
pub(crate) fn any_bind_pose_changed(
    cloths: Query<(&ReferenceFrame, &SkinWeights)>,
    transforms: Query<&Transform>,
) -> bool {
    cloths.iter().any(|(reference, skin)| {
        let bind_pose = &reference.history.bind_pose;
        bind_pose.has_changed(skin, &transforms)
    })
}

/// Moves new cloths to the first pose of the animation of their skeletons.
pub(crate) fn start_animations(
    mut cloths: Query<(
        Entity,
        &mut ReferenceFrame,
        &BoundPins,
        &mut SkinWeights,
        &ClothShape,
        &mut ClothParticles,
        Option<&ClothInertia>,
    )>,
    locals: Query<&Transform>,
    transforms: TransformHelper,
    mut motion_records: MotionRecords,
) {
    for (entity, mut reference, pins, mut skin, shape, mut particles, motion) in &mut cloths {
        let reference = reference.bypass_change_detection();
        let bind_pose = &mut reference.history.bind_pose;
        if !bind_pose.has_changed(&skin, &locals) {
            continue;
        }
        if *bind_pose == BindPose::Unread {
            *bind_pose = BindPose::Held(local_transforms(&skin, &locals).collect());
            continue;
        }
        *bind_pose = BindPose::Left;
        FollowingCloth {
            reference,
            particles: &mut particles,
            skin: Some(&mut skin),
            shape,
        }
        .move_to_joints(|joint| transforms.compute_global_transform(joint).ok());
        let frame = frame_of(entity, motion, pins).unwrap_or(entity);
        motion_records.forget(entity, frame, pins, Some(&skin));
    }
}
