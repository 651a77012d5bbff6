//! What the steps of a rope need besides particles and constraints.

use super::{Course, Rope, course::polyline_length};
use crate::{
    mesh::{Numbers, Topology},
    solver::{Bend, ConstraintGraph, ConstraintKind, Corners, Lines, SoaVec3},
};
use bevy::math::{Mat3, Vec3};

/// Present in a body that is a rope.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RopeBody {
    /// What it was built from, as the user wrote it.
    pub(crate) built_from: Rope,
    points: Vec<Vec3>,
    slack: f32,
    /// Its diameter in the frame of the entity, m.
    thickness: f32,
    /// What carries its mass and catches the wind.
    pub(crate) lines: Lines,
    /// Half of its diameter in the world, m: added to what its fabric keeps from colliders.
    pub(crate) radius: f32,
}

impl RopeBody {
    /// Of a rope whose numbers are in their ranges. It has no size before
    /// [`set_rest`](Self::set_rest).
    pub(crate) fn new(built_from: Rope, rope: &Rope, course: &Course) -> Self {
        let segments = (1..rope.particles).map(|i| [i - 1, i]).collect();
        Self {
            built_from,
            points: rope.points.clone(),
            slack: course.slack,
            thickness: rope.thickness,
            lines: Lines {
                segments,
                ..Lines::default()
            },
            radius: 0.0,
        }
    }

    /// Makes one piece of it again, of so many particles.
    pub(crate) fn mend(&mut self, particles: usize) {
        self.lines.segments = (1..particles as u32).map(|i| [i - 1, i]).collect();
    }

    /// Takes lengths and thickness from the entity's scale, and gives the constraints the rest lengths
    /// that follow: a rope is straight when nothing bends it. It resists bending and stretching as a strip
    /// of its fabric does that is as wide as the rope is around.
    pub(crate) fn set_rest(&mut self, to_world: Mat3, constraints: &mut ConstraintGraph) {
        let count = self.lines.segments.len();
        let length = length_in_world(&self.points, self.slack, to_world);
        let segment = (length / count as f64) as f32;
        self.lines.rest_length = vec![segment; count];
        self.lines.diameter = self.thickness * mean_scale(to_world);
        self.radius = 0.5 * self.lines.diameter;
        let threads = constraints
            .iter()
            .filter(|c| c.kind != ConstraintKind::Bend);
        let rest: Vec<f32> = threads
            .map(|c| segment * c.particles[0].abs_diff(c.particles[1]) as f32)
            .collect();
        let lengths = constraints.rest_lengths_mut().zip(rest);
        lengths.for_each(|(length, rest)| *length = rest);
        let around = std::f32::consts::PI * self.lines.diameter;
        for give in constraints.bend_gives_mut() {
            *give = segment * segment * segment / around;
        }
        constraints.set_aspect(segment / around);
    }
}

/// Length at rest in the world, m, of a rope through points of its entity's frame.
pub(crate) fn length_in_world(points: &[Vec3], slack: f32, to_world: Mat3) -> f64 {
    let way: Vec<Vec3> = points.iter().map(|&point| to_world * point).collect();
    polyline_length(&way) * f64::from(slack)
}

/// How much longer a matrix makes things on average: for even scales just that scale. Without a
/// cube root, whose last bits differ from one platform to the next.
pub(crate) fn mean_scale(to_world: Mat3) -> f32 {
    let axes = [to_world.x_axis, to_world.y_axis, to_world.z_axis];
    axes.iter().map(|axis| axis.length()).sum::<f32>() / 3.0
}

/// A rope as a topology: vertices are particles, neighbours hold together, each but those at the ends
/// resists bending.
pub(super) fn topology(places: Vec<Vec3>) -> Topology {
    let count = places.len() as u32;
    Topology {
        vertex_to_particle: Numbers::ordered(count as usize),
        positions: places,
        triangles: Corners::default(),
        constraints: (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect(),
        bends: (2..count).map(|i| Bend::along([i - 2, i - 1, i])).collect(),
        sheets: Vec::new(),
    }
}

impl Course {
    /// The rope as a topology, and its constraints. Their rest lengths are set by
    /// [`RopeBody::set_rest`].
    pub(crate) fn bind(self) -> (Topology, ConstraintGraph) {
        // On a straight line all have one direction, as they have at rest: few batches.
        let straight: SoaVec3 = (0..self.places.len()).map(|i| Vec3::X * i as f32).collect();
        let mut topology = topology(self.places);
        let pairs = std::mem::take(&mut topology.constraints);
        let mut constraints = ConstraintGraph::new(&straight, &pairs);
        constraints.add_bends(&straight, &std::mem::take(&mut topology.bends));
        (topology, constraints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(rope: &Rope, to_world: Mat3) -> (RopeBody, ConstraintGraph) {
        let course = Course::new(rope, Vec3::NEG_Y).unwrap();
        let mut body = RopeBody::new(rope.clone(), rope, &course);
        let (_, mut constraints) = course.bind();
        body.set_rest(to_world, &mut constraints);
        (body, constraints)
    }

    #[test]
    fn rest_lengths_add_up_to_the_length_that_was_asked_for() {
        let corner = [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0)];
        for (rope, scale, length) in [
            (Rope::new(corner, 12), 1.0, 2.0),
            (Rope::new(corner, 12), 3.0, 6.0),
            (
                Rope {
                    length: Some(5.0),
                    ..Rope::new(corner, 12)
                },
                2.0,
                10.0,
            ),
        ] {
            let (body, constraints) = built(&rope, Mat3::from_diagonal(Vec3::splat(scale)));
            let threads = constraints.of_kind(ConstraintKind::Structural);
            let total: f32 = threads.map(|(_, rest)| rest).sum();
            assert!((total - length).abs() < 1e-5, "{total} m of {length} m");
            assert!((body.radius - 0.015 * scale).abs() < 1e-6);
            let bends = constraints
                .iter()
                .filter(|c| c.kind == ConstraintKind::Bend);
            let gives: Vec<f32> = bends.map(|c| c.rest_length).collect();
            assert_eq!(gives.len(), 10);
            let give = (length / 11.0_f32).powi(3) / (std::f32::consts::PI * 0.03 * scale);
            assert!(gives.iter().all(|own| (own / give - 1.0).abs() < 1e-5));
        }
    }

    #[test]
    fn two_particles_are_a_rope() {
        let (body, constraints) = built(&Rope::between(Vec3::ZERO, Vec3::Y, 2), Mat3::IDENTITY);
        assert_eq!(constraints.len(), 1);
        assert_eq!(body.lines.rest_length, [1.0]);
    }
}
