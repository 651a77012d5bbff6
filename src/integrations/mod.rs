//! Cloth among the bodies of a physics engine: it meets their colliders, and they feel it.
//!
//! A step of the cloth goes like this. Before it, each cloth asks the broad phase of the engine what is
//! near, and copies those bodies with all that they move by ([`Bodies`](crate::solver::Bodies)). In the
//! substeps they move, push and are pushed. After it, the engine's bodies get what the copies were given, as a
//! force that acts during the engine's own next step: a body that hangs on cloth then does not hop between
//! being pushed and falling.
//!
//! What else accelerates a body (gravity, the ground that it stands on) the cloth takes from what it saw:
//! by how much its velocity has changed since the step before, but for what the cloth itself gave it.
//!
//! A body that sleeps is not moved. It is woken when what the cloth gives it is not what it was when it
//! fell asleep.
//!
//! | file | what it holds |
//! |---|---|
//! | `exchange` | what all engines have in common |
//! | `shapes` | shapes of parry, which both engines use, in two versions |
//! | `avian` | feature `avian` |
//! | `rapier` | feature `rapier` |

#[cfg(feature = "avian")]
mod avian;
mod exchange;
#[cfg(feature = "rapier")]
mod rapier;
mod shapes;

#[cfg(feature = "avian")]
pub use avian::AvianClothPlugin;
#[cfg(feature = "rapier")]
pub use rapier::RapierClothPlugin;
