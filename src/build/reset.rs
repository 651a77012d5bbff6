//! Resets a cloth to its untorn rest shape.

use crate::solver::{ParticleArrays, SoaVec3, break_symmetry, particles::is_within_reach};
use crate::{
    build::shared::BuiltFrom,
    character::{
        frame_history::{FrameHistory, ReferenceFrame},
        inertia::ClothInertia,
        max_distance::ClothMaxDistance,
        multipliers::{MeshPaint, PaintedShape, bind_stiffness},
        paint::ClothPaint,
        reference_frame::{bind_motion_constraints, rebind_pins, record_anchor_poses},
        skin_weights::SkinWeights,
    },
    cloth::{
        Cloth, ResetCloth,
        body::ClothBody,
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        planar::PlanarCloth,
        shape::ClothShape,
        source::ClothSource,
        tethers::StaleDistances,
        transforms::is_usable,
    },
    collision::{bodies::ClothBodies, contacts::ClothContacts},
    grab::{ClothGrabs, release_all},
    label::{EntityLabel, EntityLabelItem},
    pins::{BoundPins, Pins, bind::NO_PINS},
    render::own_mesh::ClothMesh,
    rope::RopeBody,
    tearing::{ClothTearing, TearProgress},
};
use bevy::{
    ecs::{query::QueryData, system::SystemParam},
    prelude::*,
};
use std::sync::Arc;

/// Components of a cloth that a reset reads and writes.
#[derive(QueryData)]
#[query_data(mutable)]
pub(crate) struct ResetQuery {
    label: EntityLabel,
    cloth: &'static Cloth,
    pins: Option<&'static Pins>,
    paint: Option<&'static ClothPaint>,
    max_distance: Option<&'static ClothMaxDistance>,
    inertia: Option<&'static ClothInertia>,
    rope: Option<&'static RopeBody>,
    built_from: &'static BuiltFrom,
    mesh_paint: &'static MeshPaint,
    source: &'static ClothSource,
    particles: &'static mut ClothParticles,
    constraints: &'static mut ClothConstraints,
    body: &'static mut ClothBody,
    shape: &'static mut ClothShape,
    multipliers: &'static mut ParticleMultipliers,
    bound_pins: &'static mut BoundPins,
    frame: &'static mut ReferenceFrame,
    skin: Option<&'static mut SkinWeights>,
    contacts: &'static mut ClothContacts,
    bodies: &'static ClothBodies,
    progress: &'static mut TearProgress,
    grabs: &'static mut ClothGrabs,
    mesh: &'static mut ClothMesh,
    is_planar: Has<PlanarCloth>,
    is_tearable: Has<ClothTearing>,
}

/// Event on a cloth that was built in another pose than that of its entity.
#[derive(EntityEvent)]
pub(crate) struct PlaceCloth {
    pub(super) entity: Entity,
}

/// World that a reset reads and writes.
#[derive(SystemParam)]
pub(crate) struct ResetParams<'w, 's> {
    cloths: Query<'w, 's, ResetQuery>,
    transforms: TransformHelper<'w, 's>,
    meshes: Option<ResMut<'w, Assets<Mesh>>>,
    commands: Commands<'w, 's>,
}

/// Resets a cloth on request.
pub(crate) fn reset(event: On<ResetCloth>, params: ResetParams) {
    reset_cloth(event.entity, params);
}

/// Moves a cloth that has just been built to the pose of its entity.
pub(crate) fn place(event: On<PlaceCloth>, params: ResetParams) {
    reset_cloth(event.entity, params);
}

fn reset_cloth(entity: Entity, params: ResetParams) {
    let ResetParams {
        mut cloths,
        transforms,
        mut meshes,
        mut commands,
    } = params;
    // A cloth that is not built yet starts in its rest shape anyway.
    let Ok(mut cloth) = cloths.get_mut(entity) else {
        return;
    };
    let label = cloth.label;
    let (shape, skin) = (&mut *cloth.shape, cloth.skin.as_deref_mut());
    let Some((origin, to_world)) = rest_frame(label, skin, shape, &transforms) else {
        return;
    };
    let rest = cloth.shape.topology.rest_in_world(to_world);
    let skin = cloth.skin.as_deref();
    let skinned = skin.map(|skin| skin.skinned_positions(&cloth.shape.topology.positions));
    let start = skinned.as_ref().unwrap_or(&rest);
    if !rest.iter().chain(start.iter()).all(is_within_reach) {
        error!(
            "cloth {label}: cannot be reset, since it would extend beyond 16 777 km; reduce the scale of its entity"
        );
        return;
    }
    release_all(entity, &mut cloth.grabs, &mut commands);
    cloth.progress.cut_ends.clear();
    cloth.restore_intact(origin, &rest, &mut meshes);
    cloth.restore_rest_shape(&rest, to_world);
    let (shape, skin) = (&mut *cloth.shape, cloth.skin.as_deref());
    let (particles, constraints) = (&mut *cloth.particles, &mut *cloth.constraints);
    particles.reset(origin, start);
    let painted = PaintedShape::new(shape, cloth.mesh_paint, skin);
    bind_stiffness(&label, cloth.paint, painted, &mut cloth.multipliers);
    cloth.multipliers.apply_stiffness(constraints);
    let (frame, bound) = (&mut *cloth.frame, &mut *cloth.bound_pins);
    frame.history = FrameHistory {
        origin,
        ..default()
    };
    frame.frame_motion = None;
    bind_motion_constraints(&label, cloth.max_distance, painted, frame, rest.len());
    bound.pins.clear();
    // A step in progress must not use state from before the reset.
    bound.targets.clear();
    cloth.contacts.contacts.had_contact = false;
    cloth.contacts.contacts.warm_start.clear();
    cloth.contacts.contacts.forget();
    constraints.forget_angular_momentum();
    let pins = cloth.pins.unwrap_or(&NO_PINS);
    rebind_pins(&label, pins, particles, painted, bound, frame);
    let (inertia, body) = (cloth.inertia, &mut *cloth.body);
    body.stale_distances = StaleDistances::All;
    if let Some(as_built) = cloth.built_from.rest_at(to_world)
        && !cloth.is_tearable
    {
        let bodies = cloth.bodies;
        let supports = bound.particles().filter(|&pin| !bodies.is_attached(pin));
        as_built.share_tethers(supports, body);
    }
    record_anchor_poses(entity, inertia, bound, skin, frame, origin, |other| {
        transforms.compute_global_transform(other).ok()
    });
    body.areal_density = cloth.cloth.fabric.areal_density;
    (cloth.multipliers).set_masses(particles, shape, bound.particles(), body.areal_density);
    if !cloth.is_planar {
        break_symmetry(particles, &shape.triangles.indices);
    }
}

impl ResetQueryItem<'_, '_> {
    /// Restores the intact particles, constraints and mesh of a torn cloth.
    fn restore_intact(
        &mut self,
        origin: Vec3,
        rest: &SoaVec3,
        meshes: &mut Option<ResMut<Assets<Mesh>>>,
    ) {
        let Some(torn) = self.shape.torn.take() else {
            return;
        };
        let count = rest.len();
        self.particles.0 = ParticleArrays::new(origin, rest.clone(), Vec::new());
        self.constraints.0 = Arc::unwrap_or_clone(torn.intact_constraints);
        self.shape.triangles = self.shape.topology.triangles_at(rest);
        self.progress.resistance.truncate(count);
        self.mesh.last_written = None;
        let meshes = meshes.as_mut();
        let mut own = meshes.and_then(|meshes| meshes.get_mut(&self.source.own));
        self.mesh.binding.restore(count, own.as_deref_mut());
    }

    /// Gives triangles, segments and constraints their rest shape in this rotation and scale.
    fn restore_rest_shape(&mut self, rest: &SoaVec3, to_world: Mat3) {
        let (shape, constraints) = (&mut *self.shape, &mut *self.constraints);
        shape.set_frame(to_world);
        if let Some(as_built) = self.built_from.rest_at(to_world) {
            constraints.0 = as_built.constraints.clone();
            shape.triangles = as_built.shape.triangles.clone();
            shape.area = Vec::new();
            return;
        }
        constraints.set_rest_lengths(rest);
        constraints.measure_aspects(rest, &shape.topology.triangles);
        constraints.add_coarse_levels(rest, &shape.topology.triangles);
        if let Some(rope) = self.rope {
            shape.segments = Some(rope.rest_segments(to_world, constraints));
        }
        shape.set_areas(rest);
    }
}

/// Returns the current origin of a cloth, and the rotation and scale from mesh space to world axes; `None` after
/// logging an error if its transform or its skeleton cannot be used.
fn rest_frame(
    label: EntityLabelItem,
    skin: Option<&mut SkinWeights>,
    shape: &ClothShape,
    transforms: &TransformHelper,
) -> Option<(Vec3, Mat3)> {
    let at = |other| transforms.compute_global_transform(other).ok();
    let transform = at(label.entity)?;
    if !is_usable(&transform) {
        error!(
            "cloth {label}: cannot be reset at {transform:?}; set a finite transform below 16 777 km \
             with a scale other than 0"
        );
        return None;
    }
    let Some(skin) = skin else {
        return Some((transform.translation(), transform.affine().matrix3.into()));
    };
    let pose = skin.first_pose(&shape.topology.positions, at);
    if pose.is_none() {
        error!(
            "cloth {label}: cannot be reset: its skeleton has a scale of 0, is beyond 16 777 km, or has joints that \
             no longer exist; set a Mesh3d and SkinnedMesh that belong together"
        );
    }
    pose
}
