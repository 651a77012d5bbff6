//! Counts intersecting pairs of triangles.

use bevy::math::{DVec3, IVec3, Vec3};
use std::collections::HashMap;

/// Returns the number of intersecting pairs of triangles without a common corner.
pub(crate) fn crossings(at: &[Vec3], triangles: &[[u32; 3]]) -> usize {
    let boxes: Vec<_> = triangles
        .iter()
        .map(|corners| bounds(corners.map(|i| at[i as usize])))
        .collect();
    let mut count = 0;
    visit_near_pairs(&boxes, |k, l| {
        let (one, other) = (triangles[k], triangles[l]);
        if !one.iter().any(|corner| other.contains(corner)) {
            let [one, other] = [one, other].map(|corners| corners.map(|i| at[i as usize]));
            count += usize::from(intersects(one, other));
        }
    });
    count
}

/// Returns the corners of the box around some points.
pub(crate) fn bounds(points: impl IntoIterator<Item = Vec3>) -> [Vec3; 2] {
    let from = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let points = points.into_iter();
    points.fold(from, |[low, high], at| [low.min(at), high.max(at)])
}

/// Calls `visit` with each pair of boxes that overlap, through a grid with cells of twice their mean size.
pub(crate) fn visit_near_pairs(boxes: &[[Vec3; 2]], mut visit: impl FnMut(usize, usize)) {
    let sizes = boxes.iter().map(|[low, high]| (high - low).max_element());
    let cell = 2.0 * sizes.sum::<f32>() / boxes.len().max(1) as f32;
    let cell_of = |at: Vec3| (at / cell.max(1e-6)).floor().as_ivec3();
    let mut cells: HashMap<IVec3, Vec<usize>> = HashMap::new();
    for (k, &[low, high]) in boxes.iter().enumerate() {
        let (from, to) = (cell_of(low), cell_of(high));
        for x in from.x..=to.x {
            for y in from.y..=to.y {
                for z in from.z..=to.z {
                    let cell = IVec3::new(x, y, z);
                    let others = cells.entry(cell).or_default();
                    for &l in &*others {
                        let [other_low, other_high] = boxes[l];
                        let overlap = other_low.cmple(high).all() && low.cmple(other_high).all();
                        // Of all cells that both touch, only in the first one.
                        if overlap && cell_of(low.max(other_low)) == cell {
                            visit(l, k);
                        }
                    }
                    others.push(k);
                }
            }
        }
    }
}

/// Returns whether an edge of one triangle passes through the other.
fn intersects(one: [Vec3; 3], other: [Vec3; 3]) -> bool {
    let [a, b] = [one, other].map(|corners| corners.map(|corner| corner.as_dvec3()));
    let pierces = |from: [DVec3; 3], through| {
        (0..3).any(|k| edge_pierces(from[k], from[(k + 1) % 3], through))
    };
    pierces(a, b) || pierces(b, a)
}

/// Returns whether a segment passes through a triangle: Möller and Trumbore, "Fast, Minimum Storage Ray/Triangle
/// Intersection" (1997).
fn edge_pierces(from: DVec3, to: DVec3, [a, b, c]: [DVec3; 3]) -> bool {
    let (direction, ab, ac) = (to - from, b - a, c - a);
    let across = direction.cross(ac);
    let volume = ab.dot(across);
    if volume == 0.0 {
        return false;
    }
    let from_corner = from - a;
    let u = from_corner.dot(across) / volume;
    let turned = from_corner.cross(ab);
    let v = direction.dot(turned) / volume;
    let t = ac.dot(turned) / volume;
    u > 0.0 && v > 0.0 && u + v < 1.0 && t > 0.0 && t < 1.0
}

#[test]
fn crossings_are_counted() {
    let sheet = |transform: fn(Vec3) -> Vec3| {
        [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(1.0, 1.0, 0.0)].map(transform)
    };
    let triangles = [[0, 1, 2], [1, 3, 2], [4, 5, 6], [5, 7, 6]];
    let count =
        |other: fn(Vec3) -> Vec3| crossings(&[sheet(|at| at), sheet(other)].concat(), &triangles);
    assert_eq!(count(|at| at + Vec3::Z * 0.01), 0);
    assert_eq!(count(|at| at + Vec3::X * 1.01), 0);
    // The second sheet is upright, first through the lower half of the first one, then beside it.
    assert_eq!(count(|at| Vec3::new(at.x, 0.4, at.y - 0.3)), 3);
    assert_eq!(count(|at| Vec3::new(at.x, 0.4, at.y + 0.1)), 0);
}
