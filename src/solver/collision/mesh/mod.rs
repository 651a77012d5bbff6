//! Contacts with triangle surfaces: convex hulls, meshes, heightfields, skinned meshes.
//!
//! Particles are processed in groups of neighbours in memory. The triangles near each particle of a group are looked up
//! once and cached for as long as the particles stay in their queried boxes, in the frame of the surface: cloth
//! at rest looks nothing up. If the points of the surface move, the lists are made anew in each step. In each substep a
//! particle is tested against the few of them near its path: first it is stopped at the first triangle it crosses, then
//! pushed out of the nearest one. The cached lists are supersets of the triangles near, and of equally near triangles the
//! one with the lowest index counts, so results do not depend on when the lists were made.
//!
//! For a particle far from all triangles, the side of a closed surface is determined once as well, and remains
//! valid as long as the particle moves by less than its distance from the surface.
//!
//! | file | contents |
//! |---|---|
//! | `surface` | triangle surface |
//! | `deformation` | surfaces whose points move on their own |
//! | `surface_at` | surface at one moment: closest points, normals, signed distance |
//! | `surface_at_substep` | surface during one substep |
//! | `normals` | normals and pseudo-normals |
//! | `tree` | bounding volume hierarchy of the triangles |
//! | `surface_error` | reasons why there is no surface |
//! | `heightfield` | surfaces from heightfields |
//! | `triangle` | crossing of a path and a triangle |
//! | `group` | cache and loop over the groups of particles |
//! | `chunk_paths` | boxes around the paths of groups in a substep, for all surfaces |
//! | `group_sweep` | paths of the particles of a group in one substep |
//! | `near_triangles` | lists of the triangles near each particle |
//! | `swept_particle` | one particle against the triangles near it |

mod chunk_paths;
mod deformation;
mod group;
mod group_sweep;
mod heightfield;
mod near_triangles;
mod normals;
mod surface;
mod surface_at;
mod surface_at_substep;
mod surface_error;
mod swept_particle;
mod tree;
mod triangle;

use self::{
    chunk_paths::ChunkPaths,
    group::{ChunkCache, ChunkParticles},
    surface_at_substep::SurfaceAtSubstep,
};
use crate::solver::{
    collision::collider::{Collider, Friction, Surface},
    math::pose::Pose,
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::{ParticleArrays, inertia::FrameMotion},
    simd::soa::{Bounds, SoaVec3, bounds, union},
};
use bevy::math::{Mat3, Quat, Vec3};
use std::{collections::BTreeMap, sync::Arc};
pub use {surface::TriangleSurface, surface_error::SurfaceError};

/// Consecutive particles for which triangles are looked up together.
const GROUP: usize = 16;

/// Smallest distance that particles keep from triangles, m: rounding must not change the side on which they are.
const MIN_THICKNESS: f32 = 5e-4;

/// Triangle surface that cloth collides with.
#[derive(Clone, Debug)]
pub struct MeshCollider {
    /// Triangles, in the collider's own frame.
    pub surface: Arc<TriangleSurface>,
    /// Pose at the beginning of the fixed step.
    pub start: Pose,
    /// Pose at the end of the fixed step.
    pub end: Pose,
    /// Friction of the collider.
    pub friction: Friction,
}

impl MeshCollider {
    /// Creates a collider that does not move.
    #[cfg(test)]
    pub(crate) fn fixed(surface: Arc<TriangleSurface>, pose: Pose, friction: Friction) -> Self {
        Self {
            surface,
            start: pose,
            end: pose,
            friction,
        }
    }

    /// Removes a teleport: a collider that moved faster than 200 m/s rests at its end pose instead.
    /// `dt` is the length of the fixed step, s.
    pub(crate) fn without_teleport(self, dt: f32) -> Self {
        let start = self.bounding_collider().without_teleport(dt).start;
        Self { start, ..self }
    }

    /// Returns the collider as seen by a cloth that was moved rigidly at the beginning of the step, as
    /// [`Collider::relative_to`] does.
    pub(crate) fn relative_to(&self, motion: &FrameMotion) -> Self {
        Self {
            surface: self.surface.clone(),
            start: motion.remaining_start(self.start, self.end),
            ..*self
        }
    }

    /// Returns the collider at its current position, without velocity.
    pub(crate) fn stopped(&self) -> Self {
        let surface = match self.surface.max_movement() > 0.0 {
            true => Arc::new(self.surface.stopped()),
            false => self.surface.clone(),
        };
        Self {
            surface,
            start: self.end,
            ..*self
        }
    }

    /// Returns the id of the surface, unique in this run of the program, and a number that changes with its points.
    pub(crate) fn surface_version(&self) -> [u64; 2] {
        [self.surface.id, self.surface.revision()]
    }

    /// Returns the corners of a world-axis-aligned box around the collider over the fixed step.
    pub(crate) fn swept_bounds(&self) -> [Vec3; 2] {
        let poses = [self.start, self.end];
        let is_turned = poses.iter().any(|pose| pose.rotation != Quat::IDENTITY);
        if is_turned || self.surface.is_hollow() {
            return self.bounding_collider().swept_bounds();
        }
        let [low, high] = self.surface.bounds();
        let [from, to] = poses.map(|pose| pose.translation);
        [from.min(to) + low, from.max(to) + high]
    }

    /// Returns a box collider around the surface, with the same motion.
    pub(crate) fn bounding_collider(&self) -> Collider {
        Collider {
            shape: self.surface.bounding_cuboid(),
            start: self.start,
            end: self.end,
            friction: self.friction,
            hollow: self.surface.is_hollow(),
        }
    }
}

/// State of the contacts of a cloth with triangle surfaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeshContacts {
    /// Caches of the surfaces that were near in the last step, by their ids.
    surfaces: BTreeMap<u64, NearSurface>,
    /// Paths of the particles in this substep.
    paths: Vec<ChunkPaths>,
    /// Positions of the particles at the beginning of the substep, if any surface is near.
    start: SoaVec3,
    /// Bounding box of all particles at the end of the last substep.
    last: Option<Bounds>,
    /// Whether any surface is near in this substep.
    near: bool,
}

/// Cache of a surface near the cloth.
#[derive(Clone, Debug)]
struct NearSurface {
    /// Whether the surface was near in this step.
    used: bool,
    /// Revision of the surface for which the cache holds, and the movement of its points in that step, m.
    revision: u64,
    movement: f32,
    chunks: Vec<ChunkCache>,
}

impl NearSurface {
    fn new(surface: &TriangleSurface) -> Self {
        Self {
            used: true,
            revision: surface.revision(),
            movement: surface.max_movement(),
            chunks: Vec::new(),
        }
    }

    /// Uses the cache in this step, after adapting it to the movement of the surface.
    fn renew(&mut self, surface: &TriangleSurface) {
        self.used = true;
        let (revision, movement) = (surface.revision(), surface.max_movement());
        if self.revision != revision {
            let follows = self.revision + 1 == revision;
            for chunk in &mut self.chunks {
                match follows {
                    true => chunk.shrink(movement, self.movement),
                    false => chunk.clear(),
                }
            }
            (self.revision, self.movement) = (revision, movement);
        }
    }
}

impl MeshContacts {
    /// Begins a substep (`first` marks the first one of a step): finds the surfaces near the cloth, and if there
    /// are any, records the positions of the particles at the beginning of the substep. Call after everything else
    /// that moves particles, before displacements are updated. Each collider comes with the index of the
    /// substep and the number of substeps on its path.
    pub(crate) fn begin<'a>(
        &mut self,
        p: &ParticleArrays,
        colliders: impl IntoIterator<Item = (&'a MeshCollider, [u32; 2])>,
        surface: &Surface,
        first: bool,
    ) {
        self.near = false;
        let mut colliders = colliders.into_iter().peekable();
        if first {
            self.surfaces
                .retain(|_, near| std::mem::take(&mut near.used));
            self.last = None;
        }
        if colliders.peek().is_none() || p.is_empty() {
            return;
        }
        let now = bounds(p.position.planes());
        let last = (self.last).unwrap_or_else(|| bounds(p.previous.planes()));
        self.last = Some(now);
        // Margin for the push-out by other colliders, which hardly ever exceeds the cloth's own movement.
        let mut swept = union(&now, &last);
        for axis in 0..3 {
            let movement = (now[0][axis] - last[0][axis]).abs();
            let movement = movement.max((now[1][axis] - last[1][axis]).abs());
            let margin = movement + 2.0 * surface.thickness.max(MIN_THICKNESS);
            swept[0][axis] -= margin;
            swept[1][axis] += margin;
        }
        for (collider, during) in colliders {
            let at_substep = SurfaceAtSubstep::new(collider, surface, p.origin, during);
            if !at_substep.may_touch(&swept) {
                continue;
            }
            self.near = true;
            let surface = &collider.surface;
            let near = self.surfaces.entry(surface.id);
            let near = near.or_insert_with(|| NearSurface::new(surface));
            near.renew(surface);
        }
        if self.near {
            p.copy_substep_start(&mut self.start);
        }
    }

    /// Returns whether any surface is near in this substep.
    pub(crate) fn is_near(&self) -> bool {
        self.near
    }

    /// Stops particles at the surfaces and pushes them out. Displacements must be up to date, and
    /// [`begin`](Self::begin) must have been called in this substep. `supports` tells whether the cloth does not move
    /// these surfaces. Surfaces that were not near then are skipped.
    pub(crate) fn collide<'a>(
        &mut self,
        workers: &mut Workers,
        p: &mut ParticleArrays,
        colliders: impl IntoIterator<Item = (&'a MeshCollider, [u32; 2])>,
        surface: &Surface,
        supports: bool,
        first: bool,
    ) {
        if !self.near {
            return;
        }
        self.paths
            .resize_with(p.len().div_ceil(PARTICLES_PER_PART), ChunkPaths::default);
        self.paths.iter_mut().for_each(ChunkPaths::forget);
        for (collider, during) in colliders {
            let near = self.surfaces.get_mut(&collider.surface.id);
            let Some(near) = near.filter(|near| near.used) else {
                continue;
            };
            let mut at_substep = SurfaceAtSubstep::new(collider, surface, p.origin, during);
            if !supports {
                at_substep.collider = at_substep.collider.without_normals();
            }
            p.in_contact |= supports;
            near.chunks
                .resize_with(p.len().div_ceil(PARTICLES_PER_PART), ChunkCache::default);
            let moving = p
                .position
                .chunks_mut(PARTICLES_PER_PART)
                .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
            let parts = moving.zip(self.start.chunks(PARTICLES_PER_PART));
            let parts = parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
            let parts = parts.zip(p.contact_normal.chunks_mut(PARTICLES_PER_PART));
            let parts = parts.zip(near.chunks.iter_mut().zip(&mut self.paths));
            workers.for_each_part(
                parts,
                |(((((x, d), start), w), normals), (chunk, paths))| {
                    let particles = ChunkParticles {
                        x,
                        d,
                        start,
                        w,
                        normals,
                    };
                    chunk.collide(&at_substep, first, paths, particles);
                },
            );
        }
    }
}

/// Returns the largest depth of a particle inside a closed surface, or outside a container, at the end of the
/// fixed step, m; 0 if there is no penetration. Pinned particles do not count.
pub fn deepest_mesh_penetration<'a>(
    particles: &ParticleArrays,
    colliders: impl IntoIterator<Item = &'a MeshCollider>,
) -> f32 {
    let mut deepest = 0.0_f32;
    for MeshCollider { surface, end, .. } in colliders {
        if !surface.is_closed() {
            continue;
        }
        let to_local = Mat3::from_quat(end.rotation).transpose();
        let centre = end.translation - particles.origin;
        let [low, high] = surface.bounds();
        for (position, &w) in particles.position.iter().zip(&particles.inverse_mass) {
            let local = to_local * (position - centre);
            let within = local.cmpge(low).all() && local.cmple(high).all();
            if w > 0.0 && (within || surface.is_hollow()) {
                deepest = deepest.max(-surface.distance(local));
            }
        }
    }
    deepest
}

#[cfg(test)]
mod tests;
