//! Physics engines of random worlds.

use super::edit::Engine;
#[cfg(feature = "avian")]
use crate::bodies::with_avian::Avian;
#[cfg(feature = "rapier")]
use crate::bodies::with_rapier::Rapier;
#[cfg(any(feature = "avian", feature = "rapier"))]
use crate::bodies::{Form, Kind, TestEngine};
use bevy::prelude::*;

/// Returns an app with an engine, or with none if the feature for it is off.
pub(super) fn app(engine: Engine) -> App {
    match engine {
        #[cfg(feature = "avian")]
        Engine::Avian => Avian::app(GRAVITY),
        #[cfg(feature = "rapier")]
        Engine::Rapier => Rapier::app(GRAVITY),
        _ => crate::app(),
    }
}

/// Spawns a body of an engine; without engine, an entity with nothing but a place.
pub(super) fn spawn(app: &mut App, engine: Engine, choice: u8, at: Vec3) -> Entity {
    // Engines panic or stop for ever if bodies are anywhere else.
    let at = match at.is_finite() {
        true => at.clamp_length_max(10.0),
        false => Vec3::ZERO,
    };
    match engine {
        #[cfg(feature = "avian")]
        Engine::Avian => body::<Avian>(app, choice, at),
        #[cfg(feature = "rapier")]
        Engine::Rapier => body::<Rapier>(app, choice, at),
        _ => {
            let _ = choice;
            app.world_mut().spawn(Transform::from_translation(at)).id()
        }
    }
}

#[cfg(any(feature = "avian", feature = "rapier"))]
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

#[cfg(any(feature = "avian", feature = "rapier"))]
fn body<E: TestEngine>(app: &mut App, choice: u8, at: Vec3) -> Entity {
    let forms = [
        Form::Ball(0.2),
        Form::Box(Vec3::new(0.1, 0.2, 0.3)),
        Form::Mesh(0.4),
        Form::Hull(0.4),
        Form::Capsule,
        Form::Compound,
        Form::Heights,
    ];
    let form = forms[usize::from(choice) % forms.len()];
    let kind = match (usize::from(choice) / forms.len() % 3, form) {
        // Engines give no mass to surfaces.
        (0, _) | (_, Form::Mesh(_) | Form::Heights) => Kind::Static,
        (1, _) => Kind::Kinematic,
        _ => Kind::Dynamic(f32::from(choice) * 0.1),
    };
    E::body(app, form, kind, at, Vec3::ZERO)
}
