//! Splits a rope: the counterpart of a tear for particles in a row, without triangles.

use crate::solver::{ConstraintGraph, ParticleArrays, constraints::edit::GraphEdit};

/// Splits a chain of particles at index `at`: the particle becomes the end of the first part, and a copy of it the
/// start of the second. Returns the copy; `None` at the ends of the chain. The copy is pinned until it gets an
/// inverse mass.
pub(crate) fn split_rope(
    particles: &mut ParticleArrays,
    constraints: &mut ConstraintGraph,
    chain: &[u32],
    at: usize,
) -> Option<u32> {
    if at == 0 || at + 1 >= chain.len() {
        return None;
    }
    let particle = chain[at];
    let copy = particles.len() as u32;
    particles.push_between([particle; 2], 0.0);

    let mut numbers: Vec<Option<usize>> = vec![None; particles.len()];
    for (number, &i) in chain.iter().enumerate() {
        numbers[i as usize] = Some(number);
    }
    let mut edit = GraphEdit::default();
    for (slot, constraint) in
        constraints.find_constraints(|pair| pair.iter().all(|&i| numbers[i as usize].is_some()))
    {
        let pair = constraint.ends();
        let [a, b] = pair.map(|i| numbers[i as usize].unwrap_or(at));
        if a.min(b) < at && a.max(b) > at {
            edit.removed.push(slot);
        } else if a.max(b) > at && a.min(b) == at {
            let other_side = |i: u32| if i == particle { copy } else { i };
            edit.replaced.push((slot, pair.map(other_side)));
        }
    }
    constraints.apply(edit, particles.len());
    Some(copy)
}
