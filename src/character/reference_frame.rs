//! Reference frame of a cloth at the beginning of a step: animation targets of the particles, and the part of the
//! frame's motion that the cloth follows rigidly.

use crate::solver::{self, FrameMotion, MotionConstraints, ParticleArrays, SoaVec3};
use crate::{
    character::{
        frame_history::ReferenceFrame,
        inertia::ClothInertia,
        max_distance::{Backstop, ClothMaxDistance, PINNED_DISTANCE},
        multipliers::PaintedShape,
        skin_weights::SkinWeights,
    },
    cloth::{
        particles::ClothParticles,
        shape::ClothShape,
        transforms::{Anchors, ReferenceEntity, pose_of, relative},
    },
    label::EntityLabelItem,
    mesh::{paint::PerVertex, smooth_normals},
    pins::{
        BoundPin, BoundPins, PinAnchor, Pins,
        bind::{PinnedCloth, bind_pins},
    },
};
use bevy::{
    math::{Affine3A, Vec3A},
    prelude::*,
};
use std::fmt::Display;

/// Resolves [`ClothMaxDistance`] to particles.
pub(crate) fn bind_motion_constraints(
    label: &dyn Display,
    wanted: Option<&ClothMaxDistance>,
    painted: PaintedShape,
    frame: &mut ReferenceFrame,
    particles: usize,
) {
    frame.bound_max_distance = wanted.cloned();
    frame.motion_constraints = MotionConstraints::default();
    let Some(ClothMaxDistance { distance, backstop }) = wanted else {
        frame.rest_normals = Vec::new();
        frame.history.animation_targets = SoaVec3::default();
        return;
    };
    let Some(max_distances) = resolve(label, "distance", distance, painted, particles) else {
        return;
    };
    // A NaN leaves the particle free.
    let max_distances = max_distances.into_iter();
    let max_distances = max_distances.map(|r| {
        if r.is_nan() {
            f32::INFINITY
        } else {
            r.max(0.0)
        }
    });
    frame.motion_constraints.max_distances = max_distances.collect();
    frame.motion_constraints.backstop =
        backstop.as_ref().and_then(|Backstop { distance, radius }| {
            let distance = resolve(label, "backstop", distance, painted, particles)?;
            let distance = distance.into_iter();
            let distance = distance.map(|d| if d.is_nan() { f32::INFINITY } else { d });
            Some(solver::BackstopSpheres {
                normal: SoaVec3::zeros(particles),
                distance: distance.collect(),
                radius: if radius.is_finite() {
                    radius.max(0.0)
                } else {
                    0.0
                },
            })
        });
    frame.rest_normals = match &frame.motion_constraints.backstop {
        Some(_) => rest_normals(painted.shape),
        None => Vec::new(),
    };
    // New constraints have no previous targets.
    if frame.history.animation_targets.len() != particles {
        frame.history.animation_targets = SoaVec3::default();
    }
}

/// Returns a value for each particle, including those added by tears and cuts; infinity where there is none.
fn resolve(
    label: &dyn Display,
    what: &str,
    values: &PerVertex,
    painted: PaintedShape,
    particles: usize,
) -> Option<Vec<f32>> {
    let (shape, channels, joints) = (painted.shape, painted.channels(), painted.joints());
    let values = match channels.resolve(values, joints, shape.topology.positions.len()) {
        Ok(values) => values,
        Err(channel) => {
            let inventory = channels.inventory(joints);
            error!(
                "cloth {label}: its ClothMaxDistance is ignored: the {what} is painted in \
                 {channel:?}, which its mesh does not have; it has {inventory}"
            );
            return None;
        }
    };
    let value = |i| values.get(shape.source_particle(i) as usize).copied();
    Some(
        (0..particles as u32)
            .map(|i| value(i).unwrap_or(f32::INFINITY))
            .collect(),
    )
}

/// Returns the vertex normals at rest, in mesh space.
fn rest_normals(shape: &ClothShape) -> Vec<Vec3> {
    let positions: Vec<Vec3A> = shape.rest().iter().map(|&at| at.into()).collect();
    let mut normals = Vec::new();
    smooth_normals(&positions, shape.triangles.indices.iter(), &mut normals);
    // Without area any direction will do.
    let front = |n: Vec3A| if n == Vec3A::ZERO { Vec3::Y } else { n.into() };
    normals.into_iter().map(front).collect()
}

/// Resolves the pins of a cloth to particles, those of its animation included.
pub(crate) fn rebind_pins(
    label: &dyn Display,
    pins: &Pins,
    particles: &ClothParticles,
    painted: PaintedShape,
    bound: &mut BoundPins,
    frame: &mut ReferenceFrame,
) {
    let implicit: Vec<u32> = frame.pinned_particles().collect();
    let cloth = PinnedCloth {
        shape: painted.shape,
        paint: painted.channels(),
        joints: painted.joints(),
        implicit: &implicit,
    };
    bind_pins(label, pins, particles, &cloth, bound);
    frame.find_dominant_joint(bound, painted.skin);
    frame.tracked = None;
}

impl ReferenceFrame {
    /// Returns the particles pinned regardless of `Pins`: those whose max distance from the animation is (almost) 0.
    fn pinned_particles(&self) -> impl Iterator<Item = u32> + '_ {
        let max_distances = (0..).zip(&self.motion_constraints.max_distances);
        let pinned = max_distances.filter(|(_, reach)| **reach <= PINNED_DISTANCE);
        pinned.map(|(i, _)| i)
    }

    /// Finds the joint with the largest weight on the pinned particles, after pins were bound.
    fn find_dominant_joint(&mut self, pins: &BoundPins, skin: Option<&SkinWeights>) {
        let follows_cloth =
            |pin: &BoundPin| (pin.anchor == PinAnchor::Cloth).then_some(pin.particle as usize);
        let particles_on_cloth = pins.pins.iter().filter_map(follows_cloth);
        self.dominant_joint = skin.and_then(|skin| skin.dominant_joint(particles_on_cloth));
    }
}

/// Poses the skeleton for this step.
pub(crate) fn update_skin(
    label: &dyn Display,
    skin: &mut SkinWeights,
    frame: &ReferenceFrame,
    origin: Vec3,
    anchors: &Anchors,
) {
    let moved = frame.history.origin - origin;
    let missing = skin.update_pose(origin, moved, |joint| anchors.at(joint));
    if missing > 0 {
        warn!(
            "cloth {label}: {missing} joints of its skeleton no longer exist; particles on them \
             keep their last targets"
        );
    }
}

/// Computes the animation targets of the particles, once the skeleton is posed.
pub(crate) fn update_motion_constraints(
    label: EntityLabelItem,
    wanted: Option<&ClothMaxDistance>,
    painted: PaintedShape,
    frame: &mut ReferenceFrame,
    particles: &ClothParticles,
    anchors: &Anchors,
) {
    let origin = particles.origin;
    let moved = frame.history.origin - origin;
    frame.history.origin = origin;
    if frame.motion_constraints.is_empty() {
        return;
    }
    // A tear or a cut has added particles.
    if frame.motion_constraints.max_distances.len() != particles.len() {
        bind_motion_constraints(&label, wanted, painted, frame, particles.len());
        if frame.motion_constraints.is_empty() {
            return;
        }
    }
    let PaintedShape { shape, skin, .. } = painted;
    let motion_constraints = &mut frame.motion_constraints;
    let count = motion_constraints.max_distances.len();
    motion_constraints.start_targets = std::mem::take(&mut frame.history.animation_targets);
    motion_constraints.start_targets.add_all(moved);
    let has_previous = motion_constraints.start_targets.len() == count;
    if motion_constraints.end_targets.len() != count {
        motion_constraints.end_targets = SoaVec3::zeros(count);
    }
    let own = match skin {
        Some(_) => None,
        None => anchors
            .relative(label.entity, origin)
            .filter(|own| own.is_finite()),
    };
    for (i, &rest) in shape.rest().iter().enumerate().take(count) {
        // A particle created by a cut has no joint, and is free.
        let source_particle = shape.source_particle(i as u32) as usize;
        let matrix = match skin {
            Some(skin) => Some(skin.matrix(source_particle)),
            None => own,
        };
        let target = match &matrix {
            Some(matrix) => matrix.transform_point3(rest),
            // The transform is not finite: keep the previous target.
            None if has_previous => motion_constraints.start_targets.get(i),
            None => particles.position.get(i),
        };
        motion_constraints.end_targets.set(i, target);
        if let (Some(back), Some(matrix)) = (&mut motion_constraints.backstop, matrix) {
            let normal = transform_normal(&matrix, frame.rest_normals[i]);
            back.normal.set(i, normal.normalize_or(Vec3::Y));
        }
    }
    if !has_previous {
        motion_constraints.start_targets = motion_constraints.end_targets.clone();
    }
}

/// Transforms a normal by the adjugate transpose of a matrix: it stays perpendicular to the surface under
/// non-uniform scale and shear, and on the same side of it under mirroring (Turkowski, Graphics Gems, 1990).
fn transform_normal(matrix: &Affine3A, normal: Vec3) -> Vec3 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let transformed = y.cross(z) * normal.x + z.cross(x) * normal.y + x.cross(y) * normal.z;
    let determinant = x.dot(y.cross(z));
    (transformed * determinant.signum()).into()
}

/// After a step: stores its animation targets as the start of the next step.
pub(crate) fn record_animation_targets(reference_frame: &mut ReferenceFrame) {
    if !reference_frame.motion_constraints.is_empty() {
        // The other buffer is reused for the next targets.
        std::mem::swap(
            &mut reference_frame.motion_constraints.start_targets,
            &mut reference_frame.motion_constraints.end_targets,
        );
        reference_frame.history.animation_targets =
            std::mem::take(&mut reference_frame.motion_constraints.start_targets);
    }
}

/// Returns the part of the frame's motion in this step that the cloth follows rigidly; `None` if it feels all of
/// the motion, or there is none.
pub(crate) fn find_frame_motion(
    entity: Entity,
    motion: Option<&ClothInertia>,
    pins: &BoundPins,
    reference: &mut ReferenceFrame,
    particles: &ParticleArrays,
    anchors: &Anchors,
    step: f32,
) -> Option<FrameMotion> {
    let frame = frame_of(entity, motion, pins)?;
    let now = pose_of(&anchors.at(frame)?)?;
    let (previous_frame, before) = reference.history.frame.replace((frame, now))?;
    // The pose of another frame is not comparable.
    if previous_frame != frame {
        return None;
    }
    // Follows rigidly the motion it does not feel.
    let scale = motion?.inertia_scale();
    let frame_motion = FrameMotion::unfelt(&before, &now, &scale, step)?;
    if frame_motion.is_identity() {
        return None;
    }
    // The previous animation targets move along.
    let start_targets = &mut reference.motion_constraints.start_targets;
    if start_targets.len() == particles.len() {
        frame_motion.transform_positions(start_targets, particles.origin);
    }
    Some(frame_motion)
}

/// Records the poses of the reference entity in this step.
pub(crate) fn record_reference_entity(
    entity: Entity,
    motion: Option<&ClothInertia>,
    pins: &BoundPins,
    is_skinned: bool,
    frame: &mut ReferenceFrame,
    transform_of: impl Fn(Entity) -> Option<GlobalTransform>,
) {
    let reference = reference_entity_of(entity, motion, pins, is_skinned, frame);
    let now =
        reference.and_then(|reference| Some((reference, pose_of(&transform_of(reference)?)?)));
    let before = frame.history.reference_entity;
    frame.history.reference_entity = now.map(|(entity, now)| {
        let before = before.filter(|before| before.entity == entity);
        let from = before.map_or(now, |before| before.poses[1]);
        ReferenceEntity {
            entity,
            poses: [from, now],
        }
    });
}

/// Records the poses of anchors, frame and reference entity of a cloth that was just built or reset, so that the
/// cloth follows their motion from now on, and not only from its first step.
pub(crate) fn record_anchor_poses(
    entity: Entity,
    motion: Option<&ClothInertia>,
    pins: &mut BoundPins,
    skin: Option<&SkinWeights>,
    frame: &mut ReferenceFrame,
    origin: Vec3,
    transform_of: impl Fn(Entity) -> Option<GlobalTransform>,
) {
    let relative_transform = |anchor| Some(relative(&transform_of(anchor)?, origin));
    for pin in &mut pins.pins {
        let anchor = match (pin.anchor, skin) {
            (PinAnchor::Cloth, Some(skin)) => Some(skin.matrix(pin.particle as usize)),
            (anchor, _) => anchor.entity_of(entity).and_then(relative_transform),
        };
        pin.target(anchor, origin);
    }
    frame.history.frame = frame_of(entity, motion, pins)
        .and_then(|frame| Some((frame, pose_of(&transform_of(frame)?)?)));
    frame.history.reference_entity = None;
    record_reference_entity(entity, motion, pins, skin.is_some(), frame, transform_of);
    frame.history.catch_up_pending = true;
}

/// Returns the entity whose motion a cloth feels: the frame of its [`ClothInertia`], else the common anchor of
/// all its pins, else its own entity; `None` if it is pinned to the world.
pub(super) fn frame_of(
    entity: Entity,
    motion: Option<&ClothInertia>,
    pins: &BoundPins,
) -> Option<Entity> {
    match motion {
        Some(motion) => motion.frame_of(entity),
        None => pins.common_anchor(entity),
    }
}

/// Returns the entity with which a cloth is rendered, if it is on a character: the common anchor of its pins, its
/// main joint, or its frame.
fn reference_entity_of(
    entity: Entity,
    motion: Option<&ClothInertia>,
    pins: &BoundPins,
    is_skinned: bool,
    frame: &ReferenceFrame,
) -> Option<Entity> {
    if motion.is_none() && !is_skinned && frame.motion_constraints.is_empty() {
        return None;
    }
    // A cloth pinned to the world has none.
    let anchor = pins.common_anchor(entity)?;
    if anchor != entity {
        return Some(anchor);
    }
    let joint = frame.dominant_joint;
    joint.or_else(|| motion.map_or(Some(anchor), |motion| motion.frame_of(entity)))
}
