//! Tears what carries too much.

use super::{Operate, TearCause, TearResistance, Tearing, requests::part_threads};
use crate::{
    components::{Binding, ClothBody, ClothMesh, ClothSource, Constraints, Particles},
    lod::InMotion,
    solver::tear::{Carrier, Overload, TearLimit, overloaded},
};
use bevy::{mesh::VertexAttributeValues, prelude::*};

/// Reads where a cloth is weak, when its `Tearing` or the cloth itself is new. `own` is its mesh, which
/// has opened with it.
fn find_resistance(
    entity: Entity,
    resistance: &TearResistance,
    body: &ClothBody,
    binding: &Binding,
    own: Option<&Mesh>,
) -> Vec<f32> {
    match resistance {
        TearResistance::Uniform => Vec::new(),
        TearResistance::Predicate(function) => {
            body.rest().iter().map(|&at| (function.0)(at)).collect()
        }
        TearResistance::VertexColour => {
            let red = own.and_then(red_of);
            let (Some(red), Binding::Sheet(binding)) = (red, binding) else {
                warn!(
                    "cloth {entity}: its mesh has no vertex colours (Mesh::ATTRIBUTE_COLOR), so it \
                     resists tearing the same everywhere"
                );
                return Vec::new();
            };
            let mut least = vec![f32::INFINITY; body.rest().len()];
            for (particle, &red) in binding.vertex_to_particle().iter().zip(&red) {
                // Vertices without a triangle have none.
                if let Some(least) = least.get_mut(particle as usize) {
                    *least = least.min(red);
                }
            }
            least
        }
    }
}

/// The red of each vertex.
fn red_of(mesh: &Mesh) -> Option<Vec<f32>> {
    match mesh.try_attribute_option(Mesh::ATTRIBUTE_COLOR).ok()?? {
        VertexAttributeValues::Float32x4(colours) => {
            Some(colours.iter().map(|colour| colour[0]).collect())
        }
        VertexAttributeValues::Unorm8x4(colours) => {
            Some(colours.iter().map(|c| f32::from(c[0]) / 255.0).collect())
        }
        _ => None,
    }
}

/// Threads that are tried for each that may break: some cannot, because too small a piece would come
/// off.
const TRIES: usize = 8;

pub(crate) fn tear_overloaded(
    mut params: ParamSet<(
        (
            Query<
                (
                    Entity,
                    Ref<Tearing>,
                    Ref<ClothSource>,
                    &mut ClothBody,
                    &ClothMesh,
                    &Particles,
                    &Constraints,
                ),
                InMotion,
            >,
            Res<Assets<Mesh>>,
        ),
        Operate,
    )>,
) {
    let mut due: Vec<(Entity, Vec<Overload>, Tearing)> = Vec::new();
    let (mut cloths, meshes) = params.p0();
    for (entity, tearing, source, mut body, mesh, particles, constraints) in &mut cloths {
        if body.pace.waits {
            continue;
        }
        if tearing.is_changed() || source.is_changed() {
            let own = meshes.get(&source.own);
            let resistance = &tearing.resistance;
            body.resistance = find_resistance(entity, resistance, &body, &mesh.binding, own);
        }
        let value = match tearing.limit {
            TearLimit::Strain(value) | TearLimit::Load(value) => value,
        };
        if value.is_nan() || value <= 0.0 {
            if tearing.is_changed() {
                warn!(
                    "cloth {entity}: Tearing::limit is {value}, must be above 0; it does not tear"
                );
            }
            continue;
        }
        let resistance = |i: u32| body.resistance.get(i as usize).copied().unwrap_or(1.0);
        let carrier = match &body.rope {
            Some(_) => Carrier::Rope(std::f32::consts::TAU * body.radius()),
            None => Carrier::Sheet(&body.triangles),
        };
        let mut found = overloaded(particles, constraints, carrier, tearing.limit, resistance);
        found.truncate(tearing.most_per_step as usize * TRIES);
        if !found.is_empty() {
            due.push((entity, found, Tearing::clone(&tearing)));
        }
    }
    let mut operate = params.p1();
    for (entity, overloads, tearing) in due {
        let most = tearing.most_per_step as usize;
        let threads = overloads.iter().map(|overload| overload.thread);
        let patient = operate.look(entity);
        if patient.is_some_and(|patient| patient.body.rope.is_some()) {
            part_threads(
                &mut operate,
                entity,
                TearCause::Overload,
                threads.take(most),
            );
            continue;
        }
        operate.open(entity, TearCause::Overload, |surgery, _| {
            let mut torn = 0;
            for thread in threads {
                torn += usize::from(surgery.tear_across(thread, tearing.least_piece));
                if torn == most {
                    break;
                }
            }
        });
    }
}
