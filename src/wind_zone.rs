//! Wind that blows in a part of the world, and the wind at a place.

use crate::{
    settings::{Turbulence, Wind, WindOcclusion, WindTime},
    solver::{Falloff, ZoneFlow, ZoneShape},
    systems::{ActiveColliders, ActiveWindZones},
};
use bevy::{ecs::system::SystemParam, prelude::*};
#[cfg(feature = "serialize")]
use serde::{Deserialize, Serialize};

/// Wind in a part of the world, at the [`Transform`] of its entity: a fan, a whirl, an explosion. It
/// may move and turn. The winds of all zones and [`Wind`] add up; all cloths and ropes feel them, each
/// triangle the mean of those at its corners. [`Wind::air_density`] counts here too.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::{prelude::*, Falloff};
/// # fn spawn(mut commands: Commands) {
/// // Blows along its −Z, which `looking_to` turns.
/// let fan = Transform::from_xyz(0.0, 1.0, 2.0).looking_to(Vec3::NEG_X, Vec3::Y);
/// commands.spawn((WindZone::cuboid(1.0, 1.0, 6.0).with_strength(8.0), fan));
/// commands.spawn(WindZone::sphere(2.0).vortex().with_strength(5.0));
/// commands.spawn(WindZone::sphere(4.0).radial().with_strength(30.0).with_falloff(Falloff::Linear));
/// # }
/// ```
///
/// A scale of the transform scales the shape: boxes along each axis, spheres by the largest of the
/// three factors. Strength and core are clamped to their ranges, with a warning; a zone with a length
/// that is not finite and above 0 does not blow, with an error in the log.
#[derive(Component, Reflect, Clone, Copy, Debug, PartialEq)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(Serialize, Deserialize),
    reflect(Serialize, Deserialize)
)]
#[require(Transform)]
pub struct WindZone {
    /// Where it blows, in the frame of its entity. Default everywhere.
    pub shape: ZoneShape,
    /// Which way, in the frame of its entity. Default along −Z.
    pub flow: ZoneFlow,
    /// How it fades towards the edge. Default smooth.
    pub falloff: Falloff,
    /// Speed of its air, m/s; negative blows the other way. −200 to 200, default 5.
    pub strength: f32,
    /// Nearer than this to the middle of a radial zone, or to the axis of a vortex, m, the speed
    /// shrinks in proportion to the distance. 0.001 to 1000, default 0.1.
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
    /// A ball of wind. `radius` in m.
    pub fn sphere(radius: f32) -> Self {
        ZoneShape::Sphere { radius }.into()
    }

    /// A box of wind with these full lengths along its axes, m.
    pub fn cuboid(x: f32, y: f32, z: f32) -> Self {
        ZoneShape::Cuboid {
            half_size: Vec3::new(x, y, z) / 2.0,
        }
        .into()
    }

    /// The same zone, its air leaving its middle.
    pub fn radial(self) -> Self {
        Self {
            flow: ZoneFlow::Radial,
            ..self
        }
    }

    /// The same zone, its air circling its +Y axis counter-clockwise.
    pub fn vortex(self) -> Self {
        Self {
            flow: ZoneFlow::Vortex,
            ..self
        }
    }

    /// The same zone with another speed, m/s.
    pub fn with_strength(self, strength: f32) -> Self {
        Self { strength, ..self }
    }

    /// The same zone that fades in another way.
    pub fn with_falloff(self, falloff: Falloff) -> Self {
        Self { falloff, ..self }
    }

    /// Its shape under the scale of a transform.
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

/// The wind at a place as cloths feel it, for what else it is to move: leaves, smoke, a weathercock.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_drape::LocalWind;
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
    turbulence: Res<'w, Turbulence>,
    zones: Res<'w, ActiveWindZones>,
    occlusion: Res<'w, WindOcclusion>,
    colliders: Res<'w, ActiveColliders>,
}

impl LocalWind<'_> {
    /// The velocity of the air at a place in the world, m/s, as in the last step that cloths took.
    pub fn at(&self, place: Vec3) -> Vec3 {
        let seconds = **self.time;
        let occlusion = self.colliders.occlusion(&self.occlusion);
        let field = self.zones.field(&self.turbulence, seconds, occlusion);
        field.total(place, self.wind.at(seconds))
    }

    /// The zones that blow.
    #[cfg(feature = "debug")]
    pub(crate) fn zones(&self) -> &[crate::solver::Zone] {
        &self.zones.list
    }
}
