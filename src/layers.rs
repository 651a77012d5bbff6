//! Who meets whom.

use bevy::prelude::*;
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Which cloths and colliders meet: put it on either. Each is on some layers, of 32, and lets in those
/// of some layers. Two meet if each lets in a layer that the other is on. What has no `ClothLayers` is as
/// the default says: on the first layer, letting all in, so that everything meets everything. Cloths meet
/// each other only where both collide with themselves too ([`Cloth::self_collision`](crate::Cloth)).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::prelude::*;
/// # fn spawn(mut commands: Commands) {
/// const BODIES: u32 = 1 << 1;
/// const WALLS: u32 = 1 << 2;
/// commands.spawn((ClothCollider::capsule(0.3, 1.0), ClothLayers::on(BODIES)));
/// commands.spawn((ClothCollider::half_space(), ClothLayers::on(WALLS)));
/// // A cloak that goes through walls.
/// commands.spawn((Cloth::default(), ClothLayers::default().meeting(BODIES)));
/// # }
/// ```
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq, Eq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothLayers {
    /// The layers that it is on, a bit each. Default the first.
    pub memberships: u32,
    /// The layers that it lets in, a bit each. Default all.
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
    /// On these layers, letting all in.
    pub fn on(memberships: u32) -> Self {
        Self {
            memberships,
            ..default()
        }
    }

    /// On the same layers, letting in these.
    pub fn meeting(self, filters: u32) -> Self {
        Self { filters, ..self }
    }

    /// Whether each lets in a layer that the other is on.
    pub fn meets(self, other: Self) -> bool {
        self.memberships & other.filters != 0 && other.memberships & self.filters != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_meet_if_both_let_the_other_in() {
        let all = ClothLayers::default();
        let none = ClothLayers::on(0);
        let first = all.meeting(1);
        let second = ClothLayers::on(2);
        assert!(all.meets(all) && all.meets(second) && second.meets(second));
        // One of the two is not enough.
        assert!(!first.meets(second) && !second.meets(first));
        assert!(first.meets(all) && second.meets(all.meeting(2)));
        assert!(!none.meets(all) && !all.meets(none));
    }
}
