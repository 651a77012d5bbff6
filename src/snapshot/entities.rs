//! Maps the entities in a snapshot, for use in another world.

use super::ClothSnapshot;
use bevy::{
    ecs::entity::{EntityMapper, MapEntities},
    prelude::*,
};

/// Maps the entities that grab, cut or touch the cloth, its reference entities, and its pin anchors.
impl MapEntities for ClothSnapshot {
    fn map_entities<M: EntityMapper>(&mut self, mapper: &mut M) {
        self.bound_pins.map_entities(mapper);
        for pin in &mut self.pins {
            pin.anchor.map_entities(mapper);
        }
        if let Some((frame, _)) = &mut self.frame_history.frame {
            *frame = mapper.get_mapped(*frame);
        }
        if let Some(reference) = &mut self.frame_history.reference_entity {
            reference.entity = mapper.get_mapped(reference.entity);
        }
        for (id, _) in &mut self.warm_start.with_others {
            if let Some(cloth) = Entity::try_from_bits(*id) {
                *id = mapper.get_mapped(cloth).to_bits();
            }
        }
        let grabs = self.grabs.iter_mut().map(|grab| &mut grab.by);
        for by in grabs.chain(self.cut_ends.iter_mut().map(|cut_end| &mut cut_end.by)) {
            *by = mapper.get_mapped(*by);
        }
    }
}
