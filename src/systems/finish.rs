//! Ends a step: pins are exact, and nothing non-finite gets out.

use super::prepare::go_back;
use crate::components::{ClothBody, Particles};
use bevy::prelude::*;

pub(crate) fn finish(mut cloths: Query<(Entity, &mut Particles, &mut ClothBody)>) {
    for (entity, mut particles, mut body) in &mut cloths {
        particles.end_step(&body.targets);
        // They are relative to the origin of this step, which may move below.
        body.targets.clear();
        if particles.is_finite() {
            body.silent_steps = body.silent_steps.saturating_sub(1);
        } else {
            go_back(entity, &mut particles, &mut body);
        }
        particles.rebase();
    }
}
