//! Adjacency of particles and triangles in a rest shape.

use super::RestShape;
use crate::solver::{ConstraintKind, math::particle_lists::ParticleLists};
use bevy::math::DVec3;

/// Triangles at each particle, and the edges and structural constraints to its neighbours.
pub(super) struct ParticleAdjacency {
    positions: Vec<DVec3>,
    /// The other two corners of each triangle at a particle, as indices into the neighbours of that particle.
    opposite_edges: ParticleLists<[u32; 2]>,
    /// Neighbours of each particle and their distances, m.
    neighbours: ParticleLists<(u32, f64)>,
}

impl ParticleAdjacency {
    pub(super) fn new(shape: &RestShape) -> Self {
        let count = shape.positions.len();
        let positions: Vec<DVec3> = shape.positions.iter().map(|p| p.as_dvec3()).collect();
        let exists = |corners: &[u32]| corners.iter().all(|&i| (i as usize) < count);
        let mut opposite_edges = ParticleLists::default();
        opposite_edges.fill(count, || {
            let triangles = shape.triangles.iter().filter(|t| exists(&t[..]));
            triangles.flat_map(|&[a, b, c]| [(a, [b, c]), (b, [c, a]), (c, [a, b])])
        });
        let mut links = ParticleLists::default();
        links.fill(count, || {
            let structural = shape.constraints.of_kind(ConstraintKind::Structural);
            let structural = structural.filter(|(pair, _)| exists(&pair[..]));
            structural.flat_map(|([a, b], length)| [(a, (b, length)), (b, (a, length))])
        });
        // Inner edges occur in two triangles, and most structural constraints are edges: each is stored once, with
        // its length in the surface if it belongs to the surface.
        let mut neighbours = ParticleLists {
            first: Vec::with_capacity(count + 1),
            all: Vec::with_capacity(opposite_edges.all.len()),
        };
        neighbours.first.push(0);
        for i in 0..count as u32 {
            let begin = neighbours.all.len();
            let all = &mut neighbours.all;
            for corner in opposite_edges.for_particle_mut(i).as_flattened_mut() {
                let j = *corner;
                let known = all[begin..].iter().position(|&(known, _)| known == j);
                let index = known.unwrap_or_else(|| {
                    all.push((j, positions[i as usize].distance(positions[j as usize])));
                    all.len() - begin - 1
                });
                *corner = index as u32;
            }
            for &(j, length) in links.for_particle(i) {
                if !all[begin..].iter().any(|&(known, _)| known == j) {
                    all.push((j, f64::from(length)));
                }
            }
            neighbours.first.push(all.len() as u32);
        }
        Self {
            positions,
            opposite_edges,
            neighbours,
        }
    }

    /// Returns the number of particles.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// Returns the rest position of a particle, m.
    pub(super) fn position(&self, particle: u32) -> DVec3 {
        self.positions[particle as usize]
    }

    /// Returns the other two corners of each triangle at a particle, as indices into
    /// [`neighbours`](Self::neighbours).
    pub(super) fn opposite_edges(&self, particle: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.opposite_edges.for_particle(particle).iter().copied()
    }

    /// Returns the neighbours of a particle and their distances, m.
    pub(super) fn neighbours(&self, particle: u32) -> &[(u32, f64)] {
        self.neighbours.for_particle(particle)
    }
}
