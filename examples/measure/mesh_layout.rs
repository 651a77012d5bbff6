//! Order of vertices and triangles in a mesh.

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
}

impl MeshLayout {
    /// Returns the topology of a grid's mesh, rearranged.
    pub(crate) fn topology(self, mut mesh: TriangleMesh) -> Topology {
        if self != Self::Grid {
            shuffle(&mut mesh);
        }
        let mut topology = Topology::new(&mesh).expect("a grid has triangles");
        if self == Self::General {
            topology.grids.clear();
        }
        topology
    }
}

/// Shuffles vertices and triangles, in the same pseudo-random order every time.
pub(crate) fn shuffle(mesh: &mut TriangleMesh) {
    let mut state = 0x853c_49e6_748f_ea9b_u64;
    let mut order = |count: usize| {
        let mut order: Vec<usize> = (0..count).collect();
        for i in (1..count).rev() {
            // Linear congruential generator (Knuth, MMIX).
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (state >> 33) as usize % (i + 1));
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
