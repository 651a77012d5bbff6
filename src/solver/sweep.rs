//! Particles that may go through a collider within one substep are stopped where they meet it.
//!
//! Contacts are looked for where a substep ends. That is enough for whoever moves less than a collider
//! is thick; for the others the whole way is looked at, in the frame of the collider, which may move as
//! well. All shapes are convex, so the plane that touches one at the point nearest to the particle
//! has it on one side: going on until that plane never goes too far, and comes to the surface in few
//! steps (Newton's method; conservative advancement, Mirtich 1996, with planes for balls). What is
//! hit counts from there on as that plane.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "what is NaN is not less")]

use super::{
    contact::Obstacle,
    soa::{Bounds, bounds},
};
use bevy::math::Vec3;

/// Steps of Newton's method. Each squares the error; only where a way grazes the shape it is quartered.
const STEPS: u32 = 8;

/// Particles of a block that is passed by as a whole.
const BLOCK: usize = 64;

/// Stops particles, which are neighbours in memory, at the obstacles that they would go through.
/// Displacements must be the ways of this substep, and none of them longer than `way`.
pub(super) fn stop_fast(
    obstacles: &[Obstacle],
    way: f32,
    x: &mut [&mut [f32]; 3],
    d: &mut [&mut [f32]; 3],
    w: &[f32],
) {
    if !obstacles.iter().any(Obstacle::may_be_crossed) || w.is_empty() {
        return;
    }
    let fast = |obstacle: &Obstacle| obstacle.is_slower_than(way);
    if !obstacles.iter().any(fast) {
        return;
    }
    for first in (0..w.len()).step_by(BLOCK) {
        let some = first..(first + BLOCK).min(w.len());
        let places = bounds(x.each_ref().map(|plane| &plane[some.clone()]));
        let ways = bounds(d.each_ref().map(|plane| &plane[some.clone()]));
        let (swept, way) = (swept(&places, &ways), longest(&ways));
        if !obstacles
            .iter()
            .any(|o| o.is_slower_than(way) && o.may_cross(&swept))
        {
            continue;
        }
        for i in some.filter(|&i| w[i] != 0.0) {
            stop_one(obstacles, x, d, i);
        }
    }
}

fn stop_one(obstacles: &[Obstacle], x: &mut [&mut [f32]; 3], d: &mut [&mut [f32]; 3], i: usize) {
    let get = |planes: &[&mut [f32]; 3]| Vec3::from(planes.each_ref().map(|plane| plane[i]));
    let (mut position, mut displacement) = (get(x), get(d));
    let start = position - displacement;
    let mut stopped = false;
    for obstacle in obstacles.iter().filter(|o| o.may_be_crossed()) {
        if let Some([out, into, lost]) = meet(obstacle, start, position, displacement) {
            position = position + out - lost;
            displacement = displacement - into - lost;
            stopped = true;
        }
    }
    if stopped {
        for axis in 0..3 {
            x[axis][i] = position[axis];
            d[axis][i] = displacement[axis];
        }
    }
}

/// What an obstacle does to a particle that meets it on its way.
fn meet(obstacle: &Obstacle, start: Vec3, end: Vec3, displacement: Vec3) -> Option<[Vec3; 3]> {
    let (from, to) = (obstacle.local_before(start), obstacle.local(end));
    let way = to - from;
    if !obstacle.is_crossed_by(way) {
        return None;
    }
    let mut time = 0.0;
    for _ in 0..STEPS {
        let at = from + way * time;
        let (gap, normal) = obstacle.gap(at);
        let slope = normal.dot(way);
        // It goes away, and never comes back to what is convex. Or it was inside from the start: then
        // the way out is not known better than at its end.
        if !(slope < 0.0) || (time == 0.0 && obstacle.is_deep(gap)) {
            return None;
        }
        if obstacle.is_near(gap) {
            // From here on it is the plane that touches the shape.
            let depth = (at - to).dot(normal) - gap;
            return (depth > 0.0).then(|| obstacle.respond(displacement, at, normal, depth));
        }
        time += gap / -slope;
        if !(time <= 1.0) {
            return None;
        }
    }
    None
}

/// A bound of the longest way.
pub(super) fn longest([low, high]: &Bounds) -> f32 {
    let mut squares = 0.0;
    for (low, high) in low.iter().zip(high) {
        let most = low.abs().max(high.abs());
        squares += most * most;
    }
    squares.sqrt()
}

/// The box around where particles are and where they came from.
pub(super) fn swept([low, high]: &Bounds, [least, most]: &Bounds) -> Bounds {
    let mut swept = [*low, *high];
    for axis in 0..3 {
        swept[0][axis] = low[axis] - most[axis].max(0.0);
        swept[1][axis] = high[axis] - least[axis].min(0.0);
    }
    swept
}
