//! Scenes of the soak: small, and each with something that never ends.

#[cfg(feature = "avian")]
mod with_avian;
#[cfg(feature = "rapier")]
mod with_rapier;

use crate::{
    headless::headless_app,
    vitals::{Observer, Vitals},
};
use bevy::prelude::*;
use bevy_drape::prelude::*;
use std::f32::consts::TAU;

/// Steps per second.
const RATE: u64 = crate::RATE as u64;

/// A scene, and the time it has lasted.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    app: App,
    /// Entities that are moved or damaged.
    actors: Vec<Entity>,
    /// Acts on the scene before a step.
    act: fn(&mut App, &[Entity], u64),
    /// Whether cloths are reset at the end of a part, after tears.
    ends_whole: bool,
    steps: u64,
    observer: Observer,
}

impl Scene {
    /// Returns all scenes, except those of engines whose feature is off.
    pub(crate) fn all() -> Vec<Self> {
        vec![
            flag(),
            cape(),
            drape(),
            ropes(),
            tears(),
            #[cfg(feature = "avian")]
            with_avian::net(),
            #[cfg(feature = "rapier")]
            with_rapier::net(),
        ]
    }

    fn new(
        name: &'static str,
        mut app: App,
        actors: Vec<Entity>,
        act: fn(&mut App, &[Entity], u64),
    ) -> Self {
        // Builds the cloths, without a step.
        app.update();
        Self {
            name,
            app,
            actors,
            act,
            ends_whole: false,
            steps: 0,
            observer: Observer::default(),
        }
    }

    /// Takes steps and measures them. Calls `progress` with the number of steps taken since the last call.
    pub(crate) fn run(&mut self, steps: u64, progress: impl Fn(u64)) -> Vitals {
        for step in 1..=steps {
            self.steps += 1;
            (self.act)(&mut self.app, &self.actors, self.steps);
            self.observer.update(&mut self.app, self.steps);
            if step.is_multiple_of(1000) || step == steps {
                progress((step - 1) % 1000 + 1);
            }
        }
        if self.ends_whole {
            for &cloth in &self.actors {
                reset(&mut self.app, cloth);
            }
            self.app.update();
            self.steps += 1;
        }
        self.observer.finish(self.app.world_mut(), self.steps)
    }
}

fn app() -> App {
    headless_app(ClothPlugin::default())
}

fn nothing(_: &mut App, _: &[Entity], _: u64) {}

fn add_mesh(app: &mut App, mesh: ClothGrid) -> Mesh3d {
    Mesh3d(app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh))
}

fn place(app: &mut App, entity: Entity, at: Vec3) {
    let transform = app.world_mut().get_mut::<Transform>(entity);
    transform.expect("all actors have one").translation = at;
}

fn reset(app: &mut App, entity: Entity) {
    app.world_mut().trigger(ResetCloth { entity });
}

/// Returns a number from 0 to 1 that depends on `seed` alone (Lehmer 1951).
fn random(seed: u64) -> f32 {
    let mixed = (seed * 48_271 + 11) % 0x7fff_ffff * 69_621 % 0x7fff_ffff;
    mixed as f32 / 0x7fff_ffff as f32
}

/// A flag in gusts.
fn flag() -> Scene {
    let mut app = app();
    app.insert_resource(Wind {
        velocity: Vec3::new(8.0, 0.0, 2.0),
        gusts: 0.6,
        ..default()
    });
    let mesh = add_mesh(&mut app, ClothGrid::vertical(1.8, 1.2, 24, 16));
    app.world_mut()
        .spawn((Cloth::default(), Pins::edge(ClothEdge::Left), mesh));
    Scene::new("flag", app, Vec::new(), nothing)
}

/// A cape on a figure that runs in a circle of 60 m for ever.
fn cape() -> Scene {
    let mut app = app();
    let runner = app
        .world_mut()
        .spawn((ClothCollider::capsule(0.2, 0.8), Transform::default()))
        .id();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(0.6, 1.0, 12, 20));
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    app.world_mut().spawn((
        cloth,
        Pins::edge(ClothEdge::Top).to_entity(runner),
        mesh,
        Transform::from_xyz(30.0, -0.1, -0.25),
    ));
    run_in_a_circle(&mut app, &[runner], 0);
    Scene::new("cape", app, vec![runner], run_in_a_circle)
}

fn run_in_a_circle(app: &mut App, actors: &[Entity], step: u64) {
    // 2500 steps a lap: 4.5 m/s.
    let angle = (step % 2500) as f32 / 2500.0 * TAU;
    let bob = 0.05 * ((step % 24) as f32 / 24.0 * TAU).sin();
    let mut runner = app.world_mut().entity_mut(actors[0]);
    let mut transform = runner.get_mut::<Transform>().expect("a runner has one");
    *transform = Transform::from_rotation(Quat::from_rotation_y(-angle));
    transform.translation = Vec3::new(angle.cos(), 0.0, angle.sin()) * 30.0 + Vec3::Y * bob;
}

/// A sheet that falls asleep on a ball, is woken when the ball moves, and falls again.
fn drape() -> Scene {
    let mut app = app();
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -0.5, 0.0),
    ));
    let ball = app
        .world_mut()
        .spawn((ClothCollider::sphere(0.3), Transform::default()))
        .id();
    let mesh = add_mesh(&mut app, ClothGrid::new(1.2, 1.2, 20, 20));
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    let sheet = (cloth, mesh, Transform::from_xyz(0.0, 0.5, 0.0));
    let sheet = app.world_mut().spawn(sheet).id();
    Scene::new("drape", app, vec![ball, sheet], |app, actors, step| {
        if step.is_multiple_of(60 * RATE) {
            reset(app, actors[1]);
        } else if step.is_multiple_of(20 * RATE) {
            let at = Vec3::new(random(step), 0.0, random(step + 1)) - 0.5;
            place(app, actors[0], (at * Vec3::new(0.1, 0.0, 0.1)).with_y(0.0));
        }
    })
}

/// Ropes that swing.
fn ropes() -> Scene {
    let mut app = app();
    let anchor = app.world_mut().spawn(Transform::default()).id();
    let rope = |length| Rope::between(Vec3::ZERO, Vec3::new(length, 0.0, 0.0), 24);
    app.world_mut()
        .spawn((rope(1.0), Pins::index(0).to_entity(anchor)));
    app.world_mut().spawn((rope(1.5), Pins::ends()));
    app.insert_resource(Wind {
        velocity: Vec3::new(0.0, 0.0, 3.0),
        gusts: 0.5,
        ..default()
    });
    Scene::new("ropes", app, vec![anchor], |app, actors, step| {
        let phase = (step % 97) as f32 / 97.0 * TAU;
        place(app, actors[0], Vec3::X * (0.2 * phase.sin()));
    })
}

/// A curtain that is cut and torn, and reset.
fn tears() -> Scene {
    let mut app = app();
    let mesh = add_mesh(&mut app, ClothGrid::vertical(1.0, 1.0, 14, 14));
    let cloth = app
        .world_mut()
        .spawn((Cloth::default(), Pins::edge(ClothEdge::Top), mesh))
        .id();
    app.world_mut().spawn((
        ClothCollider::half_space(),
        Transform::from_xyz(0.0, -1.5, 0.0),
    ));
    let act = |app: &mut App, actors: &[Entity], step: u64| {
        if step.is_multiple_of(15 * RATE) {
            reset(app, actors[0]);
        } else if step.is_multiple_of(3 * RATE) {
            let [x, y, size] = [0, 1, 2].map(|k| random(step + k) - 0.5);
            let from = Vec3::new(x, y - 0.5, -0.5);
            let mut commands = app.world_mut().commands();
            let mut cloth = commands.entity(actors[0]);
            if size > 0.0 {
                cloth.shred(Vec3::new(x, y - 0.5, 0.0), 0.3 * size);
            } else {
                cloth.cut_segment(from, from + Vec3::new(y, size, 0.0), Vec3::Z);
            }
            app.world_mut().flush();
        }
    };
    Scene {
        ends_whole: true,
        ..Scene::new("tears", app, vec![cloth], act)
    }
}

/// Returns a scene with a net between four corners, and balls in it that the engine of the app moves. `V` is the velocity of
/// a body; its default is rest.
#[cfg(any(feature = "avian", feature = "rapier"))]
fn net_with<V: Bundle + Default>(
    name: &'static str,
    mut app: App,
    ball: impl Bundle + Clone,
) -> Scene {
    let mesh = add_mesh(&mut app, ClothGrid::new(1.5, 1.5, 12, 12));
    app.world_mut()
        .spawn((Cloth::default(), Pins::corners(), mesh));
    let balls = (0..3).map(|body| {
        let at = Transform::from_translation(drop_point(body, 0));
        app.world_mut().spawn((ball.clone(), V::default(), at)).id()
    });
    let balls = balls.collect();
    Scene::new(name, app, balls, drop_again::<V>)
}

/// Drops all balls onto the net again, every ten seconds.
#[cfg(any(feature = "avian", feature = "rapier"))]
fn drop_again<V: Bundle + Default>(app: &mut App, balls: &[Entity], step: u64) {
    if step.is_multiple_of(10 * RATE) {
        for (body, &ball) in balls.iter().enumerate() {
            let at = Transform::from_translation(drop_point(body, step));
            app.world_mut().entity_mut(ball).insert((at, V::default()));
        }
    }
}

/// Returns where a body is dropped.
#[cfg(any(feature = "avian", feature = "rapier"))]
fn drop_point(body: usize, step: u64) -> Vec3 {
    let [x, z] = [0, 1].map(|k| 0.6 * (random(step + body as u64 + k) - 0.5));
    Vec3::new(x, 0.5 + 0.4 * body as f32, z)
}
