//! A figure from a glTF file that walks, runs and stands, in its cape. What is cloth, and how, its file says:
//! `assets/models/hero.py` sets it as an artist would in Blender.

use super::{PLAIN, Scene, Set, Surroundings};
use bevy::{asset::io::embedded::EmbeddedAssetRegistry, prelude::*};
use bevy_drape::prelude::*;
use std::{path::PathBuf, time::Duration};

pub(super) const SCENE: Scene = Scene {
    name: "cape",
    about: "a figure walks, runs and stops; its glTF file says what its cape is made of and how it hangs",
    spawn,
    world: || Surroundings {
        wind: Wind {
            velocity: Vec3::new(-1.5, 0.0, -0.8),
            gusts: 0.6,
            ..default()
        },
        turbulence: Turbulence {
            strength: 0.8,
            ..default()
        },
        ..default()
    },
    view: [Vec3::new(1.6, 1.7, 3.9), Vec3::new(0.0, 0.8, 0.0)],
    ..PLAIN
};

/// Radius of the circle that it goes on, m.
const CIRCLE: f32 = 1.2;

/// What it does, one after the other: the animation, for how long, s, and how fast it then goes, m/s.
const DOES: [(usize, f32, f32); 4] = [
    (WALK, 5.0, 1.35),
    (RUN, 4.0, 3.0),
    (WALK, 2.0, 1.35),
    (IDLE, 3.0, 0.0),
];
const IDLE: usize = 0;
const WALK: usize = 1;
const RUN: usize = 2;
/// How long one takes to become the next, s.
const CHANGE: f32 = 0.35;

const FILE: &str = "bevy_drape/hero.glb";

pub(super) fn plugin(app: &mut App) {
    // Part of the program, wherever that is started from.
    if let Some(embedded) = app.world().get_resource::<EmbeddedAssetRegistry>() {
        let bytes = include_bytes!("../../../assets/models/hero.glb");
        embedded.insert_asset(PathBuf::from(FILE), FILE.as_ref(), &bytes[..]);
    }
    app.add_systems(Update, (enter, begin, go).chain());
}

/// A figure that goes around in a circle.
#[derive(Component, Default)]
struct Hero {
    /// How long it has been doing what it does, s.
    elapsed: f32,
    /// Which of [`DOES`] that is.
    does: usize,
    /// How fast it is, m/s.
    speed: f32,
    /// Where on the circle, rad.
    angle: f32,
    /// The entity that plays its animations, and what it plays.
    player: Option<(Entity, Vec<AnimationNodeIndex>)>,
}

fn spawn(set: &mut Set) {
    set.floor();
    set.spawn((
        Name::new("hero"),
        Hero::default(),
        place(0.0),
        Visibility::default(),
    ));
}

fn place(angle: f32) -> Transform {
    let (sin, cos) = angle.sin_cos();
    Transform::from_xyz(CIRCLE * sin, 0.0, CIRCLE * cos)
        .with_rotation(Quat::from_rotation_y(angle + std::f32::consts::FRAC_PI_2))
}

/// Loads the model of a figure that has just entered.
fn enter(
    heroes: Query<Entity, Added<Hero>>,
    assets: Option<Res<AssetServer>>,
    mut commands: Commands,
) {
    let Some(assets) = assets else { return };
    for hero in &heroes {
        let scene = GltfAssetLabel::Scene(0).from_asset(format!("embedded://{FILE}"));
        commands
            .entity(hero)
            .insert(WorldAssetRoot(assets.load(scene)));
    }
}

/// Gives it its animations, once it is there.
fn begin(
    mut players: Query<(Entity, &mut AnimationPlayer), Added<AnimationPlayer>>,
    parents: Query<&ChildOf>,
    mut heroes: Query<&mut Hero>,
    assets: Option<Res<AssetServer>>,
    graphs: Option<ResMut<Assets<AnimationGraph>>>,
    mut commands: Commands,
) {
    let (Some(assets), Some(mut graphs)) = (assets, graphs) else {
        return;
    };
    for (entity, mut player) in &mut players {
        let mut above = parents.iter_ancestors(entity);
        let Some(hero) = above.find(|&above| heroes.contains(above)) else {
            continue;
        };
        let clips = [IDLE, WALK, RUN].map(|clip| {
            let clip = GltfAssetLabel::Animation(clip).from_asset(format!("embedded://{FILE}"));
            assets.load(clip)
        });
        let (graph, nodes) = AnimationGraph::from_clips(clips);
        let mut transitions = AnimationTransitions::new();
        let first = nodes[DOES[0].0];
        transitions
            .play(&mut player, first, Duration::ZERO)
            .repeat();
        commands
            .entity(entity)
            .insert((AnimationGraphHandle(graphs.add(graph)), transitions));
        if let Ok(mut hero) = heroes.get_mut(hero) {
            hero.player = Some((entity, nodes));
        }
    }
}

/// Goes on, as fast as time goes for cloth.
fn go(
    mut heroes: Query<(&mut Hero, &mut Transform)>,
    mut players: Query<(&mut AnimationPlayer, &mut AnimationTransitions)>,
    time: Res<Time>,
    cloth_time: Res<ClothTime>,
) {
    let pace = match cloth_time.paused {
        true => 0.0,
        false => cloth_time.speed.clamp(0.0, 1.0),
    };
    let dt = time.delta_secs() * pace;
    for (mut hero, mut transform) in &mut heroes {
        let Some((entity, nodes)) = hero.player.clone() else {
            continue;
        };
        let Ok((mut player, mut transitions)) = players.get_mut(entity) else {
            continue;
        };
        let (_, lasts, wanted) = DOES[hero.does];
        hero.elapsed += dt;
        if hero.elapsed > lasts {
            hero.elapsed = 0.0;
            hero.does = (hero.does + 1) % DOES.len();
            let next = nodes[DOES[hero.does].0];
            transitions
                .play(&mut player, next, Duration::from_secs_f32(CHANGE))
                .repeat();
        }
        for (_, playing) in player.playing_animations_mut() {
            playing.set_speed(pace);
        }
        // It gets faster and slower while one animation becomes the next.
        let change = (dt / CHANGE).min(1.0) * 2.0;
        hero.speed += (wanted - hero.speed) * change.min(1.0);
        hero.angle += hero.speed * dt / CIRCLE;
        *transform = place(hero.angle);
    }
}
