//! Finds grids in a mesh, and an order of its particles in which neighbours are close in memory.
//!
//! A grid is found by its quads alone, however its vertices are numbered: from quad to quad across their
//! common side, each particle is assigned a row and a column. If these fill a rectangle, it is a grid.

use crate::solver::{GridLayout, sort_by_particle};
use std::collections::VecDeque;

/// New numbering of the particles.
pub(super) struct ParticleOrder {
    /// Old index of each particle, by its new index.
    pub(super) particles: Vec<u32>,
    /// Layouts of the grids, in new indices.
    pub(super) grids: Vec<GridLayout>,
}

/// Corners of a quad, in order around it.
pub(super) type Quad = [u32; 4];

/// Orders `count` particles: grids first, row by row, then the others. `edges` are the sides of triangles and
/// quads.
pub(super) fn order_particles(count: usize, quads: &[Quad], edges: &[[u32; 2]]) -> ParticleOrder {
    let mut order = ParticleOrder {
        particles: Vec::with_capacity(count),
        grids: Vec::new(),
    };
    let mut placed = vec![false; count];
    let mut grids = find_grids(count, quads);
    grids.sort_by_key(|grid| grid.particles.iter().copied().min());
    for grid in grids {
        order.grids.push(GridLayout {
            first: order.particles.len() as u32,
            columns: grid.columns,
            rows: (grid.particles.len() / grid.columns as usize) as u32,
        });
        for &particle in &grid.particles {
            placed[particle as usize] = true;
        }
        order.particles.extend(grid.particles);
    }
    let in_grids = order.particles.len();
    if in_grids < count {
        let kept_order: Vec<u32> = (0..count as u32).filter(|&i| !placed[i as usize]).collect();
        let wave_order = cuthill_mckee(count, &kept_order, edges);
        // Keep the given order if it is nearly as good.
        let span = |order: &[u32]| memory_span(count, order, edges);
        let is_nearer = 4 * span(&wave_order) < 3 * span(&kept_order);
        order
            .particles
            .extend(if is_nearer { wave_order } else { kept_order });
    }
    order
}

/// Returns the sum of the distances in memory between the ends of edges, over the edges with both ends among
/// `particles`.
fn memory_span(count: usize, particles: &[u32], edges: &[[u32; 2]]) -> u64 {
    let mut new_index = vec![u32::MAX; count];
    for (number, &particle) in (0..).zip(particles) {
        new_index[particle as usize] = number;
    }
    edges
        .iter()
        .map(|edge| edge.map(|i| new_index[i as usize]))
        .filter(|ends| !ends.contains(&u32::MAX))
        .map(|[a, b]| u64::from(a.abs_diff(b)))
        .sum()
}

/// Orders the particles as a breadth-first wave along the edges reaches them (Cuthill, McKee 1969).
fn cuthill_mckee(count: usize, particles: &[u32], edges: &[[u32; 2]]) -> Vec<u32> {
    let mut is_pending = vec![false; count];
    for &i in particles {
        is_pending[i as usize] = true;
    }
    let mut next: Vec<(u32, u32)> = edges
        .iter()
        .filter(|ends| ends.iter().all(|&i| is_pending[i as usize]))
        .flat_map(|&[a, b]| [(a, b), (b, a)])
        .collect();
    next.sort_unstable();
    let incident = |i: u32| {
        let first = next.partition_point(|&(from, _)| from < i);
        let rest = &next[first..];
        &rest[..rest.partition_point(|&(from, _)| from == i)]
    };
    // A wave stays narrow if it starts at a particle with few neighbours.
    let mut starts = particles.to_vec();
    starts.sort_by_key(|&i| incident(i).len());
    let mut order = Vec::with_capacity(particles.len());
    for start in starts {
        if !std::mem::replace(&mut is_pending[start as usize], false) {
            continue;
        }
        let mut done = order.len();
        order.push(start);
        while done < order.len() {
            for &(_, neighbour) in incident(order[done]) {
                if std::mem::replace(&mut is_pending[neighbour as usize], false) {
                    order.push(neighbour);
                }
            }
            done += 1;
        }
    }
    order
}

/// Particles of a grid, row by row.
struct ParticleGrid {
    columns: u32,
    particles: Vec<u32>,
}

/// Finds all grids, none of which share a particle.
fn find_grids(count: usize, quads: &[Quad]) -> Vec<ParticleGrid> {
    let neighbours = find_neighbours(count, quads);
    let mut seen = vec![false; quads.len()];
    let mut used = vec![false; count];
    let mut coordinates = GridCoordinates {
        cells: vec![None; count],
        particles: Vec::new(),
    };
    let mut grids = Vec::new();
    for start in 0..quads.len() {
        if seen[start] {
            continue;
        }
        coordinates.clear();
        if !flood_fill(start, quads, &neighbours, &mut seen, &mut coordinates) {
            continue;
        }
        let free = coordinates.particles.iter().all(|&i| !used[i as usize]);
        if let Some(grid) = to_grid(&coordinates)
            && free
        {
            for &particle in &grid.particles {
                used[particle as usize] = true;
            }
            grids.push(grid);
        }
    }
    grids
}

/// Neighbour of a quad across one of its sides.
#[derive(Clone, Copy, PartialEq)]
enum QuadNeighbour {
    Nothing,
    Quad(u32),
    /// More than one quad, which does not occur in grids.
    Multiple,
}

/// Finds the neighbours of each quad, by side: side k runs from corner k to the next.
fn find_neighbours(count: usize, quads: &[Quad]) -> Vec<[QuadNeighbour; 4]> {
    let mut sides: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(quads.len() * 4);
    for (number, quad) in (0..).zip(quads) {
        for k in 0..4_u8 {
            let (a, b) = (quad[k as usize], quad[(k as usize + 1) % 4]);
            sides.push(([a.min(b), a.max(b)], number, k));
        }
    }
    sort_by_particle(&mut sides, count, |(ends, ..)| ends[0]);
    let mut neighbours = vec![[QuadNeighbour::Nothing; 4]; quads.len()];
    for same in sides.chunk_by(|(a, ..), (b, ..)| a == b) {
        for &(_, quad, k) in same {
            let mut others = same.iter().filter(|(_, other, _)| *other != quad);
            neighbours[quad as usize][usize::from(k)] = match (others.next(), others.next()) {
                (None, _) => QuadNeighbour::Nothing,
                (Some(&(_, other, _)), None) => QuadNeighbour::Quad(other),
                _ => QuadNeighbour::Multiple,
            };
        }
    }
    neighbours
}

/// Row and column of each particle of one candidate grid.
struct GridCoordinates {
    /// Row and column by particle; `None` for particles that the grid has not reached.
    cells: Vec<Option<[i32; 2]>>,
    /// Particles of the grid.
    particles: Vec<u32>,
}

impl GridCoordinates {
    fn clear(&mut self) {
        for particle in self.particles.drain(..) {
            self.cells[particle as usize] = None;
        }
    }

    /// Assigns row and column to a particle that has none. Returns whether its row and column are `cell` then.
    fn assign(&mut self, particle: u32, cell: [i32; 2]) -> bool {
        let assigned = &mut self.cells[particle as usize];
        if assigned.is_none() {
            self.particles.push(particle);
        }
        *assigned.get_or_insert(cell) == cell
    }

    fn get(&self, particle: u32) -> [i32; 2] {
        self.cells[particle as usize].unwrap_or_default()
    }

    /// Iterates over the particles of the grid with their row and column.
    fn iter(&self) -> impl Iterator<Item = (u32, [i32; 2])> + '_ {
        self.particles.iter().map(|&i| (i, self.get(i)))
    }
}

/// Assigns row and column to each particle of the quads connected to the first one. Returns whether the
/// assignments are consistent.
fn flood_fill(
    start: usize,
    quads: &[Quad],
    neighbours: &[[QuadNeighbour; 4]],
    seen: &mut [bool],
    coordinates: &mut GridCoordinates,
) -> bool {
    let mut consistent = true;
    for (corner, cell) in quads[start]
        .into_iter()
        .zip([[0, 0], [0, 1], [1, 1], [1, 0]])
    {
        consistent &= coordinates.assign(corner, cell);
    }
    let mut queue = VecDeque::from([start]);
    seen[start] = true;
    while let Some(number) = queue.pop_front() {
        let quad = quads[number];
        for k in 0..4 {
            // The side a–b, and the corners d and c opposite to a and b.
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| quad[(k + i) % 4]);
            let side = [a.min(b), a.max(b)];
            let other = match neighbours[number][k] {
                QuadNeighbour::Quad(other) => other as usize,
                border => {
                    consistent &= border == QuadNeighbour::Nothing;
                    continue;
                }
            };
            // Behind a contradiction, rows and columns would double from quad to quad, and overflow.
            consistent = consistent
                && [(a, d), (b, c)].into_iter().all(|(corner, behind)| {
                    let ([r, c], [r0, c0]) = (coordinates.get(corner), coordinates.get(behind));
                    let next = corner_off_side(&quads[other], corner, side);
                    next.is_some_and(|next| coordinates.assign(next, [2 * r - r0, 2 * c - c0]))
                });
            if !std::mem::replace(&mut seen[other], true) {
                queue.push_back(other);
            }
        }
    }
    consistent
}

/// Returns the corner of a quad that is next to one end of a side but not on the side.
fn corner_off_side(quad: &Quad, end: u32, side: [u32; 2]) -> Option<u32> {
    let k = quad.iter().position(|&corner| corner == end)?;
    let [before, after] = [quad[(k + 3) % 4], quad[(k + 1) % 4]];
    match (side.contains(&before), side.contains(&after)) {
        (true, false) => Some(after),
        (false, true) => Some(before),
        _ => None,
    }
}

/// Returns the particles row by row, if they fill a rectangle.
fn to_grid(coordinates: &GridCoordinates) -> Option<ParticleGrid> {
    let low = coordinates.iter().fold([i32::MAX; 2], |low, (_, cell)| {
        [low[0].min(cell[0]), low[1].min(cell[1])]
    });
    let high = coordinates.iter().fold([i32::MIN; 2], |high, (_, cell)| {
        [high[0].max(cell[0]), high[1].max(cell[1])]
    });
    let [rows, columns] = [0, 1].map(|k| (high[k] - low[k] + 1) as usize);
    if rows.checked_mul(columns)? != coordinates.particles.len() || rows < 2 || columns < 2 {
        return None;
    }
    let mut grid = vec![u32::MAX; coordinates.particles.len()];
    for (particle, cell) in coordinates.iter() {
        let [r, c] = [0, 1].map(|k| (cell[k] - low[k]) as usize);
        grid[r * columns + c] = particle;
    }
    if grid.contains(&u32::MAX) {
        return None;
    }
    Some(canonical(&grid, rows, columns))
}

/// Rotates or mirrors a grid so that the corner with the smallest index comes first, and the smaller one of
/// its two neighbours next. A grid that is numbered row by row keeps its numbering.
fn canonical(grid: &[u32], rows: usize, columns: usize) -> ParticleGrid {
    let (last_row, last_column) = (rows - 1, columns - 1);
    let at = |[r, c]: [usize; 2]| grid[r * columns + c];
    let corners = [
        [0, 0],
        [0, last_column],
        [last_row, 0],
        [last_row, last_column],
    ];
    let first = corners.into_iter().min_by_key(|&cell| at(cell));
    let [r, c] = first.unwrap_or([0, 0]);
    let inward = |k: usize, last: usize, steps: usize| {
        if k == 0 { steps } else { last - steps }
    };
    let along_row = at([r, inward(c, last_column, 1)]);
    let along_column = at([inward(r, last_row, 1), c]);
    let particle = |i: usize, j: usize| at([inward(r, last_row, i), inward(c, last_column, j)]);
    if along_row < along_column {
        ParticleGrid {
            columns: columns as u32,
            particles: (0..rows)
                .flat_map(|i| (0..columns).map(move |j| particle(i, j)))
                .collect(),
        }
    } else {
        ParticleGrid {
            columns: rows as u32,
            particles: (0..columns)
                .flat_map(|j| (0..rows).map(move |i| particle(i, j)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests;
