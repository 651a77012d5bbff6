use super::*;
use crate::mesh::{ClothGrid, Topology, TriangleMesh};
use bevy::{
    math::{Mat3, Vec3},
    mesh::Mesh,
};

#[test]
fn square_cells_have_the_aspect_of_their_edges() {
    for side in [2, 9, 40] {
        let mesh = Mesh::from(ClothGrid::new(1.0, 1.0, side, side));
        let topology = Topology::new(&TriangleMesh::read(&mesh).unwrap()).unwrap();
        let graph = topology
            .assemble(Vec3::ZERO, Mat3::IDENTITY, 0.2)
            .constraints;
        // Chains at the border represent half a cell; all chains of a direction have the mean aspect.
        let aspect = side as f32 / (side - 1) as f32;
        let found = graph.grids[0].aspects;
        for (found, expected) in [
            (found.warp, aspect),
            (found.weft, aspect),
            (found.shear, 1.0),
        ] {
            assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
        }
    }
}

#[test]
fn few_cells_with_diagonals_leave_the_load_to_the_edges() {
    let fabric = Compliance {
        shear: 1e-3,
        ..Compliance::of_stretch(1e-3)
    };
    let warp_of = |with_diagonals| {
        let aspects = Aspects {
            with_diagonals,
            ..Aspects::default()
        };
        aspects.constraint_compliance(&fabric, true).warp
    };
    let [none, few, all] = [0.0, 0.02, 1.0].map(warp_of);
    assert!((none / fabric.warp - 1.0).abs() < 1e-5, "{none}");
    assert!((few / fabric.warp - 1.0).abs() < 0.03, "{few}");
    assert!(all > 1.5 * fabric.warp, "{all}");
}

#[test]
fn the_part_of_the_cells_with_diagonals_is_measured() {
    // Two squares side by side; only the first has diagonals.
    let positions: SoaVec3 = (0..6u8)
        .map(|i| Vec3::new((i % 3).into(), (i / 3).into(), 0.0))
        .collect();
    let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]];
    let edges = [
        [0, 1],
        [1, 2],
        [3, 4],
        [4, 5],
        [0, 3],
        [1, 4],
        [2, 5],
        [1, 5],
    ];
    let edges = edges.map(|[a, b]| (ConstraintKind::Structural, a, b));
    let diagonals = [(ConstraintKind::Shear, 0, 4), (ConstraintKind::Shear, 1, 3)];
    let mut graph = ConstraintGraph::new(&positions, &[&edges[..], &diagonals].concat());
    graph.measure_aspects(&positions, &triangles.into());
    let found = graph.aspects.with_diagonals;
    assert_eq!(found, 0.5);
}

#[test]
fn missing_triangles_default_to_square_cells() {
    let mut graph = ConstraintGraph::new(
        &[Vec3::ZERO, Vec3::X].into_iter().collect(),
        &[(ConstraintKind::Structural, 0, 1)],
    );
    graph.measure_aspects(&SoaVec3::default(), &Corners::default());
    assert_eq!(graph.aspects, Aspects::default());
}
