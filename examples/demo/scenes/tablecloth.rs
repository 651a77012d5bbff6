//! A cloth over a table with legs, pulled off after a while by three grabs.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::{prelude::*, time::cloth_step_due};

pub(super) const SCENE: Scene = Scene {
    name: "tablecloth",
    about: "a cloth over a table, in folds at its corners; pulled off after 5 s",
    spawn,
    view: [Vec3::new(1.3, 1.2, 1.75), Vec3::new(0.1, 0.35, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // Runs with the steps of cloths, so that it pauses with them.
    let after = pull.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Size of the table top, m.
const TOP: Vec3 = Vec3::new(0.9, 0.04, 0.7);
/// Height of the table above the ground, m.
const HEIGHT: f32 = 0.6;
/// Thickness of its legs, m.
const LEG: f32 = 0.05;
/// Start of the grabs, s.
const BEGIN: f32 = 5.0;
/// End of the grabs, s.
const END: f32 = 6.6;
/// Speed of the grabs, m/s.
const SPEED: f32 = 1.4;
/// Positions of the grabs along the pulled edge, m.
const HANDS: [f32; 3] = [-0.3, 0.0, 0.3];

/// Cloth that is pulled off its table.
#[derive(Component)]
struct Pulled {
    /// Elapsed time, s.
    elapsed: f32,
    /// Grabbing entities, and initial positions of the grabs.
    hands: [(Entity, Vec3); 3],
}

fn pull(
    mut pulled: Query<(Entity, &mut Pulled, &ClothParticles)>,
    mut commands: Commands,
    time: Res<Time>,
) {
    for (entity, mut pulled, particles) in &mut pulled {
        let before = pulled.elapsed;
        pulled.elapsed += time.delta_secs();
        let passes = |moment: f32| (before..pulled.elapsed).contains(&moment);
        let (begins, ends) = (passes(BEGIN), passes(END));
        let since = (pulled.elapsed - BEGIN).min(END - BEGIN);
        let mut cloth = commands.entity(entity);
        for ((hand, from), z) in pulled.hands.iter_mut().zip(HANDS) {
            if begins {
                *from = lowest(particles, z);
                cloth.grab(*hand, *from);
            } else if ends {
                cloth.release(*hand);
            } else if (0.0..END - BEGIN).contains(&since) {
                // Away from the table, and up to its height.
                let up = (HEIGHT + 0.02 - from.y) * (since * 2.0).min(1.0);
                cloth.drag(*hand, *from + Vec3::new(since * SPEED, up, 0.0));
            }
        }
    }
}

/// Returns the lowest point of the cloth that hangs from the right side of the table near this z.
fn lowest(particles: &ClothParticles, z: f32) -> Vec3 {
    let hanging = (0..particles.len())
        .map(|i| particles.world_position(i))
        .filter(|position| position.x > TOP.x / 2.0 && (position.z - z).abs() < 0.05);
    let lowest = hanging.min_by(|a, b| a.y.total_cmp(&b.y));
    lowest.unwrap_or(Vec3::new(TOP.x / 2.0, HEIGHT, z))
}

fn spawn(set: &mut Set) {
    set.floor();
    // Polished, so that the cloth slides.
    let top = ClothCollider::from(Cuboid::from_size(TOP)).with_friction(0.15, 0.1);
    let transform = Transform::from_xyz(0.0, HEIGHT - TOP.y / 2.0, 0.0);
    set.stone("table", top, Cuboid::from_size(TOP), transform);
    let leg = Cuboid::new(LEG, HEIGHT - TOP.y, LEG);
    for [x, z] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
        let inset = Vec2::new(TOP.x, TOP.z) / 2.0 - LEG;
        let transform = Transform::from_xyz(x * inset.x, leg.half_size.y, z * inset.y);
        set.stone("leg", leg, leg, transform);
    }

    let hands = HANDS.map(|_| (set.spawn(Name::new("hand")).id(), Vec3::ZERO));
    let transform = Transform::from_xyz(0.0, HEIGHT + 0.03, 0.0);
    set.sheet(ClothGrid::new(1.6, 1.4, 96, 84), transform)
        .insert((
            Cloth {
                self_collision: SelfCollision::On,
                ..default()
            },
            Pulled {
                elapsed: 0.0,
                hands,
            },
        ))
        .observe(|event: On<ResetCloth>, mut pulled: Query<&mut Pulled>| {
            if let Ok(mut pulled) = pulled.get_mut(event.entity) {
                pulled.elapsed = 0.0;
            }
        });
}
