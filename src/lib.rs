//! Cloth for Bevy.
pub mod mesh;
pub mod solver;
/// The usual imports.
pub mod prelude {
    pub use crate::mesh::{ClothGrid, Diagonals};
}
