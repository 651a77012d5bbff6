//! Least-squares fit of a tapered capsule to points, by the method of Levenberg and Marquardt.
//!
//! The residual of a point is its signed distance from the surface, the least of |p − c(t)| − r(t) over the axis. Its
//! derivatives are those at a fixed t (envelope theorem): −n(1 − t) and −n t for the ends of the axis, −(1 − t) and −t
//! for the radii, with n the direction away from the axis. Points outside weigh more than points inside (expectile
//! regression), so that the surface encloses nearly all.

use bevy::math::Vec3;

/// Weight of a squared residual inside the surface; 1 outside.
const INSIDE_WEIGHT: f32 = 0.15;

/// Number of parameters: two ends and two radii.
const PARAMETERS: usize = 8;

/// Smallest radius, as a fraction of the size of the points.
const MIN_RADIUS: f32 = 1e-3;

/// Largest radius, as a fraction of the second-longest side of the box around the points.
const MAX_RADIUS: f32 = 0.7;

/// Tapered capsule by the centres and radii of its end spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TaperedCapsule {
    /// Centres of the end spheres, m.
    pub(super) ends: [Vec3; 2],
    /// Radii of the end spheres, m.
    pub(super) radii: [f32; 2],
}

/// Range of the parameters. Points on one side of a limb only would else be fitted by a huge sphere.
struct FitLimits {
    /// Corners of the box that contains the ends.
    ends: [Vec3; 2],
    /// Smallest and largest radius, m.
    radii: [f32; 2],
}

impl FitLimits {
    /// Returns the limits for points within a box.
    fn of(low: Vec3, high: Vec3) -> Self {
        let size = high - low;
        let (least, most) = (size.min_element(), size.max_element());
        let middle = size.element_sum() - least - most;
        Self {
            ends: [low, high],
            radii: [
                MIN_RADIUS * most,
                (MAX_RADIUS * middle).max(MIN_RADIUS * most),
            ],
        }
    }
}

/// Signed distance of a point from a capsule, and its derivatives.
struct Residual {
    /// m; negative inside.
    distance: f32,
    /// Unit vector away from the axis.
    normal: Vec3,
    /// Parameter of the closest point of the axis, 0 to 1.
    t: f32,
}

impl TaperedCapsule {
    /// Returns the signed distance of a point, m; negative inside.
    pub(super) fn distance(&self, point: Vec3) -> f32 {
        self.residual(point).distance
    }

    /// Returns the distance of a point, with its derivatives.
    fn residual(&self, point: Vec3) -> Residual {
        let [from, to] = self.ends;
        let length = (to - from).length();
        let axis = (to - from).normalize_or_zero();
        let offset = point - from;
        let along = offset.dot(axis);
        let across = (offset.length_squared() - along * along).max(0.0).sqrt();
        let slope = (self.radii[0] - self.radii[1]) / length.max(f32::MIN_POSITIVE);
        let t = if slope.abs() < 1.0 {
            // The normal of the side leans towards the thinner end.
            let lean = slope / (1.0 - slope * slope).sqrt();
            ((along - across * lean) / length).clamp(0.0, 1.0)
        } else if slope > 0.0 {
            // One sphere contains the other.
            0.0
        } else {
            1.0
        };
        let t = if t.is_finite() { t } else { 0.0 };
        let away = point - from.lerp(to, t);
        let radius = self.radii[0] + (self.radii[1] - self.radii[0]) * t;
        Residual {
            distance: away.length() - radius,
            normal: away.normalize_or_zero(),
            t,
        }
    }

    /// Returns the weighted sum of squared residuals.
    fn cost(&self, points: &[Vec3]) -> f32 {
        let cost = |point: &Vec3| {
            let distance = self.distance(*point);
            weight(distance) * distance * distance
        };
        points.iter().map(cost).sum()
    }

    /// Improves the fit to points by at most this number of steps.
    pub(super) fn improve(&mut self, points: &[Vec3], steps: u32) {
        let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        let limits = FitLimits::of(low, high);
        let (mut damping, mut cost) = (1e-2, self.cost(points));
        for _ in 0..steps {
            let (matrix, gradient) = self.normal_equations(points);
            let Some(step) = solve(matrix, gradient, damping) else {
                return;
            };
            let next = self.moved(&step, &limits);
            let next_cost = next.cost(points);
            // NaN is no improvement.
            if next_cost < cost {
                let converged = next_cost > 0.999 * cost;
                (*self, cost) = (next, next_cost);
                damping = (damping * 0.3).max(1e-4);
                if converged {
                    return;
                }
            } else {
                damping *= 8.0;
                if damping > 1e4 {
                    return;
                }
            }
        }
    }

    /// Returns the capsule after a step of its parameters, with valid radii.
    fn moved(&self, step: &[f32; PARAMETERS], limits: &FitLimits) -> Self {
        let [low, high] = limits.ends;
        let end = |k: usize| {
            let step = Vec3::from_slice(&step[3 * k..]);
            (self.ends[k] + step).clamp(low, high)
        };
        let [least, most] = limits.radii;
        let radius = |k: usize| (self.radii[k] + step[6 + k]).clamp(least, most);
        Self {
            ends: [end(0), end(1)],
            radii: [radius(0), radius(1)],
        }
    }

    /// Returns the matrix and the right-hand side of the normal equations of a Gauss–Newton step.
    fn normal_equations(
        &self,
        points: &[Vec3],
    ) -> ([[f32; PARAMETERS]; PARAMETERS], [f32; PARAMETERS]) {
        let mut matrix = [[0.0; PARAMETERS]; PARAMETERS];
        let mut right = [0.0; PARAMETERS];
        for point in points {
            let Residual {
                distance,
                normal,
                t,
            } = self.residual(*point);
            let (a, b) = (-normal * (1.0 - t), -normal * t);
            let row = [a.x, a.y, a.z, b.x, b.y, b.z, t - 1.0, -t];
            let weight = weight(distance);
            for (k, derivative) in row.iter().enumerate() {
                right[k] -= weight * derivative * distance;
                for (l, other) in row.iter().enumerate() {
                    matrix[k][l] += weight * derivative * other;
                }
            }
        }
        (matrix, right)
    }
}

/// Returns the weight of a squared residual.
fn weight(distance: f32) -> f32 {
    if distance > 0.0 { 1.0 } else { INSIDE_WEIGHT }
}

/// Solves damped normal equations by elimination with pivots; `None` if they are singular.
fn solve(
    mut matrix: [[f32; PARAMETERS]; PARAMETERS],
    mut right: [f32; PARAMETERS],
    damping: f32,
) -> Option<[f32; PARAMETERS]> {
    let trace: f32 = (0..PARAMETERS).map(|k| matrix[k][k]).sum();
    for (k, row) in matrix.iter_mut().enumerate() {
        // The second term keeps parameters that no point depends on.
        row[k] += damping * row[k] + damping * 1e-2 * trace / PARAMETERS as f32;
    }
    for k in 0..PARAMETERS {
        let pivot =
            (k..PARAMETERS).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))?;
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        if matrix[k][k].is_nan() || matrix[k][k] == 0.0 {
            return None;
        }
        let (above, below) = matrix.split_at_mut(k + 1);
        let pivot = above[k];
        for (row, k_below) in below.iter_mut().zip(k + 1..) {
            let factor = row[k] / pivot[k];
            for (entry, above) in row.iter_mut().zip(&pivot).skip(k) {
                *entry -= factor * above;
            }
            right[k_below] -= factor * right[k];
        }
    }
    for k in (0..PARAMETERS).rev() {
        let known: f32 = (k + 1..PARAMETERS).map(|l| matrix[k][l] * right[l]).sum();
        right[k] = (right[k] - known) / matrix[k][k];
    }
    right.iter().all(|x| x.is_finite()).then_some(right)
}
