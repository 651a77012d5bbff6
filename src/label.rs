//! Labels of entities in log messages.

use bevy::{ecs::query::QueryData, prelude::*};
use std::fmt;

/// Name and id of an entity in log messages, `flag (80v0)`; of an entity without [`Name`] the id alone, `80v0`. Several
/// entities may have the same name, so the name alone, as of [`NameOrEntity`], would not find one.
#[derive(QueryData)]
#[query_data(derive(Clone, Copy))]
pub(crate) struct EntityLabel {
    pub(crate) entity: Entity,
    pub(crate) name: Option<&'static Name>,
}

impl fmt::Display for EntityLabelItem<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{name} ({})", self.entity),
            None => self.entity.fmt(f),
        }
    }
}

/// Returns the label of an entity, which may no longer exist.
pub(crate) fn label_of<'a, 's>(
    entity: Entity,
    labels: &'a Query<'_, 's, EntityLabel>,
) -> EntityLabelItem<'a, 's> {
    let nameless = EntityLabelItem { entity, name: None };
    labels.get(entity).unwrap_or(nameless)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::ecs::system::RunSystemOnce;

    #[test]
    fn labels_have_the_name_and_the_id_or_the_id_alone() {
        let mut world = World::new();
        let flag = world.spawn(Name::new("flag")).id();
        let other = world.spawn_empty().id();
        let gone = world.spawn_empty().id();
        world.despawn(gone);
        let labels = move |labels: Query<EntityLabel>| {
            [flag, other, gone].map(|entity| label_of(entity, &labels).to_string())
        };
        let labels = world.run_system_once(labels).unwrap();
        let expected = [
            format!("flag ({flag})"),
            other.to_string(),
            gone.to_string(),
        ];
        assert_eq!(labels, expected);
    }
}
