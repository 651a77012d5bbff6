//! Registers everything for cloth on characters: rules, painted channels, max distances, inertia, teleports and
//! the colliders of skeletons.

use crate::{
    character::{
        animation_start::start_animations,
        inertia::{ClothInertia, TeleportCloth},
        max_distance::ClothMaxDistance,
        paint::{ClothPaint, ClothPart},
        rules::{ClothRules, apply_rules},
        skeleton::ClothSkin,
        skeleton_colliders::{
            GeneratedFor, SkeletonColliders, SkeletonShape, generate_colliders, remove_colliders,
        },
        skinned_surface::move_skinned_surfaces,
        teleport::{catch_up_with_frame, request_teleport, teleport},
        track_anchors::track_anchors,
    },
    cloth::{
        schedule::{BuildSystems, ClothStepSchedule, FrameSchedule, PrepareSystems, StepSchedule},
        transforms::{
            FrameFraction, find_frame_fraction, sample_fixed_transforms, sample_frame_transforms,
        },
    },
};
use bevy::prelude::*;

/// Applies rules to loaded models, generates the colliders of skeletons, and moves cloths with their frames.
pub(crate) struct CharacterPlugin {
    pub(crate) schedule: ClothStepSchedule,
}

impl Plugin for CharacterPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothSkin>()
            .register_type::<ClothPart>()
            .register_type::<ClothPaint>()
            .register_type::<ClothMaxDistance>()
            .register_type::<SkeletonColliders>()
            .register_type::<SkeletonShape>()
            .register_type::<GeneratedFor>()
            .register_type::<ClothInertia>()
            .register_type::<TeleportCloth>()
            .init_resource::<ClothRules>()
            .init_resource::<FrameFraction>()
            .add_systems(
                StepSchedule::Begin,
                (start_animations, teleport)
                    .chain()
                    .in_set(PrepareSystems::Teleport),
            )
            .add_systems(
                StepSchedule::Prepare,
                (
                    catch_up_with_frame.in_set(PrepareSystems::CatchUp),
                    // Before the primitives: those write `LastPose` of an entity with both kinds of collider.
                    move_skinned_surfaces
                        .after(PrepareSystems::EndPause)
                        .before(PrepareSystems::Colliders),
                ),
            )
            .add_systems(
                FrameSchedule::Build,
                (
                    apply_rules.in_set(BuildSystems::Rules),
                    generate_colliders.in_set(BuildSystems::SkeletonColliders),
                    (start_animations, teleport)
                        .chain()
                        .in_set(BuildSystems::Teleport),
                ),
            )
            .add_observer(request_teleport)
            .add_observer(remove_colliders);
        if self.schedule.is_fixed() {
            self.add_frame_sampling(app);
        }
    }
}

impl CharacterPlugin {
    /// Adds the interpolation of transforms that change once per frame over the steps.
    fn add_frame_sampling(&self, app: &mut App) {
        app.add_systems(
            FrameSchedule::BeforeSteps,
            (track_anchors, sample_frame_transforms).chain(),
        )
        .add_systems(FrameSchedule::AfterSteps, sample_fixed_transforms)
        .add_systems(
            StepSchedule::Begin,
            find_frame_fraction.in_set(PrepareSystems::FrameFraction),
        );
    }
}
