//! Cloth solver: pure numerics on slices, with position Verlet and constraint projection in substeps (Jakobsen,
//! "Advanced Character Physics", 2001; Macklin et al., "Small Steps in Physics Simulation", 2019). No ECS, no assets,
//! no rendering; of Bevy only `bevy::math` and reflection. The caller owns the data: [`ClothState`] borrows them, and
//! its methods are the stages of a step. The plugin calls them one by one; [`ClothState::step`] calls all of them.
//!
//! Modules import only from modules above them in this table:
//!
//! | module | contents |
//! |---|---|
//! | `parallel` | splits the work of a step over threads |
//! | `simd` | selection of the SIMD instructions; structure-of-arrays vectors, aligned lists |
//! | `math` | poses, closest points, sorting; functions with the same bits on every platform |
//! | `particles` | position, displacement, inverse mass of particles; pin targets; motion of the reference frame |
//! | `triangles` | triangles, rest areas, particle masses; grids of particles |
//! | `integrate` | position Verlet |
//! | `sleep` | whether all particles are within a distance of earlier positions |
//! | `constraints` | stretch, shear, bending, tethers, motion constraints, grabs; their damping and edits |
//! | `collision` | shapes, broad and narrow phase, CCD, meshes, rigid bodies, self-collision, other cloths |
//! | `forces` | wind, aerodynamic drag and lift, pressure, internal friction |
//! | `topology` | tears and cuts |
//! | `relax` | constraint projection in a substep: Jakobsen relaxation, XPBD, direct solution of chains |
//! | `state` | [`ClothState`], and the settings and inputs of a step |
//! | `required_substeps` | numbers of substeps that strong wind, fast pins and self-collision require |
//! | `shared` | values that clones share until one of them changes it |
//! | `shared_lists` | lists of items that clones share |
//! | `step` | stages of a substep, and a whole fixed step |
//!
//! | stage of a step | file |
//! |---|---|
//! | begin: motion of rigid bodies, mass of particles attached to them | `collision/bodies/` |
//! | begin: friction between the yarns of the fabric | `forces/internal_friction.rs` |
//! | begin: pin targets, inertia | `particles/mod.rs`, `particles/inertia.rs` |
//! | begin, in a storm integrate: wind drag and lift | `forces/step_air.rs`, `forces/wind_field.rs`, `forces/aero/`, `forces/rope_drag.rs` |
//! | integrate | `integrate.rs` |
//! | relax: pressure | `forces/pressure.rs` |
//! | relax, first substep: constraint damping | `constraints/damping.rs`, `constraints/bend_damping.rs` |
//! | relax, irregular meshes: coarse levels | `constraints/coarse/` |
//! | relax, direct solver: bending, and chains in reverse (weft, warp) | `relax.rs`, `constraints/chain/` |
//! | relax: bending unless done; shear; chains (warp, weft); edges | `relax.rs`, `constraints/{grid,general}/` |
//! | relax, cloth that settles: strain limit, instead of all constraints | `relax.rs` |
//! | relax: tethers | `constraints/tethers/` |
//! | relax: motion constraints (max distance, backstop) | `constraints/motion.rs` |
//! | relax: grabs | `constraints/grab.rs` |
//! | collide: displacements from corrected positions | `integrate.rs` |
//! | collide: self-collision, by impulses with warm starting | `collision/self_collision/` |
//! | collide: cloths that touch each other, instead of self-collision | `collision/cloth_contacts.rs` |
//! | collide: CCD, triangle contacts, push-out and friction | `collision/collider.rs` |
//! | collide: mesh colliders (feature `parry`) | `collision/mesh/` |
//! | collide: rigid bodies | `collision/bodies/` |
//! | collide, last substep of cloth that touches cloth: strain limit | `relax.rs` |
//! | relax, collide: plane | `constraints/plane.rs` |
//! | end: angular momentum | `constraints/angular_momentum.rs` |
//! | end: check of all numbers, restoring the last valid positions | `particles/mod.rs` |
//!
//! | subject | file |
//! |---|---|
//! | broad phase | `collision/broad_phase.rs`; of self-collision, `collision/self_collision/spatial_hash.rs` |
//! | broad phase between cloths | `src/collision/broad_phase.rs`, in the plugin |
//! | narrow phase | `collision/narrow_phase.rs`, `collision/self_collision/contact_response.rs` |
//! | friction | `Friction::removed` in `collision/collider.rs`; between yarns, `forces/internal_friction.rs` |
//! | continuous collision detection (CCD) | `collision/ccd.rs`, `collision/mesh/swept_particle.rs` |
//! | bending | `constraints/bend.rs`; projection in `constraints/{chain/bending,general/bends}.rs` |
//! | long-range attachments (tethers) | `constraints/tethers/`, with lengths from `constraints/geodesic/` |
//! | self-collision | `collision/self_collision/` |
//! | wind drag | `forces/aero/` for triangles, `forces/rope_drag.rs` for ropes |
//! | constraint colouring | `constraints/coloring.rs`; bends, `bend_batch.rs`; added ones, `edit.rs` |
//! | coarse levels of irregular meshes | `constraints/coarse/mod.rs` |
//! | direct solver of chains | `constraints/chain/stretch.rs` |
//! | gravity | `integrate.rs`; `ClothGravity` in `src/cloth/settings.rs` |
//! | max distance, backstop | `constraints/motion.rs` |
//! | pins | inverse mass 0, and [`PinTarget`] in `particles/mod.rs` |
//! | SIMD dispatch | `dispatch` in `simd/mod.rs` |
//! | sleep | `src/sleep/`, in the plugin; displacements, `sleep.rs` |
//! | substep loop | `step.rs` without an app; `src/step/substeps.rs` in the plugin |

pub mod collision;
pub mod constraints;
pub mod forces;
pub mod integrate;
pub(crate) mod math;
pub mod parallel;
pub mod particles;
pub mod relax;
mod required_substeps;
mod shared;
mod shared_lists;
pub mod simd;
pub mod sleep;
pub mod state;
pub mod step;
pub mod topology;
pub mod triangles;

pub use collision::bodies::{Bodies, BodyAttachment, BodyMotion, BodyPart, RigidBody, Solid};
pub use collision::cloth_contacts::{IslandCloth, IslandContacts};
pub use collision::collider::{Collider, Friction, Surface, collide, deepest_penetration};
pub(crate) use collision::crossing::{CrossingFilter, FilteredCloth};
pub use collision::mesh::{MeshCollider, SurfaceError, TriangleSurface, deepest_mesh_penetration};
pub use collision::self_collision::{
    ContactForce, SelfCollisionSettings, SelfContactPairs, WarmStart, rest_spacing, self_distance,
};
pub use collision::shape::Shape;
pub use constraints::bend::{BendConstraint, BendStencil};
pub use constraints::compliance::Compliance;
pub use constraints::constraint::{Constraint, ConstraintKind, DistanceConstraint};
pub use constraints::damping::ConstraintDamping;
pub use constraints::geodesic::{GeodesicDistance, Geodesics, RestShape};
pub use constraints::graph::ConstraintGraph;
pub use constraints::motion::{BackstopSpheres, MotionConstraints};
pub use constraints::plane::Plane;
pub use constraints::stretch::{Stretch, measure_stretch};
pub use constraints::stretch_solver::{RIGID_REGULARIZATION, StretchSolver};
pub use constraints::tethers::Tethers;
pub use forces::aero::Air;
pub use forces::gusts::gusty;
pub use forces::occlusion::Occlusion;
pub use forces::pressure::{EnclosedAir, enclosed_volume, is_closed};
pub use forces::rope_drag::RopeSegments;
pub use forces::step_air::{AirSurface, StepAir};
pub use forces::turbulence::Eddies;
pub use forces::wind_field::WindField;
pub use forces::zones::{Falloff, Zone, ZoneFlow, ZoneShape};
pub use integrate::{IntegrateSettings, integrate, update_displacements};
pub use math::pose::Pose;
pub(crate) use math::sort::sort_by_particle;
pub use parallel::workers::{Worker, Workers};
pub use particles::inertia::{FrameMotion, InertiaScale};
pub use particles::symmetry::break_symmetry;
pub use particles::{ParticleArrays, PinTarget};
pub use relax::{RelaxSettings, relax};
pub use required_substeps::{MAX_ITERATIONS_PER_STEP, SubstepPlan};
pub(crate) use required_substeps::{affordable_in_substep, affordable_with_contacts};
pub use shared::Shared;
pub use simd::SimdLevel;
pub use simd::aligned::AlignedVec;
pub use simd::soa::SoaVec3;
pub use sleep::has_stayed_within;
pub use state::{ClothState, Contacts, MAX_SETTLED_STRAIN, StepInput, StepSettings, SubstepTime};
pub use triangles::Triangles;
pub use triangles::corners::Corners;
pub use triangles::grid_layout::GridLayout;
pub(crate) use triangles::inverse_masses;
