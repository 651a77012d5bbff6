//! Gizmos: what goes on in cloths, drawn over them.
//!
//! | file | what it draws |
//! |---|---|
//! | `threads` | threads by how far they are stretched, folds |
//! | `pins` | what is held |
//! | `tethers` | what keeps particles within reach of their pins |
//! | `normals` | where the cloth faces |
//! | `limits` | how far particles may go from where they are carried |
//! | `contacts` | where colliders are touched, and cloth touches itself |
//! | `colliders` | what cloth bumps into |
//! | `wind_zones` | where the wind blows |

mod colliders;
mod contacts;
mod limits;
mod normals;
mod pins;
mod tethers;
mod threads;
mod wind_zones;

use crate::plugin::ClothSystems;
use bevy::prelude::*;

/// Draws the inner life of cloths with gizmos, where [`ClothGizmos`] says so. Nothing is drawn
/// without it; add `DefaultPlugins` or `GizmoPlugin` first.
#[derive(Default)]
pub struct ClothDebugPlugin;

/// What [`ClothDebugPlugin`] draws. All off by default.
///
/// Threads are coloured by their strain, length over rest length minus 1:
///
/// | strain | colour |
/// |---|---|
/// | −5 % and less: slack | blue |
/// | −2.5 % | light blue |
/// | 0: at rest | white |
/// | 2.5 % | light red |
/// | 5 % and more: stretched | red |
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothGizmos {
    /// Structural constraints, coloured by their strain.
    pub threads: bool,
    /// Shear constraints, likewise.
    pub shear: bool,
    /// Where the cloth resists bending, from end to end: the redder, the sharper it is folded.
    pub bend: bool,
    /// A cross at each pinned particle.
    pub pins: bool,
    /// A line from particles to the pins that they hang from: grey where it is slack, orange where it
    /// holds. At most 400 particles of each cloth are shown, evenly chosen.
    pub tethers: bool,
    /// The normal of each particle, 3 cm long.
    pub normals: bool,
    /// Of [`MaxDistance`](crate::MaxDistance), a ball around where a particle would be carried, as large
    /// as it may go away from there; and where its backstop begins, a ring on the surface of that. At most
    /// 80 particles of each cloth are shown, evenly chosen.
    pub limits: bool,
    /// A small cross where a [`ClothCollider`](crate::ClothCollider) is touched, for each particle that touches it; and, in another colour,
    /// between particles of a cloth that touch each other.
    pub contacts: bool,
    /// The outlines of all colliders.
    pub colliders: bool,
    /// The outlines of all wind zones, and in each of them arrows along the wind, 5 cm for 1 m/s.
    pub wind_zones: bool,
}

/// The gizmo group of cloths: line width, depth and so on are in its
/// [`GizmoConfig`].
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct ClothGizmoGroup;

/// At most so many of these particles, evenly chosen: more would hide each other.
fn thinned(particles: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..particles).step_by(particles.div_ceil(most).max(1))
}

impl Plugin for ClothDebugPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothGizmos>()
            .init_resource::<ClothGizmos>()
            .insert_gizmo_config(
                ClothGizmoGroup,
                GizmoConfig {
                    // Lines lie in the cloth; a little nearer they are not half hidden by it.
                    depth_bias: -0.005,
                    line: GizmoLineConfig {
                        width: 1.2,
                        ..default()
                    },
                    ..default()
                },
            )
            .add_systems(
                PostUpdate,
                (
                    threads::draw_constraints,
                    pins::draw_pins,
                    tethers::draw_tethers,
                    normals::draw_normals,
                    limits::draw_limits,
                    contacts::draw_contacts,
                    colliders::draw_colliders,
                    wind_zones::draw_wind_zones,
                )
                    .after(ClothSystems::WriteMesh)
                    .run_if(resource_exists::<GizmoConfigStore>),
            );
        #[cfg(feature = "parry")]
        app.add_systems(
            PostUpdate,
            colliders::draw_mesh_colliders
                .after(ClothSystems::WriteMesh)
                .run_if(resource_exists::<GizmoConfigStore>),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::thinned;

    #[test]
    fn as_many_are_shown_as_there_is_room_for() {
        assert_eq!(thinned(0, 4).count(), 0);
        assert_eq!(thinned(4, 4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(thinned(5, 4).collect::<Vec<_>>(), [0, 2, 4]);
        assert!((1..1000).all(|n| thinned(n, 80).count() <= 80));
    }
}
