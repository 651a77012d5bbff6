//! Scenes of the demo, one per file. Each spawns entities with [`InScene`], which are despawned with the scene.

mod balloon;
mod cape;
mod click_to_tear;
mod curtain;
mod drape;
mod flag;
mod hang;
mod hanging;
mod hero;
pub(crate) mod integrators;
mod many;
mod rope;
mod set;
mod shapes;
mod shirt;
mod stack;
pub(crate) mod sticks;
mod swing;
mod tablecloth;
mod turntable;
mod twist;
mod wind_tunnel;

use bevy::prelude::*;
#[cfg(feature = "picking")]
use bevy_drape::picking::ClothTools;
use bevy_drape::{lod::ClothLod, prelude::*, wind::WindTurbulence};
pub(crate) use set::Set;

/// Scene of the demo.
pub(crate) struct Scene {
    /// Name on the command line.
    pub(crate) name: &'static str,
    /// Description.
    pub(crate) about: &'static str,
    /// Spawns its entities.
    pub(crate) spawn: fn(&mut Set),
    /// Environment settings.
    pub(crate) world: fn() -> Surroundings,
    /// Position and focus of the camera, m.
    pub(crate) view: [Vec3; 2],
    /// Whether the camera is fixed, because wheel and buttons have other functions.
    pub(crate) fixed_view: bool,
    /// Tools of the buttons.
    #[cfg(feature = "picking")]
    pub(crate) tools: fn() -> ClothTools,
}

/// Environment settings of a scene.
#[derive(Default)]
pub(crate) struct Surroundings {
    pub(crate) wind: Wind,
    pub(crate) turbulence: WindTurbulence,
    pub(crate) gravity: ClothGravity,
    pub(crate) substeps: ClothSubsteps,
    pub(crate) lod: ClothLod,
    /// Whether wind zones and their arrows are drawn.
    pub(crate) wind_zones: bool,
}

impl Surroundings {
    /// Default environment with this wind velocity, m/s.
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

/// Defaults of scenes.
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

/// All scenes; the first one is the default.
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
    shirt::SCENE,
    many::SCENE,
];

/// Index of the current scene.
#[derive(Resource, Default)]
pub(crate) struct Shown(pub(crate) Option<usize>);

impl Shown {
    /// Returns whether the camera is fixed.
    pub(crate) fn has_fixed_view(&self) -> bool {
        self.0.is_some_and(|scene| SCENES[scene].fixed_view)
    }

    /// Returns whether the current scene has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.0.is_some_and(|scene| SCENES[scene].name == name)
    }
}

/// Marker of entities to despawn with the scene.
#[derive(Component, Default)]
pub(crate) struct InScene;

/// Adds the systems of the scenes.
pub(crate) fn plugin(app: &mut App) {
    app.add_plugins((
        hero::plugin,
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
