//! A cloth over a table with legs. After a while three hands pull it off.

use super::{PLAIN, Scene, Set};
use bevy::prelude::*;
use bevy_drape::{ClothSystems, Particles, cloth_step_due, prelude::*};

pub(super) const SCENE: Scene = Scene {
    name: "tablecloth",
    about: "a cloth over a table, in folds at its corners; pulled off after 5 s",
    spawn,
    view: [Vec3::new(1.3, 1.2, 1.75), Vec3::new(0.1, 0.35, 0.0)],
    ..PLAIN
};

pub(super) fn plugin(app: &mut App) {
    // When cloths have moved, so that it pauses with them.
    let after = pull.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Of the table's top, m.
const TOP: Vec3 = Vec3::new(0.9, 0.04, 0.7);
/// Height of the table above the ground, m.
const HEIGHT: f32 = 0.6;
/// Of its legs, m.
const LEG: f32 = 0.05;
/// When the hands take hold, s.
const BEGIN: f32 = 5.0;
/// When they let go, s.
const END: f32 = 6.6;
/// How fast they pull, m/s.
const SPEED: f32 = 1.4;
/// Where they are along the edge that they pull, m.
const HANDS: [f32; 3] = [-0.3, 0.0, 0.3];

/// A cloth that is pulled off its table.
#[derive(Component)]
struct Pulled {
    /// How long it has been lying, s.
    elapsed: f32,
    /// Who pulls, and where from.
    hands: [(Entity, Vec3); 3],
}

fn pull(
    mut pulled: Query<(Entity, &mut Pulled, &Particles)>,
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

/// The lowest point of what hangs from the right side of the table about there.
fn lowest(particles: &Particles, z: f32) -> Vec3 {
    let hanging = (0..particles.len())
        .map(|i| particles.world_position(i))
        .filter(|place| place.x > TOP.x / 2.0 && (place.z - z).abs() < 0.05);
    let lowest = hanging.min_by(|a, b| a.y.total_cmp(&b.y));
    lowest.unwrap_or(Vec3::new(TOP.x / 2.0, HEIGHT, z))
}

fn spawn(set: &mut Set) {
    set.floor();
    // Polished: what is pulled slides.
    let top = ClothCollider::from(Cuboid::from_size(TOP)).with_friction(0.15, 0.1);
    let place = Transform::from_xyz(0.0, HEIGHT - TOP.y / 2.0, 0.0);
    set.stone("table", top, Cuboid::from_size(TOP), place);
    let leg = Cuboid::new(LEG, HEIGHT - TOP.y, LEG);
    for [x, z] in [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]] {
        let inset = Vec2::new(TOP.x, TOP.z) / 2.0 - LEG;
        let place = Transform::from_xyz(x * inset.x, leg.half_size.y, z * inset.y);
        set.stone("leg", leg, leg, place);
    }

    let hands = HANDS.map(|_| (set.spawn(Name::new("hand")).id(), Vec3::ZERO));
    let place = Transform::from_xyz(0.0, HEIGHT + 0.03, 0.0);
    set.sheet(ClothGrid::new(1.6, 1.4, 96, 84), place)
        .insert((
            Cloth {
                self_collision: SelfCollision::Particles,
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
