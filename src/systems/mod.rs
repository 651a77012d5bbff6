//! One thin system a file. They fetch and check; the arithmetic is in [`solver`](crate::solver) and
//! [`mesh`](crate::mesh).

mod bind;
mod bodies;
mod build;
mod build_rope;
mod check;
mod colliders;
mod detail;
mod draw;
mod finish;
mod follow;
mod guide;
#[cfg(feature = "parry")]
mod mesh_colliders;
mod parallel;
mod phases;
mod picture;
mod planar;
mod prepare;
mod pressure;
mod proxies;
mod rebuild;
mod reset;
mod skins;
mod sleep;
mod standstill;
mod substep;
mod tethers;
mod touching;
mod warm_up;
mod wind_zones;
mod write_mesh;
mod write_proxies;

pub(crate) use build::build;
pub(crate) use build_rope::{build_ropes, take_rope_apart};
pub(crate) use check::check_settings;
pub(crate) use colliders::{ActiveColliders, find_colliders};
pub(crate) use detail::{Effort, Pace, begin_effort, choose_detail, end_effort, keep_budget};
pub(crate) use draw::{DrawBetweenSteps, ViewKey};
pub(crate) use finish::finish;
pub(crate) use follow::{
    FramePath, FrameShare, find_frame_share, follow_anchors, sample_fixed, sample_frames,
};
pub(crate) use guide::{ask_for_teleport, catch_up, teleport};
#[cfg(feature = "parry")]
pub(crate) use mesh_colliders::{find_mesh_colliders, note_changed_meshes};
pub(crate) use parallel::ClothCrew;
pub(crate) use phases::{collide, integrate, relax};
pub(crate) use picture::{Picture, find_pictures};
pub(crate) use planar::{check_planes, hold_in_planes};
pub(crate) use prepare::prepare_cloths;
#[cfg(any(feature = "avian", feature = "rapier"))]
pub(crate) use prepare::step_length;
pub(crate) use pressure::inflate_all;
pub(crate) use proxies::{bind_proxies, give_proxy_back, unbind_proxies};
pub(crate) use rebuild::{follow_changed_meshes, forget_replaced_meshes, give_mesh_back};
pub(crate) use reset::reset;
pub(crate) use sleep::watch;
pub(crate) use standstill::{Standstill, count_update, end_standstill};
pub(crate) use substep::{OwnSystems, run_substeps};
pub(crate) use touching::{ClothsTouching, find_touching};
pub(crate) use warm_up::{anybody_is_cold, warm_up};
pub(crate) use wind_zones::{ActiveWindZones, find_wind_zones};
pub(crate) use write_mesh::write_mesh;
pub(crate) use write_proxies::write_proxies;
