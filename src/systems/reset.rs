//! Puts a cloth back into its rest shape.

use super::prepare::rebind;
use crate::{
    cloth::{Cloth, ResetCloth},
    components::{ClothBody, Constraints, Particles},
    pins::Pins,
};
use bevy::prelude::*;

pub(crate) fn reset(
    event: On<ResetCloth>,
    mut cloths: Query<(
        &Cloth,
        Option<&Pins>,
        &mut Particles,
        &mut Constraints,
        &mut ClothBody,
    )>,
    transforms: TransformHelper,
) {
    let entity = event.entity;
    // A cloth that is not built yet will start in its rest shape anyway.
    let Ok((cloth, pins, mut particles, mut constraints, mut body)) = cloths.get_mut(entity) else {
        return;
    };
    let Ok(transform) = transforms.compute_global_transform(entity) else {
        return;
    };
    if !super::build::is_usable(&transform) {
        error!(
            "cloth {entity}: cannot be reset at {transform:?}; give it a finite transform with a \
             scale above 0"
        );
        return;
    }
    let to_world = Mat3::from(transform.affine().matrix3);
    let rest = body.topology.rest_in_world(to_world);
    particles.reset(transform.translation(), &rest);
    constraints.set_rest_lengths(&rest);
    if let Some(rope) = &mut body.rope {
        rope.set_rest(to_world, &mut constraints);
    }
    body.set_areas(&rest);
    body.pins.clear();
    // A step that is under way must not use targets from before.
    body.targets.clear();
    rebind(
        entity,
        pins.unwrap_or(&Pins::default()),
        &particles,
        &mut body,
    );
    body.set_masses(&mut particles, cloth.fabric.areal_density);
}
