//! Continuous collision detection (CCD): stops fast particles at the time of impact instead of letting them tunnel
//! through a collider within one substep.
//!
//! Discrete contacts are detected at the end of a substep, which suffices for particles that move less than the
//! size of a collider. For faster ones the whole path is swept in the frame of the collider, which may move
//! as well. All shapes are convex, so each lies on one side of the tangent plane at the surface point nearest to
//! the particle: advancing up to that plane never overshoots, and converges to the surface in a few
//! steps (Newton's method; conservative advancement, Mirtich 1996, with planes instead of spheres). From the
//! impact on, the collider is replaced by that plane.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

use crate::solver::{
    collision::narrow_phase::ColliderAtSubstep,
    parallel::split::chunk_ranges,
    simd::soa::{Bounds, bounds},
};
use bevy::math::Vec3;

/// Steps of Newton's method. Each squares the error, except for grazing paths, where each quarters it.
const NEWTON_STEPS: u32 = 8;

/// Tolerance by which a path may miss a triangle and still count as crossing, as a barycentric weight, so that
/// nothing slips through along an edge because of rounding.
pub(in crate::solver) const CROSSING_MARGIN: f32 = 1e-3;

/// Particles per block; a block without candidates is skipped as a whole.
const BLOCK: usize = 64;

/// Stops consecutive particles at the colliders that they would tunnel through. Displacements must be those of
/// this substep, none longer than `max_displacement`, m.
pub(in crate::solver) fn stop_fast_particles(
    colliders: &[ColliderAtSubstep],
    max_displacement: f32,
    x: &mut [&mut [f32]; 3],
    d: &mut [&mut [f32]; 3],
    w: &[f32],
) {
    if !colliders.iter().any(ColliderAtSubstep::can_tunnel) || w.is_empty() {
        return;
    }
    let may_tunnel = |collider: &ColliderAtSubstep| collider.may_tunnel(max_displacement);
    if !colliders.iter().any(may_tunnel) {
        return;
    }
    for block in chunk_ranges(0..w.len(), BLOCK) {
        let positions = bounds(x.each_ref().map(|plane| &plane[block.clone()]));
        let displacements = bounds(d.each_ref().map(|plane| &plane[block.clone()]));
        let swept = swept_bounds(&positions, &displacements);
        let longest = max_length(&displacements);
        if !colliders
            .iter()
            .any(|c| c.may_tunnel(longest) && c.may_touch_swept(&swept))
        {
            continue;
        }
        for i in block.filter(|&i| w[i] != 0.0) {
            stop_particle(colliders, x, d, i);
        }
    }
}

fn stop_particle(
    colliders: &[ColliderAtSubstep],
    x: &mut [&mut [f32]; 3],
    d: &mut [&mut [f32]; 3],
    i: usize,
) {
    let get = |planes: &[&mut [f32]; 3]| Vec3::from(planes.each_ref().map(|plane| plane[i]));
    let (mut position, mut displacement) = (get(x), get(d));
    let start = position - displacement;
    let mut stopped = false;
    for collider in colliders.iter().filter(|c| c.can_tunnel()) {
        let response = sweep_particle(collider, start, position, displacement);
        if let Some([push_out, approach, friction]) = response {
            position = position + push_out - friction;
            displacement = displacement - approach - friction;
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

/// Sweeps a particle along its path. Returns the contact response if it hits the collider on the way.
fn sweep_particle(
    collider: &ColliderAtSubstep,
    start: Vec3,
    end: Vec3,
    displacement: Vec3,
) -> Option<[Vec3; 3]> {
    let (from, to) = (collider.local_before(start), collider.local_point(end));
    let path = to - from;
    if !collider.is_tunneled_by(path) {
        return None;
    }
    let mut time = 0.0;
    for _ in 0..NEWTON_STEPS {
        let at = from + path * time;
        let (gap, normal) = collider.gap(at);
        let slope = normal.dot(path);
        // Moving away from a convex shape, the particle never comes back. If it started deep inside, the way out
        // is no better known than in the discrete contact at the end.
        if !(slope < 0.0) || (time == 0.0 && collider.is_deep(gap)) {
            return None;
        }
        if collider.is_near(gap) {
            // From here on the tangent plane replaces the shape.
            let depth = (at - to).dot(normal) - gap;
            return (depth > 0.0).then(|| collider.respond(displacement, at, normal, depth));
        }
        time += gap / -slope;
        if !(time <= 1.0) {
            return None;
        }
    }
    None
}

/// Returns an upper bound on the length of vectors within these bounds.
pub(in crate::solver) fn max_length([low, high]: &Bounds) -> f32 {
    let mut squares = 0.0;
    for (low, high) in low.iter().zip(high) {
        let most = low.abs().max(high.abs());
        squares += most * most;
    }
    squares.sqrt()
}

/// Returns the bounding box of the positions at both ends of a substep, given the bounds of the positions at its
/// end and of the displacements.
pub(in crate::solver) fn swept_bounds([low, high]: &Bounds, [least, most]: &Bounds) -> Bounds {
    let mut swept = [*low, *high];
    for axis in 0..3 {
        swept[0][axis] = low[axis] - most[axis].max(0.0);
        swept[1][axis] = high[axis] - least[axis].min(0.0);
    }
    swept
}
