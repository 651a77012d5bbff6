//! Contacts of links with the edges of boxes and cylinders, where these come between two particles.
//!
//! Particles keep a distance from faces, but a link between particles at two faces cuts through the edge between them. If it is
//! pulled, it presses its ends onto the faces, instead of drawing them along to the edge and over it, and the cloth is caught
//! there: a tablecloth that is pulled off was torn between the top and the underside of its table. So where a link cuts deeper
//! than one at its rest length would, its deepest point is pushed out, in the direction half-way between both faces.

use crate::solver::{
    collision::narrow_phase::ColliderAtSubstep, particles::ParticleArrays, triangles::Triangles,
};
use bevy::math::Vec3;
use std::f32::consts::SQRT_2;

/// Cosine of the angle between the contact normals at both ends of a link below which it may lead around an edge.
const MAX_COSINE: f32 = 0.7;

/// Smallest cosine of the angle between the direction of push-out and the normal of a face: not for links that lead from one face
/// to the opposite one.
const MIN_COSINE: f32 = 0.1;

/// Largest depth to which a link may cut into a collider, as a fraction of the radius of the largest ball in it.
const MAX_DEPTH: f32 = 0.25;

/// Bisection steps for the deepest point of a link.
const BISECTIONS: u32 = 10;

/// Links that may lead around an edge, found once in a fixed step.
#[derive(Clone, Debug, Default)]
pub(super) struct EdgeContacts {
    links: Vec<[u32; 2]>,
    /// Depth to which one at its rest length cuts into a collider whose faces meet at a right angle, m.
    depth_at_rest: f32,
}

impl EdgeContacts {
    pub(super) fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.links.clear();
    }

    /// Finds the links whose ends touched different faces in the last substep.
    pub(super) fn find(&mut self, p: &ParticleArrays, triangles: &Triangles, thickness: f32) {
        self.clear();
        self.depth_at_rest = 0.5 * triangles.longest_edge - SQRT_2 * thickness;
        if !p.in_contact {
            return;
        }
        let at = |i: u32| p.position.get(i as usize);
        // Shorter ones do not cut deep enough.
        let is_long = |a, b| at(a).distance(at(b)) > 2.0 * thickness;
        for corners in triangles.indices.iter() {
            let normals = corners.map(|i| p.contact_normal.get(i as usize));
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let [one, other] = [normals[i], normals[j]];
                let [a, b] = [corners[i], corners[j]];
                if one.dot(other) < MAX_COSINE * one.length() * other.length() && is_long(a, b) {
                    self.links.push([a.min(b), a.max(b)]);
                }
            }
        }
        self.links.sort_unstable();
        self.links.dedup();
    }

    /// Pushes links out of the edges of colliders. Returns whether any was.
    pub(super) fn collide<'a>(
        &self,
        p: &mut ParticleArrays,
        colliders: impl Iterator<Item = &'a ColliderAtSubstep>,
    ) -> bool {
        let mut any = false;
        for collider in colliders.filter(|collider| collider.has_edges()) {
            for link in &self.links {
                any |= self.push_out(p, link.map(|i| i as usize), collider);
            }
        }
        any
    }

    /// Pushes a link out of a collider. Returns whether it was too deep in it.
    fn push_out(&self, p: &mut ParticleArrays, link: [usize; 2], c: &ColliderAtSubstep) -> bool {
        let ends = link.map(|i| p.position.get(i));
        let bounds = [ends[0].min(ends[1]), ends[0].max(ends[1])];
        if !c.may_touch_swept(&bounds.map(|corner| corner.to_array())) {
            return false;
        }
        let at_rest = self.depth_at_rest.min(MAX_DEPTH * c.inner_radius());
        let allowed = at_rest.max(0.5 * c.thickness) + c.thickness;
        let ends = ends.map(|end| c.local_point(end));
        let along = ends[1] - ends[0];
        let gap = |t: f32| c.gap(ends[0] + along * t);
        let [(one, from), (other, to)] = [0.0, 1.0].map(gap);
        // Ends that are as deep themselves come out first. Between others, nothing is deeper than half of the way that is left.
        if !(one.min(other) > -allowed && from.dot(to) < MAX_COSINE)
            || along.length() - one - other < 2.0 * allowed
        {
            return false;
        }
        // The distance from a convex shape is a convex function of the point.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if gap(middle).1.dot(along) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let [(one, from), (other, to)] = [low, high].map(gap);
        let t = 0.5 * (low + high);
        let depth = -one.max(other) - allowed;
        let normal = (from + to).normalize_or_zero();
        let cosine = normal.dot(from);
        if !(depth > 0.0 && cosine > MIN_COSINE) {
            return false;
        }
        let at = ends[0] + along * t;
        push_point(p, link, [1.0 - t, t], |displacement| {
            c.respond(displacement, at, normal, depth / cosine)
        });
        true
    }
}

/// Distributes the contact response at the point of a link or triangle with these weights over its corners.
pub(super) fn push_point<const N: usize>(
    p: &mut ParticleArrays,
    corners: [usize; N],
    weights: [f32; N],
    respond: impl FnOnce(Vec3) -> [Vec3; 3],
) {
    let mut displacement = Vec3::ZERO;
    let mut sum = 0.0;
    for (i, weight) in corners.into_iter().zip(weights) {
        displacement += p.displacement.get(i) * weight;
        sum += weight * p.inverse_mass[i] * weight;
    }
    // All pinned, or NaN.
    if sum <= 0.0 || sum.is_nan() {
        return;
    }
    let [push_out, approach, friction] = respond(displacement);
    for (i, weight) in corners.into_iter().zip(weights) {
        let fraction = weight * p.inverse_mass[i] / sum;
        p.position.add(i, (push_out - friction) * fraction);
        p.displacement.add(i, (approach + friction) * -fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Collider, Friction, Pose, Shape, SoaVec3, Surface};

    /// Returns a triangle at the edge of a table top 4 cm thick after it was pushed out. Its first two particles touch a face each,
    /// the third one none.
    fn pushed(ends: [Vec3; 2], inverse_masses: [f32; 2]) -> ParticleArrays {
        let half_size = Vec3::new(0.5, 0.02, 0.5);
        let shape = Shape::Cuboid { half_size };
        let collider = Collider::fixed(shape, Pose::ORIGIN, Friction::default());
        let surface = Surface {
            thickness: 0.01,
            ..Surface::default()
        };
        let at: SoaVec3 = ends.into_iter().chain([Vec3::Y]).collect();
        let [a, b] = inverse_masses;
        let mut p = ParticleArrays::new(Vec3::ZERO, at, vec![a, b, 1.0]);
        let collider = ColliderAtSubstep::new(&collider, &surface, Vec3::ZERO, [0, 1]);
        for i in 0..2 {
            let (_, normal) = collider.gap(p.position.get(i));
            p.contact_normal.set(i, normal);
        }
        p.in_contact = true;
        let rest = [Vec3::ZERO, Vec3::X, Vec3::Z].map(|at| 0.03 * at);
        let triangles = Triangles::new(vec![[0, 1, 2]], &rest.into_iter().collect());
        let mut edges = EdgeContacts::default();
        edges.find(&p, &triangles, surface.thickness);
        edges.collide(&mut p, [collider].iter());
        p
    }

    #[test]
    fn a_link_that_is_pulled_through_an_edge_is_pushed_out() {
        let ends = [Vec3::new(0.51, -0.01, 0.0), Vec3::new(0.42, 0.03, 0.0)];
        let p = pushed(ends, [1.0, 1.0]);
        let [side, top] = [0, 1].map(|i| p.position.get(i) - ends[i]);
        // Away from the edge, up and out, and by as much from both faces.
        for moved in [side, top] {
            assert!(
                moved.x > 0.001 && (moved.x - moved.y).abs() < 1e-6,
                "{moved}"
            );
        }
        // Its deepest point is as deep in as is allowed.
        let along = p.position.get(1) - p.position.get(0);
        let deepest = (0..=1000).map(|k| p.position.get(0) + along * (k as f32 / 1000.0));
        let depth = |at: Vec3| (0.5 - at.x).min(0.02 - at.y);
        let deepest = deepest.map(depth).fold(0.0, f32::max);
        assert!((deepest - 0.005).abs() < 2e-4, "{deepest}");
    }

    #[test]
    fn pinned_particles_and_links_that_cut_less_are_not_moved() {
        let ends = [Vec3::new(0.51, -0.01, 0.0), Vec3::new(0.42, 0.03, 0.0)];
        let p = pushed(ends, [1.0, 0.0]);
        assert_eq!(p.position.get(1), ends[1]);
        assert!(p.position.get(0).y > ends[0].y);
        assert_eq!(pushed(ends, [0.0; 2]).position.get(0), ends[0]);
        let shorter = [Vec3::new(0.51, 0.01, 0.0), Vec3::new(0.48, 0.03, 0.0)];
        assert_eq!(pushed(shorter, [1.0; 2]).position.get(0), shorter[0]);
        // From the top to the underside.
        let opposite = [Vec3::new(0.3, -0.03, 0.0), Vec3::new(0.3, 0.03, 0.0)];
        assert_eq!(pushed(opposite, [1.0; 2]).position.get(0), opposite[0]);
    }
}
