//! Resets a cloth to its untorn rest shape.

use crate::solver::{ParticleArrays, Triangles};
use crate::{
    build::rebind_pins,
    character::{
        frame_history::FrameHistory,
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        multipliers::bind_stiffness,
        paint::ClothPaint,
        reference_frame::{bind_motion_constraints, record_anchor_poses},
    },
    cloth::{
        Cloth, ResetCloth,
        components::ClothBody,
        particles::{ClothConstraints, ClothParticles},
        source::ClothSource,
    },
    collision::contacts::ClothContacts,
    grab::{ClothGrabs, release_all},
    pins::Pins,
    render::own_mesh::ClothMesh,
};
use bevy::prelude::*;
use std::sync::Arc;

pub(crate) fn reset(
    event: On<ResetCloth>,
    mut cloths: Query<(
        &Cloth,
        Option<&Pins>,
        &mut ClothParticles,
        &mut ClothConstraints,
        &mut ClothBody,
        &mut ClothMesh,
        &mut ClothGrabs,
        &mut ClothContacts,
        &ClothSource,
        (
            Option<&ClothPaint>,
            Option<&ClothMaxDistance>,
            Option<&ClothInertia>,
        ),
    )>,
    transforms: TransformHelper,
    mut meshes: Option<ResMut<Assets<Mesh>>>,
    mut commands: Commands,
) {
    let entity = event.entity;
    // A cloth that is not built yet starts in its rest shape anyway.
    let Ok((
        cloth,
        pins,
        mut particles,
        mut constraints,
        mut body,
        mut mesh,
        mut grabs,
        mut contacts,
        source,
        optional,
    )) = cloths.get_mut(entity)
    else {
        return;
    };
    let (paint, max_distance, motion) = optional;
    let Ok(transform) = transforms.compute_global_transform(entity) else {
        return;
    };
    if !crate::cloth::transforms::is_usable(&transform) {
        error!(
            "cloth {entity}: cannot be reset at {transform:?}; set a finite transform with a scale \
             other than 0"
        );
        return;
    }
    let to_world = Mat3::from(transform.affine().matrix3);
    release_all(entity, &mut grabs, &mut commands);
    let ClothBody { skin, topology, .. } = &mut *body;
    let (origin, to_world) = match skin {
        Some(skin) => {
            let at = |joint| transforms.compute_global_transform(joint).ok();
            match skin.first_pose(&topology.positions, at) {
                Some(settled) => settled,
                None => {
                    error!(
                        "cloth {entity}: cannot be reset: its skeleton has a scale of 0 or joints that no longer \
                         exist; set a Mesh3d and SkinnedMesh that belong together"
                    );
                    return;
                }
            }
        }
        None => (transform.translation(), to_world),
    };
    let rest = body.topology.rest_in_world(to_world);
    body.cut_ends.clear();
    if let Some(torn) = body.torn.take() {
        let count = rest.len();
        particles.0 = ParticleArrays::new(origin, rest.clone(), Vec::new());
        constraints.0 = Arc::unwrap_or_clone(torn.intact_constraints);
        body.triangles =
            Triangles::new(body.topology.triangles.clone(), &rest).with_grids(&body.topology.grids);
        body.resistance.truncate(count);
        if let Some(rope) = &mut body.rope {
            rope.restore(count);
        }
        mesh.last_written = None;
        let mut own = meshes.as_mut().and_then(|m| m.get_mut(&source.own));
        mesh.binding.restore(count, own.as_deref_mut());
    }
    match &body.skin {
        Some(skin) => particles.reset(origin, &skin.skinned_positions(&body.topology.positions)),
        None => particles.reset(origin, &rest),
    }
    constraints.set_rest_lengths(&rest);
    bind_stiffness(entity, paint, &mut body);
    body.apply_painted_stiffness(&mut constraints);
    constraints.measure_aspects(&rest, &body.topology.triangles);
    if let Some(rope) = &mut body.rope {
        rope.set_rest(to_world, &mut constraints);
    }
    body.set_areas(&rest);
    body.tether_source.to_world = to_world;
    body.reference_frame.history = FrameHistory {
        origin,
        ..default()
    };
    body.reference_frame.frame_motion = None;
    bind_motion_constraints(entity, max_distance, &mut body, rest.len());
    body.pins.clear();
    // A step in progress must not use state from before the reset.
    body.pin_targets.clear();
    contacts.contacts.had_contact = false;
    constraints.forget_angular_momentum();
    rebind_pins(
        entity,
        pins.unwrap_or(&Pins::default()),
        &particles,
        &mut body,
    );
    record_anchor_poses(entity, motion, &mut body, origin, |other| {
        transforms.compute_global_transform(other).ok()
    });
    body.set_masses(&mut particles, cloth.fabric.areal_density);
}
