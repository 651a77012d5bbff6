//! Cached triangle candidates for groups of particles near a surface, and the loop over the groups.

use super::{GROUP, surface_at_substep::SurfaceAtSubstep, swept_particle::SweptParticle};
use crate::solver::{
    parallel::split::chunk_ranges,
    simd::soa::{Bounds, bounds, union},
};
use bevy::math::Vec3;

/// Largest number of triangle candidates picked per particle; with more, it is tested against all triangles of its group.
const MAX_CANDIDATES: usize = 96;

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
}

/// Cache for a chunk of particles: the triangles near each group.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkCache {
    groups: Vec<GroupCache>,
    /// Triangles near each group, one group after the other.
    triangles: Vec<u32>,
    /// Scratch buffer for compaction.
    spare: Vec<u32>,
    safe: SafeSpheres,
}

/// Per particle, a sphere in the frame of the surface (centre and radius) in which it is known to be on the
/// correct side. Created on demand.
#[derive(Clone, Debug, Default)]
struct SafeSpheres(Vec<(Vec3, f32)>);

/// Cache for a group of particles.
#[derive(Clone, Copy, Debug)]
struct GroupCache {
    /// Box in the frame of the surface for which all overlapping triangles are cached.
    known: [Vec3; 2],
    /// Index of the first triangle of the group in [`ChunkCache::triangles`].
    first: u32,
    /// Number of triangles.
    count: u32,
    /// Whether the box overlaps no triangle and lies entirely on the wrong side of a closed surface.
    on_wrong_side: bool,
}

impl Default for GroupCache {
    fn default() -> Self {
        Self {
            known: [Vec3::INFINITY, Vec3::NEG_INFINITY],
            first: 0,
            count: 0,
            on_wrong_side: false,
        }
    }
}

impl GroupCache {
    fn contains(&self, [low, high]: [Vec3; 2]) -> bool {
        self.known[0].cmple(low).all() && self.known[1].cmpge(high).all()
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Paths of the particles of a group in a substep, in the frame of the surface.
struct GroupSweep {
    from: [Vec3; GROUP],
    to: [Vec3; GROUP],
    /// Bounding box of each path, widened by the largest possible push-out: lower and upper bounds per axis.
    low: [[f32; GROUP]; 3],
    high: [[f32; GROUP]; 3],
    /// Upper bound on the movement of the triangles near the group, m.
    surface_movement: f32,
}

/// Triangles near the path of each particle of a group.
struct Candidates {
    triangles: [[u32; MAX_CANDIDATES]; GROUP],
    /// Numbers of triangles, those for which there was no space included.
    counts: [usize; GROUP],
}

impl Candidates {
    /// Returns the triangles near one particle, or all of its group if they are too many.
    fn near<'a>(&'a self, lane: usize, all: &'a [u32]) -> &'a [u32] {
        match self.counts[lane] {
            count if count > MAX_CANDIDATES => all,
            count => &self.triangles[lane][..count],
        }
    }
}

impl ChunkCache {
    /// Resolves the contacts of a chunk of consecutive particles with a surface. `first`: whether this is the
    /// first substep of the step.
    pub(super) fn collide(
        &mut self,
        surface: &SurfaceAtSubstep,
        first: bool,
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
            self.compact();
        }
        let positions = bounds(particles.x.each_ref().map(|plane| &**plane));
        if !surface.may_touch(&union(&positions, &bounds(start))) {
            return;
        }
        for (number, range) in chunk_ranges(0..w.len(), GROUP).enumerate() {
            let now = particles.x.each_ref().map(|plane| &plane[range.clone()]);
            let then = start.map(|plane| &plane[range.clone()]);
            let swept = union(&points_bounds(now), &points_bounds(then));
            let [low, high] = surface.local_box(&swept);
            let max_movement = max_distance(now, then) + surface.max_movement;
            let reach = Vec3::splat(reach(surface.thickness, max_movement));
            let needed = [low - reach, high + reach];
            // Skip non-finite positions.
            if !(needed[0].is_finite() && needed[1].is_finite()) {
                continue;
            }
            if !self.groups[number].contains(needed) {
                self.look_up(surface, number, needed, max_movement);
            }
            let group = self.groups[number];
            if group.count == 0 && !(group.on_wrong_side && first) {
                continue;
            }
            let movement = surface.max_movement_of(&self.triangles[group.range()]);
            let sweep = GroupSweep::new(surface, now, then, movement);
            self.collide_group(surface, first, number, &sweep, &mut particles);
        }
    }

    /// Finds the triangles near a group and caches them.
    fn look_up(
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
        let first = self.triangles.len();
        surface.find(known, &mut self.triangles);
        let count = self.triangles.len() - first;
        let on_wrong_side =
            count == 0 && surface.is_closed() && at_substep.now.distance((low + high) * 0.5) < 0.0;
        self.groups[number] = GroupCache {
            known,
            first: first as u32,
            count: count as u32,
            on_wrong_side,
        };
    }

    /// Adapts to a surface whose points have moved by at most `movement` since the end of the last step, m: what is known
    /// of a box or a sphere remains true farther inside. `last_movement` is that in the last step.
    pub(super) fn shrink(&mut self, movement: f32, last_movement: f32) {
        for GroupCache { known, .. } in &mut self.groups {
            known[0] += movement;
            known[1] -= movement;
        }
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

    /// Discards triangle lists no longer in use, if they make up more than about half of all.
    fn compact(&mut self) {
        let used: usize = self.groups.iter().map(|group| group.count as usize).sum();
        if self.triangles.len() <= 2 * used + 256 {
            return;
        }
        self.spare.clear();
        for group in &mut self.groups {
            let first = self.spare.len() as u32;
            self.spare.extend_from_slice(&self.triangles[group.range()]);
            group.first = first;
        }
        std::mem::swap(&mut self.triangles, &mut self.spare);
    }

    /// Resolves the contacts of a group with its cached triangles.
    fn collide_group(
        &mut self,
        at_substep: &SurfaceAtSubstep,
        first: bool,
        number: usize,
        sweep: &GroupSweep,
        particles: &mut ChunkParticles,
    ) {
        let ChunkParticles { x, d, start, w } = particles;
        let all = &self.triangles[self.groups[number].range()];
        let candidates = sweep.candidates(at_substep, all);
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
            };
            let touched = match particle.collide(candidates.near(lane, all)) {
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
            if touched {
                for axis in 0..3 {
                    x[axis][i] = particle.position[axis];
                    d[axis][i] = particle.displacement[axis];
                }
            }
        }
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

/// Returns the bounding box of at least one point.
fn points_bounds(planes: [&[f32]; 3]) -> Bounds {
    let mut bounds = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for (axis, plane) in planes.into_iter().enumerate() {
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for &value in plane {
            low = if value < low { value } else { low };
            high = if value > high { value } else { high };
        }
        (bounds[0][axis], bounds[1][axis]) = (low, high);
    }
    bounds
}

/// Returns an upper bound on the distances between corresponding points.
fn max_distance(now: [&[f32]; 3], then: [&[f32]; 3]) -> f32 {
    let mut squares = 0.0;
    for (now, then) in now.into_iter().zip(then) {
        let mut most = 0.0_f32;
        for (now, then) in now.iter().zip(then) {
            let distance = (now - then).abs();
            most = if distance > most { distance } else { most };
        }
        squares += most * most;
    }
    squares.sqrt()
}

impl GroupSweep {
    fn new(
        surface: &SurfaceAtSubstep,
        now: [&[f32]; 3],
        then: [&[f32]; 3],
        surface_movement: f32,
    ) -> Self {
        let mut sweep = Self {
            from: [Vec3::ZERO; GROUP],
            to: [Vec3::ZERO; GROUP],
            low: [[f32::INFINITY; GROUP]; 3],
            high: [[f32::NEG_INFINITY; GROUP]; 3],
            surface_movement,
        };
        for lane in 0..now[0].len() {
            let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[lane]));
            let from = surface.collider.local_before(get(then));
            let to = surface.collider.local_point(get(now));
            let movement = (to - from).length() + surface_movement;
            let reach = reach(surface.thickness, movement);
            let (low, high) = (from.min(to) - reach, from.max(to) + reach);
            (sweep.from[lane], sweep.to[lane]) = (from, to);
            for axis in 0..3 {
                sweep.low[axis][lane] = low[axis];
                sweep.high[axis][lane] = high[axis];
            }
        }
        sweep
    }

    /// Picks the triangles near the path of each particle.
    fn candidates(&self, at_substep: &SurfaceAtSubstep, triangles: &[u32]) -> Candidates {
        let mut found = Candidates {
            triangles: [[0; MAX_CANDIDATES]; GROUP],
            counts: [0; GROUP],
        };
        for &triangle in triangles {
            let mut near = self.overlapping(at_substep.swept_box(triangle).map(Vec3::from));
            while near != 0 {
                let lane = near.trailing_zeros() as usize;
                near &= near - 1;
                if let Some(slot) = found.triangles[lane].get_mut(found.counts[lane]) {
                    *slot = triangle;
                }
                found.counts[lane] += 1;
            }
        }
        found
    }

    /// Returns the particles with a path near a box, as a bit mask.
    fn overlapping(&self, [low, high]: [Vec3; 2]) -> u32 {
        let mut apart = [0_u32; GROUP];
        for axis in 0..3 {
            let (low, high) = (low[axis], high[axis]);
            for (lane, apart) in apart.iter_mut().enumerate() {
                let beside = (self.low[axis][lane] > high) | (self.high[axis][lane] < low);
                *apart |= u32::from(beside);
            }
        }
        let bits = apart.iter().enumerate();
        bits.fold(0, |bits, (lane, &apart)| bits | ((1 - apart) << lane))
    }
}
