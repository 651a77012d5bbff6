use super::*;

fn quads(columns: u32, rows: u32, number: impl Fn(u32) -> u32) -> Vec<Quad> {
    let at = |r: u32, c: u32| number(r * columns + c);
    (0..rows - 1)
        .flat_map(|r| (0..columns - 1).map(move |c| (r, c)))
        .map(|(r, c)| [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)])
        .collect()
}

#[test]
fn a_grid_in_order_keeps_its_order() {
    let order = order_particles(35, &quads(7, 5, |i| i), &[]);
    assert_eq!(order.particles, (0..35).collect::<Vec<_>>());
    let grid = GridLayout {
        first: 0,
        columns: 7,
        rows: 5,
    };
    assert_eq!(order.grids, [grid]);
}

#[test]
fn a_shuffled_grid_is_found() {
    // 11 and 35 have no common divisor: every index occurs once.
    let shuffled = |i: u32| (i * 11 + 4) % 35;
    let mut all = quads(7, 5, shuffled);
    all.reverse();
    all.iter_mut()
        .step_by(3)
        .for_each(|quad| quad.rotate_left(2));
    let order = order_particles(35, &all, &[]);
    let [grid] = order.grids[..] else {
        panic!("{:?}", order.grids);
    };
    assert_eq!(grid.len(), 35);
    // Every quad is a cell of the grid.
    let mut new_index = [0; 35];
    for (new, &old) in order.particles.iter().enumerate() {
        new_index[old as usize] = new;
    }
    for quad in all {
        let mut cell = quad.map(|old| new_index[old as usize]);
        cell.sort_unstable();
        let columns = grid.columns as usize;
        let first = cell[0];
        assert_eq!(
            cell,
            [first, first + 1, first + columns, first + columns + 1]
        );
    }
}

#[test]
fn two_grids_are_found_beside_other_quads() {
    let mut all = quads(3, 3, |i| i + 20);
    all.extend(quads(4, 2, |i| i));
    // A ring of four quads around a hole is no rectangle.
    let ring = |k: u32| {
        [
            30 + 2 * k,
            31 + 2 * k,
            31 + (2 * k + 2) % 8,
            30 + (2 * k + 2) % 8,
        ]
    };
    all.extend((0..4).map(ring));
    let order = order_particles(40, &all, &[]);
    let layouts: Vec<_> = order
        .grids
        .iter()
        .map(|s| (s.first, s.columns, s.rows))
        .collect();
    assert_eq!(layouts, [(0, 4, 2), (8, 3, 3)]);
    let mut sorted = order.particles.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..40).collect::<Vec<_>>());
}

/// Quads that one step of subdivision makes of a triangulated grid, as modelling programs do: each triangle becomes three. Edges
/// and triangles have a particle in their middle.
fn subdivided_triangles(side: u32) -> (usize, Vec<Quad>) {
    let triangles: Vec<[u32; 3]> = quads(side, side, |i| i)
        .into_iter()
        .flat_map(|[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    let mut middles = std::collections::HashMap::new();
    let mut count = side * side;
    let mut all = Vec::new();
    for corners in triangles {
        let mut add = || {
            count += 1;
            count - 1
        };
        let centre = add();
        let [ab, bc, ca] = [0, 1, 2].map(|k| {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            *middles.entry([a.min(b), a.max(b)]).or_insert_with(&mut add)
        });
        let [a, b, c] = corners;
        all.extend([
            [a, ab, centre, ca],
            [b, bc, centre, ab],
            [c, ca, centre, bc],
        ]);
    }
    (count as usize, all)
}

#[test]
fn quads_of_subdivided_triangles_are_no_grid() {
    // Rows and columns that contradict each other must not be continued: they would double from quad to quad.
    let (count, all) = subdivided_triangles(100);
    assert!(order_particles(count, &all, &[]).grids.is_empty());
}

#[test]
fn particles_outside_grids_are_numbered_along_their_edges() {
    // A chain with its particles numbered in shuffled order.
    let shuffled = |i: u32| (i * 37 + 5) % 101;
    let edges: Vec<_> = (0..100).map(|i| [shuffled(i), shuffled(i + 1)]).collect();
    let order = order_particles(101, &[], &edges);
    for pair in order.particles.windows(2) {
        assert!(edges.contains(&[pair[0], pair[1]]) || edges.contains(&[pair[1], pair[0]]));
    }
}
