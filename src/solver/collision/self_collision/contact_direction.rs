//! Directions in which near particles push each other apart, for many pairs at a time.

#![allow(
    clippy::needless_range_loop,
    reason = "plain loops over lanes are vectorized"
)]

use super::{
    NEAR_MARGIN,
    contact_particles::{ContactParticle, NearPair},
};
use crate::solver::{
    math::noise::noise_point,
    simd::{Kernel, LANES, select},
};
use bevy::math::Vec3;

/// Cosine of the angle between the line from particle to particle and the normal of the surface from which on contacts push
/// along the normal, and that up to which they push along the line. A particle above the middle of a square is 45° from the
/// corners, or less where it is as far from them as it keeps.
const ALONG_NORMAL: f32 = 0.75;
const ALONG_LINE: f32 = 0.45;

/// Fraction of noise in the direction in which two particles in one point move apart.
const NOISE: f32 = 0.01;

/// Finds the directions of pairs, from the line between the particles at their closest approach on straight paths, and the
/// normals of the surface. Where cloth lies on cloth, pairs push along the mean of both normals: balls in place of particles
/// would interlock like cobblestones. Where an edge meets a surface, pairs push along the normal of the surface, and where edges
/// meet, along the line.
pub(super) struct FindDirections<'a> {
    pub(super) particles: &'a [ContactParticle],
    pub(super) pairs: &'a mut [NearPair],
    /// Distance that particles keep from each other, m.
    pub(super) distance: f32,
}

/// Components of a vector of each lane.
type Lanes = [[f32; LANES]; 3];

impl Kernel for FindDirections<'_> {
    #[inline(always)]
    fn run(self) {
        let reach = (1.0 + NEAR_MARGIN) * self.distance;
        for pairs in self.pairs.chunks_mut(LANES) {
            // From the second particle to the first, how they moved in the substep, and both normals.
            let [mut apart, mut moved, mut one, mut other] = [[[0.0; LANES]; 3]; 4];
            for (l, pair) in pairs.iter().enumerate() {
                let [a, b] = pair.of(self.particles);
                for axis in 0..3 {
                    apart[axis][l] = a.position[axis] - b.position[axis];
                    moved[axis][l] = a.displacement[axis] - b.displacement[axis];
                    one[axis][l] = a.normal[axis];
                    other[axis][l] = b.normal[axis];
                }
            }
            let (line, nearest_squared) = closest_approach(&apart, &moved, self.distance);
            let (direction, length) = push_direction(&line, &one, &other);
            for (l, pair) in pairs.iter_mut().enumerate() {
                let is_near = nearest_squared[l] < reach * reach;
                pair.direction = is_near.then(|| match length[l] > 0.0 {
                    true => Vec3::new(direction[0][l], direction[1][l], direction[2][l]),
                    false => upwards(pair.of(self.particles)),
                });
            }
        }
    }
}

/// Returns the lines along which pairs are pushed apart, as balls would be, and the squares of their least distances. `apart`
/// tells where the first particle is, as seen from the second, and `moved` how it came there.
#[inline(always)]
fn closest_approach(apart: &Lanes, moved: &Lanes, distance: f32) -> (Lanes, [f32; LANES]) {
    let (mut line, mut squared) = ([[0.0; LANES]; 3], [0.0; LANES]);
    for l in 0..LANES {
        let [x, y, z] = [apart[0][l], apart[1][l], apart[2][l]];
        let [dx, dy, dz] = [moved[0][l], moved[1][l], moved[2][l]];
        let before = [x - dx, y - dy, z - dz];
        // On their straight paths, if it lies between the ends.
        let path_squared = dx * dx + dy * dy + dz * dz;
        let time = -(before[0] * dx + before[1] * dy + before[2] * dz);
        let is_between = (time > 0.0) & (time < path_squared);
        let time = select(is_between, time / path_squared, 1.0);
        let nearest = [
            before[0] + dx * time,
            before[1] + dy * time,
            before[2] + dz * time,
        ];
        let [nx, ny, nz] = nearest;
        squared[l] = nx * nx + ny * ny + nz * nz;
        // Particles that nearly passed through each other return to the sides that they came from.
        let returns = squared[l] < 0.25 * distance * distance;
        for axis in 0..3 {
            line[axis][l] = select(returns, before[axis], nearest[axis]);
        }
    }
    (line, squared)
}

/// Returns directions for the lines from particle to particle and the normals of both, and the lengths of the lines. The
/// direction of a line of length 0 is not a number.
#[inline(always)]
fn push_direction(line: &Lanes, one: &Lanes, other: &Lanes) -> (Lanes, [f32; LANES]) {
    let (mut direction, mut length) = ([[0.0; LANES]; 3], [0.0; LANES]);
    for l in 0..LANES {
        let [x, y, z] = [line[0][l], line[1][l], line[2][l]];
        length[l] = (x * x + y * y + z * z).sqrt();
        let [x, y, z] = [x / length[l], y / length[l], z / length[l]];
        let cosine = one[0][l] * x + one[1][l] * y + one[2][l] * z;
        let one_weight = cosine * cosine.abs();
        let cosine = other[0][l] * x + other[1][l] * y + other[2][l] * z;
        let other_weight = cosine * cosine.abs();
        let sum = |axis: usize| one[axis][l] * one_weight + other[axis][l] * other_weight;
        let (nx, ny, nz) = (sum(0), sum(1), sum(2));
        let size = (nx * nx + ny * ny + nz * nz).sqrt();
        let along = (nx * x + ny * y + nz * z) / size;
        let weight = (along - ALONG_LINE) / (ALONG_NORMAL - ALONG_LINE);
        // `along` is NaN without normals, and infinite where they are all but perpendicular to the line.
        let has_normal = (weight > 0.0) & (size > 0.0);
        let weight = select(has_normal, select(weight < 1.0, weight, 1.0), 0.0);
        let (rest, scale) = (1.0 - weight, select(has_normal, weight / size, 0.0));
        let (x, y, z) = (
            x * rest + nx * scale,
            y * rest + ny * scale,
            z * rest + nz * scale,
        );
        let norm = (x * x + y * y + z * z).sqrt();
        direction[0][l] = x / norm;
        direction[1][l] = y / norm;
        direction[2][l] = z / norm;
    }
    (direction, length)
}

/// Returns the direction of two particles in one point: two sheets in one place separate upwards, and a cloth in one point does
/// not stay in a line.
#[cold]
fn upwards(pair: [&ContactParticle; 2]) -> Vec3 {
    let [a, b] = pair.map(|particle| noise_point(particle.index as usize, 0));
    (Vec3::Y + NOISE * (a - b)).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        SoaVec3,
        collision::self_collision::{
            contact_particles::ContactParticles, surface_normals::SurfaceNormals,
            warm_start::WarmStart,
        },
        particles::ParticleArrays,
        simd::{dispatch, levels::same_bits},
        triangles::corners::Corners,
    };

    /// Two squares of four particles, one 1 m above the other.
    fn squares() -> (ParticleArrays, Corners) {
        let square = |y: f32| {
            [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|[x, z]| Vec3::new(x, y, z))
        };
        let positions: SoaVec3 = [square(0.0), square(1.0)].concat().into_iter().collect();
        let triangles = [0, 4]
            .map(|i| [[i, i + 2, i + 1], [i + 1, i + 2, i + 3]])
            .concat();
        (
            ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; 8]),
            triangles.into(),
        )
    }

    /// Returns the directions of pairs of a particle of the upper square and one of the lower, for lines between them.
    fn directions(triangles: &Corners, lines: &[Vec3]) -> Vec<Vec3> {
        let (p, _) = squares();
        let mut normals = SurfaceNormals::default();
        normals.update_once(&p, triangles, &[[0, 4]], true);
        let directions = |line: &Vec3| {
            let bits = same_bits(|| {
                let mut contacts = ContactParticles::default();
                let forces = WarmStart::default();
                contacts.gather(&p, &[[4, 0]], &normals, &forces, 0.01);
                contacts.particles[0].position = contacts.particles[1].position + line;
                dispatch(FindDirections {
                    particles: &contacts.particles,
                    pairs: &mut contacts.pairs,
                    distance: 1.0,
                });
                let direction = contacts.pairs[0].direction.unwrap();
                direction.to_array().map(f32::to_bits).into()
            });
            Vec3::from_slice(&bits.into_iter().map(f32::from_bits).collect::<Vec<_>>())
        };
        lines.iter().map(directions).collect()
    }

    #[test]
    fn layers_push_along_their_normal_whatever_their_sides() {
        let (_, same) = squares();
        let turned = vec![[0, 2, 1], [1, 2, 3], [5, 6, 4], [7, 6, 5]].into();
        for triangles in [same, turned] {
            let lines = [Vec3::Y, Vec3::NEG_Y, Vec3::new(0.5, 0.7, 0.3)];
            for (direction, line) in directions(&triangles, &lines).into_iter().zip(lines) {
                let expected = Vec3::Y * line.y.signum();
                assert!((direction - expected).length() < 1e-6, "{direction}");
            }
        }
    }

    #[test]
    fn edges_push_along_the_line_between_them() {
        let (_, triangles) = squares();
        let lines = [Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.8, 0.6, 0.0)];
        let [flat, steep] = lines.map(Vec3::normalize);
        let found = directions(&triangles, &lines);
        assert!((found[0] - flat).length() < 1e-6);
        // In between, the direction turns with the line.
        assert!(found[1].x > 0.0 && found[1].y > steep.y, "{}", found[1]);
        let without_surface = directions(&Corners::default(), &lines);
        assert!((without_surface[1] - steep).length() < 1e-6);
        // Squares of the components along the normals are 0.
        let along = directions(&triangles, &[Vec3::new(1.0, 1e-13, 0.0)]);
        assert!((along[0] - Vec3::X).length() < 1e-6);
    }

    /// Returns the direction of a pair that is near, as plain as possible.
    fn expected([a, b]: [&ContactParticle; 2], distance: f32) -> Option<Vec3> {
        let apart = a.position - b.position;
        let moved = a.displacement - b.displacement;
        let before = apart - moved;
        let time = (-before.dot(moved) / moved.length_squared()).clamp(0.0, 1.0);
        // At the beginning they were as near as they are now: only a path between both counts.
        let nearest = match time > 0.0 {
            true => before + moved * time,
            false => apart,
        };
        if nearest.length() >= (1.0 + NEAR_MARGIN) * distance {
            return None;
        }
        let line = match nearest.length() < 0.5 * distance {
            true => before.normalize(),
            false => nearest.normalize(),
        };
        let along = |normal: Vec3| normal * (normal.dot(line) * normal.dot(line).abs());
        let Some(normal) = (along(a.normal) + along(b.normal)).try_normalize() else {
            return Some(line);
        };
        let weight = (normal.dot(line) - ALONG_LINE) / (ALONG_NORMAL - ALONG_LINE);
        Some(line.lerp(normal, weight.clamp(0.0, 1.0)).normalize())
    }

    #[test]
    fn many_pairs_that_move_are_pushed_as_each_alone() {
        let count = 60;
        let point = |i: usize, stream| noise_point(i, stream);
        let positions: SoaVec3 = (0..count).map(|i| 0.6 * point(i, 0)).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, positions, vec![1.0; count]);
        let triangles = (0..count as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        let triangles: Corners = triangles.collect::<Vec<_>>().into();
        for i in 0..count {
            p.displacement.set(i, 0.6 * point(i, 3));
        }
        let pairs: Vec<[u32; 2]> = (1..count as u32).map(|i| [i - 1, i]).collect();
        let mut normals = SurfaceNormals::default();
        normals.update_once(&p, &triangles, &pairs, true);
        let mut contacts = ContactParticles::default();
        contacts.gather(&p, &pairs, &normals, &WarmStart::default(), 0.01);
        let distance = 0.7;
        dispatch(FindDirections {
            particles: &contacts.particles,
            pairs: &mut contacts.pairs,
            distance,
        });
        let mut near = 0;
        for pair in &contacts.pairs {
            let expected = expected(pair.of(&contacts.particles), distance);
            near += usize::from(expected.is_some());
            let (found, expected) = (
                pair.direction.unwrap_or_default(),
                expected.unwrap_or_default(),
            );
            assert!((found - expected).length() < 1e-4, "{found}, {expected}");
        }
        assert!(near > 5 && near < contacts.pairs.len() - 5, "{near}");
        contacts.particles[5].position = Vec3::NAN;
        dispatch(FindDirections {
            particles: &contacts.particles,
            pairs: &mut contacts.pairs,
            distance,
        });
        assert_eq!(contacts.pairs[5].direction, None);
    }

    #[test]
    fn particles_in_one_point_move_up_and_down() {
        let (_, triangles) = squares();
        let found = directions(&triangles, &[Vec3::ZERO])[0];
        assert!(found.is_normalized() && found.y > 0.99, "{found}");
    }
}
