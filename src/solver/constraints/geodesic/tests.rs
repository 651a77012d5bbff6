//! Distances with known answers.

use super::{Geodesics, RestShape};
use crate::solver::{ConstraintGraph, ConstraintKind, SoaVec3, Tethers};
use bevy::math::Vec3;

/// Surface for the tests.
#[derive(Clone)]
struct TestSurface {
    positions: SoaVec3,
    triangles: Vec<[u32; 3]>,
    constraints: ConstraintGraph,
}

impl TestSurface {
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

/// Division of the squares of a grid.
#[derive(Clone, Copy, Debug)]
enum DiagonalPattern {
    Same,
    Alternating,
}

/// A flat grid with cells of 1 m.
fn grid(columns: u32, rows: u32, diagonal: DiagonalPattern) -> TestSurface {
    let position = |i: u32| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0);
    let mut triangles = Vec::new();
    for i in (0..columns * (rows - 1)).filter(|i| i % columns < columns - 1) {
        let [a, b, c, d] = [i, i + 1, i + columns, i + columns + 1];
        let other = (i % columns + i / columns) % 2 == 1;
        if matches!(diagonal, DiagonalPattern::Alternating) && other {
            triangles.extend([[a, b, d], [a, d, c]]);
        } else {
            triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    TestSurface {
        positions: (0..columns * rows).map(position).collect(),
        triangles,
        constraints: ConstraintGraph::default(),
    }
}

fn nearest(distances: &Geodesics, particle: u32) -> f64 {
    distances
        .for_particle(particle)
        .next()
        .expect("the particle has a distance")
        .distance
}

/// Fails if the relative error of a distance exceeds the tolerance.
#[track_caller]
fn assert_distance(found: f64, expected: f64, tolerance: f64, what: impl std::fmt::Debug) {
    let error = (found - expected).abs();
    assert!(
        error <= expected * tolerance,
        "{what:?}: {found} m, expected {expected} m"
    );
}

#[test]
fn flat_surfaces_have_straight_paths() {
    for diagonal in [DiagonalPattern::Same, DiagonalPattern::Alternating] {
        let surface = grid(33, 33, diagonal);
        for source in [0, 32, 33 * 33 - 1, 16 * 33 + 11] {
            let distances = surface.distances(&[source]);
            for i in 0..33 * 33 {
                let straight = f64::from(surface.at(i).distance(surface.at(source)));
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
fn irregular_meshes_have_straight_paths_too() {
    let mut surface = grid(33, 33, DiagonalPattern::Alternating);
    surface.positions = (0..33 * 33)
        .map(|i| {
            let shake = Vec3::new((i * 7 % 11) as f32 - 5.0, (i * 5 % 13) as f32 - 6.0, 0.0);
            surface.at(i) + shake * 0.05
        })
        .collect();
    let corner = surface.distances(&[0]);
    let row: Vec<u32> = (0..33).collect();
    let from_row = surface.distances(&row);
    for i in 33..33 * 33 {
        let straight = |j: u32| f64::from(surface.at(i).distance(surface.at(j)));
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
fn a_pinned_row_is_one_island_at_perpendicular_distance() {
    for diagonal in [DiagonalPattern::Same, DiagonalPattern::Alternating] {
        let surface = grid(33, 33, diagonal);
        for step in [1, 2] {
            let row: Vec<u32> = (0..33).step_by(step).collect();
            let distances = surface.distances(&row);
            for i in 0..33 * 33 {
                assert!(
                    distances
                        .for_particle(i)
                        .all(|distance| distance.island == 0)
                );
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
    let position = |i: u32| {
        let (turn, along) = ((i % columns) as f32 * angle, (i / columns) as f32 * 0.3);
        Vec3::new(turn.cos(), along, turn.sin())
    };
    let mut triangles = Vec::new();
    for i in 0..columns * (rows - 1) {
        let next = i / columns * columns + (i + 1) % columns;
        triangles.extend([[i, next, i + columns], [next, next + columns, i + columns]]);
    }
    let surface = TestSurface {
        positions: (0..columns * rows).map(position).collect(),
        triangles,
        constraints: ConstraintGraph::default(),
    };
    let distances = surface.distances(&[5]);
    // A prism with sides as wide as the chords of the cylinder.
    let side = f64::from(surface.at(0).distance(surface.at(1)));
    for i in 0..columns * rows {
        let around = (i % columns).abs_diff(5);
        let around = f64::from(around.min(columns - around)) * side;
        let unrolled = around.hypot(f64::from(i / columns) * 0.3);
        assert_distance(nearest(&distances, i), unrolled, 1e-5, i);
    }
}

/// Opens a grid of 21 × 21 along row 10, from column 0 to column 15: triangles above the slit get copies of the
/// particles on the row. Returns the copies by column.
fn slit(surface: &mut TestSurface) -> Vec<u32> {
    let first = surface.positions.len() as u32;
    let copies: Vec<u32> = (0..15).map(|column| first + column).collect();
    surface.positions = surface
        .positions
        .iter()
        .chain((0..15).map(|column| surface.at(210 + column)))
        .collect();
    for corners in &mut surface.triangles {
        if corners.iter().any(|&i| i > 230) {
            for i in corners.iter_mut().filter(|i| (210..225).contains(*i)) {
                *i += first - 210;
            }
        }
    }
    copies
}

#[test]
fn paths_lead_around_a_slit() {
    for diagonal in [DiagonalPattern::Same, DiagonalPattern::Alternating] {
        let mut surface = grid(21, 21, diagonal);
        slit(&mut surface);
        let source = 2;
        let distances = surface.distances(&[source]);
        let tip = Vec3::new(15.0, 10.0, 0.0);
        let from = surface.at(source);
        for i in 231..441 {
            let to = surface.at(i);
            // Point where the straight line crosses the row of the slit.
            let crossing = from.x + (to.x - from.x) * 10.0 / to.y;
            let expected = if crossing >= tip.x {
                from.distance(to)
            } else {
                from.distance(tip) + tip.distance(to)
            };
            let found = nearest(&distances, i);
            assert!(
                found >= f64::from(expected) * (1.0 - 1e-6),
                "{i}: {found} m, is {expected} m"
            );
            assert_distance(found, f64::from(expected), 2e-2, (diagonal, i));
        }
    }
}

#[test]
fn distances_along_a_rope_are_sums_of_rest_lengths() {
    // The rope lies in a coil, and its rest lengths are longer than the distances.
    let positions: SoaVec3 = (0..40)
        .map(|i| Vec3::new((i % 4) as f32, 0.0, 0.0))
        .collect();
    let pairs: Vec<_> = (1..40)
        .map(|i| (ConstraintKind::Structural, i - 1, i))
        .collect();
    let mut constraints = ConstraintGraph::new(&positions, &pairs);
    constraints
        .rest_lengths_mut()
        .for_each(|length| *length = 2.0);
    let rope = TestSurface {
        positions,
        triangles: Vec::new(),
        constraints,
    };
    let distances = rope.distances(&[0, 39]);
    for i in 0..40 {
        let mut both: Vec<_> = distances
            .for_particle(i)
            .map(|r| (r.source, r.distance))
            .collect();
        both.sort_unstable_by_key(|&(source, _)| source);
        let expected = [(0, f64::from(2 * i)), (39, f64::from(2 * (39 - i)))];
        assert_eq!(both, expected);
    }
}

#[test]
fn each_particle_keeps_the_nearest_four_islands() {
    let surface = grid(33, 33, DiagonalPattern::Same);
    let pins: Vec<u32> = (0..9).map(|k| k % 3 * 16 + k / 3 * 16 * 33).collect();
    let distances = surface.distances(&pins);
    for i in [5 * 33 + 4, 20 * 33 + 19, 33 * 33 - 2] {
        let found: Vec<u32> = distances
            .for_particle(i)
            .map(|distance| distance.source)
            .collect();
        let mut by_distance = pins.clone();
        by_distance.sort_by(|&a, &b| {
            let [a, b] = [a, b].map(|pin| surface.at(pin).distance(surface.at(i)));
            a.total_cmp(&b)
        });
        assert_eq!(found, by_distance[..4]);
    }
}

#[test]
fn missing_sources_and_unreachable_particles_have_no_distances() {
    let mut surface = grid(3, 3, DiagonalPattern::Same);
    surface.positions = surface.positions.iter().chain([Vec3::ONE]).collect();
    let distances = surface.distances(&[4, 4, 99]);
    assert_eq!(distances.for_particle(9).count(), 0);
    assert_eq!(distances.for_particle(99).count(), 0);
    assert_eq!(distances.for_particle(0).count(), 1);
    assert!(
        Geodesics::new(&surface.shape(), &[])
            .for_particle(0)
            .next()
            .is_none()
    );
}

/// Checks that both have the same distances for all particles.
fn assert_same(repaired: &Geodesics, anew: &Geodesics, tolerance: f64) {
    assert_eq!(repaired.len(), anew.len());
    for i in 0..anew.len() as u32 {
        let [a, b] = [repaired, anew].map(|d| {
            let mut all: Vec<_> = d.for_particle(i).map(|r| (r.source, r.distance)).collect();
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
    let mut surface = grid(21, 21, DiagonalPattern::Alternating);
    let sources = [2, 20];
    let mut distances = surface.distances(&sources);
    let before = distances.clone();
    let copies = slit(&mut surface);
    let near: Vec<u32> = (189..252).chain(copies).collect();
    distances.repair(&surface.shape(), &sources, &near);
    let anew = surface.distances(&sources);
    assert_same(&distances, &anew, 1e-3);
    // Distances not obstructed by the slit are unchanged.
    assert_eq!(nearest(&distances, 100), nearest(&before, 100));
    assert!(nearest(&distances, 420) > nearest(&before, 420) + 1.0);
}

#[test]
fn a_part_that_is_cut_off_has_no_distances() {
    // The triangles between row 9 and row 10 are removed.
    let mut surface = grid(21, 21, DiagonalPattern::Same);
    let sources = [0, 20];
    let mut distances = surface.distances(&sources);
    let is_between = |corners: &[u32; 3]| {
        corners.iter().any(|i| i / 21 == 9) && corners.iter().any(|i| i / 21 == 10)
    };
    surface.triangles.retain(|corners| !is_between(corners));
    let near: Vec<u32> = (9 * 21..11 * 21).collect();
    distances.repair(&surface.shape(), &sources, &near);
    for i in 0..441 {
        let islands = distances.for_particle(i).count();
        assert_eq!(islands, if i < 210 { 2 } else { 0 }, "particle {i}");
    }
    let tethers = Tethers::from_distances(&distances, &surface.shape(), &sources);
    assert_eq!(tethers.for_particle(230).count(), 0);
    assert_eq!(tethers.for_particle(209).count(), 2);
}

#[test]
fn a_copy_of_a_pin_is_a_source_for_its_part() {
    // Torn from top to bottom along column 10; the upper end of that column is the only pin.
    let mut surface = grid(21, 21, DiagonalPattern::Same);
    let mut distances = surface.distances(&[10]);
    surface.positions = (0..441)
        .map(|i| surface.at(i))
        .chain((0..21).map(|row| surface.at(row * 21 + 10)))
        .collect();
    for corners in &mut surface.triangles {
        if corners.iter().any(|i| i % 21 > 10) {
            for i in corners.iter_mut().filter(|i| **i % 21 == 10) {
                *i = 441 + *i / 21;
            }
        }
    }
    let near: Vec<u32> = (0..441).filter(|i| (9..12).contains(&(i % 21))).collect();
    distances.repair(&surface.shape(), &[10, 441], &near);
    assert_same(&distances, &surface.distances(&[10, 441]), 1e-6);
    assert!(
        distances
            .for_particle(21)
            .all(|distance| distance.source == 10)
    );
    assert!(
        distances
            .for_particle(41)
            .all(|distance| distance.source == 441)
    );
}

/// Prints the time for a large cloth; fails only if it is out of all proportion.
#[test]
fn a_large_surface_takes_little_time() {
    let surface = grid(256, 256, DiagonalPattern::Alternating);
    let began = std::time::Instant::now();
    let distances = surface.distances(&[0, 255]);
    let took = began.elapsed();
    println!("256 × 256 with two pins: {took:?}");
    let far = nearest(&distances, 255 * 256 + 128);
    assert_distance(far, 255_f64.hypot(127.0), 1e-6, "far");
    assert!(took.as_secs() < 5, "{took:?}");
}
