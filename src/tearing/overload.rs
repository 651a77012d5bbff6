//! Breaks overloaded edges.

use super::{
    ClothTearing, TearCause, TearProgress, TearResistance, TopologyEditor,
    requests::split_rope_edges,
};
use crate::solver::topology::{CrossSection, Overload, TearLimit, overloaded};
use crate::{
    cloth::{
        activity::InMotion,
        particles::{ClothConstraints, ClothParticles},
        shape::ClothShape,
        source::ClothSource,
        update_rate::UpdateRate,
    },
    label::EntityLabel,
    render::own_mesh::{Binding, ClothMesh},
};
use bevy::{ecs::query::QueryData, mesh::VertexAttributeValues, prelude::*};
use std::fmt::Display;

/// Reads the tear resistance of each particle; needed when the `ClothTearing` or the cloth itself is new. `own` is
/// the mesh of the cloth, torn like the cloth.
fn find_resistance(
    label: &dyn Display,
    resistance: &TearResistance,
    shape: &ClothShape,
    binding: &Binding,
    own: Option<&Mesh>,
) -> Vec<f32> {
    match resistance {
        TearResistance::Uniform => Vec::new(),
        TearResistance::Predicate(function) => {
            shape.rest().iter().map(|&at| (function.0)(at)).collect()
        }
        TearResistance::VertexColour => {
            let red = own.and_then(red_channel);
            let (Some(red), Binding::Mesh(binding)) = (red, binding) else {
                warn!(
                    "cloth {label}: its mesh has no vertex colours (Mesh::ATTRIBUTE_COLOR), so it \
                     resists tearing the same everywhere"
                );
                return Vec::new();
            };
            let mut least = vec![f32::INFINITY; shape.rest().len()];
            for (particle, &red) in binding.vertex_to_particle().iter().zip(&red) {
                // Vertices without a triangle have no particle.
                if let Some(least) = least.get_mut(particle as usize) {
                    *least = least.min(red);
                }
            }
            least
        }
    }
}

/// Returns the red channel of each vertex.
fn red_channel(mesh: &Mesh) -> Option<Vec<f32>> {
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

/// Edges tried per edge that may break: some cannot, as the piece torn off would be too small.
const ATTEMPTS_PER_TEAR: usize = 8;

/// Components of a cloth that tears under load.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct TearingQuery {
    label: EntityLabel,
    tearing: Ref<'static, ClothTearing>,
    source: Ref<'static, ClothSource>,
    progress: &'static mut TearProgress,
    shape: &'static ClothShape,
    rate: &'static UpdateRate,
    mesh: &'static ClothMesh,
    particles: &'static ClothParticles,
    constraints: &'static ClothConstraints,
}

pub(crate) fn tear_overloaded(
    mut params: ParamSet<(
        (Query<TearingQuery, InMotion>, Res<Assets<Mesh>>),
        TopologyEditor,
    )>,
) {
    let mut due: Vec<(Entity, Vec<Overload>, ClothTearing)> = Vec::new();
    let (mut cloths, meshes) = params.p0();
    for mut cloth in &mut cloths {
        let overloads = find_overloads(&mut cloth, &meshes);
        if !overloads.is_empty() {
            let tearing = ClothTearing::clone(&cloth.tearing);
            due.push((cloth.label.entity, overloads, tearing));
        }
    }
    let mut editor = params.p1();
    for (entity, overloads, tearing) in due {
        let most = tearing.most_per_step as usize;
        let edges = overloads.iter().map(|overload| overload.edge);
        let cloth = editor.view(entity);
        if cloth.is_some_and(|cloth| cloth.shape.segments.is_some()) {
            split_rope_edges(&mut editor, entity, TearCause::Overload, edges.take(most));
            continue;
        }
        editor.edit_sheet(entity, TearCause::Overload, |edit, _| {
            let mut torn = 0;
            for edge in edges {
                torn += usize::from(edit.tear_across(edge, tearing.least_piece));
                if torn == most {
                    break;
                }
            }
        });
    }
}

/// Finds the edges of a cloth that may break in this step, the most overloaded first, after updating its resistance.
fn find_overloads(cloth: &mut TearingQueryItem, meshes: &Assets<Mesh>) -> Vec<Overload> {
    let (label, tearing, shape) = (cloth.label, &cloth.tearing, cloth.shape);
    if cloth.rate.is_skipped {
        return Vec::new();
    }
    if tearing.is_changed() || cloth.source.is_changed() {
        let own = meshes.get(&cloth.source.own);
        let binding = &cloth.mesh.binding;
        cloth.progress.resistance =
            find_resistance(&label, &tearing.resistance, shape, binding, own);
    }
    let value = match tearing.limit {
        TearLimit::Strain(value) | TearLimit::Load(value) => value,
    };
    if value.is_nan() || value <= 0.0 {
        if tearing.is_changed() {
            warn!(
                "cloth {label}: ClothTearing::limit is {value}, must be above 0; it does not tear"
            );
        }
        return Vec::new();
    }
    let resistance = &cloth.progress.resistance;
    let resistance = |i: u32| resistance.get(i as usize).copied().unwrap_or(1.0);
    let section = match &shape.segments {
        Some(_) => CrossSection::Rope(std::f32::consts::TAU * shape.radius()),
        None => CrossSection::Sheet(&shape.triangles),
    };
    let (particles, constraints) = (cloth.particles, cloth.constraints);
    let mut found = overloaded(particles, constraints, section, tearing.limit, resistance);
    found.truncate(tearing.most_per_step as usize * ATTEMPTS_PER_TEAR);
    found
}
