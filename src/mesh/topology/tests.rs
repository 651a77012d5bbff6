use super::*;
use crate::mesh::grid::{ClothGrid, Diagonals};
use bevy::mesh::Mesh;

fn count(topology: &Topology, kind: ConstraintKind) -> usize {
    match kind {
        ConstraintKind::Bend => topology.bends.len(),
        _ => {
            let of_kind = topology.constraints.iter().filter(|c| c.0 == kind);
            of_kind.count()
        }
    }
}

fn topology(mesh: &Mesh) -> Topology {
    Topology::new(&TriangleMesh::read(mesh).unwrap()).unwrap()
}

#[test]
fn every_grid_is_the_classic_mass_spring_cloth() {
    for diagonals in [
        Diagonals::Alternating,
        Diagonals::Parallel,
        Diagonals::Zigzag,
    ] {
        for n in [2, 3, 9, 20] {
            let grid = ClothGrid {
                diagonals,
                ..ClothGrid::new(2.0, 3.0, n as u32, n as u32)
            };
            let topology = topology(&grid.into());
            assert_eq!(topology.positions.len(), n * n);
            assert_eq!(topology.triangles.len(), 2 * (n - 1) * (n - 1));
            let expected = [
                (ConstraintKind::Structural, 2 * n * (n - 1)),
                (ConstraintKind::Shear, 2 * (n - 1) * (n - 1)),
                (ConstraintKind::Bend, 2 * n * (n - 2)),
            ];
            for (kind, expected) in expected {
                assert_eq!(
                    count(&topology, kind),
                    expected,
                    "{kind:?}, {n}×{n}, {diagonals:?}"
                );
            }
        }
    }
}

#[test]
fn vertices_of_separate_triangles_are_welded() {
    let mut mesh = Mesh::from(ClothGrid::new(1.0, 1.0, 5, 5));
    mesh.duplicate_vertices();
    let topology = topology(&mesh);
    assert_eq!(topology.vertex_to_particle.len(), 96);
    assert_eq!(topology.positions.len(), 25);
}

#[test]
fn triangles_outside_quads_bend_across_their_edges() {
    // Two equilateral triangles: five edges, one of them inside.
    let positions = [
        Vec3::ZERO,
        Vec3::X,
        Vec3::new(0.5, 0.866, 0.0),
        Vec3::new(0.5, -0.866, 0.0),
    ];
    let mesh = TriangleMesh {
        positions: positions.to_vec(),
        triangles: vec![[0, 1, 2], [1, 0, 3]],
        out_of_range: 0,
    };
    let topology = Topology::new(&mesh).unwrap();
    assert_eq!(count(&topology, ConstraintKind::Structural), 5);
    assert_eq!(count(&topology, ConstraintKind::Shear), 0);
    let [bend] = topology.bends[..] else {
        panic!("{:?}", topology.bends);
    };
    assert_eq!((bend.middle, bend.ends), ([0, 1], [2, 3]));
}

#[test]
fn front_and_back_of_a_two_sided_mesh_are_one_fabric() {
    let mesh = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2], [0, 2, 1], [0, 0, 1]],
        out_of_range: 0,
    };
    let topology = Topology::new(&mesh).unwrap();
    assert_eq!(topology.triangles.to_vec(), [[0, 1, 2]]);
}

#[test]
fn triangles_without_area_keep_their_edges() {
    let mesh = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::X * 2.0, Vec3::Y],
        triangles: vec![[0, 1, 2], [0, 1, 3]],
        out_of_range: 0,
    };
    let topology = Topology::new(&mesh).unwrap();
    assert_eq!(count(&topology, ConstraintKind::Structural), 5);
}

#[test]
fn a_mesh_of_a_single_position_is_no_cloth() {
    let mesh = TriangleMesh {
        positions: vec![Vec3::ONE; 3],
        triangles: vec![[0, 1, 2]],
        out_of_range: 0,
    };
    assert_eq!(Topology::new(&mesh), None);
}
