//! State of the solver as components: particles and constraints of a cloth.

use crate::solver::{ConstraintGraph, ParticleArrays};
use bevy::prelude::*;

/// Particles of a cloth: position, displacement and inverse mass, as arrays.
///
/// Your own systems may change them between any two phases of a step, see
/// [`ClothSystems`](crate::cloth::ClothSystems). A position written before
/// [`ClothSystems::Collide`](crate::cloth::ClothSystems::Collide) also changes the velocity.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothParticles(pub ParticleArrays);

/// Distance constraints of a cloth, in solving order.
#[derive(Component, Clone, Debug, Default, Deref, DerefMut)]
#[component(clone_behavior = Ignore)]
pub struct ClothConstraints(pub ConstraintGraph);
