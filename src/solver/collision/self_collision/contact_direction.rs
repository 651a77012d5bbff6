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

/// Cosines of the angle between the line from particle to particle and the surface: up to the first, contacts push along the
/// surface's normal, from the second on along the line. A particle above the middle of a square is 45° from the corners, or
/// less where it is as far from them as it keeps.
const ALONG_NORMAL: f32 = 0.75;
const ALONG_LINE: f32 = 0.45;

/// Finds the directions of pairs, from their closest approach on straight paths, and the normals of the surface. Where cloth
/// lies on cloth, they push along the normal of both: balls in place of particles would interlock like cobblestones. Where an
/// edge meets a surface, it is that of the surface, and where edges meet, the line from particle to particle.
pub(super) struct FindDirections<'a> {
    pub(super) particles: &'a [ContactParticle],
    pub(super) pairs: &'a mut [NearPair],
    /// Distance that particles keep from each other, m.
    pub(super) distance: f32,
}

/// Share of noise in the direction in which two particles in one point move apart.
const NOISE: f32 = 0.01;

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
        let share = select(is_between, time / path_squared, 1.0);
        let nearest = [
            before[0] + dx * share,
            before[1] + dy * share,
            before[2] + dz * share,
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
        let share = (along - ALONG_LINE) / (ALONG_NORMAL - ALONG_LINE);
        // Also without normals: then it is not a number.
        let share = select(share > 0.0, select(share < 1.0, share, 1.0), 0.0);
        let (rest, scale) = (1.0 - share, select(share > 0.0, share / size, 0.0));
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
    }

    #[test]
    fn particles_in_one_point_move_up_and_down() {
        let (_, triangles) = squares();
        let found = directions(&triangles, &[Vec3::ZERO])[0];
        assert!(found.is_normalized() && found.y > 0.99, "{found}");
    }
}
