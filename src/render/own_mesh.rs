//! Mesh that follows a cloth: the mapping from its particles to the vertices.

use crate::solver::ParticleArrays;
use crate::{
    mesh::{MeshBinding, RenderFrame, Tube, tube::mean_scale},
    render::interpolation::RenderViewKey,
};
use bevy::{camera::primitives::Aabb, math::Vec3A, prelude::*};

/// Mapping from the particles to the mesh of a cloth.
#[derive(Component, Clone, Debug)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothMesh {
    pub(crate) binding: Binding,
    /// Particle positions in mesh space; unused for a mesh whose vertices are its particles.
    pub(crate) local: Vec<Vec3A>,
    /// Mesh taken out of the assets while it is written.
    pub(crate) own: Option<Mesh>,
    /// Key of the last write: an equal one is not written again.
    pub(crate) last_written: Option<RenderViewKey>,
    /// Corners of the box around the part of the mesh that is not cloth, if any.
    pub(crate) static_bounds: Option<[Vec3; 2]>,
    /// Index of the joint that represents the cloth in the skeleton of its mesh.
    pub(crate) joint: Option<u16>,
}

impl ClothMesh {
    /// Creates a mesh that has not been written yet, all of it cloth and without a skeleton.
    pub(crate) fn new(binding: Binding) -> Self {
        Self {
            binding,
            local: Vec::new(),
            own: None,
            last_written: None,
            static_bounds: None,
            joint: None,
        }
    }
}

/// Mapping from particles to vertices, by kind of mesh.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    /// The mesh from which the cloth was built.
    Mesh(MeshBinding),
    /// A tube along a rope.
    Tube(Tube),
}

impl Binding {
    /// Restores the untorn mesh, with this many particles.
    pub(crate) fn restore(&mut self, particles: usize, mesh: Option<&mut Mesh>) {
        match self {
            // Fails only if the mesh data is not accessible; then it is not rendered either.
            Self::Mesh(binding) => drop(binding.restore(mesh)),
            Self::Tube(tube) => {
                tube.restore(particles);
                if let Some(mesh) = mesh {
                    *mesh = tube.mesh();
                }
            }
        }
    }

    /// Writes the mesh. Returns its bounding box, if there is anything to draw. `positions` is a scratch buffer
    /// for particle positions in mesh space; `radius` is that of a rope in the world, m.
    pub(crate) fn write(
        &mut self,
        frame: &RenderFrame,
        particles: &ParticleArrays,
        positions: &mut Vec<Vec3A>,
        radius: f32,
        to_world: Mat3,
        mesh: &mut Mesh,
    ) -> Option<Aabb> {
        let (low, high) = match self {
            Self::Mesh(binding) => binding
                .write_interpolated(frame, particles, positions, mesh)
                .ok()??,
            Self::Tube(tube) => {
                // A rope keeps its radius in the world, as it keeps its length.
                tube.set_radius(radius / mean_scale(to_world));
                frame.transform(particles, positions);
                tube.write(positions, mesh).ok()?;
                tube.bounds()?
            }
        };
        Some(Aabb::from_min_max(low, high))
    }
}
