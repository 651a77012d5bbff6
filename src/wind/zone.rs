//! [`WindZone`]: wind in a region of the world; and [`LocalWind`], which samples the wind at a position.

use crate::{
    collision::active_colliders::ActiveColliders,
    solver::{Falloff, ZoneFlow, ZoneShape},
    wind::{
        active_zones::ActiveWindZones,
        settings::{Wind, WindOcclusion, WindTime, WindTurbulence},
    },
};
use bevy::{ecs::system::SystemParam, prelude::*};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Wind in a region of the world, at the [`Transform`] of its entity: a fan, a vortex, an explosion. Zones may
/// move and turn. The winds of all zones and [`Wind`] add up and act on all cloths and ropes, on each triangle as
/// the mean of the winds at its corners. [`Wind::air_density`] applies here too.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, wind::Falloff};
/// # fn spawn(mut commands: Commands) {
/// // Blows along its local −Z, which `looking_to` orients.
/// let fan = Transform::from_xyz(0.0, 1.0, 2.0).looking_to(Vec3::NEG_X, Vec3::Y);
/// commands.spawn((WindZone::cuboid(1.0, 1.0, 6.0).with_strength(8.0), fan));
/// commands.spawn(WindZone::sphere(2.0).vortex().with_strength(5.0));
/// commands.spawn(WindZone::sphere(4.0).radial().with_strength(30.0).with_falloff(Falloff::Linear));
/// # }
/// ```
///
/// The scale of the transform scales the shape: boxes along each axis, spheres by the largest of the three
/// factors. Strength and core are clamped to their ranges, with a warning; a zone with a length that is not finite
/// or not above 0 is left out, with an error in the log.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(Serialize, Deserialize))]
#[cfg_attr(feature = "serialize", reflect(Serialize, Deserialize))]
#[require(Transform)]
pub struct WindZone {
    /// Region, in the local space of the entity. Default everywhere.
    pub shape: ZoneShape,
    /// Direction of the flow, in the local space of the entity. Default along −Z.
    pub flow: ZoneFlow,
    /// Falloff towards the edge of the region. Default smooth.
    pub falloff: Falloff,
    /// Speed of the air, m/s; negative values reverse it. −200 to 200, default 5.
    pub strength: f32,
    /// Radius around the centre of a radial zone or the axis of a vortex within which the speed falls linearly to
    /// 0, m. 0.001 to 1000, default 0.1.
    pub core: f32,
}

impl Default for WindZone {
    fn default() -> Self {
        Self {
            shape: ZoneShape::Everywhere,
            flow: ZoneFlow::Forward,
            falloff: Falloff::Smooth,
            strength: 5.0,
            core: 0.1,
        }
    }
}

impl From<ZoneShape> for WindZone {
    fn from(shape: ZoneShape) -> Self {
        Self { shape, ..default() }
    }
}

impl WindZone {
    /// Creates a spherical zone. `radius` in m.
    pub fn sphere(radius: f32) -> Self {
        ZoneShape::Sphere { radius }.into()
    }

    /// Creates a box-shaped zone. Full lengths along the local axes, m.
    pub fn cuboid(x: f32, y: f32, z: f32) -> Self {
        ZoneShape::Cuboid {
            half_size: Vec3::new(x, y, z) / 2.0,
        }
        .into()
    }

    /// Returns the zone with air that flows away from its centre.
    pub fn radial(self) -> Self {
        Self {
            flow: ZoneFlow::Radial,
            ..self
        }
    }

    /// Returns the zone with air that circles its +Y axis counter-clockwise.
    pub fn vortex(self) -> Self {
        Self {
            flow: ZoneFlow::Vortex,
            ..self
        }
    }

    /// Returns the zone with this speed, m/s.
    pub fn with_strength(self, strength: f32) -> Self {
        Self { strength, ..self }
    }

    /// Returns the zone with this falloff.
    pub fn with_falloff(self, falloff: Falloff) -> Self {
        Self { falloff, ..self }
    }

    /// Returns the shape under the scale of a transform.
    pub(crate) fn scaled_shape(&self, scale: Vec3) -> ZoneShape {
        let scale = scale.abs();
        match self.shape {
            ZoneShape::Everywhere => ZoneShape::Everywhere,
            ZoneShape::Sphere { radius } => ZoneShape::Sphere {
                radius: radius * scale.max_element(),
            },
            ZoneShape::Cuboid { half_size } => ZoneShape::Cuboid {
                half_size: half_size * scale,
            },
        }
    }
}

/// System parameter that samples the wind that acts on cloth, to move other things with it: leaves, smoke, a
/// weather vane.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::wind::LocalWind;
/// fn blow(mut leaves: Query<&mut Transform, With<Name>>, wind: LocalWind, time: Res<Time>) {
///     for mut leaf in &mut leaves {
///         let velocity = wind.at(leaf.translation);
///         leaf.translation += velocity * time.delta_secs();
///     }
/// }
/// ```
#[derive(SystemParam)]
pub struct LocalWind<'w> {
    wind: Res<'w, Wind>,
    time: Res<'w, WindTime>,
    turbulence: Res<'w, WindTurbulence>,
    zones: Res<'w, ActiveWindZones>,
    occlusion: Res<'w, WindOcclusion>,
    colliders: Res<'w, ActiveColliders>,
}

impl LocalWind<'_> {
    /// Returns the velocity of the air at a world position, m/s, as of the last cloth step.
    pub fn at(&self, position: Vec3) -> Vec3 {
        let seconds = **self.time;
        let occlusion = (self.colliders).occlusion(self.occlusion.length, self.occlusion.spread);
        let field = self.zones.field(&self.turbulence, seconds, occlusion);
        field.total(position, self.wind.at(seconds))
    }

    /// Returns the active zones.
    #[cfg(feature = "debug")]
    pub(crate) fn zones(&self) -> &[crate::solver::Zone] {
        &self.zones.list
    }
}
