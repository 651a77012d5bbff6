//! Cached triangles near the particles of a group, and the loop over the groups.

use super::{
    GROUP,
    chunk_paths::{ChunkPaths, GroupPath},
    group_sweep::{GroupSweep, ParticleBoxes},
    near_triangles::{GroupLists, NearTriangles},
    surface_at_substep::SurfaceAtSubstep,
    swept_particle::SweptParticle,
};
use crate::solver::parallel::split::chunk_ranges;
use bevy::math::{Vec3, Vec3A};

/// Slack of a cached box, as a multiple of the movement in one substep: the group may move that far before its
/// triangles are looked up again.
const SLACK_SUBSTEPS: f32 = 8.0;

/// Chunk of consecutive particles.
pub(super) struct ChunkParticles<'a> {
    /// Positions, m.
    pub(super) x: [&'a mut [f32]; 3],
    /// Displacements in this substep, m.
    pub(super) d: [&'a mut [f32]; 3],
    /// Positions at the beginning of the substep, m.
    pub(super) start: [&'a [f32]; 3],
    /// Inverse masses, 1/kg.
    pub(super) w: &'a [f32],
    /// Normals of the contacts; those of other particles stay as they are.
    pub(super) normals: [&'a mut [f32]; 3],
}

/// Cache for a chunk of particles: the triangles near each of them.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkCache {
    groups: Vec<GroupCache>,
    triangles: NearTriangles,
    safe: SafeSpheres,
}

/// Per particle, a sphere in the frame of the surface (centre and radius) in which it is known to be on the
/// correct side. Created on demand.
#[derive(Clone, Debug, Default)]
struct SafeSpheres(Vec<(Vec3, f32)>);

/// Cache for a group of particles.
#[derive(Clone, Copy, Debug)]
struct GroupCache {
    /// Box in the frame of the surface around the group.
    known: [Vec3; 2],
    /// Whether triangles may be in that box.
    is_near: bool,
    /// Upper bound on the movement of those triangles in a substep, m.
    surface_movement: f32,
    /// Whether the box overlaps no triangle and lies entirely on the wrong side of a closed surface.
    on_wrong_side: bool,
    /// Boxes in the frame of the surface for which `lists` contain all overlapping triangles, if any are near.
    boxes: ParticleBoxes,
    lists: GroupLists,
}

impl Default for GroupCache {
    fn default() -> Self {
        Self {
            known: [Vec3::INFINITY, Vec3::NEG_INFINITY],
            is_near: false,
            surface_movement: 0.0,
            on_wrong_side: false,
            boxes: ParticleBoxes::EMPTY,
            lists: GroupLists::default(),
        }
    }
}

impl GroupCache {
    fn contains(&self, [low, high]: [Vec3; 2]) -> bool {
        self.known[0].cmple(low).all() && self.known[1].cmpge(high).all()
    }
}

impl ChunkCache {
    /// Resolves the contacts of a chunk of consecutive particles with a surface. `first`: whether this is the
    /// first substep of the step.
    pub(super) fn collide(
        &mut self,
        surface: &SurfaceAtSubstep,
        first: bool,
        paths: &mut ChunkPaths,
        mut particles: ChunkParticles,
    ) {
        let ChunkParticles { start, w, .. } = particles;
        let count = w.len().div_ceil(GROUP);
        if self.groups.len() != count {
            *self = Self {
                groups: vec![GroupCache::default(); count],
                ..Self::default()
            };
        }
        if first {
            let lists = self.groups.iter_mut().map(|group| &mut group.lists);
            self.triangles.compact(lists);
        }
        if !surface.may_touch(&paths.update(&particles)) {
            return;
        }
        for (number, range) in chunk_ranges(0..w.len(), GROUP).enumerate() {
            let GroupPath {
                swept, movement, ..
            } = *paths.group(number);
            let max_movement = movement + surface.max_movement;
            let reach = reach(surface.thickness, max_movement);
            if !surface.may_reach(&swept, reach) {
                continue;
            }
            let [low, high] = surface.local_box(&swept);
            let needed = [low - reach, high + reach];
            // Skip non-finite positions.
            if !(needed[0].is_finite() && needed[1].is_finite()) {
                continue;
            }
            if !self.groups[number].contains(needed) {
                self.look_around(surface, number, needed, max_movement);
            }
            let group = &self.groups[number];
            if !(group.is_near || group.on_wrong_side && first) {
                continue;
            }
            let now = particles.x.each_ref().map(|plane| &plane[range.clone()]);
            let then = start.map(|plane| &plane[range.clone()]);
            let sweep = GroupSweep::new(surface, group.surface_movement, now, then);
            if group.is_near && !group.boxes.contain(&sweep.boxes) {
                self.list_triangles(surface, number, &sweep);
            }
            if self.collide_group(surface, first, number, &sweep, &mut particles) {
                paths.forget_group(number);
            }
        }
    }

    /// Finds out whether triangles are near a group, and how far they move.
    fn look_around(
        &mut self,
        at_substep: &SurfaceAtSubstep,
        number: usize,
        [low, high]: [Vec3; 2],
        max_movement: f32,
    ) {
        let surface = at_substep.surface();
        let size = (high - low).max_element();
        let slack = at_substep.thickness + SLACK_SUBSTEPS * max_movement;
        let slack = Vec3::splat(size.min(slack));
        let known = [low - slack, high + slack];
        let (mut is_near, mut surface_movement) = (false, 0.0);
        (surface.tree).visit_leaves(&known.map(Vec3A::from), |leaf| {
            is_near = true;
            surface_movement = at_substep.max_movement_of(&leaf).max(surface_movement);
        });
        let is_inside = || at_substep.now.distance((low + high) * 0.5) < 0.0;
        self.triangles.discard(&mut self.groups[number].lists);
        self.groups[number] = GroupCache {
            known,
            is_near,
            surface_movement,
            on_wrong_side: !is_near && surface.is_closed() && is_inside(),
            ..GroupCache::default()
        };
    }

    /// Lists the triangles near the particles of a group.
    fn list_triangles(&mut self, surface: &SurfaceAtSubstep, number: usize, sweep: &GroupSweep) {
        let group = &mut self.groups[number];
        group.boxes = sweep.boxes_with_slack(surface.thickness);
        let (surface, lists) = (surface.surface(), &mut group.lists);
        self.triangles.find(surface, &group.boxes, lists);
    }

    /// Adapts to a surface whose points have moved by at most `movement` since the end of the last step, m: what is known
    /// of a box or a sphere remains true farther inside, but triangles near particles are somewhere else. `last_movement`
    /// is that in the last step.
    pub(super) fn shrink(&mut self, movement: f32, last_movement: f32) {
        for group in &mut self.groups {
            if group.is_near {
                *group = GroupCache::default();
            } else {
                group.known[0] += movement;
                group.known[1] -= movement;
            }
        }
        self.triangles.clear();
        for (_, radius) in &mut self.safe.0 {
            // They were found at the end of the first substep.
            *radius = (*radius - movement - last_movement).max(0.0);
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.groups.fill(GroupCache::default());
        self.triangles.clear();
        self.safe.0.clear();
    }

    /// Resolves the contacts of a group with its cached triangles. Returns whether any particle was moved.
    fn collide_group(
        &mut self,
        at_substep: &SurfaceAtSubstep,
        first: bool,
        number: usize,
        sweep: &GroupSweep,
        particles: &mut ChunkParticles,
    ) -> bool {
        let mut any = false;
        let ChunkParticles {
            x,
            d,
            start,
            w,
            normals,
        } = particles;
        let lists = &self.groups[number].lists;
        for (lane, i) in (number * GROUP..w.len()).take(GROUP).enumerate() {
            if w[i] == 0.0 {
                continue;
            }
            let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[i]));
            let mut particle = SweptParticle {
                at_substep,
                from: sweep.from[lane],
                local: sweep.to[lane],
                start: get(*start),
                position: get(x.each_ref().map(|plane| &**plane)),
                displacement: get(d.each_ref().map(|plane| &**plane)),
                surface_movement: sweep.surface_movement,
                normal: Vec3::ZERO,
                nearest_listed: 0,
            };
            let near = self.triangles.of_particle(lists, lane);
            let collided = particle.collide(near);
            if particle.nearest_listed > 0 {
                // It will probably be the nearest one again, and then fewer others are tested.
                let nearest = particle.nearest_listed;
                self.triangles.move_to_front(lists, lane, nearest);
            }
            let touched = match collided {
                Some(touched) => touched,
                // No triangle is near, so the particle is far outside or deep inside. It can be inside without
                // having crossed the surface only if it was placed there between two steps.
                None => {
                    at_substep.is_closed()
                        && first
                        && !self.safe.contains(i, particle.local, w.len())
                        && self.safe.push_out(i, &mut particle)
                }
            };
            any |= touched;
            if touched {
                for axis in 0..3 {
                    x[axis][i] = particle.position[axis];
                    d[axis][i] = particle.displacement[axis];
                }
            }
            let last = get(normals.each_ref().map(|plane| &**plane));
            let records = at_substep.collider.records_normals();
            if records && particle.normal.length_squared() > last.length_squared() {
                for (plane, normal) in normals.iter_mut().zip(particle.normal.to_array()) {
                    plane[i] = normal;
                }
            }
        }
        any
    }
}

impl SafeSpheres {
    /// Returns whether particle `i` of `count` is known to be on the correct side.
    fn contains(&mut self, i: usize, local: Vec3, count: usize) -> bool {
        if self.0.len() != count {
            self.0.clear();
            self.0.resize(count, (Vec3::ZERO, 0.0));
        }
        let (centre, radius) = self.0[i];
        (local - centre).length_squared() < radius * radius
    }

    /// Determines the side on which a particle is, and pushes it out if it is on the wrong one. Returns whether it
    /// was.
    fn push_out(&mut self, i: usize, particle: &mut SweptParticle) -> bool {
        let distance = particle.push_out_if_inside();
        if distance > 0.0 {
            self.0[i] = (particle.local, distance);
        }
        distance < 0.0
    }
}

/// Returns the distance within which a particle that moves by `movement`, m, may touch triangles: the push-out may
/// be as large as the movement.
pub(super) fn reach(thickness: f32, movement: f32) -> f32 {
    2.0 * thickness + movement
}
