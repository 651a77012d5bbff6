//! Validates snapshots from files: a damaged one must not make a step panic.

use super::{ClothSnapshot, shape::ModifiedShape};
use crate::{mesh::topology::NO_PARTICLE, solver::ConstraintGraph};

/// Names the damaged part.
type Check = Result<(), &'static str>;

fn ensure(holds: bool, part: &'static str) -> Check {
    if holds { Ok(()) } else { Err(part) }
}

impl ClothSnapshot {
    /// Checks the snapshot. `whole` is the particle count of the cloth when it was built.
    pub(super) fn check(&self, whole: usize) -> Check {
        let count = self.particles.len();
        ensure(self.particles.is_sound(), "particles")?;
        ensure(self.warm_start.is_sound(count), "forces of contacts")?;
        ensure(self.frame.is_finite(), "orientation and scale")?;
        let is_particle = |particle: u32| (particle as usize) < count;
        ensure(
            self.pins.iter().all(|pin| is_particle(pin.particle)),
            "pins",
        )?;
        ensure(
            self.cut_ends
                .iter()
                .all(|cut_end| is_particle(cut_end.particle)),
            "cuts",
        )?;
        let held = self.grabs.iter().flat_map(|grab| grab.points());
        let held = held.flat_map(|handle| handle.particles);
        ensure(held.into_iter().all(is_particle), "grabs")?;
        let resistance = self.resistance.len();
        ensure(resistance == 0 || resistance == count, "tear resistances")?;
        let targets = &self.frame_history.animation_targets;
        let seen = [&targets.x, &targets.y, &targets.z].map(|plane| plane.len());
        ensure(seen == [0; 3] || seen == [count; 3], "positions")?;
        match &self.shape {
            None => ensure(count == whole, "particles"),
            Some(shape) => shape.check(whole, count),
        }
    }
}

impl ModifiedShape {
    fn check(&self, whole: usize, count: usize) -> Check {
        let is_particle = |&particle: &u32| (particle as usize) < count;
        ensure(
            constraints_are_valid(&self.constraints, count),
            "constraints",
        )?;
        let indices = &self.triangles.indices;
        ensure(
            indices
                .iter()
                .all(|corners| corners.iter().all(is_particle))
                && self.triangles.rest_area.len() == indices.len(),
            "triangles",
        )?;
        // The areas of an intact sheet follow from its triangles.
        let areas = self.area.len();
        let is_derived = areas == 0 && self.torn.is_none() && self.rope.is_none();
        ensure(areas == count || is_derived, "areas")?;
        match &self.torn {
            None => ensure(count == whole, "particles")?,
            Some(torn) => ensure(
                torn.rest.len() == count
                    && torn.source_particle.len() + whole == count
                    && torn
                        .source_particle
                        .iter()
                        .all(|&of| of == NO_PARTICLE || (of as usize) < whole)
                    && constraints_are_valid(&torn.intact_constraints, whole),
                "tears",
            )?,
        }
        if let Some(rope) = &self.rope {
            let segments = &rope.segments.ends;
            ensure(
                segments.as_flattened().iter().all(is_particle)
                    && rope.segments.rest_length.len() == segments.len(),
                "segments",
            )?;
            ensure(rope.pieces.are_valid(count), "rope pieces")
        } else {
            ensure(self.torn.is_some() == self.binding.is_some(), "mesh")?;
            let mut binding = self.binding.iter();
            ensure(
                binding.all(|binding| binding.is_valid(count, indices.len())),
                "mesh",
            )
        }
    }
}

fn constraints_are_valid(constraints: &ConstraintGraph, count: usize) -> bool {
    if !constraints.has_valid_constraints(count) {
        return false;
    }
    let mut pairs = constraints.iter().map(|constraint| constraint.ends());
    constraints.iter().count() == constraints.len()
        && pairs.all(|[a, b]| a != b && (a.max(b) as usize) < count)
}
