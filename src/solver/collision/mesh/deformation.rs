//! Triangle surface whose points move on their own, such as that of a skinned mesh.
//!
//! In each step every point moves along a straight line from its last position to the current one. The boxes of the
//! hierarchy enclose those lines, so one refit serves all substeps. Normals change all the time and are computed where
//! a particle is near, from the triangles around an edge or a point.

#![allow(
    clippy::neg_cmp_op_on_partial_ord,
    reason = "comparisons with NaN must be false"
)]

use super::{
    normals::{corner_angle, unit_normal},
    surface::TriangleSurface,
    surface_at::SurfaceAt,
    surface_error::SurfaceError,
    tree::TriangleBox,
};
use crate::solver::collision::collider::TELEPORT_SPEED;
use bevy::{
    math::{Vec3, Vec3A},
    platform::collections::HashMap,
};

/// Movement of the points of a surface in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Deformation {
    /// Movement of each point during the step, m.
    pub(super) movement: Vec<Vec3>,
    /// Box around the path of each point during the step.
    pub(super) boxes: Vec<TriangleBox>,
    /// Upper bound on the movement of a point, m.
    pub(super) max_movement: f32,
    /// Number that changes with the positions: by 1 if no point moved by more than `max_movement`, by 2 if the surface
    /// is somewhere else.
    pub(super) revision: u64,
    /// Triangle at the other side of each edge, of a closed surface; empty for an open one.
    neighbours: Vec<[u32; 3]>,
    /// Triangles around each point, of a closed surface: those of point i begin at `first[i]`.
    around: Vec<u32>,
    first: Vec<u32>,
}

impl TriangleSurface {
    /// Creates a surface whose points move on their own: see [`deform`](Self::deform).
    pub fn deforming(points: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Result<Self, SurfaceError> {
        let mut surface = Self::new(points, triangles)?;
        surface.normals = Default::default();
        let mut deformation = Deformation {
            movement: vec![Vec3::ZERO; surface.points.len()],
            boxes: vec![[Vec3A::ZERO; 2]; surface.points.len()],
            ..Deformation::default()
        };
        if surface.is_closed() {
            deformation.connect(surface.points.len(), &surface.triangles);
        }
        surface.deformation = Some(deformation);
        surface.tree.collect_points(&surface.triangles);
        surface.refit();
        Ok(surface)
    }

    /// Moves all points of a [deforming](Self::deforming) surface to these positions in the coming step, each in its own
    /// frame, which may move as well. `step` is the length of the step, s. Without one, or if a point would move faster
    /// than 200 m/s, the points rest at those positions during the step. Returns whether all positions are finite.
    pub fn deform(&mut self, position: impl Fn(usize) -> Vec3, step: Option<f32>) -> bool {
        let Some(deformation) = &mut self.deformation else {
            return true;
        };
        let was_moving = deformation.max_movement > 0.0;
        let limit = step.map_or(0.0, |step| TELEPORT_SPEED * step);
        let (mut square, mut sum, mut teleported) = (0.0_f32, Vec3::ZERO, false);
        let points = self.points.iter_mut().zip(&mut deformation.movement);
        for (i, (point, movement)) in points.enumerate() {
            let next = position(i);
            *movement = next - *point;
            *point = next;
            sum += next;
            let moved = movement.length_squared();
            square = if moved > square { moved } else { square };
            // NaN counts as too far.
            teleported |= !(moved <= limit * limit);
        }
        if teleported {
            deformation.movement.fill(Vec3::ZERO);
            square = 0.0;
        }
        // More than the rounding error.
        deformation.max_movement = square.sqrt() * 1.001;
        if teleported {
            deformation.revision += 2;
        } else if was_moving || square > 0.0 {
            deformation.revision += 1;
        } else {
            return sum.is_finite();
        }
        self.refit();
        sum.is_finite()
    }

    /// Updates the boxes and the hierarchy to the positions during the step.
    fn refit(&mut self) {
        let Some(Deformation {
            movement, boxes, ..
        }) = &mut self.deformation
        else {
            return;
        };
        for ((bounds, point), movement) in boxes.iter_mut().zip(&self.points).zip(&*movement) {
            let (start, end) = (Vec3A::from(*point - *movement), Vec3A::from(*point));
            *bounds = [start.min(end), start.max(end)];
        }
        self.tree.refit(boxes);
    }

    /// Returns the surface at its current position, without movement.
    pub(crate) fn stopped(&self) -> Self {
        let mut stopped = self.clone();
        if let Some(deformation) = &mut stopped.deformation {
            deformation.movement.fill(Vec3::ZERO);
            deformation.max_movement = 0.0;
        }
        stopped
    }

    /// Returns a number that changes whenever points move; constant for a rigid surface.
    pub(crate) fn revision(&self) -> u64 {
        self.deformation
            .as_ref()
            .map_or(0, |deformation| deformation.revision)
    }

    /// Returns an upper bound on the movement of points during the step, m; 0 for a rigid surface.
    pub(super) fn max_movement(&self) -> f32 {
        self.deformation
            .as_ref()
            .map_or(0.0, |deformation| deformation.max_movement)
    }
}

impl Deformation {
    /// Finds the neighbours of all triangles of a closed surface, and the triangles around each point.
    fn connect(&mut self, points: usize, triangles: &[[u32; 3]]) {
        let edge = |corners: &[u32; 3], k: usize| [corners[k], corners[(k + 1) % 3]];
        let mut owners: HashMap<[u32; 2], u32> = HashMap::default();
        self.first = vec![0; points + 1];
        for (triangle, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                owners.insert(edge(corners, k), triangle as u32);
                self.first[corners[k] as usize + 1] += 1;
            }
        }
        for point in 0..points {
            self.first[point + 1] += self.first[point];
        }
        let mut next = self.first.clone();
        self.around = vec![0; 3 * triangles.len()];
        for (triangle, corners) in triangles.iter().enumerate() {
            let across = [0, 1, 2].map(|k| {
                let [from, to] = edge(corners, k);
                owners.get(&[to, from]).copied().unwrap_or(triangle as u32)
            });
            self.neighbours.push(across);
            for &corner in corners {
                let slot = &mut next[corner as usize];
                self.around[*slot as usize] = triangle as u32;
                *slot += 1;
            }
        }
    }

    /// Returns the pseudo-normal of edge `k` of a triangle.
    pub(super) fn edge_normal(&self, surface: SurfaceAt, triangle: u32, k: usize) -> Vec3 {
        let other = self.neighbours[triangle as usize][k];
        surface.normal(triangle) + surface.normal(other)
    }

    /// Returns the pseudo-normal of a point.
    pub(super) fn point_normal(&self, surface: SurfaceAt, point: u32) -> Vec3 {
        let range = self.first[point as usize] as usize..self.first[point as usize + 1] as usize;
        let around = self.around[range].iter();
        around.fold(Vec3::ZERO, |sum, &triangle| {
            let corners = surface.corners(triangle);
            let indices = surface.indices(triangle).iter();
            let corner = indices.copied().position(|corner| corner == point);
            sum + unit_normal(corners) * corner_angle(corners, corner.unwrap_or(0))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::math::noise::noise_point as point;
    use bevy::math::Quat;

    /// Returns an octahedron.
    fn octahedron() -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let points = [1.0, -1.0].map(|side| [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * side));
        let triangles = (0..8).map(|octant| {
            let corner = |axis: u32| axis + 3 * (octant >> axis & 1);
            let [a, b, c] = [0, 1, 2].map(corner);
            let mirrored = u32::count_ones(octant) % 2 == 1;
            if mirrored { [a, c, b] } else { [a, b, c] }
        });
        (points.concat(), triangles.collect())
    }

    #[test]
    fn a_deformed_surface_equals_a_rigid_one_at_the_same_place() {
        let (points, triangles) = octahedron();
        let mut surface = TriangleSurface::deforming(points.clone(), triangles.clone()).unwrap();
        assert!(surface.is_closed());
        for step in 0..3 {
            let turn = Quat::from_rotation_z(0.3 * step as f32);
            let moved: Vec<Vec3> = points
                .iter()
                .map(|&at| turn * at * Vec3::new(1.0, 0.5, 1.0) + Vec3::X * step as f32)
                .collect();
            assert!(surface.deform(|i| moved[i], Some(0.1)));
            let rigid = TriangleSurface::new(moved.clone(), triangles.clone()).unwrap();
            for i in 0..500 {
                // Many are nearest to an edge or a corner.
                let at = point(i, 5 * step) * 2.0 + Vec3::X * step as f32;
                let (found, expected) = (surface.distance(at), rigid.distance(at));
                assert!(
                    (found - expected).abs() < 1e-5,
                    "{at}: {found}, not {expected}"
                );
            }
            let last = SurfaceAt::new(&surface, 1.0).corners(0)[0];
            let near = surface.find([last - 0.01, last + 0.01]);
            assert!(near.contains(&0), "where it was is on its path");
        }
    }

    #[test]
    fn a_teleport_is_no_movement() {
        let (points, triangles) = octahedron();
        let mut surface = TriangleSurface::deforming(points.clone(), triangles).unwrap();
        assert!(surface.deform(|i| points[i] + Vec3::X * 100.0, Some(0.1)));
        assert_eq!((surface.max_movement(), surface.revision()), (0.0, 2));
        assert!(surface.deform(|i| points[i], None));
        assert_eq!((surface.max_movement(), surface.revision()), (0.0, 4));
        assert!(surface.deform(|i| points[i] + Vec3::Y, Some(0.1)));
        assert!(surface.max_movement() >= 1.0 && surface.revision() == 5);
        assert!(!surface.deform(|_| Vec3::NAN, Some(0.1)));
        assert!(surface.deform(|i| points[i], Some(0.1)));
        assert_eq!(surface.max_movement(), 0.0, "it was nowhere");
        assert!((surface.distance(Vec3::ZERO) + 1.0 / 3.0_f32.sqrt()).abs() < 1e-5);
    }
}
