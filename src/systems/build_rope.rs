//! Builds ropes, and builds them anew when they are changed.

use super::{bind::rebind, build::is_usable, guide::see_carriers, rebuild::take_apart};
use crate::{
    cloth::{Cloth, ClothReady},
    components::{
        Binding, BuildFailed, ClothBody, ClothMesh, ClothSource, Constraints, Known, Particles,
        Reach,
    },
    grab::ClothGrabs,
    mesh::Tube,
    params,
    pins::Pins,
    rope::{Course, Rope, RopeBody, length_in_world},
    settings::ClothGravity,
    snapshot::BuiltFrom,
    solver::ParticleArrays,
    world_motion::WorldMotion,
};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    prelude::*,
};

/// A shorter rope is nothing to see, and its particles weigh next to nothing, m.
const SHORTEST: f64 = 1e-6;

/// Beyond this numbers lose all their digits, m.
const FARTHEST: f32 = 1e9;

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
            Option<&ClothBody>,
            Option<&BuildFailed>,
            Option<&WorldMotion>,
        ),
        Known,
    >,
    places: Query<&GlobalTransform>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    gravity: Res<ClothGravity>,
    mut meshes: ResMut<Assets<Mesh>>,
) {
    for (entity, cloth, pins, rope, transform, mesh, source, body, failed, motion) in &ropes {
        let (changed, moved) = (rope.is_changed(), transform.is_changed());
        let due = match (body, failed) {
            // A cloth that has become a rope has another body.
            (Some(body), _) => {
                let built_from = body.rope.as_ref().map(|rope| &rope.built_from);
                changed && built_from != Some(&*rope)
            }
            (None, Some(_)) => changed || moved,
            (None, None) => true,
        };
        if !due {
            continue;
        }
        let mut wanted = Rope::clone(&rope);
        let messages = wanted.sanitize();
        let down = gravity.0 * cloth.gravity_scale;
        let course = match course(&wanted, &transform, down) {
            Ok(course) => course,
            Err(reason) => {
                // A moving entity must not repeat the same error in every frame.
                if failed.is_none_or(|failed| failed.reason != reason) {
                    error!("rope {entity} is not built: {reason}");
                    take_apart(entity, &sources, &mut commands);
                    commands.entity(entity).try_insert(BuildFailed { reason });
                }
                continue;
            }
        };
        for message in messages {
            warn!("rope {entity}: {message}");
        }
        let mut fabric = cloth.fabric;
        params::sanitize(params::FABRIC, &mut fabric);

        let Parts {
            mut particles,
            constraints,
            mut body,
            tube,
        } = make(&rope, &wanted, course, &transform);
        rebind(entity, pins.unwrap_or(&Pins::none()), &particles, &mut body);
        see_carriers(entity, motion, &mut body, particles.origin, |other| {
            places.get(other).ok().copied()
        });
        body.set_masses(&mut particles, fabric.areal_density);
        if particles.inverse_mass.iter().all(|&w| w == 0.0) {
            let count = particles.len();
            warn!("rope {entity}: all {count} particles are pinned, so nothing can move");
        }

        let own = meshes.add(tube.mesh());
        // The mesh that it had as no rope, if any: not the tube of this one before it was changed,
        // nor of the one that it was cloned from.
        let before = match (mesh, source) {
            (Some(mesh), Some(known)) if mesh.0 == known.own => {
                (known.source != known.own).then(|| known.source.clone())
            }
            (mesh, _) => mesh.map(|mesh| mesh.0.clone()),
        };
        commands
            .entity(entity)
            .try_remove::<BuildFailed>()
            .try_insert((
                particles,
                constraints,
                body,
                ClothMesh {
                    binding: Binding::Tube(tube),
                    local: Vec::new(),
                    own: None,
                    written: None,
                    rest: None,
                    joint: None,
                },
                ClothGrabs::default(),
                ClothSource {
                    source: before.unwrap_or_else(|| own.clone()),
                    own: own.clone(),
                },
                Mesh3d(own),
                Aabb::default(),
                NoAutoAabb,
            ))
            .trigger(|entity| ClothReady { entity });
    }
}

/// Lays out a rope at its place, or says why it cannot be built. `down` is where it sags to in the
/// world.
fn course(rope: &Rope, transform: &GlobalTransform, down: Vec3) -> Result<Course, String> {
    if !is_usable(transform) {
        return Err(format!(
            "its transform has a scale of 0 or numbers that are not finite ({:?}); it will be \
             built once that is put right",
            transform.affine()
        ));
    }
    let to_local = transform.affine().matrix3.inverse();
    let course = Course::new(rope, (to_local * down).normalize_or(Vec3::NEG_Y))?;
    let to_world = Mat3::from(transform.affine().matrix3);
    let length = length_in_world(&rope.points, course.slack, to_world);
    if length < SHORTEST {
        return Err(format!(
            "at the scale of its entity it is {length} m long; make it longer"
        ));
    }
    // The square, which distances are made of, must be a number too.
    let near = |&place: &Vec3| (to_world * place).abs().max_element() <= FARTHEST;
    if !course.places.iter().all(near) {
        return Err(format!(
            "it reaches farther than {FARTHEST} m from its entity; bring Rope::points nearer, or \
             make Rope::length shorter"
        ));
    }
    Ok(course)
}

struct Parts {
    particles: Particles,
    constraints: Constraints,
    body: ClothBody,
    tube: Tube,
}

fn make(written: &Rope, rope: &Rope, course: Course, transform: &GlobalTransform) -> Parts {
    let to_world = Mat3::from(transform.affine().matrix3);
    let mut rope_body = RopeBody::new(written.clone(), rope, &course);
    let (topology, mut constraints) = course.bind();
    rope_body.set_rest(to_world, &mut constraints);
    let mut along = 0.0;
    let lengths = rope_body.lines.rest_length.iter().map(|length| {
        along += length;
        along
    });
    let tube = Tube::new(
        std::iter::once(0.0).chain(lengths).collect(),
        rope_body.radius,
        rope.sides,
    );
    let start = topology.rest_in_world(to_world);
    let mut body = ClothBody {
        topology,
        rope: Some(rope_body),
        reach: Reach {
            to_world,
            ..default()
        },
        ..default()
    };
    body.set_areas(&start);
    body.built = BuiltFrom::new(to_world, &body, None, &constraints);
    let free = vec![1.0; start.len()];
    Parts {
        particles: Particles(ParticleArrays::new(transform.translation(), start, free)),
        constraints: Constraints(constraints),
        body,
        tube,
    }
}

/// When `Rope` is removed, everything that building it has added is.
pub(crate) fn take_rope_apart(
    event: On<Remove, Rope>,
    sources: Query<(&ClothSource, &Mesh3d)>,
    mut commands: Commands,
) {
    take_apart(event.entity, &sources, &mut commands);
}
