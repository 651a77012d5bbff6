//! Vertices and triangles of a flat sheet.

use bevy::math::Vec3;
use bevy_drape::mesh::{Topology, TriangleMesh};
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum MeshLayout {
    /// Vertices row by row
    Grid,
    /// Vertices and triangles in random order
    Shuffled,
    /// Shuffled, and solved as a general mesh without grids
    General,
    /// As many points, moved at random, with the triangles between nearest ones (Delaunay 1934), as in programs for
    /// sewing patterns
    Irregular,
}

impl MeshLayout {
    /// Returns the topology of a grid's mesh, rearranged.
    pub(crate) fn topology(self, mut mesh: TriangleMesh) -> Topology {
        match self {
            Self::Grid => {}
            Self::Shuffled | Self::General => shuffle(&mut mesh),
            Self::Irregular => triangulate_at_random(&mut mesh),
        }
        let mut topology = Topology::new(&mesh).expect("a grid has triangles");
        if self == Self::General {
            topology.grids.clear();
        }
        topology
    }
}

/// Pseudo-random numbers, the same every time: a linear congruential generator (Knuth, MMIX).
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x853c_49e6_748f_ea9b)
    }

    /// Returns 31 random bits.
    fn bits(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    /// Returns a number from −1 to 1.
    fn offset(&mut self) -> f32 {
        self.bits() as f32 / (1 << 30) as f32 - 1.0
    }
}

/// Largest offset of a point, as a fraction of the distance between neighbours.
const JITTER: f32 = 0.4;

/// Moves the vertices of a flat sheet at random within its plane, those on its sides along them, and replaces its
/// triangles.
fn triangulate_at_random(mesh: &mut TriangleMesh) {
    let points = mesh.positions.iter().copied();
    let (low, high) = points.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), at| {
        (low.min(at), high.max(at))
    });
    let size = high - low;
    let spacing = (size.x * size.y.max(size.z) / mesh.positions.len() as f32).sqrt();
    let mut random = Random::new();
    for position in &mut mesh.positions {
        for axis in 0..3 {
            let margin = (position[axis] - low[axis]).min(high[axis] - position[axis]);
            if margin > 0.5 * spacing {
                position[axis] += JITTER * spacing * random.offset();
            }
        }
    }
    let points: Vec<_> = (mesh.positions.iter())
        .map(|at| delaunator::Point {
            x: at.x.into(),
            y: if size.y > size.z { at.y } else { at.z }.into(),
        })
        .collect();
    let corners = delaunator::triangulate(&points).triangles;
    let corners: Vec<u32> = corners.into_iter().map(|i| i as u32).collect();
    mesh.triangles = corners.as_chunks().0.to_vec();
}

/// Shuffles vertices and triangles, in the same pseudo-random order every time.
pub(crate) fn shuffle(mesh: &mut TriangleMesh) {
    let mut random = Random::new();
    let mut order = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            order.swap(i, random.bits() as usize % (i + 1));
        }
        order
    };
    let order_of_vertices = order(mesh.positions.len());
    let mut new_index = vec![0; order_of_vertices.len()];
    for (new, &old) in (0..).zip(&order_of_vertices) {
        new_index[old] = new;
    }
    mesh.positions = order_of_vertices
        .iter()
        .map(|&old| mesh.positions[old])
        .collect();
    let triangles = order(mesh.triangles.len());
    mesh.triangles = triangles
        .into_iter()
        .map(|old| mesh.triangles[old].map(|corner| new_index[corner as usize]))
        .collect();
}
