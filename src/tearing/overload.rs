//! Tears what carries too much.

use super::{Operate, TearCause, TearResistance, Tearing};
use crate::{
    components::{ClothBody, ClothSource, Constraints, Particles},
    mesh::topology::NO_PARTICLE,
    solver::tear::{Overload, TearLimit, overloaded},
};
use bevy::{mesh::VertexAttributeValues, prelude::*};

/// Reads where a cloth is weak, when its `Tearing` or the cloth itself is new.
fn find_resistance(
    entity: Entity,
    resistance: &TearResistance,
    body: &ClothBody,
    source: Option<&Mesh>,
) -> Vec<f32> {
    let count = body.topology.positions.len();
    let of_whole: Vec<f32> = match resistance {
        TearResistance::Uniform => return Vec::new(),
        TearResistance::Predicate(function) => body
            .topology
            .positions
            .iter()
            .map(|&at| (function.0)(at))
            .collect(),
        TearResistance::VertexColour => {
            let colours =
                source.and_then(|mesh| mesh.try_attribute_option(Mesh::ATTRIBUTE_COLOR).ok()?);
            let red: Vec<f32> = match colours {
                Some(VertexAttributeValues::Float32x4(colours)) => {
                    colours.iter().map(|colour| colour[0]).collect()
                }
                Some(VertexAttributeValues::Unorm8x4(colours)) => {
                    colours.iter().map(|c| f32::from(c[0]) / 255.0).collect()
                }
                _ => {
                    warn!(
                        "cloth {entity}: its mesh has no vertex colours (Mesh::ATTRIBUTE_COLOR), so \
                         it resists tearing the same everywhere"
                    );
                    return Vec::new();
                }
            };
            let mut least = vec![f32::INFINITY; count];
            for (&particle, &red) in body.topology.vertex_to_particle.iter().zip(&red) {
                if particle != NO_PARTICLE {
                    let least = &mut least[particle as usize];
                    *least = least.min(red);
                }
            }
            least
        }
    };
    let all = (0..body.rest().len() as u32).map(|i| body.ancestor(i));
    all.map(|i| of_whole.get(i as usize).copied().unwrap_or(1.0))
        .collect()
}

pub(crate) fn tear_overloaded(
    mut params: ParamSet<(
        (
            Query<(
                Entity,
                Ref<Tearing>,
                Ref<ClothSource>,
                &mut ClothBody,
                &Particles,
                &Constraints,
            )>,
            Res<Assets<Mesh>>,
        ),
        Operate,
    )>,
) {
    let mut due: Vec<(Entity, Vec<Overload>, u32)> = Vec::new();
    let (mut cloths, meshes) = params.p0();
    for (entity, tearing, source, mut body, particles, constraints) in &mut cloths {
        if tearing.is_changed() || source.is_changed() {
            let mesh = meshes.get(&source.source);
            body.resistance = find_resistance(entity, &tearing.resistance, &body, mesh);
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
        let most = tearing.most_per_step as usize;
        let found = overloaded(
            particles,
            constraints,
            &body.area,
            tearing.limit,
            resistance,
            most,
        );
        if !found.is_empty() {
            due.push((entity, found, tearing.least_piece));
        }
    }
    let mut operate = params.p1();
    for (entity, overloads, least) in due {
        let threads = overloads.iter().map(|overload| overload.thread);
        let is_rope = |patient: crate::tearing::operate::Patient| patient.body.rope.is_some();
        if operate.look(entity).is_some_and(is_rope) {
            for [a, b] in threads {
                let _ = operate.part(entity, TearCause::Overload, a)
                    || operate.part(entity, TearCause::Overload, b);
            }
        } else {
            operate.open(entity, TearCause::Overload, |surgery, _| {
                for thread in threads {
                    surgery.tear_across(thread, least);
                }
            });
        }
    }
}
