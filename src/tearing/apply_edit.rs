//! Applies a topology edit to everything a cloth consists of: particles, constraints, pins, masses, mesh.

use super::{ClothTorn, TearCause, TornEdge};
use crate::solver::topology::{
    Blade, EditTarget, NewParticle, TopologyChanges, TopologyEdit, split_rope,
};
use crate::{
    cloth::{
        body::ClothBody,
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        shape::{ClothShape, TornShape},
        source::ClothSource,
    },
    grab::ClothGrabs,
    label::EntityLabel,
    mesh::{Topology, topology::NO_PARTICLE},
    pins::BoundPins,
    render::own_mesh::{Binding, ClothMesh},
    tearing::{CutEnd, TearProgress},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};

/// Largest particle count of a cut cloth, relative to the intact cloth; beyond that, cuts run along edges.
const MAX_GROWTH: usize = 3;

/// Largest number of simultaneous strokes on one cloth.
const MAX_CUT_ENDS: usize = 16;

/// Access to all cloths, for topology edits.
#[derive(SystemParam)]
pub(crate) struct TopologyEditor<'w, 's> {
    cloths: Query<'w, 's, EditQuery>,
    meshes: Option<ResMut<'w, Assets<Mesh>>>,
    commands: Commands<'w, 's>,
}

/// Components of a cloth that a topology edit changes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct EditQuery {
    pub(super) label: EntityLabel,
    pub(crate) particles: &'static mut ClothParticles,
    pub(crate) constraints: &'static mut ClothConstraints,
    pub(crate) shape: &'static mut ClothShape,
    body: &'static mut ClothBody,
    multipliers: &'static ParticleMultipliers,
    pins: &'static mut BoundPins,
    progress: &'static mut TearProgress,
    mesh: &'static mut ClothMesh,
    grabs: &'static mut ClothGrabs,
    source: &'static ClothSource,
}

impl TopologyEditor<'_, '_> {
    /// Returns a cloth for reading; `None` if it is not built.
    pub(crate) fn view(&self, entity: Entity) -> Option<EditQueryReadOnlyItem<'_, '_>> {
        self.cloths.get(entity).ok()
    }

    /// Edits the surface of a cloth. `edit_with` performs the edit; its second argument is the largest allowed
    /// particle count. Triggers [`ClothTorn`] if anything opened.
    pub(crate) fn edit_sheet<T>(
        &mut self,
        entity: Entity,
        cause: TearCause,
        edit_with: impl FnOnce(&mut TopologyEdit, usize) -> T,
    ) -> Option<T> {
        let mut cloth = self.cloths.get_mut(entity).ok()?;
        let shape = &mut *cloth.shape;
        if shape.triangles.indices.is_empty() {
            return None;
        }
        let whole = shape.topology.positions.len();
        let mut rest = match &mut shape.torn {
            Some(torn) => std::mem::take(&mut torn.rest),
            None => shape.topology.positions.to_vec(),
        };
        let is_first = shape.torn.is_none();
        let whole_triangles = is_first.then(|| shape.triangles.indices.clone());
        if is_first {
            shape.area = shape.triangles.particle_areas(whole);
        }
        let mut edit = TopologyEdit::new(EditTarget {
            particles: &mut cloth.particles.bypass_change_detection().0,
            constraints: &mut cloth.constraints.bypass_change_detection().0,
            triangles: &mut shape.triangles,
            rest: &mut rest,
            edge_length: mean_edge_length(&shape.topology),
        });
        let result = edit_with(&mut edit, MAX_GROWTH * whole);
        if !edit.has_changed() {
            drop(edit);
            // The edit has unpacked the indices.
            if let Some(packed) = whole_triangles {
                shape.triangles.indices = packed;
                shape.area = Vec::new();
            }
            if let Some(torn) = &mut shape.torn {
                torn.rest = rest;
            }
            return Some(result);
        }
        let intact_constraints = is_first.then(|| edit.constraints().clone());
        let changes = edit.finish();
        cloth.particles.set_changed();
        cloth.constraints.set_changed();
        if let Some(intact_constraints) = intact_constraints {
            shape.torn = Some(TornShape::new(rest, intact_constraints));
        } else if let Some(torn) = &mut shape.torn {
            torn.rest = rest;
        }
        cloth.update_particles(&changes);
        let grabs = cloth.grabs.0.iter_mut();
        grabs.for_each(|grab| grab.update_after_tear(&changes));
        cloth.tear_mesh(&changes, &mut self.meshes);
        let edges = torn_edges(&cloth.particles, &changes.opened_edges);
        self.trigger_torn(entity, cause, edges);
        Some(result)
    }

    /// Splits a rope at each of these particles where possible, and returns the number of splits. Triggers
    /// [`ClothTorn`] if there are any.
    pub(crate) fn split_rope(
        &mut self,
        entity: Entity,
        cause: TearCause,
        at: impl IntoIterator<Item = u32>,
    ) -> usize {
        let Ok(mut cloth) = self.cloths.get_mut(entity) else {
            return 0;
        };
        let opened_edges: Vec<[u32; 2]> = (at.into_iter())
            .filter_map(|at| cloth.split_rope_at(at))
            .collect();
        let (Binding::Tube(tube), Some(segments), false) = (
            &cloth.mesh.binding,
            &cloth.shape.segments,
            opened_edges.is_empty(),
        ) else {
            return 0;
        };
        let areas = segments.particle_areas(cloth.particles.len());
        let copy_of = |&[at, _]: &[u32; 2]| NewParticle {
            parents: [at; 2],
            fraction: 0.0,
        };
        let changes = TopologyChanges {
            areas: (0..).zip(areas).collect(),
            new_particles: opened_edges.iter().map(copy_of).collect(),
            opened_edges,
            ..default()
        };
        let meshes = self.meshes.as_mut();
        if let Some(mut own) = meshes.and_then(|meshes| meshes.get_mut(&cloth.source.own)) {
            *own = tube.mesh();
        }
        cloth.mesh.last_written = None;
        cloth.update_particles(&changes);
        let edges = torn_edges(&cloth.particles, &changes.opened_edges);
        self.trigger_torn(entity, cause, edges);
        changes.new_particles.len()
    }

    /// Returns the particle where the last cut of the same stroke ended, if this blade continues it.
    pub(crate) fn cut_end(&self, entity: Entity, by: Entity, blade: &Blade) -> Option<u32> {
        let cloth = self.cloths.get(entity).ok()?;
        let mut cut_ends = cloth.progress.cut_ends.iter();
        let cut_end = cut_ends.find(|cut_end| cut_end.by == by)?;
        blade.continues(&cut_end.blade).then_some(cut_end.particle)
    }

    /// Stores a blade and the end of its cut or, if it cut nothing, the end of the cut it continues.
    pub(crate) fn set_cut_end(
        &mut self,
        entity: Entity,
        by: Entity,
        blade: Blade,
        end: Option<u32>,
    ) {
        let Ok(mut cloth) = self.cloths.get_mut(entity) else {
            return;
        };
        let cut_ends = &mut cloth.progress.cut_ends;
        let before = cut_ends.iter().position(|cut_end| cut_end.by == by);
        let before = before.map(|index| cut_ends.remove(index));
        let before = before.filter(|cut_end| blade.continues(&cut_end.blade));
        if let Some(particle) = end.or(before.map(|cut_end| cut_end.particle)) {
            // Drop the oldest stroke.
            if cut_ends.len() == MAX_CUT_ENDS {
                cut_ends.remove(0);
            }
            cut_ends.push(CutEnd {
                by,
                blade,
                particle,
            });
        }
    }

    fn trigger_torn(&mut self, entity: Entity, cause: TearCause, edges: Vec<TornEdge>) {
        if !edges.is_empty() {
            self.commands.trigger(ClothTorn {
                entity,
                cause,
                edges,
            });
        }
    }
}

/// Returns the mean edge length of the intact cloth, in mesh space.
fn mean_edge_length(topology: &Topology) -> f32 {
    // Every seventh triangle is enough for a mean.
    let some = topology.triangles.iter().step_by(7);
    let (sum, count) = some.fold((0.0, 0), |(sum, count), [a, b, c]| {
        let [a, b, c] = [a, b, c].map(|i| topology.positions[i as usize]);
        let perimeter = a.distance(b) + b.distance(c) + c.distance(a);
        (sum + perimeter, count + 3)
    });
    sum / count.max(1) as f32
}

impl EditQueryItem<'_, '_> {
    /// Tears the mesh of a surface as its particles were, or logs why that is impossible.
    fn tear_mesh(&mut self, changes: &TopologyChanges, meshes: &mut Option<ResMut<Assets<Mesh>>>) {
        self.mesh.last_written = None;
        let meshes = meshes.as_mut();
        let mut shown = meshes.and_then(|meshes| meshes.get_mut(&self.source.own));
        let Binding::Mesh(binding) = &mut self.mesh.binding else {
            return;
        };
        let torn = binding.tear(&self.shape.topology, changes, shown.as_deref_mut());
        if let Err(error) = torn {
            let label = self.label;
            error!("cloth {label}: its mesh cannot be torn with it: {error}");
        }
    }

    /// Splits a rope at a particle between two others. Returns the edge that opened: the particle and the next one.
    fn split_rope_at(&mut self, at: u32) -> Option<[u32; 2]> {
        let shape = &mut *self.shape;
        let (Binding::Tube(tube), Some(segments)) = (&mut self.mesh.binding, &mut shape.segments)
        else {
            return None;
        };
        let (chain, index) = tube.chain_with(at)?;
        let next = chain.get(index + 1).copied().filter(|_| index > 0)?;
        let chain = chain.to_vec();
        let (particles, constraints) = (&mut self.particles.0, &mut self.constraints.0);
        let torn = shape.torn.get_or_insert_with(|| {
            TornShape::new(shape.topology.positions.to_vec(), constraints.clone())
        });
        let copy = split_rope(particles, constraints, &chain, index)?;
        torn.rest.push(torn.rest[at as usize]);
        segments.split(at, copy);
        tube.split(at, copy);
        for grab in &mut self.grabs.0 {
            grab.update_after_rope_break(at, next, copy);
        }
        Some([at, next])
    }

    /// Updates areas, masses, pins and tear resistances of the new and changed particles.
    fn update_particles(&mut self, changes: &TopologyChanges) {
        let (particles, shape) = (&mut *self.particles, &mut *self.shape);
        let corners = changes.replaced.iter().flat_map(|replaced| {
            let pieces = replaced.pieces.iter().flat_map(|piece| piece.particles);
            replaced.corners_before.into_iter().chain(pieces)
        });
        let ends = changes.opened_edges.as_flattened().iter().copied();
        self.body.stale_distances.tear(corners.chain(ends));
        let old = particles.len() - changes.new_particles.len();
        let density = self.body.areal_density;
        shape.area.resize(particles.len(), 0.0);
        for &(particle, area) in &changes.areas {
            let i = particle as usize;
            shape.area[i] = area;
            if i >= old || !particles.is_pinned(i) {
                let multiplier = self.multipliers.mass_of(particle, shape);
                particles.inverse_mass[i] = 1.0 / (area * density * multiplier);
            }
        }
        for (number, new) in changes.new_particles.iter().enumerate() {
            let particle = (old + number) as u32;
            let is_copy = new.parents[0] == new.parents[1];
            let [a, b] = new.parents.map(|i| i as usize);
            let source_particle = if is_copy {
                shape.source_particle(new.parents[0])
            } else {
                NO_PARTICLE
            };
            if let Some(torn) = &mut shape.torn {
                torn.source_particle.push(source_particle);
            }
            let resistance = &mut self.progress.resistance;
            if !resistance.is_empty() {
                let [a, b] = [a, b].map(|i| resistance[i]);
                resistance.push(a + (b - a) * new.fraction);
            }
            if is_copy && particles.is_pinned(a) {
                // A copy of a pinned particle is pinned likewise.
                particles.inverse_mass[particle as usize] = 0.0;
                self.pins.copy(new.parents[0], particle);
            }
        }
    }
}

fn torn_edges(particles: &ClothParticles, opened_edges: &[[u32; 2]]) -> Vec<TornEdge> {
    let middle = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|i| particles.world_position(i as usize));
        (a + b) * 0.5
    };
    let edge = |&particles: &[u32; 2]| TornEdge {
        particles,
        position: middle(particles),
    };
    opened_edges.iter().map(edge).collect()
}
