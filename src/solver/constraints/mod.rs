//! Constraints of a cloth: which there are, how stiff they are, and how each kind is projected. `relax.rs` calls the
//! projections in their order.
//!
//! | file | contents |
//! |---|---|
//! | `constraint` | types of constraints |
//! | `graph` | all distance and bend constraints of a cloth |
//! | `coloring` | order of the constraints, and batches that may be solved in parallel (graph colouring) |
//! | `list` | lists of constraints, used by `grid`, `chain`, `coloring` and `bend_batch`; particles of their slots |
//! | `edit` | edits of single constraints, for tearing and cutting; their loads |
//! | `compliance` | compliance of constraints, from the stiffness of the fabric |
//! | `stretch_solver` | choice of the solver: direct or Gauss–Seidel |
//! | `points` | arguments of all projections: particle arrays, parameters of a pass |
//! | `grid` | constraints of grids: whole rows at a time |
//! | `general` | constraints given by particle indices, in chunks; chains found in the mesh |
//! | `chain` | chains of constraints, several side by side, each solved directly |
//! | `bend`, `bend_batch` | bend constraints: stencils and stiffness; a list of them |
//! | `damping`, `bend_damping` | damping of strain and bending (Kelvin–Voigt) |
//! | `angular_momentum` | restores the angular momentum that relaxation removes |
//! | `geodesic` | distances along the cloth from its pins |
//! | `tethers` | tethers (long-range attachments): keep particles within their geodesic distance of the pins |
//! | `motion` | motion constraints: max distance from animated targets, backstop |
//! | `plane` | keeps particles in a plane |
//! | `grab` | grab constraints: pull points of a cloth to a moving target |
//! | `stretch` | deviation of a cloth from its rest lengths |

mod angular_momentum;
pub mod bend;
pub(in crate::solver) mod bend_batch;
pub mod bend_damping;
pub(in crate::solver) mod chain;
pub(in crate::solver) mod coarse;
pub(in crate::solver) mod coloring;
pub(in crate::solver) mod compliance;
pub(in crate::solver) mod constraint;
pub mod damping;
pub(in crate::solver) mod edit;
pub(in crate::solver) mod general;
pub mod geodesic;
pub mod grab;
pub mod graph;
pub(in crate::solver) mod grid;
pub(in crate::solver) mod list;
pub mod motion;
pub mod plane;
pub(in crate::solver) mod points;
pub mod stretch;
pub mod stretch_solver;
pub mod tethers;
