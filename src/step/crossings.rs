//! Keeps the cloths of an island from passing through each other and themselves. A cloth that touches no other does so alone,
//! in its solver ([`ClothState`](crate::solver::ClothState)).

use crate::{
    solver::{CrossingFilter, FilteredCloth, SubstepTime},
    step::{query::StepQueryItem, substeps::IslandItem},
};
use bevy::prelude::*;

impl IslandItem<'_, '_, '_> {
    /// Limits crossings before a substep, if a cloth may have moved far since this was done last.
    pub(crate) fn limit_crossings_if_due(&mut self) {
        let mut cloths = self.cloths.iter();
        if cloths.any(|cloth| cloth.contacts.contacts.motion_start.is_due()) {
            self.limit_crossings();
        }
    }

    /// Cuts the motion of the cloths of an island short where cloth would pass through cloth.
    fn limit_crossings(&mut self) {
        let Some(island) = &mut self.island else {
            return;
        };
        let filter = &mut island.filter;
        filter.begin();
        let mut distance = f32::INFINITY;
        for cloth in &self.cloths {
            let start = &cloth.contacts.contacts.motion_start;
            filter.add(filtered(cloth), !cloth.rate.is_skipped && start.is_used());
            distance = distance.min(start.distance);
        }
        filter.find_limits(distance);
        for (part, cloth) in self.cloths.iter_mut().enumerate() {
            if !cloth.rate.is_skipped {
                let contacts = cloth.contacts.bypass_change_detection();
                let start = &mut contacts.contacts.motion_start;
                filter.apply(part, &mut cloth.particles, start);
            }
        }
    }

    /// Limits crossings at the end of a step, so that each cloth does not do so once more alone.
    pub(crate) fn limit_crossings_at_end(&mut self) {
        if self.island.is_none() {
            return;
        }
        for cloth in &mut self.cloths {
            if !cloth.rate.is_skipped {
                cloth.particles.place_pins(&cloth.bound_pins.targets);
            }
        }
        self.limit_crossings();
        for cloth in &mut self.cloths {
            let contacts = cloth.contacts.bypass_change_detection();
            contacts.contacts.motion_start.clear();
        }
    }
}

/// Returns a cloth of an island for the filter.
pub(super) fn filtered<'a>(cloth: &'a StepQueryItem) -> FilteredCloth<'a> {
    FilteredCloth {
        particles: &cloth.particles.0,
        start: &cloth.contacts.contacts.motion_start,
        triangles: &cloth.shape.triangles.indices,
        id: cloth.label.entity.to_bits(),
    }
}

/// Keeps the features of the cloths of an island apart that were near each other when the step began.
pub(super) fn keep_features_apart(
    filter: &CrossingFilter,
    cloths: &mut [StepQueryItem],
    time: &SubstepTime,
) {
    let due = cloths.iter_mut().map(|cloth| {
        let is_filtered = cloth.contacts.contacts.motion_start.is_used();
        let is_due = is_filtered && cloth.substep(time).is_some();
        is_due.then_some(&mut cloth.particles.0)
    });
    filter.keep_features_apart(&mut due.collect::<Vec<_>>());
}
