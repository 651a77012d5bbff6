//! Keeps the cloths of an island from passing through each other and themselves at the end of a step. A cloth that touches
//! no other does so alone ([`ClothState::end_step`](crate::solver::ClothState::end_step)).

use crate::{cloth::activity::InMotion, collision::broad_phase::Island, step::query::StepQuery};
use bevy::prelude::*;

impl Island {
    /// Cuts the motion of its cloths short where cloth would pass through cloth.
    pub(crate) fn limit_crossings(&mut self, cloths: &mut Query<StepQuery, InMotion>) {
        let Self {
            cloths: entities,
            filter,
            ..
        } = self;
        filter.begin();
        let mut distance = f32::INFINITY;
        let mut members = Vec::new();
        for &entity in &*entities {
            if let Ok(cloth) = cloths.get(entity) {
                let start = &cloth.contacts.contacts.step_start;
                let moves = !cloth.rate.is_skipped && start.is_used();
                let triangles = &cloth.shape.triangles.indices;
                filter.add(cloth.particles, moves.then_some(start), triangles);
                distance = distance.min(start.distance);
                members.push(entity);
            }
        }
        filter.find_limits(distance);
        for (part, entity) in members.into_iter().enumerate() {
            if let Ok(mut cloth) = cloths.get_mut(entity) {
                let contacts = cloth.contacts.bypass_change_detection();
                let start = &mut contacts.contacts.step_start;
                if !cloth.rate.is_skipped {
                    filter.apply(part, &mut cloth.particles, start.substeps);
                }
                // Not once more alone.
                start.clear();
            }
        }
    }
}
