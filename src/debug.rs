//! Gizmos: threads by how far they are stretched, pins, contacts, colliders and wind zones.

use crate::{
    cloth::Cloth,
    collider::ClothCollider,
    components::{Constraints, Particles},
    layers::ClothLayers,
    plugin::ClothSystems,
    solver::{ConstraintKind, Shape, Zone, ZoneShape},
    systems::{ActiveColliders, DrawTime},
    wind_zone::LocalWind,
};
use bevy::{
    color::palettes::css::{DARK_ORANGE, DEEP_SKY_BLUE, GOLD, LIGHT_CYAN, LIME},
    prelude::*,
};

/// Draws the inner life of cloths with gizmos, where [`ClothGizmos`] says so. Nothing is drawn
/// without it; add `DefaultPlugins` or `GizmoPlugin` first.
#[derive(Default)]
pub struct ClothDebugPlugin;

/// What [`ClothDebugPlugin`] draws. All off by default.
#[derive(Resource, Reflect, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[reflect(Resource, Default, Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serialize",
    derive(serde::Serialize, serde::Deserialize),
    reflect(Serialize, Deserialize)
)]
pub struct ClothGizmos {
    /// Structural constraints: white at rest length, red at 5 % more, blue at 5 % less.
    pub threads: bool,
    /// Shear constraints, likewise.
    pub shear: bool,
    /// Where the cloth resists bending, from end to end: the redder, the sharper it is folded.
    pub bend: bool,
    /// A cross at each pinned particle.
    pub pins: bool,
    /// A small cross where a collider is touched, for each particle that touches it.
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

/// Where a particle is drawn: between its last two steps, like the mesh.
pub(crate) fn drawn(particles: &Particles, i: usize, alpha: f32) -> Vec3 {
    let between = particles
        .previous
        .get(i)
        .lerp(particles.position.get(i), alpha);
    particles.origin + between
}

/// Strain that is drawn in full colour.
const FULL_STRAIN: f32 = 0.05;

/// White at rest, red where threads are longer, blue where they are shorter.
fn strain_colour(strain: f32) -> Color {
    let calm = 1.0 - (strain.abs() / FULL_STRAIN).clamp(0.0, 1.0);
    if strain > 0.0 {
        Color::srgb(1.0, calm, calm)
    } else {
        Color::srgb(calm, calm, 1.0)
    }
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
                    draw_constraints,
                    draw_pins,
                    draw_contacts,
                    draw_colliders,
                    draw_wind_zones,
                )
                    .after(ClothSystems::WriteMesh)
                    .run_if(resource_exists::<GizmoConfigStore>),
            );
        #[cfg(feature = "parry")]
        app.add_systems(
            PostUpdate,
            draw_mesh_colliders
                .after(ClothSystems::WriteMesh)
                .run_if(resource_exists::<GizmoConfigStore>),
        );
    }
}

fn draw_constraints(
    cloths: Query<(&Particles, &Constraints), With<Cloth>>,
    show: Res<ClothGizmos>,
    time: DrawTime,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    let alpha = time.alpha();
    for (particles, constraints) in &cloths {
        for (shown, kind) in [
            (show.threads, ConstraintKind::Structural),
            (show.shear, ConstraintKind::Shear),
        ] {
            if !shown {
                continue;
            }
            for ([a, b], rest) in constraints.of_kind(kind) {
                let [a, b] = [a, b].map(|i| drawn(particles, i as usize, alpha));
                let strain = (b - a).length() / rest - 1.0;
                gizmos.line(a, b, strain_colour(strain));
            }
        }
        if !show.bend {
            continue;
        }
        for constraint in constraints.iter() {
            let Some(over) = constraint.over else {
                continue;
            };
            let place = |i: u32| drawn(particles, i as usize, alpha);
            let [a, b] = constraint.particles.map(place);
            let middle = place(over[0]).midpoint(place(over[1]));
            // 0 where it is straight, 1 where it is folded flat.
            let folded = 0.5
                + 0.5
                    * (a - middle)
                        .normalize_or_zero()
                        .dot((b - middle).normalize_or_zero());
            let calm = 1.0 - folded.clamp(0.0, 1.0).sqrt();
            gizmos.line(a, middle, Color::srgb(1.0, calm, calm));
            gizmos.line(middle, b, Color::srgb(1.0, calm, calm));
        }
    }
}

fn draw_pins(
    cloths: Query<&Particles, With<Cloth>>,
    show: Res<ClothGizmos>,
    time: DrawTime,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.pins {
        return;
    }
    for particles in &cloths {
        for i in (0..particles.len()).filter(|&i| particles.is_pinned(i)) {
            let place = Isometry3d::from_translation(drawn(particles, i, time.alpha()));
            gizmos.cross(place, 0.05, GOLD);
        }
    }
}

/// A particle that is no farther from where contact begins than this touches, m.
const TOUCH: f32 = 5e-4;

fn draw_contacts(
    cloths: Query<(&Particles, &Cloth, Option<&ClothLayers>)>,
    colliders: Res<ActiveColliders>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.contacts {
        return;
    }
    for (particles, cloth, layers) in &cloths {
        let near = cloth.fabric.thickness + TOUCH;
        for collider in colliders.meeting(layers) {
            let pose = collider.end;
            let side = if collider.hollow { -1.0 } else { 1.0 };
            let to_local = pose.rotation.inverse();
            for i in 0..particles.len() {
                let place = to_local * (particles.world_position(i) - pose.translation);
                let (distance, normal) = collider.shape.distance(place);
                if distance * side <= near {
                    let touched = pose.rotation * (place - normal * distance) + pose.translation;
                    gizmos.cross(Isometry3d::from_translation(touched), 0.012, LIME);
                }
            }
        }
    }
}

fn draw_colliders(
    colliders: Query<(&ClothCollider, &GlobalTransform)>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.colliders {
        return;
    }
    for (collider, transform) in &colliders {
        let (scale, rotation, translation) = transform.to_scale_rotation_translation();
        let place = Isometry3d::new(translation, rotation);
        match collider.scaled_shape(scale) {
            Shape::Sphere { radius } => {
                gizmos.sphere(place, radius, DEEP_SKY_BLUE);
            }
            Shape::HalfSpace => {
                let flat = rotation * Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
                gizmos.grid(
                    Isometry3d::new(translation, flat),
                    UVec2::splat(10),
                    Vec2::ONE,
                    DARK_ORANGE,
                );
            }
            Shape::Capsule {
                radius,
                half_length,
            } => {
                gizmos.primitive_3d(
                    &Capsule3d {
                        radius,
                        half_length,
                    },
                    place,
                    DEEP_SKY_BLUE,
                );
            }
            Shape::Cuboid { half_size } => {
                gizmos.primitive_3d(&Cuboid { half_size }, place, DEEP_SKY_BLUE);
            }
            Shape::TaperedCapsule {
                radius_bottom,
                radius_top,
                half_length,
            } => {
                let ends = [(-half_length, radius_bottom), (half_length, radius_top)];
                for (y, radius) in ends {
                    let centre = place * (Vec3::Y * y);
                    gizmos.sphere(Isometry3d::new(centre, rotation), radius, DEEP_SKY_BLUE);
                }
                // Its side touches the balls where its normal goes through their centres.
                let along = (radius_bottom - radius_top) / (2.0 * half_length);
                if along.abs() < 1.0 {
                    let away = (1.0 - along * along).sqrt();
                    for out in [Vec3::X, Vec3::Z, Vec3::NEG_X, Vec3::NEG_Z] {
                        let normal = out * away + Vec3::Y * along;
                        let [a, b] =
                            ends.map(|(y, radius)| place * (Vec3::Y * y + normal * radius));
                        gizmos.line(a, b, DEEP_SKY_BLUE);
                    }
                }
            }
            Shape::Cylinder {
                radius,
                half_height,
            } => {
                let cylinder = Cylinder {
                    radius,
                    half_height,
                };
                gizmos.primitive_3d(&cylinder, place, DEEP_SKY_BLUE);
            }
            Shape::Cone {
                radius,
                half_height,
            } => {
                let height = half_height * 2.0;
                gizmos.primitive_3d(&Cone { radius, height }, place, DEEP_SKY_BLUE);
            }
        }
    }
}

/// The edges of hulls, meshes and fields of heights, where they were in the last step.
#[cfg(feature = "parry")]
fn draw_mesh_colliders(
    colliders: Res<crate::systems::ActiveColliders>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    if !show.colliders {
        return;
    }
    for collider in colliders.meshes.all() {
        let place = Isometry3d::new(collider.end.translation, collider.end.rotation);
        for [from, to] in collider.surface.edges() {
            gizmos.line(place * from, place * to, DEEP_SKY_BLUE);
        }
    }
}

/// Way that drawn air goes, s.
const ARROW: f32 = 0.05;

/// Arrows along each side of a zone.
const ARROWS: i32 = 5;

fn draw_wind_zones(wind: LocalWind, show: Res<ClothGizmos>, mut gizmos: Gizmos<ClothGizmoGroup>) {
    if !show.wind_zones {
        return;
    }
    for zone in wind.zones() {
        let Zone { shape, pose, .. } = zone;
        let place = Isometry3d::new(pose.translation, pose.rotation);
        let half_size = match *shape {
            // Where its entity is, to be seen at all.
            ZoneShape::Everywhere => Vec3::splat(0.5),
            ZoneShape::Sphere { radius } => {
                gizmos.sphere(place, radius, DEEP_SKY_BLUE);
                Vec3::splat(radius)
            }
            ZoneShape::Cuboid { half_size } => {
                gizmos.primitive_3d(&Cuboid { half_size }, place, DEEP_SKY_BLUE);
                half_size
            }
        };
        for i in 0..ARROWS.pow(3) {
            let [x, y, z] = [i % ARROWS, i / ARROWS % ARROWS, i / ARROWS / ARROWS];
            // In the middle of each of so many parts of the box around it.
            let share = (IVec3::new(x, y, z) * 2 + 1 - ARROWS).as_vec3() / ARROWS as f32;
            let from = place * (half_size * share);
            // Corners of the box around a ball are no part of it.
            if zone.wind(from) != Vec3::ZERO {
                let to = from + wind.at(from) * ARROW;
                gizmos.arrow(from, to, LIGHT_CYAN).with_tip_length(0.03);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strain_is_white_at_rest_red_when_long_and_blue_when_short() {
        assert_eq!(strain_colour(0.0), Color::srgb(1.0, 1.0, 1.0));
        assert_eq!(strain_colour(0.07), Color::srgb(1.0, 0.0, 0.0));
        assert_eq!(strain_colour(-0.07), Color::srgb(0.0, 0.0, 1.0));
        assert_eq!(strain_colour(0.025), Color::srgb(1.0, 0.5, 0.5));
    }
}
