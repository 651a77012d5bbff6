//! Strain that the edges of a mesh have in common: that between the means of the cloth around the nodes of the finest level.

use super::{
    CoarseLevel, CoarseLink,
    edges::{EdgeBlock, find_edges},
    mesh::LevelMesh,
    node_weights,
};
use crate::solver::{
    constraints::{geodesic::RestShape, points::Points},
    math::particle_lists::ParticleLists,
    parallel::workers::Workers,
    shared::Shared,
    shared_lists::SharedLists,
};
use bevy::math::{Vec3, Vec4, Vec4Swizzles};

/// Smallest distance between the means around the nodes of a link, as a fraction of its length: below, cloth is rolled up or has
/// no area, and its strain is not measured.
const MIN_MEAN_LENGTH: f32 = 0.1;

/// Strain across a stretched cloth as a fraction of that along it: so much narrower does it become (Poisson's ratio of springs in
/// triangles).
const CONTRACTION: f32 = 1.0 / 3.0;

/// Nodes, links and triangles in a part of a stage.
const NODES_PER_PART: usize = 256;

/// Measures the strain that edges have in common; empty without levels.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct CommonStrain {
    /// Particles around each node, and their weights in the mean, which sum up to 1.
    around: SharedLists<(u32, f32)>,
    /// Distance between the means around both nodes of each link at rest, m; 0 where no strain is measured.
    mean_lengths: Shared<Vec<f32>>,
    pub(super) triangles: Shared<Vec<NodeTriangle>>,
    /// Edges of the mesh in each triangle.
    pub(super) edges: SharedLists<EdgeBlock>,
}

/// Triangle of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct NodeTriangle {
    pub(super) nodes: [u16; 3],
    /// Links from each node to the next.
    links: [u32; 3],
}

/// Results of a measurement, and scratch buffers.
#[derive(Default)]
pub(super) struct MeasuredStrain {
    /// x, y, z and inverse mass of each particle.
    pub(super) particles: Vec<[f32; 4]>,
    /// Means around the nodes.
    means: Vec<Vec3>,
    /// Strain of each link.
    links: Vec<f32>,
    /// Strain of the links around each triangle.
    pub(super) triangles: Vec<[f32; 3]>,
}

impl CommonStrain {
    /// Prepares measurements with the finest level of a cloth and the mesh of its nodes. `areas` are those at the particles, m².
    /// The second result are the numbers of the edges in all slots for edges.
    pub(super) fn new(
        shape: &RestShape,
        areas: &[f32],
        level: &CoarseLevel,
        mesh: &LevelMesh,
    ) -> (Self, Vec<u32>) {
        let around = particles_around(level, areas);
        let position = |particle: u32| shape.positions.get(particle as usize);
        let means = (0..around.len()).map(|node| {
            let parts = around.at(node).iter();
            parts.map(|&(i, weight)| position(i) * weight).sum()
        });
        let means: Vec<Vec3> = means.collect();
        let length = |link: &CoarseLink| {
            let [a, b] = link.nodes.map(|node| means[usize::from(node)]);
            let length = a.distance(b);
            let is_measured = length > MIN_MEAN_LENGTH * link.rest;
            if is_measured { length } else { 0.0 }
        };
        let triangles = mesh.triangles().iter().zip(mesh.edges_of_triangles());
        let triangles = triangles.map(|(nodes, links)| NodeTriangle {
            nodes: nodes.map(|node| node as u16),
            links,
        });
        let (edges, numbers) = find_edges(shape, level, mesh, &means);
        let common = Self {
            mean_lengths: level.links.iter().map(length).collect(),
            triangles: triangles.collect(),
            edges,
            around,
        };
        (common, numbers)
    }

    /// Excludes the triangles at open nodes: all their links become one whose strain is not measured.
    pub(super) fn open(&mut self, is_open: impl Fn(u16) -> bool, links: &[CoarseLink]) {
        let mut open_link = None;
        for ((number, link), length) in (0..).zip(links).zip(&mut *self.mean_lengths) {
            if link.nodes.into_iter().any(&is_open) {
                *length = 0.0;
                open_link = Some(number);
            }
        }
        let Some(open_link) = open_link else { return };
        for triangle in &mut *self.triangles {
            if triangle.nodes.into_iter().any(&is_open) {
                triangle.links = [open_link; 3];
            }
        }
    }

    /// Measures the strain in each triangle.
    pub(super) fn measure(
        &self,
        workers: &mut Workers,
        level: &CoarseLevel,
        points: &Points,
        to: &mut MeasuredStrain,
    ) {
        let MeasuredStrain {
            particles,
            means,
            links,
            triangles,
        } = to;
        points.pack(workers, particles);
        means.resize(self.around.len(), Vec3::ZERO);
        let parts = means.chunks_mut(NODES_PER_PART).enumerate();
        workers.for_each_part(parts, |(part, means)| {
            for (node, mean) in (part * NODES_PER_PART..).zip(means) {
                let mut sum = Vec4::ZERO;
                for &(i, weight) in self.around.at(node) {
                    sum += Vec4::from_array(particles[i as usize]) * weight;
                }
                *mean = sum.xyz();
            }
        });
        links.resize(self.mean_lengths.len(), 0.0);
        let own = level.links.chunks(NODES_PER_PART);
        let own = own.zip(self.mean_lengths.chunks(NODES_PER_PART));
        let parts = links.chunks_mut(NODES_PER_PART).zip(own);
        workers.for_each_part(parts, |(strains, (links, lengths))| {
            for ((strain, link), rest) in strains.iter_mut().zip(links).zip(lengths) {
                let [a, b] = link.nodes;
                let between = means[usize::from(a)] - means[usize::from(b)];
                let measured = between.length() / rest - 1.0;
                // Neither without a length, nor if positions are no numbers.
                *strain = if measured.is_finite() { measured } else { 0.0 };
            }
        });
        triangles.resize(self.triangles.len(), [0.0; 3]);
        let own = self.triangles.chunks(NODES_PER_PART);
        let parts = triangles.chunks_mut(NODES_PER_PART).zip(own);
        workers.for_each_part(parts, |(strains, triangles)| {
            for (strains, triangle) in strains.iter_mut().zip(triangles) {
                let [a, b, c] = triangle.links;
                let [a, b, c] = [links[a as usize], links[b as usize], links[c as usize]];
                // Cloth that is stretched resists that it becomes narrower, as far as that follows from the stretch; folds are
                // free.
                let least = -CONTRACTION * a.max(b).max(c).max(0.0);
                *strains = [a.max(least), b.max(least), c.max(least)];
            }
        });
    }

    /// Lets future clones share all data.
    pub(super) fn share(&mut self) {
        self.around.share();
        self.mean_lengths.share();
        self.triangles.share();
        self.edges.share();
    }

    /// Returns whether all data are consistent with the finest level.
    pub(super) fn is_sound(&self, particles: usize, level: &CoarseLevel) -> bool {
        let is_positive = |value: f32| value >= 0.0 && value.is_finite();
        self.around.is_sound(level.nodes.len())
            && (self.around.all().iter())
                .all(|&(i, weight)| (i as usize) < particles && is_positive(weight))
            && self.mean_lengths.len() == level.links.len()
            && self.mean_lengths.iter().all(|&length| is_positive(length))
            && self.triangles.iter().all(|triangle| {
                (triangle.links.iter()).all(|&link| (link as usize) < level.links.len())
                    && (triangle.nodes.iter()).all(|&node| usize::from(node) < level.nodes.len())
            })
            && self.edges.is_sound(self.triangles.len())
            && self
                .edges
                .all()
                .iter()
                .all(|block| block.is_sound(particles))
    }
}

/// Returns the particles around each node of the finest level, with the area at each as a fraction of all.
fn particles_around(level: &CoarseLevel, areas: &[f32]) -> SharedLists<(u32, f32)> {
    let mut particles = ParticleLists::default();
    particles.fill(level.nodes.len(), || {
        let places = level.corners.iter().zip(&level.weights);
        let places = (0_u32..).zip(places.zip(areas));
        let parts = places.flat_map(|(i, ((corners, weights), area))| {
            let parts = node_weights(corners, weights);
            parts.map(|(node, weight)| (node.into(), (i, weight * area)))
        });
        parts.filter(|(_, (_, area))| *area > 0.0)
    });
    for node in 0..level.nodes.len() as u32 {
        let own = particles.for_particle_mut(node);
        let sum: f32 = own.iter().map(|(_, area)| area).sum();
        for (_, area) in own {
            *area /= sum;
        }
    }
    particles.into()
}

impl MeasuredStrain {
    /// Limits the strain of each triangle to twice that of its edges: where a tube is flattened, the means around the nodes lie
    /// farther apart, but nothing is stretched. `changes` are the sums over the edges of each, m: how much each is longer or
    /// shorter, and what of it they have in common.
    pub(super) fn limit_to_changes(&mut self, changes: impl Iterator<Item = [f32; 2]>) {
        for (strains, [own, in_common]) in self.triangles.iter_mut().zip(changes) {
            let most = 2.0 * own;
            if most <= in_common {
                let scale = if own > 0.0 { most / in_common } else { 0.0 };
                *strains = strains.map(|strain| strain * scale);
            }
        }
    }
}
