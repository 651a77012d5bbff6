//! Components of a built cloth.

use crate::{
    build::{from_mesh::BuildTask, rebuild::NeedsRebuild, shared::BuiltFrom},
    character::{
        frame_history::{FrameHistory, ReferenceFrame},
        inertia::ClothInertia,
        multipliers::{MeshPaint, PaintedShape},
        reference_frame::{rebind_pins, record_anchor_poses},
        skeleton::ClothSkin,
        skin_weights::SkinWeights,
    },
    cloth::{
        activity::ClothSleeping,
        body::ClothBody,
        multipliers::ParticleMultipliers,
        particles::{ClothConstraints, ClothParticles},
        shape::ClothShape,
        source::ClothSource,
        update_rate::UpdateRate,
    },
    collision::{bodies::ClothBodies, contacts::ClothContacts},
    grab::ClothGrabs,
    pins::{BoundPins, Pins},
    pressure::enclosed_air::EnclosedVolume,
    render::{own_mesh::ClothMesh, pose::RenderPose},
    rope::RopeBody,
    sleep::SleepTimer,
    tearing::TearProgress,
};
use bevy::{
    camera::{primitives::Aabb, visibility::NoAutoAabb},
    prelude::*,
};
use std::fmt::Display;

/// All components that every built cloth and rope has besides those of the user. They are inserted and removed
/// together; each is described where it is defined.
#[derive(Bundle)]
pub(crate) struct BuiltComponents {
    pub(crate) particles: ClothParticles,
    pub(crate) constraints: ClothConstraints,
    pub(crate) body: ClothBody,
    pub(crate) shape: ClothShape,
    pub(crate) multipliers: ParticleMultipliers,
    pub(crate) rate: UpdateRate,
    pub(crate) pins: BoundPins,
    pub(crate) frame: ReferenceFrame,
    pub(crate) paint: MeshPaint,
    bodies: ClothBodies,
    pub(crate) contacts: ClothContacts,
    volume: EnclosedVolume,
    progress: TearProgress,
    sleep_timer: SleepTimer,
    grabs: ClothGrabs,
    mesh: ClothMesh,
    render_pose: RenderPose,
    source: ClothSource,
    pub(crate) built_from: BuiltFrom,
    aabb: Aabb,
    no_auto_aabb: NoAutoAabb,
}

/// All components to remove from a cloth that is no longer built: those above, and those that only some cloths have.
pub(crate) type RemovedComponents = (
    BuildTask,
    NeedsRebuild,
    BuiltComponents,
    SkinWeights,
    RopeBody,
    ClothSkin,
    ClothSleeping,
);

impl BuiltComponents {
    /// Creates the components of a cloth with this state, without pins.
    pub(crate) fn new(
        particles: ClothParticles,
        constraints: ClothConstraints,
        shape: ClothShape,
        mesh: ClothMesh,
        source: ClothSource,
    ) -> Self {
        let history = FrameHistory {
            origin: particles.origin,
            ..default()
        };
        Self {
            particles,
            constraints,
            body: default(),
            shape,
            multipliers: default(),
            rate: default(),
            pins: default(),
            frame: ReferenceFrame {
                history,
                ..default()
            },
            paint: default(),
            bodies: default(),
            contacts: default(),
            volume: default(),
            progress: default(),
            sleep_timer: default(),
            grabs: default(),
            mesh,
            render_pose: default(),
            source,
            built_from: default(),
            aabb: default(),
            no_auto_aabb: NoAutoAabb,
        }
    }

    /// Resolves the pins and computes the masses. Returns whether any particle can move.
    pub(crate) fn finish(
        &mut self,
        label: &dyn Display,
        pins: &Pins,
        skin: Option<&SkinWeights>,
        areal_density: f32,
    ) -> bool {
        let painted = PaintedShape::new(&self.shape, &self.paint, skin);
        let (frame, bound) = (&mut self.frame, &mut self.pins);
        rebind_pins(label, pins, &self.particles, painted, bound, frame);
        self.body.areal_density = areal_density;
        let pinned = self.pins.particles();
        (self.multipliers).set_masses(&mut self.particles, &self.shape, pinned, areal_density);
        self.particles.inverse_mass.iter().any(|&w| w != 0.0)
    }

    /// Moves the cloth, which has just been built, to another origin.
    pub(crate) fn move_to(&mut self, origin: Vec3) {
        self.particles.origin = origin;
        self.frame.history.origin = origin;
        self.pins.move_to(origin);
    }

    /// Records the poses of anchors, frame and reference entity, so that the cloth follows their motion from now on.
    pub(crate) fn record_poses(
        &mut self,
        entity: Entity,
        inertia: Option<&ClothInertia>,
        skin: Option<&SkinWeights>,
        transform_of: impl Fn(Entity) -> Option<GlobalTransform>,
    ) {
        let (pins, frame, origin) = (&mut self.pins, &mut self.frame, self.particles.origin);
        record_anchor_poses(entity, inertia, pins, skin, frame, origin, transform_of);
    }
}
