//! Observers and systems that begin, move and end grabs, and the grab constraints of a substep.

use super::{ClothGrabbed, ClothGrabs, ClothReleased, DragCloth, Grab, GrabCloth, ReleaseCloth};
use crate::cloth::{particles::ClothParticles, schedule::ClothSubstepTime, shape::ClothShape};
use crate::label::EntityLabel;
use crate::solver::{
    constraints::grab::{GrabConstraint, GrabPoint, GrabSettings},
    math::closest_point::{ClosestOnTriangle, Feature},
    particles::is_within_reach,
};
use bevy::{
    ecs::{
        entity::{Entities, EntityHashSet},
        lifecycle::Discard,
    },
    prelude::*,
};

pub(crate) fn grab(
    event: On<GrabCloth>,
    mut cloths: Query<(EntityLabel, &ClothParticles, &ClothShape, &mut ClothGrabs)>,
    mut commands: Commands,
) {
    let request = event.event();
    let (entity, by) = (request.entity, request.by);
    let Ok((label, particles, shape, mut grabs)) = cloths.get_mut(entity) else {
        return;
    };
    let numbers = [
        request.reach,
        request.force,
        request.speed,
        request.compliance,
    ];
    if !is_within_reach(request.at) || numbers.iter().any(|n| n.is_nan() || *n < 0.0) {
        warn!(
            "cloth {label}: cannot be grabbed with {request:?}; give a position below \
             16 777 km, and a reach, force, speed and compliance of at least 0"
        );
        return;
    }
    let at = request.at - particles.origin;
    let Some((nearest, triangle)) = nearest_point(particles, shape, at, request.reach) else {
        return;
    };
    let (points, triangle) = if request.radius > 0.0 {
        (points_in_radius(particles, at, request.radius), None)
    } else {
        (vec![nearest], triangle)
    };
    if points.is_empty() {
        return;
    }
    grabs.0.retain(|grab| grab.by != by);
    grabs.0.push(Grab {
        by,
        target: request.at,
        position: request.at,
        start: request.at,
        speed: request.speed,
        settings: GrabSettings {
            compliance: request.compliance,
            force: request.force,
        },
        points,
        triangle,
    });
    let at = request.at;
    commands.trigger(ClothGrabbed { entity, by, at });
}

/// Returns a grab point for every particle within a radius, each at its current offset from the grab.
fn points_in_radius(particles: &ClothParticles, at: Vec3, radius: f32) -> Vec<GrabPoint> {
    let positions = particles.position.iter().zip(0_u32..);
    positions
        .filter(|(position, _)| position.distance_squared(at) <= radius * radius)
        .map(|(position, i)| GrabPoint {
            particles: [i; 3],
            weights: [1.0, 0.0, 0.0],
            offset: position - at,
        })
        .collect()
}

/// Finds the nearest point of the cloth and its triangle. The point keeps its offset from the grab: the cloth does
/// not move until the grab does.
fn nearest_point(
    particles: &ClothParticles,
    shape: &ClothShape,
    at: Vec3,
    reach: f32,
) -> Option<(GrabPoint, Option<u32>)> {
    let segments = shape.segments.iter().flat_map(|segments| &segments.ends);
    let segments = segments.map(|&[a, b]| ([a, b, b], None));
    let triangles = shape.triangles.indices.iter().zip(0_u32..);
    let triangles = triangles.map(|(corners, number)| (corners, Some(number)));
    let mut best: Option<(f32, GrabPoint, Option<u32>)> = None;
    for (corners, number) in triangles.chain(segments) {
        let positions = corners.map(|i| particles.position.get(i as usize));
        let weights = nearest_weights(positions, at);
        let point =
            positions[0] * weights[0] + positions[1] * weights[1] + positions[2] * weights[2];
        let distance = point.distance_squared(at);
        let least = best.as_ref().map_or(reach * reach, |(least, ..)| *least);
        if distance < least || (best.is_none() && distance <= least) {
            let grab_point = GrabPoint {
                particles: corners,
                weights,
                offset: point - at,
            };
            best = Some((distance, grab_point, number));
        }
    }
    best.map(|(_, grab_point, number)| (grab_point, number))
}

/// Returns the barycentric weights of the nearest point of a triangle. A triangle without area counts as its nearest
/// corner.
fn nearest_weights(corners: [Vec3; 3], at: Vec3) -> [f32; 3] {
    let ClosestOnTriangle { weights, feature } = ClosestOnTriangle::new(corners, at);
    // The weights on an edge between two equal corners are NaN too.
    if feature != Feature::Degenerate && weights.iter().all(|weight| weight.is_finite()) {
        return weights;
    }
    let [a, b, c] = corners.map(|corner| corner.distance_squared(at));
    if a <= b && a <= c {
        [1.0, 0.0, 0.0]
    } else if b <= c {
        [0.0, 1.0, 0.0]
    } else {
        [0.0, 0.0, 1.0]
    }
}

pub(crate) fn drag(
    event: On<DragCloth>,
    mut cloths: Query<(EntityLabel, &mut ClothGrabs)>,
    mut reported: Local<EntityHashSet>,
) {
    let DragCloth { entity, by, to } = *event.event();
    let Ok((label, mut grabs)) = cloths.get_mut(entity) else {
        return;
    };
    let Some(grab) = grabs.0.iter_mut().find(|grab| grab.by == by) else {
        return;
    };
    if is_within_reach(to) {
        grab.target = to;
    } else if reported.insert(entity) {
        warn!(
            "cloth {label}: cannot be dragged to {to}, so the grab stays where it is; give a position below 16 777 km"
        );
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

/// Ends all grabs of a cloth that is reset.
pub(crate) fn release_all(entity: Entity, grabs: &mut ClothGrabs, commands: &mut Commands) {
    for Grab { by, .. } in grabs.0.drain(..) {
        commands.trigger(ClothReleased { entity, by });
    }
}

/// Triggers [`ClothReleased`] for every grab of a cloth that is rebuilt or stops being cloth.
pub(crate) fn notify_released(
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

/// Moves all grabs towards their targets by at most their speed times one fixed step. Ends grabs whose entity is
/// despawned.
pub(crate) fn move_grabs(
    mut cloths: Query<(Entity, &mut ClothGrabs)>,
    entities: &Entities,
    time: Res<ClothSubstepTime>,
    mut commands: Commands,
) {
    for (entity, mut grabs) in &mut cloths {
        if grabs.0.is_empty() {
            continue;
        }
        grabs.0.retain(|grab| {
            let by = grab.by;
            let exists = entities.contains(by);
            if !exists {
                commands.trigger(ClothReleased { entity, by });
            }
            exists
        });
        for grab in &mut grabs.0 {
            grab.start = grab.position;
            let displacement = grab.target - grab.position;
            grab.position += displacement.clamp_length_max(grab.speed * time.step);
        }
    }
}

impl ClothGrabs {
    /// Returns the grab constraints of this step.
    pub(crate) fn constraints(&self) -> impl Iterator<Item = GrabConstraint<'_>> + Clone {
        self.0.iter().map(|grab| GrabConstraint {
            points: &grab.points,
            settings: &grab.settings,
            start: grab.start,
            end: grab.position,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_on_a_triangle_without_area_are_finite() {
        let [a, b, c] = [Vec3::ZERO, Vec3::X, Vec3::new(0.5, 0.0, 0.0)];
        let at = Vec3::new(0.9, 0.2, 0.0);
        for corners in [[a, b, c], [a, a, b], [a, b, b], [a, b, a], [b, b, b]] {
            let weights = nearest_weights(corners, at);
            assert!(
                weights.iter().all(|weight| (0.0..=1.0).contains(weight)),
                "{corners:?}: {weights:?}"
            );
            let sum: f32 = weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-6, "{corners:?}: {weights:?}");
        }
        assert_eq!(nearest_weights([a, a, b], at), [0.0, 0.0, 1.0]);
    }
}
