//! Cloth against itself: its particles keep a distance from each other.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the phase: what is near, and for how long |
//! | `cells` | finds what is near |
//! | `touch` | what happens when two particles touch |
//!
//! Pairs are looked for when a fixed step begins, farther than the particles keep apart by a skin
//! (Verlet, 1967), and again as soon as any two particles may have moved too far with respect to each
//! other ([`LATEST`]). In a substep each pair is followed along its whole way: particles do not skip
//! each other. Particles that are faster with respect to the mean of the cloth than [`FASTEST`] allows
//! are slowed, so that of what met in a substep only what grazed is missed: pairs that met more than 7 %
//! deep are still within the skin at its end.

mod cells;
mod touch;

use super::{
    collide::Friction, corners::Corners, integrate::update_displacements,
    particles::ParticleArrays, soa::bounds,
};
use bevy::math::{Mat3, Vec3};
use cells::Cells;
use touch::Touch;

/// The distance that particles keep is at least this share of the distance of neighbours at rest: half
/// the diagonal of a square cell, where a particle could slip through, is 0.71 of it.
const LEAST: f32 = 0.8;

/// And at most so many times that. More would have each particle touch hundreds.
const GREATEST: f32 = 3.0;

/// Particles that are nearer at rest than so many times the distance that they keep never collide:
/// neighbours, and what is close in a rest shape with tight curves.
const NEIGHBOURS: f32 = 1.5;

/// The skin in which pairs are looked for, as a share of the distance that particles keep.
const SKIN: f32 = 0.5;

/// Pairs are looked for again when two particles may have moved by more than this share of that
/// distance with respect to each other. A pair that was just beyond the skin may then be nearer than it
/// should be by what this is more than [`SKIN`]; it has not changed sides: the middle of a square of
/// particles is passed at 0.47.
const LATEST: f32 = 0.8;

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
}

/// What a cloth of this thickness keeps from itself, m: the thickness, but at least 0.8 and at most 3
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
/// It is made anew when a fixed step begins, so it is no part of the state of a cloth.
#[derive(Clone, Debug, Default)]
pub struct SelfContacts {
    cells: Cells,
    pairs: Vec<[u32; 2]>,
    /// Positions when pairs were looked for, relative to the origin of the particles.
    found_at: [Vec<f32>; 3],
}

impl SelfContacts {
    /// How many pairs may touch before they are looked for again.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether nothing may touch.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Keeps the particles of a cloth apart in a substep, after relaxation and before colliders.
    ///
    /// Does nothing if `by` has no distance, or another number of particles. Does not depend on threads
    /// or on SIMD levels. Numbers that are not finite are left as they are.
    pub fn collide(&mut self, p: &mut ParticleArrays, by: &SelfCollision, substep: u32) {
        update_displacements(p);
        let known = by.distance.is_finite() && by.distance > 0.0;
        if !known || by.rest.len() != p.len() || p.len() < 2 {
            return;
        }
        let fastest = FASTEST * by.distance;
        let mut motion = spread_of(displacements(p));
        if motion > 2.0 * fastest {
            slow_down(p, fastest);
            // What is beyond are pinned particles, and the corners of the box that was measured.
            motion = spread_of(displacements(p)).min(2.0 * fastest);
        }
        if motion.is_nan() {
            return;
        }
        if substep == 0 || self.moved(p) > LATEST * by.distance {
            self.find(p, by);
        }
        let touch = Touch {
            distance: by.distance,
            motion,
            friction: by.friction,
        };
        touch.all(p, &self.pairs);
    }

    /// Looks for pairs.
    fn find(&mut self, p: &ParticleArrays, by: &SelfCollision) {
        let positions = [&p.position.x, &p.position.y, &p.position.z];
        for (kept, now) in self.found_at.iter_mut().zip(positions) {
            kept.clone_from(now);
        }
        let reach = (1.0 + SKIN) * by.distance;
        // A little larger, so that no rounding puts a pair two cells apart.
        self.cells.sort(&p.position, 1.001 * reach);
        let apart = NEIGHBOURS * by.distance;
        let may_meet = |i: u32, j: u32| {
            let way = by.to_world * (by.rest[i as usize] - by.rest[j as usize]);
            way.length_squared() > apart * apart
        };
        // As many as there are where layers lie tight, so that a step asks for memory once.
        self.pairs.clear();
        self.pairs.reserve(8 * p.len());
        self.cells.pairs(reach, may_meet, &mut self.pairs);
    }

    /// No two particles have moved by more than this with respect to each other since pairs were looked
    /// for, m.
    fn moved(&self, p: &ParticleArrays) -> f32 {
        const BLOCK: usize = 512;
        let [x, y, z] = &self.found_at;
        if x.len() != p.len() {
            return f32::INFINITY;
        }
        let mut ways = [[0.0; BLOCK]; 3];
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        let before = x.chunks(BLOCK).zip(y.chunks(BLOCK)).zip(z.chunks(BLOCK));
        for (now, ((x, y), z)) in p.position.chunks(BLOCK).zip(before) {
            for ((ways, now), before) in ways.iter_mut().zip(now).zip([x, y, z]) {
                for ((way, now), before) in ways.iter_mut().zip(now).zip(before) {
                    *way = now - before;
                }
            }
            let [least, greatest] = bounds(ways.each_ref().map(|ways| &ways[..x.len()]));
            low = low.min(least.into());
            high = high.max(greatest.into());
        }
        (high - low).length()
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
/// that are free.
fn slow_down(p: &mut ParticleArrays, fastest: f32) {
    let (mut sum, mut count) = (Vec3::ZERO, 0);
    for (d, &w) in p.displacement.iter().zip(&p.inverse_mass) {
        if w > 0.0 {
            sum += d;
            count += 1;
        }
    }
    let mean = sum / count.max(1) as f32;
    for i in 0..p.len() {
        let relative = p.displacement.get(i) - mean;
        let length = relative.length();
        if length > fastest && p.inverse_mass[i] > 0.0 {
            let more = relative * ((length - fastest) / length);
            p.displacement.add(i, -more);
            p.position.add(i, -more);
            let position = p.position.get(i);
            p.predicted.set(i, position);
        }
    }
}

#[cfg(test)]
mod tests;
