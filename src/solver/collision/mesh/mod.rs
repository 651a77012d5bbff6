//! Contacts with triangle surfaces: convex hulls, meshes, heightfields.
//!
//! Particles are processed in groups of neighbours in memory. The triangles near each group are looked up
//! once and cached for as long as the group stays in the queried box, in the frame of the surface: cloth
//! at rest looks nothing up. In each substep a particle is tested against the few of them near its path:
//! first it is stopped at the first triangle it crosses, then pushed out of the nearest one. The cached lists are
//! supersets of the triangles near, so results do not depend on when the lists were made.
//!
//! For a particle far from all triangles, the side of a closed surface is determined once as well, and remains
//! valid as long as the particle moves by less than its distance from the surface.
//!
//! | file | contents |
//! |---|---|
//! | `surface` | triangle surface and its bounding volume hierarchy |
//! | `surface_error` | reasons why there is no surface |
//! | `heightfield` | surfaces from heightfields |
//! | `triangle` | crossing of a path and a triangle |
//! | `group` | cached triangle candidates per group of particles |
//! | `swept_particle` | one particle against the triangles near it |

mod group;
mod heightfield;
mod surface;
mod surface_error;
mod swept_particle;
mod triangle;

use self::group::{ChunkCache, ChunkParticles};
use crate::solver::{
    collision::{
        collider::{Collider, Friction, Surface},
        narrow_phase::ColliderAtSubstep,
    },
    math::pose::Pose,
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::soa::{Bounds, SoaVec3, bounds, union},
};
use bevy::math::{Mat3, Vec3};
use std::sync::Arc;
pub use {surface::TriangleSurface, surface_error::SurfaceError};

/// Consecutive particles that share a list of triangles.
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

    /// Returns the id of the surface, unique in this run of the program.
    pub(crate) fn surface_id(&self) -> u64 {
        self.surface.id
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
    /// Caches of the surfaces that were near in the last step.
    surfaces: Vec<NearSurface>,
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
    id: u64,
    /// Whether the surface was near in this step.
    used: bool,
    chunks: Vec<ChunkCache>,
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
                .retain_mut(|near| std::mem::take(&mut near.used));
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
            let id = collider.surface.id;
            let known = self.surfaces.iter_mut().find(|near| near.id == id);
            match known {
                Some(near) => near.used = true,
                None => self.surfaces.push(NearSurface {
                    id,
                    used: true,
                    chunks: Vec::new(),
                }),
            }
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
    /// [`begin`](Self::begin) must have been called in this substep. Surfaces that were not near then are skipped.
    pub(crate) fn collide<'a>(
        &mut self,
        workers: &mut Workers,
        p: &mut ParticleArrays,
        colliders: impl IntoIterator<Item = (&'a MeshCollider, [u32; 2])>,
        surface: &Surface,
        first: bool,
    ) {
        if !self.near {
            return;
        }
        for (collider, during) in colliders {
            let id = collider.surface.id;
            let mut surfaces = self.surfaces.iter_mut();
            let Some(near) = surfaces.find(|near| near.id == id && near.used) else {
                continue;
            };
            let at_substep = SurfaceAtSubstep::new(collider, surface, p.origin, during);
            near.chunks
                .resize_with(p.len().div_ceil(PARTICLES_PER_PART), ChunkCache::default);
            let moving = p
                .position
                .chunks_mut(PARTICLES_PER_PART)
                .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
            let parts = moving.zip(self.start.chunks(PARTICLES_PER_PART));
            let parts = parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
            let parts = parts.zip(near.chunks.iter_mut());
            workers.for_each_part(parts, |((((x, d), start), w), chunk)| {
                chunk.collide(&at_substep, first, ChunkParticles { x, d, start, w });
            });
        }
    }
}

/// Triangle surface at one substep.
struct SurfaceAtSubstep<'a> {
    surface: &'a TriangleSurface,
    /// Bounding box of the surface as a collider, with its friction and motion.
    collider: ColliderAtSubstep,
    thickness: f32,
    /// Frames at the beginning and at the end of the substep: origin, and rotation from world axes to local axes.
    frames: [(Vec3, Mat3); 2],
}

impl<'a> SurfaceAtSubstep<'a> {
    fn new(collider: &'a MeshCollider, surface: &Surface, origin: Vec3, during: [u32; 2]) -> Self {
        let thickness = surface.thickness.max(MIN_THICKNESS);
        let surface = Surface {
            thickness,
            ..*surface
        };
        let bounding = collider.bounding_collider();
        let frame = |pose: Pose| {
            let to_local = Mat3::from_quat(pose.rotation).transpose();
            (pose.translation - origin, to_local)
        };
        Self {
            surface: &collider.surface,
            collider: ColliderAtSubstep::new(&bounding, &surface, origin, during),
            thickness,
            frames: bounding.poses_at(during).map(frame),
        }
    }

    /// Returns the bounding box, in the local frame, of a world-axis-aligned box at the beginning and at the end
    /// of the substep.
    fn local_box(&self, [low, high]: &Bounds) -> [Vec3; 2] {
        let (low, high) = (Vec3::from(*low), Vec3::from(*high));
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        let mut both = [Vec3::INFINITY, Vec3::NEG_INFINITY];
        for (centre, to_local) in &self.frames {
            let at = *to_local * (middle - *centre);
            let reach = to_local.x_axis.abs() * half.x
                + to_local.y_axis.abs() * half.y
                + to_local.z_axis.abs() * half.z;
            both = [both[0].min(at - reach), both[1].max(at + reach)];
        }
        both
    }

    /// Returns whether anything in a box may touch the surface in this substep.
    fn may_touch(&self, swept: &Bounds) -> bool {
        if self.surface.is_hollow() {
            return true;
        }
        if !self.collider.may_touch_swept(swept) {
            return false;
        }
        let [low, high] = self.local_box(swept);
        let [from, to] = self.surface.bounds();
        let reach = Vec3::splat(self.thickness);
        // NaN counts as contact.
        !((low - reach).cmpgt(to).any() || (high + reach).cmplt(from).any())
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
