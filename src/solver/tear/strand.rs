//! A rope breaks: the same for particles in a row, where no triangle says what hangs together.

use crate::solver::{ConstraintGraph, ParticleArrays, edit::Edit};

/// Parts a strand of particles at its member number `at`: the particle stays the end of the first
/// part, and a copy of it becomes the beginning of the second. Returns the copy; `None` at the ends,
/// where there is nothing to part. The copy is pinned until it gets an inverse mass.
pub fn split_strand(
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    strand: &[u32],
    at: usize,
) -> Option<u32> {
    if at == 0 || at + 1 >= strand.len() {
        return None;
    }
    let particle = strand[at];
    let copy = particles.len() as u32;
    particles.push_between([particle; 2], 0.0);

    let mut place: Vec<Option<usize>> = vec![None; particles.len()];
    for (number, &i) in strand.iter().enumerate() {
        place[i as usize] = Some(number);
    }
    let mut edit = Edit::default();
    for (slot, constraint) in
        constraints.filtered(|pair| pair.iter().all(|&i| place[i as usize].is_some()))
    {
        let pair = constraint.particles;
        let [a, b] = pair.map(|i| place[i as usize].unwrap_or(at));
        if a.min(b) < at && a.max(b) > at {
            edit.removed.push(slot);
        } else if a.max(b) > at && a.min(b) == at {
            let other_side = |i: u32| if i == particle { copy } else { i };
            edit.moved.push((slot, pair.map(other_side)));
        }
    }
    constraints.apply(edit, particles.len());
    Some(copy)
}
