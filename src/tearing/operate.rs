//! Carries an operation out on everything that a cloth has: solver, pins, masses, mesh.

use super::{ClothTorn, TearCause, TornEdge};
use crate::{
    components::{Binding, ClothBody, ClothMesh, ClothSource, Constraints, Particles, Torn},
    grab::ClothGrabs,
    mesh::topology::NO_PARTICLE,
    solver::{
        PinTarget,
        tear::{Changes, Fresh, Sheet, Surgery, split_strand},
    },
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// A cut may bring so many times the particles that a cloth has when it is whole; then it runs along
/// edges.
const GROWTH: usize = 3;

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
        // It stays as it is until something has changed.
        let whole_constraints = body.torn.is_none().then(|| constraints.0.clone());
        let mut rest = match &mut body.torn {
            Some(torn) => std::mem::take(&mut torn.rest),
            None => body.topology.positions.clone(),
        };
        let mut surgery = Surgery::new(Sheet {
            particles: &mut particles.bypass_change_detection().0,
            constraints: &mut constraints.bypass_change_detection().0,
            triangles: &mut body.triangles,
            rest: &mut rest,
        });
        let result = work(&mut surgery, GROWTH * whole);
        let changes = surgery.finish();
        if changes.is_empty() {
            if let Some(torn) = &mut body.torn {
                torn.rest = rest;
            }
            return Some(result);
        }
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
        let shown = self.meshes.as_mut().and_then(|meshes| meshes.get_mut(own));
        if let (Binding::Sheet(binding), Some(mut own)) = (&mut mesh.binding, shown)
            && let Err(error) = binding.open(&body.topology, &changes, &mut own)
        {
            error!("cloth {entity}: its mesh cannot be opened: {error}");
        }
        let edges = torn_edges(&particles, &changes.opened);
        self.tell(entity, cause, edges);
        Some(result)
    }

    /// Parts a rope at one of its particles. Returns whether that was possible.
    pub(crate) fn part(&mut self, entity: Entity, cause: TearCause, at: u32) -> bool {
        let Ok((mut particles, mut constraints, mut body, mut mesh, _, source)) =
            self.cloths.get_mut(entity)
        else {
            return false;
        };
        let body = &mut *body;
        let (Binding::Tube(tube), Some(rope)) = (&mut mesh.binding, &mut body.rope) else {
            return false;
        };
        let Some((strand, place)) = tube.strand_with(at) else {
            return false;
        };
        let strand = strand.to_vec();
        let whole_constraints = body.torn.is_none().then(|| constraints.0.clone());
        let Some(copy) = split_strand(&mut particles.0, &mut constraints.0, &strand, place) else {
            return false;
        };
        if let Some(whole_constraints) = whole_constraints {
            body.torn = Some(Box::new(Torn {
                rest: body.topology.positions.clone(),
                ancestor: Vec::new(),
                whole_constraints,
            }));
        }
        if let Some(torn) = &mut body.torn {
            torn.rest.push(torn.rest[at as usize]);
        }
        rope.lines.split(at, copy);
        tube.split(at, copy);
        let shown = self.meshes.as_mut();
        if let Some(mut own) = shown.and_then(|meshes| meshes.get_mut(&source.own)) {
            *own = tube.mesh();
        }
        mesh.written = None;
        let areas = rope.lines.particle_areas(particles.len());
        let changes = Changes {
            fresh: vec![Fresh {
                parents: [at; 2],
                share: 0.0,
            }],
            areas: [at, copy].map(|i| (i, areas[i as usize])).to_vec(),
            opened: vec![[at, copy]],
            ..default()
        };
        keep_books(&mut particles, body, &changes);
        let edges = torn_edges(&particles, &changes.opened);
        self.tell(entity, cause, edges);
        true
    }

    /// Where the last cut of a stroke ended.
    pub(crate) fn tip(&self, entity: Entity, by: Entity) -> Option<u32> {
        let (_, _, body, ..) = self.cloths.get(entity).ok()?;
        let mut tips = body.tips.iter();
        tips.find(|(of, _)| *of == by).map(|(_, tip)| *tip)
    }

    /// Remembers where a cut ended.
    pub(crate) fn set_tip(&mut self, entity: Entity, by: Entity, tip: u32) {
        if let Ok((_, _, mut body, ..)) = self.cloths.get_mut(entity) {
            body.tips.retain(|(of, _)| *of != by);
            body.tips.push((by, tip));
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

/// Areas, masses, pins and resistance of the particles that came or changed.
fn keep_books(particles: &mut Particles, body: &mut ClothBody, changes: &Changes) {
    let old = particles.len() - changes.fresh.len();
    let density = body.areal_density;
    body.area.resize(particles.len(), 0.0);
    for &(particle, area) in &changes.areas {
        let i = particle as usize;
        body.area[i] = area;
        if i >= old || !particles.is_pinned(i) {
            particles.inverse_mass[i] = 1.0 / (area * density);
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
