//! Keeps air in closed cloth.

use crate::{
    components::{ClothBody, Enclosure, Particles},
    lod::InMotion,
    plugin::SubstepTime,
    pressure::Pressure,
    solver::{self, EnclosedAir, ParticleArrays},
};
use bevy::prelude::*;

/// Shares of all its air that can be pumped in or let out, 1/s.
const PUMPED: f32 = 1.0;

/// Brings the air in a cloth up to date, and reports what can hold none.
pub(super) fn prepare(
    entity: Entity,
    pressure: Option<&Pressure>,
    particles: &ParticleArrays,
    body: &mut ClothBody,
    dt: f32,
) {
    let rest_volume = pressure.and_then(|_| rest_volume(entity, body));
    let Some(applied) = &mut body.applied else {
        return;
    };
    let (Some(pressure), Some(rest_volume)) = (pressure, rest_volume) else {
        applied.air = 0.0;
        return;
    };
    let wanted = (pressure.ambient + pressure.overpressure) * rest_volume.abs();
    if applied.air == 0.0 {
        // What it has taken in by itself: as much as it has room for.
        let corners = &body.triangles.indices;
        let now = solver::enclosed_volume(corners, |i| particles.position.get(i as usize));
        let part = (now / rest_volume).clamp(0.01, 1.0);
        applied.air = pressure.ambient * part * rest_volume.abs();
    }
    let most = PUMPED * dt * wanted.max(applied.air);
    applied.air += (wanted - applied.air).clamp(-most, most);
}

/// The volume of a cloth at rest, if it is closed. Measured again when it is opened, mended or scaled.
fn rest_volume(entity: Entity, body: &mut ClothBody) -> Option<f32> {
    let to_world = body.reach.to_world;
    let of = Some((to_world, body.rest().len()));
    if body.enclosure.of != of {
        let corners = &body.triangles.indices;
        let rest = body.rest();
        let closed = solver::is_closed(corners);
        let volume = solver::enclosed_volume(corners, |i| to_world * rest[i as usize]);
        let holds = closed && volume != 0.0 && volume.is_finite();
        if !holds && body.torn.is_none() {
            error!(
                "cloth {entity}: its mesh is {}, so it holds no air and Pressure does nothing; close \
                 it so that each edge has a triangle on both sides, all facing the same way",
                if closed { "flat" } else { "open" }
            );
        }
        body.enclosure = Enclosure {
            of,
            rest_volume: holds.then_some(volume),
        };
    }
    body.enclosure.rest_volume
}

use super::phases::due;

pub(crate) fn inflate_all(
    mut cloths: Query<(&ClothBody, &Pressure, &mut Particles), InMotion>,
    time: Res<SubstepTime>,
) {
    for (body, pressure, mut particles) in &mut cloths {
        if let Some(time) = due(body, &time) {
            inflate_one(body, Some(pressure), &mut particles, &time);
        }
    }
}

pub(super) fn inflate_one(
    body: &ClothBody,
    pressure: Option<&Pressure>,
    particles: &mut Particles,
    time: &SubstepTime,
) {
    let air = body.applied.map_or(0.0, |applied| applied.air);
    if let (Some(pressure), Some(volume)) = (pressure, body.enclosure.rest_volume) {
        let air = EnclosedAir {
            amount: air,
            ambient: pressure.ambient,
            inside_out: volume < 0.0,
        };
        solver::inflate(particles, &body.triangles.indices, &air, time.substep);
    }
}
