//! Two-way coupling of cloth with the rigid bodies of a physics engine.
//!
//! An engine moves bodies in its own steps, and cloth is stiff: a body pushed only once per step would be
//! thrown off a net. So each cloth simulates a copy of the body through its substeps, starting from the
//! motion that the engine is about to give it, and applies contact impulses in each substep. The total
//! impulse of the step is then handed to the engine, which moves the real body.
//!
//! Momentum is conserved between cloth and body. A contact removes from the particles the part of their
//! displacement that points into the body; with all masses known, the body receives Σ m·Δd/Δt. Computed as if
//! the body were immovable, that impulse is too large for a light body. It is scaled to leave
//! both with the same velocity along the whole impulse (perfectly inelastic collision of two bodies), and
//! scaled further down where stretched cloth throws the body back; the rest of it waits for the next substep.
//! A particle pinned to a body moves as a part of it, with an equal fraction of the body's effective mass at that
//! point; the displacement that constraints give the particle becomes an impulse on the body.
//!
//! Each cloth has its own copies, so cloths do not wait for each other. Two cloths in contact with the same
//! body see each other's effect on it one step late.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | all bodies near a cloth |
//! | `motion` | motion of one body during a fixed step |
//! | `body_contacts` | contacts and momentum exchange |
//! | `withheld` | impulses that bodies do not receive at once |
//! | `attachments` | particles pinned to a body |
//! | `adaptive_substeps` | additional substeps for heavy and fast bodies |

mod adaptive_substeps;
mod attachments;
mod body_contacts;
mod motion;
mod withheld;

#[cfg(test)]
mod tests;

use self::adaptive_substeps::AdaptiveSubsteps;
pub(in crate::solver) use self::adaptive_substeps::MAX_SUBSTEP_FACTOR;
pub(crate) use self::body_contacts::BodyContactInput;
pub(crate) use self::body_contacts::FULL_STEP;
use self::withheld::WithheldMotion;
pub use self::{attachments::BodyAttachment, motion::BodyMotion};
use crate::solver::collision::mesh::{MeshCollider, TriangleSurface};
use crate::solver::{
    collision::{
        collider::{Collider, Friction},
        shape::Shape,
    },
    math::pose::Pose,
    particles::ParticleArrays,
    simd::soa::SoaVec3,
};
use bevy::math::{DVec3, Vec3};
use std::sync::Arc;

/// Geometry of one part of a body.
#[derive(Clone, Debug)]
pub enum Solid {
    /// A primitive shape.
    Shape(Shape),
    /// A triangle surface.
    Surface(Arc<TriangleSurface>),
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct BodyPart {
    /// Geometry of the part.
    pub solid: Solid,
    /// Pose relative to the centre of mass of the body.
    pub local_pose: Pose,
    /// Friction coefficients of the part.
    pub friction: Friction,
}

/// A body near a cloth.
#[derive(Clone, Debug)]
pub struct RigidBody {
    /// Unique number of the body.
    pub id: u64,
    /// State of motion.
    pub motion: BodyMotion,
    /// Parts of its shape.
    pub parts: Vec<BodyPart>,
}

/// All bodies near a cloth.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// Bodies, sorted by [`RigidBody::id`].
    pub list: Vec<RigidBody>,
    /// Particles pinned to any of the bodies.
    pub attachments: Vec<BodyAttachment>,
    /// Parts of bodies that cloth cannot move, for the whole step.
    kinematic: PartColliders,
    /// Parts of each body, for the running substep; empty for bodies that cloth cannot move.
    dynamic: Vec<PartColliders>,
    /// Scratch buffer for the displacements before a contact.
    displacements_before: SoaVec3,
    withheld: WithheldMotion,
    adaptive_substeps: AdaptiveSubsteps,
}

impl Bodies {
    /// Returns whether there are no bodies.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the factor by which the cloth should multiply its number of substeps in the coming step, for the
    /// sake of the bodies in contact. `substep` is the usual length of a substep, s.
    pub(in crate::solver) fn plan_substeps(&mut self, p: &ParticleArrays, substep: f32) -> u32 {
        if self.is_empty() {
            self.adaptive_substeps = AdaptiveSubsteps::default();
            return 1;
        }
        self.adaptive_substeps.plan(&self.list, p, substep)
    }

    /// Sets the substep factor of the coming step, where other cloths in contact require a higher one.
    pub(crate) fn set_substep_factor(&mut self, factor: u32) {
        self.adaptive_substeps.set_factor(factor);
    }

    /// Begins a fixed step of length `dt`, s, and places the kinematic parts.
    pub(crate) fn begin_step(&mut self, dt: f32) {
        self.kinematic.clear();
        for body in &mut self.list {
            body.motion.begin_step(dt);
            if !body.motion.is_dynamic() {
                let ends = [body.motion.cloth_pose, body.motion.end(dt)];
                self.kinematic.add(&body.parts, ends);
            }
        }
    }

    /// Returns to the particles the momentum that bodies did not receive in the last substep. Call before integration.
    pub(in crate::solver) fn return_withheld(&mut self, p: &mut ParticleArrays) {
        self.withheld.give_back(p);
    }

    /// Returns the colliders of bodies that cloth cannot move, for the whole step.
    pub(crate) fn kinematic(&self) -> &[Collider] {
        &self.kinematic.shapes
    }

    /// Returns the mesh colliders of bodies that cloth cannot move, for the whole step.
    pub(crate) fn kinematic_meshes(&self) -> &[MeshCollider] {
        &self.kinematic.meshes
    }

    /// Returns the colliders of bodies that cloth can move, for the running substep only.
    pub(crate) fn dynamic(&self) -> impl Iterator<Item = &Collider> {
        self.dynamic.iter().flat_map(|parts| &parts.shapes)
    }

    /// Returns the mesh colliders of bodies that cloth can move, for the running substep only.
    pub(crate) fn dynamic_meshes(&self) -> impl Iterator<Item = &MeshCollider> {
        self.dynamic.iter().flat_map(|parts| &parts.meshes)
    }

    /// Places the parts of all dynamic bodies for the running substep.
    fn update_dynamic_parts(&mut self, during: [u32; 2]) {
        self.dynamic
            .resize_with(self.list.len(), PartColliders::default);
        for (body, parts) in self.list.iter().zip(&mut self.dynamic) {
            parts.clear();
            if body.motion.is_dynamic() {
                parts.add(&body.parts, body.motion.poses_at(during));
            }
        }
    }
}

/// Parts of bodies as colliders.
#[derive(Clone, Debug, Default)]
struct PartColliders {
    shapes: Vec<Collider>,
    meshes: Vec<MeshCollider>,
}

impl PartColliders {
    fn clear(&mut self) {
        self.shapes.clear();
        self.meshes.clear();
    }

    /// Adds the parts of a body that moves between two poses.
    fn add(&mut self, parts: &[BodyPart], ends: [Pose; 2]) {
        for part in parts {
            let [start, end] = ends.map(|pose| pose.compose(&part.local_pose));
            match &part.solid {
                Solid::Shape(shape) => self.shapes.push(Collider {
                    start,
                    ..Collider::fixed(*shape, end, part.friction)
                }),
                Solid::Surface(surface) => self.meshes.push(MeshCollider {
                    surface: surface.clone(),
                    start,
                    end,
                    friction: part.friction,
                }),
            }
        }
    }

    /// Returns whether any of the colliders may reach into a box, given by its corners in the world.
    fn are_near(&self, [low, high]: [Vec3; 2]) -> bool {
        let is_near = |collider: &Collider| {
            let [from, to] = collider.swept_bounds();
            low.cmple(to).all() && from.cmple(high).all()
        };
        if (self.meshes.iter()).any(|mesh| is_near(&mesh.bounding_collider())) {
            return true;
        }
        self.shapes.iter().any(is_near)
    }
}

/// Sum of impulses on a body, in double precision because it adds up many small ones.
#[derive(Clone, Copy, Debug, Default)]
struct ImpulseSum {
    impulse: DVec3,
    /// Angular impulse about the centre of mass, N m s.
    angular_impulse: DVec3,
}

impl ImpulseSum {
    /// Adds an impulse, N s, applied at a point relative to the centre of mass, m.
    fn add(&mut self, at: Vec3, impulse: Vec3) {
        let (at, impulse) = (at.as_dvec3(), impulse.as_dvec3());
        self.impulse += impulse;
        self.angular_impulse += at.cross(impulse);
    }

    /// Returns the linear and the angular impulse, N s and N m s.
    fn totals(&self) -> [Vec3; 2] {
        [self.impulse.as_vec3(), self.angular_impulse.as_vec3()]
    }
}
