//! The first of the tutorials: a flat curtain of 121 × 33 particles, held by every second one of its
//! upper row, to drag and to tear. One unit there is a centimetre here.

#[cfg(feature = "picking")]
use super::Shown;
use super::{Scene, Set, Surroundings};
#[cfg(feature = "picking")]
use bevy::input::mouse::AccumulatedMouseScroll;
use bevy::{math::Affine2, prelude::*};
use bevy_drape::{Constraints, prelude::*, solver::ConstraintKind};

pub(super) const SCENE: Scene = Scene {
    name: "curtain",
    about: "drag it with the left button, tear it with the right one; the wheel sets the reach",
    spawn,
    world: || Surroundings {
        gravity: ClothGravity(Vec3::NEG_Y * 9.81),
        // One relaxation pass in each fixed step, as there.
        substeps: Substeps(1),
        wind: Wind {
            air_density: 0.0,
            ..default()
        },
        ..default()
    },
    // A little to the side, beside the panel.
    view: [Vec3::new(-1.0, 3.6, 10.2), Vec3::new(-1.0, 3.6, 0.0)],
    fixed_view: true,
    #[cfg(feature = "picking")]
    tools: || ClothTools {
        primary: ClothTool::Brush,
        secondary: ClothTool::Shred,
        radius: 0.3,
        // 10 units in each of 60 frames a second.
        speed: 6.0,
        force: 4000.0,
        ..default()
    },
};

/// Particles in a row and in a column.
const COUNT: UVec2 = UVec2::new(121, 33);
/// Distance of neighbours, m.
const SPACING: f32 = 0.1;
/// Height of the row that is held, m.
const TOP: f32 = 6.6;
/// The box that keeps particles in: half its width, and its height, m.
const BOX: Vec2 = Vec2::new(6.4, 7.2);

/// The wheel sets the reach of the brushes between these, m,
#[cfg(feature = "picking")]
const REACH: [f32; 2] = [0.2, 1.0];
/// in strides of this, m.
#[cfg(feature = "picking")]
const STRIDE: f32 = 0.1;

#[derive(Component)]
struct Curtain;

pub(super) fn plugin(app: &mut App) {
    app.add_observer(keep_threads_only);
    #[cfg(feature = "picking")]
    app.add_systems(
        Update,
        set_reach.run_if(resource_exists::<AccumulatedMouseScroll>),
    );
}

/// It has structural sticks only.
fn keep_threads_only(ready: On<ClothReady>, mut curtains: Query<&mut Constraints, With<Curtain>>) {
    if let Ok(mut constraints) = curtains.get_mut(ready.entity) {
        constraints.retain(|stick| stick.kind == ConstraintKind::Structural);
    }
}

#[cfg(feature = "picking")]
fn set_reach(
    wheel: Res<AccumulatedMouseScroll>,
    shown: Option<Res<Shown>>,
    tools: Option<ResMut<ClothTools>>,
    hands: Option<Res<ClothHands>>,
) {
    let (Some(shown), Some(mut tools)) = (shown, tools) else {
        return;
    };
    if wheel.delta.y == 0.0 || !shown.is("curtain") || hands.is_some_and(|h| h.are_busy()) {
        return;
    }
    let strides = (tools.radius / STRIDE).round() + wheel.delta.y.signum();
    tools.radius = (strides * STRIDE).clamp(REACH[0], REACH[1]);
}

fn spawn(set: &mut Set) {
    let size = (COUNT - 1).as_vec2() * SPACING;
    // Walls, floor and ceiling: half-spaces that face inwards.
    let wall = |x: f32, y: f32, angle: f32| {
        Transform::from_xyz(x, y, 0.0).with_rotation(Quat::from_rotation_z(angle))
    };
    let quarter = std::f32::consts::FRAC_PI_2;
    let bar = set.paint(Color::srgb(0.13, 0.11, 0.10));
    for (place, length) in [
        (wall(0.0, 0.0, 0.0), 2.0 * BOX.x),
        (wall(0.0, BOX.y, 2.0 * quarter), 2.0 * BOX.x),
        (wall(-BOX.x, BOX.y / 2.0, -quarter), BOX.y),
        (wall(BOX.x, BOX.y / 2.0, quarter), BOX.y),
    ] {
        let mesh = set.meshes.add(Cuboid::new(length + 0.16, 0.08, 0.3));
        let beyond = place.translation - place.up() * 0.06;
        set.spawn((ClothCollider::half_space().with_friction(0.0, 0.0), place));
        set.spawn((
            Mesh3d(mesh),
            MeshMaterial3d(bar.clone()),
            place.with_translation(beyond),
        ));
    }
    let back = set
        .meshes
        .add(Plane3d::new(Vec3::Z, BOX * Vec2::new(1.0, 0.5)));
    let dark = set.paint(Color::srgb(0.42, 0.40, 0.38));
    let behind = Transform::from_xyz(0.0, BOX.y / 2.0, -0.4);
    set.spawn((Mesh3d(back), MeshMaterial3d(dark), behind));

    let pins = (0..COUNT.x).step_by(2);
    let pins = pins.fold(Pins::none(), |pins, i| pins.and(Pins::index(i)));
    let grid = ClothGrid::vertical(size.x, size.y, COUNT.x, COUNT.y);
    let place = Transform::from_xyz(0.0, TOP - size.y / 2.0, 0.0);
    // As large squares both ways as on other sheets.
    let woven = set.props.fabric.clone();
    let woven = set.materials.get(&woven).cloned().unwrap_or_default();
    let material = set.materials.add(StandardMaterial {
        uv_transform: Affine2::from_scale(size / 0.8),
        ..woven
    });
    set.sheet(grid, place).insert((
        Curtain,
        PlanarCloth::default(),
        MeshMaterial3d(material),
        pins,
        Cloth {
            iterations: 1,
            // It lost 1 % of its velocity in each of 60 frames a second.
            damping: 0.603,
            // It hangs by its sticks alone.
            tether_scale: 100.0,
            threads: ThreadSolver::Relaxation,
            fabric: Fabric {
                thickness: 0.0,
                ..default()
            },
            ..default()
        },
        // The challenge that the tutorial ends with: sticks that break beyond a length.
        Tearing {
            least_piece: 2,
            most_per_step: 32,
            ..Tearing::at_strain(4.0)
        },
    ));
}
