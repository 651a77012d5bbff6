//! Strip that is tied in a knot.

use super::{ContactScene, sheet};
use bevy::math::Vec3;
use bevy_drape::mesh::ClothGrid;

/// Length of the strip, m.
const LENGTH: f32 = 3.0;
/// Numbers of particles along and across the strip, 10 mm apart.
const COLUMNS: u32 = 301;
const ROWS: u32 = 4;
/// Range of the parameter of the knot: from −`END` to `END`.
const END: f32 = 2.0;
/// Number of sections in which the length of the knot is measured.
const SECTIONS: usize = 4000;

/// A strip in a loose overhand knot, whose ends are pulled apart until they are `end_distance` from each other, m.
pub(crate) fn knot(end_distance: f32) -> ContactScene {
    let width = LENGTH * (ROWS - 1) as f32 / (COLUMNS - 1) as f32;
    let mut strip = sheet(ClothGrid::new(LENGTH, width, COLUMNS, ROWS));
    let curve = Curve::new();
    strip.deform(|rest| {
        let (centre, tangent) = curve.at(rest.x / LENGTH + 0.5);
        // The width is as upright as it can be: the strip is nearly a part of a cylinder.
        let across = (Vec3::Z - tangent * tangent.z).normalize();
        centre + across * rest.z
    });
    strip.sample.settings.gravity = Vec3::ZERO;
    let is_end = |i: &u32| [0, COLUMNS - 1].contains(&(i % COLUMNS));
    (0..COLUMNS * ROWS)
        .filter(is_end)
        .for_each(|i| strip.sample.pin(i));
    let from: Vec<Vec3> = strip.sample.pins.iter().map(|pin| pin.position).collect();
    let slack = 0.5 * (end_distance - (curve.at(1.0).0 - curve.at(0.0).0).length());
    ContactScene::new(strip, move |strip, time| {
        for (pin, from) in strip.sample.pins.iter_mut().zip(&from) {
            let way = (0.5 * time).min(slack);
            pin.position = from + Vec3::X * from.x.signum() * way;
        }
    })
}

/// Knot by its length.
struct Curve {
    scale: f32,
    /// Length from its begin at each section.
    lengths: Vec<f32>,
}

impl Curve {
    fn new() -> Self {
        let mut lengths = vec![0.0];
        for k in 0..SECTIONS {
            let section = point(parameter(k)).distance(point(parameter(k + 1)));
            lengths.push(lengths[k] + section);
        }
        Self {
            scale: LENGTH / lengths[SECTIONS],
            lengths,
        }
    }

    /// Returns the position at a fraction of the length, and the direction.
    fn at(&self, fraction: f32) -> (Vec3, Vec3) {
        let length = fraction * self.lengths[SECTIONS];
        let after = self.lengths.partition_point(|&l| l < length);
        let k = after.clamp(1, SECTIONS) - 1;
        let [from, to] = [k, k + 1].map(|k| point(parameter(k)));
        let part = (length - self.lengths[k]) / (self.lengths[k + 1] - self.lengths[k]);
        (from.lerp(to, part) * self.scale, (to - from).normalize())
    }
}

fn parameter(section: usize) -> f32 {
    END * (2.0 * section as f32 / SECTIONS as f32 - 1.0)
}

/// Returns a point of an open trefoil knot, by polynomials (Shastri, "Polynomial representations of knots", 1992).
fn point(t: f32) -> Vec3 {
    let z = t.powi(5) / 5.0 - 2.0 * t;
    Vec3::new(t.powi(3) - 3.0 * t, t.powi(4) - 4.0 * t * t, z)
}
