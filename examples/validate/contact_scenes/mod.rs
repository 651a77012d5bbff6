//! Scenes in which cloth touches itself.

mod figure;
mod knot;

use crate::{crossings::crossings, own_sheet::OwnSheet, passages::Features};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::{Cloth, SelfCollision},
    mesh::{ClothGrid, Topology, TriangleMesh},
    solver::{Collider, Friction, PinTarget, Pose, Shape},
};
use std::f32::consts::FRAC_PI_3;
pub(crate) use {figure::cape, knot::knot};

/// Steps per second.
const RATE: f32 = 60.0;
const FRICTION: Friction = Friction {
    static_coefficient: 0.5,
    kinetic_coefficient: 0.4,
};

/// Cloth, and what moves its pins and colliders.
pub(crate) struct ContactScene {
    pub(crate) sheet: OwnSheet,
    /// Called before each step, with the time at its end, s. Here, the targets of pins are positions in the world.
    drive: Box<dyn FnMut(&mut OwnSheet, f32)>,
    features: Features,
    /// Number of steps taken.
    pub(crate) step: u32,
}

/// Crossings found in some steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Crossings {
    /// Particles that passed through triangles, and edges through edges.
    pub(crate) passages: usize,
    /// Largest number of intersecting pairs of triangles at the end of a step.
    pub(crate) intersections: usize,
    /// First step with either.
    pub(crate) first: Option<u32>,
}

impl ContactScene {
    fn new(sheet: OwnSheet, drive: impl FnMut(&mut OwnSheet, f32) + 'static) -> Self {
        assert_eq!(sheet.crossings(), 0, "it starts tangled");
        Self {
            features: Features::new(sheet.triangles()),
            drive: Box::new(drive),
            sheet,
            step: 0,
        }
    }

    /// Creates a scene in which nothing but the cloth moves.
    fn still(sheet: OwnSheet) -> Self {
        Self::new(sheet, |_, _| {})
    }

    /// Takes some steps, and searches each for crossings.
    pub(crate) fn run(&mut self, steps: u32) -> Crossings {
        let mut found = Crossings::default();
        for _ in 0..steps {
            let mut ways = vec![self.sheet.at()];
            self.take_step();
            ways.append(&mut self.sheet.sample.waypoints);
            let after = self.sheet.at();
            ways.push(after.clone());
            let passages = ways.windows(2);
            let passages = passages.map(|way| self.features.passages([&way[0], &way[1]]));
            let passages: usize = passages.sum();
            let intersections = crossings(&after, self.features.triangles());
            found.passages += passages;
            found.intersections = found.intersections.max(intersections);
            if passages + intersections > 0 {
                found.first.get_or_insert(self.step);
            }
        }
        found
    }

    /// Takes a step.
    pub(crate) fn take_step(&mut self) {
        self.step += 1;
        (self.drive)(&mut self.sheet, self.step as f32 / RATE);
        let origin = self.sheet.sample.particles.origin;
        let move_pins = |sheet: &mut OwnSheet, by: Vec3| {
            let pins = &mut sheet.sample.pins;
            pins.iter_mut().for_each(|pin| pin.position += by);
        };
        move_pins(&mut self.sheet, -origin);
        self.sheet.step();
        move_pins(&mut self.sheet, origin);
    }
}

/// Creates a sheet with self-collision.
fn sheet(grid: ClothGrid) -> OwnSheet {
    OwnSheet::new(grid, SelfCollision::On)
}

/// Returns an unrotated pose.
fn at(translation: Vec3) -> Pose {
    Pose {
        rotation: Quat::IDENTITY,
        translation,
    }
}

fn floor() -> Collider {
    Collider::fixed(Shape::HalfSpace, at(Vec3::ZERO), FRICTION)
}

fn ball(radius: f32, centre: Vec3) -> Collider {
    Collider::fixed(Shape::Sphere { radius }, at(centre), FRICTION)
}

/// Moves a collider to a pose in the coming step.
fn move_to(collider: &mut Collider, pose: Pose) {
    collider.start = collider.end;
    collider.end = pose;
}

/// Sets the velocity of all particles, m/s.
fn throw(sheet: &mut OwnSheet, velocity: impl Fn(Vec3) -> Vec3) {
    for i in 0..sheet.rest.len() {
        let velocity = velocity(sheet.rest[i]);
        sheet.sample.particles.set_velocity(i, velocity);
    }
}

/// Creates `count` sheets of `side`² particles, 1 m wide, one above the other, each turned a little against the one below.
/// They are one cloth to the solver.
fn stacked(count: u32, side: u32, gap: f32, height: f32) -> OwnSheet {
    let one = TriangleMesh::read(&ClothGrid::new(1.0, 1.0, side, side).into()).unwrap();
    let mut mesh = TriangleMesh::default();
    for k in 0..count {
        let (first, up) = (mesh.positions.len() as u32, gap * k as f32);
        mesh.positions
            .extend(one.positions.iter().map(|at| at + Vec3::Y * up));
        mesh.triangles.extend(
            one.triangles
                .iter()
                .map(|corners| corners.map(|i| i + first)),
        );
    }
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..Cloth::default()
    };
    let mut sheets = OwnSheet::of_topology(&Topology::new(&mesh).unwrap(), &cloth);
    sheets.deform(|rest| {
        let layer = (rest.y / gap).round();
        Quat::from_rotation_y(0.1 * layer) * rest + Vec3::new(0.01 * layer, height, 0.0)
    });
    sheets
}

/// A strip whose ends turn in opposite directions by π/3 rad/s for 10 s, and approach each other, as wrung cloth gets
/// shorter.
///
/// It becomes a rope, into which it must fit. After 10 s its edges wind around the axis by 21 rad, with half of the initial
/// distance between the ends; without stretching, they are then at most 41 mm from the axis. Particles 10 mm apart fill a
/// rope of 32 mm in the densest packing. For a strip 0.3 m wide it would be 46 mm, which is impossible.
pub(crate) fn twist(mode: SelfCollision) -> ContactScene {
    const COLUMNS: u32 = 97;
    /// Approach of the ends per second, as a fraction of the length of the strip.
    const APPROACH: f32 = 0.05;
    let mut strip = OwnSheet::new(ClothGrid::new(1.0, 0.15, COLUMNS, 15), mode);
    let is_end = |i: &u32| [0, COLUMNS - 1].contains(&(i % COLUMNS));
    (0..COLUMNS * 15)
        .filter(is_end)
        .for_each(|i| strip.sample.pin(i));
    ContactScene::new(strip, |strip, time| {
        let time = time.min(10.0);
        for PinTarget { particle, position } in &mut strip.sample.pins {
            let rest = strip.rest[*particle as usize];
            let end = rest.x.signum();
            let turned = Quat::from_rotation_x(end * FRAC_PI_3 * time) * rest.with_x(0.0);
            *position = turned + Vec3::X * rest.x * (1.0 - APPROACH * time);
        }
    })
}

/// A sheet that is thrown onto a floor at this speed, m/s, edge first.
pub(crate) fn crumple(side: u32, speed: f32) -> ContactScene {
    let mut sheet = sheet(ClothGrid::vertical(1.0, 1.0, side, side));
    let tilt = Quat::from_rotation_x(0.2) * Quat::from_rotation_z(0.3);
    sheet.deform(|rest| tilt * rest + Vec3::Y * 0.8);
    throw(&mut sheet, |_| Vec3::NEG_Y * speed);
    sheet.sample.colliders = vec![floor()];
    ContactScene::still(sheet)
}

/// Sheets that fall on a ball on a floor, at this speed at first, m/s.
pub(crate) fn stack(count: u32, side: u32, speed: f32) -> ContactScene {
    let mut sheets = stacked(count, side, 2.0 / (side - 1) as f32, 0.6);
    throw(&mut sheets, |_| Vec3::NEG_Y * speed);
    sheets.sample.colliders = vec![ball(0.25, Vec3::new(0.02, 0.25, 0.01)), floor()];
    ContactScene::still(sheets)
}

/// Sheets that fall on a floor.
pub(crate) fn layers(count: u32, side: u32) -> ContactScene {
    let mut sheets = stacked(count, side, 2.0 / (side - 1) as f32, 0.05);
    sheets.sample.colliders = vec![floor()];
    ContactScene::still(sheets)
}

/// Sheets on a plane inclined towards +x by this angle, each turned a little against the one below.
pub(crate) fn layers_on_slope(count: u32, degrees: f32, friction: Friction) -> OwnSheet {
    const SIDE: u32 = 17;
    let spacing = 1.0 / (SIDE - 1) as f32;
    // At rest far enough from each other that they may touch.
    let gap = 4.0 * spacing;
    let mut sheets = stacked(count, SIDE, gap, 0.0);
    let slope = Quat::from_rotation_z(-degrees.to_radians());
    sheets.deform(|rest| {
        let layer = (rest.y / gap).round();
        let turned = Quat::from_rotation_y(0.05 * layer) * rest.with_y(0.0);
        slope * (turned + Vec3::Y * (0.01 + 0.9 * spacing * layer))
    });
    let pose = Pose {
        rotation: slope,
        translation: Vec3::ZERO,
    };
    let settings = &mut sheets.sample.settings;
    settings.surface.friction = friction;
    (settings.damping, settings.air.density) = (0.0, 0.0);
    sheets.sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, friction)];
    sheets
}

/// Two sheets that are thrown at each other, at this relative speed, m/s.
pub(crate) fn collision(side: u32, speed: f32) -> ContactScene {
    let mut sheets = stacked(2, side, 0.5, 0.0);
    sheets.sample.settings.gravity = Vec3::ZERO;
    throw(&mut sheets, |rest| {
        Vec3::NEG_Y * (rest.y - 0.25).signum() * 0.5 * speed
    });
    ContactScene::still(sheets)
}

/// A hanging sheet whose upper edge is shaken across it, by 0.5 m to both sides, with this largest speed, m/s.
pub(crate) fn shaken(side: u32, speed: f32) -> ContactScene {
    const AMPLITUDE: f32 = 0.5;
    let mut sheet = sheet(ClothGrid::vertical(1.0, 1.0, side, side));
    (0..side).for_each(|i| sheet.sample.pin(i));
    ContactScene::new(sheet, move |sheet, time| {
        let z = AMPLITUDE * (speed / AMPLITUDE * time).sin();
        for pin in &mut sheet.sample.pins {
            pin.position = sheet.rest[pin.particle as usize] + Vec3::Z * z;
        }
    })
}

/// A folded sheet on the lower one of two boxes, pressed by the upper one down to a gap into which its layers just fit, and
/// released again.
pub(crate) fn press(side: u32, fold: fn(Vec3) -> Vec3) -> ContactScene {
    const HALF_SIZE: Vec3 = Vec3::new(0.8, 0.1, 0.8);
    let shape = Shape::Cuboid {
        half_size: HALF_SIZE,
    };
    let mut sheet = sheet(ClothGrid::new(1.0, 1.0, side, side));
    sheet.deform(fold);
    let lowest = sheet.distance + 2.0 * sheet.sample.settings.surface.thickness;
    let plates = [-HALF_SIZE.y, 0.75 + HALF_SIZE.y + lowest]
        .map(|y| Collider::fixed(shape, at(Vec3::Y * y), FRICTION));
    sheet.sample.colliders = plates.into();
    ContactScene::new(sheet, move |sheet, time| {
        // Once in eight seconds: down for three, and up after two more.
        let away = (time % 8.0 - 4.0).abs().max(1.0) - 1.0;
        let pose = at(Vec3::Y * (HALF_SIZE.y + lowest + 0.25 * away));
        move_to(&mut sheet.sample.colliders[1], pose);
    })
}

/// A cloth over a table, of which one edge, between the folds at the corners, is pulled away at this speed, m/s, after 3 s,
/// for 1.6 m.
pub(crate) fn tablecloth(columns: u32, speed: f32) -> ContactScene {
    const TOP: Vec3 = Vec3::new(0.45, 0.02, 0.35);
    const HEIGHT: f32 = 0.6;
    let rows = columns * 7 / 8;
    let mut cloth = sheet(ClothGrid::new(1.6, 1.4, columns, rows));
    cloth.deform(|rest| rest + Vec3::Y * (HEIGHT + 0.03));
    let polished = Friction {
        static_coefficient: 0.15,
        kinetic_coefficient: 0.1,
    };
    let top = at(Vec3::Y * (HEIGHT - TOP.y));
    let top = Collider::fixed(Shape::Cuboid { half_size: TOP }, top, polished);
    cloth.sample.colliders = vec![top, floor()];
    let mut from: Vec<Vec3> = Vec::new();
    ContactScene::new(cloth, move |cloth, time| {
        if time < 3.0 {
            return;
        }
        let sample = &mut cloth.sample;
        if from.is_empty() {
            let last = (1..=rows).map(|row| row * columns - 1);
            let is_flat = |i: &u32| cloth.rest[*i as usize].z.abs() < 0.8 * TOP.z;
            last.filter(is_flat).for_each(|i| sample.pin(i));
            // In the world.
            for pin in &mut sample.pins {
                pin.position = sample.particles.world_position(pin.particle as usize);
            }
            from = sample.pins.iter().map(|pin| pin.position).collect();
        }
        let way = ((time - 3.0) * speed).min(1.6);
        for (pin, from) in sample.pins.iter_mut().zip(&from) {
            // Up to the height of the table.
            let up = (HEIGHT + 0.02 - from.y) * (2.0 * way).min(1.0);
            pin.position = from + Vec3::new(way, up, 0.0);
        }
    })
}

/// Returns the kinetic energy that remains of a frictionless slide over another sheet by 0.5 m at 1 m/s, per cent. With
/// gravity, both lie on a frictionless floor.
pub(crate) fn slide(gravity: f32) -> f64 {
    const SIDE: u32 = 33;
    let mut sheets = stacked(2, SIDE, 1.6 / (SIDE - 1) as f32, 0.0);
    let distance = sheets.distance;
    let above = 1.6 / (SIDE - 1) as f32 - distance;
    sheets.deform(|rest| {
        let is_upper = rest.y > 0.0;
        let turned = Quat::from_rotation_y(if is_upper { 0.1 } else { 0.0 }) * rest;
        turned - Vec3::Y * if is_upper { above } else { 0.0 }
    });
    let settings = &mut sheets.sample.settings;
    (settings.gravity, settings.damping) = (Vec3::NEG_Y * gravity, 0.0);
    settings.air.density = 0.0;
    settings.surface.friction = Friction::default();
    settings.internal_friction = 0.0;
    if gravity > 0.0 {
        let slippery = Friction::default();
        sheets.sample.colliders = vec![Collider::fixed(
            Shape::HalfSpace,
            at(Vec3::NEG_Y * 0.01),
            slippery,
        )];
        (0..60).for_each(|_| sheets.step());
    }
    throw(&mut sheets, |rest| {
        Vec3::X * if rest.y > 0.0 { 1.0 } else { 0.0 }
    });
    let [before, _] = sheets.sample.energy();
    (0..30).for_each(|_| sheets.step());
    let [after, _] = sheets.sample.energy();
    100.0 * after / before
}
