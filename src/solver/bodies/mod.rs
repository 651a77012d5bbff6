//! Rigid bodies of a physics engine, which cloth pushes and pulls as much as they do it.
//!
//! An engine moves bodies in its own steps, and cloth is stiff: a body that were pushed only once a step
//! would be thrown off a net. So a cloth takes a body along through its substeps, as the engine is about to
//! move it, and lets it yield in each of them. What the body was given in the end is handed to the
//! engine, which then moves it the same way, with everything else that the engine knows.
//!
//! Momentum goes from one to the other and nowhere else. A contact takes from the particles what of
//! their displacement goes into the body, all masses known: Σ m·Δd/Δt is what the body gets. What it takes
//! as if the body could not yield would be too much for a light one; it is scaled by the share that leaves
//! both with the same velocity along the whole push (the perfectly inelastic collision of two bodies), or less
//! where cloth that was stretched throws the body back. A
//! particle that is pinned to a body moves as a piece of it, with an equal share of its mass as felt at its
//! place; what the constraints move it by, the body gets.
//!
//! Each cloth has its own copies: cloths do not wait for each other. Two that hold one body see what the
//! other did to it in the step before.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | all bodies near a cloth |
//! | `motion` | how one moves |
//! | `touch` | contacts |
//! | `held` | particles that are pinned to one |
//! | `burden` | how closely the cloth must look after what it carries |

mod burden;
mod held;
mod motion;
mod touch;

#[cfg(test)]
mod tests;

pub(crate) use self::touch::Touching;
#[cfg(feature = "parry")]
pub(crate) use self::touch::WHOLE;
pub use self::{held::Held, motion::Motion};

use self::burden::Burden;
#[cfg(feature = "parry")]
use super::mesh_contact::{MeshCollider, TriangleSurface};
use super::{
    collide::{Collider, Friction, Pose},
    particles::ParticleArrays,
    shape::Shape,
    soa::SoaVec3,
};
use bevy::math::Vec3;
#[cfg(feature = "parry")]
use std::sync::Arc;

/// What a body is made of.
#[derive(Clone, Debug)]
pub enum Solid {
    /// A primitive.
    Shape(Shape),
    /// Triangles.
    #[cfg(feature = "parry")]
    Surface(Arc<TriangleSurface>),
}

/// A part of a body.
#[derive(Clone, Debug)]
pub struct BodyPart {
    /// What it is.
    pub solid: Solid,
    /// Where it is, seen from the centre of mass of the body.
    pub place: Pose,
    /// Its friction.
    pub friction: Friction,
}

/// A body near a cloth.
#[derive(Clone, Debug)]
pub struct RigidBody {
    /// A number by which it is told from all others.
    pub id: u64,
    /// How it moves.
    pub motion: Motion,
    /// What it is made of.
    pub parts: Vec<BodyPart>,
}

/// All bodies near a cloth.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// By their numbers.
    pub list: Vec<RigidBody>,
    /// The particles that are pinned to any of them.
    pub held: Vec<Held>,
    /// Parts of what cloth cannot move, in this step.
    fixed: Vec<Collider>,
    #[cfg(feature = "parry")]
    fixed_meshes: Vec<MeshCollider>,
    /// Parts of the others, in this substep, and how many each of those has.
    moving: Vec<Collider>,
    #[cfg(feature = "parry")]
    moving_meshes: Vec<MeshCollider>,
    counts: Vec<[usize; 2]>,
    /// Displacements before a contact.
    room: SoaVec3,
    burden: Burden,
}

impl Bodies {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The body with a number.
    pub fn get(&self, id: u64) -> Option<&RigidBody> {
        let k = self.list.binary_search_by_key(&id, |body| body.id).ok()?;
        self.list.get(k)
    }

    /// Before a step, whose substeps usually take so long, s: how many times as many of them the cloth is to
    /// have for what it carries.
    pub(crate) fn plan(&mut self, p: &ParticleArrays, substep: f32) -> u32 {
        if self.is_empty() {
            self.burden = Burden::default();
            return 1;
        }
        self.burden.plan(&self.list, p, substep)
    }

    /// Before a step: it has so many times as many substeps as usual, for what cloth near it carries.
    pub(crate) fn take(&mut self, factor: u32) {
        self.burden.take(factor);
    }

    /// Begins a fixed step of this length, s.
    pub(crate) fn begin_step(&mut self, dt: f32) {
        self.fixed.clear();
        #[cfg(feature = "parry")]
        self.fixed_meshes.clear();
        for body in &mut self.list {
            body.motion.begin_step(dt);
            if body.motion.yields() {
                continue;
            }
            let ends = [body.motion.seen, body.motion.end(dt)];
            for part in &body.parts {
                let [start, end] = ends.map(|pose| pose.carrying(&part.place));
                match &part.solid {
                    Solid::Shape(shape) => self.fixed.push(Collider {
                        start,
                        end,
                        ..Collider::fixed(*shape, end, part.friction)
                    }),
                    #[cfg(feature = "parry")]
                    Solid::Surface(surface) => self.fixed_meshes.push(MeshCollider {
                        surface: surface.clone(),
                        start,
                        end,
                        friction: part.friction,
                    }),
                }
            }
        }
    }

    /// Colliders that cloth cannot move, for the whole step.
    pub(crate) fn fixed(&self) -> &[Collider] {
        &self.fixed
    }

    /// Triangles that cloth cannot move, for the whole step.
    #[cfg(feature = "parry")]
    pub(crate) fn fixed_meshes(&self) -> &[MeshCollider] {
        &self.fixed_meshes
    }

    /// Colliders that cloth can move, for the running substep alone.
    pub(crate) fn moving(&self) -> &[Collider] {
        &self.moving
    }

    /// Triangles that cloth can move, for the running substep alone.
    #[cfg(feature = "parry")]
    pub(crate) fn moving_meshes(&self) -> &[MeshCollider] {
        &self.moving_meshes
    }

    /// Finds out where the parts of all that yields are in the running substep.
    fn place_parts(&mut self, during: [u32; 2]) {
        self.moving.clear();
        self.counts.clear();
        #[cfg(feature = "parry")]
        self.moving_meshes.clear();
        for body in &self.list {
            let mut count = [0, 0];
            if body.motion.yields() {
                let ends = body.motion.during(during);
                for part in &body.parts {
                    let [start, end] = ends.map(|pose| pose.carrying(&part.place));
                    match &part.solid {
                        Solid::Shape(shape) => {
                            count[0] += 1;
                            self.moving.push(Collider {
                                start,
                                end,
                                ..Collider::fixed(*shape, end, part.friction)
                            });
                        }
                        #[cfg(feature = "parry")]
                        Solid::Surface(surface) => {
                            count[1] += 1;
                            self.moving_meshes.push(MeshCollider {
                                surface: surface.clone(),
                                start,
                                end,
                                friction: part.friction,
                            });
                        }
                    }
                }
            }
            self.counts.push(count);
        }
    }
}

/// What moved a body, added up in double precision: particles are many and light.
#[derive(Clone, Copy, Debug, Default)]
struct Push {
    impulse: bevy::math::DVec3,
    /// About the centre of mass.
    twist: bevy::math::DVec3,
}

impl Push {
    /// Adds an impulse, N s, at a place relative to the centre of mass.
    fn add(&mut self, at: Vec3, impulse: Vec3) {
        let (at, impulse) = (at.as_dvec3(), impulse.as_dvec3());
        self.impulse += impulse;
        self.twist += at.cross(impulse);
    }

    fn ends(&self) -> [Vec3; 2] {
        [self.impulse.as_vec3(), self.twist.as_vec3()]
    }
}
