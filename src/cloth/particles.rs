//! State of the solver as components: particles and constraints of a cloth.

use crate::solver::{ConstraintGraph, ParticleArrays};
use bevy::prelude::*;

/// Particles of a cloth: position, displacement and inverse mass, as arrays.
///
/// Your own systems may change them between any two phases of a step, see
/// [`ClothSystems`](crate::cloth::ClothSystems). A position written between
/// [`Integrate`](crate::cloth::ClothSystems::Integrate) and [`Collide`](crate::cloth::ClothSystems::Collide) of a substep
/// also changes the velocity; written at any other time, it does not.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothParticles(pub ParticleArrays);

/// Constraints of a cloth: stretch, shear and bending.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothConstraints(pub ConstraintGraph);
