//! The curtain of the first tutorial: planar, 121 × 33 particles, every second one of the upper row pinned, to
//! drag and to tear. One unit of the tutorial is a centimetre here.

#[cfg(feature = "picking")]
use super::Shown;
use super::{Scene, Set, Surroundings};
#[cfg(feature = "picking")]
use bevy::input::mouse::AccumulatedMouseScroll;
use bevy::{math::Affine2, prelude::*};
#[cfg(feature = "picking")]
use bevy_drape::picking::{ClothPointers, ClothTool, ClothTools};
use bevy_drape::{
    cloth::{ClothConstraints, PlanarCloth, StretchSolver},
    prelude::*,
    solver::ConstraintKind,
};

pub(super) const SCENE: Scene = Scene {
    name: "curtain",
    about: "drag it with the left button, tear it with the right button; the wheel sets the radius",
    spawn,
    world: || Surroundings {
        gravity: ClothGravity(Vec3::NEG_Y * 9.81),
        // One iteration per fixed step, as in the tutorial.
        substeps: ClothSubsteps::PerStep(1),
        wind: Wind {
            air_density: 0.0,
            ..default()
        },
        ..default()
    },
    // Shifted to the side of the panel.
    view: [Vec3::new(-1.0, 3.6, 10.2), Vec3::new(-1.0, 3.6, 0.0)],
    fixed_view: true,
    #[cfg(feature = "picking")]
    tools: || ClothTools {
        primary: ClothTool::Brush,
        secondary: ClothTool::Shred,
        radius: 0.3,
        // 10 units per frame at 60 frames per second.
        speed: 6.0,
        force: 4000.0,
        ..default()
    },
};

/// Particles in a row and in a column.
const COUNT: UVec2 = UVec2::new(121, 33);
/// Distance of neighbours, m.
const SPACING: f32 = 0.1;
/// Height of the pinned row, m.
const TOP: f32 = 6.6;
/// Box that contains the particles: half its width, and its height, m.
const BOX: Vec2 = Vec2::new(6.4, 7.2);

/// Range of the radius of brushes, m.
#[cfg(feature = "picking")]
const RADIUS_RANGE: [f32; 2] = [0.2, 1.0];
/// Change of the radius per step of the wheel, m.
#[cfg(feature = "picking")]
const RADIUS_STEP: f32 = 0.1;

#[derive(Component)]
struct Curtain;

pub(super) fn plugin(app: &mut App) {
    app.add_observer(keep_structural_only);
    #[cfg(feature = "picking")]
    app.add_systems(
        Update,
        set_radius.run_if(resource_exists::<AccumulatedMouseScroll>),
    );
}

/// Removes all constraints except structural ones.
fn keep_structural_only(
    ready: On<ClothReady>,
    mut curtains: Query<&mut ClothConstraints, With<Curtain>>,
) {
    if let Ok(mut constraints) = curtains.get_mut(ready.entity) {
        constraints.retain(|constraint| constraint.kind() == ConstraintKind::Structural);
    }
}

#[cfg(feature = "picking")]
fn set_radius(
    wheel: Res<AccumulatedMouseScroll>,
    shown: Option<Res<Shown>>,
    tools: Option<ResMut<ClothTools>>,
    pointers: Option<Res<ClothPointers>>,
) {
    let (Some(shown), Some(mut tools)) = (shown, tools) else {
        return;
    };
    if wheel.delta.y == 0.0 || !shown.is("curtain") || pointers.is_some_and(|p| p.are_busy()) {
        return;
    }
    let steps = (tools.radius / RADIUS_STEP).round() + wheel.delta.y.signum();
    tools.radius = (steps * RADIUS_STEP).clamp(RADIUS_RANGE[0], RADIUS_RANGE[1]);
}

fn spawn(set: &mut Set) {
    let size = (COUNT - 1).as_vec2() * SPACING;
    // Walls, floor and ceiling: half-spaces facing inwards.
    let wall = |x: f32, y: f32, angle: f32| {
        Transform::from_xyz(x, y, 0.0).with_rotation(Quat::from_rotation_z(angle))
    };
    let quarter = std::f32::consts::FRAC_PI_2;
    let bar = set.paint(Color::srgb(0.13, 0.11, 0.10));
    for (transform, length) in [
        (wall(0.0, 0.0, 0.0), 2.0 * BOX.x),
        (wall(0.0, BOX.y, 2.0 * quarter), 2.0 * BOX.x),
        (wall(-BOX.x, BOX.y / 2.0, -quarter), BOX.y),
        (wall(BOX.x, BOX.y / 2.0, quarter), BOX.y),
    ] {
        let mesh = set.meshes.add(Cuboid::new(length + 0.16, 0.08, 0.3));
        let beyond = transform.translation - transform.up() * 0.06;
        set.spawn((
            ClothCollider::half_space().with_friction(0.0, 0.0),
            transform,
        ));
        set.spawn((
            Mesh3d(mesh),
            MeshMaterial3d(bar.clone()),
            transform.with_translation(beyond),
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
    let transform = Transform::from_xyz(0.0, TOP - size.y / 2.0, 0.0);
    // Same texture scale as on other sheets, in both directions.
    let tartan = set.props.fabric.clone();
    let tartan = set.materials.get(&tartan).cloned().unwrap_or_default();
    let material = set.materials.add(StandardMaterial {
        uv_transform: Affine2::from_scale(size / 0.8),
        ..tartan
    });
    set.sheet(grid, transform).insert((
        Curtain,
        PlanarCloth::default(),
        MeshMaterial3d(material),
        pins,
        Cloth {
            iterations: 1,
            // The tutorial removes 1 % of the velocity per frame, at 60 frames per second.
            damping: 0.603,
            // Structural constraints only.
            tether_scale: None,
            stretch_solver: StretchSolver::GaussSeidel,
            fabric: Fabric {
                thickness: Some(0.0),
                ..default()
            },
            ..default()
        },
        // The exercise at the end of the tutorial: sticks that break beyond a length.
        ClothTearing {
            least_piece: 2,
            most_per_step: 32,
            ..ClothTearing::at_strain(4.0)
        },
    ));
}
