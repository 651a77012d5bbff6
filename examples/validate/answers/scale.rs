//! Motion at the scale of a doll and of a ship: lengths of similar cloths grow with their size, times with its root
//! (Froude 1861).

use super::{Row, rates::centre};
use crate::{
    own_sheet::OwnSheet,
    sample::{Sample, at_rate, period},
};
use bevy::math::Vec3;
use bevy_drape::{
    cloth::{Cloth, Fabric},
    mesh::ClothGrid,
    solver::{Collider, Friction, Pose, Shape},
};

/// Widths that are compared with a sheet of 1 m, m.
const WIDTHS: [f32; 4] = [0.05, 0.25, 5.0, 30.0];
/// Particles along each side.
const SIDE: u32 = 32;
/// Steps per second.
const RATE: u32 = 60;

/// Returns a horizontal sheet of this width, with fabric and damping that in air of the same density are similar to the default at
/// 1 m.
fn similar_sheet(width: f32) -> Sample {
    let usual = Cloth::default();
    let time = width.sqrt();
    let cloth = Cloth {
        damping: usual.damping / time,
        fabric: Fabric {
            areal_density: usual.fabric.areal_density * width,
            thickness: Some(0.01 * width),
            bending_stiffness: usual.fabric.bending_stiffness * width.powi(4),
            bending_damping: usual.fabric.bending_damping * time,
            ..usual.fabric
        },
        ..usual
    };
    let grid = ClothGrid::new(width, width, SIDE, SIDE);
    let mut sample = OwnSheet::of_grid(grid, &cloth).sample;
    sample.settings = at_rate(&cloth, RATE);
    sample
}

/// Compares a number, in units of the width and its root, at all widths with that at 1 m. Where the number of substeps per
/// time is too small, differences are up to `so_far`, %.
fn compare(label: &str, so_far: f64, measure: impl Fn(f32) -> f64) -> Vec<Row> {
    let usual = measure(1.0);
    let row = |width| {
        let difference = (measure(width) / usual - 1.0).abs() * 100.0;
        Row::at_most(
            format!("{label}, {width} m wide, difference, %"),
            3.0,
            difference,
        )
        .so_far(so_far)
    };
    WIDTHS.into_iter().map(row).collect()
}

/// A sheet that swings about an edge, and one that falls on a ball half as wide.
pub(crate) fn similar_sheets() -> Vec<Row> {
    let swing = compare("period of a swing", 5.0, |width| {
        let mut sample = similar_sheet(width);
        (0..SIDE).for_each(|pin| sample.pin(pin));
        sample.add_tethers();
        let time = width.sqrt();
        let steps = 0..(8.0 * time * RATE as f32) as u32;
        let offsets = steps.map(|_| {
            sample.step();
            f64::from(centre(&sample).z - sample.at(0).z)
        });
        let signal: Vec<f64> = offsets.collect();
        period(&signal, 1.0 / f64::from(RATE)) / f64::from(time)
    });
    let drape = compare("depth of a drape over a ball", 14.0, |width| {
        let mut sample = similar_sheet(width);
        let friction = Friction {
            static_coefficient: 0.5,
            kinetic_coefficient: 0.4,
        };
        let radius = 0.25 * width;
        let below = Pose::from_translation(Vec3::NEG_Y * 1.2 * radius);
        sample.colliders = vec![Collider::fixed(Shape::Sphere { radius }, below, friction)];
        sample.run(6.0 * width.sqrt());
        let top = below.translation.y + radius;
        f64::from((top - centre(&sample).y) / width)
    });
    [swing, drape].concat()
}
