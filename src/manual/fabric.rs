//! What cloth is made of, how stiff it is, and what that costs.
//!
//! [`Cloth`](crate::Cloth) has a [`Fabric`](crate::Fabric), the material, and a few numbers about how it is solved. The
//! units are real ones and mean the same for any mesh: another number of particles makes no other fabric of it.
//!
//! # Begin with a preset
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! let denim = Cloth { fabric: Fabric::denim(), ..default() };
//! // Cotton that slides more easily, and catches more wind.
//! let sail = Fabric { static_friction: 0.1, kinetic_friction: 0.1, drag: 1.0, ..Fabric::cotton() };
//! // By name, as from a menu.
//! let (_, silk) = Fabric::PRESETS.iter().find(|(name, _)| *name == "silk").unwrap();
//! assert_eq!(*silk, Fabric::silk());
//! ```
//!
//! There are cotton, wool, polyester, silk, denim, leather, rubber sheet, paper and chain mail. The first three give when
//! pulled, as measured; so does rubber. The others do not stretch. They say nothing about friction and air, which
//! stay at the default; only chain mail lets the air through.
//!
//! # What to turn
//!
//! | what you see | what to change |
//! |---|---|
//! | it hangs in soft, small folds and should be stiffer, like canvas | more [`bending_stiffness`](crate::Fabric::bending_stiffness): silk 1.1e-6, cotton 2.3e-6, the default 1e-5, denim 1.1e-4, paper 2.5e-4 N·m |
//! | the wind plays with it too much | more [`areal_density`](crate::Fabric::areal_density) (kg/m²), less [`drag`](crate::Fabric::drag) and [`lift`](crate::Fabric::lift) |
//! | it should be stretchy | [`warp_stiffness`](crate::Fabric::warp_stiffness) and `weft_stiffness` in N/m, knitwear 50, rubber 750; [`strain_limit`](crate::Fabric::strain_limit) says how far at most |
//! | squares should become diamonds more easily | less [`shear_stiffness`](crate::Fabric::shear_stiffness) |
//! | it trembles | more [`bending_damping`](crate::Fabric::bending_damping) (s) |
//! | it wobbles like jelly | [`stretch_damping`](crate::Fabric::stretch_damping), `shear_damping` (s); they count where it gives |
//! | it swings on for ever | more [`internal_friction`](crate::Fabric::internal_friction) (m/s²): what falls and turns as a whole is not slowed |
//! | it moves as in honey | less [`damping`](crate::Cloth::damping) (1/s): it slows everything, also falling |
//! | it slides off | more [`static_friction`](crate::Fabric::static_friction), and on the collider: what counts is the geometric mean of both |
//! | colliders shine through | more [`thickness`](crate::Fabric::thickness) (m), or a finer mesh |
//!
//! Stiffness is force for each metre of width and unit of strain. A strip of cotton 1 m wide (261 N/m) with a weight of
//! 2.61 N on it gets a hundredth longer. The largest value, 1 000 000 N/m, which is the default, means *does not give*:
//! then only the solver decides how far it stretches.
//!
//! # Mass
//!
//! A particle weighs what its share of the area does. All of a cloth falls alike, so density matters where something
//! else acts: wind, hands, other cloths, fabric that gives. Heavy hems and stiff collars are painted, see
//! [`ClothPaint`](crate::ClothPaint):
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
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
//! # Why it stretches, and what helps
//!
//! Cloth that does not give should keep its size. What makes it longer than it should be is a solver that has not got
//! far enough. There are four things to turn, in this order:
//!
//! 1. [`ThreadSolver::Direct`](crate::ThreadSolver::Direct), the default: each thread is solved as a whole. The worst
//!    thread of a sheet of 64 × 64 particles on two corners is then 0.12 % too long. Meshes without rows and columns
//!    profit less: give a cape a grid of quads if you can.
//! 2. [`tether_scale`](crate::Cloth::tether_scale) 1, the default: no particle gets farther from its pins than the
//!    cloth between is long. 100 switches these tethers off.
//! 3. [`Substeps`](crate::Substeps), default 8: stiffness grows with their square, cost in proportion.
//! 4. [`iterations`](crate::Cloth::iterations), default 1: passes of each substep. Substeps do more for the same time;
//!    iterations are there for one cloth that is to be stiffer than the others.
//!
//! [`ThreadSolver::Relaxation`](crate::ThreadSolver::Relaxation) solves constraint by constraint, as tutorials do: how
//! soft the cloth is then depends on substeps, iterations and mesh. It is for that look.
//!
//! ```
//! # use bevy::prelude::*;
//! # use bevy_drape::prelude::*;
//! # let mut app = App::new();
//! // Everything stiffer, for twice the time.
//! app.insert_resource(Substeps(16));
//! // One cloth as soft as in the tutorials.
//! let soft = Cloth { threads: ThreadSolver::Relaxation, tether_scale: 100.0, ..default() };
//! // A trampoline: it gives, but by no more than a fifth.
//! let trampoline = Cloth {
//!     fabric: Fabric { warp_stiffness: 500.0, weft_stiffness: 500.0, strain_limit: 0.2, ..default() },
//!     ..default()
//! };
//! ```
//!
//! If you know XPBD: compliance is one over stiffness, in m/N, and [`Fabric::compliance`](crate::Fabric::compliance)
//! gives it; the default is compliance 0.
//!
//! # What costs what
//!
//! | | cost of a step |
//! |---|---|
//! | particles | in proportion |
//! | substeps, iterations | in proportion |
//! | a mesh that is no grid | about twice that of one that is |
//! | bending, shear, friction, damping, any preset | nothing that you would notice |
//! | self-collision | 1.2 times hanging, 2 to 3 times on something, more in a heap |
//! | sleeping | nothing |
//!
//! Numbers that are out of range are clamped and told in the log; [`params`](crate::params) is the table of all ranges.
//! The panel's slider names are those of this table: "areal density", "warp", "weft", "strain limit", "bending".
