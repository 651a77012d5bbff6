//! Debug gizmos: draws constraints, pins, contacts and colliders over cloths.
//!
//! | file | contents |
//! |---|---|
//! | `constraints` | structural, shear and bend constraints, coloured by strain or fold |
//! | `pins` | pinned particles |
//! | `tethers` | tethers of particles to their pins |
//! | `normals` | normals |
//! | `max_distance` | max-distance spheres and backstops |
//! | `contacts` | contacts with colliders and self-contacts |
//! | `colliders` | outlines of colliders |
//! | `wind_zones` | outlines of wind zones, and arrows along the wind |

mod colliders;
mod constraints;
mod contacts;
mod max_distance;
mod normals;
mod pins;
mod tethers;
mod wind_zones;

use crate::cloth::schedule::ClothSystems;
use bevy::prelude::*;

/// Plugin that draws debug gizmos of cloths, as selected in [`ClothGizmos`]. Add `DefaultPlugins` or `GizmoPlugin`
/// first: without it nothing is drawn.
#[derive(Default)]
pub struct ClothDebugPlugin;

/// Selection of the gizmos that [`ClothDebugPlugin`] draws. All off by default.
///
/// Structural and shear constraints are coloured by their strain, length over rest length minus 1:
///
/// | strain | colour |
/// |---|---|
/// | −5 % and less: slack | blue |
/// | −2.5 % | light blue |
/// | 0: rest length | white |
/// | 2.5 % | light red |
/// | 5 % and more: stretched | red |
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
pub struct ClothGizmos {
    /// Structural constraints, coloured by strain.
    pub structural: bool,
    /// Shear constraints, coloured by strain.
    pub shear: bool,
    /// Bend constraints, from end to end: the redder, the sharper the fold.
    pub bend: bool,
    /// Cross at each pinned particle.
    pub pins: bool,
    /// Tethers, as lines from particles to their pins: grey if slack, orange if taut. At most 400 evenly chosen
    /// particles per cloth.
    pub tethers: bool,
    /// Normal of each particle, 3 cm long.
    pub normals: bool,
    /// [`ClothMaxDistance`](crate::character::ClothMaxDistance): a sphere around the animated position of a particle, with
    /// the maximum distance as its radius, and a ring where its backstop begins. At most 80 evenly chosen
    /// particles per cloth.
    pub max_distance: bool,
    /// Small cross at each contact of a particle with a [`ClothCollider`](crate::collision::ClothCollider), and, in another
    /// colour, at each self-contact.
    pub contacts: bool,
    /// Outlines of all colliders.
    pub colliders: bool,
    /// Outlines of all wind zones, with arrows along the wind, 5 cm per 1 m/s.
    pub wind_zones: bool,
}

/// Gizmo group of cloths: line width, depth bias and so on are in its [`GizmoConfig`].
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct ClothGizmoGroup;

/// Returns at most `most` of the particles, evenly chosen: more would hide each other.
fn sample_evenly(particles: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..particles).step_by(particles.div_ceil(most).max(1))
}

impl Plugin for ClothDebugPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<ClothGizmos>()
            .init_resource::<ClothGizmos>()
            .insert_gizmo_config(
                ClothGizmoGroup,
                GizmoConfig {
                    // Lines lie in the surface of the cloth: drawn slightly nearer, they are not half hidden by
                    // it.
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
                    constraints::draw_constraints,
                    pins::draw_pins.run_if(shown(|gizmos| gizmos.pins)),
                    tethers::draw_tethers.run_if(shown(|gizmos| gizmos.tethers)),
                    normals::draw_normals.run_if(shown(|gizmos| gizmos.normals)),
                    max_distance::draw_max_distance.run_if(shown(|gizmos| gizmos.max_distance)),
                    contacts::draw_contacts.run_if(shown(|gizmos| gizmos.contacts)),
                    colliders::draw_colliders.run_if(shown(|gizmos| gizmos.colliders)),
                    wind_zones::draw_wind_zones.run_if(shown(|gizmos| gizmos.wind_zones)),
                )
                    .after(ClothSystems::WriteMesh)
                    .run_if(resource_exists::<GizmoConfigStore>),
            );
        app.add_systems(
            PostUpdate,
            colliders::draw_mesh_colliders
                .after(ClothSystems::WriteMesh)
                .run_if(shown(|gizmos| gizmos.colliders))
                .run_if(resource_exists::<GizmoConfigStore>),
        );
    }
}

/// Run condition: a gizmo is selected.
fn shown(gizmo: fn(&ClothGizmos) -> bool) -> impl FnMut(Res<ClothGizmos>) -> bool + Clone {
    move |gizmos| gizmo(&gizmos)
}

#[cfg(test)]
mod tests {
    use super::sample_evenly;

    #[test]
    fn at_most_the_given_number_of_particles_is_drawn() {
        assert_eq!(sample_evenly(0, 4).count(), 0);
        assert_eq!(sample_evenly(4, 4).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(sample_evenly(5, 4).collect::<Vec<_>>(), [0, 2, 4]);
        assert!((1..1000).all(|n| sample_evenly(n, 80).count() <= 80));
    }
}
