//! Settings of self-collision, and the distances of particles on which they depend.

use super::relative_motion::slow_down;
use crate::solver::{
    collision::collider::Friction, integrate::update_displacements, particles::ParticleArrays,
    simd::soa::bounds, triangles::corners::Corners,
};
use bevy::math::{Mat3, Vec3};

/// Minimum contact distance, as a multiple of the rest spacing of neighbours. Half the diagonal of a square cell,
/// where a particle could slip through, is 0.71 of that spacing. A strip of 65 × 20 particles that was wrung for
/// 10 s had 152 pairs of intersecting triangles with 0.8, and 9 with 1; one of 97 × 30 had none with 0.96 and 58
/// with 1, so the measurement resolves no more than that.
const MIN_DISTANCE: f32 = 1.0;

/// Maximum contact distance, as a multiple of the rest spacing. More would make each particle touch hundreds of
/// others.
const MAX_DISTANCE: f32 = 3.0;

/// Maximum displacement of a particle per substep relative to the mean of the cloth, as a fraction of the contact
/// distance.
pub(super) const MAX_DISPLACEMENT: f32 = 0.75;

/// Parameters of the self-collision of a cloth.
#[derive(Clone, Copy, Debug)]
pub struct SelfCollisionSettings<'a> {
    /// Distance that particles keep from each other, m; see [`self_distance`].
    pub distance: f32,
    /// Friction of the fabric on itself.
    pub friction: Friction,
    /// Rest positions of the particles, in some frame.
    pub rest: &'a [Vec3],
    /// Rotation and scale from that frame to world axes.
    pub to_world: Mat3,
    /// Triangles of the cloth. Edges that have passed through them are brought back.
    pub triangles: &'a Corners,
}

impl SelfCollisionSettings<'_> {
    /// Updates displacements, and slows particles that are too fast for contacts to be found. Returns whether the cloth can
    /// touch anything.
    pub(in crate::solver::collision) fn begin_contacts(&self, p: &mut ParticleArrays) -> bool {
        update_displacements(p);
        if !self.fits(p) {
            return false;
        }
        let max_displacement = MAX_DISPLACEMENT * self.distance;
        // Upper bound on the difference between any two displacements.
        let [min, max] = bounds(p.displacement.planes()).map(Vec3::from);
        let motion_spread = (max - min).length();
        if motion_spread > 2.0 * max_displacement {
            slow_down(p, max_displacement);
        }
        !motion_spread.is_nan()
    }

    /// Returns whether there is a distance to keep, and a rest position for each of the particles.
    pub(super) fn fits(&self, p: &ParticleArrays) -> bool {
        self.is_valid() && self.rest.len() == p.len() && !p.is_empty()
    }

    /// Returns whether there is a distance to keep.
    pub(in crate::solver::collision) fn is_valid(&self) -> bool {
        self.distance.is_finite() && self.distance > 0.0
    }
}

/// Returns the distance that particles of a cloth of this thickness keep from each other, m: the thickness, but at
/// least once and at most 3 times the `spacing` of the particles ([`rest_spacing`]). With less, particles pass
/// between one another.
pub fn self_distance(thickness: f32, spacing: f32) -> f32 {
    thickness
        .max(MIN_DISTANCE * spacing)
        .min(MAX_DISTANCE * spacing)
}

/// Returns the mean distance of neighbouring particles at rest, m. For a mesh this is the side of a square with
/// the average area of two triangles that have any, for a line without triangles the mean length of its segments.
pub fn rest_spacing(rest: &[Vec3], triangles: &Corners, to_world: Mat3) -> f32 {
    let at = |i: u32| to_world * rest.get(i as usize).copied().unwrap_or_default();
    if triangles.is_empty() {
        let segments = rest.windows(2).map(|pair| to_world * (pair[1] - pair[0]));
        let length: f64 = segments.map(|segment| f64::from(segment.length())).sum();
        return (length / rest.len().saturating_sub(1).max(1) as f64) as f32;
    }
    let doubled = |[a, b, c]: [u32; 3]| f64::from((at(b) - at(a)).cross(at(c) - at(a)).length());
    // Members of a group whose particles keep a smaller distance have no area.
    let doubled = triangles.iter().map(doubled).filter(|&area| area != 0.0);
    let (sum, count) = doubled.fold((0.0, 0_u32), |(sum, count), area| (sum + area, count + 1));
    (sum / f64::from(count.max(1))).sqrt() as f32
}

/// Returns the number of particles of a flat cloth in the square of the distance that they keep, at least 1.
pub(super) fn density(distance: f32, spacing: f32) -> f32 {
    (distance / spacing).powi(2).max(1.0)
}
