//! Shape of a built cloth: its topology, its surface or segments, and its state once torn.

use crate::{
    cloth::{Cloth, fabric::Fabric, fingerprint::BuildFingerprint},
    mesh::{Topology, topology::NO_PARTICLE},
    solver::{ConstraintGraph, RopeSegments, SoaVec3, Triangles},
};
use bevy::{camera::primitives::Aabb, prelude::*};
use std::sync::Arc;

/// Shape of a built cloth. Written when the cloth is built, reset, torn or restored from a snapshot; a step only
/// reads it, as do rendering, grabs and proxies.
#[derive(Component, Clone, Debug, Default)]
#[component(clone_behavior = Ignore)]
pub(crate) struct ClothShape {
    /// Rest shape of the whole cloth, in mesh space.
    pub(crate) topology: Topology,
    /// Fingerprint of the mesh and rest shape it was built from. Snapshots compare it.
    pub(crate) build_fingerprint: BuildFingerprint,
    pub(crate) triangles: Triangles,
    /// Segments of a rope, in place of triangles; `None` for a sheet.
    pub(crate) segments: Option<RopeSegments>,
    /// Area of each particle, m²; empty for an untorn sheet, where it follows from the triangles.
    pub(crate) area: Vec<f32>,
    /// State that tears and cuts changed; `None` while the cloth is whole.
    pub(crate) torn: Option<Box<TornShape>>,
    /// Rotation and scale from mesh space to world axes when the cloth was built or reset.
    pub(crate) to_world: Mat3,
    /// Diagonal of the box around the cloth at rest in the world, m.
    pub(crate) size: f32,
}

/// Additional state of a cloth that was torn or cut.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct TornShape {
    /// Rest position of each particle, in mesh space. `topology` stays that of the whole cloth.
    pub(crate) rest: Vec<Vec3>,
    /// For each added particle: the particle of the whole cloth of which it is a copy, or [`NO_PARTICLE`].
    pub(crate) source_particle: Vec<u32>,
    /// Constraints of the whole cloth, in their order. Shared with snapshots.
    #[cfg_attr(feature = "serialize", serde(with = "crate::cloth::arc_serde"))]
    pub(crate) intact_constraints: Arc<ConstraintGraph>,
}

impl TornShape {
    /// Creates the state of a cloth with these rest positions and constraints, which is torn only after that.
    pub(crate) fn new(rest: Vec<Vec3>, intact_constraints: ConstraintGraph) -> Box<Self> {
        Box::new(Self {
            rest,
            source_particle: Vec::new(),
            intact_constraints: Arc::new(intact_constraints),
        })
    }
}

/// Size up to which the defaults of a cloth decrease with its size, m.
const USUAL_SIZE: f32 = 0.5;

impl ClothShape {
    /// Sets rotation and scale from mesh space to world axes, and the size that follows from them.
    pub(crate) fn set_frame(&mut self, to_world: Mat3) {
        let bounds = Aabb::enclosing(&self.topology.positions).unwrap_or_default();
        let Mat3 {
            x_axis,
            y_axis,
            z_axis,
        } = to_world;
        let scale = Vec3::from([x_axis, y_axis, z_axis].map(Vec3::length));
        self.to_world = to_world;
        self.size = (2.0 * Vec3::from(bounds.half_extents) * scale).length();
    }

    /// Returns the size as a fraction of that from which on the defaults are the same.
    fn relative_size(&self) -> f32 {
        (self.size / USUAL_SIZE).min(1.0)
    }

    /// Returns the distance that cloth of this fabric keeps from colliders, m.
    pub(crate) fn thickness(&self, fabric: &Fabric) -> f32 {
        let default = Fabric::MAX_DEFAULT_THICKNESS * self.relative_size();
        fabric.thickness.unwrap_or(default)
    }

    /// Returns the speed below which the cloth falls asleep, m/s.
    pub(crate) fn sleep_speed(&self, cloth: &Cloth) -> f32 {
        cloth.sleep_speed * self.relative_size()
    }

    /// Returns the rest positions of the particles, in mesh space.
    pub(crate) fn rest(&self) -> &[Vec3] {
        match &self.torn {
            Some(torn) => &torn.rest,
            None => &self.topology.positions,
        }
    }

    /// Returns the particle of the whole cloth of which this one is a copy, or itself; [`NO_PARTICLE`] for one
    /// created by a cut.
    pub(crate) fn source_particle(&self, particle: u32) -> u32 {
        let added = (particle as usize).checked_sub(self.topology.positions.len());
        match (added, &self.torn) {
            (Some(added), Some(torn)) => torn
                .source_particle
                .get(added)
                .copied()
                .unwrap_or(NO_PARTICLE),
            _ => particle,
        }
    }

    /// Recomputes all areas of an untorn cloth from the rest shape.
    pub(crate) fn set_areas(&mut self, rest: &SoaVec3) {
        self.triangles.set_rest(rest);
        self.area = match &self.segments {
            Some(segments) => segments.particle_areas(rest.len()),
            None => Vec::new(),
        };
    }

    /// Returns the distance of its surface from its particles, m: the radius of a rope, else 0.
    pub(crate) fn radius(&self) -> f32 {
        (self.segments.as_ref()).map_or(0.0, |segments| 0.5 * segments.diameter)
    }
}
