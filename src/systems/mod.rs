//! The ECS systems, one per file. They fetch and check data; the numerics are in [`solver`](crate::solver) and
//! [`mesh`](crate::mesh).

mod anchors;
mod bind;
mod bodies;
mod build;
mod build_rope;
mod check;
mod cloth_pairs;
mod colliders;
mod finish;
mod interpolate;
mod lod;
#[cfg(feature = "parry")]
mod mesh_colliders;
mod parallel;
mod pause_detection;
mod planar;
mod prepare;
mod pressure;
mod proxies;
mod rebuild;
mod reference_frame;
mod render_pose;
mod reset;
mod skins;
mod sleep;
mod stages;
mod substep;
mod tethers;
mod warm_up;
mod wind_zones;
mod write_mesh;
mod write_proxies;

pub(crate) use anchors::{
    FrameFraction, TransformHistory, find_frame_fraction, sample_fixed_transforms,
    sample_frame_transforms, track_anchors,
};
pub(crate) use build::build;
pub(crate) use build_rope::{build_ropes, remove_rope_components};
pub(crate) use check::check_settings;
pub(crate) use cloth_pairs::{ClothPairs, find_cloth_pairs};
pub(crate) use colliders::{ActiveColliders, find_colliders};
pub(crate) use finish::finish;
pub(crate) use interpolate::{InterpolateRendering, RenderViewKey};
pub(crate) use lod::{
    StepCost, UpdateRate, begin_step_cost, choose_level_of_detail, end_step_cost, enforce_budget,
};
#[cfg(feature = "parry")]
pub(crate) use mesh_colliders::{find_mesh_colliders, mark_changed_meshes};
pub(crate) use parallel::ClothWorkers;
pub(crate) use pause_detection::{PauseDetection, count_update, end_pause};
pub(crate) use planar::check_planes;
pub(crate) use prepare::prepare_cloths;
#[cfg(any(feature = "avian", feature = "rapier"))]
pub(crate) use prepare::step_length;
pub(crate) use proxies::{bind_proxies, restore_proxy_mesh, unbind_proxies};
pub(crate) use rebuild::{rebuild_changed_meshes, rebuild_replaced_meshes, restore_source_mesh};
pub(crate) use reference_frame::{catch_up_with_frame, request_teleport, teleport};
pub(crate) use render_pose::{RenderPose, find_render_poses};
pub(crate) use reset::reset;
pub(crate) use sleep::update_sleep;
pub(crate) use stages::{collide, integrate, relax};
pub(crate) use substep::{PluginSystems, run_substeps};
pub(crate) use warm_up::{any_warm_up_pending, warm_up};
pub(crate) use wind_zones::{ActiveWindZones, find_wind_zones};
pub(crate) use write_mesh::write_mesh;
pub(crate) use write_proxies::write_proxies;
