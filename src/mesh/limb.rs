//! Fits a capsule around points: a limb around its bone.

use bevy::math::{Quat, Vec3};

/// Fewer points tell nothing about a limb.
const FEWEST: usize = 8;

/// A limb is as thick as this share of its points lie at most: what lies farther out are hair and pockets.
const SHARE: f32 = 0.7;

/// What does not fit better than by this share fits alike.
const ALIKE: f32 = 0.9;

/// Rounds of the power iteration.
const ROUNDS: usize = 32;

/// Two balls and what is between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// The middle between the centres of both balls, m.
    pub centre: Vec3,
    /// Turns the y axis into its axis.
    pub rotation: Quat,
    /// Radius of the ball where its axis comes from, m.
    pub radius_bottom: f32,
    /// Radius of the one where it goes to, m.
    pub radius_top: f32,
    /// Between the centres of both, m.
    pub length: f32,
}

impl Limb {
    /// Fits one around points: along the axis of the bone, if it is known, or along one of the three in which
    /// the points are spread, whichever fits best. A chest is wider than it is deep, whatever its bone says.
    /// `None` if there are too few points, or all in one place.
    pub fn around(points: &[Vec3], bone: Option<Vec3>) -> Option<Self> {
        if points.len() < FEWEST || !points.iter().all(|at| at.is_finite()) {
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
            // Of two that fit alike, the first.
            .reduce(|best, next| if next.0 < ALIKE * best.0 { next } else { best })
            .map(|(_, limb)| limb)
    }

    /// Fits one along an axis.
    fn along(axis: Vec3, points: &[Vec3], middle: Vec3) -> Option<Self> {
        let along = |at: &Vec3| (*at - middle).dot(axis);
        let across = |at: &Vec3| (*at - middle).reject_from_normalized(axis).length();
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        for at in points {
            low = low.min(along(at));
            high = high.max(along(at));
        }
        // The ends of a limb are round, or belong to the next one: how thick it is its middle tells.
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
            // No ball is longer than the limb.
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

    /// How far points are from its surface, in the mean, m.
    fn misfit(&self, points: &[Vec3]) -> f32 {
        let axis = self.rotation * Vec3::Y;
        let misfit = |at: &Vec3| {
            let way = *at - self.centre;
            let t = way.dot(axis).clamp(-0.5 * self.length, 0.5 * self.length);
            let share = if self.length > 0.0 {
                t / self.length + 0.5
            } else {
                0.5
            };
            let radius = self.radius_bottom + (self.radius_top - self.radius_bottom) * share;
            ((way - axis * t).length() - radius).abs()
        };
        points.iter().map(misfit).sum::<f32>() / points.len() as f32
    }
}

/// The value that [`SHARE`] of all are below.
fn quantile(mut values: Vec<f32>) -> Option<f32> {
    let last = values.len().checked_sub(1)?;
    let place = (SHARE * last as f32).round() as usize;
    let (_, value, _) = values.select_nth_unstable_by(place.min(last), f32::total_cmp);
    Some(*value)
}

/// The direction across another one in which points are spread most: an eigenvector of their covariance, by
/// power iteration. Across nothing it is the first.
fn widest_axis(points: &[Vec3], middle: Vec3, across: Vec3) -> Option<Vec3> {
    let mut axis = Vec3::new(0.58, 0.57, 0.59);
    for _ in 0..ROUNDS {
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

    /// Points on a cone of this length around an axis, from one radius to another.
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
    fn a_limb_is_as_long_and_thick_as_its_points() {
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
    fn a_limb_that_tapers_is_thinner_at_one_end() {
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
        // A flat body, 40 cm wide, 30 high and 20 deep.
        let points: Vec<Vec3> = cone(Vec3::Y, 1.0, 1.0, 1.0)
            .iter()
            .map(|at| (*at - Vec3::ONE) * Vec3::new(0.2, 0.3, 0.1))
            .collect();
        let limb = Limb::around(&points, Some(Vec3::Y)).unwrap();
        let axis = limb.rotation * Vec3::Y;
        assert!(axis.z.abs() < 0.1, "{limb:?}");
        assert!(
            limb.radius_bottom < 0.16,
            "no ball that sticks out: {limb:?}"
        );
    }

    #[test]
    fn what_is_no_limb_gives_none() {
        assert_eq!(Limb::around(&[Vec3::ZERO; 4], None), None);
        assert_eq!(Limb::around(&[Vec3::ZERO; 40], None), None);
        assert_eq!(Limb::around(&[Vec3::NAN; 40], None), None);
        // A disc is a ball.
        let disc = Limb::around(&cone(Vec3::Y, 0.01, 0.2, 0.2), Some(Vec3::Y)).unwrap();
        assert_eq!(disc.length, 0.0);
    }
}
