//! Fits tapered capsules to the vertices of a limb.
//!
//! One or two capsules do for an arm or a leg. A chest, wider than it is deep and with shoulders, gets up to four: points
//! are divided among several capsules by turns with the fit of each, as in k-means clustering.

mod least_squares;

use bevy::math::{Quat, Vec3};
use least_squares::TaperedCapsule;

/// Smallest number of points for a fit.
const MIN_POINTS: usize = 8;

/// Largest number of points for a fit, taken evenly from all.
const MAX_POINTS: usize = 256;

/// Largest number of capsules for one limb.
const MAX_CAPSULES: usize = 4;

/// Mean distance of the points from the surface, as a fraction of the radius, up to which one capsule more is not worth
/// its cost.
const GOOD_FIT: f32 = 0.1;

/// Fraction of the misfit that must remain at most for one capsule more.
const BETTER_FIT: f32 = 0.75;

/// Fraction of the points nearest to a capsule that it encloses; points farther out are hair and pockets.
const ENCLOSED: f32 = 0.995;

/// Largest number of steps of a fit from a first guess.
const FIT_STEPS: u32 = 30;

/// Number of steps of each fit after points were assigned anew.
const REFIT_STEPS: u32 = 4;

/// Number of times that points are assigned anew to several capsules.
const ASSIGNMENTS: usize = 8;

/// Iterations of the power method.
const POWER_ITERATIONS: usize = 32;

/// Tapered capsule: the convex hull of two spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// Midpoint between the sphere centres, m.
    pub centre: Vec3,
    /// Rotation from the y axis to the capsule's axis.
    pub rotation: Quat,
    /// Radius of the sphere at the negative end of the axis, m.
    pub radius_bottom: f32,
    /// Radius of the sphere at the positive end of the axis, m.
    pub radius_top: f32,
    /// Distance between the sphere centres, m.
    pub length: f32,
}

impl Limb {
    /// Fits one to four capsules to points, so that nearly all points lie inside and the capsules protrude little. The
    /// fit starts along the axis of the bone, if known, and along the principal axes of the points. Empty if there are
    /// too few points, or if all coincide.
    pub fn around(points: &[Vec3], bone: Option<Vec3>) -> Vec<Self> {
        if !points.iter().all(|at| at.is_finite()) {
            return Vec::new();
        }
        let stride = points.len().div_ceil(MAX_POINTS).max(1);
        let sample: Vec<Vec3> = points.iter().copied().step_by(stride).collect();
        let Some(first) = fit_one(&sample, bone) else {
            return Vec::new();
        };
        let mut best = vec![first];
        enclose(&mut best, points);
        let mut misfit = mean_misfit(&best, &sample);
        for count in 2..=MAX_CAPSULES {
            if misfit < GOOD_FIT * mean_radius(&best) {
                break;
            }
            let Some(mut next) = fit_slices(&sample, count) else {
                continue;
            };
            enclose(&mut next, points);
            let next_misfit = mean_misfit(&next, &sample);
            if next_misfit < BETTER_FIT * misfit {
                (best, misfit) = (next, next_misfit);
            }
        }
        best.iter().map(Self::from).collect()
    }
}

impl From<&TaperedCapsule> for Limb {
    fn from(
        &TaperedCapsule {
            ends: [from, to],
            radii: [bottom, top],
        }: &TaperedCapsule,
    ) -> Self {
        let length = from.distance(to);
        // One sphere contains the other.
        if (bottom - top).abs() >= length || length < 1e-3 * bottom {
            let (centre, radius) = if bottom > top {
                (from, bottom)
            } else {
                (to, top)
            };
            return Self {
                centre,
                rotation: Quat::IDENTITY,
                radius_bottom: radius,
                radius_top: radius,
                length: 0.0,
            };
        }
        Self {
            centre: from.midpoint(to),
            rotation: Quat::from_rotation_arc(Vec3::Y, (to - from) / length),
            radius_bottom: bottom,
            radius_top: top,
            length,
        }
    }
}

/// Fits one capsule, starting along the bone or along one of the principal axes of the points.
fn fit_one(points: &[Vec3], bone: Option<Vec3>) -> Option<TaperedCapsule> {
    if points.len() < MIN_POINTS {
        return None;
    }
    let middle = mean(points);
    let bone = bone.and_then(Vec3::try_normalize);
    let axes = bone.into_iter().chain(principal_axes(points, middle));
    let fits = axes.filter_map(|axis| {
        let mut capsule = first_guess(points, middle, axis)?;
        capsule.improve(points, FIT_STEPS);
        Some((mean_misfit(&[capsule], points), capsule))
    });
    // Of two similar fits, the first.
    let best = fits.reduce(|best, next| if next.0 < 0.9 * best.0 { next } else { best });
    best.map(|(_, capsule)| capsule)
}

/// Returns a capsule along an axis that is about as long and as thick as the points.
fn first_guess(points: &[Vec3], middle: Vec3, axis: Vec3) -> Option<TaperedCapsule> {
    let along = |at: &Vec3| (*at - middle).dot(axis);
    let across = |at: &Vec3| (*at - middle).reject_from_normalized(axis).length();
    let low = points.iter().map(along).fold(f32::INFINITY, f32::min);
    let high = points.iter().map(along).fold(f32::NEG_INFINITY, f32::max);
    let radius = points.iter().map(across).sum::<f32>() / points.len() as f32;
    let inset = radius.min(0.45 * (high - low));
    let radius = radius.max(0.05 * (high - low));
    (radius > 0.0).then_some(TaperedCapsule {
        ends: [low + inset, high - inset].map(|t| middle + axis * t),
        radii: [radius; 2],
    })
}

/// Fits several capsules, starting from slices of the points along one of their principal axes; `None` if a slice has too
/// few points.
fn fit_slices(points: &[Vec3], count: usize) -> Option<Vec<TaperedCapsule>> {
    let middle = mean(points);
    let fits = principal_axes(points, middle).filter_map(|axis| {
        let along = |at: &Vec3| (*at - middle).dot(axis);
        let low = points.iter().map(along).fold(f32::INFINITY, f32::min);
        let high = points.iter().map(along).fold(f32::NEG_INFINITY, f32::max);
        let slice_of = |at: &Vec3| {
            let slice = (along(at) - low) / (high - low) * count as f32;
            (slice as usize).min(count - 1)
        };
        let capsules = (0..count).map(|slice| {
            let own = points.iter().copied().filter(|at| slice_of(at) == slice);
            fit_one(&own.collect::<Vec<_>>(), None)
        });
        let mut capsules = capsules.collect::<Option<Vec<_>>>()?;
        refit(&mut capsules, points);
        Some((mean_misfit(&capsules, points), capsules))
    });
    let best = fits.reduce(|best, next| if next.0 < best.0 { next } else { best });
    best.map(|(_, capsules)| capsules)
}

/// Fits capsules to the points nearest to each, by turns.
fn refit(capsules: &mut [TaperedCapsule], points: &[Vec3]) {
    for _ in 0..ASSIGNMENTS {
        let nearest = assign(capsules, points);
        for (k, capsule) in capsules.iter_mut().enumerate() {
            let own = points.iter().zip(&nearest).filter(|(_, n)| **n == k);
            let own: Vec<Vec3> = own.map(|(at, _)| *at).collect();
            if own.len() >= MIN_POINTS {
                capsule.improve(&own, REFIT_STEPS);
            }
        }
    }
}

/// Returns the capsule that encloses each point most deeply.
fn assign(capsules: &[TaperedCapsule], points: &[Vec3]) -> Vec<usize> {
    let nearest = |at: &Vec3| {
        let order = |&a: &usize, &b: &usize| {
            capsules[a]
                .distance(*at)
                .total_cmp(&capsules[b].distance(*at))
        };
        (0..capsules.len()).min_by(order).unwrap_or(0)
    };
    points.iter().map(nearest).collect()
}

/// Returns the signed distance of a point from several capsules.
fn distance(capsules: &[TaperedCapsule], point: Vec3) -> f32 {
    let all = capsules.iter().map(|capsule| capsule.distance(point));
    all.fold(f32::INFINITY, f32::min)
}

/// Returns the mean distance of points from the surface of several capsules, m.
fn mean_misfit(capsules: &[TaperedCapsule], points: &[Vec3]) -> f32 {
    let sum: f32 = points.iter().map(|at| distance(capsules, *at).abs()).sum();
    sum / points.len() as f32
}

/// Returns the mean radius of the ends of capsules, m.
fn mean_radius(capsules: &[TaperedCapsule]) -> f32 {
    let sum: f32 = capsules.iter().flat_map(|capsule| capsule.radii).sum();
    sum / (2 * capsules.len()) as f32
}

/// Widens capsules until each encloses nearly all of the points nearest to it.
fn enclose(capsules: &mut [TaperedCapsule], points: &[Vec3]) {
    let nearest = assign(capsules, points);
    for (k, capsule) in capsules.iter_mut().enumerate() {
        let own = points.iter().zip(&nearest).filter(|(_, n)| **n == k);
        let mut outside: Vec<f32> = own.map(|(at, _)| capsule.distance(*at)).collect();
        if outside.is_empty() {
            continue;
        }
        let index = (ENCLOSED * (outside.len() - 1) as f32).round() as usize;
        let (_, widening, _) = outside.select_nth_unstable_by(index, f32::total_cmp);
        capsule.radii = capsule.radii.map(|radius| radius + widening.max(0.0));
    }
}

/// Returns the centroid of points.
fn mean(points: &[Vec3]) -> Vec3 {
    points.iter().sum::<Vec3>() / points.len() as f32
}

/// Returns the principal axes of points: eigenvectors of their covariance, that of the largest spread first.
fn principal_axes(points: &[Vec3], middle: Vec3) -> impl Iterator<Item = Vec3> {
    let first = widest_axis(points, middle, Vec3::ZERO);
    let second = first.and_then(|first| widest_axis(points, middle, first));
    let third = first.zip(second).map(|(first, second)| first.cross(second));
    [first, second, third].into_iter().flatten()
}

/// Returns the direction orthogonal to `across` with the largest spread of the points, by power iteration. A zero `across`
/// gives the first principal axis.
fn widest_axis(points: &[Vec3], middle: Vec3, across: Vec3) -> Option<Vec3> {
    let mut axis = Vec3::new(0.58, 0.57, 0.59);
    for _ in 0..POWER_ITERATIONS {
        axis -= across * axis.dot(across);
        let next: Vec3 = points
            .iter()
            .map(|at| (*at - middle) * (*at - middle).dot(axis))
            .sum();
        axis = (next - across * next.dot(across)).try_normalize()?;
    }
    Some(axis)
}
#[cfg(test)]
mod tests;
