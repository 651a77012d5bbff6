//! Rest and length: sheets that fall on colliders come to rest there, without stretched links.

use super::{Experiment, Row};
use crate::{
    drape::{Drape, DrapeFigures},
    mesh_layout::MeshLayout,
    supports::Support,
};
use bevy_drape::cloth::{Fabric, SelfCollision};

/// Duration of a simulation, s: five after the fall, and half a second of measurement.
const SECONDS: f32 = 6.5;

/// Some sheets of the whole list, each setting at least once.
pub(crate) fn sample() -> Vec<Row> {
    let mut drapes: Vec<Drape> = Support::ALL.map(Drape::on).into();
    for (k, on) in Support::ALL.into_iter().enumerate() {
        let drape = Drape::on(on);
        let small = Drape { side: 32, ..drape };
        drapes.push(with_self_collision(small));
        if on == Support::Box {
            drapes.push(with_self_collision(drape));
        }
        if on == Support::Capsule {
            drapes.push(of_layout(drape, MeshLayout::Irregular));
        }
        drapes.push(match k {
            0 => Drape { side: 128, ..drape },
            1 => with_friction(drape, 0.2),
            2 => with_friction(drape, 0.8),
            3 => of_layout(drape, MeshLayout::Shuffled),
            4 => Drape {
                substeps: 16,
                ..small
            },
            5 => Drape {
                substeps: 4,
                ..drape
            },
            _ => Drape {
                fabric: Fabric::denim(),
                ..drape
            },
        });
    }
    rows(drapes)
}

/// Creates an experiment for each support, with all sheets.
macro_rules! full {
    ($($name:literal: $on:expr,)*) => {
        &[$(Experiment {
            name: concat!("all drapes, ", $name),
            source: "as the drapes above",
            run: || rows(all_on($on)),
        }),*]
    };
}

/// The whole list.
pub(crate) const FULL: &[Experiment] = full! {
    "ball": Support::Ball,
    "box": Support::Box,
    "capsule": Support::Capsule,
    "balls": Support::Balls,
    "cone": Support::Cone,
    "mesh": Support::Mesh,
    "heightfield": Support::Heightfield,
};

/// Returns sheets of all sizes and layouts, with and without self-collision; and each other setting by itself.
fn all_on(on: Support) -> Vec<Drape> {
    let mut drapes = Vec::new();
    for side in [32, 64, 128, 256] {
        let drape = Drape {
            side,
            ..Drape::on(on)
        };
        let shuffled = of_layout(drape, MeshLayout::Shuffled);
        drapes.extend(each_collision([drape, shuffled]));
        if [64, 128].contains(&side) {
            let irregular = of_layout(drape, MeshLayout::Irregular);
            let substeps = [4, 16].map(|substeps| Drape { substeps, ..drape });
            let friction = [0.2, 0.8].map(|friction| with_friction(drape, friction));
            let presets = Fabric::PRESETS.iter();
            let fabrics = presets.map(|&(_, fabric)| Drape { fabric, ..drape });
            let variations = substeps.into_iter().chain(friction).chain(fabrics);
            let variations = variations.chain([irregular]);
            drapes.extend(each_collision(variations));
        }
    }
    drapes
}

/// Returns each sheet without and with self-collision.
fn each_collision(drapes: impl IntoIterator<Item = Drape>) -> impl Iterator<Item = Drape> {
    let drapes = drapes.into_iter();
    drapes.flat_map(|drape| [drape, with_self_collision(drape)])
}

fn with_self_collision(drape: Drape) -> Drape {
    Drape {
        self_collision: SelfCollision::On,
        ..drape
    }
}

/// Sets the friction of both surfaces.
fn with_friction(drape: Drape, friction: f32) -> Drape {
    let fabric = Fabric {
        static_friction: friction,
        kinetic_friction: 0.8 * friction,
        ..drape.fabric
    };
    Drape {
        friction,
        fabric,
        ..drape
    }
}

fn of_layout(drape: Drape, layout: MeshLayout) -> Drape {
    Drape { layout, ..drape }
}

/// Simulates sheets, and compares them with the goals.
fn rows(drapes: Vec<Drape>) -> Vec<Row> {
    drapes.iter().flat_map(rows_of).collect()
}

fn rows_of(drape: &Drape) -> Vec<Row> {
    let DrapeFigures {
        fastest,
        quantile,
        moved,
        worst,
        peak,
        asleep,
        ..
    } = drape.run(SECONDS);
    let row = |what: &str, value: f32, goal: f64, so_far: f64| {
        let label = format!("{drape}: {what}");
        Row::at_most(label, goal, f64::from(value)).so_far(so_far)
    };
    let [slow, fast, far] = speeds_so_far(drape);
    let mut rows = vec![
        row("99.9 %, mm/s", quantile, 0.5, slow),
        row("fastest, mm/s", fastest, 5.0, fast),
        // Farther, and the cloth does not fall asleep.
        row("way in 0.5 s, mm", moved, 2.5, far),
    ];
    let fabric = &drape.fabric;
    if fabric.warp_stiffness.is_none() && fabric.weft_stiffness.is_none() {
        let goal = match drape.side {
            ..=64 => 2.0,
            65..=128 => 3.0,
            _ => 4.0,
        };
        let [lying, falling] = strains_so_far(drape);
        rows.push(row("worst link, %", worst, goal, lying));
        // Of cloth at rest.
        if moved <= 2.5 {
            let so_far = match (drape.layout, drape.side, drape.on) {
                (MeshLayout::Irregular, 65.., Support::Cone) => 30.0,
                (MeshLayout::Irregular, 65.., Support::Box) => 15.0,
                (MeshLayout::Irregular, 65.., _) => 5.0,
                (_, 65.., Support::Cone) => 15.0,
                _ => goal,
            };
            rows.push(row("worst link asleep, %", asleep, goal, so_far));
        }
        rows.push(row("worst link at impact, %", peak, 15.0, falling));
    }
    rows
}

/// Returns the speeds, mm/s, and the distance, mm, so far: a sheet that slides slowly off a box does not come to rest.
fn speeds_so_far(drape: &Drape) -> [f64; 3] {
    match (drape.on, drape.friction < 0.3) {
        (Support::Box, true) => [20.0, 100.0, 6.0],
        _ if drape.side > 64 => [6.0, 10.0, 4.0],
        _ => [4.0, 5.0, 2.5],
    }
}

/// Returns the strains of the worst links so far, per cent: edges of the cloth pass through those of boxes and the tips of
/// cones.
fn strains_so_far(drape: &Drape) -> [f64; 2] {
    let is_irregular = drape.layout == MeshLayout::Irregular;
    match (drape.on, drape.side) {
        (Support::Box | Support::Cone, ..=64) if is_irregular => [60.0, 100.0],
        (_, ..=64) if is_irregular => [45.0, 100.0],
        (Support::Box | Support::Cone, _) if is_irregular => [200.0, 300.0],
        _ if is_irregular => [80.0, 180.0],
        (Support::Box, 33..=64) if drape.self_collision == SelfCollision::On => [5.0, 20.0],
        (Support::Box, 33..=64) => [20.0, 30.0],
        (Support::Box, 65..) => [150.0, 250.0],
        (Support::Cone, ..=32) => [15.0, 25.0],
        (Support::Cone, 33..=64) => [60.0, 100.0],
        (Support::Cone, 65..) => [300.0, 400.0],
        (_, ..=64) => [8.0, 20.0],
        (_, 65..) => [15.0, 60.0],
    }
}
