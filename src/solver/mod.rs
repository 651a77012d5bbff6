//! Cloth solver: pure numerics on slices.
//!
//! No ECS, no assets, no rendering; of Bevy only `bevy::math` and reflection. It can be tested, benched and ported
//! on its own. The plugin's systems call the functions of this module one phase at a time; [`step`](step::step)
//! runs the same phases in the same order without an app.
//!
//! | step and state | contents |
//! |---|---|
//! | `step` | one whole fixed step |
//! | `particles` | state: position, displacement, inverse mass |
//! | `integrate` | position Verlet |
//! | `relax` | constraint projection: Jakobsen relaxation, XPBD |
//! | `ramp` | gradual changes of settings that would jerk a running cloth |
//! | `sleep` | whether a cloth moved in a step |
//! | `inertia` | moves a cloth with a fraction of the motion of its reference frame |
//!
//! | constraints | contents |
//! |---|---|
//! | `constraints` | distance constraints, in independent batches, and bend constraints |
//! | `bend` | bend constraints: stencils and stiffness |
//! | `batches` | graph colouring: batches of constraints that may be solved in parallel |
//! | `edit` | changes to single constraints of the graph |
//! | `general` | constraints given by particle indices, in chunks; finds chains |
//! | `grid` | constraints of grids: whole rows at a time, direct chains, coarse level |
//! | `chain` | chains of constraints, several side by side, each solved directly |
//! | `aspect` | compliances of constraints from the stiffness of the fabric |
//! | `stretch` | deviation of a cloth from its rest lengths |
//! | `damping`, `bend_damping` | damping of strain and bending (Kelvin–Voigt) |
//! | `geodesic` | distances along the cloth from its pins |
//! | `tethers` | long range attachments: keep particles within that distance |
//! | `motion_constraints` | keep particles near their animated targets: max distance, backstop |
//! | `plane` | keeps particles in a plane |
//! | `grab` | grab constraints: pull points of a cloth to a moving target |
//!
//! | forces | contents |
//! |---|---|
//! | `triangles` | triangles, rest areas and particle masses |
//! | `aero` | aerodynamic drag and lift, per triangle |
//! | `rope_drag` | aerodynamic drag on ropes, per segment |
//! | `wind_field` | wind that differs at each particle |
//! | `gusts` | variation of the wind over time |
//! | `zones` | wind in a region of space |
//! | `turbulence` | turbulent wind: noise in space and time |
//! | `occlusion` | shelter from the wind behind colliders |
//! | `volume` | pressure of enclosed air |
//! | `internal_friction` | friction between the yarns of the fabric |
//! | `rigid_motion` | best-fit rigid motion of a cloth |
//! | `angular_momentum` | restores the angular momentum that relaxation removes |
//!
//! | collision | contents |
//! |---|---|
//! | `shape`, `collide` | collider shapes, collision response |
//! | `contact` | push-out and friction, many particles at a time |
//! | `sweep` | continuous collision detection against fast particles |
//! | `triangle_contacts` | cloth triangles against colliders smaller than a triangle |
//! | `mesh_contact` | convex hulls, meshes and heightfields (feature `parry`) |
//! | `bodies` | two-way coupling with rigid bodies |
//! | `self_collision` | contact between particles of one cloth |
//! | `cross_contacts` | contact between two cloths |
//! | `ray` | ray casts |
//!
//! | topology | contents |
//! |---|---|
//! | `tear` | tears and cuts |
//!
//! | memory and threads | contents |
//! |---|---|
//! | `workers` | splits the work of a step over threads |
//! | `columns`, `split` | parts of planes and slices that several threads may write |
//! | `simd` | selection of the SIMD instructions |
//! | `soa` | vectors as three planes of `f32` |
//! | `aligned` | lists of `f32` that begin at a cache line |
//! | `corners` | compressed corner indices of triangles |
//! | `sort` | sorting of per-particle lists |
//! | `math` | functions with the same bits on every platform |
//! | `bits` | serialization of numbers that may be infinite (feature `serialize`) |

pub mod aero;
pub mod aligned;
mod angular_momentum;
mod aspect;
mod batches;
pub mod bend;
pub mod bend_damping;
#[cfg(feature = "serialize")]
pub(crate) mod bits;
pub mod bodies;
mod chain;
pub mod collide;
mod columns;
pub mod constraints;
mod contact;
pub(crate) mod corners;
pub mod cross_contacts;
pub mod damping;
mod edit;
mod general;
pub mod geodesic;
pub mod grab;
mod grid;
pub mod gusts;
pub mod inertia;
pub mod integrate;
pub mod internal_friction;
mod math;
#[cfg(feature = "parry")]
pub mod mesh_contact;
pub mod motion_constraints;
pub mod occlusion;
pub mod particles;
pub mod plane;
pub mod ramp;
pub mod ray;
pub mod relax;
mod rigid_motion;
pub mod rope_drag;
pub mod self_collision;
pub mod shape;
pub mod simd;
pub mod sleep;
pub mod soa;
mod sort;
mod split;
pub mod state;
pub mod step;
pub mod stretch;
mod sweep;
pub mod tear;
pub mod tethers;
mod triangle_contacts;
pub mod triangles;
pub mod turbulence;
pub mod volume;
pub mod wind_field;
pub mod workers;
pub mod zones;

pub use aero::Air;
pub use aligned::AlignedVec;
pub use bend::BendStencil;
pub use bend_damping::damp_bending;
pub use bodies::{Bodies, BodyAttachment, BodyMotion, BodyPart, RigidBody, Solid};
pub use collide::{Collider, Friction, Pose, Surface, collide, deepest_penetration};
pub use constraints::{Compliance, ConstraintGraph, ConstraintKind};
pub use corners::Corners;
pub use cross_contacts::{CrossCollisionSettings, CrossContacts};
pub use damping::{ConstraintDamping, damp_strains};
pub use geodesic::{GeodesicDistance, Geodesics, RestShape};
pub use grid::GridLayout;
pub use gusts::gusty;
pub use inertia::{FrameMotion, InertiaScale};
pub use integrate::{IntegrateSettings, integrate, update_displacements};
pub use internal_friction::apply_internal_friction;
#[cfg(feature = "parry")]
pub use mesh_contact::{MeshCollider, SurfaceError, TriangleSurface, deepest_mesh_penetration};
pub use motion_constraints::{BackstopSpheres, MotionConstraints};
pub use occlusion::Occlusion;
pub use particles::{ParticleArrays, PinTarget};
pub use plane::{Plane, constrain_to_plane};
pub use ramp::{
    RelaxationFactor, ramp_compliance, ramp_density, ramp_strain_limit, ramp_tethers,
    ramp_thickness,
};
pub use relax::{RelaxSettings, StretchSolver, relax};
pub use rope_drag::{RopeSegments, apply_rope_drag};
pub use self_collision::{SelfCollisionSettings, SelfContactPairs, rest_spacing, self_distance};
pub use shape::Shape;
pub use simd::SimdLevel;
pub use sleep::has_stayed_within;
pub use soa::SoaVec3;
pub(crate) use sort::sort_by_particle;
pub use state::{ClothState, Contacts, StepInput, StepSettings, SubstepTime};
pub use stretch::{Stretch, measure_stretch};
pub use tethers::{Tethers, solve_tethers};
pub use triangles::{Triangles, inverse_masses};
pub use turbulence::Eddies;
pub use volume::{EnclosedAir, enclosed_volume, inflate, is_closed};
pub use wind_field::{WindField, apply_air};
pub use workers::{Worker, Workers};
pub use zones::{Falloff, Zone, ZoneFlow, ZoneShape};
