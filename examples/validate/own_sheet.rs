//! Sheets with self-collision.

use crate::{
    crossings::crossings,
    sample::{Sample, as_the_plugin},
};
use bevy::math::{Mat3, Vec3};
use bevy_drape::{
    cloth::{Cloth, SelfCollision},
    mesh::{ClothGrid, Topology, TriangleMesh},
    solver::{self, SoaVec3},
};

/// Sheet with the plugin's defaults and self-collision.
pub(crate) struct OwnSheet {
    pub(crate) sample: Sample,
    pub(crate) rest: Vec<Vec3>,
    /// Self-collision distance, m.
    pub(crate) distance: f32,
    pub(crate) mode: SelfCollision,
}

impl OwnSheet {
    /// Creates a sheet with the default settings.
    pub(crate) fn new(grid: ClothGrid, self_collision: SelfCollision) -> Self {
        let cloth = Cloth {
            self_collision,
            ..Cloth::default()
        };
        Self::of_grid(grid, &cloth)
    }

    /// Creates a sheet with the settings of the plugin.
    pub(crate) fn of_grid(grid: ClothGrid, cloth: &Cloth) -> Self {
        let mesh = TriangleMesh::read(&grid.into()).expect("a grid has triangles");
        let topology = Topology::new(&mesh).expect("the mesh of a grid is valid");
        Self::of_topology(&topology, cloth)
    }

    /// Creates cloth from the topology of a mesh, with the settings of the plugin.
    pub(crate) fn of_topology(topology: &Topology, cloth: &Cloth) -> Self {
        let mut sample = Sample::of_topology(topology, cloth.fabric.areal_density);
        sample.settings = as_the_plugin(cloth);
        let rest: Vec<Vec3> = sample.particles.position.iter().collect();
        let spacing = solver::rest_spacing(&rest, &sample.triangles.indices, Mat3::IDENTITY);
        Self {
            distance: solver::self_distance(sample.settings.surface.thickness, spacing),
            rest,
            sample,
            mode: cloth.self_collision,
        }
    }

    /// Moves each particle to a function of its rest position, without velocity, and breaks the symmetry as the plugin
    /// does.
    pub(crate) fn deform(&mut self, deformation: impl Fn(Vec3) -> Vec3) {
        let positions: SoaVec3 = self.rest.iter().map(|&rest| deformation(rest)).collect();
        let Sample {
            particles,
            triangles,
            ..
        } = &mut self.sample;
        particles.reset(Vec3::ZERO, &positions);
        solver::break_symmetry(particles, &triangles.indices);
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

    pub(crate) fn triangles(&self) -> Vec<[u32; 3]> {
        self.sample.triangles.indices.to_vec()
    }

    /// Returns the number of intersecting pairs of triangles.
    pub(crate) fn crossings(&self) -> usize {
        crossings(&self.at(), &self.triangles())
    }
}
