//! Normals of cloth at its particles.

use crate::solver::{particles::ParticleArrays, triangles::corners::Corners};
use bevy::math::Vec3;

/// Normals of the surface at each particle; 0 where there is none.
#[derive(Clone, Debug, Default)]
pub(super) struct SurfaceNormals {
    normals: Vec<Vec3>,
}

/// Cosines of the angle between the line from particle to particle and the surface: up to the first, contacts push along the
/// surface's normal, from the second on along the line. A particle above the middle of a square is 45° from the corners, or
/// less where it is as far from them as it keeps.
const ALONG_NORMAL: f32 = 0.75;
const ALONG_LINE: f32 = 0.45;

impl SurfaceNormals {
    /// Reserves memory for this number of particles.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.normals.reserve(particles);
    }

    /// Discards the normals.
    pub(super) fn clear(&mut self) {
        self.normals.clear();
    }

    /// Computes the normals once in each step in which any particles are near each other. `begins` tells whether a step does.
    pub(super) fn update_once(
        &mut self,
        p: &ParticleArrays,
        triangles: &Corners,
        near: &[[u32; 2]],
        begins: bool,
    ) {
        if begins {
            self.clear();
        }
        if !near.is_empty() && self.normals.is_empty() {
            self.update(p, triangles);
        }
    }

    fn update(&mut self, p: &ParticleArrays, triangles: &Corners) {
        self.normals.clear();
        self.normals.resize(p.len(), Vec3::ZERO);
        for (corners, normal) in triangles.normals(&p.position) {
            for i in corners {
                self.normals[i] += normal;
            }
        }
        for normal in &mut self.normals {
            *normal = normal.normalize_or_zero();
        }
    }

    /// Returns the direction in which two particles push each other apart, for the direction of the line from the second to
    /// the first. Where cloth lies on cloth, that is the normal of both: balls in place of particles would interlock like
    /// cobblestones. Where an edge meets a surface, it is that of the surface, and where edges meet, that of the line.
    #[inline]
    pub(super) fn direction(&self, pair: [u32; 2], line: Vec3) -> Vec3 {
        let normal = |i: u32| {
            let normal = self.normals.get(i as usize).copied().unwrap_or_default();
            let cosine = normal.dot(line);
            normal * (cosine * cosine.abs())
        };
        let [a, b] = pair.map(normal);
        let Some(normal) = (a + b).try_normalize() else {
            return line;
        };
        let share = (normal.dot(line) - ALONG_LINE) / (ALONG_NORMAL - ALONG_LINE);
        (line + (normal - line) * share.clamp(0.0, 1.0)).normalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;

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

    #[test]
    fn layers_push_along_their_normal_whatever_their_sides() {
        let (p, mut triangles) = squares();
        let mut normals = SurfaceNormals::default();
        for _ in 0..2 {
            normals.update(&p, &triangles);
            for line in [Vec3::Y, Vec3::NEG_Y, Vec3::new(0.5, 0.7, 0.3).normalize()] {
                let direction = normals.direction([4, 0], line);
                assert!(
                    (direction - Vec3::Y * line.y.signum()).length() < 1e-6,
                    "{direction}"
                );
            }
            // The upper layer upside down.
            let mut turned = triangles.to_vec();
            turned[2..].iter_mut().for_each(|corners| corners.reverse());
            triangles = turned.into();
        }
    }

    #[test]
    fn edges_push_along_the_line_between_them() {
        let (p, triangles) = squares();
        let mut normals = SurfaceNormals::default();
        normals.update(&p, &triangles);
        let line = Vec3::new(1.0, 0.1, 0.0).normalize();
        assert!((normals.direction([4, 0], line) - line).length() < 1e-6);
        // In between, the direction turns with the line.
        let line = Vec3::new(0.8, 0.6, 0.0);
        let direction = normals.direction([4, 0], line);
        assert!(direction.x > 0.0 && direction.y > line.y, "{direction}");
        normals.update(&p, &Corners::default());
        assert_eq!(normals.direction([4, 0], line), line);
    }
}
