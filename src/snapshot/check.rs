//! Finds out whether a snapshot from a file is sound: what is wrong in it must not make a step panic.

use super::{ClothSnapshot, shape::Shape};
use crate::{mesh::topology::NO_PARTICLE, solver::ConstraintGraph};

/// What is wrong.
type Check = Result<(), &'static str>;

fn ensure(holds: bool, part: &'static str) -> Check {
    if holds { Ok(()) } else { Err(part) }
}

impl ClothSnapshot {
    /// `whole` is how many particles the cloth had when it was built.
    pub(super) fn check(&self, whole: usize) -> Check {
        let count = self.particles.len();
        ensure(self.particles.is_sound(), "particles")?;
        let is_one = |particle: u32| (particle as usize) < count;
        ensure(self.pins.iter().all(|pin| is_one(pin.particle)), "pins")?;
        ensure(self.tips.iter().all(|tip| is_one(tip.particle)), "cuts")?;
        let held = self.grabs.iter().flat_map(|grab| grab.handles());
        let held = held.flat_map(|handle| handle.particles);
        ensure(held.into_iter().all(is_one), "hands")?;
        let resistance = self.resistance.len();
        ensure(resistance == 0 || resistance == count, "tear resistances")?;
        let places = &self.seen.places;
        let seen = [&places.x, &places.y, &places.z].map(|plane| plane.len());
        ensure(seen == [0; 3] || seen == [count; 3], "places")?;
        match &self.shape {
            None => ensure(count == whole, "particles"),
            Some(shape) => shape.check(whole, count),
        }
    }
}

impl Shape {
    fn check(&self, whole: usize, count: usize) -> Check {
        let is_one = |&particle: &u32| (particle as usize) < count;
        ensure(are_sound(&self.constraints, count), "constraints")?;
        let indices = &self.triangles.indices;
        ensure(
            indices.iter().all(|corners| corners.iter().all(is_one))
                && self.triangles.rest_area.len() == indices.len(),
            "triangles",
        )?;
        // The triangles of a sheet in one piece tell them.
        let areas = self.area.len();
        let is_told = areas == 0 && self.torn.is_none() && self.rope.is_none();
        ensure(areas == count || is_told, "areas")?;
        match &self.torn {
            None => ensure(count == whole, "particles")?,
            Some(torn) => ensure(
                torn.rest.len() == count
                    && torn.ancestor.len() + whole == count
                    && torn
                        .ancestor
                        .iter()
                        .all(|&of| of == NO_PARTICLE || (of as usize) < whole)
                    && are_sound(&torn.whole_constraints, whole),
                "tears",
            )?,
        }
        if let Some(rope) = &self.rope {
            let segments = &rope.lines.segments;
            ensure(
                segments.as_flattened().iter().all(is_one)
                    && rope.lines.rest_length.len() == segments.len(),
                "segments",
            )?;
            ensure(rope.pieces.are_sound(count), "pieces of rope")
        } else {
            ensure(self.torn.is_some() == self.binding.is_some(), "mesh")?;
            let mut binding = self.binding.iter();
            ensure(
                binding.all(|binding| binding.is_sound(count, indices.len())),
                "mesh",
            )
        }
    }
}

fn are_sound(constraints: &ConstraintGraph, count: usize) -> bool {
    if !constraints.has_sound_threads(count) {
        return false;
    }
    let mut pairs = constraints.iter().map(|constraint| constraint.particles);
    constraints.iter().count() == constraints.len()
        && pairs.all(|[a, b]| a != b && (a.max(b) as usize) < count)
}
