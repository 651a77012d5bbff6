//! Fits a tapered capsule to the vertices of a limb around its bone.

use bevy::math::{Quat, Vec3};

/// Smallest number of points for a fit.
const MIN_POINTS: usize = 8;

/// Fraction of the points within the radius of a limb; points farther out are hair and pockets.
const INNER_FRACTION: f32 = 0.7;

/// A later candidate must reduce the misfit to below this fraction of the best one to replace it.
const BETTER_FIT: f32 = 0.9;

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
    /// Fits a capsule to points: along the axis of the bone, if known, or along one of the principal axes of the
    /// points, whichever fits best. A chest is wider than it is deep, whatever its bone says. `None` if there are
    /// too few points, or if all coincide.
    pub fn around(points: &[Vec3], bone: Option<Vec3>) -> Option<Self> {
        if points.len() < MIN_POINTS || !points.iter().all(|at| at.is_finite()) {
            return None;
        }
        let middle = points.iter().sum::<Vec3>() / points.len() as f32;
        let first = widest_axis(points, middle, Vec3::ZERO);
        let second = first.and_then(|first| widest_axis(points, middle, first));
        let third = first.zip(second).map(|(first, second)| first.cross(second));
        let bone = bone.and_then(Vec3::try_normalize);
        let fits = [bone, first, second, third].into_iter().flatten();
        fits.filter_map(|axis| Self::along(axis, points, middle))
            .map(|limb| (limb.misfit(points), limb))
            // Of two similar fits, the first.
            .reduce(|best, next| {
                if next.0 < BETTER_FIT * best.0 {
                    next
                } else {
                    best
                }
            })
            .map(|(_, limb)| limb)
    }

    /// Fits a capsule along an axis.
    fn along(axis: Vec3, points: &[Vec3], middle: Vec3) -> Option<Self> {
        let along = |at: &Vec3| (*at - middle).dot(axis);
        let across = |at: &Vec3| (*at - middle).reject_from_normalized(axis).length();
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for at in points {
            low = low.min(along(at));
            high = high.max(along(at));
        }
        // The ends of a limb are round or belong to the next limb; the radius is measured on the middle part.
        let end = 0.125 * (high - low);
        let half = |upper: bool| {
            let of_half = points.iter().filter(|at| {
                let t = along(at);
                let is_upper = t > 0.5 * (low + high);
                is_upper == upper && t > low + end && t < high - end
            });
            quantile(of_half.map(across).collect())
        };
        let all = quantile(points.iter().map(across).collect())?;
        let longest = 0.5 * (high - low);
        let [bottom, top] = [half(false), half(true)].map(|radius| {
            // No sphere is larger than the limb is long.
            radius.unwrap_or(all).min(longest.max(all))
        });
        if !(bottom > 0.0 && top > 0.0) {
            return None;
        }
        let (from, to) = (low + bottom, high - top);
        let (from, to) = if from < to {
            (from, to)
        } else {
            let centre = 0.5 * (low + high);
            (centre, centre)
        };
        Some(Self {
            centre: middle + axis * (0.5 * (from + to)),
            rotation: Quat::from_rotation_arc(Vec3::Y, axis),
            radius_bottom: bottom,
            radius_top: top,
            length: to - from,
        })
    }

    /// Returns the mean distance of the points from the surface, m.
    fn misfit(&self, points: &[Vec3]) -> f32 {
        let axis = self.rotation * Vec3::Y;
        let misfit = |at: &Vec3| {
            let offset = *at - self.centre;
            let t = offset
                .dot(axis)
                .clamp(-0.5 * self.length, 0.5 * self.length);
            let fraction = if self.length > 0.0 {
                t / self.length + 0.5
            } else {
                0.5
            };
            let radius = self.radius_bottom + (self.radius_top - self.radius_bottom) * fraction;
            ((offset - axis * t).length() - radius).abs()
        };
        points.iter().map(misfit).sum::<f32>() / points.len() as f32
    }
}

/// Returns the value at the quantile [`INNER_FRACTION`].
fn quantile(mut values: Vec<f32>) -> Option<f32> {
    let last = values.len().checked_sub(1)?;
    let index = (INNER_FRACTION * last as f32).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(index.min(last), f32::total_cmp);
    Some(*value)
}

/// Returns the direction orthogonal to `across` with the largest spread of the points: an eigenvector of their
/// covariance, by power iteration. A zero `across` gives the first principal axis.
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
mod tests {
    use super::*;

    /// Returns points on a cone of this length around an axis, from one radius to another.
    fn cone(axis: Vec3, length: f32, from: f32, to: f32) -> Vec<Vec3> {
        let side = axis.any_orthonormal_vector();
        (0..=20)
            .flat_map(|k| {
                let t = k as f32 / 20.0;
                (0..12).map(move |j| {
                    let turn = Quat::from_axis_angle(axis, j as f32 * std::f32::consts::FRAC_PI_6);
                    Vec3::ONE + axis * (length * t) + turn * side * (from + (to - from) * t)
                })
            })
            .collect()
    }

    #[test]
    fn a_limb_has_the_length_and_radius_of_its_points() {
        let axis = Vec3::new(1.0, 2.0, -0.5).normalize();
        for known in [Some(axis * 3.0), None] {
            let limb = Limb::around(&cone(axis, 1.0, 0.1, 0.1), known).unwrap();
            assert!((limb.radius_bottom - 0.1).abs() < 0.001, "{limb:?}");
            assert!((limb.radius_top - 0.1).abs() < 0.001, "{limb:?}");
            assert!((limb.length - 0.8).abs() < 0.01, "{limb:?}");
            assert!((limb.rotation * Vec3::Y).dot(axis).abs() > 0.999);
            assert!(limb.centre.distance(Vec3::ONE + axis * 0.5) < 0.01);
        }
    }

    #[test]
    fn a_tapered_limb_is_thinner_at_one_end() {
        let axis = Vec3::Y;
        let limb = Limb::around(&cone(axis, 1.0, 0.2, 0.1), Some(axis)).unwrap();
        assert!(
            limb.radius_bottom > 0.15 && limb.radius_bottom < 0.2,
            "{limb:?}"
        );
        assert!(limb.radius_top > 0.1 && limb.radius_top < 0.15, "{limb:?}");
    }

    #[test]
    fn a_chest_lies_across_its_bone() {
        // A flat body, 40 cm wide, 30 cm high and 20 cm deep.
        let points: Vec<Vec3> = cone(Vec3::Y, 1.0, 1.0, 1.0)
            .iter()
            .map(|at| (*at - Vec3::ONE) * Vec3::new(0.2, 0.3, 0.1))
            .collect();
        let limb = Limb::around(&points, Some(Vec3::Y)).unwrap();
        let axis = limb.rotation * Vec3::Y;
        assert!(axis.z.abs() < 0.1, "{limb:?}");
        assert!(limb.radius_bottom < 0.16, "no protruding sphere: {limb:?}");
    }

    #[test]
    fn degenerate_points_give_none() {
        assert_eq!(Limb::around(&[Vec3::ZERO; 4], None), None);
        assert_eq!(Limb::around(&[Vec3::ZERO; 40], None), None);
        assert_eq!(Limb::around(&[Vec3::NAN; 40], None), None);
        // A disc gives a sphere.
        let disc = Limb::around(&cone(Vec3::Y, 0.01, 0.2, 0.2), Some(Vec3::Y)).unwrap();
        assert_eq!(disc.length, 0.0);
    }
}
