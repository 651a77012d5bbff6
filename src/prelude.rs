//! Names of a page of user code. Everything else is reached by module: `bevy_drape::lod::ClothLod`,
//! `bevy_drape::character::ClothInertia`.

#[cfg(feature = "parry")]
pub use crate::collision::ClothMeshCollider;
#[cfg(feature = "debug")]
pub use crate::debug::ClothDebugPlugin;
#[cfg(feature = "avian")]
pub use crate::engines::AvianClothPlugin;
#[cfg(feature = "rapier")]
pub use crate::engines::RapierClothPlugin;
#[cfg(feature = "panel")]
pub use crate::panel::ClothPanelPlugin;
#[cfg(feature = "picking")]
pub use crate::picking::ClothInteractionPlugin;
pub use crate::{
    ClothCommands, ClothPlugin,
    cloth::{
        Cloth, ClothGravity, ClothParticles, ClothReady, ClothSubsteps, ClothSystems, Fabric,
        ResetCloth, SelfCollision,
    },
    collision::ClothCollider,
    mesh::ClothGrid,
    pins::{ClothEdge, Pins},
    rope::Rope,
    tearing::ClothTearing,
    time::ClothTime,
    wind::{Wind, WindZone},
};
