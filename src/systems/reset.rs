//! Puts a cloth back into its rest shape, in one piece.

use super::prepare::rebind;
use crate::{
    cloth::{Cloth, ResetCloth},
    components::{ClothBody, ClothMesh, ClothSource, Constraints, Particles},
    grab::{ClothGrabs, let_go_of_all},
    pins::Pins,
    solver::{ParticleArrays, Triangles},
};
use bevy::prelude::*;
use std::sync::Arc;

pub(crate) fn reset(
    event: On<ResetCloth>,
    mut cloths: Query<(
        &Cloth,
        Option<&Pins>,
        &mut Particles,
        &mut Constraints,
        &mut ClothBody,
        &mut ClothMesh,
        &mut ClothGrabs,
        &ClothSource,
    )>,
    transforms: TransformHelper,
    mut meshes: Option<ResMut<Assets<Mesh>>>,
    mut commands: Commands,
) {
    let entity = event.entity;
    // A cloth that is not built yet will start in its rest shape anyway.
    let Ok((cloth, pins, mut particles, mut constraints, mut body, mut mesh, mut grabs, source)) =
        cloths.get_mut(entity)
    else {
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
    let_go_of_all(entity, &mut grabs, &mut commands);
    let rest = body.topology.rest_in_world(to_world);
    body.tips.clear();
    if let Some(torn) = body.torn.take() {
        let count = rest.len();
        particles.0 = ParticleArrays::new(transform.translation(), rest.clone(), Vec::new());
        constraints.0 = Arc::unwrap_or_clone(torn.whole_constraints);
        body.triangles = Triangles::new(body.topology.triangles.clone(), &rest)
            .woven_into(&body.topology.sheets);
        body.resistance.truncate(count);
        if let Some(rope) = &mut body.rope {
            rope.mend(count);
        }
        mesh.written = None;
        let mut own = meshes.as_mut().and_then(|m| m.get_mut(&source.own));
        mesh.binding.mend(count, own.as_deref_mut());
    }
    particles.reset(transform.translation(), &rest);
    constraints.set_rest_lengths(&rest);
    constraints.measure_aspects(&rest, &body.topology.triangles);
    if let Some(rope) = &mut body.rope {
        rope.set_rest(to_world, &mut constraints);
    }
    body.set_areas(&rest);
    body.reach.to_world = to_world;
    body.pins.clear();
    // A step that is under way must not use what it knows from before.
    body.targets.clear();
    body.touched = false;
    constraints.forget_spin();
    rebind(
        entity,
        pins.unwrap_or(&Pins::default()),
        &particles,
        &mut body,
    );
    body.set_masses(&mut particles, cloth.fabric.areal_density);
}
