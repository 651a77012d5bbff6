//! Registers pins, and makes them a required component of cloth.

use crate::{cloth::Cloth, pins::Pins};
use bevy::prelude::*;

/// Registers [`Pins`] as a component that every [`Cloth`] has.
pub(crate) struct PinsPlugin;

impl Plugin for PinsPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<Pins>();
        let registered = app.try_register_required_components::<Cloth, Pins>();
        if registered.is_err() {
            // Bevy takes no requirements of a component that entities already have: cloths were spawned before
            // the plugin was added.
            add_pins_to_cloths(app);
        }
    }
}

/// Adds [`Pins`] to all cloths there are, and to those that will be spawned.
fn add_pins_to_cloths(app: &mut App) {
    let world = app.world_mut();
    let mut unpinned = world.query_filtered::<Entity, (With<Cloth>, Without<Pins>)>();
    let existing: Vec<Entity> = unpinned.iter(world).collect();
    for cloth in existing {
        world.entity_mut(cloth).insert(Pins::default());
    }
    app.add_observer(|added: On<Add, Cloth>, mut commands: Commands| {
        commands.entity(added.entity).insert_if_new(Pins::default());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cloths_have_pins_no_matter_when_they_are_spawned() {
        for spawned_before in [false, true] {
            let mut app = App::new();
            let mut cloths = Vec::new();
            if spawned_before {
                cloths.push(app.world_mut().spawn(Cloth::default()).id());
            }
            app.add_plugins(PinsPlugin);
            cloths.push(app.world_mut().spawn(Cloth::default()).id());
            let corner = Pins::corner(default());
            let pinned = app
                .world_mut()
                .spawn((Cloth::default(), corner.clone()))
                .id();
            app.update();
            assert_eq!(app.world().get::<Pins>(pinned), Some(&corner));
            let world = app.world();
            assert!(
                cloths
                    .iter()
                    .all(|&cloth| world.get(cloth) == Some(&Pins::none()))
            );
        }
    }
}
