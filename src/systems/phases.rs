//! The phases of a substep: systems that take one for all cloths, and what each does to one cloth.

use super::{colliders::ActiveColliders, parallel::ClothCrew, touching::ClothsTouching};
#[cfg(feature = "parry")]
use crate::solver::WHOLE;
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles, SelfContacts},
    grab::ClothGrabs,
    layers::ClothLayers,
    lod::InMotion,
    plugin::SubstepTime,
    settings::{ClothGravity, ClothThreads},
    solver::{
        Integration, Leader, Relaxation, Skin, Surface, Touching, collide_shared,
        damp_strains_shared, hold_tethers_shared, integrate_shared, relax_shared,
    },
    tearing::Tearing,
};
use bevy::prelude::*;

/// The substep of a cloth, if it has one in this one of all cloths.
pub(super) fn due(body: &ClothBody, all: &SubstepTime) -> Option<SubstepTime> {
    match body.pace.waits {
        true => None,
        false => body.pace.substep(all),
    }
}

pub(crate) fn integrate(
    mut cloths: Query<(&Cloth, &ClothBody, &mut Particles), InMotion>,
    gravity: Res<ClothGravity>,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
) {
    let size = |cloth: &(_, _, Mut<Particles>)| cloth.2.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (cloth, body, mut p)| {
            if let Some(time) = due(body, &time) {
                integrate_one(leader, cloth, &mut p, &gravity, &time);
            }
        },
    );
}

pub(super) fn integrate_one(
    leader: &mut Leader,
    cloth: &Cloth,
    particles: &mut Particles,
    gravity: &ClothGravity,
    time: &SubstepTime,
) {
    let by = Integration {
        gravity: gravity.0 * cloth.gravity_scale,
        damping: cloth.damping,
        dt: time.substep,
    };
    integrate_shared(leader, particles, &by);
}

pub(crate) fn relax(
    mut cloths: Query<
        (
            &Cloth,
            &mut ClothBody,
            Option<&Tearing>,
            &ClothGrabs,
            &mut Particles,
            &mut Constraints,
        ),
        InMotion,
    >,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
) {
    let size = |cloth: &(_, _, _, _, Mut<Particles>, _)| cloth.4.len();
    crew.for_all(
        *threads,
        cloths.iter_mut(),
        size,
        |leader, (cloth, mut body, tearing, grabs, mut p, mut k)| {
            let body = body.bypass_change_detection();
            let k = k.bypass_change_detection();
            // Anybody may have moved particles since integration.
            if let Some(time) = due(body, &time) {
                relax_one(
                    leader,
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

/// Constraints, and hands. Nobody comes between: what is held weighs more until both are done.
pub(super) fn relax_one(
    leader: &mut Leader,
    cloth: &Cloth,
    body: &mut ClothBody,
    tearing: Option<&Tearing>,
    grabs: &ClothGrabs,
    particles: &mut Particles,
    k: &mut Constraints,
    (time, mut moved): (&SubstepTime, bool),
) {
    grabs.take(particles, &mut body.in_hand, time);
    let during = [time.index, time.count];
    if !body.bodies.is_empty() {
        body.bodies.lead(particles, during, time.substep);
        moved |= !body.bodies.held.is_empty();
    }
    let applied = body.applied(cloth, time);
    let by = Relaxation {
        compliance: applied.compliance,
        threads: cloth.threads,
        strain_limit: applied.strain_limit,
        iterations: body.pace.iterations(cloth.iterations),
        dt: time.substep,
        strength: applied.strength,
        to_come: time.count.saturating_sub(time.index + 1),
        loads: tearing.is_some_and(Tearing::by_load),
    };
    if time.index == 0 {
        k.prepare(particles);
        damp_strains_shared(
            leader,
            particles,
            k,
            &applied.compliance,
            &cloth.fabric.retardation(),
            time.step,
        );
    }
    if by.loads && time.index == 0 {
        k.clear_loads();
    }
    if body.touched {
        k.forget_spin();
    }
    if moved {
        k.disregard_moves(leader, particles);
    }
    relax_shared(leader, particles, k, &by);
    if by.loads {
        k.add_loads(time.substep, 1.0 / time.count as f32);
    } else {
        hold_tethers_shared(leader, particles, &body.tethers, applied.tether_scale);
    }
    let limits = &body.guide.limits;
    limits.hold_shared(leader, particles, during);
    grabs.hold(particles, &mut body.in_hand, time);
}

pub(crate) fn collide(
    mut cloths: Query<
        (
            &Cloth,
            &mut ClothBody,
            Option<&ClothLayers>,
            &mut SelfContacts,
            &mut Particles,
        ),
        InMotion,
    >,
    colliders: Res<ActiveColliders>,
    time: Res<SubstepTime>,
    threads: Res<ClothThreads>,
    mut crew: ResMut<ClothCrew>,
    mut touching: ResMut<ClothsTouching>,
) {
    type Item<'a> = (
        &'a Cloth,
        Mut<'a, ClothBody>,
        Option<&'a ClothLayers>,
        Mut<'a, SelfContacts>,
        Mut<'a, Particles>,
    );
    let size = |(.., particles): &Item| particles.len();
    let itself = |(cloth, body, _, contacts, p): &mut Item| {
        let contacts = contacts.bypass_change_detection();
        if let Some(time) = due(body, &time) {
            contacts.collide(cloth, body, p, &time);
        }
    };
    let rest = |leader: &mut Leader, (cloth, mut body, layers, _, mut p): Item| {
        let body = body.bypass_change_detection();
        if let Some(time) = due(body, &time) {
            collide_one(leader, cloth, body, layers, &mut p, &colliders, &time);
        }
    };
    if touching.is_empty() {
        crew.for_all(*threads, cloths.iter_mut(), size, |leader, mut cloth| {
            itself(&mut cloth);
            rest(leader, cloth);
        });
        return;
    }
    crew.for_all(*threads, cloths.iter_mut(), size, |_, mut cloth| {
        itself(&mut cloth);
    });
    for pair in touching.pairs_mut() {
        if let Ok([a, b]) = cloths.get_many_mut(pair.cloths) {
            let (_, mut a, .., mut of_a) = a;
            let (_, mut b, .., mut of_b) = b;
            if due(&a, &time).is_none() || due(&b, &time).is_none() {
                continue;
            }
            let triangles = [&a.triangles.indices, &b.triangles.indices];
            if pair.collide([&mut of_a, &mut of_b], triangles, &time) {
                a.bypass_change_detection().touched = true;
                b.bypass_change_detection().touched = true;
            }
        }
    }
    crew.for_all(*threads, cloths.iter_mut(), size, rest);
}

/// With more colliders than this, a cloth looks once a step which of them are near.
const CROWD: usize = 16;

/// How much faster than in its first substep a cloth may get in a step, and how much farther it may be moved
/// all the same, m, and still meet all colliders.
const HASTE: f32 = 3.0;
const LEEWAY: f32 = 0.25;

/// The corners of a box around all that a cloth may touch in a step.
fn reach(p: &Particles, surface: &Surface, time: &SubstepTime) -> [Vec3; 2] {
    let (low, high) = p.position.bounds().unwrap_or_default();
    let (back, forth) = p.displacement.bounds().unwrap_or_default();
    let way = back.abs().max(forth.abs()) * (HASTE * time.count as f32);
    let margin = way + (LEEWAY + surface.thickness);
    // Of what is not finite nothing is known.
    if !margin.is_finite() {
        return [Vec3::NEG_INFINITY, Vec3::INFINITY];
    }
    [p.origin + low - margin, p.origin + high + margin]
}

/// Contacts with colliders. They come last and have the last word: cloth between other cloth and them
/// stays outside.
pub(super) fn collide_one(
    leader: &mut Leader,
    cloth: &Cloth,
    body: &mut ClothBody,
    layers: Option<&ClothLayers>,
    particles: &mut Particles,
    colliders: &ActiveColliders,
    time: &SubstepTime,
) {
    let surface = Surface {
        thickness: body.applied(cloth, time).thickness + body.radius(),
        ..cloth.fabric.surface()
    };
    let covers = body.pace.covers();
    let sees_others = body.guide.carried.is_some() || covers > 1;
    if sees_others && time.index == 0 {
        let carried = body.guide.carried;
        let seen = colliders.meeting_since(layers, covers);
        let seen = seen.map(|met| carried.map_or(met, |carry| carry.seen(&met)));
        body.guide.colliders.clear();
        body.guide.colliders.extend(seen);
    }
    let is_crowded = !sees_others && colliders.len() > CROWD;
    if is_crowded && time.index == 0 {
        let near = colliders.near(layers, reach(particles, &surface, time));
        body.guide.colliders.clear();
        body.guide.colliders.extend(near);
    }
    let (all, own) = match sees_others || is_crowded {
        true => (None, &body.guide.colliders[..]),
        false => (Some(colliders.meeting(layers)), &[][..]),
    };
    let bodies = &mut body.bodies;
    let during = [time.index, time.count];
    if !bodies.is_empty() {
        bodies.follow(particles, during, time.substep);
    }
    let met = all.into_iter().flatten().chain(own).chain(bodies.fixed());
    if time.index == 0 {
        let (triangles, thickness) = (&body.triangles, surface.thickness);
        let all = met.clone().chain(bodies.moving());
        body.facets.prepare(triangles, all, thickness);
    }
    #[cfg(feature = "parry")]
    let meshes = {
        let meshes = colliders
            .meshes
            .meeting(layers)
            .chain(bodies.fixed_meshes());
        meshes.map(move |mesh| (mesh, during))
    };
    #[cfg(feature = "parry")]
    {
        let moving = bodies.moving_meshes().iter().map(|mesh| (mesh, WHOLE));
        let all = meshes.clone().chain(moving);
        (body.mesh_contacts).begin(particles, all, &surface, time.index == 0);
    }
    let mut skin = Skin {
        triangles: &body.triangles,
        facets: &mut body.facets,
        surface,
    };
    body.touched |= collide_shared(leader, particles, skin.reborrow(), met, during);
    #[cfg(feature = "parry")]
    {
        (body.mesh_contacts).collide(leader, particles, meshes, &surface, time.index == 0);
        body.touched |= body.mesh_contacts.is_near();
    }
    if !bodies.is_empty() {
        let touching = Touching {
            skin,
            #[cfg(feature = "parry")]
            meshes: &mut body.mesh_contacts,
            during,
            dt: time.substep,
        };
        body.touched |= bodies.touch(leader, particles, touching);
        bodies.release(particles);
        // What a piece of a body has of its motion is not the cloth's.
        body.touched |= !bodies.held.is_empty();
    }
}
