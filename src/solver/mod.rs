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

pub mod collision;
pub mod constraints;
pub mod forces;
pub mod integrate;
pub(crate) mod math;
pub mod parallel;
pub mod particles;
pub mod relax;
pub mod simd;
pub mod sleep;
pub mod state;
pub mod step;
pub mod topology;
pub mod triangles;

pub use collision::bodies::{Bodies, BodyAttachment, BodyMotion, BodyPart, RigidBody, Solid};
pub use collision::cloth_contacts::{CrossCollisionSettings, CrossContacts};
pub use collision::collider::{Collider, Friction, Surface, collide, deepest_penetration};
#[cfg(feature = "parry")]
pub use collision::mesh::{MeshCollider, SurfaceError, TriangleSurface, deepest_mesh_penetration};
pub use collision::self_collision::{
    SelfCollisionSettings, SelfContactPairs, rest_spacing, self_distance,
};
pub use collision::shape::Shape;
pub use constraints::bend::BendStencil;
pub use constraints::bend_damping::damp_bending;
pub use constraints::damping::{ConstraintDamping, damp_strains};
pub use constraints::geodesic::{GeodesicDistance, Geodesics, RestShape};
pub use constraints::graph::{Compliance, ConstraintGraph, ConstraintKind};
pub use constraints::motion::{BackstopSpheres, MotionConstraints};
pub use constraints::plane::{Plane, constrain_to_plane};
pub use constraints::ramp::{
    RelaxationFactor, ramp_compliance, ramp_density, ramp_strain_limit, ramp_tethers,
    ramp_thickness,
};
pub use constraints::stretch::{Stretch, measure_stretch};
pub use constraints::stretch_solver::StretchSolver;
pub use constraints::tethers::{Tethers, solve_tethers};
pub use forces::aero::Air;
pub use forces::gusts::gusty;
pub use forces::internal_friction::apply_internal_friction;
pub use forces::occlusion::Occlusion;
pub use forces::pressure::{EnclosedAir, enclosed_volume, inflate, is_closed};
pub use forces::rope_drag::{RopeSegments, apply_rope_drag};
pub use forces::turbulence::Eddies;
pub use forces::wind_field::{WindField, apply_air};
pub use forces::zones::{Falloff, Zone, ZoneFlow, ZoneShape};
pub use integrate::{IntegrateSettings, integrate, update_displacements};
pub use math::pose::Pose;
pub(crate) use math::sort::sort_by_particle;
pub use parallel::workers::{Worker, Workers};
pub use particles::inertia::{FrameMotion, InertiaScale};
pub use particles::{ParticleArrays, PinTarget};
pub use relax::{RelaxSettings, relax};
pub use simd::SimdLevel;
pub use simd::aligned::AlignedVec;
pub use simd::soa::SoaVec3;
pub use sleep::has_stayed_within;
pub use state::{ClothState, Contacts, StepInput, StepSettings, SubstepTime};
pub use triangles::corners::Corners;
pub use triangles::grid_layout::GridLayout;
pub use triangles::{Triangles, inverse_masses};
