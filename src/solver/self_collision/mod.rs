//! Cloth against itself: its particles keep a distance from each other.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the phase: what is near, and for how long |
//! | `cells` | finds what is near |
//! | `pairs` | which of that is near now, in an order |
//! | `motion` | how far what was near has moved since, and where |
//! | `touch` | what happens when two particles touch |
//! | `untangle` | brings edges back that have gone through triangles |
//!
//! Pairs are looked for farther than the particles keep apart by a skin (Verlet, 1967), and again only
//! where some that were near each other may have moved by more than that with respect to each other: of
//! a cloth that hangs, or falls as a whole, once; where a cloth hits the ground, only there. In a substep
//! each pair that is near is followed along its whole way: particles do not skip each other. Particles
//! that are faster with respect to the mean of the cloth than `FASTEST` allows are slowed, so that of
//! what met in a substep only what grazed is missed: pairs that met more than 18 % deep are still near at
//! its end.
//!
//! Which pairs are near, and in which order they are treated, follows from the positions alone, not
//! from when they were looked for: a cloth that was saved goes on with the same bits. (Only where so
//! much is in one place that not all of it is looked at, that is not so.)

mod cells;
mod motion;
mod pairs;
mod touch;
mod untangle;

use super::{
    collide::Friction,
    corners::Corners,
    integrate::update_displacements,
    particles::ParticleArrays,
    soa::{SoaVec3, bounds},
};
use bevy::math::{DVec3, Mat3, Vec3};
use cells::Cells;
use motion::{Allowed, Motion, Moved};
use pairs::{Ordered, merge};
use touch::Touch;
use untangle::Untangle;

/// The distance that particles keep is at least this share of the distance of neighbours at rest. Half
/// the diagonal of a square cell, where a particle could slip through, is 0.71 of it. A strip of 65 × 20
/// particles that was wrung for 10 s had 152 pairs of triangles that cross with 0.8, and 9 with 1; one of
/// 97 × 30 had none with 0.96 and 58 with 1, so more than that cannot be read from it.
const LEAST: f32 = 1.0;

/// And at most so many times that. More would have each particle touch hundreds.
const GREATEST: f32 = 3.0;

/// Particles that are nearer at rest than so many times the distance that they keep never collide:
/// neighbours, and what is close in a rest shape with tight curves.
const NEIGHBOURS: f32 = 1.5;

/// Pairs are treated in a substep if their distance at its end is less than 1 and this times what they
/// keep: who met on the way, or is pushed by others.
const NEAR: f32 = 0.25;

/// The skin in which pairs are looked for, as a share of the distance that particles keep. A wider one
/// serves for longer, but brings pairs along a thread that touch only where the cloth is folded sharply.
const SKIN: f32 = 0.5;

/// The least side of a bin of those in which relative motion is measured, as a multiple of that distance.
const BIN: f32 = 3.0;

/// Pairs are looked for among all particles again when those among which they had to be looked for since
/// are so many times as many in all.
const AGAIN: usize = 1;

/// Cells are a little larger than what is looked for in them, so that no rounding puts a pair two cells
/// apart.
const ROUNDING: f32 = 1.001;

/// No particle moves by more than this share of the distance that particles keep in one substep, with
/// respect to the mean of the cloth.
const FASTEST: f32 = 0.75;

/// How a cloth collides with itself.
#[derive(Clone, Copy, Debug)]
pub struct SelfCollision<'a> {
    /// What its particles keep from each other, m; see [`self_distance`].
    pub distance: f32,
    /// Friction of the fabric on itself.
    pub friction: Friction,
    /// Where its particles are at rest, in some frame.
    pub rest: &'a [Vec3],
    /// What turns and scales that frame into world axes.
    pub to_world: Mat3,
    /// Its triangles, if edges that have gone through them are to be brought back.
    pub triangles: Option<&'a Corners>,
}

/// What a cloth of this thickness keeps from itself, m: the thickness, but at least once and at most 3
/// times the `spacing` of its particles ([`rest_spacing`]). Particles that keep less let others through
/// between them.
pub fn self_distance(thickness: f32, spacing: f32) -> f32 {
    thickness.max(LEAST * spacing).min(GREATEST * spacing)
}

/// The mean distance of neighbouring particles at rest, m. Of a mesh it is the side of a square as
/// large as two of its triangles are on average, of a line without triangles the mean length of its
/// segments.
pub fn rest_spacing(rest: &[Vec3], triangles: &Corners, to_world: Mat3) -> f32 {
    let at = |i: u32| to_world * rest.get(i as usize).copied().unwrap_or_default();
    if triangles.is_empty() {
        let ways = rest.windows(2).map(|pair| to_world * (pair[1] - pair[0]));
        let length: f64 = ways.map(|way| f64::from(way.length())).sum();
        return (length / rest.len().saturating_sub(1).max(1) as f64) as f32;
    }
    let doubled: f64 = triangles
        .iter()
        .map(|[a, b, c]| f64::from((at(b) - at(a)).cross(at(c) - at(a)).length()))
        .sum();
    (doubled / triangles.len() as f64).sqrt() as f32
}

/// The pairs of particles of a cloth that may touch, and room to find them.
///
/// It follows from where the particles are, so it is no part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub struct SelfContacts {
    cells: Cells,
    motion: Motion,
    /// What may touch where nothing has moved much since it was looked for, and what is near elsewhere.
    pairs: Ordered,
    hot: Ordered,
    /// What the pairs were looked for with.
    found: Option<Found>,
    /// Where particles are at rest, in world axes, m.
    rest: SoaVec3,
    /// Particles among which pairs had to be looked for again.
    particles: Vec<u32>,
    /// As they were found, and put together.
    room: Vec<[u32; 2]>,
    untangle: Untangle,
    /// Those of the near pairs that may touch.
    spared: Vec<[u32; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Found {
    distance: f32,
    to_world: Mat3,
    /// Whether nothing was left out.
    all: bool,
    /// Among how many particles pairs were looked for again.
    again: usize,
}

impl SelfContacts {
    /// How many pairs may touch before they are looked for again.
    pub fn len(&self) -> usize {
        self.pairs.len() + self.hot.len()
    }

    /// Whether nothing may touch.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The pairs of particles at these places that keep no more than their distance and this tolerance, m, from
    /// each other.
    pub fn touching<'a>(
        &'a self,
        at: &'a SoaVec3,
        tolerance: f32,
    ) -> impl Iterator<Item = [u32; 2]> + 'a {
        // Without any that were found nothing is less.
        let keep = self.found.map_or(f32::NAN, |found| found.distance) + tolerance;
        let pairs = self.pairs.all().iter().chain(self.hot.all()).copied();
        pairs.filter(move |&[i, j]| {
            let (i, j) = (i as usize, j as usize);
            // Numbers of a cloth that was torn since may not be there any more.
            i.max(j) < at.len() && (at.get(i) - at.get(j)).length_squared() <= keep * keep
        })
    }

    /// Has pairs looked for again, and triangles learnt. Must be called when places at rest or triangles
    /// have changed, but not their number.
    pub fn forget(&mut self) {
        self.found = None;
        self.untangle.forget();
    }

    /// Keeps the particles of a cloth apart in a substep, after relaxation and before colliders.
    ///
    /// Returns whether any two touched. Does nothing if `by` has no distance, or another number of particles. Does not depend on threads
    /// or on SIMD levels. Numbers that are not finite are left as they are.
    pub fn collide(&mut self, p: &mut ParticleArrays, by: &SelfCollision, substep: u32) -> bool {
        update_displacements(p);
        let known = by.distance.is_finite() && by.distance > 0.0;
        if !known || by.rest.len() != p.len() || p.len() < 2 {
            return false;
        }
        let fastest = FASTEST * by.distance;
        let motion = spread_of(displacements(p));
        if motion > 2.0 * fastest {
            slow_down(p, fastest);
        }
        if motion.is_nan() {
            return false;
        }
        self.follow(p, by, substep);
        if self.is_empty() {
            return false;
        }
        let Self {
            pairs,
            hot,
            room,
            untangle,
            spared,
            ..
        } = self;
        let reach = (1.0 + NEAR) * by.distance;
        let mut near = pairs.near(&p.position, reach);
        if hot.len() > 0 {
            merge(near, hot.near(&p.position, reach), room);
            near = room;
        }
        let touch = Touch {
            distance: by.distance,
            friction: by.friction,
        };
        let Some(triangles) = by.triangles else {
            return touch.all(p, near);
        };
        untangle.look(p, triangles, near, by.distance);
        if !untangle.any() {
            return touch.all(p, near);
        }
        untangle.spare(near, spared);
        touch.all(p, spared);
        untangle.back(p, by.distance);
        true
    }

    /// Looks for pairs, unless all that are near are known.
    fn follow(&mut self, p: &ParticleArrays, by: &SelfCollision, substep: u32) {
        self.hot.clear();
        let Some(found) = &mut self.found else {
            return self.find(p, by);
        };
        let same = self.motion.before.len() == p.len()
            && found.distance == by.distance
            && found.to_world == by.to_world;
        if !same || (!found.all && substep == 0) {
            return self.find(p, by);
        }
        let allowed = Allowed {
            near: (1.0 + NEAR) * by.distance,
            skin: SKIN * by.distance,
            bin: BIN * by.distance,
        };
        match self.motion.look(&p.position, allowed) {
            Moved::Nowhere => {}
            Moved::Somewhere => {
                self.motion.hot(&mut self.particles);
                found.again += self.particles.len();
                if found.again > AGAIN * p.len() {
                    return self.find(p, by);
                }
                let reach = allowed.near;
                let of = self.particles.iter().copied();
                let Self { cells, room, .. } = self;
                cells.sort(&p.position, of, ROUNDING * reach, &self.rest);
                found.all &= cells.pairs(reach, NEIGHBOURS * by.distance, room);
                self.hot.order(p.len(), room);
            }
            Moved::Everywhere => self.find(p, by),
        }
    }

    /// Looks for pairs among all particles.
    fn find(&mut self, p: &ParticleArrays, by: &SelfCollision) {
        let n = p.len();
        let known = self
            .found
            .is_some_and(|found| found.to_world == by.to_world);
        if !known || self.rest.len() != n {
            self.rest = by.rest.iter().map(|&rest| by.to_world * rest).collect();
            self.cells.reserve(n);
            self.pairs.reserve(n, 2);
            self.hot.reserve(n, 1);
            self.particles.clear();
            self.particles.reserve(n);
            self.room.clear();
            self.room.reserve(2 * n);
        }
        self.motion.begin(&p.position);
        let reach = (1.0 + NEAR + SKIN) * by.distance;
        let all = 0..n as u32;
        self.cells
            .sort(&p.position, all, ROUNDING * reach, &self.rest);
        let all = self
            .cells
            .pairs(reach, NEIGHBOURS * by.distance, &mut self.room);
        self.pairs.order(n, &self.room);
        self.found = Some(Found {
            distance: by.distance,
            to_world: by.to_world,
            all,
            again: 0,
        });
    }
}

fn displacements(p: &ParticleArrays) -> [&[f32]; 3] {
    [&p.displacement.x, &p.displacement.y, &p.displacement.z]
}

/// No two of these vectors are farther from each other than this.
fn spread_of(vectors: [&[f32]; 3]) -> f32 {
    let [low, high] = bounds(vectors).map(Vec3::from);
    (high - low).length()
}

/// Slows particles that move farther than `fastest` in a substep, with respect to the mean of those
/// that are free. What they lose of their momentum all get: the mean goes on as it was.
fn slow_down(p: &mut ParticleArrays, fastest: f32) {
    let free =
        |p: &ParticleArrays, i: usize| (p.inverse_mass[i] > 0.0).then(|| 1.0 / p.inverse_mass[i]);
    let (mut sum, mut mass) = (DVec3::ZERO, 0.0);
    for i in 0..p.len() {
        if let Some(m) = free(p, i) {
            sum += p.displacement.get(i).as_dvec3() * f64::from(m);
            mass += f64::from(m);
        }
    }
    if mass <= 0.0 {
        return;
    }
    let mean = (sum / mass).as_vec3();
    let mut lost = DVec3::ZERO;
    for i in 0..p.len() {
        let relative = p.displacement.get(i) - mean;
        let length = relative.length();
        if let Some(m) = free(p, i)
            && length > fastest
        {
            let more = relative * ((length - fastest) / length);
            lost += more.as_dvec3() * f64::from(m);
            p.displacement.add(i, -more);
            p.position.add(i, -more);
        }
    }
    let back = (lost / mass).as_vec3();
    for i in 0..p.len() {
        if p.inverse_mass[i] > 0.0 {
            p.displacement.add(i, back);
            p.position.add(i, back);
            // This is no motion that has still to be added to the displacement.
            let position = p.position.get(i);
            p.predicted.set(i, position);
        }
    }
}

#[cfg(test)]
mod tests;
