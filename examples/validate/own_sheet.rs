//! Sheets that collide with themselves, and one that is wrung.

use crate::{
    crossings::crossings,
    sample::{Sample, as_the_plugin},
};
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    Cloth, SelfCollision,
    mesh::{ClothGrid, TriangleMesh},
    solver::{self, PinTarget, SelfContacts},
};
use std::f32::consts::FRAC_PI_3;

/// A sheet at the plugin's defaults, and how it collides with itself.
pub(crate) struct OwnSheet {
    pub(crate) sample: Sample,
    pub(crate) rest: Vec<Vec3>,
    /// What its particles keep from each other, m.
    pub(crate) distance: f32,
    contacts: SelfContacts,
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
            contacts: SelfContacts::default(),
            sample,
            mode,
        }
    }

    pub(crate) fn step(&mut self) {
        let Self {
            sample,
            mode,
            contacts,
            ..
        } = self;
        // A copy shares its memory.
        let triangles = sample.triangles.indices.clone();
        let by = solver::SelfCollision {
            distance: self.distance,
            friction: sample.settings.surface.friction,
            rest: &self.rest,
            to_world: Mat3::IDENTITY,
            triangles: (*mode == SelfCollision::ParticlesAndEdges).then_some(&triangles),
        };
        let collides = *mode != SelfCollision::Off;
        sample.step_touching(collides.then_some((contacts, by)));
    }

    pub(crate) fn at(&self) -> Vec<Vec3> {
        let count = self.rest.len();
        (0..count).map(|i| self.sample.at(i)).collect()
    }

    /// How many pairs of its triangles are through each other.
    pub(crate) fn crossings(&self) -> usize {
        crossings(&self.at(), &self.sample.triangles.indices.to_vec())
    }
}

/// Of the strip that is wrung, m, and its particles.
///
/// What is wrung becomes a rope, and must fit into it. After 10 s its borders wind round the axis by 21 rad;
/// not to be stretched they may be no farther from it than 41 mm, when the ends are half as far apart as at
/// first. All particles, which keep 10 mm, fill a rope of 32 mm if they lie as densely as can be. Of a strip
/// of 0.3 m it would be 46 mm: none could do that.
const STRIP: [f32; 2] = [1.0, 0.15];
const SIDES: [u32; 2] = [97, 15];

/// By how much of the length of the strip its ends come nearer in a second.
const SHORTER: f32 = 0.05;

/// Both ends of a strip turn against each other by π/3 rad/s for 10 s, and come nearer to each other,
/// for what is wrung gets shorter. How many pairs of triangles are through each other after 2, 4, 6, 8 and
/// 10 s.
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
                position: turned + Vec3::X * rest.x * (1.0 - SHORTER * time),
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
