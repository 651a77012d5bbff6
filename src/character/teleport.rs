//! Moves cloths along with frames that were teleported, and cloths that are new or were paused to their frames.

use crate::{
    character::{
        frame_history::ReferenceFrame,
        inertia::{ClothInertia, Teleport, TeleportCloth},
        reference_frame::frame_of,
        skin_weights::SkinWeights,
        skinned_surface::SkinnedSurface,
    },
    cloth::{
        ResetCloth,
        activity::ClothPaused,
        particles::ClothParticles,
        shape::ClothShape,
        transforms::{Anchors, TransformHistory, pose_of},
    },
    collision::collider::LastPose,
    pins::BoundPins,
    solver::{FrameMotion, ParticleArrays, Pose, particles::is_within_reach},
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// Requests a teleport.
pub(crate) fn request_teleport(event: On<TeleportCloth>, mut cloths: Query<&mut ReferenceFrame>) {
    // A cloth that is not built yet will be built at its current transform.
    if let Ok(mut frame) = cloths.get_mut(event.entity) {
        frame.requested_teleport = Some(event.how);
    }
}

/// Run condition: a teleport may be requested, or detected.
pub(crate) fn any_teleport_pending(
    requested: Query<(), Changed<ReferenceFrame>>,
    motions: Query<&ClothInertia>,
) -> bool {
    !requested.is_empty() || motions.iter().any(ClothInertia::detects_teleports)
}

/// Moves cloths along with frames that were teleported, before steps and rendering.
pub(crate) fn teleport(
    mut cloths: Query<(
        Entity,
        &mut ReferenceFrame,
        &BoundPins,
        Option<&mut SkinWeights>,
        &ClothShape,
        &mut ClothParticles,
        Option<&ClothInertia>,
    )>,
    transforms: TransformHelper,
    mut motion_records: MotionRecords,
    mut commands: Commands,
) {
    for (entity, mut reference, pins, mut skin, shape, mut particles, motion) in &mut cloths {
        // A cloth about to be moved to the pose of its frame cannot have been teleported.
        let detects = !reference.history.catch_up_pending
            && motion.is_some_and(ClothInertia::detects_teleports);
        if reference.requested_teleport.is_none() && !detects {
            continue;
        }
        if reference.requested_teleport.is_some() {
            // Tried again in the next frame, should the transform not be finite.
            reference.set_changed();
        }
        let reference = reference.bypass_change_detection();
        let Some(frame) = frame_of(entity, motion, pins) else {
            reference.requested_teleport = None;
            continue;
        };
        let now = transforms.compute_global_transform(frame);
        let Some(now) = now.ok().as_ref().and_then(pose_of) else {
            continue;
        };
        let recorded = reference.history.frame;
        let Some((_, before)) = recorded.filter(|(entity, _)| *entity == frame) else {
            continue;
        };
        let distance = before.translation.distance(now.translation);
        let angle = before.rotation.angle_between(now.rotation);
        let detected = motion.filter(|motion| detects && motion.is_teleport(distance, angle));
        let Some(how) =
            (reference.requested_teleport.take()).or(detected.map(|motion| motion.teleport))
        else {
            continue;
        };
        FollowingCloth {
            reference,
            particles: &mut particles,
            skin: skin.as_deref_mut(),
            shape,
        }
        .move_with_frame(frame, &before, &now);
        if how == Teleport::Reset {
            commands.trigger(ResetCloth { entity });
        }
        motion_records.forget(entity, frame, pins, skin.as_deref());
    }
}

/// Records from which the velocities of entities are found.
#[derive(SystemParam)]
pub(crate) struct MotionRecords<'w, 's> {
    paths: Query<'w, 's, &'static mut TransformHistory>,
    last_poses: Query<'w, 's, &'static mut LastPose>,
    children: Query<'w, 's, &'static Children>,
    bodies: Query<'w, 's, (Entity, &'static SkinnedSurface)>,
}

impl MotionRecords<'_, '_> {
    /// Removes the velocity of everything that was teleported with a cloth: its frame, joints, anchors and children, and
    /// bodies on the same joints.
    pub(super) fn forget(
        &mut self,
        cloth: Entity,
        frame: Entity,
        pins: &BoundPins,
        skin: Option<&SkinWeights>,
    ) {
        let children = &self.children;
        let joints = skin.iter().flat_map(|skin| skin.joints.iter().copied());
        // Capsule colliders are children of joints.
        let joints_and_children = joints.flat_map(|joint| {
            let descendants = children.get(joint).ok().into_iter().flatten().copied();
            std::iter::once(joint).chain(descendants)
        });
        let is_joint = |joint| skin.is_some_and(|skin| skin.joints.contains(joint));
        let bodies = self.bodies.iter();
        let bodies = bodies.filter(|(_, surface)| surface.joints().iter().any(is_joint));
        let own = [cloth, frame].into_iter().chain(joints_and_children);
        for other in own
            .chain(bodies.map(|(body, _)| body))
            .chain(pins.anchors())
            .chain(children.iter_descendants(frame))
        {
            if let Ok(mut path) = self.paths.get_mut(other) {
                path.jump();
            }
            if let Ok(mut last) = self.last_poses.get_mut(other) {
                last.set_if_neq(LastPose(None));
            }
        }
    }
}

/// Before a step: moves cloths that are new or were paused to the pose of their frame in this step. Otherwise they
/// would be ahead of or behind the colliders that move with the frame, and start inside them.
pub(crate) fn catch_up_with_frame(
    mut cloths: Query<(
        Entity,
        &mut ReferenceFrame,
        &BoundPins,
        Option<&mut SkinWeights>,
        &ClothShape,
        &mut ClothParticles,
        Option<&ClothInertia>,
        Has<ClothPaused>,
    )>,
    anchors: Anchors,
) {
    for (entity, mut reference, pins, mut skin, shape, mut particles, motion, paused) in &mut cloths
    {
        let reference = reference.bypass_change_detection();
        if !reference.history.catch_up_pending {
            continue;
        }
        let frame = frame_of(entity, motion, pins);
        let recorded = (reference.history.frame).filter(|(entity, _)| Some(*entity) == frame);
        // A paused cloth stays where it is.
        let Some((frame, before)) = recorded.filter(|_| !paused) else {
            reference.history.catch_up_pending = false;
            continue;
        };
        // If the frame is not finite, try again in the next step.
        let Some(now) = anchors.at(frame).as_ref().and_then(pose_of) else {
            continue;
        };
        let mut cloth = FollowingCloth {
            reference,
            particles: &mut particles,
            skin: skin.as_deref_mut(),
            shape,
        };
        cloth.move_with_frame(frame, &before, &now);
        cloth.move_to_joints(|joint| anchors.at(joint));
    }
}

/// Cloth that follows its frame or its skeleton at once, with its recorded targets and poses.
pub(super) struct FollowingCloth<'a> {
    pub(super) reference: &'a mut ReferenceFrame,
    pub(super) particles: &'a mut ClothParticles,
    pub(super) skin: Option<&'a mut SkinWeights>,
    pub(super) shape: &'a ClothShape,
}

impl FollowingCloth<'_> {
    /// Moves the cloth rigidly with its frame entity.
    fn move_with_frame(&mut self, frame: Entity, before: &Pose, now: &Pose) {
        let history = &mut self.reference.history;
        history.catch_up_pending = false;
        history.frame = Some((frame, *now));
        if before == now {
            return;
        }
        let frame_motion = FrameMotion::between(before, now);
        frame_motion.apply(self.particles);
        let ParticleArrays {
            previous, origin, ..
        } = &mut self.particles.0;
        frame_motion.transform_positions(previous, *origin);
        frame_motion.transform_positions(&mut history.animation_targets, history.origin);
        if let Some(skin) = &mut self.skin {
            skin.move_with(&frame_motion, history.origin);
        }
        for at in history
            .reference_entity
            .iter_mut()
            .flat_map(|reference| &mut reference.poses)
        {
            *at = frame_motion.transform_pose(at);
        }
        self.particles.rebase();
    }

    /// Moves each particle as its animated position moves to the pose of the joints at these transforms.
    pub(super) fn move_to_joints(&mut self, at: impl Fn(Entity) -> Option<GlobalTransform>) {
        let Some(skin) = &mut self.skin else {
            return;
        };
        let history = &mut self.reference.history;
        let Some(before) = skin.jump(history.origin, &at) else {
            return;
        };
        let ParticleArrays {
            position, previous, ..
        } = &mut self.particles.0;
        let rest = self.shape.rest().iter().take(position.len());
        for (i, &rest) in rest.enumerate() {
            let source = self.shape.source_particle(i as u32) as usize;
            let moved = skin.matrix(source).transform_point3(rest)
                - skin.blend(source, &before).transform_point3(rest);
            let moved_position = position.get(i) + moved;
            // The transform of a joint may be huge.
            if !is_within_reach(moved_position) {
                continue;
            }
            position.set(i, moved_position);
            previous.set(i, previous.get(i) + moved);
            if i < history.animation_targets.len() {
                let target = history.animation_targets.get(i);
                history.animation_targets.set(i, target + moved);
            }
        }
        if let Some(reference) = &mut history.reference_entity
            && let Some(now) = at(reference.entity).as_ref().and_then(pose_of)
        {
            reference.poses = [now; 2];
        }
        self.particles.rebase();
    }
}
