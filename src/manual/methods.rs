//! How it works: numerical methods, their sources, and the reasons for the design.
//!
//! The README has the data flow and the folders of the source; [`solver`](crate::solver) lists the stages of a step
//! and their files.
//!
//! # Methods
//!
//! | subject | method |
//! |---|---|
//! | integration | position Verlet with stored displacements: free fall is exact, damping in 1/s does not depend on the step |
//! | constraints | structural and shear, solved in independent batches; Jakobsen's rigid sticks at compliance 0, XPBD above |
//! | direct solver | one chain per row and column of a grid, in an order that is its own reverse, so that folds come to rest |
//! | irregular meshes | coarse levels, solved before the chains of edges (Müller 2008): links between particles three, nine, … edges apart, as long as the way over the cloth |
//! | strain limit | elastic chains stretch according to their compliance, up to a limit, which is enforced on whole chains (after Provot 1995) |
//! | bending | three-point bend constraints along the chains of grids, isometric bending across the edges of other meshes, independent of mesh and number of substeps; rest curvature is preserved |
//! | tethers | no particle gets farther from its pins than their distance along the cloth (Kim, Chentanez, Müller 2012): a fine sheet on two corners keeps its size; they are updated when pins change or the cloth tears |
//! | colliders | a broad phase finds the colliders near each cloth; for mesh colliders, candidate triangles are cached for groups of particles |
//! | rigid bodies | found by the broad phase of the engine: each cloth simulates copies of them in its substeps, with contacts weighted by mass; the engine receives the total impulse as a force in its next step |
//! | self-collision | between particles; pairs from a spatial hash in cell order, compared with SIMD, updated only where neighbours have moved apart, with continuous detection in each substep; impulses with warm starting (Catto 2005), along the normals of layers |
//! | characters | the cloth part of a skinned mesh is rendered with a joint of its own, the rest with its bones; transforms animated per frame are interpolated in the steps between frames |
//! | speed | constraints of grids need no indices |
//! | precision | positions are relative to an origin that follows the cloth |
//!
//! # Substeps are a schedule
//!
//! [`ClothSubstep`](crate::cloth::ClothSubstep) runs [`ClothSubsteps`](crate::cloth::ClothSubsteps) times per step on a
//! single-threaded executor (more often for a cloth with a heavy body, in strong wind, on fast pins or thrown against
//! itself, see `solver/collision/bodies/adaptive_substeps.rs` and `solver/required_substeps.rs`). An ambiguous order of
//! its systems is reported in the log.
//! Without user systems the schedule is not run: each cloth takes all its substeps at once, together with the
//! cloths it may touch.
//!
//! # Work is split without waiting
//!
//! The calling thread goes through the stages of a step; workers from Bevy's compute pool claim parts
//! ([`Workers`](crate::solver::Workers)).
//!
//! # Chains are solved directly
//!
//! `solver/constraints/grid` solves the chains of rows and columns, one chain per SIMD lane, and
//! `solver/constraints/general` those of straight edges of any mesh.
//!
//! # The solver works without an app
//!
//! The example `measure` uses [`ClothState::step`](crate::solver::ClothState::step), as
//! [your own code](super::own_code) can.
//!
//! # Order matters
//!
//! Constraints are grouped by direction and coloured, so that those of a batch share no particle: no bias from row
//! order, and the same bits for any order within a batch.
//!
//! # Edits are ramped
//!
//! The shape of hanging cloth depends on its stiffness. When stiffness or thickness rises, it is ramped up over
//! several steps instead of jerking the cloth.
//!
//! # A tear is a topology edit
//!
//! [`TopologyEdit`](crate::solver::topology::TopologyEdit) opens edges or divides triangles, updates the affected
//! constraints, and returns the changes; masses, pins, grabs and the mesh are updated from them. No constraint
//! remains across the tear.
//!
//! # Grabbers and blades are entities
//!
//! A pointer, a hand, a sword: the same events serve the mouse and the game.
//!
//! # Non-finite numbers stay contained
//!
//! A cloth with NaN is put back into its last valid state, which is logged once; other cloths are not affected.
