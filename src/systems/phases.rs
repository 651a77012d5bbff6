//! Phases of a substep: systems for all cloths, and functions for one cloth.

use super::{cloth_pairs::ClothPairs, colliders::ActiveColliders, parallel::ClothWorkers};
#[cfg(feature = "parry")]
use crate::solver::FULL_STEP;
use crate::{
    cloth::Cloth,
    components::{ClothBody, ClothConstraints, ClothParticles, ClothSelfContacts},
    grab::ClothGrabs,
    layers::ClothLayers,
    lod::InMotion,
    plugin::ClothSubstepTime,
    settings::{ClothGravity, ClothMaxThreads},
    solver::{
        BodyContactInput, ContactSurface, IntegrateSettings, RelaxSettings, Surface, Workers,
        damp_strains_parallel, integrate_parallel, relax_parallel, solve_tethers_parallel,
        update_and_collide,
    },
    tearing::ClothTearing,
};
use bevy::prelude::*;

/// Returns the substep of a cloth that falls into this one of all cloths, if any.
pub(super) fn due(body: &ClothBody, all: &ClothSubstepTime) -> Option<ClothSubstepTime> {
    match body.update_rate.is_skipped {
        true => None,
        false => body.update_rate.substep(all),
    }
}

pub(crate) fn integrate(
    mut cloths: Query<(&Cloth, &ClothBody, &mut ClothParticles), InMotion>,
    gravity: Res<ClothGravity>,
    time: Res<ClothSubstepTime>,
    threads: Res<ClothMaxThreads>,
    mut workers: ResMut<ClothWorkers>,
) {
    let size = |cloth: &(_, _, Mut<ClothParticles>)| cloth.2.len();
    workers.for_each_cloth(
        *threads,
        cloths.iter_mut(),
        size,
        |workers, (cloth, body, mut p)| {
            if let Some(time) = due(body, &time) {
                integrate_one(workers, cloth, &mut p, &gravity, &time);
            }
        },
    );
}

pub(super) fn integrate_one(
    workers: &mut Workers,
    cloth: &Cloth,
    particles: &mut ClothParticles,
    gravity: &ClothGravity,
    time: &ClothSubstepTime,
) {
    let settings = IntegrateSettings {
        gravity: gravity.0 * cloth.gravity_scale,
        damping: cloth.damping,
        dt: time.substep,
    };
    integrate_parallel(workers, particles, &settings);
}

pub(crate) fn relax(
    mut cloths: Query<
        (
            &Cloth,
            &mut ClothBody,
            Option<&ClothTearing>,
            &ClothGrabs,
            &mut ClothParticles,
            &mut ClothConstraints,
        ),
        InMotion,
    >,
    time: Res<ClothSubstepTime>,
    threads: Res<ClothMaxThreads>,
    mut workers: ResMut<ClothWorkers>,
) {
    let size = |cloth: &(_, _, _, _, Mut<ClothParticles>, _)| cloth.4.len();
    workers.for_each_cloth(
        *threads,
        cloths.iter_mut(),
        size,
        |workers, (cloth, mut body, tearing, grabs, mut p, mut k)| {
            let body = body.bypass_change_detection();
            let k = k.bypass_change_detection();
            // Other systems may have moved particles since integration.
            if let Some(time) = due(body, &time) {
                relax_one(
                    workers,
                    cloth,
                    body,
                    tearing,
                    grabs,
                    &mut p,
                    k,
                    (&time, true),
                );
            }
        },
    );
}

/// Solves constraints and grabs. Both in one system: grabbed particles keep their added mass until the grabs are
/// solved.
pub(super) fn relax_one(
    workers: &mut Workers,
    cloth: &Cloth,
    body: &mut ClothBody,
    tearing: Option<&ClothTearing>,
    grabs: &ClothGrabs,
    particles: &mut ClothParticles,
    constraints: &mut ClothConstraints,
    (time, mut moved): (&ClothSubstepTime, bool),
) {
    grabs.raise_mass(particles, &mut body.grabbed_mass, time);
    let during = [time.index, time.count];
    if !body.bodies.is_empty() {
        body.bodies.advance(particles, during, time.substep);
        moved |= !body.bodies.attachments.is_empty();
    }
    let ramped = body.ramped(cloth, time);
    let settings = RelaxSettings {
        compliance: ramped.compliance,
        stretch_solver: cloth.stretch_solver,
        strain_limit: ramped.strain_limit,
        iterations: body.update_rate.iterations(cloth.iterations),
        dt: time.substep,
        relaxation_factor: ramped.relaxation_factor,
        substeps_left: time.count.saturating_sub(time.index + 1),
        loads: tearing.is_some_and(ClothTearing::by_load),
    };
    if time.index == 0 {
        constraints.prepare(particles);
        damp_strains_parallel(
            workers,
            particles,
            constraints,
            &ramped.compliance,
            &cloth.fabric.constraint_damping(),
            time.step,
        );
    }
    if settings.loads && time.index == 0 {
        constraints.clear_loads();
    }
    if body.had_contact {
        constraints.forget_angular_momentum();
    }
    if moved {
        constraints.exclude_displacements(workers, particles);
    }
    relax_parallel(workers, particles, constraints, &settings);
    if settings.loads {
        constraints.add_loads(time.substep, 1.0 / time.count as f32);
    } else {
        solve_tethers_parallel(workers, particles, &body.tethers, ramped.tether_scale);
    }
    let motion_constraints = &body.reference_frame.motion_constraints;
    motion_constraints.solve_parallel(workers, particles, during);
    grabs.solve(particles, &mut body.grabbed_mass, time);
}

pub(crate) fn collide(
    mut cloths: Query<
        (
            &Cloth,
            &mut ClothBody,
            Option<&ClothLayers>,
            &mut ClothSelfContacts,
            &mut ClothParticles,
        ),
        InMotion,
    >,
    colliders: Res<ActiveColliders>,
    time: Res<ClothSubstepTime>,
    threads: Res<ClothMaxThreads>,
    mut workers: ResMut<ClothWorkers>,
    mut cloth_pairs: ResMut<ClothPairs>,
) {
    type Item<'a> = (
        &'a Cloth,
        Mut<'a, ClothBody>,
        Option<&'a ClothLayers>,
        Mut<'a, ClothSelfContacts>,
        Mut<'a, ClothParticles>,
    );
    let size = |(.., particles): &Item| particles.len();
    let self_collide = |(cloth, body, _, contacts, p): &mut Item| {
        let contacts = contacts.bypass_change_detection();
        if let Some(time) = due(body, &time) {
            contacts.collide(cloth, body, p, &time);
        }
    };
    let collide_others = |workers: &mut Workers, (cloth, mut body, layers, _, mut p): Item| {
        let body = body.bypass_change_detection();
        if let Some(time) = due(body, &time) {
            collide_one(workers, cloth, body, layers, &mut p, &colliders, &time);
        }
    };
    if cloth_pairs.is_empty() {
        workers.for_each_cloth(*threads, cloths.iter_mut(), size, |workers, mut cloth| {
            self_collide(&mut cloth);
            collide_others(workers, cloth);
        });
        return;
    }
    workers.for_each_cloth(*threads, cloths.iter_mut(), size, |_, mut cloth| {
        self_collide(&mut cloth);
    });
    for pair in cloth_pairs.pairs_mut() {
        if let Ok([a, b]) = cloths.get_many_mut(pair.cloths) {
            let (_, mut a, .., mut particles_a) = a;
            let (_, mut b, .., mut particles_b) = b;
            if due(&a, &time).is_none() || due(&b, &time).is_none() {
                continue;
            }
            let triangles = [&a.triangles.indices, &b.triangles.indices];
            if pair.collide([&mut particles_a, &mut particles_b], triangles, &time) {
                a.bypass_change_detection().had_contact = true;
                b.bypass_change_detection().had_contact = true;
            }
        }
    }
    workers.for_each_cloth(*threads, cloths.iter_mut(), size, collide_others);
}

/// Number of colliders above which a cloth selects the near ones once per step.
const MAX_UNFILTERED_COLLIDERS: usize = 16;

/// Speed, as a multiple of that in the first substep, up to which a cloth cannot leave the box in which it finds
/// colliders.
const MAX_SPEEDUP: f32 = 3.0;
/// Margin of that box for other displacements, m.
const BOUNDS_MARGIN: f32 = 0.25;

/// Returns the corners of a box around everything that a cloth may touch in a step.
fn swept_bounds(p: &ClothParticles, surface: &Surface, time: &ClothSubstepTime) -> [Vec3; 2] {
    let (low, high) = p.position.bounds().unwrap_or_default();
    let (back, forth) = p.displacement.bounds().unwrap_or_default();
    let motion = back.abs().max(forth.abs()) * (MAX_SPEEDUP * time.count as f32);
    let margin = motion + (BOUNDS_MARGIN + surface.thickness);
    // Bounds that are not finite contain everything.
    if !margin.is_finite() {
        return [Vec3::NEG_INFINITY, Vec3::INFINITY];
    }
    [p.origin + low - margin, p.origin + high + margin]
}

/// Solves contacts with colliders. They come last: cloth between a collider and other cloth ends outside the
/// collider.
pub(super) fn collide_one(
    workers: &mut Workers,
    cloth: &Cloth,
    body: &mut ClothBody,
    layers: Option<&ClothLayers>,
    particles: &mut ClothParticles,
    colliders: &ActiveColliders,
    time: &ClothSubstepTime,
) {
    let surface = Surface {
        thickness: body.ramped(cloth, time).thickness + body.radius(),
        ..cloth.fabric.surface()
    };
    let steps_covered = body.update_rate.steps_covered();
    let uses_swept_colliders = body.reference_frame.frame_motion.is_some() || steps_covered > 1;
    if uses_swept_colliders && time.index == 0 {
        let frame_motion = body.reference_frame.frame_motion;
        let swept = colliders.on_layers_over_steps(layers, steps_covered);
        let swept = swept.map(|collider| {
            frame_motion.map_or(collider, |motion| motion.relative_collider(&collider))
        });
        body.reference_frame.collider_buffer.clear();
        body.reference_frame.collider_buffer.extend(swept);
    }
    let uses_near_colliders = !uses_swept_colliders && colliders.len() > MAX_UNFILTERED_COLLIDERS;
    if uses_near_colliders && time.index == 0 {
        let near = colliders.near(layers, swept_bounds(particles, &surface, time));
        body.reference_frame.collider_buffer.clear();
        body.reference_frame.collider_buffer.extend(near);
    }
    let (all, own) = match uses_swept_colliders || uses_near_colliders {
        true => (None, &body.reference_frame.collider_buffer[..]),
        false => (Some(colliders.on_layers(layers)), &[][..]),
    };
    let bodies = &mut body.bodies;
    let during = [time.index, time.count];
    if !bodies.is_empty() {
        bodies.apply_attachment_impulses(particles, during, time.substep);
    }
    let active = all
        .into_iter()
        .flatten()
        .chain(own)
        .chain(bodies.kinematic());
    if time.index == 0 {
        let (triangles, thickness) = (&body.triangles, surface.thickness);
        let all = active.clone().chain(bodies.dynamic());
        body.triangle_contacts.prepare(triangles, all, thickness);
    }
    #[cfg(feature = "parry")]
    let meshes = {
        let meshes = colliders
            .meshes
            .on_layers(layers)
            .chain(bodies.kinematic_meshes());
        meshes.map(move |mesh| (mesh, during))
    };
    #[cfg(feature = "parry")]
    {
        let moving = bodies.dynamic_meshes().iter().map(|mesh| (mesh, FULL_STEP));
        let all = meshes.clone().chain(moving);
        (body.mesh_contacts).begin(particles, all, &surface, time.index == 0);
    }
    let mut contact_surface = ContactSurface {
        triangles: &body.triangles,
        triangle_contacts: &mut body.triangle_contacts,
        surface,
    };
    body.had_contact |= update_and_collide(
        workers,
        particles,
        contact_surface.reborrow(),
        active,
        during,
    );
    #[cfg(feature = "parry")]
    {
        (body.mesh_contacts).collide(workers, particles, meshes, &surface, time.index == 0);
        body.had_contact |= body.mesh_contacts.is_near();
    }
    if !bodies.is_empty() {
        let input = BodyContactInput {
            contact_surface,
            #[cfg(feature = "parry")]
            meshes: &mut body.mesh_contacts,
            during,
            dt: time.substep,
        };
        body.had_contact |= bodies.collide(workers, particles, input);
        bodies.restore_attachment_masses(particles);
        // The motion of attached particles is that of the body, not of the cloth.
        body.had_contact |= !bodies.attachments.is_empty();
    }
}
