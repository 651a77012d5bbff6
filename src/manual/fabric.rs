//! Material of cloth: presets, stiffness, mass, and their cost.
//!
//! [`Cloth`](crate::cloth::Cloth) has a [`Fabric`](crate::cloth::Fabric), its material, and a few solver settings. All values
//! are in physical units and independent of the mesh: changing the number of particles does not change the fabric.
//!
//! # Presets
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! let denim = Cloth { fabric: Fabric::denim(), ..default() };
//! // Cotton that slides more easily, and catches more wind.
//! let sail = Fabric { static_friction: 0.1, kinetic_friction: 0.1, drag: 1.0, ..Fabric::cotton() };
//! // By name, for example from a menu.
//! let (_, silk) = Fabric::PRESETS.iter().find(|(name, _)| *name == "silk").unwrap();
//! assert_eq!(*silk, Fabric::silk());
//! ```
//!
//! The presets are cotton, wool, polyester, silk, denim, leather, rubber sheet, paper and chain mail. The first
//! three and rubber are elastic, with measured stiffness; the others are inextensible. Friction and air
//! coefficients are the defaults in all of them, except that air passes through chain mail. Settings can also be
//! kept in files that are reloaded at run time: [presets](super::presets).
//!
//! # Tuning
//!
//! | symptom or wish | remedy |
//! |---|---|
//! | it hangs in soft, small folds and should be stiffer, like canvas | raise [`bending_stiffness`](crate::cloth::Fabric::bending_stiffness): silk 1.1e-6, cotton 2.3e-6, the default 1e-5, denim 1.1e-4, paper 2.5e-4 N·m |
//! | the wind moves it too much | raise [`areal_density`](crate::cloth::Fabric::areal_density) (kg/m²), lower [`drag`](crate::cloth::Fabric::drag) and [`lift`](crate::cloth::Fabric::lift) |
//! | it should be elastic | set [`warp_stiffness`](crate::cloth::Fabric::warp_stiffness) and `weft_stiffness` in N/m, knitwear 50, rubber 750, and the largest strain, [`strain_limit`](crate::cloth::Fabric::strain_limit) |
//! | it should shear more easily | lower [`shear_stiffness`](crate::cloth::Fabric::shear_stiffness) |
//! | it trembles | raise [`bending_damping`](crate::cloth::Fabric::bending_damping) (s) |
//! | it wobbles like jelly | raise [`stretch_damping`](crate::cloth::Fabric::stretch_damping) and `shear_damping` (s), which act on elastic fabric |
//! | it never stops swinging | raise [`internal_friction`](crate::cloth::Fabric::internal_friction) (m/s²), which does not slow falling and turning of the whole cloth |
//! | it moves as if in honey | lower [`damping`](crate::cloth::Cloth::damping) (1/s), which slows all motion, including falling |
//! | it slides off | raise [`static_friction`](crate::cloth::Fabric::static_friction) and that of the collider: their geometric mean applies |
//! | colliders show through | raise [`thickness`](crate::cloth::Fabric::thickness) (m), or use a finer mesh |
//!
//! Stiffness is force per metre of width and unit of strain: a weight of 2.61 N lengthens a strip of cotton 1 m
//! wide (261 N/m) by a hundredth. The default, `None`, is inextensible: any remaining stretch is error of the
//! solver.
//!
//! # Mass
//!
//! Each particle has the mass of its part of the area. All cloth falls at the same rate, so density matters only
//! together with other forces: wind, grabs, other cloths, elasticity. Heavy hems and stiff collars can be painted,
//! see [`ClothPaint`](crate::character::ClothPaint):
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{character::{ClothPaint, PerVertex, VertexChannel}, prelude::*};
//! # fn spawn(mut commands: Commands, cape: Handle<Mesh>) {
//! commands.spawn((
//!     Cloth { fabric: Fabric::wool(), ..default() },
//!     Mesh3d(cape),
//!     ClothPaint {
//!         // Four times as heavy where the mesh is painted blue.
//!         mass: PerVertex::Painted { channel: VertexChannel::Blue, zero: 1.0, one: 4.0 },
//!         ..default()
//!     },
//! ));
//! # }
//! ```
//!
//! # Why cloth stretches
//!
//! Inextensible cloth should keep its size. If it is longer, the solver has not converged. Four settings help, in
//! this order:
//!
//! 1. [`StretchSolver::Direct`](crate::cloth::StretchSolver::Direct), the default, solves each chain of edges directly.
//!    The longest edge of a sheet of 64 × 64 particles on two corners is then 0.12 % too long. Meshes without rows
//!    and columns profit less: if possible, model a cape as a grid of quads.
//! 2. [`tether_scale`](crate::cloth::Cloth::tether_scale), default `Some(1.0)`: no particle gets farther from its pins
//!    than their distance along the cloth at rest. `None` switches these tethers off.
//! 3. [`ClothSubsteps`](crate::cloth::ClothSubsteps), by default one every 1/480 s: stiffness grows with the square of
//!    their number, cost in proportion.
//! 4. [`iterations`](crate::cloth::Cloth::iterations) per substep, default 1. Substeps do more for the same cost;
//!    iterations make a single cloth stiffer than the others.
//!
//! [`StretchSolver::GaussSeidel`](crate::cloth::StretchSolver::GaussSeidel) solves one constraint after the other, as
//! tutorials do: its softness depends on substeps, iterations and mesh. Use it for that look.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::{cloth::StretchSolver, prelude::*};
//! # let mut app = App::new();
//! // Stiffer, at twice the cost.
//! app.insert_resource(ClothSubsteps::Every(1.0 / 960.0));
//! // One cloth as soft as in the tutorials.
//! let soft = Cloth { stretch_solver: StretchSolver::GaussSeidel, tether_scale: None, ..default() };
//! // A trampoline: elastic, up to a strain of a fifth.
//! let trampoline = Cloth {
//!     fabric: Fabric { warp_stiffness: Some(500.0), weft_stiffness: Some(500.0), strain_limit: Some(0.2), ..default() },
//!     ..default()
//! };
//! ```
//!
//! In terms of XPBD, compliance is 1 / stiffness, in m/N; [`Fabric::compliance`](crate::cloth::Fabric::compliance)
//! returns it. The default is compliance 0.
//!
//! # Cost
//!
//! | | cost of a step |
//! |---|---|
//! | particles | in proportion |
//! | substeps, iterations | in proportion |
//! | a mesh without a grid | about twice that of a grid |
//! | bending, shear, friction, damping, any preset | negligible |
//! | self-collision | 1.2 times hanging, 4 to 6 times lying on an object, more in a heap |
//! | sleep | none |
//!
//! Values out of range are clamped, with a warning in the log; [`params`](crate::params) is the table of all
//! ranges. The panel's sliders have the names in this table: "areal density", "warp", "weft", "strain limit",
//! "bending".
