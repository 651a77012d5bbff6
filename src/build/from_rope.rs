//! Builds ropes, and rebuilds them when they change.

use crate::solver::ParticleArrays;
use crate::{
    build::{PresetResolved, components::BuiltComponents, rebuild::remove_built_components},
    character::{inertia::ClothInertia, skin_weights::SkinWeights},
    cloth::{
        Cloth, ClothReady,
        activity::ClothSleeping,
        body::ClothBody,
        particles::{ClothConstraints, ClothParticles},
        settings::ClothGravity,
        shape::ClothShape,
        source::{ClothBuildFailed, ClothSource},
        transforms::is_usable,
    },
    mesh::Tube,
    params,
    pins::{Pins, bind::NO_PINS},
    render::own_mesh::{Binding, ClothMesh},
    rope::{Rope, RopeBody, RopeLayout, length_in_world},
};
use bevy::prelude::*;

/// Minimum length of a rope, m: a shorter one is invisible, and its masses are nearly 0.
const MIN_LENGTH: f64 = 1e-6;

/// Maximum distance from its entity, m: beyond it floating-point numbers lose all precision.
const MAX_EXTENT: f32 = 1e9;

pub(crate) fn build_ropes(
    mut commands: Commands,
    ropes: Query<
        (
            Entity,
            &Cloth,
            Option<&Pins>,
            Ref<Rope>,
            Ref<GlobalTransform>,
            Option<&Mesh3d>,
            Option<&ClothSource>,
            (Has<ClothBody>, Option<&RopeBody>),
            Option<&ClothBuildFailed>,
            Option<&ClothInertia>,
        ),
        PresetResolved,
    >,
    transforms: Query<&GlobalTransform>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    gravity: Res<ClothGravity>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    for (entity, cloth, pins, rope, transform, mesh, source, built, failed, motion) in &ropes {
        let (changed, moved) = (rope.is_changed(), transform.is_changed());
        let is_due = match (built, failed) {
            // A cloth that became a rope has no `RopeBody`.
            ((true, body), _) => changed && body.map(|body| &body.built_from) != Some(&*rope),
            (_, Some(_)) => changed || moved,
            _ => true,
        };
        if !is_due {
            continue;
        }
        let mut wanted = Rope::clone(&rope);
        let messages = sanitize(&mut wanted);
        let down = gravity.0 * cloth.gravity_scale;
        let layout = match lay_out(&wanted, &transform, down) {
            Ok(layout) => layout,
            Err(reason) => {
                // A moving entity must not log the same error in every frame.
                if failed.is_none_or(|failed| failed.reason != reason) {
                    error!("rope {entity} is not built: {reason}");
                    remove_built_components(entity, &sources, &mut commands);
                    commands
                        .entity(entity)
                        .try_insert(ClothBuildFailed { reason });
                }
                continue;
            }
        };
        for message in messages {
            warn!("rope {entity}: {message}");
        }
        let mut fabric = cloth.fabric;
        params::sanitize(params::FABRIC, &mut fabric);

        let BuiltRope {
            particles,
            constraints,
            shape,
            body,
            tube,
        } = build_rope(&rope, &wanted, layout, &transform);
        let own = meshes.add(tube.mesh());
        let source = ClothSource {
            source: mesh_before(mesh, source).unwrap_or_else(|| own.clone()),
            own: own.clone(),
        };
        let mesh = ClothMesh::new(Binding::Tube(tube));
        let mut built = BuiltComponents::new(particles, constraints, shape, mesh, source);
        let pins = pins.unwrap_or(&NO_PINS);
        let can_move = built.finish(entity, pins, motion, None, fabric.areal_density, |other| {
            transforms.get(other).ok().copied()
        });
        if !can_move {
            let count = built.particles.len();
            warn!("rope {entity}: all {count} particles are pinned, so nothing can move");
        }
        commands
            .entity(entity)
            // From its previous build.
            .try_remove::<(ClothBuildFailed, ClothSleeping, SkinWeights)>()
            .try_insert((built, body, Mesh3d(own)))
            .trigger(|entity| ClothReady { entity });
    }
}

/// Returns the mesh that an entity had before it became a rope, if any: not the tube of its previous build, nor that of
/// the entity it was cloned from.
fn mesh_before(mesh: Option<&Mesh3d>, source: Option<&ClothSource>) -> Option<Handle<Mesh>> {
    match (mesh, source) {
        (Some(mesh), Some(known)) if mesh.0 == known.own => {
            (known.source != known.own).then(|| known.source.clone())
        }
        (mesh, _) => mesh.map(|mesh| mesh.0.clone()),
    }
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
    if !is_usable(transform) {
        return Err(format!(
            "its transform has a scale of 0 or is not finite ({:?}); it will be built once \
             that is corrected",
            transform.affine()
        ));
    }
    let to_local = transform.affine().matrix3.inverse();
    let layout = RopeLayout::new(rope, (to_local * down).normalize_or(Vec3::NEG_Y))?;
    let to_world = Mat3::from(transform.affine().matrix3);
    let length = length_in_world(&rope.points, layout.slack, to_world);
    if length < MIN_LENGTH {
        return Err(format!(
            "at the scale of its entity it is {length} m long; make it longer"
        ));
    }
    // Squared distances must be finite too.
    let is_in_range = |&position: &Vec3| (to_world * position).abs().max_element() <= MAX_EXTENT;
    if !layout.positions.iter().all(is_in_range) {
        return Err(format!(
            "it extends more than {MAX_EXTENT} m from its entity; move Rope::points nearer, or \
             reduce Rope::length"
        ));
    }
    Ok(layout)
}

struct BuiltRope {
    particles: ClothParticles,
    constraints: ClothConstraints,
    shape: ClothShape,
    body: RopeBody,
    tube: Tube,
}

fn build_rope(
    original: &Rope,
    rope: &Rope,
    layout: RopeLayout,
    transform: &GlobalTransform,
) -> BuiltRope {
    let to_world = Mat3::from(transform.affine().matrix3);
    let body = RopeBody::new(original.clone(), rope, &layout);
    let (topology, mut constraints) = layout.build_topology();
    let segments = body.rest_segments(to_world, &mut constraints);
    let mut arc_length = 0.0;
    let lengths = segments.rest_length.iter().map(|length| {
        arc_length += length;
        arc_length
    });
    let tube = Tube::new(
        std::iter::once(0.0).chain(lengths).collect(),
        0.5 * segments.diameter,
        rope.sides,
    );
    let start = topology.rest_in_world(to_world);
    let mut shape = ClothShape {
        topology,
        segments: Some(segments),
        to_world,
        ..default()
    };
    shape.set_areas(&start);
    let free = vec![1.0; start.len()];
    BuiltRope {
        particles: ClothParticles(ParticleArrays::new(transform.translation(), start, free)),
        constraints: ClothConstraints(constraints),
        shape,
        body,
        tube,
    }
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
