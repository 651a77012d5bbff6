//! Puts a cloth back into its rest shape, in one piece.

use super::{
    bind::{bind_stiffness, rebind},
    guide::{bind_limits, see_carriers},
};
use crate::{
    cloth::{Cloth, ResetCloth},
    components::{ClothBody, ClothMesh, ClothSource, Constraints, Particles},
    grab::{ClothGrabs, let_go_of_all},
    guide::Seen,
    max_distance::MaxDistance,
    paint::ClothPaint,
    pins::Pins,
    solver::{ParticleArrays, Triangles},
    world_motion::WorldMotion,
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
        (
            Option<&ClothPaint>,
            Option<&MaxDistance>,
            Option<&WorldMotion>,
        ),
    )>,
    transforms: TransformHelper,
    mut meshes: Option<ResMut<Assets<Mesh>>>,
    mut commands: Commands,
) {
    let entity = event.entity;
    // A cloth that is not built yet will start in its rest shape anyway.
    let Ok((
        cloth,
        pins,
        mut particles,
        mut constraints,
        mut body,
        mut mesh,
        mut grabs,
        source,
        beside,
    )) = cloths.get_mut(entity)
    else {
        return;
    };
    let (paint, max_distance, motion) = beside;
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
    let ClothBody { skin, topology, .. } = &mut *body;
    let (origin, to_world) = match skin {
        Some(skin) => {
            let at = |joint| transforms.compute_global_transform(joint).ok();
            match skin.settle(&topology.positions, at) {
                Some(settled) => settled,
                None => {
                    error!(
                        "cloth {entity}: cannot be reset, as its skeleton has a scale of 0 or joints \
                         that are gone; give it a Mesh3d and SkinnedMesh that belong together"
                    );
                    return;
                }
            }
        }
        None => (transform.translation(), to_world),
    };
    let rest = body.topology.rest_in_world(to_world);
    body.tips.clear();
    if let Some(torn) = body.torn.take() {
        let count = rest.len();
        particles.0 = ParticleArrays::new(origin, rest.clone(), Vec::new());
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
    match &body.skin {
        Some(skin) => particles.reset(origin, &skin.places(&body.topology.positions)),
        None => particles.reset(origin, &rest),
    }
    constraints.set_rest_lengths(&rest);
    bind_stiffness(entity, paint, &mut body);
    body.stiffen(&mut constraints);
    constraints.measure_aspects(&rest, &body.topology.triangles);
    if let Some(rope) = &mut body.rope {
        rope.set_rest(to_world, &mut constraints);
    }
    body.set_areas(&rest);
    body.reach.to_world = to_world;
    body.guide.seen = Seen {
        origin,
        ..default()
    };
    body.guide.carried = None;
    bind_limits(entity, max_distance, &mut body, rest.len());
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
    see_carriers(entity, motion, &mut body, origin, |other| {
        transforms.compute_global_transform(other).ok()
    });
    body.set_masses(&mut particles, cloth.fabric.areal_density);
}
