//! The cloth solver: pure numerics on slices.
//!
//! No ECS, no assets, no rendering: only `bevy::math`. It can be tested, benched and ported alone.
//! The plugin's systems call the functions of this module one phase at a time; [`step`](step::step)
//! runs the same phases in the same order without an app.
//!
//! | file | what it holds |
//! |---|---|
//! | `simd` | picks the widest instructions that there are |
//! | `soa` | three planes of `f32`: how vectors are stored |
//! | `crew` | threads that share the work of a step |
//! | `columns` | parts of a plane that several threads may write |
//! | `particles` | the state: position, displacement, inverse mass |
//! | `constraints` | pairs of particles with a rest length, ordered into independent batches, and bends |
//! | `bend` | where and how much cloth resists being bent |
//! | `batches` | the ordering: which constraints may be solved in any order |
//! | `edit` | changes single constraints of the order |
//! | `integrate` | position Verlet |
//! | `relax` | Jakobsen relaxation, which is XPBD with compliance 0 |
//! | `general` | constraints between particles anywhere, in chunks; threads that run straight on, as a whole |
//! | `sheet` | grids: whole rows at a time, whole threads at once, long distances |
//! | `shape`, `collide` | what cloth bumps into |
//! | `contact` | push-out and friction, many particles at a time |
//! | `sweep` | stops particles that would go through a collider within one substep |
//! | `mesh_contact` | hulls, meshes and fields of heights (feature `parry`) |
//! | `bodies` | rigid bodies that cloth pushes and pulls as much as they do it |
//! | `facets` | triangles against colliders that are smaller than they are |
//! | `self_collision` | particles of a cloth that keep a distance from each other |
//! | `cross_contacts` | the same between two cloths |
//! | `geodesic` | how far particles are from what holds them, along the cloth |
//! | `thread` | threads side by side, each solved as a whole |
//! | `tethers` | keeps them within that distance |
//! | `limits` | keeps particles near where an animation would carry them |
//! | `carry` | takes a cloth along with what it belongs to |
//! | `aligned` | numbers that begin a line of the cache |
//! | `corners` | the corners of triangles, in little memory |
//! | `triangles` | what carries the mass and catches the wind |
//! | `aero` | drag and lift of the air, per triangle |
//! | `line_drag` | drag of the air on ropes, per segment |
//! | `gusts` | how the wind swells and fades |
//! | `zones` | wind in a part of space only |
//! | `turbulence` | eddies, by noise in space and time |
//! | `occlusion` | colliders that keep the wind off |
//! | `wind_field` | wind that is another one at each particle |
//! | `plane` | keeps particles in a plane |
//! | `volume` | air in a closed surface |
//! | `sort` | sorts long lists of what belongs to particles |
//! | `bits` | saves numbers that may be infinite (feature `serialize`) |
//! | `glide` | edits that would jerk a cloth, in small strides |
//! | `tear` | opens the cloth: tears and cuts |
//! | `grab` | hands that hold |
//! | `ray` | what a ray meets |
//! | `aspect` | from the stiffness of a fabric to that of its constraints |
//! | `stretch` | how far the cloth is from its rest lengths |
//! | `split` | parts of a slice, for several threads |
//! | `bend_damping` | what resists being bent fast |
//! | `damping` | what resists being strained fast, bending among it |
//! | `internal_friction` | what yarns lose by rubbing on each other |
//! | `rigid` | a cloth as a rigid body |
//! | `spin` | gives back what relaxation takes of the angular momentum |
//! | `rest` | whether it has come to rest |
//! | `step` | one whole fixed step |

pub mod aero;
pub mod aligned;
mod aspect;
mod batches;
pub mod bend;
pub mod bend_damping;
#[cfg(feature = "serialize")]
pub(crate) mod bits;
pub mod bodies;
pub mod carry;
pub mod collide;
mod columns;
pub mod constraints;
mod contact;
pub(crate) mod corners;
pub mod crew;
pub mod cross_contacts;
pub mod damping;
mod edit;
mod facets;
mod general;
pub mod geodesic;
pub mod glide;
pub mod grab;
pub mod gusts;
pub mod integrate;
pub mod internal_friction;
pub mod limits;
pub mod line_drag;
mod math;
#[cfg(feature = "parry")]
pub mod mesh_contact;
pub mod occlusion;
pub mod particles;
pub mod plane;
pub mod ray;
pub mod relax;
pub mod rest;
mod rigid;
pub mod self_collision;
pub mod shape;
mod sheet;
pub mod simd;
pub mod soa;
mod sort;
mod spin;
mod split;
pub mod step;
pub mod stretch;
mod sweep;
pub mod tear;
pub mod tethers;
mod thread;
pub mod triangles;
pub mod turbulence;
pub mod volume;
pub mod wind_field;
pub mod zones;

pub use aero::{Air, apply_air};
pub use aligned::AlignedVec;
pub use bend::Bend;
pub use bend_damping::damp_bending;
pub(crate) use bodies::Touching;
#[cfg(feature = "parry")]
pub(crate) use bodies::WHOLE;
pub use bodies::{Bodies, BodyPart, Held, Motion, RigidBody, Solid};
pub use carry::{Carry, Feeling};
pub use collide::{Collider, Friction, Pose, Surface, collide, deepest_penetration};
pub(crate) use collide::{Skin, collide_shared};
pub use constraints::{Compliance, ConstraintGraph, ConstraintKind};
pub use corners::Corners;
pub use crew::{Helper, Leader};
pub use cross_contacts::{CrossCollision, CrossContacts};
pub(crate) use damping::damp_strains_shared;
pub use damping::{Retardation, damp_strains};
pub(crate) use facets::Facets;
pub use geodesic::{Geodesics, Reach, RestShape};
pub use glide::{
    Strength, glide_compliance, glide_density, glide_strain_limit, glide_tethers, glide_thickness,
};
pub use gusts::gusty;
pub(crate) use integrate::integrate_shared;
pub use integrate::{Integration, integrate, update_displacements};
pub use internal_friction::apply_internal_friction;
pub use limits::{Backstop, MotionLimits};
pub use line_drag::{Lines, apply_line_drag};
#[cfg(feature = "parry")]
pub(crate) use mesh_contact::MeshContacts;
#[cfg(feature = "parry")]
pub use mesh_contact::{MeshCollider, SurfaceError, TriangleSurface, deepest_mesh_penetration};
pub use occlusion::Occlusion;
pub use particles::{ParticleArrays, PinTarget};
pub use plane::hold_in_plane;
pub(crate) use relax::relax_shared;
pub use relax::{Relaxation, ThreadSolver, relax};
pub use rest::has_stayed_within;
pub use self_collision::{SelfCollision, SelfContacts, rest_spacing, self_distance};
pub use shape::Shape;
pub use sheet::SheetLayout;
pub use simd::SimdLevel;
pub use soa::SoaVec3;
pub(crate) use sort::sort_near;
pub use step::{Body, StepSettings, step, step_shared};
pub use stretch::{Stretch, measure_stretch};
pub(crate) use tethers::hold_tethers_shared;
pub use tethers::{Tethers, hold_tethers};
pub use triangles::{Triangles, inverse_masses};
pub use turbulence::Eddies;
pub use volume::{EnclosedAir, enclosed_volume, inflate, is_closed};
pub(crate) use wind_field::apply_air_in_shared;
pub use wind_field::{WindField, apply_air_in};
pub use zones::{Falloff, Zone, ZoneFlow, ZoneShape};
