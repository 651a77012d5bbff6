//! Where what carries cloth is at the end of a step.
//!
//! Animations move things once a frame, cloth moves in fixed steps. With two steps to a frame, the first
//! would see all of what the frame has moved and the second nothing; with two frames to a step, now two of
//! them and now three. Cloth would be jerked. So whatever moved between two frames does so evenly during
//! the time between them: a step sees it where it was at the end of the step, one frame ago. What is moved
//! by the fixed schedule itself is seen where it is.

use crate::{cloth::Cloth, components::ClothBody, guide::Frame, world_motion::WorldMotion};
use bevy::{
    math::{Affine3A, Vec3A},
    prelude::*,
};

/// What is faster was put somewhere else rather than moved there, m/s.
const JUMP: f32 = 50.0;

/// Where an entity was in the last two frames.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct FramePath {
    from: GlobalTransform,
    to: GlobalTransform,
    /// Where the fixed schedule left it.
    after: GlobalTransform,
    known: bool,
    /// It has been seen in two frames, or was put somewhere: that says where it comes from.
    settled: bool,
    /// It moved between the frames, and not in the fixed schedule.
    by_frames: bool,
}

/// How much of the time between two frames has passed at the end of the running step.
#[derive(Resource, Clone, Copy, Debug)]
pub(crate) struct FrameShare(f32);

impl Default for FrameShare {
    fn default() -> Self {
        Self(1.0)
    }
}

/// Looks up where things are at the end of the running step.
#[derive(bevy::ecs::system::SystemParam)]
pub(crate) struct Anchors<'w, 's> {
    transforms: TransformHelper<'w, 's>,
    paths: Query<'w, 's, &'static FramePath>,
    parents: Query<'w, 's, &'static ChildOf>,
    share: Res<'w, FrameShare>,
}

impl Anchors<'_, '_> {
    /// Where an entity is, if it is there.
    pub(crate) fn at(&self, entity: Entity) -> Option<GlobalTransform> {
        let now = self.transforms.compute_global_transform(entity).ok()?;
        let own = self.paths.get(entity).ok().filter(|path| path.settled);
        Some(match own {
            Some(path) => path.seen(now, *self.share),
            None => self.beside(entity, &now).unwrap_or(now),
        })
    }

    /// Where something new is: on what it hangs on, as that is seen. The one is not to be ahead of the other.
    fn beside(&self, entity: Entity, now: &GlobalTransform) -> Option<GlobalTransform> {
        let settled = |entity| {
            let path = self.paths.get(entity).ok()?;
            path.settled.then_some((entity, path))
        };
        let (carrier, path) = self.parents.iter_ancestors(entity).find_map(settled)?;
        let there = self.transforms.compute_global_transform(carrier).ok()?;
        let seen = path.seen(there, *self.share);
        if seen == there {
            return None;
        }
        let seen = seen.affine() * there.affine().inverse() * now.affine();
        seen.is_finite().then(|| GlobalTransform::from(seen))
    }

    /// The same as an affine map relative to `origin`.
    pub(crate) fn relative(&self, entity: Entity, origin: Vec3) -> Option<Affine3A> {
        Some(relative(&self.at(entity)?, origin))
    }
}

/// A transform as an affine map relative to `origin`.
pub(crate) fn relative(transform: &GlobalTransform, origin: Vec3) -> Affine3A {
    let mut affine = transform.affine();
    affine.translation -= Vec3A::from(origin);
    affine
}

impl FramePath {
    /// Where it is at the end of the running step if it is here now.
    pub(crate) fn seen(&self, now: GlobalTransform, share: FrameShare) -> GlobalTransform {
        // Who has been moved since the frame began is where he is.
        match self.by_frames && self.to == now {
            true => self.at(share.0),
            false => now,
        }
    }

    fn at(&self, share: f32) -> GlobalTransform {
        if share >= 1.0 {
            return self.to;
        }
        let [from, to] = [&self.from, &self.to].map(GlobalTransform::compute_transform);
        let frame = |of: &Transform| Frame {
            rotation: of.rotation,
            translation: of.translation,
        };
        let between = frame(&from).lerp(&frame(&to), share);
        GlobalTransform::from(Transform {
            translation: between.translation,
            rotation: between.rotation,
            scale: from.scale + (to.scale - from.scale) * share,
        })
    }

    /// A new frame: it is here now.
    fn sample(&mut self, now: GlobalTransform, delta: f32) {
        let before = std::mem::replace(&mut self.to, now);
        let way = now.translation() - before.translation();
        let jumped = way.length() > JUMP * delta || !way.is_finite();
        let by_steps = self.after != before;
        self.by_frames = self.known && now != self.after && !jumped && !by_steps;
        self.from = before;
        self.after = now;
        self.settled |= self.known;
        self.known = true;
    }

    /// It was put where it is now.
    pub(crate) fn jump(&mut self) {
        self.known = false;
        self.settled = true;
        self.by_frames = false;
    }
}

/// Before the fixed schedule: notes where all is that cloth hangs on or bumps into.
pub(crate) fn sample_frames(
    mut paths: Query<(Entity, &mut FramePath)>,
    transforms: TransformHelper,
    time: Res<Time<Virtual>>,
) {
    let delta = time.delta_secs();
    paths.par_iter_mut().for_each(|(entity, mut path)| {
        if let Ok(now) = transforms.compute_global_transform(entity) {
            path.sample(now, delta);
        }
    });
}

/// After it: notes what it has moved.
pub(crate) fn sample_fixed(
    mut paths: Query<(Entity, &mut FramePath)>,
    transforms: TransformHelper,
    time: Res<Time<Fixed>>,
    mut last: Local<f32>,
) {
    // Only if there was a step.
    if std::mem::replace(&mut *last, time.elapsed_secs()) == time.elapsed_secs() {
        return;
    }
    paths.par_iter_mut().for_each(|(entity, mut path)| {
        if let Ok(now) = transforms.compute_global_transform(entity) {
            path.after = now;
        }
    });
}

/// At the beginning of a step.
pub(crate) fn find_frame_share(
    mut share: ResMut<FrameShare>,
    fixed: Option<Res<Time<Fixed>>>,
    frames: Option<Res<Time<Virtual>>>,
) {
    share.0 = match (fixed, frames) {
        (Some(fixed), Some(frames)) if frames.delta_secs() > 0.0 => {
            let to_come = fixed.overstep().as_secs_f32() / frames.delta_secs();
            (1.0 - to_come).clamp(0.0, 1.0)
        }
        _ => 1.0,
    };
}

/// Begins to note where that is which cloths have come to hang on or bump into, and what carries that: something
/// new is seen beside it.
pub(crate) fn follow_anchors(
    mut cloths: Query<(Entity, &mut ClothBody, Option<&WorldMotion>)>,
    unbuilt: Query<(Entity, &WorldMotion), (With<Cloth>, Without<ClothBody>)>,
    followed: Query<(), With<FramePath>>,
    new: Query<Entity, Added<FramePath>>,
    parents: Query<&ChildOf>,
    mut commands: Commands,
) {
    let mut follow = |anchor: Entity| {
        if !followed.contains(anchor)
            && let Ok(mut anchor) = commands.get_entity(anchor)
        {
            anchor.try_insert_if_new(FramePath::default());
        }
    };
    for ancestor in new.iter().flat_map(|new| parents.iter_ancestors(new)) {
        follow(ancestor);
    }
    // Before they are built, so that it is known where they come from.
    for (entity, motion) in &unbuilt {
        follow(motion.frame_of(entity).unwrap_or(entity));
    }
    for (entity, mut body, motion) in &mut cloths {
        let frame = motion.and_then(|motion| motion.frame_of(entity));
        let frame = frame.unwrap_or(entity);
        if body.follows == Some(frame) {
            continue;
        }
        let body = body.bypass_change_detection();
        body.follows = Some(frame);
        follow(frame);
        let mut last = entity;
        for other in body.pins.iter().filter_map(|pin| pin.anchor.entity()) {
            if other != last {
                follow(other);
                last = other;
            }
        }
        if let Some(skin) = &body.skin {
            skin.joints.iter().copied().for_each(&mut follow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(x: f32) -> GlobalTransform {
        GlobalTransform::from_xyz(x, 0.0, 0.0)
    }

    fn x(path: &FramePath, share: f32) -> f32 {
        path.at(share).translation().x
    }

    #[test]
    fn what_moves_in_frames_moves_evenly_between_them() {
        let mut path = FramePath::default();
        path.sample(at(1.0), 0.1);
        assert!(!path.by_frames, "it has only just appeared");
        path.sample(at(2.0), 0.1);
        assert!(path.by_frames);
        assert_eq!(
            [0.0, 0.25, 1.0].map(|share| x(&path, share)),
            [1.0, 1.25, 2.0]
        );
        path.sample(at(2.0), 0.1);
        assert!(!path.by_frames, "it has stopped");
    }

    #[test]
    fn what_moves_in_steps_or_jumps_is_where_it_is() {
        let mut path = FramePath::default();
        path.sample(at(1.0), 0.1);
        // The fixed schedule moves it on.
        path.after = at(1.5);
        path.sample(at(1.5), 0.1);
        assert!(!path.by_frames);
        path.sample(at(100.0), 0.1);
        assert!(!path.by_frames);
        path.jump();
        path.sample(at(101.0), 0.1);
        assert!(!path.by_frames);
    }
}
