//! Runs the substeps, and the three phases of each.

use super::{colliders::ActiveColliders, parallel::for_all};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles},
    plugin::{ClothSubstep, SubstepTime},
    settings::ClothGravity,
    solver::{self, Integration, Relaxation, Surface, update_displacements},
    tearing::Tearing,
};
use bevy::prelude::*;

pub(crate) fn run_substeps(world: &mut World) {
    let time = *world.resource::<SubstepTime>();
    if time.substep <= 0.0 {
        return;
    }
    world.schedule_scope(ClothSubstep, |world, schedule| {
        for index in 0..time.count {
            world.insert_resource(SubstepTime { index, ..time });
            schedule.run(world);
        }
    });
}

pub(crate) fn integrate(
    mut cloths: Query<(&Cloth, &mut Particles)>,
    gravity: Res<ClothGravity>,
    time: Res<SubstepTime>,
) {
    let work = |cloth: &Cloth, particles: &mut Particles| {
        let by = Integration {
            gravity: gravity.0 * cloth.gravity_scale,
            damping: cloth.damping,
            dt: time.substep,
        };
        solver::integrate(particles, &by);
    };
    for_all(&mut cloths, |(c, mut p)| work(c, &mut p));
}

pub(crate) fn relax(
    mut cloths: Query<(
        &Cloth,
        &ClothBody,
        Option<&Tearing>,
        &mut Particles,
        &mut Constraints,
    )>,
    time: Res<SubstepTime>,
) {
    let work = |cloth: &Cloth,
                body: &ClothBody,
                tearing: Option<&Tearing>,
                particles: &mut Particles,
                k: &mut Constraints| {
        let applied = body.applied(cloth, &time);
        let by = Relaxation {
            compliance: applied.compliance,
            threads: cloth.threads,
            iterations: cloth.iterations,
            dt: time.substep,
            strength: applied.strength,
            loads: tearing.is_some_and(Tearing::by_load),
        };
        if time.index == 0 {
            k.prepare(particles);
        }
        if by.loads && time.index == 0 {
            k.clear_loads();
        }
        solver::relax(particles, k, &by);
        if by.loads {
            k.add_loads(time.substep, 1.0 / time.count as f32);
        } else {
            solver::hold_tethers(particles, &body.tethers, applied.tether_scale);
        }
    };
    for_all(&mut cloths, |(c, b, t, mut p, mut k)| {
        work(c, b, t, &mut p, k.bypass_change_detection());
    });
}

pub(crate) fn collide(
    mut cloths: Query<(&Cloth, &ClothBody, &mut Particles)>,
    colliders: Res<ActiveColliders>,
    time: Res<SubstepTime>,
) {
    let work = |cloth: &Cloth, body: &ClothBody, particles: &mut Particles| {
        update_displacements(particles);
        let surface = Surface {
            thickness: body.applied(cloth, &time).thickness + body.radius(),
            ..cloth.fabric.surface()
        };
        solver::collide(particles, &colliders.list, &surface, time.index, time.count);
    };
    for_all(&mut cloths, |(c, b, mut p)| work(c, b, &mut p));
}
