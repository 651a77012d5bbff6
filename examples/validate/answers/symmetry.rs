//! Flat cloth leaves its plane where it is compressed, and gains no energy by that.

use super::Row;
use crate::{
    contact_scenes::{crumple, stack},
    drape::Drape,
    own_sheet::OwnSheet,
    supports::Support,
};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::{Cloth, Fabric, SelfCollision},
    mesh::{ClothGrid, Topology, TriangleMesh},
    solver::{
        Collider, Contacts, Friction, Plane, Pose, Shape, measure_stretch,
        topology::{Blade, EditTarget, TopologyEdit},
    },
};

/// Particles along each side of a sheet of 0.6 m.
const SIDE: u32 = 25;
const SIZE: f32 = 0.6;
/// Steps of the fall of an upright sheet, and of the two seconds in which it lies down.
const FALL: u32 = 8;
const TWO_SECONDS: u32 = 120;

/// Fabrics by name, each with and without self-collision.
fn cloths() -> impl Iterator<Item = (String, Cloth)> {
    let plain = ("default", Fabric::default());
    let fabrics = [plain].into_iter().chain(Fabric::PRESETS.iter().copied());
    fabrics.flat_map(|(name, fabric)| {
        [SelfCollision::Off, SelfCollision::On].map(|self_collision| {
            let cloth = Cloth {
                fabric,
                self_collision,
                ..Cloth::default()
            };
            let with = match self_collision {
                SelfCollision::Off => "",
                SelfCollision::On => " with self-collision",
            };
            (format!("{name}{with}"), cloth)
        })
    })
}

/// Creates a sheet of a fabric.
fn sheet(grid: ClothGrid, cloth: &Cloth) -> OwnSheet {
    let mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
    OwnSheet::of_topology(&Topology::new(&mesh).expect("a grid has triangles"), cloth)
}

/// Returns an upright sheet 0.1 m above a floor at this height, m. It is exactly flat.
fn upright(cloth: &Cloth, floor: f32) -> OwnSheet {
    let mut sheet = sheet(ClothGrid::vertical(SIZE, SIZE, SIDE, SIDE), cloth);
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::Y * floor,
    };
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    sheet.sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, friction)];
    sheet
}

/// Returns the highest of some particles, m.
fn height(sheet: &OwnSheet, particles: impl Iterator<Item = usize>) -> f64 {
    let heights = particles.map(|i| f64::from(sheet.sample.at(i).y));
    heights.fold(f64::NEG_INFINITY, f64::max)
}

/// Takes some steps. Returns the largest gain of energy since an earlier moment, per cent of what the cloth had
/// above the floor at first.
fn gain(sheet: &mut OwnSheet, steps: u32) -> f64 {
    let energy = |sheet: &OwnSheet| sheet.sample.energy().into_iter().sum::<f64>();
    let first = energy(sheet);
    let (mut least, mut gain) = (first, 0.0_f64);
    for _ in 0..steps {
        sheet.step();
        let now = energy(sheet);
        gain = gain.max(now - least);
        least = least.min(now);
    }
    100.0 * gain / first
}

pub(crate) fn buckling() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, cloth) in cloths() {
        let mut sheet = upright(&cloth, 0.0);
        sheet.deform(|rest| rest + Vec3::Y * 0.4);
        let gain = gain(&mut sheet, FALL + TWO_SECONDS);
        let count = sheet.rest.len();
        let label = format!("edge-on, {name}: height, m");
        rows.push(Row::at_most(label, 0.2, height(&sheet, 0..count)));
        // Others store energy where they are stretched or bent, and return it.
        let fabric = &cloth.fabric;
        if fabric.warp_stiffness.is_none() && fabric.bending_stiffness < 2e-4 {
            let label = format!("edge-on, {name}: gain of energy, %");
            rows.push(Row::at_most(label, 1.0, gain));
        }
        let label = format!("pushed together, {name}: mean strain, %");
        rows.push(Row::at_most(label, 2.0, strain_pushed_together(&cloth)));
        let label = format!("cut off, {name}: height, m");
        rows.push(Row::at_most(label, 0.15, height_of_piece(&cloth)));
    }
    let label = "planar: distance from the plane, m";
    rows.push(Row::at_most(label, 0.0, out_of_plane()));
    rows
}

/// Returns the mean strain of a strip of 1 m whose ends are pushed together by 0.3 m, per cent: what buckles keeps its length.
fn strain_pushed_together(cloth: &Cloth) -> f64 {
    const COLUMNS: u32 = 51;
    let mut strip = sheet(ClothGrid::new(1.0, 0.1, COLUMNS, 6), cloth);
    strip.deform(|rest| rest);
    strip.sample.settings.gravity = Vec3::ZERO;
    let is_end = |i: &u32| [0, COLUMNS - 1].contains(&(i % COLUMNS));
    (0..COLUMNS * 6)
        .filter(is_end)
        .for_each(|i| strip.sample.pin(i));
    for step in 1..=TWO_SECONDS {
        let nearer = 0.3 * (step as f32 / 60.0).min(1.0);
        for pin in &mut strip.sample.pins {
            let rest = strip.rest[pin.particle as usize];
            pin.position = rest.with_x(rest.x * (1.0 - nearer));
        }
        strip.step();
    }
    let stretch = measure_stretch(&strip.sample.particles, &strip.sample.constraints);
    f64::from(stretch.mean) * 100.0
}

/// Returns the height of the lower part of a hanging sheet 2 s after it was cut off and has fallen, m.
fn height_of_piece(cloth: &Cloth) -> f64 {
    let mut sheet = upright(cloth, 0.0);
    sheet.deform(|rest| rest + Vec3::Y * 0.4);
    (0..SIDE).for_each(|i| sheet.sample.pin(i));
    (0..30).for_each(|_| sheet.step());
    let from = Vec3::new(-1.0, 0.45, 0.0);
    let mut edit = TopologyEdit::new(EditTarget {
        particles: &mut sheet.sample.particles,
        constraints: &mut sheet.sample.constraints,
        triangles: &mut sheet.sample.triangles,
        rest: &mut sheet.rest,
        edge_length: SIZE / (SIDE - 1) as f32,
    });
    edit.cut(
        &Blade::stroke(from, from.with_x(1.0), Vec3::Z),
        None,
        usize::MAX,
    );
    for (i, area) in edit.finish().areas {
        sheet.sample.particles.inverse_mass[i as usize] = 1.0 / (cloth.fabric.areal_density * area);
    }
    sheet.sample.contacts = Contacts::default();
    (0..FALL + TWO_SECONDS).for_each(|_| sheet.step());
    // Rows well below the cut.
    let [from, to] = [15, SIDE].map(|row| (row * SIDE) as usize);
    height(&sheet, from..to)
}

/// Returns how far an upright sheet leaves the plane to which it is constrained, m.
fn out_of_plane() -> f64 {
    let mut sheet = upright(&Cloth::default(), -0.4);
    sheet.sample.settings.plane = Some(Plane {
        point: Vec3::ZERO,
        normal: Vec3::Z,
    });
    let mut out = 0.0_f64;
    for _ in 0..TWO_SECONDS {
        sheet.step();
        let at = sheet.at().into_iter();
        out = at.fold(out, |out, at| out.max(f64::from(at.z.abs())));
    }
    out
}

/// Sheets that fall and then lie gain no energy.
pub(crate) fn energy() -> Vec<Row> {
    let drapes = [Support::Ball, Support::Box, Support::Heightfield];
    let drapes = drapes.map(|on| (on.to_string(), Drape::on(on).sheet()));
    let scenes = [
        ("crumpled", crumple(32, 0.0)),
        ("stacked", stack(3, 24, 0.0)),
    ];
    let scenes = scenes.map(|(name, scene)| (name.to_string(), scene.sheet));
    let all = drapes.into_iter().chain(scenes);
    all.map(|(name, mut sheet)| {
        let label = format!("{name}: gain of energy in 6 s, %");
        Row::at_most(label, 1.0, gain(&mut sheet, 360))
    })
    .collect()
}
