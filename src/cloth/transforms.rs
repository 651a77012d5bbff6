//! Transforms of anchors, joints and reference frames at the end of a step.
//!
//! Animations move entities once per frame, cloth moves in fixed steps. With two steps per frame, the first would
//! get the whole motion of the frame and the second none; with several frames per step, the number of frames per
//! step would vary. Cloth would be jerked. So motion between two frames is spread evenly over the time between
//! them: a step uses the interpolated transform at its end, one frame in the past. Entities moved in the fixed
//! schedule are used at their current transform.

use crate::{
    label::{EntityLabel, EntityLabelItem, label_of},
    solver::{Pose, particles::is_within_reach},
};
use bevy::{
    ecs::query::QueryData,
    math::{Affine3A, Mat3A, Vec3A},
    prelude::*,
};

/// Speed above which a motion between two frames counts as a jump, m/s.
const JUMP_SPEED: f32 = 50.0;

/// Largest usable scale, and inverse of the least: with it, determinants are finite.
const MAX_SCALE: f32 = 1e12;

/// Number of tracked entities from which several threads sample them: waking a thread takes about as long as a few
/// hundred of them.
const MIN_PARALLEL: usize = 500;

/// Transforms of an entity in the last two frames.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct TransformHistory {
    from: GlobalTransform,
    to: GlobalTransform,
    /// Transform after the last run of the fixed schedule.
    after_fixed: GlobalTransform,
    is_sampled: bool,
    /// Whether it was sampled in two frames, or placed explicitly, so that its previous transform is known.
    has_previous: bool,
    /// Whether it moved between the frames, and not in the fixed schedule.
    moved_by_frame: bool,
    /// Whether it had no parent and did not move between the last two frames, so that sampling it again records the
    /// same until its `Transform` is written.
    is_at_rest: bool,
}

/// Fraction of the time between two frames that has passed at the end of the current step.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct FrameFraction(f32);

impl Default for FrameFraction {
    fn default() -> Self {
        Self(1.0)
    }
}

/// Looks up transforms at the end of the current step, and labels for messages about them.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Anchors<'w, 's> {
    transforms: TransformHelper<'w, 's>,
    histories: Query<'w, 's, &'static TransformHistory>,
    parents: Query<'w, 's, &'static ChildOf>,
    fraction: Res<'w, FrameFraction>,
    labels: Query<'w, 's, EntityLabel>,
}

impl<'s> Anchors<'_, 's> {
    /// Returns the label of an entity, which may no longer exist.
    pub(crate) fn label(&self, entity: Entity) -> EntityLabelItem<'_, 's> {
        label_of(entity, &self.labels)
    }

    /// Returns the transform of an entity, if it exists.
    pub(crate) fn at(&self, entity: Entity) -> Option<GlobalTransform> {
        let now = self.transforms.compute_global_transform(entity).ok()?;
        let own = self
            .histories
            .get(entity)
            .ok()
            .filter(|history| history.has_previous);
        Some(match own {
            Some(history) => history.at_step_end(now, *self.fraction),
            None => self.relative_to_ancestor(entity, &now).unwrap_or(now),
        })
    }

    /// Returns the transform of a new entity relative to the interpolated one of its nearest tracked ancestor, so
    /// that it is not ahead of that.
    fn relative_to_ancestor(
        &self,
        entity: Entity,
        now: &GlobalTransform,
    ) -> Option<GlobalTransform> {
        let has_previous = |entity| {
            let history = self.histories.get(entity).ok()?;
            history.has_previous.then_some((entity, history))
        };
        let (ancestor, history) = self.parents.iter_ancestors(entity).find_map(has_previous)?;
        let current = self.transforms.compute_global_transform(ancestor).ok()?;
        let interpolated = history.at_step_end(current, *self.fraction);
        if interpolated == current {
            return None;
        }
        let interpolated = interpolated.affine() * current.affine().inverse() * now.affine();
        interpolated
            .is_finite()
            .then(|| GlobalTransform::from(interpolated))
    }

    /// Returns the transform as an affine map relative to `origin`.
    pub(crate) fn relative(&self, entity: Entity, origin: Vec3) -> Option<Affine3A> {
        Some(relative(&self.at(entity)?, origin))
    }
}

/// Returns a transform as an affine map relative to `origin`.
pub(crate) fn relative(transform: &GlobalTransform, origin: Vec3) -> Affine3A {
    let mut affine = transform.affine();
    affine.translation -= Vec3A::from(origin);
    affine
}

/// Returns the scale of a transform and its rigid part.
pub(crate) fn scale_and_pose(transform: &GlobalTransform) -> (Vec3, Pose) {
    let (scale, rotation, translation) = transform.to_scale_rotation_translation();
    let pose = Pose {
        // A non-uniformly scaled parent shears rotated children; the nearest rotation is the best approximation for
        // a rigid shape.
        rotation: rotation.normalize(),
        translation,
    };
    (scale, pose)
}

/// Returns the reason why a cloth cannot be built at a transform as an error.
pub(crate) fn check_usable(transform: &GlobalTransform) -> Result<(), String> {
    match is_usable(transform) {
        true => Ok(()),
        false => Err(format!(
            "its transform has a scale of 0, is not finite or beyond 16 777 km ({:?}); it will be built once \
             that is corrected",
            transform.affine()
        )),
    }
}

/// Returns whether a cloth can be built and drawn at a transform.
pub(crate) fn is_usable(transform: &GlobalTransform) -> bool {
    let affine = transform.affine();
    [affine.matrix3, affine.inverse().matrix3]
        .iter()
        .all(is_in_scale)
        && is_within_reach(transform.translation())
}

fn is_in_scale(matrix: &Mat3A) -> bool {
    let axes = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    axes.iter()
        .all(|axis| axis.abs().max_element() <= MAX_SCALE && !axis.is_nan())
}

impl TransformHistory {
    /// Returns the transform at the end of the current step, given the current one.
    pub(crate) fn at_step_end(
        &self,
        now: GlobalTransform,
        fraction: FrameFraction,
    ) -> GlobalTransform {
        // Interpolated only if it moved between two frames; an entity moved since then is used where it is now.
        match self.moved_by_frame && self.to == now {
            true => self.at(fraction.0),
            false => now,
        }
    }

    fn at(&self, fraction: f32) -> GlobalTransform {
        if fraction >= 1.0 {
            return self.to;
        }
        let [from, to] = [&self.from, &self.to].map(GlobalTransform::compute_transform);
        let pose = |transform: &Transform| Pose {
            rotation: transform.rotation,
            translation: transform.translation,
        };
        let between = interpolate(&pose(&from), &pose(&to), fraction);
        GlobalTransform::from(Transform {
            translation: between.translation,
            rotation: between.rotation,
            scale: from.scale + (to.scale - from.scale) * fraction,
        })
    }

    /// Records the transform in a new frame. `is_root`: whether the entity has no parent.
    fn sample(&mut self, now: GlobalTransform, delta: f32, is_root: bool) {
        let before = std::mem::replace(&mut self.to, now);
        self.is_at_rest = is_root && self.is_sampled && before == now;
        let motion = now.translation() - before.translation();
        let jumped = motion.length() > JUMP_SPEED * delta || !motion.is_finite();
        let moved_by_step = self.after_fixed != before;
        self.moved_by_frame =
            self.is_sampled && now != self.after_fixed && !jumped && !moved_by_step;
        self.from = before;
        self.after_fixed = now;
        self.has_previous |= self.is_sampled;
        self.is_sampled = true;
    }

    /// Records that the current transform was set explicitly, not reached by motion.
    pub(crate) fn jump(&mut self) {
        self.is_sampled = false;
        self.is_at_rest = false;
        self.has_previous = true;
        self.moved_by_frame = false;
    }
}

/// Tracked entity.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct TrackedQuery {
    entity: Entity,
    history: &'static mut TransformHistory,
    transform: Option<Ref<'static, Transform>>,
    is_child: Has<ChildOf>,
}

impl TrackedQueryItem<'_, '_> {
    /// Returns whether its global transform may differ from the one sampled last.
    fn may_have_moved(&self) -> bool {
        let written = self.transform.as_ref().is_none_or(|own| own.is_changed());
        written || self.is_child || !self.history.is_at_rest
    }
}

/// Calls `record` with the current transform of each tracked entity that may have moved.
fn for_each_moving(
    tracked: &mut Query<TrackedQuery>,
    transforms: &TransformHelper,
    record: impl Fn(&mut TrackedQueryItem, GlobalTransform) + Sync,
) {
    let record_one = |mut tracked: TrackedQueryItem| {
        if tracked.may_have_moved()
            && let Ok(now) = transforms.compute_global_transform(tracked.entity)
        {
            record(&mut tracked, now);
        }
    };
    if tracked.count() < MIN_PARALLEL {
        tracked.iter_mut().for_each(record_one);
    } else {
        tracked.par_iter_mut().for_each(record_one);
    }
}

/// Before the fixed schedule: records the transforms of all tracked entities.
pub(crate) fn sample_frame_transforms(
    mut tracked: Query<TrackedQuery>,
    transforms: TransformHelper,
    time: Res<Time<Virtual>>,
) {
    let delta = time.delta_secs();
    for_each_moving(&mut tracked, &transforms, |tracked, now| {
        tracked.history.sample(now, delta, !tracked.is_child);
    });
}

/// After the fixed schedule: records the transforms it has left.
pub(crate) fn sample_fixed_transforms(
    mut tracked: Query<TrackedQuery>,
    transforms: TransformHelper,
    time: Res<Time<Fixed>>,
    mut last: Local<f32>,
) {
    // Without a fixed step since the last frame there is nothing new to record.
    if std::mem::replace(&mut *last, time.elapsed_secs()) == time.elapsed_secs() {
        return;
    }
    for_each_moving(&mut tracked, &transforms, |tracked, now| {
        tracked.history.after_fixed = now;
    });
}

/// At the beginning of a step: computes how much of the current frame it covers.
pub(crate) fn find_frame_fraction(
    mut fraction: ResMut<FrameFraction>,
    fixed: Option<Res<Time<Fixed>>>,
    frames: Option<Res<Time<Virtual>>>,
) {
    fraction.0 = match (fixed, frames) {
        (Some(fixed), Some(frames)) if frames.delta_secs() > 0.0 => {
            let remaining = fixed.overstep().as_secs_f32() / frames.delta_secs();
            (1.0 - remaining).clamp(0.0, 1.0)
        }
        _ => 1.0,
    };
}

/// Entity that carries a cloth: the cloth is rendered relative to its current transform.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ReferenceEntity {
    /// Joint, anchor of all pins, or frame entity.
    pub(crate) entity: Entity,
    /// Poses at the beginning and at the end of the last step.
    pub(crate) poses: [Pose; 2],
}

/// Returns the rigid part of a transform; `None` if it is not finite or beyond 16 777 km.
pub(crate) fn pose_of(transform: &GlobalTransform) -> Option<Pose> {
    let (_, pose) = scale_and_pose(transform);
    (pose.is_valid() && is_within_reach(pose.translation)).then_some(pose)
}

/// Interpolates between two poses, along the shorter rotation.
///
/// The normalized linear interpolation is as good as a spherical one for the small rotations of one frame, and
/// gives the same bits on all machines.
pub(crate) fn interpolate(from: &Pose, to: &Pose, fraction: f32) -> Pose {
    let turn = if from.rotation.dot(to.rotation) < 0.0 {
        -to.rotation
    } else {
        to.rotation
    };
    Pose {
        rotation: (from.rotation + (turn - from.rotation) * fraction).normalize(),
        translation: from.translation + (to.translation - from.translation) * fraction,
    }
}

#[cfg(test)]
mod tests;
