//! Applies a topology edit to everything a cloth consists of: particles, constraints, pins, masses, mesh.

use super::{ClothTorn, TearCause, TornEdge};
use crate::solver::{
    PinTarget,
    topology::{Blade, EditTarget, NewParticle, TopologyChanges, TopologyEdit, split_rope},
};
use crate::{
    cloth::{
        components::ClothBody,
        particles::{ClothConstraints, ClothParticles},
        shape::TornShape,
        source::ClothSource,
    },
    grab::ClothGrabs,
    mesh::{Topology, topology::NO_PARTICLE},
    render::own_mesh::{Binding, ClothMesh},
    tearing::progress::CutEnd,
};
use bevy::{ecs::system::SystemParam, prelude::*};
use std::sync::Arc;

/// Largest particle count of a cut cloth, relative to the intact cloth; beyond that, cuts run along edges.
const MAX_GROWTH: usize = 3;

/// Largest number of simultaneous strokes on one cloth.
const MAX_CUT_ENDS: usize = 16;

/// Access to all cloths, for topology edits.
#[derive(SystemParam)]
pub(crate) struct TopologyEditor<'w, 's> {
    cloths: Query<
        'w,
        's,
        (
            &'static mut ClothParticles,
            &'static mut ClothConstraints,
            &'static mut ClothBody,
            &'static mut ClothMesh,
            &'static mut ClothGrabs,
            &'static ClothSource,
        ),
    >,
    meshes: Option<ResMut<'w, Assets<Mesh>>>,
    commands: Commands<'w, 's>,
}

/// Read access to a cloth.
pub(crate) struct ClothView<'a> {
    pub(crate) particles: &'a ClothParticles,
    pub(crate) constraints: &'a ClothConstraints,
    pub(crate) body: &'a ClothBody,
}

impl TopologyEditor<'_, '_> {
    /// Returns a cloth for reading; `None` if it is not built.
    pub(crate) fn view(&self, entity: Entity) -> Option<ClothView<'_>> {
        let (particles, constraints, body, ..) = self.cloths.get(entity).ok()?;
        Some(ClothView {
            particles,
            constraints,
            body,
        })
    }

    /// Edits the surface of a cloth. `edit_with` performs the edit; its second argument is the largest allowed
    /// particle count. Triggers [`ClothTorn`] if anything opened.
    pub(crate) fn edit_sheet<T>(
        &mut self,
        entity: Entity,
        cause: TearCause,
        edit_with: impl FnOnce(&mut TopologyEdit, usize) -> T,
    ) -> Option<T> {
        let (mut particles, mut constraints, mut body, mut mesh, mut grabs, source) =
            self.cloths.get_mut(entity).ok()?;
        let body = &mut *body;
        if body.triangles.indices.is_empty() {
            return None;
        }
        let whole = body.topology.positions.len();
        let mut rest = match &mut body.torn {
            Some(torn) => std::mem::take(&mut torn.rest),
            None => body.topology.positions.clone(),
        };
        let edge_length = mean_edge_length(&body.topology);
        let is_first = body.torn.is_none();
        let whole_triangles = is_first.then(|| body.triangles.indices.clone());
        if is_first {
            body.area = body.triangles.particle_areas(whole);
        }
        let mut edit = TopologyEdit::new(EditTarget {
            particles: &mut particles.bypass_change_detection().0,
            constraints: &mut constraints.bypass_change_detection().0,
            triangles: &mut body.triangles,
            rest: &mut rest,
            edge_length,
        });
        let result = edit_with(&mut edit, MAX_GROWTH * whole);
        if !edit.has_changed() {
            drop(edit);
            // The edit has unpacked the indices.
            if let Some(packed) = whole_triangles {
                body.triangles.indices = packed;
                body.area = Vec::new();
            }
            if let Some(torn) = &mut body.torn {
                torn.rest = rest;
            }
            return Some(result);
        }
        let intact_constraints = is_first.then(|| Arc::new(edit.constraints().clone()));
        let changes = edit.finish();
        particles.set_changed();
        constraints.set_changed();

        let own = &source.own;
        if let Some(intact_constraints) = intact_constraints {
            body.torn = Some(Box::new(TornShape {
                rest: Vec::new(),
                source_particle: Vec::new(),
                intact_constraints,
            }));
        }
        if let Some(torn) = &mut body.torn {
            torn.rest = rest;
        }
        update_body(&mut particles, body, &changes);
        for grab in &mut grabs.0 {
            grab.update_after_tear(&changes);
        }
        mesh.last_written = None;
        let meshes = self.meshes.as_mut();
        let mut shown = meshes.and_then(|meshes| meshes.get_mut(own));
        if let Binding::Mesh(binding) = &mut mesh.binding
            && let Err(error) = binding.tear(&body.topology, &changes, shown.as_deref_mut())
        {
            error!("cloth {entity}: its mesh cannot be torn with it: {error}");
        }
        drop(shown);
        let edges = torn_edges(&particles, &changes.opened_edges);
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
        let Ok((mut particles, mut constraints, mut body, mut mesh, mut grabs, source)) =
            self.cloths.get_mut(entity)
        else {
            return 0;
        };
        let body = &mut *body;
        let (Binding::Tube(tube), Some(rope)) = (&mut mesh.binding, &mut body.rope) else {
            return 0;
        };
        let mut changes = TopologyChanges::default();
        for at in at {
            let Some((chain, index)) = tube.chain_with(at) else {
                continue;
            };
            let Some(next) = chain.get(index + 1).copied().filter(|_| index > 0) else {
                continue;
            };
            let chain = chain.to_vec();
            if body.torn.is_none() {
                body.torn = Some(Box::new(TornShape {
                    rest: body.topology.positions.clone(),
                    source_particle: Vec::new(),
                    intact_constraints: Arc::new(constraints.0.clone()),
                }));
            }
            let split = split_rope(&mut particles.0, &mut constraints.0, &chain, index);
            let (Some(copy), Some(torn)) = (split, &mut body.torn) else {
                continue;
            };
            torn.rest.push(torn.rest[at as usize]);
            rope.segments.split(at, copy);
            tube.split(at, copy);
            for grab in &mut grabs.0 {
                grab.update_after_rope_break(at, next, copy);
            }
            changes.new_particles.push(NewParticle {
                parents: [at; 2],
                fraction: 0.0,
            });
            changes.opened_edges.push([at, next]);
        }
        if changes.new_particles.is_empty() {
            return 0;
        }
        let areas = rope.segments.particle_areas(particles.len());
        changes.areas = (0..).zip(areas).collect();
        let meshes = self.meshes.as_mut();
        if let Some(mut own) = meshes.and_then(|meshes| meshes.get_mut(&source.own)) {
            *own = tube.mesh();
        }
        mesh.last_written = None;
        update_body(&mut particles, body, &changes);
        let edges = torn_edges(&particles, &changes.opened_edges);
        self.trigger_torn(entity, cause, edges);
        changes.new_particles.len()
    }

    /// Returns the particle where the last cut of the same stroke ended, if this blade continues it.
    pub(crate) fn cut_end(&self, entity: Entity, by: Entity, blade: &Blade) -> Option<u32> {
        let (_, _, body, ..) = self.cloths.get(entity).ok()?;
        let mut cut_ends = body.cut_ends.iter();
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
        let Ok((_, _, mut body, ..)) = self.cloths.get_mut(entity) else {
            return;
        };
        let before = body.cut_ends.iter().position(|cut_end| cut_end.by == by);
        let before = before.map(|index| body.cut_ends.remove(index));
        let before = before.filter(|cut_end| blade.continues(&cut_end.blade));
        if let Some(particle) = end.or(before.map(|cut_end| cut_end.particle)) {
            // Drop the oldest stroke.
            if body.cut_ends.len() == MAX_CUT_ENDS {
                body.cut_ends.remove(0);
            }
            body.cut_ends.push(CutEnd {
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

/// Updates areas, masses, pins and tear resistances of the new and changed particles.
fn update_body(particles: &mut ClothParticles, body: &mut ClothBody, changes: &TopologyChanges) {
    let corners = changes.replaced.iter().flat_map(|replaced| {
        let pieces = replaced.pieces.iter().flat_map(|piece| piece.particles);
        replaced.corners_before.into_iter().chain(pieces)
    });
    let ends = changes.opened_edges.as_flattened().iter().copied();
    body.tether_source.stale.tear(corners.chain(ends));
    let old = particles.len() - changes.new_particles.len();
    let density = body.areal_density;
    body.area.resize(particles.len(), 0.0);
    for &(particle, area) in &changes.areas {
        let i = particle as usize;
        body.area[i] = area;
        if i >= old || !particles.is_pinned(i) {
            particles.inverse_mass[i] = 1.0 / (area * density * body.mass_multiplier(particle));
        }
    }
    for (number, new) in changes.new_particles.iter().enumerate() {
        let particle = (old + number) as u32;
        let is_copy = new.parents[0] == new.parents[1];
        let [a, b] = new.parents.map(|i| i as usize);
        let source_particle = if is_copy {
            body.source_particle(new.parents[0])
        } else {
            NO_PARTICLE
        };
        if let Some(torn) = &mut body.torn {
            torn.source_particle.push(source_particle);
        }
        if !body.resistance.is_empty() {
            let [a, b] = [a, b].map(|i| body.resistance[i]);
            body.resistance.push(a + (b - a) * new.fraction);
        }
        if is_copy && particles.is_pinned(a) {
            // A copy of a pinned particle is pinned likewise.
            particles.inverse_mass[particle as usize] = 0.0;
            let pin = body.pins.iter().find(|pin| pin.particle == new.parents[0]);
            if let Some(pin) = pin.copied() {
                body.pins.push(pin.for_copy(particle));
            }
            let target = body
                .pin_targets
                .iter()
                .find(|t| t.particle == new.parents[0]);
            if let Some(target) = target.copied() {
                body.pin_targets.push(PinTarget { particle, ..target });
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
