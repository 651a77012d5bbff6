//! Distances whose answers are known.

use super::{Geodesics, RestShape};
use crate::solver::{ConstraintGraph, ConstraintKind, SoaVec3, Tethers};
use bevy::math::Vec3;

/// A surface for the tests.
#[derive(Clone)]
struct Sheet {
    positions: SoaVec3,
    triangles: Vec<[u32; 3]>,
    constraints: ConstraintGraph,
}

impl Sheet {
    fn shape(&self) -> RestShape<'_> {
        RestShape {
            positions: &self.positions,
            triangles: &self.triangles,
            constraints: &self.constraints,
        }
    }

    fn distances(&self, sources: &[u32]) -> Geodesics {
        Geodesics::new(&self.shape(), sources)
    }

    fn at(&self, i: u32) -> Vec3 {
        self.positions.get(i as usize)
    }
}

/// How the squares of a grid are divided.
#[derive(Clone, Copy, Debug)]
enum Diagonal {
    Same,
    Alternating,
}

/// A flat grid with cells of 1 m.
fn grid(columns: u32, rows: u32, diagonal: Diagonal) -> Sheet {
    let place = |i: u32| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0);
    let mut triangles = Vec::new();
    for i in (0..columns * (rows - 1)).filter(|i| i % columns < columns - 1) {
        let [a, b, c, d] = [i, i + 1, i + columns, i + columns + 1];
        let other = (i % columns + i / columns) % 2 == 1;
        if matches!(diagonal, Diagonal::Alternating) && other {
            triangles.extend([[a, b, d], [a, d, c]]);
        } else {
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    Sheet {
        positions: (0..columns * rows).map(place).collect(),
        triangles,
        constraints: ConstraintGraph::default(),
    }
}

fn nearest(distances: &Geodesics, particle: u32) -> f64 {
    distances
        .of(particle)
        .next()
        .expect("it is reached")
        .distance
}

/// Fails if a distance is off by more than a share of it.
#[track_caller]
fn assert_distance(found: f64, expected: f64, tolerance: f64, what: impl std::fmt::Debug) {
    let error = (found - expected).abs();
    assert!(
        error <= expected * tolerance,
        "{what:?}: {found} m, expected {expected} m"
    );
}

#[test]
fn flat_sheets_have_straight_lines() {
    for diagonal in [Diagonal::Same, Diagonal::Alternating] {
        let sheet = grid(33, 33, diagonal);
        for source in [0, 32, 33 * 33 - 1, 16 * 33 + 11] {
            let distances = sheet.distances(&[source]);
            for i in 0..33 * 33 {
                let straight = f64::from(sheet.at(i).distance(sheet.at(source)));
                assert_distance(
                    nearest(&distances, i),
                    straight,
                    1e-6,
                    (diagonal, source, i),
                );
            }
        }
    }
}

#[test]
fn irregular_sheets_have_straight_lines_too() {
    let mut sheet = grid(33, 33, Diagonal::Alternating);
    sheet.positions = (0..33 * 33)
        .map(|i| {
            let shake = Vec3::new((i * 7 % 11) as f32 - 5.0, (i * 5 % 13) as f32 - 6.0, 0.0);
            sheet.at(i) + shake * 0.05
        })
        .collect();
    let corner = sheet.distances(&[0]);
    let row: Vec<u32> = (0..33).collect();
    let from_row = sheet.distances(&row);
    for i in 33..33 * 33 {
        let straight = |j: u32| f64::from(sheet.at(i).distance(sheet.at(j)));
        let to_row = row.iter().map(|&j| straight(j)).fold(f64::MAX, f64::min);
        for (distances, straight) in [(&corner, straight(0)), (&from_row, to_row)] {
            let found = nearest(distances, i);
            assert!(
                found >= straight * (1.0 - 1e-6),
                "{i}: {found} m, is {straight} m"
            );
            assert_distance(found, straight, 2e-2, i);
        }
    }
}

#[test]
fn a_pinned_row_is_one_island_and_is_reached_straight() {
    for diagonal in [Diagonal::Same, Diagonal::Alternating] {
        let sheet = grid(33, 33, diagonal);
        for step in [1, 2] {
            let row: Vec<u32> = (0..33).step_by(step).collect();
            let distances = sheet.distances(&row);
            for i in 0..33 * 33 {
                assert!(distances.of(i).all(|reach| reach.island == 0));
                let (x, y) = (i % 33, i / 33);
                let aside = f64::from(x % step as u32);
                let straight = f64::from(y).hypot(aside);
                assert_distance(nearest(&distances, i), straight, 1e-6, (diagonal, step, i));
            }
        }
    }
}

#[test]
fn a_cylinder_is_unrolled() {
    // 24 columns around, 20 rows along, closed.
    let (columns, rows) = (24_u32, 20_u32);
    let angle = std::f32::consts::TAU / columns as f32;
    let place = |i: u32| {
        let (turn, along) = ((i % columns) as f32 * angle, (i / columns) as f32 * 0.3);
        Vec3::new(turn.cos(), along, turn.sin())
    };
    let mut triangles = Vec::new();
    for i in 0..columns * (rows - 1) {
        let next = i / columns * columns + (i + 1) % columns;
        triangles.extend([[i, next, i + columns], [next, next + columns, i + columns]]);
    }
    let sheet = Sheet {
        positions: (0..columns * rows).map(place).collect(),
        triangles,
        constraints: ConstraintGraph::default(),
    };
    let distances = sheet.distances(&[5]);
    // A prism, of which each side is as wide as its chord.
    let side = f64::from(sheet.at(0).distance(sheet.at(1)));
    for i in 0..columns * rows {
        let around = (i % columns).abs_diff(5);
        let around = f64::from(around.min(columns - around)) * side;
        let unrolled = around.hypot(f64::from(i / columns) * 0.3);
        assert_distance(nearest(&distances, i), unrolled, 1e-5, i);
    }
}

/// Opens a grid of 21 × 21 along row 10, from column 0 to column 15: triangles above get copies of
/// the particles on the row. Returns the copies too, by column.
fn slit(sheet: &mut Sheet) -> Vec<u32> {
    let first = sheet.positions.len() as u32;
    let copies: Vec<u32> = (0..15).map(|column| first + column).collect();
    sheet.positions = sheet
        .positions
        .iter()
        .chain((0..15).map(|column| sheet.at(210 + column)))
        .collect();
    for corners in &mut sheet.triangles {
        if corners.iter().any(|&i| i > 230) {
            for i in corners.iter_mut().filter(|i| (210..225).contains(*i)) {
                *i += first - 210;
            }
        }
    }
    copies
}

#[test]
fn the_way_leads_around_a_slit() {
    for diagonal in [Diagonal::Same, Diagonal::Alternating] {
        let mut sheet = grid(21, 21, diagonal);
        slit(&mut sheet);
        let source = 2;
        let distances = sheet.distances(&[source]);
        let tip = Vec3::new(15.0, 10.0, 0.0);
        let from = sheet.at(source);
        for i in 231..441 {
            let to = sheet.at(i);
            // Where the straight line crosses the row of the slit.
            let crossing = from.x + (to.x - from.x) * 10.0 / to.y;
            let way = if crossing >= tip.x {
                from.distance(to)
            } else {
                from.distance(tip) + tip.distance(to)
            };
            let found = nearest(&distances, i);
            assert!(
                found >= f64::from(way) * (1.0 - 1e-6),
                "{i}: {found} m, is {way} m"
            );
            assert_distance(found, f64::from(way), 2e-2, (diagonal, i));
        }
    }
}

#[test]
fn ropes_are_as_long_as_their_links() {
    // It lies in a coil, and its links are longer than they look.
    let places: SoaVec3 = (0..40)
        .map(|i| Vec3::new((i % 4) as f32, 0.0, 0.0))
        .collect();
    let pairs: Vec<_> = (1..40)
        .map(|i| (ConstraintKind::Structural, i - 1, i))
        .collect();
    let mut constraints = ConstraintGraph::new(&places, &pairs);
    constraints
        .rest_lengths_mut()
        .for_each(|length| *length = 2.0);
    let rope = Sheet {
        positions: places,
        triangles: Vec::new(),
        constraints,
    };
    let distances = rope.distances(&[0, 39]);
    for i in 0..40 {
        let mut both: Vec<_> = distances.of(i).map(|r| (r.source, r.distance)).collect();
        both.sort_unstable_by_key(|&(source, _)| source);
        let expected = [(0, f64::from(2 * i)), (39, f64::from(2 * (39 - i)))];
        assert_eq!(both, expected);
    }
}

#[test]
fn each_particle_keeps_the_nearest_four_islands() {
    let sheet = grid(33, 33, Diagonal::Same);
    let pins: Vec<u32> = (0..9).map(|k| k % 3 * 16 + k / 3 * 16 * 33).collect();
    let distances = sheet.distances(&pins);
    for i in [5 * 33 + 4, 20 * 33 + 19, 33 * 33 - 2] {
        let found: Vec<u32> = distances.of(i).map(|reach| reach.source).collect();
        let mut by_distance = pins.clone();
        by_distance.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|pin| sheet.at(pin).distance(sheet.at(i)));
            a.total_cmp(&b)
        });
        assert_eq!(found, by_distance[..4]);
    }
}

#[test]
fn sources_that_do_not_exist_and_particles_out_of_reach_have_nothing() {
    let mut sheet = grid(3, 3, Diagonal::Same);
    sheet.positions = sheet.positions.iter().chain([Vec3::ONE]).collect();
    let distances = sheet.distances(&[4, 4, 99]);
    assert_eq!(distances.of(9).count(), 0);
    assert_eq!(distances.of(99).count(), 0);
    assert_eq!(distances.of(0).count(), 1);
    assert!(Geodesics::new(&sheet.shape(), &[]).of(0).next().is_none());
}

/// Checks that two say the same of all particles.
fn assert_same(repaired: &Geodesics, anew: &Geodesics, tolerance: f64) {
    assert_eq!(repaired.len(), anew.len());
    for i in 0..anew.len() as u32 {
        let [a, b] = [repaired, anew].map(|d| {
            let mut all: Vec<_> = d.of(i).map(|r| (r.source, r.distance)).collect();
            all.sort_unstable_by_key(|&(source, _)| source);
            all
        });
        let sources = |all: &[(u32, f64)]| all.iter().map(|&(s, _)| s).collect::<Vec<_>>();
        assert_eq!(sources(&a), sources(&b), "particle {i}");
        for ((_, a), (_, b)) in a.into_iter().zip(b) {
            assert_distance(a, b, tolerance, i);
        }
    }
}

#[test]
fn a_repair_finds_what_a_new_search_finds() {
    let mut sheet = grid(21, 21, Diagonal::Alternating);
    let sources = [2, 20];
    let mut distances = sheet.distances(&sources);
    let before = distances.clone();
    let copies = slit(&mut sheet);
    let near: Vec<u32> = (189..252).chain(copies).collect();
    distances.repair(&sheet.shape(), &sources, &near);
    let anew = sheet.distances(&sources);
    assert_same(&distances, &anew, 1e-3);
    // What the slit is not in the way of has not been touched.
    assert_eq!(nearest(&distances, 100), nearest(&before, 100));
    assert!(nearest(&distances, 420) > nearest(&before, 420) + 1.0);
}

#[test]
fn what_is_cut_off_reaches_nothing() {
    // The triangles between row 9 and row 10 are gone.
    let mut sheet = grid(21, 21, Diagonal::Same);
    let sources = [0, 20];
    let mut distances = sheet.distances(&sources);
    let is_between = |corners: &[u32; 3]| {
        corners.iter().any(|i| i / 21 == 9) && corners.iter().any(|i| i / 21 == 10)
    };
    sheet.triangles.retain(|corners| !is_between(corners));
    let near: Vec<u32> = (9 * 21..11 * 21).collect();
    distances.repair(&sheet.shape(), &sources, &near);
    for i in 0..441 {
        let islands = distances.of(i).count();
        assert_eq!(islands, if i < 210 { 2 } else { 0 }, "particle {i}");
    }
    let tethers = Tethers::from_distances(&distances, &sheet.shape(), &sources);
    assert_eq!(tethers.of(230).count(), 0);
    assert_eq!(tethers.of(209).count(), 2);
}

#[test]
fn a_copy_of_a_pin_holds_what_it_is_on() {
    // Torn through from top to bottom beside column 10, whose upper end is the only pin.
    let mut sheet = grid(21, 21, Diagonal::Same);
    let mut distances = sheet.distances(&[10]);
    sheet.positions = (0..441)
        .map(|i| sheet.at(i))
        .chain((0..21).map(|row| sheet.at(row * 21 + 10)))
        .collect();
    for corners in &mut sheet.triangles {
        if corners.iter().any(|i| i % 21 > 10) {
            for i in corners.iter_mut().filter(|i| **i % 21 == 10) {
                *i = 441 + *i / 21;
            }
        }
    }
    let near: Vec<u32> = (0..441).filter(|i| (9..12).contains(&(i % 21))).collect();
    distances.repair(&sheet.shape(), &[10, 441], &near);
    assert_same(&distances, &sheet.distances(&[10, 441]), 1e-6);
    assert!(distances.of(21).all(|reach| reach.source == 10));
    assert!(distances.of(41).all(|reach| reach.source == 441));
}

/// Prints how long a large sheet takes; fails only if it is out of all proportion.
#[test]
fn a_large_sheet_is_done_soon() {
    let sheet = grid(256, 256, Diagonal::Alternating);
    let began = std::time::Instant::now();
    let distances = sheet.distances(&[0, 255]);
    let took = began.elapsed();
    println!("256 × 256 with two pins: {took:?}");
    let far = nearest(&distances, 255 * 256 + 128);
    assert_distance(far, 255_f64.hypot(127.0), 1e-6, "far");
    assert!(took.as_secs() < 5, "{took:?}");
}
