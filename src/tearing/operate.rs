//! Carries an operation out on everything that a cloth has: solver, pins, masses, mesh.

use super::{ClothTorn, TearCause, TornEdge};
use crate::{
    components::{Binding, ClothBody, ClothMesh, ClothSource, Constraints, Particles, Tip, Torn},
    grab::ClothGrabs,
    mesh::{Topology, topology::NO_PARTICLE},
    solver::{
        PinTarget,
        tear::{Blade, Changes, Fresh, Sheet, Surgery, split_strand},
    },
};
use bevy::{ecs::system::SystemParam, prelude::*};
use std::sync::Arc;

/// A cut may bring so many times the particles that a cloth has when it is whole; then it runs along
/// edges.
const GROWTH: usize = 3;

/// So many strokes go on at a time on one cloth.
const MOST_TIPS: usize = 16;

/// All cloths, ready to be opened.
#[derive(SystemParam)]
pub(crate) struct Operate<'w, 's> {
    cloths: Query<
        'w,
        's,
        (
            &'static mut Particles,
            &'static mut Constraints,
            &'static mut ClothBody,
            &'static mut ClothMesh,
            &'static mut ClothGrabs,
            &'static ClothSource,
        ),
    >,
    meshes: Option<ResMut<'w, Assets<Mesh>>>,
    commands: Commands<'w, 's>,
}

/// A cloth on the table.
pub(crate) struct Patient<'a> {
    pub(crate) particles: &'a Particles,
    pub(crate) constraints: &'a Constraints,
    pub(crate) body: &'a ClothBody,
}

impl Operate<'_, '_> {
    /// What can be seen of a cloth before it is opened; `None` if it is not built.
    pub(crate) fn look(&self, entity: Entity) -> Option<Patient<'_>> {
        let (particles, constraints, body, ..) = self.cloths.get(entity).ok()?;
        Some(Patient {
            particles,
            constraints,
            body,
        })
    }

    /// Opens a sheet: `work` does to its surface what is wanted; with the most particles that it may
    /// come to have. Triggers [`ClothTorn`] if anything opened.
    pub(crate) fn open<T>(
        &mut self,
        entity: Entity,
        cause: TearCause,
        work: impl FnOnce(&mut Surgery, usize) -> T,
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
        let edge_length = mean_edge(&body.topology);
        let is_first = body.torn.is_none();
        let whole_triangles = is_first.then(|| body.triangles.indices.clone());
        if is_first {
            body.area = body.triangles.particle_areas(whole);
        }
        let mut surgery = Surgery::new(Sheet {
            particles: &mut particles.bypass_change_detection().0,
            constraints: &mut constraints.bypass_change_detection().0,
            triangles: &mut body.triangles,
            rest: &mut rest,
            edge_length,
        });
        let result = work(&mut surgery, GROWTH * whole);
        if !surgery.has_changed() {
            drop(surgery);
            // The operation has unpacked them.
            if let Some(packed) = whole_triangles {
                body.triangles.indices = packed;
                body.area = Vec::new();
            }
            if let Some(torn) = &mut body.torn {
                torn.rest = rest;
            }
            return Some(result);
        }
        let whole_constraints = is_first.then(|| Arc::new(surgery.constraints().clone()));
        let changes = surgery.finish();
        particles.set_changed();
        constraints.set_changed();

        let own = &source.own;
        if let Some(whole_constraints) = whole_constraints {
            body.torn = Some(Box::new(Torn {
                rest: Vec::new(),
                ancestor: Vec::new(),
                whole_constraints,
            }));
        }
        if let Some(torn) = &mut body.torn {
            torn.rest = rest;
        }
        keep_books(&mut particles, body, &changes);
        for grab in &mut grabs.0 {
            grab.follow(&changes);
        }
        mesh.written = None;
        let meshes = self.meshes.as_mut();
        let mut shown = meshes.and_then(|meshes| meshes.get_mut(own));
        if let Binding::Sheet(binding) = &mut mesh.binding
            && let Err(error) = binding.open(&body.topology, &changes, shown.as_deref_mut())
        {
            error!("cloth {entity}: its mesh cannot be opened: {error}");
        }
        drop(shown);
        let edges = torn_edges(&particles, &changes.opened);
        self.tell(entity, cause, edges);
        Some(result)
    }

    /// Parts a rope at each of these particles where that is possible. Returns at how many. Triggers
    /// [`ClothTorn`] if there are any.
    pub(crate) fn part(
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
        let mut changes = Changes::default();
        for at in at {
            let Some((strand, place)) = tube.strand_with(at) else {
                continue;
            };
            let Some(next) = strand.get(place + 1).copied().filter(|_| place > 0) else {
                continue;
            };
            let strand = strand.to_vec();
            if body.torn.is_none() {
                body.torn = Some(Box::new(Torn {
                    rest: body.topology.positions.clone(),
                    ancestor: Vec::new(),
                    whole_constraints: Arc::new(constraints.0.clone()),
                }));
            }
            let split = split_strand(&mut particles.0, &mut constraints.0, &strand, place);
            let (Some(copy), Some(torn)) = (split, &mut body.torn) else {
                continue;
            };
            torn.rest.push(torn.rest[at as usize]);
            rope.lines.split(at, copy);
            tube.split(at, copy);
            for grab in &mut grabs.0 {
                grab.follow_strand(at, next, copy);
            }
            changes.fresh.push(Fresh {
                parents: [at; 2],
                share: 0.0,
            });
            changes.opened.push([at, next]);
        }
        if changes.fresh.is_empty() {
            return 0;
        }
        let areas = rope.lines.particle_areas(particles.len());
        changes.areas = (0..).zip(areas).collect();
        let meshes = self.meshes.as_mut();
        if let Some(mut own) = meshes.and_then(|meshes| meshes.get_mut(&source.own)) {
            *own = tube.mesh();
        }
        mesh.written = None;
        keep_books(&mut particles, body, &changes);
        let edges = torn_edges(&particles, &changes.opened);
        self.tell(entity, cause, edges);
        changes.fresh.len()
    }

    /// Where the last cut of the same stroke ended, if this blade goes on from there.
    pub(crate) fn tip(&self, entity: Entity, by: Entity, blade: &Blade) -> Option<u32> {
        let (_, _, body, ..) = self.cloths.get(entity).ok()?;
        let mut tips = body.tips.iter();
        let tip = tips.find(|tip| tip.by == by)?;
        blade.continues(&tip.blade).then_some(tip.particle)
    }

    /// Remembers a blade, and where its cut ended; or, if it cut nothing, where the one before did.
    pub(crate) fn set_tip(&mut self, entity: Entity, by: Entity, blade: Blade, end: Option<u32>) {
        let Ok((_, _, mut body, ..)) = self.cloths.get_mut(entity) else {
            return;
        };
        let before = body.tips.iter().position(|tip| tip.by == by);
        let before = before.map(|place| body.tips.remove(place));
        let before = before.filter(|tip| blade.continues(&tip.blade));
        if let Some(particle) = end.or(before.map(|tip| tip.particle)) {
            // Those who cut once and never again are forgotten.
            if body.tips.len() == MOST_TIPS {
                body.tips.remove(0);
            }
            body.tips.push(Tip {
                by,
                blade,
                particle,
            });
        }
    }

    fn tell(&mut self, entity: Entity, cause: TearCause, edges: Vec<TornEdge>) {
        if !edges.is_empty() {
            self.commands.trigger(ClothTorn {
                entity,
                cause,
                edges,
            });
        }
    }
}

/// Mean length of an edge of the whole cloth, in mesh space.
fn mean_edge(topology: &Topology) -> f32 {
    // Every seventh triangle is enough for a mean.
    let some = topology.triangles.iter().step_by(7);
    let (sum, count) = some.fold((0.0, 0), |(sum, count), [a, b, c]| {
        let [a, b, c] = [a, b, c].map(|i| topology.positions[i as usize]);
        let around = a.distance(b) + b.distance(c) + c.distance(a);
        (sum + around, count + 3)
    });
    sum / count.max(1) as f32
}

/// Areas, masses, pins and resistance of the particles that came or changed.
fn keep_books(particles: &mut Particles, body: &mut ClothBody, changes: &Changes) {
    let corners = changes.replaced.iter().flat_map(|replaced| {
        let pieces = replaced.pieces.iter().flat_map(|piece| piece.particles);
        replaced.before.into_iter().chain(pieces)
    });
    let ends = changes.opened.as_flattened().iter().copied();
    body.reach.stale.tear(corners.chain(ends));
    let old = particles.len() - changes.fresh.len();
    let density = body.areal_density;
    body.area.resize(particles.len(), 0.0);
    for &(particle, area) in &changes.areas {
        let i = particle as usize;
        body.area[i] = area;
        if i >= old || !particles.is_pinned(i) {
            particles.inverse_mass[i] = 1.0 / (area * density * body.multiple(particle));
        }
    }
    for (number, fresh) in changes.fresh.iter().enumerate() {
        let particle = (old + number) as u32;
        let is_copy = fresh.parents[0] == fresh.parents[1];
        let [a, b] = fresh.parents.map(|i| i as usize);
        let ancestor = if is_copy {
            body.ancestor(fresh.parents[0])
        } else {
            NO_PARTICLE
        };
        if let Some(torn) = &mut body.torn {
            torn.ancestor.push(ancestor);
        }
        if !body.resistance.is_empty() {
            let [a, b] = [a, b].map(|i| body.resistance[i]);
            body.resistance.push(a + (b - a) * fresh.share);
        }
        if is_copy && particles.is_pinned(a) {
            // What held the one side holds the other too.
            particles.inverse_mass[particle as usize] = 0.0;
            let pin = body
                .pins
                .iter()
                .find(|pin| pin.particle == fresh.parents[0]);
            if let Some(pin) = pin.copied() {
                body.pins.push(pin.for_copy(particle));
            }
            let target = body.targets.iter().find(|t| t.particle == fresh.parents[0]);
            if let Some(target) = target.copied() {
                body.targets.push(PinTarget { particle, ..target });
            }
        }
    }
}

fn torn_edges(particles: &Particles, opened: &[[u32; 2]]) -> Vec<TornEdge> {
    let middle = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|i| particles.world_position(i as usize));
        (a + b) * 0.5
    };
    let edge = |&particles: &[u32; 2]| TornEdge {
        particles,
        position: middle(particles),
    };
    opened.iter().map(edge).collect()
}
