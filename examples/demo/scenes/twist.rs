//! A cloth that is wrung: its ends turn in opposite directions, and it must not pass through itself.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::{prelude::*, time::cloth_step_due};
use std::f32::consts::FRAC_PI_3;

pub(super) const SCENE: Scene = Scene {
    name: "twist",
    about: "a cloth that is wrung for 10 s, with self-collision",
    spawn,
    view: [Vec3::new(0.35, 1.25, 1.6), Vec3::new(0.0, 0.95, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // Runs with the steps of cloths, so that it pauses with them.
    let after = turn.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Size of the cloth, m.
const SIZE: Vec2 = Vec2::new(1.6, 0.5);
/// Numbers of particles.
const SIDES: [u32; 2] = [97, 31];
/// Height of its axis above the ground, m.
const HEIGHT: f32 = 1.0;
/// Duration of wringing, s.
const DURATION: f32 = 10.0;
/// Angular speed of each end, rad/s.
const SPEED: f32 = FRAC_PI_3;
/// Approach of the ends per second, as a fraction of the length of the cloth: wrung cloth gets shorter.
const APPROACH: f32 = 0.06;

/// Anchor of an end of the cloth.
#[derive(Component)]
struct Turning {
    /// 1 for the right end, −1 for the left one.
    side: f32,
    /// Elapsed time, s.
    elapsed: f32,
}

impl Turning {
    fn pose(&self) -> Transform {
        let along = self.side * SIZE.x * 0.5 * (1.0 - APPROACH * self.elapsed);
        Transform::from_xyz(along, HEIGHT, 0.0)
            .with_rotation(Quat::from_rotation_x(self.side * SPEED * self.elapsed))
    }
}

fn turn(mut turning: Query<(&mut Turning, &mut Transform)>, time: Res<Time>) {
    for (mut turning, mut transform) in &mut turning {
        turning.elapsed = (turning.elapsed + time.delta_secs()).min(DURATION);
        *transform = turning.pose();
    }
}

fn spawn(set: &mut Set) {
    set.floor();
    let rod = Cylinder::new(0.012, SIZE.y + 0.06).mesh().resolution(16);
    let rod = set.meshes.add(rod);
    let steel = set.paint(Color::srgb(0.35, 0.36, 0.38));
    let ends = [("left", -1.0), ("right", 1.0)].map(|(name, side)| {
        let turning = Turning { side, elapsed: 0.0 };
        let transform = turning.pose();
        // Next to the pinned edge.
        let beside = Transform::from_xyz(0.012 * side, 0.0, 0.0);
        set.spawn((Name::new(name), turning, transform, Visibility::default()))
            .with_child((Mesh3d(rod.clone()), MeshMaterial3d(steel.clone()), beside))
            .id()
    });
    let [left, right] = ends;
    let transform = Transform::from_xyz(0.0, HEIGHT, 0.0);
    set.sheet(
        ClothGrid::vertical(SIZE.x, SIZE.y, SIDES[0], SIDES[1]),
        transform,
    )
    .insert((
        Pins::edge(ClothEdge::Left)
            .to_entity(left)
            .and(Pins::edge(ClothEdge::Right).to_entity(right)),
        Cloth {
            self_collision: SelfCollision::On,
            fabric: Fabric {
                thickness: Some(0.012),
                ..default()
            },
            ..default()
        },
    ));
}
