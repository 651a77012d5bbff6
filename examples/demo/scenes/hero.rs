//! Figure from a glTF file that walks, runs and stands. Its clothes are described in the file: `assets/models/hero.py` and
//! `shirt.py` set custom properties as an artist would in Blender.

use super::Set;
use bevy::{asset::io::embedded::EmbeddedAssetRegistry, prelude::*};
use bevy_drape::prelude::*;
use std::{path::PathBuf, time::Duration};

/// Radius of its circular path, m.
const CIRCLE: f32 = 1.2;

/// Sequence of actions: animation, duration, s, and speed, m/s.
const ACTIONS: [(usize, f32, f32); 4] = [
    (WALK, 5.0, 1.35),
    (RUN, 4.0, 3.0),
    (WALK, 2.0, 1.35),
    (IDLE, 3.0, 0.0),
];
const IDLE: usize = 0;
const WALK: usize = 1;
const RUN: usize = 2;
/// Duration of transitions, s.
const TRANSITION: f32 = 0.35;

pub(super) const IN_CAPE: &str = "bevy_drape/hero.glb";
pub(super) const IN_SHIRT: &str = "bevy_drape/shirt.glb";

pub(super) fn plugin(app: &mut App) {
    // Embedded in the program, so that it can be started from any folder.
    if let Some(embedded) = app.world().get_resource::<EmbeddedAssetRegistry>() {
        let files: [(&str, &[u8]); 2] = [
            (IN_CAPE, include_bytes!("../../../assets/models/hero.glb")),
            (IN_SHIRT, include_bytes!("../../../assets/models/shirt.glb")),
        ];
        for (file, bytes) in files {
            embedded.insert_asset(PathBuf::from(file), file.as_ref(), bytes);
        }
    }
    app.add_systems(Update, (load_model, start_animations, move_hero).chain());
}

/// Figure that moves in a circle.
#[derive(Component, Default)]
struct Hero {
    /// File of its model.
    file: &'static str,
    /// Time since the current action began, s.
    elapsed: f32,
    /// Index of the current action in [`ACTIONS`].
    action: usize,
    /// Speed, m/s.
    speed: f32,
    /// Angle on the circle, rad.
    angle: f32,
    /// Entity that plays its animations, and their nodes.
    player: Option<(Entity, Vec<AnimationNodeIndex>)>,
}

/// Spawns the figure of a file on a floor.
pub(super) fn spawn(set: &mut Set, file: &'static str) {
    set.floor();
    set.spawn((
        Name::new("hero"),
        Hero { file, ..default() },
        pose(0.0),
        Visibility::default(),
    ));
}

fn pose(angle: f32) -> Transform {
    let (sin, cos) = angle.sin_cos();
    Transform::from_xyz(CIRCLE * sin, 0.0, CIRCLE * cos)
        .with_rotation(Quat::from_rotation_y(angle + std::f32::consts::FRAC_PI_2))
}

/// Loads the model of a new figure.
fn load_model(
    heroes: Query<(Entity, &Hero), Added<Hero>>,
    assets: Option<Res<AssetServer>>,
    mut commands: Commands,
) {
    let Some(assets) = assets else { return };
    for (entity, hero) in &heroes {
        let scene = GltfAssetLabel::Scene(0).from_asset(format!("embedded://{}", hero.file));
        commands
            .entity(entity)
            .insert(WorldAssetRoot(assets.load(scene)));
    }
}

/// Starts its animations, once the model is loaded.
fn start_animations(
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
        let Ok(mut hero) = heroes.get_mut(hero) else {
            continue;
        };
        let clips = [IDLE, WALK, RUN].map(|clip| {
            let path = format!("embedded://{}", hero.file);
            assets.load(GltfAssetLabel::Animation(clip).from_asset(path))
        });
        let (graph, nodes) = AnimationGraph::from_clips(clips);
        let mut transitions = AnimationTransitions::new();
        let first = nodes[ACTIONS[0].0];
        transitions
            .play(&mut player, first, Duration::ZERO)
            .repeat();
        commands
            .entity(entity)
            .insert((AnimationGraphHandle(graphs.add(graph)), transitions));
        hero.player = Some((entity, nodes));
    }
}

/// Moves the figure, at the speed of cloth time.
fn move_hero(
    mut heroes: Query<(&mut Hero, &mut Transform)>,
    mut players: Query<(&mut AnimationPlayer, &mut AnimationTransitions)>,
    time: Res<Time>,
    cloth_time: Res<ClothTime>,
) {
    let time_scale = match cloth_time.paused {
        true => 0.0,
        false => cloth_time.speed.clamp(0.0, 1.0),
    };
    let dt = time.delta_secs() * time_scale;
    for (mut hero, mut transform) in &mut heroes {
        let Some((entity, nodes)) = hero.player.clone() else {
            continue;
        };
        let Ok((mut player, mut transitions)) = players.get_mut(entity) else {
            continue;
        };
        let (_, duration, target_speed) = ACTIONS[hero.action];
        hero.elapsed += dt;
        if hero.elapsed > duration {
            hero.elapsed = 0.0;
            hero.action = (hero.action + 1) % ACTIONS.len();
            let next = nodes[ACTIONS[hero.action].0];
            transitions
                .play(&mut player, next, Duration::from_secs_f32(TRANSITION))
                .repeat();
        }
        for (_, playing) in player.playing_animations_mut() {
            playing.set_speed(time_scale);
        }
        // Speed changes during transitions.
        let change = (dt / TRANSITION).min(1.0) * 2.0;
        hero.speed += (target_speed - hero.speed) * change.min(1.0);
        hero.angle += hero.speed * dt / CIRCLE;
        *transform = pose(hero.angle);
    }
}
