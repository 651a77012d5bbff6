//! Hashes everything outside a cloth that may move it.

use super::SleepQueryItem;
use crate::solver::{Collider, MeshCollider, Plane, Zone};
use crate::{
    cloth::{
        Cloth,
        fingerprint::Fingerprint,
        planar_constraint::plane_of,
        schedule::{ClothStepSchedule, step_length},
        settings::{ClothGravity, ClothSubsteps},
    },
    collision::{active_colliders::ActiveColliders, bodies, layers::ClothLayers},
    sleep::SleepInputs,
    wind::{
        active_zones::ActiveWindZones,
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    },
};
use bevy::{ecs::system::SystemParam, prelude::*};

/// Everything outside a cloth that may move it.
#[derive(SystemParam)]
pub(crate) struct SleepParams<'w, 's> {
    gravity: Res<'w, ClothGravity>,
    wind: Res<'w, Wind>,
    wind_time: Res<'w, WindTime>,
    turbulence: Res<'w, WindTurbulence>,
    occlusion: Res<'w, WindOcclusion>,
    zones: Res<'w, ActiveWindZones>,
    colliders: Res<'w, ActiveColliders>,
    substeps: Res<'w, ClothSubsteps>,
    clock: Res<'w, Time>,
    schedule: Res<'w, ClothStepSchedule>,
    transforms: TransformHelper<'w, 's>,
}

impl SleepParams<'_, '_> {
    /// Returns the fingerprint of inputs common to all cloths.
    pub(super) fn common(&self) -> Fingerprint {
        let mut fingerprint = Fingerprint::default();
        fingerprint.vector(self.gravity.0);
        match *self.substeps {
            ClothSubsteps::Every(seconds) => fingerprint.numbers(&[seconds]),
            ClothSubsteps::PerStep(count) => fingerprint.word(count.into()),
        }
        // In other schedules the length of a step varies, like that of frames.
        if self.schedule.is_fixed() {
            fingerprint.numbers(&[step_length(&self.clock)]);
        }
        fingerprint
    }

    /// Returns a fingerprint of everything outside all cloths, no matter which of them it can move.
    pub(super) fn surroundings(&self, common: &Fingerprint) -> u64 {
        let mut fingerprint = common.clone();
        let everywhere = [Vec3::NEG_INFINITY, Vec3::INFINITY];
        self.hash_wind(&mut fingerprint, everywhere);
        for (collider, layers) in self.colliders.with_layers() {
            hash_layers(&mut fingerprint, layers);
            hash_collider(&mut fingerprint, collider);
        }
        for (mesh, layers) in self.colliders.meshes.with_layers() {
            hash_layers(&mut fingerprint, layers);
            hash_mesh(&mut fingerprint, mesh);
        }
        fingerprint.value()
    }

    /// Returns the inputs of a cloth within these bounds.
    pub(super) fn sleep_inputs(
        &self,
        common: &Fingerprint,
        bounds: [Vec3; 2],
        cloth: &SleepQueryItem,
    ) -> SleepInputs {
        SleepInputs {
            cloth: Cloth::clone(&cloth.cloth),
            tearing: cloth.tearing.as_deref().cloned(),
            ramped: cloth.body.ramped,
            fingerprint: self.fingerprint(common, bounds, cloth),
        }
    }

    /// Returns the fingerprint of the surroundings of a cloth within these bounds.
    pub(super) fn fingerprint(
        &self,
        common: &Fingerprint,
        bounds: [Vec3; 2],
        cloth: &SleepQueryItem,
    ) -> u64 {
        let mut fingerprint = common.clone();
        self.hash_air(&mut fingerprint, bounds, &cloth.cloth);
        for collider in self.colliders.near(cloth.layers.as_deref(), bounds) {
            hash_collider(&mut fingerprint, collider);
        }
        self.hash_meshes(&mut fingerprint, bounds, cloth);
        bodies::add_to_fingerprint(&mut fingerprint, cloth.bodies);
        self.hash_pins(&mut fingerprint, cloth);
        self.hash_reference_frame(&mut fingerprint, cloth);
        let plane = cloth
            .planar
            .as_ref()
            .and_then(|planar| plane_of(cloth.entity, planar, &self.transforms));
        if let Some(Plane { point, normal }) = plane {
            fingerprint.word(u64::MAX);
            fingerprint.vector(point);
            fingerprint.vector(normal);
        }
        if let Some(pressure) = &cloth.pressure {
            fingerprint.numbers(&[pressure.overpressure, pressure.ambient]);
        }
        fingerprint.value()
    }

    /// Hashes the wind within bounds, if the cloth feels any.
    fn hash_air(&self, fingerprint: &mut Fingerprint, bounds: [Vec3; 2], cloth: &Cloth) {
        let (fabric, wind) = (&cloth.fabric, &self.wind);
        let feels = wind.air_density > 0.0 && (fabric.drag > 0.0 || fabric.lift > 0.0);
        fingerprint.word(feels.into());
        if feels {
            self.hash_wind(fingerprint, bounds);
        }
    }

    /// Hashes the wind within bounds.
    fn hash_wind(&self, fingerprint: &mut Fingerprint, bounds: [Vec3; 2]) {
        let (time, wind) = (self.wind_time.0, &self.wind);
        fingerprint.vector(wind.at(time));
        fingerprint.numbers(&[wind.air_density]);
        if self.turbulence.strength > 0.0 {
            let WindTurbulence {
                strength,
                size,
                period,
                seed,
            } = *self.turbulence;
            fingerprint.numbers(&[strength, size, period]);
            fingerprint.word(seed.into());
            fingerprint.word(time.to_bits());
        }
        for zone in self.zones.list.iter().filter(|zone| zone.reaches(bounds)) {
            hash_zone(fingerprint, zone);
        }
        // Colliders that block the wind may be far away.
        if let Some(occlusion) =
            (self.colliders).occlusion(self.occlusion.length, self.occlusion.spread)
        {
            fingerprint.numbers(&[occlusion.length, occlusion.spread]);
            for collider in occlusion.colliders {
                hash_collider(fingerprint, collider);
            }
        }
    }

    /// Hashes the mesh colliders within bounds.
    fn hash_meshes(
        &self,
        fingerprint: &mut Fingerprint,
        [low, high]: [Vec3; 2],
        cloth: &SleepQueryItem,
    ) {
        for mesh in self.colliders.meshes.on_layers(cloth.layers.as_deref()) {
            let [from, to] = mesh.swept_bounds();
            if low.cmple(to).all() && from.cmple(high).all() {
                hash_mesh(fingerprint, mesh);
            }
        }
    }

    /// Hashes the transforms of its skeleton and reference frame.
    fn hash_reference_frame(&self, fingerprint: &mut Fingerprint, cloth: &SleepQueryItem) {
        if let Some(skin) = cloth.skin {
            for &joint in &skin.joints {
                self.hash_transform(fingerprint, joint);
            }
        } else if !cloth.frame.motion_constraints.is_empty() {
            self.hash_transform(fingerprint, cloth.entity);
        }
        let motion = cloth.motion.as_ref();
        if let Some(frame) = motion.and_then(|motion| motion.frame_of(cloth.entity)) {
            self.hash_transform(fingerprint, frame);
        }
    }

    fn hash_transform(&self, fingerprint: &mut Fingerprint, entity: Entity) {
        match self.transforms.compute_global_transform(entity) {
            Ok(transform) => fingerprint.numbers(&transform.affine().to_cols_array()),
            Err(_) => fingerprint.word(u64::MAX),
        }
    }

    /// Hashes the transforms of pin anchors.
    fn hash_pins(&self, fingerprint: &mut Fingerprint, cloth: &SleepQueryItem) {
        let mut last = None;
        for pin in &cloth.bound_pins.pins {
            // Pins of one anchor are mostly consecutive.
            if last == Some(pin.anchor) {
                continue;
            }
            last = Some(pin.anchor);
            if let Some(anchor) = pin.anchor.entity_of(cloth.entity) {
                self.hash_transform(fingerprint, anchor);
            }
        }
    }
}

fn hash_collider(fingerprint: &mut Fingerprint, collider: &Collider) {
    let Collider {
        shape,
        start,
        end,
        friction,
        hollow,
    } = collider;
    let (kind, lengths) = shape.numbers();
    fingerprint.word(u64::from(kind) << 1 | u64::from(*hollow));
    fingerprint.numbers(&lengths);
    fingerprint.pose(start);
    fingerprint.pose(end);
    fingerprint.numbers(&[friction.static_coefficient, friction.kinetic_coefficient]);
}

fn hash_mesh(fingerprint: &mut Fingerprint, mesh: &MeshCollider) {
    for word in mesh.surface_version() {
        fingerprint.word(word);
    }
    hash_collider(fingerprint, &mesh.bounding_collider());
}

fn hash_layers(fingerprint: &mut Fingerprint, layers: &ClothLayers) {
    fingerprint.word(u64::from(layers.memberships) << 32 | u64::from(layers.filters));
}

fn hash_zone(fingerprint: &mut Fingerprint, zone: &Zone) {
    let Zone {
        shape,
        flow,
        falloff,
        strength,
        core,
        pose,
    } = zone;
    let (kind, lengths) = shape.numbers();
    fingerprint.word(u64::from(kind) << 16 | (*flow as u64) << 8 | *falloff as u64);
    fingerprint.numbers(&lengths);
    fingerprint.numbers(&[*strength, *core]);
    fingerprint.pose(pose);
}
