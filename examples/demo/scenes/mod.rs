//! The scenes. Each has a file, spawns what it needs with [`InScene`], and goes with it.

mod balloon;
mod cape;
mod click_to_tear;
mod curtain;
mod drape;
mod flag;
mod hang;
mod hanging;
pub(crate) mod integrators;
mod many;
mod rope;
mod set;
mod shapes;
mod stack;
pub(crate) mod sticks;
mod swing;
mod tablecloth;
mod turntable;
mod twist;
mod wind_tunnel;

use bevy::prelude::*;
use bevy_drape::prelude::*;
pub(crate) use set::Set;

/// A scene of the demo.
pub(crate) struct Scene {
    /// What the command line calls it.
    pub(crate) name: &'static str,
    /// What there is to see.
    pub(crate) about: &'static str,
    /// Puts it up.
    pub(crate) spawn: fn(&mut Set),
    /// The world while it is shown.
    pub(crate) world: fn() -> Surroundings,
    /// Where the camera is and what it looks at, m.
    pub(crate) view: [Vec3; 2],
    /// The camera stays there: the wheel and the buttons have other work.
    pub(crate) fixed_view: bool,
    /// What the buttons do to cloth.
    #[cfg(feature = "picking")]
    pub(crate) tools: fn() -> ClothTools,
}

/// What a scene changes in the world around all cloths.
#[derive(Default)]
pub(crate) struct Surroundings {
    pub(crate) wind: Wind,
    pub(crate) turbulence: Turbulence,
    pub(crate) gravity: ClothGravity,
    pub(crate) substeps: Substeps,
    pub(crate) lod: ClothLod,
    /// Wind zones and their arrows are drawn.
    pub(crate) wind_zones: bool,
}

impl Surroundings {
    /// Wind of this velocity, m/s.
    fn wind(velocity: Vec3) -> Self {
        Self {
            wind: Wind {
                velocity,
                ..default()
            },
            ..default()
        }
    }
}

/// A scene looks like this unless it says otherwise.
const PLAIN: Scene = Scene {
    name: "",
    about: "",
    spawn: |_| {},
    world: Surroundings::default,
    view: [Vec3::new(1.25, 1.35, 2.35), Vec3::new(0.0, 0.4, 0.0)],
    fixed_view: false,
    #[cfg(feature = "picking")]
    tools: ClothTools::default,
};

/// All scenes; the first one is shown unless another is asked for.
pub(crate) const SCENES: &[Scene] = &[
    drape::SCENE,
    hang::SCENE,
    shapes::SCENE,
    curtain::SCENE,
    click_to_tear::SCENE,
    flag::SCENE,
    hanging::SCENE,
    rope::SCENE,
    sticks::SCENE,
    integrators::SCENE,
    wind_tunnel::SCENE,
    balloon::SCENE,
    turntable::SCENE,
    tablecloth::SCENE,
    twist::SCENE,
    stack::SCENE,
    cape::SCENE,
    many::SCENE,
];

/// The scene that is shown.
#[derive(Resource, Default)]
pub(crate) struct Shown(pub(crate) Option<usize>);

impl Shown {
    /// Whether the camera is to stay where it is.
    pub(crate) fn has_fixed_view(&self) -> bool {
        self.0.is_some_and(|scene| SCENES[scene].fixed_view)
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0.is_some_and(|scene| SCENES[scene].name == name)
    }
}

/// Goes when another scene comes.
#[derive(Component, Default)]
pub(crate) struct InScene;

/// The systems of single scenes.
pub(crate) fn plugin(app: &mut App) {
    app.add_plugins((
        cape::plugin,
        many::plugin,
        curtain::plugin,
        swing::plugin,
        turntable::plugin,
        tablecloth::plugin,
        sticks::plugin,
        integrators::plugin,
        twist::plugin,
    ));
}
