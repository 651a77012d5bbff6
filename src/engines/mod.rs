//! Two-way coupling of cloth with a physics engine: cloth collides with the engine's colliders and pushes its
//! bodies.
//!
//! Before a cloth step, each cloth queries the engine's broad phase and copies the nearby bodies with their masses
//! and velocities ([`Bodies`](crate::solver::Bodies)). In the substeps the copies move, and exchange impulses with
//! the cloth. After the step, the accumulated impulses act on the engine's bodies as a constant force during the
//! engine's next step: a body that hangs on cloth then does not alternate between an impulse and free fall.
//!
//! All other accelerations of a body (gravity, contact with the ground) are estimated from its change of velocity
//! since the previous step, minus the part that the cloth caused.
//!
//! A sleeping body is not moved. It wakes when the impulse from the cloth differs from the one at which it fell
//! asleep.
//!
//! | file | contents |
//! |---|---|
//! | `coupling` | exchange of bodies and impulses, the same for all engines |
//! | `shapes` | conversion of parry's shapes, compiled for the parry version of each engine |
//! | `avian` | feature `avian` |
//! | `rapier` | feature `rapier` |

#[cfg(feature = "avian")]
mod avian;
mod coupling;
#[cfg(feature = "rapier")]
mod rapier;
mod shapes;

#[cfg(feature = "avian")]
pub use avian::AvianClothPlugin;
#[cfg(feature = "rapier")]
pub use rapier::RapierClothPlugin;
