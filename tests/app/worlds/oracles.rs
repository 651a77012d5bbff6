//! Properties of every world, after each update.

use super::scene::Scene;
use bevy::{camera::primitives::Aabb, mesh::VertexAttributeValues, prelude::*};
use bevy_drape::{cloth::ClothSource, prelude::*};

/// Coordinate at which cloth counts as lost, m, relative to its origin; that may lie as far away.
const FARTHEST: f32 = 2.0 * 16_777_216.0;

/// Returns the first violation.
pub(super) fn check(scene: &mut Scene) -> Result<(), String> {
    let world = scene.app.world_mut();
    let lost = scene
        .alive
        .iter()
        .find(|entity| world.get_entity(**entity).is_err());
    if let Some(lost) = lost {
        return Err(format!("{lost} is lost"));
    }
    check_cloths(world)
}

/// Returns the first violation of a cloth or of what is drawn.
pub(crate) fn check_cloths(world: &mut World) -> Result<(), String> {
    let mut particles = world.query::<(Entity, &ClothParticles)>();
    for (entity, particles) in particles.iter(world) {
        let mut all = (0..particles.len()).map(|i| (i, particles.world_position(i)));
        let is_near = |at: Vec3| at.abs().max_element() < FARTHEST && !at.is_nan();
        if let Some((i, at)) = all.find(|(_, at)| !is_near(*at)) {
            return Err(format!("particle {i} of {entity} is at {at}"));
        }
        let mut speeds = (0..particles.len()).map(|i| (i, particles.velocity(i)));
        if let Some((i, velocity)) = speeds.find(|(_, velocity)| !velocity.is_finite()) {
            return Err(format!(
                "particle {i} of {entity} has the velocity {velocity}"
            ));
        }
    }
    let mut bounds = world.query_filtered::<(Entity, &Aabb), With<ClothParticles>>();
    if let Some((entity, bounds)) = bounds.iter(world).find(|(_, bounds)| !is_valid(bounds)) {
        return Err(format!("{entity} has the bounds {bounds:?}"));
    }
    let mut drawn = world.query::<(Entity, &ClothSource, &Mesh3d)>();
    let meshes = world.resource::<Assets<Mesh>>();
    for (entity, source, mesh) in drawn.iter(world) {
        if source.own == mesh.0
            && let Some(mesh) = meshes.get(&mesh.0)
        {
            check_drawn(mesh).map_err(|error| format!("mesh of {entity}: {error}"))?;
        }
    }
    Ok(())
}

fn is_valid(bounds: &Aabb) -> bool {
    bounds.center.is_finite()
        && bounds.half_extents.is_finite()
        && bounds.half_extents.cmpge(Vec3A::ZERO).all()
}

fn check_drawn(mesh: &Mesh) -> Result<(), String> {
    let count = mesh.count_vertices();
    if let Some(index) = mesh
        .indices()
        .and_then(|indices| indices.iter().find(|&i| i >= count))
    {
        return Err(format!("index {index} of {count} vertices"));
    }
    for (attribute, values) in mesh.attributes() {
        let name = attribute.name;
        match values {
            VertexAttributeValues::Float32x3(values) => {
                let values = values.iter().map(|&value| Vec3::from(value));
                check_vectors(name, values, attribute.id == Mesh::ATTRIBUTE_NORMAL.id)?;
            }
            VertexAttributeValues::Float32x4(values)
                if attribute.id == Mesh::ATTRIBUTE_TANGENT.id =>
            {
                let values = values.iter().map(|&value| Vec4::from(value).truncate());
                check_vectors(name, values, true)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_vectors(
    name: &str,
    values: impl Iterator<Item = Vec3>,
    are_unit: bool,
) -> Result<(), String> {
    let is_good =
        |value: Vec3| value.is_finite() && (!are_unit || (value.length() - 1.0).abs() < 1e-3);
    match values.enumerate().find(|(_, value)| !is_good(*value)) {
        Some((i, value)) => Err(format!("{name} of vertex {i} is {value}")),
        None => Ok(()),
    }
}
