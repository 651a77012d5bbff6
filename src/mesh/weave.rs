//! Finds grids in a mesh, and an order of its particles in which neighbours lie near each other in
//! memory.
//!
//! A grid is known by its quads alone, however its vertices are numbered: from one quad to the next
//! across their common side, each particle gets a row and a column. If these fill a rectangle, it is
//! a sheet.

use crate::solver::{SheetLayout, sort_near};
use std::collections::VecDeque;

/// The order in which particles are to be numbered.
pub(super) struct Order {
    /// The old number of each new one.
    pub(super) particles: Vec<u32>,
    /// The sheets, in new numbers.
    pub(super) sheets: Vec<SheetLayout>,
}

/// Corners of a quad, one after the other around it.
pub(super) type Quad = [u32; 4];

/// Orders so many particles; `threads` are the sides of triangles and quads.
pub(super) fn order(count: usize, quads: &[Quad], threads: &[[u32; 2]]) -> Order {
    let mut order = Order {
        particles: Vec::with_capacity(count),
        sheets: Vec::new(),
    };
    let mut placed = vec![false; count];
    let mut grids = grids(count, quads);
    grids.sort_by_key(|grid| grid.particles.iter().copied().min());
    for grid in grids {
        order.sheets.push(SheetLayout {
            first: order.particles.len() as u32,
            columns: grid.columns,
            rows: (grid.particles.len() / grid.columns as usize) as u32,
        });
        for &particle in &grid.particles {
            placed[particle as usize] = true;
        }
        order.particles.extend(grid.particles);
    }
    let woven = order.particles.len();
    if woven < count {
        let kept: Vec<u32> = (0..count as u32).filter(|&i| !placed[i as usize]).collect();
        let spread = spreading(count, &kept, threads);
        // Numbers that are good already stay.
        let nearer = 4 * reach(count, &spread, threads) < 3 * reach(count, &kept, threads);
        order.particles.extend(if nearer { spread } else { kept });
    }
    order
}

/// Sum of the distances in memory between the ends of threads whose ends are both among these.
fn reach(count: usize, particles: &[u32], threads: &[[u32; 2]]) -> u64 {
    let mut place = vec![u32::MAX; count];
    for (number, &particle) in (0..).zip(particles) {
        place[particle as usize] = number;
    }
    threads
        .iter()
        .map(|thread| thread.map(|i| place[i as usize]))
        .filter(|ends| !ends.contains(&u32::MAX))
        .map(|[a, b]| u64::from(a.abs_diff(b)))
        .sum()
}

/// The particles in the order in which a wave along the threads reaches them (Cuthill, McKee 1969).
fn spreading(count: usize, particles: &[u32], threads: &[[u32; 2]]) -> Vec<u32> {
    let mut among = vec![false; count];
    for &i in particles {
        among[i as usize] = true;
    }
    let mut next: Vec<(u32, u32)> = threads
        .iter()
        .filter(|ends| ends.iter().all(|&i| among[i as usize]))
        .flat_map(|&[a, b]| [(a, b), (b, a)])
        .collect();
    next.sort_unstable();
    let star = |i: u32| {
        let first = next.partition_point(|&(at, _)| at < i);
        let rest = &next[first..];
        &rest[..rest.partition_point(|&(at, _)| at == i)]
    };
    // A wave is narrow if it starts at an end: where there are few neighbours.
    let mut starts = particles.to_vec();
    starts.sort_by_key(|&i| star(i).len());
    let mut order = Vec::with_capacity(particles.len());
    for start in starts {
        if !std::mem::replace(&mut among[start as usize], false) {
            continue;
        }
        let mut done = order.len();
        order.push(start);
        while done < order.len() {
            for &(_, neighbour) in star(order[done]) {
                if std::mem::replace(&mut among[neighbour as usize], false) {
                    order.push(neighbour);
                }
            }
            done += 1;
        }
    }
    order
}

/// Particles of a grid, row by row.
struct Grid {
    columns: u32,
    particles: Vec<u32>,
}

/// All grids that share no particle.
fn grids(count: usize, quads: &[Quad]) -> Vec<Grid> {
    let across = across(count, quads);
    let mut seen = vec![false; quads.len()];
    let mut taken = vec![false; count];
    let mut places = Places {
        of: vec![None; count],
        particles: Vec::new(),
    };
    let mut grids = Vec::new();
    for start in 0..quads.len() {
        if seen[start] {
            continue;
        }
        places.clear();
        if !spread_over(start, quads, &across, &mut seen, &mut places) {
            continue;
        }
        let free = places.particles.iter().all(|&i| !taken[i as usize]);
        if let Some(grid) = as_grid(&places)
            && free
        {
            for &particle in &grid.particles {
                taken[particle as usize] = true;
            }
            grids.push(grid);
        }
    }
    grids
}

/// What is across a side of a quad.
#[derive(Clone, Copy, PartialEq)]
enum Across {
    Nothing,
    Quad(u32),
    /// More than one quad, which no grid has.
    Several,
}

/// What is across each side of each quad, the side from corner k to the next.
fn across(count: usize, quads: &[Quad]) -> Vec<[Across; 4]> {
    let mut sides: Vec<([u32; 2], u32, u8)> = Vec::with_capacity(quads.len() * 4);
    for (number, quad) in (0..).zip(quads) {
        for k in 0..4_u8 {
            let (a, b) = (quad[k as usize], quad[(k as usize + 1) % 4]);
            sides.push(([a.min(b), a.max(b)], number, k));
        }
    }
    sort_near(&mut sides, count, |(ends, ..)| ends[0]);
    let mut across = vec![[Across::Nothing; 4]; quads.len()];
    for same in sides.chunk_by(|(a, ..), (b, ..)| a == b) {
        for &(_, quad, k) in same {
            let mut others = same.iter().filter(|(_, other, _)| *other != quad);
            across[quad as usize][usize::from(k)] = match (others.next(), others.next()) {
                (None, _) => Across::Nothing,
                (Some(&(_, other, _)), None) => Across::Quad(other),
                _ => Across::Several,
            };
        }
    }
    across
}

/// Rows and columns of particles.
struct Places {
    of: Vec<Option<[i32; 2]>>,
    /// Those that have one.
    particles: Vec<u32>,
}

impl Places {
    fn clear(&mut self) {
        for particle in self.particles.drain(..) {
            self.of[particle as usize] = None;
        }
    }

    /// Gives a particle a place, unless it has one. Says whether that is the same.
    fn put(&mut self, particle: u32, place: [i32; 2]) -> bool {
        let of = &mut self.of[particle as usize];
        if of.is_none() {
            self.particles.push(particle);
        }
        *of.get_or_insert(place) == place
    }

    fn get(&self, particle: u32) -> [i32; 2] {
        self.of[particle as usize].unwrap_or_default()
    }

    /// All places, and whose they are.
    fn iter(&self) -> impl Iterator<Item = (u32, [i32; 2])> + '_ {
        self.particles.iter().map(|&i| (i, self.get(i)))
    }
}

/// Finds row and column of each particle of the quads that hang together with the first one. Says
/// whether they do not contradict each other.
fn spread_over(
    start: usize,
    quads: &[Quad],
    across: &[[Across; 4]],
    seen: &mut [bool],
    places: &mut Places,
) -> bool {
    let mut consistent = true;
    for (corner, place) in quads[start]
        .into_iter()
        .zip([[0, 0], [0, 1], [1, 1], [1, 0]])
    {
        consistent &= places.put(corner, place);
    }
    let mut queue = VecDeque::from([start]);
    seen[start] = true;
    while let Some(number) = queue.pop_front() {
        let quad = quads[number];
        for k in 0..4 {
            // The side a–b, and the corners d and c behind them.
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| quad[(k + i) % 4]);
            let side = [a.min(b), a.max(b)];
            let other = match across[number][k] {
                Across::Quad(other) => other as usize,
                border => {
                    consistent &= border == Across::Nothing;
                    continue;
                }
            };
            let beyond = |at: u32, behind: u32| {
                let ([r, c], [r0, c0]) = (places.get(at), places.get(behind));
                [2 * r - r0, 2 * c - c0]
            };
            let found = [(a, beyond(a, d)), (b, beyond(b, c))];
            for (at, place) in found {
                let Some(next) = neighbour(&quads[other], at, side) else {
                    consistent = false;
                    continue;
                };
                consistent &= places.put(next, place);
            }
            if !std::mem::replace(&mut seen[other], true) {
                queue.push_back(other);
            }
        }
    }
    consistent
}

/// The corner of a quad next to one end of a side, off the side.
fn neighbour(quad: &Quad, at: u32, side: [u32; 2]) -> Option<u32> {
    let k = quad.iter().position(|&corner| corner == at)?;
    let [before, after] = [quad[(k + 3) % 4], quad[(k + 1) % 4]];
    match (side.contains(&before), side.contains(&after)) {
        (true, false) => Some(after),
        (false, true) => Some(before),
        _ => None,
    }
}

/// The particles row by row, if they fill a rectangle.
fn as_grid(places: &Places) -> Option<Grid> {
    let low = places.iter().fold([i32::MAX; 2], |low, (_, place)| {
        [low[0].min(place[0]), low[1].min(place[1])]
    });
    let high = places.iter().fold([i32::MIN; 2], |high, (_, place)| {
        [high[0].max(place[0]), high[1].max(place[1])]
    });
    let [rows, columns] = [0, 1].map(|k| (high[k] - low[k] + 1) as usize);
    if rows.checked_mul(columns)? != places.particles.len() || rows < 2 || columns < 2 {
        return None;
    }
    let mut grid = vec![u32::MAX; places.particles.len()];
    for (particle, place) in places.iter() {
        let [r, c] = [0, 1].map(|k| (place[k] - low[k]) as usize);
        grid[r * columns + c] = particle;
    }
    if grid.contains(&u32::MAX) {
        return None;
    }
    Some(turned(&grid, rows, columns))
}

/// The same grid, with the smallest number of its four corners first and the smaller one of its two
/// neighbours next: a grid that is numbered row by row keeps its numbers.
fn turned(grid: &[u32], rows: usize, columns: usize) -> Grid {
    let (last_row, last_column) = (rows - 1, columns - 1);
    let at = |[r, c]: [usize; 2]| grid[r * columns + c];
    let corners = [
        [0, 0],
        [0, last_column],
        [last_row, 0],
        [last_row, last_column],
    ];
    let first = corners.into_iter().min_by_key(|&place| at(place));
    let [r, c] = first.unwrap_or([0, 0]);
    let inward = |k: usize, last: usize, by: usize| if k == 0 { by } else { last - by };
    let along_row = at([r, inward(c, last_column, 1)]);
    let along_column = at([inward(r, last_row, 1), c]);
    let particle = |i: usize, j: usize| at([inward(r, last_row, i), inward(c, last_column, j)]);
    if along_row < along_column {
        Grid {
            columns: columns as u32,
            particles: (0..rows)
                .flat_map(|i| (0..columns).map(move |j| particle(i, j)))
                .collect(),
        }
    } else {
        Grid {
            columns: rows as u32,
            particles: (0..columns)
                .flat_map(|j| (0..rows).map(move |i| particle(i, j)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
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
        let order = order(35, &quads(7, 5, |i| i), &[]);
        assert_eq!(order.particles, (0..35).collect::<Vec<_>>());
        let sheet = SheetLayout {
            first: 0,
            columns: 7,
            rows: 5,
        };
        assert_eq!(order.sheets, [sheet]);
    }

    #[test]
    fn a_shuffled_grid_is_found() {
        // 11 and 35 have no common divisor: every number comes once.
        let shuffled = |i: u32| (i * 11 + 4) % 35;
        let mut all = quads(7, 5, shuffled);
        all.reverse();
        all.iter_mut()
            .step_by(3)
            .for_each(|quad| quad.rotate_left(2));
        let order = order(35, &all, &[]);
        let [sheet] = order.sheets[..] else {
            panic!("{:?}", order.sheets);
        };
        assert_eq!(sheet.len(), 35);
        // Neighbours are neighbours: every quad is a cell.
        let mut place = [0; 35];
        for (new, &old) in order.particles.iter().enumerate() {
            place[old as usize] = new;
        }
        for quad in all {
            let mut cell = quad.map(|old| place[old as usize]);
            cell.sort_unstable();
            let columns = sheet.columns as usize;
            let first = cell[0];
            assert_eq!(
                cell,
                [first, first + 1, first + columns, first + columns + 1]
            );
        }
    }

    #[test]
    fn two_grids_and_something_else() {
        let mut all = quads(3, 3, |i| i + 20);
        all.extend(quads(4, 2, |i| i));
        // A ring of four quads around nothing is no rectangle.
        let ring = |k: u32| {
            [
                30 + 2 * k,
                31 + 2 * k,
                31 + (2 * k + 2) % 8,
                30 + (2 * k + 2) % 8,
            ]
        };
        all.extend((0..4).map(ring));
        let order = order(40, &all, &[]);
        let layouts: Vec<_> = order
            .sheets
            .iter()
            .map(|s| (s.first, s.columns, s.rows))
            .collect();
        assert_eq!(layouts, [(0, 4, 2), (8, 3, 3)]);
        let mut sorted = order.particles.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_grid_is_numbered_along_its_threads() {
        // A chain whose particles are numbered all over the place.
        let name = |i: u32| (i * 37 + 5) % 101;
        let threads: Vec<_> = (0..100).map(|i| [name(i), name(i + 1)]).collect();
        let order = order(101, &[], &threads);
        for pair in order.particles.windows(2) {
            assert!(threads.contains(&[pair[0], pair[1]]) || threads.contains(&[pair[1], pair[0]]));
        }
    }
}
