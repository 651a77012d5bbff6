//! Contacts with surfaces of triangles: convex hulls, meshes, fields of heights.
//!
//! Particles are taken in groups of neighbours in memory. Of each group the triangles near it are looked up
//! once and kept for as long as it stays in the box that was looked at, in the frame of the surface: cloth
//! that rests looks nothing up. In each substep a particle meets the few of those that its way comes near:
//! first it is stopped at the first that it goes through, then pushed out of the nearest one. What is kept
//! are only lists that hold all that is near, so that results do not depend on when they were made.
//!
//! On which side of a closed surface a particle is that no triangle is near is looked up once as well, and
//! holds as long as it moves by less than its distance.
//!
//! | file | what it holds |
//! |---|---|
//! | `surface` | the triangles, and how they are found |
//! | `heights` | makes them of heights |
//! | `triangle` | one triangle and a point |
//! | `group` | what is kept of each group of particles |
//! | `meet` | one particle and the triangles near it |

mod group;
mod heights;
mod meet;
mod surface;
mod triangle;

pub use surface::{SurfaceError, TriangleSurface};

use self::group::Part;
use super::{
    collide::{Collider, Friction, Pose, Surface},
    contact::Obstacle,
    crew::{Leader, PART},
    particles::ParticleArrays,
    soa::{Bounds, SoaVec3, bounds},
};
use bevy::math::{Mat3, Vec3};
use std::sync::Arc;

/// Particles that have a list of triangles together.
const GROUP: usize = 16;

/// The least distance that particles keep from triangles, m: on which side they are must not be lost by
/// rounding.
const LEAST_THICKNESS: f32 = 5e-4;

/// A surface of triangles that cloth bumps into.
#[derive(Clone, Debug)]
pub struct MeshCollider {
    /// Its triangles, in its own frame.
    pub surface: Arc<TriangleSurface>,
    /// Where it is when the fixed step begins.
    pub start: Pose,
    /// Where it is when the fixed step ends.
    pub end: Pose,
    /// Its own friction.
    pub friction: Friction,
}

impl MeshCollider {
    /// One that does not move.
    pub fn fixed(surface: Arc<TriangleSurface>, pose: Pose, friction: Friction) -> Self {
        Self {
            surface,
            start: pose,
            end: pose,
            friction,
        }
    }

    /// The same collider, standing still at its end if it came there too fast to have been moved.
    pub fn without_teleport(self, dt: f32) -> Self {
        let start = self.around().without_teleport(dt).start;
        Self { start, ..self }
    }

    /// A number by which its surface is told from others that were made in this run of the program.
    pub(crate) fn surface_id(&self) -> u64 {
        self.surface.id
    }

    /// A box around it, which moves as it does.
    pub(crate) fn around(&self) -> Collider {
        Collider {
            shape: self.surface.around(),
            start: self.start,
            end: self.end,
            friction: self.friction,
            hollow: self.surface.is_hollow(),
        }
    }
}

/// What contacts of a cloth with surfaces of triangles need.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeshContacts {
    /// For each surface that was near in the last step.
    met: Vec<Met>,
    /// Where the particles were when the substep began, if any surface is near.
    start: SoaVec3,
    /// The box around all particles at the end of the last substep.
    last: Option<Bounds>,
    near: bool,
}

/// What is kept of a surface.
#[derive(Clone, Debug)]
struct Met {
    id: u64,
    /// It was near in this step.
    used: bool,
    parts: Vec<Part>,
}

impl MeshContacts {
    /// Remembers where the particles were when the substep began, the `first` of a step or another, if any
    /// surface is near. After all else that moves them, before displacements are brought up to date. With
    /// each collider comes the number of the substep on its way, and of how many.
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
            self.met.retain_mut(|met| std::mem::take(&mut met.used));
            self.last = None;
        }
        if colliders.peek().is_none() || p.is_empty() {
            return;
        }
        let now = bounds([&p.position.x, &p.position.y, &p.position.z]);
        let last = self
            .last
            .unwrap_or_else(|| bounds([&p.previous.x, &p.previous.y, &p.previous.z]));
        self.last = Some(now);
        // What other colliders push it by is hardly ever more than its own way.
        let mut swept = union(&now, &last);
        for axis in 0..3 {
            let way = (now[0][axis] - last[0][axis]).abs();
            let way = way.max((now[1][axis] - last[1][axis]).abs());
            let more = way + 2.0 * surface.thickness.max(LEAST_THICKNESS);
            swept[0][axis] -= more;
            swept[1][axis] += more;
        }
        for (collider, during) in colliders {
            let by = By::new(collider, surface, p.origin, during);
            if !by.reaches(&swept) {
                continue;
            }
            self.near = true;
            let id = collider.surface.id;
            let known = self.met.iter_mut().find(|met| met.id == id);
            match known {
                Some(met) => met.used = true,
                None => self.met.push(Met {
                    id,
                    used: true,
                    parts: Vec::new(),
                }),
            }
        }
        if self.near {
            let ways = [&p.displacement.x, &p.displacement.y, &p.displacement.z];
            let predicted = [&p.predicted.x, &p.predicted.y, &p.predicted.z];
            let start = &mut self.start;
            let planes = [&mut start.x, &mut start.y, &mut start.z].into_iter();
            for ((start, way), predicted) in planes.zip(ways).zip(predicted) {
                start.clear();
                start.extend(predicted.iter().zip(way).map(|(x, d)| x - d));
            }
        }
    }

    /// Whether any is near in this substep.
    pub(crate) fn is_near(&self) -> bool {
        self.near
    }

    /// Stops particles at the surfaces and pushes them out. Displacements must be up to date, and
    /// [`begin`](Self::begin) must have been called in this substep.
    pub(crate) fn collide<'a>(
        &mut self,
        leader: &mut Leader,
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
            let Some(met) = self.met.iter_mut().find(|met| met.id == id && met.used) else {
                continue;
            };
            let by = By::new(collider, surface, p.origin, during);
            met.parts.resize_with(p.len().div_ceil(PART), Part::default);
            let moving = p
                .position
                .chunks_mut(PART)
                .zip(p.displacement.chunks_mut(PART));
            let parts = moving.zip(self.start.chunks(PART));
            let parts = parts.zip(p.inverse_mass.chunks(PART));
            let parts = parts.zip(met.parts.iter_mut());
            leader.each(parts, |((((x, d), start), w), part)| {
                part.collide(&by, first, x, d, start, w);
            });
        }
    }
}

/// A surface during one substep.
struct By<'a> {
    surface: &'a TriangleSurface,
    obstacle: Obstacle,
    thickness: f32,
    /// Its frame when the substep begins and when it ends: the centre, and what turns world axes into its
    /// own.
    frames: [(Vec3, Mat3); 2],
}

impl<'a> By<'a> {
    fn new(
        collider: &'a MeshCollider,
        surface: &Surface,
        origin: Vec3,
        [substep, substeps]: [u32; 2],
    ) -> Self {
        let thickness = surface.thickness.max(LEAST_THICKNESS);
        let surface = Surface {
            thickness,
            ..*surface
        };
        let around = collider.around();
        let (before, after) = around.during(substep, substeps);
        let frame = |pose: Pose| {
            let to_local = Mat3::from_quat(pose.rotation).transpose();
            (pose.translation - origin, to_local)
        };
        Self {
            surface: &collider.surface,
            obstacle: Obstacle::new(&around, &surface, origin, substep, substeps),
            thickness,
            frames: [frame(before), frame(after)],
        }
    }

    /// A box in its own frame around what is in a box in the axes of the world, whenever in the substep.
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

    /// Whether anything in a box may touch it.
    fn reaches(&self, swept: &Bounds) -> bool {
        if self.surface.is_hollow() {
            return true;
        }
        if !self.obstacle.may_cross(swept) {
            return false;
        }
        let [low, high] = self.local_box(swept);
        let [from, to] = self.surface.bounds();
        let reach = Vec3::splat(self.thickness);
        // Of NaN nothing is known.
        !((low - reach).cmpgt(to).any() || (high + reach).cmplt(from).any())
    }
}

/// The deepest that any particle is inside a surface that is closed, or outside one that is hollow, at the
/// end of the fixed step, m; 0 if none is. Pinned particles do not count.
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

fn union([low, high]: &Bounds, [from, to]: &Bounds) -> Bounds {
    let mut both = [*low, *high];
    for axis in 0..3 {
        both[0][axis] = low[axis].min(from[axis]);
        both[1][axis] = high[axis].max(to[axis]);
    }
    both
}

#[cfg(test)]
mod tests;
