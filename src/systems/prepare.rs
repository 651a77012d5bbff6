//! Begins a step: edits of the user take effect, pins get their targets, the wind its forces.

use super::{
    colliders::ActiveColliders, parallel::ClothCrew, pressure, tethers, wind_zones::ActiveWindZones,
};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles, Stale},
    mesh::Topology,
    pins::{BoundPin, PinAnchor, Pins},
    plugin::SubstepTime,
    pressure::Pressure,
    settings::{ClothThreads, Substeps, Turbulence, Wind, WindOcclusion, WindTime},
    sleep::ClothSleeping,
    solver::{Air, apply_air_in_shared, apply_internal_friction},
    tearing::Tearing,
};
use bevy::{ecs::system::NonSendMarker, prelude::*};

/// Longest step that is taken at once, s; after a longer pause the cloth loses time, not its shape.
const LONGEST_STEP: f32 = 0.1;

/// How long the coming step is, s.
pub(super) fn step_length(clock: &Time) -> f32 {
    clock.delta_secs().min(LONGEST_STEP)
}

/// What a cloth has whose `Pins` were removed.
static NO_PINS: Pins = Pins { pins: Vec::new() };

pub(crate) fn prepare_cloths(
    mut cloths: Query<
        (
            Entity,
            &Cloth,
            Option<&Pins>,
            (Option<&Tearing>, Option<&Pressure>),
            &Constraints,
            &mut Particles,
            &mut ClothBody,
        ),
        Without<ClothSleeping>,
    >,
    transforms: TransformHelper,
    wind: Res<Wind>,
    mut wind_time: ResMut<WindTime>,
    turbulence: Res<Turbulence>,
    zones: Res<ActiveWindZones>,
    (occlusion, colliders): (Res<WindOcclusion>, Res<ActiveColliders>),
    substeps: Res<Substeps>,
    clock: Res<Time>,
    mut time: ResMut<SubstepTime>,
    mut crew: ResMut<ClothCrew>,
    threads: Res<ClothThreads>,
    // A core that waits for this system on the main thread would be one that does not help.
    _on_the_main_thread: NonSendMarker,
) {
    let step = step_length(&clock);
    *time = SubstepTime {
        step,
        substep: step / substeps.0 as f32,
        index: 0,
        count: substeps.0,
    };
    let time = *time;
    // The very first frame of a schedule other than `FixedUpdate` has no length yet.
    if step <= 0.0 {
        return;
    }
    **wind_time += f64::from(step);
    let blowing = wind.at(**wind_time);
    let air_density = wind.air_density;
    let occlusion = colliders.occlusion(&occlusion);
    let field = zones.field(&turbulence, **wind_time, occlusion);
    let size = |cloth: &(_, _, _, _, _, Mut<Particles>, _)| cloth.5.len();
    crew.for_all(*threads, cloths.iter_mut(), size, |leader, cloth| {
        let (entity, cloth, pins, (tearing, pressure), constraints, mut particles, mut body) =
            cloth;
        if !particles.is_finite_shared(leader) {
            // Somebody wrote a bad number since the last step; `previous` is still good.
            go_back(entity, &mut particles, &mut body);
        }
        body.glide(cloth, &time);
        let areal_density = body.applied(cloth, &time).areal_density;
        // Compared with what is bound, not asked for changes: those may be from any time since
        // the cloth was built, and a cloth without `Pins` has none.
        let wanted = pins.unwrap_or(&NO_PINS);
        let rebound = body.bound != *wanted;
        if rebound {
            rebind(entity, wanted, &particles, &mut body);
        }
        if rebound || body.areal_density != areal_density {
            body.set_masses(&mut particles, areal_density);
        }
        // A limit that holds threads would keep them from tearing.
        let strain_limit = match tearing {
            Some(_) => f32::INFINITY,
            None => cloth.fabric.strain(),
        };
        body.glide_strain_limit(strain_limit, &particles, constraints, time.step);
        tethers::prepare(
            cloth.tethers(strain_limit),
            tearing,
            constraints,
            &particles,
            &mut body,
            time.step,
        );
        pressure::prepare(entity, pressure, &particles, &mut body, time.step);
        aim_pins(entity, &mut body, particles.origin, &transforms);
        apply_internal_friction(&mut particles, cloth.fabric.internal_friction, time.step);
        particles.begin_step_shared(leader, &body.targets, time.count);
        let air = Air {
            areal_density,
            ..cloth.fabric.air(blowing, air_density)
        };
        let (p, lines) = (&mut particles, body.rope.as_ref().map(|rope| &rope.lines));
        apply_air_in_shared(leader, &field, p, &body.triangles, lines, &air, time.step);
    });
}

/// Finds where the pins of a cloth go in this step.
fn aim_pins(entity: Entity, body: &mut ClothBody, origin: Vec3, transforms: &TransformHelper) {
    let transform_of = |anchor: PinAnchor| match anchor {
        PinAnchor::World => None,
        PinAnchor::Cloth => transforms.compute_global_transform(entity).ok(),
        PinAnchor::Entity(other) => transforms.compute_global_transform(other).ok(),
    };
    body.targets.clear();
    let mut last: Option<(PinAnchor, Option<GlobalTransform>)> = None;
    for pin in &mut body.pins {
        // Pins of one anchor mostly stand together; its transform is looked up once.
        let transform = match last {
            Some((anchor, transform)) if anchor == pin.anchor => transform,
            _ => transform_of(pin.anchor),
        };
        last = Some((pin.anchor, transform));
        body.targets.push(pin.target(transform.as_ref(), origin));
    }
}

/// Good steps after which a cloth that met a non-finite number again is worth a new line in the log.
const SILENT_STEPS: u32 = 60;

/// Puts a cloth that met a non-finite number back to its last good state, and reports it, once until
/// it is well again.
pub(super) fn go_back(entity: Entity, particles: &mut Particles, body: &mut ClothBody) {
    particles.restore();
    let areal_density = body.areal_density;
    body.set_masses(particles, areal_density);
    if std::mem::replace(&mut body.silent_steps, SILENT_STEPS) == 0 {
        error!(
            "cloth {entity}: met a position or force that is not a finite number and went back to \
             its last good state; look for NaN or infinity in what your systems write to its \
             Particles and Constraints"
        );
    }
}

/// Finds the pinned particles anew. Those that were pinned to the same anchor before stay as they
/// are, new ones are held where they are now.
pub(super) fn rebind(entity: Entity, pins: &Pins, particles: &Particles, body: &mut ClothBody) {
    body.bound = pins.clone();
    body.reach.stale = Stale::All;
    let Topology {
        positions,
        vertex_to_particle,
        ..
    } = &body.topology;
    let (mut wanted, unknown) = pins.resolve(positions, vertex_to_particle);
    if let Some(torn) = &body.torn {
        // What holds a particle holds all that has become of it.
        let mut anchors: Vec<Option<PinAnchor>> = vec![None; positions.len()];
        for &(particle, anchor) in &wanted {
            anchors[particle as usize] = Some(anchor);
        }
        let copies = (positions.len() as u32..).zip(&torn.ancestor);
        wanted.extend(copies.filter_map(|(copy, &of)| {
            let anchor = anchors.get(of as usize).copied().flatten();
            anchor.map(|anchor| (copy, anchor))
        }));
    }
    if !unknown.is_empty() {
        let count = vertex_to_particle.len();
        if body.rope.is_some() {
            warn!("rope {entity}: no particle {unknown:?} to pin; it has {count} particles");
        } else {
            warn!("cloth {entity}: no vertex {unknown:?} to pin; its mesh has {count} vertices");
        }
    }
    let mut before: Vec<Option<BoundPin>> = vec![None; particles.len()];
    for pin in body.pins.drain(..) {
        before[pin.particle as usize] = Some(pin);
    }
    body.pins = wanted
        .into_iter()
        .map(|(particle, anchor)| match before[particle as usize] {
            Some(pin) if pin.anchor == anchor => pin,
            _ => {
                let place = particles.position.get(particle as usize);
                BoundPin::new(particle, anchor, place, particles.origin)
            }
        })
        .collect();
}
