//! Begins a step: edits of the user take effect, pins get their targets, the wind its forces.

use crate::{
    cloth::Cloth,
    components::{ClothBody, Particles},
    mesh::Topology,
    pins::{BoundPin, PinAnchor, Pins},
    plugin::SubstepTime,
    settings::Wind,
    solver::{Air, apply_air},
};
use bevy::{prelude::*, tasks::ComputeTaskPool};

pub(crate) fn prepare_cloths(
    mut cloths: Query<(Entity, &Cloth, Ref<Pins>, &mut Particles, &mut ClothBody)>,
    transforms: TransformHelper,
    wind: Res<Wind>,
    time: Res<SubstepTime>,
) {
    // Pins first, serially: they follow other entities.
    for (entity, cloth, pins, mut particles, mut body) in &mut cloths {
        if !particles.is_finite() {
            // Somebody wrote a bad number since the last step; `previous` is still good.
            go_back(entity, &mut particles, &mut body);
        }
        let transform_of = |anchor: PinAnchor| match anchor {
            PinAnchor::World => Some(GlobalTransform::IDENTITY),
            PinAnchor::Cloth => transforms.compute_global_transform(entity).ok(),
            PinAnchor::Entity(other) => transforms.compute_global_transform(other).ok(),
        };
        body.glide(cloth, time.count, time.step);
        let areal_density = body.applied(cloth, time.count).areal_density;
        // What has just been built is bound already.
        let rebound = pins.is_changed() && !pins.is_added();
        if rebound {
            rebind(entity, &pins, &particles, &mut body, transform_of);
        }
        if rebound || body.areal_density != areal_density {
            body.set_masses(&mut particles, areal_density);
        }
        let origin = particles.origin;
        let body = &mut *body;
        body.targets.clear();
        let mut last: Option<(PinAnchor, Option<GlobalTransform>)> = None;
        for pin in &mut body.pins {
            // Pins of one anchor mostly stand together; its transform is looked up once.
            let transform = match last {
                Some((anchor, transform)) if anchor == pin.anchor => transform,
                _ => transform_of(pin.anchor),
            };
            last = Some((pin.anchor, transform));
            // Without its anchor a pin stays where it is.
            let target = match transform {
                Some(transform) => pin.target(&transform, origin),
                None => pin.hold(origin),
            };
            body.targets.push(target);
        }
    }

    let begin = |cloth: &Cloth, particles: &mut Particles, body: &ClothBody| {
        particles.begin_step(&body.targets, time.count);
        let air = Air {
            areal_density: body.applied(cloth, time.count).areal_density,
            ..cloth.fabric.air(wind.velocity, wind.air_density)
        };
        apply_air(particles, &body.triangles, &air, time.step);
    };
    if parallel(cloths.iter().len()) {
        cloths
            .par_iter_mut()
            .for_each(|(_, cloth, _, mut particles, body)| begin(cloth, &mut particles, &body));
    } else {
        for (_, cloth, _, mut particles, body) in &mut cloths {
            begin(cloth, &mut particles, &body);
        }
    }
}

/// Whether this many cloths are worth other threads, and there are any.
pub(super) fn parallel(cloths: usize) -> bool {
    cloths > 1 && ComputeTaskPool::try_get().is_some_and(|pool| pool.thread_num() > 1)
}

/// Puts a cloth that met a non-finite number back to its last good state, and reports it, once until
/// it is well again.
pub(super) fn go_back(entity: Entity, particles: &mut Particles, body: &mut ClothBody) {
    particles.restore();
    let areal_density = body.areal_density;
    body.set_masses(particles, areal_density);
    if !std::mem::replace(&mut body.reported, true) {
        error!(
            "cloth {entity}: met a position or force that is not a finite number and went back to \
             its last good state; look for NaN or infinity in what your systems write to its \
             Particles and Constraints"
        );
    }
}

/// Finds the pinned particles anew. Those that were pinned to the same anchor before stay as they
/// are, new ones are held where they are now.
pub(super) fn rebind(
    entity: Entity,
    pins: &Pins,
    particles: &Particles,
    body: &mut ClothBody,
    transform_of: impl Fn(PinAnchor) -> Option<GlobalTransform>,
) {
    let Topology {
        positions,
        vertex_to_particle,
        ..
    } = &body.topology;
    let (wanted, unknown) = pins.resolve(positions, vertex_to_particle);
    if !unknown.is_empty() {
        let count = vertex_to_particle.len();
        warn!("cloth {entity}: no vertex {unknown:?} to pin; its mesh has {count} vertices");
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
                let transform = transform_of(anchor).unwrap_or_else(|| {
                    warn!(
                        "cloth {entity}: pinned to {anchor:?}, which has no Transform or is gone; \
                         particle {particle} stays where it is"
                    );
                    GlobalTransform::IDENTITY
                });
                let place = particles.world_position(particle as usize);
                BoundPin::new(particle, anchor, place, &transform)
            }
        })
        .collect();
}
