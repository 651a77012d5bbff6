//! Before a step: where an animation carries the particles of a cloth, and how much of the motion of its
//! frame it is taken along with.

use super::follow::{Anchors, FramePath, relative};
use crate::{
    cloth::ResetCloth,
    collider::LastPose,
    components::{ClothBody, Particles},
    guide::{Frame, Wearer},
    lod::ClothPaused,
    max_distance::{Backstop, MaxDistance},
    mesh::smooth_normals,
    paint::{PerVertex, VertexChannel},
    pins::PinAnchor,
    solver::{self, Carry, MotionLimits, ParticleArrays, SoaVec3},
    world_motion::{Teleport, TeleportCloth, WorldMotion},
};
use bevy::{
    math::{Affine3A, Vec3A},
    prelude::*,
};

/// Finds anew how far each particle may go.
pub(super) fn bind_limits(
    entity: Entity,
    wanted: Option<&MaxDistance>,
    body: &mut ClothBody,
    particles: usize,
) {
    body.guide.bound = wanted.cloned();
    let Some(MaxDistance { distance, backstop }) = wanted else {
        body.guide.limits = MotionLimits::default();
        body.guide.normals = Vec::new();
        body.guide.seen.places = SoaVec3::default();
        return;
    };
    body.guide.limits = MotionLimits::default();
    let Some(reach) = resolve(entity, "distance", distance, body, particles) else {
        return;
    };
    // Who may not be told where to be is free.
    let reach = reach.into_iter();
    let reach = reach.map(|r| {
        if r.is_nan() {
            f32::INFINITY
        } else {
            r.max(0.0)
        }
    });
    body.guide.limits.reach = reach.collect();
    body.guide.limits.backstop = backstop.as_ref().and_then(|Backstop { distance, radius }| {
        let distance = resolve(entity, "backstop", distance, body, particles)?;
        let distance = distance.into_iter();
        let distance = distance.map(|d| if d.is_nan() { f32::INFINITY } else { d });
        Some(solver::Backstop {
            normal: SoaVec3::zeros(particles),
            distance: distance.collect(),
            radius: if radius.is_finite() {
                radius.max(0.0)
            } else {
                0.0
            },
        })
    });
    body.guide.normals = if body.guide.limits.backstop.is_some() {
        rest_normals(body)
    } else {
        Vec::new()
    };
    // What was not there before has not been seen yet.
    if body.guide.seen.places.len() != particles {
        body.guide.seen.places = SoaVec3::default();
    }
}

/// A number for each particle, those that tears and cuts have made among them; free ones get infinity.
fn resolve(
    entity: Entity,
    what: &str,
    of: &PerVertex,
    body: &ClothBody,
    particles: usize,
) -> Option<Vec<f32>> {
    let whole = body.topology.positions.len();
    let values = match body.paint.resolve(of, body.skin.as_ref(), whole) {
        Ok(values) => values,
        Err(channel) => {
            let there = body.paint.inventory(body.skin.as_ref());
            error!(
                "cloth {entity}: its MaxDistance is left out, as the {what} is painted in \
                 {channel:?}, which its mesh does not have; it has {there}"
            );
            return None;
        }
    };
    let value = |i| values.get(body.ancestor(i) as usize).copied();
    Some(
        (0..particles as u32)
            .map(|i| value(i).unwrap_or(f32::INFINITY))
            .collect(),
    )
}

/// Where front is at rest, in mesh space.
fn rest_normals(body: &ClothBody) -> Vec<Vec3> {
    let places: Vec<Vec3A> = body.rest().iter().map(|&at| at.into()).collect();
    let mut normals = Vec::new();
    smooth_normals(&places, body.triangles.indices.iter(), &mut normals);
    // Where there is no area there is no front; any will do.
    let front = |n: Vec3A| if n == Vec3A::ZERO { Vec3::Y } else { n.into() };
    normals.into_iter().map(front).collect()
}

/// Warns of a painted channel that is missing.
pub(super) fn warn_of_missing(
    entity: Entity,
    body: &ClothBody,
    channels: &[VertexChannel],
    what: &str,
) {
    if !channels.is_empty() {
        let there = body.paint.inventory(body.skin.as_ref());
        warn!("cloth {entity}: no {channels:?} to {what} by; its mesh has {there}");
    }
}

/// Notes where the skeleton is, and where it carries the particles in this step.
pub(super) fn aim_limits(
    entity: Entity,
    wanted: Option<&MaxDistance>,
    body: &mut ClothBody,
    particles: &Particles,
    anchors: &Anchors,
) {
    let origin = particles.origin;
    let moved = body.guide.seen.origin - origin;
    body.guide.seen.origin = origin;
    if let Some(skin) = &mut body.skin {
        let missing = skin.pose(origin, moved, |joint| anchors.at(joint));
        if missing > 0 {
            warn!(
                "cloth {entity}: {missing} joints of its skeleton are gone; what hangs on them stays \
                 where they were"
            );
        }
    }
    // A tear or a cut has made new ones.
    if !body.guide.limits.is_empty() && body.guide.limits.reach.len() != particles.len() {
        bind_limits(entity, wanted, body, particles.len());
    }
    if body.guide.limits.is_empty() {
        return;
    }
    let count = body.guide.limits.reach.len();
    let mut limits = std::mem::take(&mut body.guide.limits);
    limits.from = std::mem::take(&mut body.guide.seen.places);
    limits.from.add_all(moved);
    let known = limits.from.len() == count;
    if limits.to.len() != count {
        limits.to = SoaVec3::zeros(count);
    }
    let own = match body.skin {
        Some(_) => None,
        None => anchors
            .relative(entity, origin)
            .filter(|own| own.is_finite()),
    };
    for (i, &rest) in body.rest().iter().enumerate().take(count) {
        // One that a cut has made belongs to no joint, and is free.
        let ancestor = body.ancestor(i as u32) as usize;
        let matrix = match &body.skin {
            Some(skin) => Some(skin.matrix(ancestor)),
            None => own,
        };
        let place = match &matrix {
            Some(matrix) => matrix.transform_point3(rest),
            // Its transform has gone bad: it stays.
            None if known => limits.from.get(i),
            None => particles.position.get(i),
        };
        limits.to.set(i, place);
        if let (Some(back), Some(matrix)) = (&mut limits.backstop, matrix) {
            let normal = upright(&matrix, body.guide.normals[i]);
            back.normal.set(i, normal.normalize_or(Vec3::Y));
        }
    }
    if !known {
        limits.from = limits.to.clone();
    }
    body.guide.limits = limits;
}

/// A normal under a matrix: still across the surface if that is scaled unevenly or sheared, and on the
/// same side of it if that is mirrored (Turkowski, Graphics Gems, 1990).
fn upright(matrix: &Affine3A, normal: Vec3) -> Vec3 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let across = y.cross(z) * normal.x + z.cross(x) * normal.y + x.cross(y) * normal.z;
    let side = x.dot(y.cross(z));
    (across * side.signum()).into()
}

/// After a step: what was seen in it is where the next begins.
pub(super) fn remember_places(body: &mut ClothBody) {
    let guide = &mut body.guide;
    if !guide.limits.is_empty() {
        // The other one is room for what is seen next.
        std::mem::swap(&mut guide.limits.from, &mut guide.limits.to);
        guide.seen.places = std::mem::take(&mut guide.limits.from);
    }
}

/// What a cloth is taken along with in this step.
pub(super) fn carried(
    entity: Entity,
    motion: Option<&WorldMotion>,
    body: &mut ClothBody,
    particles: &ParticleArrays,
    anchors: &Anchors,
    step: f32,
) -> Option<Carry> {
    let frame = frame_of(entity, motion, body)?;
    let now = Frame::of(&anchors.at(frame)?)?;
    let (of, before) = body.guide.seen.frame.replace((frame, now))?;
    // That of another frame tells nothing.
    if of != frame {
        return None;
    }
    // What is not felt the cloth goes along with.
    let by = motion?.feeling();
    let carry = Carry::unfelt(&before.pose(), &now.pose(), &by, step)?;
    if carry.is_still() {
        return None;
    }
    // What it was told to follow goes along too.
    if body.guide.limits.from.len() == particles.len() {
        carry.place(&mut body.guide.limits.from, particles.origin);
    }
    Some(carry)
}

/// Notes where in this step that goes which a cloth is worn by.
pub(super) fn see_wearer(
    entity: Entity,
    motion: Option<&WorldMotion>,
    body: &mut ClothBody,
    place: impl Fn(Entity) -> Option<GlobalTransform>,
) {
    let wearer = wearer_of(entity, motion, body);
    let now = wearer.and_then(|wearer| Some((wearer, Frame::of(&place(wearer)?)?)));
    let before = body.guide.seen.wearer;
    body.guide.seen.wearer = now.map(|(entity, now)| {
        let before = before.filter(|before| before.entity == entity);
        let from = before.map_or(now, |before| before.way[1]);
        Wearer {
            entity,
            way: [from, now],
        }
    });
}

/// Notes where all is that carries a cloth which has just been built, or reset: it goes along from there, and not
/// only from where things are seen in its first step.
pub(super) fn see_carriers(
    entity: Entity,
    motion: Option<&WorldMotion>,
    body: &mut ClothBody,
    origin: Vec3,
    place: impl Fn(Entity) -> Option<GlobalTransform>,
) {
    let anchor = |of: Entity| place(of).map(|place| relative(&place, origin));
    let mut pins = std::mem::take(&mut body.pins);
    for pin in &mut pins {
        let anchor = match (pin.anchor, &body.skin) {
            (PinAnchor::World, _) => None,
            (PinAnchor::Cloth, Some(skin)) => Some(skin.matrix(pin.particle as usize)),
            (PinAnchor::Cloth, None) => anchor(entity),
            (PinAnchor::Entity(other), _) => anchor(other),
        };
        pin.target(anchor, origin);
    }
    body.pins = pins;
    let frame = frame_of(entity, motion, body);
    body.guide.seen.frame = frame.and_then(|frame| Some((frame, Frame::of(&place(frame)?)?)));
    body.guide.seen.wearer = None;
    see_wearer(entity, motion, body, place);
    body.guide.seen.catches_up = true;
}

/// Asks for a teleport.
pub(crate) fn ask_for_teleport(event: On<TeleportCloth>, mut cloths: Query<&mut ClothBody>) {
    // One that is not built yet will be built where it is.
    if let Ok(mut body) = cloths.get_mut(event.entity) {
        body.bypass_change_detection().guide.teleport = Some(event.how);
    }
}

/// Takes cloths along whose frame was teleported, before anything is stepped or drawn.
pub(crate) fn teleport(
    mut cloths: Query<(Entity, &mut ClothBody, &mut Particles, Option<&WorldMotion>)>,
    transforms: TransformHelper,
    mut paths: Query<&mut FramePath>,
    mut last_poses: Query<&mut LastPose>,
    children: Query<&Children>,
    mut commands: Commands,
) {
    for (entity, mut body, mut particles, motion) in &mut cloths {
        let guide = &body.guide;
        // One that is put where its frame is anyway has gone no way.
        let detects = !guide.seen.catches_up && motion.is_some_and(WorldMotion::detects_teleports);
        if guide.teleport.is_none() && !detects {
            continue;
        }
        let body = body.bypass_change_detection();
        let Some(frame) = frame_of(entity, motion, body) else {
            body.guide.teleport = None;
            continue;
        };
        let now = transforms.compute_global_transform(frame);
        let Some(now) = now.ok().as_ref().and_then(Frame::of) else {
            continue;
        };
        let Some((_, before)) = body.guide.seen.frame.filter(|(of, _)| *of == frame) else {
            continue;
        };
        let (distance, angle) = before.way(&now);
        let detected = motion.filter(|motion| detects && motion.is_teleport(distance, angle));
        let Some(how) = (body.guide.teleport.take()).or(detected.map(|motion| motion.teleport))
        else {
            continue;
        };
        body.guide.seen.catches_up = false;
        body.guide.seen.frame = Some((frame, now));
        take_along(body, &mut particles, &before, &now);
        if how == Teleport::Reset {
            commands.trigger(ResetCloth { entity });
        }
        // All that belongs to it was put there too: nothing of it has moved on the way.
        let joints = body
            .skin
            .iter()
            .flat_map(|skin| skin.joints.iter().copied());
        // Capsules hang on them.
        let limbs = joints.flat_map(|joint| {
            let below = children.get(joint).ok().into_iter().flatten().copied();
            std::iter::once(joint).chain(below)
        });
        let own = [entity, frame].into_iter().chain(limbs);
        let anchors = body.pins.iter().filter_map(|pin| pin.anchor.entity());
        for other in own.chain(anchors).chain(children.iter_descendants(frame)) {
            if let Ok(mut path) = paths.get_mut(other) {
                path.jump();
            }
            if let Ok(mut last) = last_poses.get_mut(other) {
                last.set_if_neq(LastPose(None));
            }
        }
    }
}

/// Before a step: takes cloths to where their frame is seen in it that are new, or have stood still while it
/// moved on. Without, they would be ahead of the colliders which move with it, or behind, and begin inside them.
pub(crate) fn catch_up(
    mut cloths: Query<(
        Entity,
        &mut ClothBody,
        &mut Particles,
        Option<&WorldMotion>,
        Has<ClothPaused>,
    )>,
    anchors: Anchors,
) {
    for (entity, mut body, mut particles, motion, paused) in &mut cloths {
        let body = body.bypass_change_detection();
        if !body.guide.seen.catches_up {
            continue;
        }
        let frame = frame_of(entity, motion, body);
        let seen = body.guide.seen.frame.filter(|(of, _)| Some(*of) == frame);
        // What is paused stays where it is.
        let Some((frame, before)) = seen.filter(|_| !paused) else {
            body.guide.seen.catches_up = false;
            continue;
        };
        // Where that is no number it waits.
        let Some(now) = anchors.at(frame).as_ref().and_then(Frame::of) else {
            continue;
        };
        body.guide.seen.catches_up = false;
        body.guide.seen.frame = Some((frame, now));
        take_along(body, &mut particles, &before, &now);
    }
}

/// What moves a cloth: what its [`WorldMotion`] says, else what all of its pins hang on, else its own entity.
/// Nothing if it is pinned to the world.
fn frame_of(entity: Entity, motion: Option<&WorldMotion>, body: &ClothBody) -> Option<Entity> {
    match motion {
        Some(motion) => motion.frame_of(entity),
        None => carrier_of(entity, body),
    }
}

/// What all of its pins hang on, else its own entity. Nothing if it is pinned to the world.
fn carrier_of(entity: Entity, body: &ClothBody) -> Option<Entity> {
    let mut carrier = None;
    for pin in &body.pins {
        match (pin.anchor, carrier) {
            (PinAnchor::World, _) => return None,
            (PinAnchor::Entity(other), None) => carrier = Some(other),
            (PinAnchor::Entity(other), Some(one)) if other == one => {}
            // On several.
            _ => carrier = Some(entity),
        }
    }
    Some(carrier.unwrap_or(entity))
}

/// Who wears a cloth, if it is worn: what all of its pins hang on, the joint that holds most of it, or its frame.
fn wearer_of(entity: Entity, motion: Option<&WorldMotion>, body: &ClothBody) -> Option<Entity> {
    if motion.is_none() && body.skin.is_none() && body.guide.limits.is_empty() {
        return None;
    }
    // What is nailed to the world nobody wears.
    let carrier = carrier_of(entity, body)?;
    if carrier != entity {
        return Some(carrier);
    }
    let joint = body.guide.joint;
    joint.or_else(|| motion.map_or(Some(carrier), |motion| motion.frame_of(entity)))
}

/// Takes a cloth along with its frame, and all that it remembers of where it was.
fn take_along(body: &mut ClothBody, particles: &mut Particles, before: &Frame, now: &Frame) {
    if before == now {
        return;
    }
    let carry = Carry::whole(&before.pose(), &now.pose());
    carry.apply(particles);
    let ParticleArrays {
        previous, origin, ..
    } = &mut particles.0;
    carry.place(previous, *origin);
    let seen = &mut body.guide.seen;
    carry.place(&mut seen.places, seen.origin);
    for at in seen.wearer.iter_mut().flat_map(|wearer| &mut wearer.way) {
        *at = Frame::posed(&carry.pose(&at.pose()));
    }
    particles.rebase();
}
