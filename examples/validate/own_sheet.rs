//! Sheets with self-collision, and a wrung strip.

use crate::{
    crossings::crossings,
    sample::{Sample, as_the_plugin},
};
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    cloth::{Cloth, SelfCollision},
    mesh::{ClothGrid, TriangleMesh},
    solver::{self, PinTarget},
};
use std::f32::consts::FRAC_PI_3;

/// Sheet with the plugin's defaults and self-collision.
pub(crate) struct OwnSheet {
    pub(crate) sample: Sample,
    pub(crate) rest: Vec<Vec3>,
    /// Self-collision distance, m.
    pub(crate) distance: f32,
    mode: SelfCollision,
}

impl OwnSheet {
    pub(crate) fn new(grid: ClothGrid, mode: SelfCollision) -> Self {
        let cloth = Cloth::default();
        let mesh = TriangleMesh::read(&grid.into()).unwrap();
        let mut sample = Sample::of_mesh(&mesh, cloth.fabric.areal_density);
        sample.settings = as_the_plugin(&cloth);
        let rest: Vec<Vec3> = sample.particles.position.iter().collect();
        let spacing = solver::rest_spacing(&rest, &sample.triangles.indices, Mat3::IDENTITY);
        Self {
            distance: solver::self_distance(sample.settings.surface.thickness, spacing),
            rest,
            sample,
            mode,
        }
    }

    pub(crate) fn step(&mut self) {
        let Self { sample, mode, .. } = self;
        // A copy shares its memory.
        let triangles = sample.triangles.indices.clone();
        let settings = solver::SelfCollisionSettings {
            distance: self.distance,
            friction: sample.settings.surface.friction,
            rest: &self.rest,
            to_world: Mat3::IDENTITY,
            triangles: &triangles,
        };
        let collides = *mode != SelfCollision::Off;
        sample.step_with_self_collision(collides.then_some(settings));
    }

    pub(crate) fn at(&self) -> Vec<Vec3> {
        let count = self.rest.len();
        (0..count).map(|i| self.sample.at(i)).collect()
    }

    /// Returns the number of intersecting pairs of triangles.
    pub(crate) fn crossings(&self) -> usize {
        crossings(&self.at(), &self.sample.triangles.indices.to_vec())
    }
}

/// Size of the wrung strip, m, and its numbers of particles.
///
/// The wrung strip becomes a rope, into which it must fit. After 10 s its edges wind around the axis by 21 rad,
/// with half of the initial distance between the ends; without stretching, they are then at most 41 mm from the
/// axis. Particles 10 mm apart fill a rope of 32 mm in the densest packing. For a strip 0.3 m wide it would be 46
/// mm, which is impossible.
const STRIP: [f32; 2] = [1.0, 0.15];
const SIDES: [u32; 2] = [97, 15];

/// Approach of the ends per second, as a fraction of the length of the strip.
const APPROACH: f32 = 0.05;

/// Wrings a strip: its ends turn in opposite directions by π/3 rad/s for 10 s, and approach each other, as wrung
/// cloth gets shorter. Returns the number of intersecting pairs of triangles after 2, 4, 6, 8 and 10 s.
pub(crate) fn wrung(mode: SelfCollision) -> Vec<usize> {
    let [n, across] = SIDES;
    let mut sheet = OwnSheet::new(ClothGrid::new(STRIP[0], STRIP[1], n, across), mode);
    let ends: Vec<u32> = (0..across * n)
        .filter(|i| [0, n - 1].contains(&(i % n)))
        .collect();
    for &i in &ends {
        sheet.sample.particles.inverse_mass[i as usize] = 0.0;
    }
    let mut crossings = Vec::new();
    for step in 1..=600 {
        let time = step as f32 / 60.0;
        let pin = |&particle: &u32| {
            let rest = sheet.rest[particle as usize];
            let end = rest.x.signum();
            let turned = Quat::from_rotation_x(end * FRAC_PI_3 * time) * rest.with_x(0.0);
            PinTarget {
                particle,
                position: turned + Vec3::X * rest.x * (1.0 - APPROACH * time),
            }
        };
        sheet.sample.pins = ends.iter().map(pin).collect();
        sheet.step();
        if step % 120 == 0 {
            crossings.push(sheet.crossings());
        }
    }
    crossings
}
