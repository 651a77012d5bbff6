//! Collision with shape colliders: position-level push-out and Coulomb friction.

use crate::solver::{
    collision::{
        ccd::{max_length, stop_fast_particles},
        narrow_phase::{Boxes, ColliderAtSubstep, Contacts},
        shape::Shape,
        triangle_contacts::TriangleContacts,
    },
    integrate::{update_displacements, update_part},
    math::pose::Pose,
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::{ParticleArrays, inertia::FrameMotion},
    simd::{
        LANES, dispatch, select,
        soa::{Bounds, bounds},
    },
    triangles::Triangles,
};
use bevy::math::{Mat3, Vec3};
use std::{
    cell::RefCell,
    sync::atomic::{AtomicBool, Ordering},
};

/// Speed above which a collider counts as teleported, m/s: it drags no cloth along.
pub(in crate::solver) const TELEPORT_SPEED: f32 = 200.0;

/// Coulomb friction coefficients.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Friction {
    /// Static coefficient: bounds the friction that prevents sliding.
    pub static_coefficient: f32,
    /// Kinetic coefficient: friction that slows sliding.
    pub kinetic_coefficient: f32,
}

impl Friction {
    /// Combines the coefficients of two surfaces: their geometric mean, which is 0 if either is frictionless.
    pub fn between(a: Self, b: Self) -> Self {
        Self {
            static_coefficient: (a.static_coefficient * b.static_coefficient).sqrt(),
            kinetic_coefficient: (a.kinetic_coefficient * b.kinetic_coefficient).sqrt(),
        }
    }

    /// Returns the part that friction removes from a tangential displacement, in a contact of this depth: all of it
    /// up to the static coefficient times the depth, otherwise the kinetic coefficient times the depth.
    #[inline(always)]
    pub(in crate::solver) fn removed(self, tangential: Vec3, depth: f32) -> Vec3 {
        let slip = tangential.length();
        let kinetic_fraction = self.kinetic_coefficient * depth / slip;
        let sticks = slip <= self.static_coefficient * depth;
        tangential * select(!sticks & (kinetic_fraction < 1.0), kinetic_fraction, 1.0)
    }
}

/// Solid shape that cloth collides with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collider {
    /// Shape, in the collider's own frame.
    pub shape: Shape,
    /// Pose at the beginning of the fixed step.
    pub start: Pose,
    /// Pose at the end of the fixed step.
    pub end: Pose,
    /// Friction of the collider, combined with that of the cloth by [`Friction::between`].
    pub friction: Friction,
    /// Inverts the collider into a container: cloth is kept inside its shape instead of outside.
    pub hollow: bool,
}

impl Collider {
    /// Creates a collider that does not move.
    pub fn fixed(shape: Shape, pose: Pose, friction: Friction) -> Self {
        Self {
            shape,
            start: pose,
            end: pose,
            friction,
            hollow: false,
        }
    }

    /// Removes a teleport: a collider that moved faster than 200 m/s rests at its end pose instead.
    /// `dt` is the length of the fixed step, s.
    pub(crate) fn without_teleport(self, dt: f32) -> Self {
        let movement = self.end.translation - self.start.translation;
        if movement.length() > TELEPORT_SPEED * dt {
            Self {
                start: self.end,
                ..self
            }
        } else {
            self
        }
    }

    /// Returns the corners of the world-axis-aligned bounding box of the collider over the fixed step. It is
    /// infinite for containers, which draw in cloth from anywhere outside.
    pub(crate) fn swept_bounds(&self) -> [Vec3; 2] {
        let [least, most] = self.shape.bounds();
        if self.hollow || !least.is_finite() {
            return [Vec3::NEG_INFINITY, Vec3::INFINITY];
        }
        // Bounding sphere around the origin of the collider, valid for any rotation.
        let radius = least.abs().max(most.abs()).length();
        let (from, to) = (self.start.translation, self.end.translation);
        [from.min(to) - radius, from.max(to) + radius]
    }

    /// Returns whether anything in a box, given by its corners, may touch the collider during the fixed step,
    /// provided that the box overlaps [`swept_bounds`](Self::swept_bounds).
    pub(crate) fn may_reach(&self, [low, high]: [Vec3; 2]) -> bool {
        if self.hollow || self.shape != Shape::HalfSpace {
            return true;
        }
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        [self.start, self.end].iter().any(|pose| {
            let normal = pose.rotation * Vec3::Y;
            normal.dot(middle - pose.translation) <= normal.abs().dot(half)
        })
    }

    /// Returns the collider as seen by a cloth that was moved rigidly by `motion` at the beginning of the step. A collider
    /// that moves with the same frame starts from its moved pose, so that only the rest of its motion acts on the cloth.
    /// Others keep their motion.
    pub(crate) fn relative_to(&self, motion: &FrameMotion) -> Self {
        Self {
            start: motion.remaining_start(self.start, self.end),
            ..*self
        }
    }

    /// Returns the largest radius of a sphere, capsule or tapered capsule, m; infinite for other shapes and for
    /// containers.
    pub(in crate::solver) fn round_radius(&self) -> f32 {
        match self.hollow {
            true => f32::INFINITY,
            false => self.shape.round_radius(),
        }
    }

    /// Returns whether the collider is a solid with edges that cloth can lie around.
    pub(in crate::solver) fn has_edges(&self) -> bool {
        !self.hollow && self.shape.has_edges()
    }

    /// Returns whether the collider is a solid with a tip.
    pub(in crate::solver) fn has_tip(&self) -> bool {
        !self.hollow && self.shape.has_tip()
    }

    /// Returns the poses at the beginning and at the end of a substep, given by its index and the number of
    /// substeps.
    pub(in crate::solver) fn poses_at(&self, [substep, substeps]: [u32; 2]) -> [Pose; 2] {
        let n = substeps.max(1) as f32;
        [substep, substep + 1].map(|ended| self.start.interpolate(self.end, ended as f32 / n))
    }
}

/// Contact thickness and friction of a cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Distance that particles keep from colliders, m, so that the flat triangles between them do not intersect a
    /// round collider visibly.
    pub thickness: f32,
    /// Friction coefficients of the fabric.
    pub friction: Friction,
}

/// Pushes particles out of colliders and stops fast ones from tunneling, in substep number `substep` of
/// `substeps`.
///
/// Displacements must be up to date ([`update_displacements`]): they tell where particles came from. The
/// push-out d_n moves the position and removes from the displacement only the part that points into
/// the collider, so it adds no energy. Friction acts on the tangential displacement Δt relative to the contact
/// point on the collider: up to μ_s·d_n it is cancelled, beyond that it is reduced by μ_k·d_n.
pub fn collide(
    particles: &mut ParticleArrays,
    colliders: &[Collider],
    surface: &Surface,
    substep: u32,
    substeps: u32,
) {
    let during = [substep, substeps];
    with_colliders_at_substep(particles, colliders, surface, during, |at_substep, p| {
        collide_parts(&mut Workers::serial(), at_substep, p)
    });
}

/// Surface of a cloth in contacts: its triangles, thickness and friction.
pub(crate) struct ContactSurface<'a> {
    /// Triangles of the cloth.
    pub(crate) triangles: &'a Triangles,
    /// State of triangle contacts, prepared for this fixed step.
    pub(crate) triangle_contacts: &'a mut TriangleContacts,
    /// Thickness and friction.
    pub(crate) surface: Surface,
}

/// Updates displacements, pushes triangles out of colliders smaller than they are, and particles out of all
/// colliders: [`update_displacements`] and [`collide`] on several workers. Returns whether any collider was near
/// enough to touch.
///
/// [`update_displacements`]: crate::solver::update_displacements
pub(crate) fn update_and_collide<'a>(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    contact_surface: &mut ContactSurface,
    colliders: impl IntoIterator<Item = &'a Collider>,
    during: [u32; 2],
) -> bool {
    let ContactSurface {
        triangles,
        triangle_contacts,
        surface,
    } = contact_surface;
    with_colliders_at_substep(particles, colliders, surface, during, |at_substep, p| {
        if std::mem::take(&mut p.in_contact) {
            p.contact_normal.fill(Vec3::ZERO);
        }
        let any_near = AtomicBool::new(false);
        if triangle_contacts.are_ready() {
            triangle_contacts.begin(p);
            update_displacements(p);
            let near = triangle_contacts.collide(p, triangles, &at_substep.colliders);
            any_near.store(near, Ordering::Relaxed);
            // Displacements are up to date already: the push-out of triangles must not be added to them.
            p.predicted.copy_from(&p.position);
        }
        let moving = p
            .position
            .chunks_mut(PARTICLES_PER_PART)
            .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
        let parts = moving.zip(p.predicted.chunks_mut(PARTICLES_PER_PART));
        let parts = parts.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
        let parts = parts.zip(p.contact_normal.chunks_mut(PARTICLES_PER_PART));
        workers.for_each_part(parts, |((((x, [dx, dy, dz]), predicted), w), normals)| {
            let positions = x.each_ref().map(|plane| &**plane);
            let largest_component =
                update_part([&mut *dx, &mut *dy, &mut *dz], predicted, positions);
            let max_displacement = largest_component * DIAGONAL;
            if collide_chunk(at_substep, max_displacement, x, [dx, dy, dz], w, normals) {
                any_near.store(true, Ordering::Relaxed);
            }
        });
        let near = any_near.into_inner();
        p.in_contact = near;
        near
    })
}

/// Pushes triangles and particles out of additional colliders, with poses given for a single substep. Call after
/// [`update_and_collide`] in the same substep. Returns whether any collider was near enough to touch.
pub(crate) fn collide_additional<'a>(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    contact_surface: &mut ContactSurface,
    colliders: impl IntoIterator<Item = &'a Collider>,
) -> bool {
    let ContactSurface {
        triangles,
        triangle_contacts,
        surface,
    } = contact_surface;
    with_colliders_at_substep(particles, colliders, surface, [0, 1], |at_substep, p| {
        for collider in &mut at_substep.colliders {
            *collider = collider.without_normals();
        }
        let near_triangles = triangle_contacts.are_ready()
            && triangle_contacts.collide(p, triangles, &at_substep.colliders);
        collide_parts(workers, at_substep, p) || near_triangles
    })
}

thread_local! {
    /// Scratch buffer for the colliders of a substep.
    static SCRATCH: RefCell<CollidersAtSubstep> = RefCell::default();
}

/// All colliders at one substep, with their bounding boxes.
#[derive(Default)]
struct CollidersAtSubstep {
    colliders: Vec<ColliderAtSubstep>,
    boxes: Boxes,
}

impl CollidersAtSubstep {
    /// Returns whether any of the colliders may touch a particle in a box.
    fn may_touch(&self, bounds: &Bounds) -> bool {
        (0..self.boxes.groups()).any(|group| {
            let mut near = self.boxes.overlapping(group, bounds);
            while near != 0 {
                let index = group * LANES + near.trailing_zeros() as usize;
                if self.colliders[index].may_touch(bounds) {
                    return true;
                }
                near &= near - 1;
            }
            false
        })
    }
}

/// Runs `work` with the colliders as they are in a substep, given by its index and the number of substeps.
fn with_colliders_at_substep<'a, R>(
    particles: &mut ParticleArrays,
    colliders: impl IntoIterator<Item = &'a Collider>,
    surface: &Surface,
    during: [u32; 2],
    work: impl FnOnce(&mut CollidersAtSubstep, &mut ParticleArrays) -> R,
) -> R {
    let origin = particles.origin;
    SCRATCH.with_borrow_mut(|at_substep| {
        let new = |collider| ColliderAtSubstep::new(collider, surface, origin, during);
        let CollidersAtSubstep {
            colliders: all,
            boxes,
        } = at_substep;
        all.clear();
        all.extend(colliders.into_iter().map(new));
        boxes.fill(all.iter().map(|collider| collider.aabb));
        work(at_substep, particles)
    })
}

/// Resolves the contacts of all particles. Displacements must be up to date. Returns whether any collider was near.
fn collide_parts(
    workers: &mut Workers,
    at_substep: &CollidersAtSubstep,
    p: &mut ParticleArrays,
) -> bool {
    let any_near = AtomicBool::new(false);
    let moving = p
        .position
        .chunks_mut(PARTICLES_PER_PART)
        .zip(p.displacement.chunks_mut(PARTICLES_PER_PART));
    let parts = moving.zip(p.inverse_mass.chunks(PARTICLES_PER_PART));
    let parts = parts.zip(p.contact_normal.chunks_mut(PARTICLES_PER_PART));
    workers.for_each_part(parts, |(((x, d), w), normals)| {
        let displacements = bounds(d.each_ref().map(|plane| &**plane));
        if collide_chunk(at_substep, max_length(&displacements), x, d, w, normals) {
            any_near.store(true, Ordering::Relaxed);
        }
    });
    let near = any_near.into_inner();
    p.in_contact |= near;
    near
}

/// Upper bound on the ratio of a vector's length to its largest component: √3 plus a margin for rounding.
const DIAGONAL: f32 = 1.733;

/// Resolves the contacts of a chunk of consecutive particles. `max_displacement` is an upper bound on their
/// displacements, m. Returns whether any collider was near.
fn collide_chunk(
    at_substep: &CollidersAtSubstep,
    max_displacement: f32,
    mut x: [&mut [f32]; 3],
    mut d: [&mut [f32]; 3],
    w: &[f32],
    normals: [&mut [f32]; 3],
) -> bool {
    let CollidersAtSubstep { colliders, boxes } = at_substep;
    if colliders.is_empty() {
        return false;
    }
    stop_fast_particles(colliders, max_displacement, &mut x, &mut d, w);
    // Early out: most cloths, and most chunks of a large one, are far from most colliders.
    let near = at_substep.may_touch(&bounds(x.each_ref().map(|plane| &**plane)));
    if near {
        dispatch(Contacts {
            x,
            d,
            w,
            normals,
            colliders,
            boxes,
        });
    }
    near
}

/// Returns the largest depth of a particle inside a collider, or outside a container, at the end of the
/// fixed step, m; 0 if there is no penetration. Pinned particles do not count: they were placed on purpose.
pub fn deepest_penetration<'a>(
    particles: &ParticleArrays,
    colliders: impl IntoIterator<Item = &'a Collider>,
) -> f32 {
    let mut deepest = 0.0_f32;
    for collider in colliders {
        let to_local = Mat3::from_quat(collider.end.rotation).transpose();
        let centre = collider.end.translation - particles.origin;
        for (position, &w) in particles.position.iter().zip(&particles.inverse_mass) {
            if w > 0.0 {
                let (distance, _) = collider.shape.distance(to_local * (position - centre));
                let inside = if collider.hollow { distance } else { -distance };
                deepest = deepest.max(inside);
            }
        }
    }
    deepest
}

#[cfg(test)]
mod tests;
