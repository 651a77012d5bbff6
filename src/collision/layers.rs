//! [`ClothLayers`]: collision layers of cloths and colliders.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Collision layers of a cloth or collider, out of 32.
///
/// Two entities interact if the filters of each contain a layer of the other. Without `ClothLayers` the
/// default applies: on the first layer, with all layers in the filters, so that everything interacts. Two cloths
/// interact only if both also have self-collision ([`Cloth::self_collision`](crate::cloth::Cloth)).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{collision::ClothLayers, prelude::*};
/// # fn spawn(mut commands: Commands) {
/// const BODIES: u32 = 1 << 1;
/// const WALLS: u32 = 1 << 2;
/// commands.spawn((ClothCollider::capsule(0.3, 1.0), ClothLayers::on(BODIES)));
/// commands.spawn((ClothCollider::half_space(), ClothLayers::on(WALLS)));
/// // A cloak that passes through walls.
/// commands.spawn((Cloth::default(), ClothLayers::default().with_filters(BODIES)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothLayers {
    /// Bit mask of the layers on which the entity is. Default the first.
    pub memberships: u32,
    /// Bit mask of the layers with which the entity interacts. Default all.
    pub filters: u32,
}

impl Default for ClothLayers {
    fn default() -> Self {
        Self {
            memberships: 1,
            filters: u32::MAX,
        }
    }
}

impl ClothLayers {
    /// Creates layers with these memberships and all filters.
    pub fn on(memberships: u32) -> Self {
        Self {
            memberships,
            ..default()
        }
    }

    /// Returns the layers with these filters.
    pub fn with_filters(self, filters: u32) -> Self {
        Self { filters, ..self }
    }

    /// Returns whether the filters of each contain a membership of the other.
    pub fn interacts_with(self, other: Self) -> bool {
        self.memberships & other.filters != 0 && other.memberships & self.filters != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_interact_if_both_filters_match() {
        let all = ClothLayers::default();
        let none = ClothLayers::on(0);
        let first = all.with_filters(1);
        let second = ClothLayers::on(2);
        assert!(
            all.interacts_with(all) && all.interacts_with(second) && second.interacts_with(second)
        );
        // One matching filter is not enough.
        assert!(!first.interacts_with(second) && !second.interacts_with(first));
        assert!(first.interacts_with(all) && second.interacts_with(all.with_filters(2)));
        assert!(!none.interacts_with(all) && !all.interacts_with(none));
    }
}
