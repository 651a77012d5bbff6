//! Colliders on a floor, for sheets that fall on them.

use bevy::math::{Quat, Vec2, Vec3};
use bevy_drape::solver::{Collider, Friction, MeshCollider, Pose, Shape, TriangleSurface};
use clap::ValueEnum;
use std::{
    f32::consts::{FRAC_PI_2, PI, TAU},
    fmt,
    sync::Arc,
};

/// What a sheet falls on, beside the floor at height 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Support {
    Ball,
    Box,
    /// Lying capsule
    Capsule,
    /// Three balls
    Balls,
    Cone,
    /// Lying torus of triangles
    Mesh,
    /// Hills
    Heightfield,
}

impl Support {
    pub(crate) const ALL: [Self; 7] = [
        Self::Ball,
        Self::Box,
        Self::Capsule,
        Self::Balls,
        Self::Cone,
        Self::Mesh,
        Self::Heightfield,
    ];

    /// Returns the colliders below a sheet 2 m wide at a height of 1.5 m. Kinetic friction is four fifths of static
    /// friction.
    pub(crate) fn colliders(self, static_coefficient: f32) -> (Vec<Collider>, Vec<MeshCollider>) {
        let friction = Friction {
            static_coefficient,
            kinetic_coefficient: 0.8 * static_coefficient,
        };
        let floor = (Shape::HalfSpace, at(Vec3::ZERO));
        let shapes = self.shapes().into_iter().chain([floor]);
        let colliders = shapes.map(|(shape, pose)| Collider::fixed(shape, pose, friction));
        let meshes = self.surface().into_iter().map(|surface| {
            let pose = at(Vec3::Y * 0.5);
            MeshCollider {
                surface: Arc::new(surface),
                start: pose,
                end: pose,
                friction,
            }
        });
        (colliders.collect(), meshes.collect())
    }

    /// Returns the primitive shapes.
    fn shapes(self) -> Vec<(Shape, Pose)> {
        let ball = |radius, x, y, z| (Shape::Sphere { radius }, at(Vec3::new(x, y, z)));
        match self {
            Self::Ball => vec![ball(0.5, 0.0, 0.5, 0.0)],
            Self::Box => {
                let half_size = Vec3::splat(0.4);
                let pose = Pose {
                    rotation: Quat::from_rotation_y(0.3),
                    translation: Vec3::Y * half_size.y,
                };
                vec![(Shape::Cuboid { half_size }, pose)]
            }
            Self::Capsule => {
                let capsule = Shape::Capsule {
                    radius: 0.25,
                    half_length: 0.6,
                };
                let pose = Pose {
                    rotation: Quat::from_rotation_z(FRAC_PI_2),
                    translation: Vec3::Y * 0.6,
                };
                vec![(capsule, pose)]
            }
            Self::Balls => vec![
                ball(0.3, -0.5, 0.5, -0.2),
                ball(0.35, 0.5, 0.6, -0.3),
                ball(0.25, 0.1, 0.7, 0.5),
            ],
            Self::Cone => {
                let cone = Shape::Cone {
                    radius: 0.5,
                    half_height: 0.45,
                };
                vec![(cone, at(Vec3::Y * 0.45))]
            }
            Self::Mesh | Self::Heightfield => vec![],
        }
    }

    /// Returns the triangle surface, relative to a point at a height of 0.5 m.
    fn surface(self) -> Option<TriangleSurface> {
        let surface = match self {
            Self::Mesh => torus(),
            Self::Heightfield => hills(),
            _ => return None,
        };
        Some(surface.expect("a valid surface"))
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self, f)
    }
}

/// Writes the name of a value on the command line.
pub(crate) fn write_value(value: &impl ValueEnum, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let value = value.to_possible_value();
    f.pad(value.as_ref().map_or("", |value| value.get_name()))
}

/// Returns an unrotated pose.
fn at(translation: Vec3) -> Pose {
    Pose {
        rotation: Quat::IDENTITY,
        translation,
    }
}

/// Returns a lying torus of 48 × 24 points.
fn torus() -> Result<TriangleSurface, bevy_drape::solver::SurfaceError> {
    const AROUND: u32 = 48;
    const ACROSS: u32 = 24;
    let points = (0..AROUND * ACROSS).map(|i| {
        let around = (i / ACROSS) as f32 / AROUND as f32 * TAU;
        let across = (i % ACROSS) as f32 / ACROSS as f32 * TAU;
        let out = 0.5 + 0.2 * across.cos();
        Vec3::new(out * around.cos(), 0.2 * across.sin(), out * around.sin())
    });
    let triangles = (0..AROUND * ACROSS).flat_map(|i| {
        let (ring, k) = (i / ACROSS, i % ACROSS);
        let corner = |ring, k| ring % AROUND * ACROSS + k % ACROSS;
        let [a, b] = [corner(ring, k), corner(ring, k + 1)];
        let [c, d] = [corner(ring + 1, k), corner(ring + 1, k + 1)];
        [[a, b, c], [c, b, d]]
    });
    TriangleSurface::new(points.collect(), triangles.collect())
}

/// Returns hills of up to 0.4 m on a rectangle of 4 m × 4 m.
fn hills() -> Result<TriangleSurface, bevy_drape::solver::SurfaceError> {
    const SIDE: u32 = 49;
    let heights: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| {
            let [x, z] = [i % SIDE, i / SIDE].map(|k| k as f32 / (SIDE - 1) as f32 * 4.0 - 2.0);
            0.2 * (PI * (x + 0.3 * z)).cos() * (PI * z).cos()
        })
        .collect();
    TriangleSurface::heightfield(&heights, SIDE, Vec2::splat(4.0), Vec3::ONE)
}
