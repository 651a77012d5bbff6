//! Render pose of each cloth in a frame: interpolated between its last two steps, and moved with its reference
//! entity.
//!
//! Steps use transforms of one frame in the past, and rendered frames lie between the last two steps: cloth is up
//! to a step and a frame late. At running speed that is up to 10 cm, and a cape would hover behind its character.
//! So cloth on a character is rendered moved rigidly by the motion of its reference entity since then, and each particle of
//! skinned cloth by that of its joints relative to it (`skin_motion.rs`).

use crate::solver::{FrameMotion, Pose};
use crate::{
    character::{
        frame_history::ReferenceFrame, inertia::ClothInertia, max_distance::ClothMaxDistance,
        skin_weights::SkinWeights,
    },
    cloth::{
        activity::{ClothCulled, ClothPaused, ClothSleeping, InMotion},
        particles::ClothParticles,
        settings::ClothMaxThreads,
        shape::ClothShape,
        transforms::{ReferenceEntity, interpolate, pose_of},
        update_rate::UpdateRate,
        workers::ClothWorkers,
    },
    mesh,
    render::{interpolation::InterpolationTime, skin_motion::SkinMotion},
};
use bevy::{
    ecs::{query::QueryData, system::NonSendMarker},
    prelude::*,
};

/// Render pose of a cloth in a frame. Written each frame before meshes are written; read by those systems, gizmos
/// and picking.
#[derive(Component, Clone, Debug, PartialEq)]
#[component(clone_behavior = Ignore)]
pub(crate) struct RenderPose {
    /// Interpolation factor: 0 is the beginning of the last step, 1 its end.
    alpha: f32,
    /// Rigid motion of the reference entity from the interpolated step to the rendered frame.
    frame_motion: Option<FrameMotion>,
    /// Motion of each particle with its joints since then, relative to that of the reference entity, m; empty without a
    /// skeleton.
    shifts: Vec<Vec3>,
}

impl Default for RenderPose {
    fn default() -> Self {
        Self {
            alpha: 1.0,
            frame_motion: None,
            shifts: Vec::new(),
        }
    }
}

impl RenderPose {
    /// Returns the transform from particles, relative to `origin`, to a mesh at `position`. `to_mesh` rotates and
    /// scales world axes to mesh axes.
    pub(crate) fn frame(
        &self,
        origin: Vec3,
        position: Vec3,
        to_mesh: Mat3,
    ) -> mesh::RenderFrame<'_> {
        let (position, to_frame) = match self.frame_motion {
            None => (position, to_mesh),
            // The transform of the mesh relative to the simulated cloth.
            Some(motion) => (
                motion.inverse().transform_point(position),
                to_mesh * motion.rotation_matrix(),
            ),
        };
        mesh::RenderFrame {
            alpha: self.alpha,
            offset: origin - position,
            to_frame,
            shifts: &self.shifts,
        }
    }
}

#[cfg(any(feature = "debug", feature = "picking"))]
impl RenderPose {
    /// Returns the rendered position of a particle, in the world.
    pub(crate) fn particle_position(&self, particles: &ClothParticles, i: usize) -> Vec3 {
        self.point(particles.origin + self.interpolate(particles, i))
    }

    /// Returns the rendered position of a simulated position, which no joint moves.
    pub(crate) fn point(&self, position: Vec3) -> Vec3 {
        self.frame_motion
            .map_or(position, |motion| motion.transform_point(position))
    }

    /// Returns the rendered direction of a simulated direction.
    #[cfg(feature = "debug")]
    pub(crate) fn direction(&self, direction: Vec3) -> Vec3 {
        self.frame_motion
            .map_or(direction, |motion| motion.transform_direction(direction))
    }

    /// Returns the position of a particle between the last two steps, moved with its joints, relative to the origin of the
    /// particles.
    pub(crate) fn interpolate(&self, particles: &ClothParticles, i: usize) -> Vec3 {
        let shift = self.shifts.get(i).copied().unwrap_or_default();
        interpolate_particle(particles, i, self.alpha) + shift
    }

    /// Returns the rigid motion from the simulated to the rendered cloth.
    #[cfg(feature = "picking")]
    pub(crate) fn frame_motion(&self) -> Option<FrameMotion> {
        self.frame_motion
    }
}

/// Components that determine the render pose.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct RenderPoseQuery {
    render_pose: &'static mut RenderPose,
    rate: &'static UpdateRate,
    frame: &'static ReferenceFrame,
    particles: Ref<'static, ClothParticles>,
    shape: &'static ClothShape,
    skin: Option<&'static SkinWeights>,
    sleeps: Has<ClothSleeping>,
    paused: Has<ClothPaused>,
}

/// Run condition: a cloth may look different than in the last frame. True while any cloth is simulated, culled, or on a
/// character, which moves it even at rest; otherwise only when the particles or the transform of a cloth are written.
pub(crate) fn may_look_different(
    moving: Query<(), (With<ClothParticles>, InMotion)>,
    on_characters: Query<
        (),
        (
            With<ClothParticles>,
            Or<(
                With<ClothInertia>,
                With<ClothMaxDistance>,
                With<SkinWeights>,
            )>,
        ),
    >,
    culled: Query<(), (With<ClothParticles>, With<ClothCulled>)>,
    written: Query<
        (),
        (
            With<ClothParticles>,
            Or<(Changed<ClothParticles>, Changed<GlobalTransform>)>,
        ),
    >,
    mut any_before: Local<bool>,
) -> bool {
    let any = !(moving.is_empty() && on_characters.is_empty() && culled.is_empty());
    // Once more after the last one has stopped.
    std::mem::replace(&mut *any_before, any) || any || !written.is_empty()
}

/// Finds the render poses of all cloths, before meshes are written.
pub(crate) fn find_render_poses(
    mut cloths: Query<RenderPoseQuery, Without<ClothCulled>>,
    frames: Query<&GlobalTransform>,
    time: InterpolationTime,
    mut workers: ResMut<ClothWorkers>,
    threads: Res<ClothMaxThreads>,
    // See `prepare_cloths`.
    _on_the_main_thread: NonSendMarker,
) {
    let step_alpha = time.alpha();
    let skinned = cloths.iter_mut().filter_map(|mut cloth| {
        let render_pose = cloth.render_pose.bypass_change_detection();
        // A cloth at rest looks the same at any time.
        let alpha = match cloth.sleeps || cloth.paused {
            true => 1.0,
            false => cloth.rate.render_alpha(step_alpha),
        };
        // A paused cloth stays where it is, even if its reference entity moves.
        let is_left_behind = (cloth.paused || time.is_paused()) && !cloth.particles.is_changed();
        if is_left_behind && render_pose.alpha == alpha {
            return None;
        }
        let frame_motion =
            (cloth.frame.history.reference_entity).and_then(|ReferenceEntity { entity, poses }| {
                let now = pose_of(frames.get(entity).ok()?)?;
                motion_to(poses, alpha, now)
            });
        (render_pose.alpha, render_pose.frame_motion) = (alpha, frame_motion);
        render_pose.shifts.clear();
        let skin = cloth.skin?;
        Some((cloth, skin))
    });
    let size = |(cloth, _): &(RenderPoseQueryItem, &SkinWeights)| cloth.particles.len();
    workers.for_each_whole_cloth(*threads, skinned, size, |(mut cloth, skin)| {
        let render_pose = cloth.render_pose.bypass_change_detection();
        let motion = SkinMotion {
            particles: &cloth.particles,
            shape: cloth.shape,
            skin,
            origin: cloth.frame.history.origin,
            alpha: render_pose.alpha,
            frame_motion: render_pose.frame_motion,
        };
        let joint = |joint| frames.get(joint).ok().map(GlobalTransform::affine);
        motion.find(joint, &mut render_pose.shifts);
    });
}

/// Returns the position of a particle between the last two steps, relative to the origin of the particles.
pub(super) fn interpolate_particle(particles: &ClothParticles, i: usize, alpha: f32) -> Vec3 {
    let (from, to) = (particles.previous.get(i), particles.position.get(i));
    from.lerp(to, alpha)
}

/// Returns the motion from the interpolated pose within a step to the current one; `None` if all are equal.
fn motion_to([from, to]: [Pose; 2], alpha: f32, now: Pose) -> Option<FrameMotion> {
    if from == to && to == now {
        return None;
    }
    let at_alpha = interpolate(&from, &to, alpha);
    Some(FrameMotion::between(&at_alpha, &now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cloth_is_rendered_relative_to_its_reference_entity() {
        let frame = |turn, x| Pose {
            rotation: Quat::from_rotation_y(turn),
            translation: Vec3::new(x, 2.0, -1.0),
        };
        let (poses, now) = ([frame(0.2, 5.0), frame(0.4, 5.1)], frame(0.7, 5.3));
        assert_eq!(motion_to([now, now], 0.3, now), None);
        let alpha = 0.25;
        let render_pose = RenderPose {
            alpha,
            frame_motion: motion_to(poses, alpha, now),
            ..default()
        };
        let at_alpha = interpolate(&poses[0], &poses[1], alpha);
        let local = Vec3::new(0.3, -0.4, 0.5);
        let origin = Vec3::new(4.0, 1.0, 0.0);
        let stepped = at_alpha.rotation * local + at_alpha.translation;
        // In a mesh on the reference entity, it has its simulated position relative to that.
        let to_mesh = Mat3::from_quat(now.rotation.inverse());
        let view = render_pose.frame(origin, now.translation, to_mesh);
        let drawn = view.to_frame * (stepped - origin + view.offset);
        assert!((drawn - local).length() < 1e-5, "{drawn}");
    }
}
