//! Takes hold, follows the hand, lets go.

use super::{ClothGrabbed, ClothGrabs, ClothReleased, DragCloth, Grab, GrabCloth, ReleaseCloth};
use crate::{
    components::{ClothBody, Particles},
    plugin::SubstepTime,
    solver::grab::{self, Grip, Handle, InHand, nearest_on_triangle},
};
use bevy::{
    ecs::{entity::Entities, lifecycle::Discard},
    prelude::*,
};

pub(crate) fn grab(
    event: On<GrabCloth>,
    mut cloths: Query<(&Particles, &ClothBody, &mut ClothGrabs)>,
    mut commands: Commands,
) {
    let wanted = event.event();
    let (entity, by) = (wanted.entity, wanted.by);
    let Ok((particles, body, mut grabs)) = cloths.get_mut(entity) else {
        return;
    };
    let numbers = [wanted.force, wanted.speed, wanted.compliance];
    if !wanted.at.is_finite() || numbers.iter().any(|n| n.is_nan() || *n < 0.0) {
        warn!("cloth {entity}: nobody can hold it like this: {wanted:?}");
        return;
    }
    let at = wanted.at - particles.origin;
    let (handles, triangle) = if wanted.radius > 0.0 {
        (all_within(particles, at, wanted.radius), None)
    } else {
        match nearest(particles, body, at, wanted.reach) {
            Some((handle, triangle)) => (vec![handle], triangle),
            None => return,
        }
    };
    if handles.is_empty() {
        return;
    }
    grabs.0.retain(|grab| grab.by != by);
    grabs.0.push(Grab {
        by,
        target: wanted.at,
        place: wanted.at,
        start: wanted.at,
        speed: wanted.speed,
        grip: Grip {
            compliance: wanted.compliance,
            force: wanted.force,
        },
        handles,
        triangle,
    });
    let at = wanted.at;
    commands.trigger(ClothGrabbed { entity, by, at });
}

/// Every particle within a radius is held where it is from the hand.
fn all_within(particles: &Particles, at: Vec3, radius: f32) -> Vec<Handle> {
    let places = particles.position.iter().zip(0_u32..);
    places
        .filter(|(place, _)| place.distance_squared(at) <= radius * radius)
        .map(|(place, i)| Handle {
            particles: [i; 3],
            weights: [1.0, 0.0, 0.0],
            offset: place - at,
        })
        .collect()
}

/// The point of the cloth that is nearest, and its triangle. The hand takes it where it is: nothing
/// moves before the hand does.
fn nearest(
    particles: &Particles,
    body: &ClothBody,
    at: Vec3,
    reach: f32,
) -> Option<(Handle, Option<u32>)> {
    let lines = body.rope.iter().flat_map(|rope| &rope.lines.segments);
    let lines = lines.map(|&[a, b]| ([a, b, b], None));
    let triangles = body.triangles.indices.iter().zip(0_u32..);
    let triangles = triangles.map(|(corners, number)| (corners, Some(number)));
    let mut best: Option<(f32, Handle, Option<u32>)> = None;
    for (corners, number) in triangles.chain(lines) {
        let places = corners.map(|i| particles.position.get(i as usize));
        let weights = nearest_on_triangle(at, places);
        let point = places[0] * weights[0] + places[1] * weights[1] + places[2] * weights[2];
        let distance = point.distance_squared(at);
        let least = best.as_ref().map_or(reach * reach, |(least, ..)| *least);
        if distance < least || (best.is_none() && distance <= least) {
            let handle = Handle {
                particles: corners,
                weights,
                offset: point - at,
            };
            best = Some((distance, handle, number));
        }
    }
    best.map(|(_, handle, number)| (handle, number))
}

pub(crate) fn drag(event: On<DragCloth>, mut cloths: Query<&mut ClothGrabs>) {
    let DragCloth { entity, by, to } = *event.event();
    let Ok(mut grabs) = cloths.get_mut(entity) else {
        return;
    };
    if let Some(grab) = grabs.0.iter_mut().find(|grab| grab.by == by)
        && to.is_finite()
    {
        grab.target = to;
    }
}

pub(crate) fn release(
    event: On<ReleaseCloth>,
    mut cloths: Query<&mut ClothGrabs>,
    mut commands: Commands,
) {
    let ReleaseCloth { entity, by } = *event.event();
    let Ok(mut grabs) = cloths.get_mut(entity) else {
        return;
    };
    let before = grabs.0.len();
    grabs.0.retain(|grab| grab.by != by);
    if grabs.0.len() < before {
        commands.trigger(ClothReleased { entity, by });
    }
}

/// Lets go of a cloth that is put back.
pub(crate) fn let_go_of_all(entity: Entity, grabs: &mut ClothGrabs, commands: &mut Commands) {
    for Grab { by, .. } in grabs.0.drain(..) {
        commands.trigger(ClothReleased { entity, by });
    }
}

/// A cloth that is rebuilt, or is no cloth any more, is held by nobody.
pub(crate) fn tell_released(
    event: On<Discard, ClothGrabs>,
    cloths: Query<&ClothGrabs>,
    mut commands: Commands,
) {
    let entity = event.entity;
    for grab in cloths.get(entity).into_iter().flat_map(|grabs| &grabs.0) {
        let by = grab.by;
        commands.trigger(ClothReleased { entity, by });
    }
}

/// Moves all hands towards their targets, by what they can do in one fixed step. Those that are gone
/// let go.
pub(crate) fn begin_step(
    mut cloths: Query<(Entity, &mut ClothGrabs)>,
    holders: &Entities,
    time: Res<SubstepTime>,
    mut commands: Commands,
) {
    for (entity, mut grabs) in &mut cloths {
        if grabs.0.is_empty() {
            continue;
        }
        grabs.0.retain(|grab| {
            let by = grab.by;
            let is_there = holders.contains(by);
            if !is_there {
                commands.trigger(ClothReleased { entity, by });
            }
            is_there
        });
        for grab in &mut grabs.0 {
            grab.start = grab.place;
            let way = grab.target - grab.place;
            grab.place += way.clamp_length_max(grab.speed * time.step);
        }
    }
}

impl ClothGrabs {
    /// Before constraints are solved: what is held weighs more.
    pub(crate) fn take(&self, particles: &mut Particles, in_hand: &mut InHand, time: &SubstepTime) {
        for Grab { handles, grip, .. } in &self.0 {
            in_hand.take(particles, handles, grip, time.substep);
        }
    }

    /// After that: draws what is held to where the hands are in this substep. Then it weighs what it did.
    pub(crate) fn hold(&self, particles: &mut Particles, in_hand: &mut InHand, time: &SubstepTime) {
        let origin = particles.origin;
        for grab in &self.0 {
            let place = |index: u32| {
                let share = index as f32 / time.count as f32;
                grab.start.lerp(grab.place, share) - origin
            };
            let places = [place(time.index), place(time.index + 1)];
            grab::hold(particles, &grab.handles, &grab.grip, places, time.substep);
        }
        in_hand.give_back(particles);
    }
}
