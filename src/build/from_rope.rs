//! Builds ropes, and rebuilds them when they change.

use crate::solver::{ParticleArrays, RopeSegments, particles::is_within_reach};
use crate::{
    build::{PresetResolved, components::BuiltComponents, rebuild::remove_built_components},
    character::{inertia::ClothInertia, skin_weights::SkinWeights},
    cloth::{
        Cloth, ClothReady,
        activity::ClothSleeping,
        body::ClothBody,
        fingerprint::BuildFingerprint,
        particles::{ClothConstraints, ClothParticles},
        settings::ClothGravity,
        shape::ClothShape,
        source::{ClothBuildFailed, ClothSource},
        transforms::check_usable,
    },
    label::EntityLabel,
    mesh::Tube,
    params,
    pins::{Pins, bind::NO_PINS},
    render::own_mesh::{Binding, ClothMesh},
    rope::{Rope, RopeBody, RopeLayout, length_in_world},
};
use bevy::{ecs::query::QueryData, prelude::*};

/// Minimum length of a rope, m: a shorter one is invisible, and its masses are nearly 0.
const MIN_LENGTH: f64 = 1e-6;

/// Components from which a rope is built.
#[derive(QueryData)]
pub(crate) struct RopeQuery {
    label: EntityLabel,
    cloth: &'static Cloth,
    pins: Option<&'static Pins>,
    rope: Ref<'static, Rope>,
    transform: Ref<'static, GlobalTransform>,
    mesh: Option<&'static Mesh3d>,
    source: Option<&'static ClothSource>,
    is_built: Has<ClothBody>,
    body: Option<&'static RopeBody>,
    failed: Option<&'static ClothBuildFailed>,
    inertia: Option<&'static ClothInertia>,
}

/// Builds ropes that are new or have changed.
pub(crate) fn build_ropes(
    mut commands: Commands,
    ropes: Query<RopeQuery, PresetResolved>,
    transforms: Query<&GlobalTransform>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    gravity: Res<ClothGravity>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    for rope in ropes.iter().filter(RopeQueryItem::is_due) {
        let (label, entity) = (rope.label, rope.label.entity);
        let mut wanted = Rope::clone(&rope.rope);
        let messages = sanitize(&mut wanted);
        let down = gravity.0 * rope.cloth.gravity_scale;
        let layout = match lay_out(&wanted, &rope.transform, down) {
            Ok(layout) => layout,
            Err(reason) => {
                // A moving entity must not log the same error in every frame.
                if rope.failed.is_none_or(|failed| failed.reason != reason) {
                    error!("rope {label} is not built: {reason}");
                    remove_built_components(entity, &sources, &mut commands);
                    commands
                        .entity(entity)
                        .try_insert(ClothBuildFailed { reason });
                }
                continue;
            }
        };
        for message in messages {
            warn!("rope {label}: {message}");
        }
        let built = rope.build(&wanted, layout, &mut meshes, &transforms);
        commands
            .entity(entity)
            // From its previous build.
            .try_remove::<(ClothBuildFailed, ClothSleeping, SkinWeights)>()
            .try_insert(built)
            .trigger(|entity| ClothReady { entity });
    }
}

impl RopeQueryItem<'_, '_> {
    /// Returns whether the rope must be built, or built again.
    fn is_due(&self) -> bool {
        let (changed, moved) = (self.rope.is_changed(), self.transform.is_changed());
        match (self.is_built, self.failed) {
            // A cloth that became a rope has no `RopeBody`.
            (true, _) => changed && self.body.map(|body| &body.built_from) != Some(&*self.rope),
            (_, Some(_)) => changed || moved,
            _ => true,
        }
    }

    /// Builds the rope as laid out. `rope` has valid numbers.
    fn build(
        &self,
        rope: &Rope,
        layout: RopeLayout,
        meshes: &mut Assets<Mesh>,
        transforms: &Query<&GlobalTransform>,
    ) -> (BuiltComponents, RopeBody, Mesh3d) {
        let to_world = Mat3::from(self.transform.affine().matrix3);
        let body = RopeBody::new(Rope::clone(&self.rope), rope, &layout);
        let (topology, mut constraints) = layout.build_topology();
        let segments = body.rest_segments(to_world, &mut constraints);
        let tube = tube(&segments, rope.sides);
        let start = topology.rest_in_world(to_world);
        let mut shape = ClothShape {
            topology,
            segments: Some(segments),
            ..default()
        };
        shape.set_frame(to_world);
        shape.set_areas(&start);
        shape.build_fingerprint = BuildFingerprint::new(&shape, None, &constraints);
        let count = start.len();
        let particles = ParticleArrays::new(self.transform.translation(), start, vec![1.0; count]);

        let own = meshes.add(tube.mesh());
        let source = ClothSource {
            source: self.mesh_before().unwrap_or_else(|| own.clone()),
            own: own.clone(),
        };
        let mut built = BuiltComponents::new(
            ClothParticles(particles),
            ClothConstraints(constraints),
            shape,
            ClothMesh::new(Binding::Tube(tube)),
            source,
        );
        let (label, pins) = (self.label, self.pins.unwrap_or(&NO_PINS));
        let mut fabric = self.cloth.fabric;
        params::sanitize(params::FABRIC, &mut fabric);
        let density = fabric.areal_density;
        let can_move = built.finish(&label, pins, None, density);
        built.record_poses(label.entity, self.inertia, None, |other| {
            transforms.get(other).ok().copied()
        });
        if !can_move {
            warn!("rope {label}: all {count} particles are pinned, so nothing can move");
        }
        (built, body, Mesh3d(own))
    }

    /// Returns the mesh that the entity had before it became a rope, if any: not the tube of its previous build, nor
    /// that of the entity it was cloned from.
    fn mesh_before(&self) -> Option<Handle<Mesh>> {
        let mesh = ClothSource::original(self.source, self.mesh?);
        let is_tube = self.source.is_some_and(|known| known.own == *mesh);
        (!is_tube).then(|| mesh.clone())
    }
}

/// Returns the tube around the segments of a rope.
fn tube(segments: &RopeSegments, sides: u32) -> Tube {
    let mut arc_length = 0.0;
    let lengths = segments.rest_length.iter().map(|length| {
        arc_length += length;
        arc_length
    });
    let arc_lengths = std::iter::once(0.0).chain(lengths).collect();
    Tube::new(arc_lengths, 0.5 * segments.diameter, sides)
}

/// Clamps all numbers of a rope to their ranges. Returns a message for each one that was outside.
fn sanitize(rope: &mut Rope) -> Vec<String> {
    let mut messages = params::sanitize(params::ROPE, rope);
    if let Some(length) = rope.length
        && !(length > 0.0 && length.is_finite())
    {
        rope.length = None;
        messages.push(format!(
            "Rope::length is {length}, but must be above 0 m; using the length of the polyline"
        ));
    }
    messages
}

/// Lays out a rope, or returns why it cannot be built. `down` is the direction of sag in the world.
fn lay_out(rope: &Rope, transform: &GlobalTransform, down: Vec3) -> Result<RopeLayout, String> {
    check_usable(transform)?;
    let to_local = transform.affine().matrix3.inverse();
    let layout = RopeLayout::new(rope, (to_local * down).normalize_or(Vec3::NEG_Y))?;
    let to_world = Mat3::from(transform.affine().matrix3);
    let length = length_in_world(&rope.points, layout.slack, to_world);
    if length < MIN_LENGTH {
        return Err(format!(
            "at the scale of its entity it is {length} m long; make it longer"
        ));
    }
    let is_in_range = |&position: &Vec3| is_within_reach(to_world * position);
    if !layout.positions.iter().all(is_in_range) {
        return Err(
            "it extends more than 16 777 km from its entity; move Rope::points nearer, or \
             reduce Rope::length or the scale of its entity"
                .into(),
        );
    }
    Ok(layout)
}

/// When `Rope` is removed, removes all components that building has added.
pub(crate) fn remove_rope_components(
    event: On<Remove, Rope>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    mut commands: Commands,
) {
    remove_built_components(event.entity, &sources, &mut commands);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_lengths_are_replaced_by_none() {
        for bad in [f32::NAN, f32::INFINITY, 0.0, -1.0] {
            let mut rope = Rope {
                length: Some(bad),
                ..default()
            };
            let messages = sanitize(&mut rope);
            assert!(messages.len() == 1 && messages[0].contains("Rope::length"));
            assert_eq!(rope, Rope::default());
        }
    }
}
