//! Does what the events ask for.

use super::{CutCloth, Operate, ShredCloth, TearCause, TearThread};
use crate::solver::{ConstraintKind, tear::Surgery};
use bevy::prelude::*;

pub(crate) fn cut(event: On<CutCloth>, mut operate: Operate) {
    let CutCloth { entity, blade, by } = *event.event();
    let Some(patient) = operate.look(entity) else {
        return;
    };
    if let Some(rope) = &patient.body.rope {
        let crossed = |&[a, b]: &[u32; 2]| {
            let ends = [a, b].map(|i| patient.particles.world_position(i as usize));
            let share = blade.crossing(ends[0], ends[1])?;
            // What is pinned holds both sides, so better next to it.
            let [a_holds, b_holds] = [a, b].map(|i| patient.particles.is_pinned(i as usize));
            let prefers_a = if a_holds == b_holds {
                share < 0.5
            } else {
                b_holds
            };
            Some(if prefers_a { [a, b] } else { [b, a] })
        };
        let threads: Vec<_> = rope.lines.segments.iter().filter_map(crossed).collect();
        part_threads(&mut operate, entity, TearCause::Cut, threads);
        return;
    }
    let Some((low, high)) = patient.particles.position.bounds() else {
        return;
    };
    let origin = patient.particles.origin;
    if !blade.meets(low + origin, high + origin) {
        return;
    }
    let tip = by.and_then(|by| operate.tip(entity, by, &blade));
    let work = |surgery: &mut Surgery, most: usize| surgery.cut(&blade, tip, most);
    let end = operate.open(entity, TearCause::Cut, work).flatten();
    if let Some(by) = by {
        operate.set_tip(entity, by, blade, end);
    }
}

pub(crate) fn tear_thread(event: On<TearThread>, mut operate: Operate) {
    let TearThread { entity, thread } = *event.event();
    let [a, b] = thread;
    let Some(patient) = operate.look(entity) else {
        return;
    };
    let count = patient.particles.len() as u32;
    if a >= count || b >= count {
        warn!("cloth {entity}: no thread {thread:?} to tear; it has {count} particles");
        return;
    }
    if let Some(rope) = &patient.body.rope {
        let is_thread = |s: &[u32; 2]| *s == [a, b] || *s == [b, a];
        if rope.lines.segments.iter().any(is_thread) {
            part_threads(&mut operate, entity, TearCause::Broken, [[a, b]]);
        }
        return;
    }
    operate.open(entity, TearCause::Broken, |surgery, _| {
        surgery.break_thread(thread)
    });
}

pub(crate) fn shred(event: On<ShredCloth>, mut operate: Operate) {
    let ShredCloth {
        entity,
        centre,
        radius,
    } = *event.event();
    let Some(patient) = operate.look(entity) else {
        return;
    };
    let particles = patient.particles;
    let centre = centre - particles.origin;
    let is_within = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|i| particles.position.get(i as usize));
        ((a + b) * 0.5).distance_squared(centre) <= radius * radius
    };
    if let Some(rope) = &patient.body.rope {
        let segments = rope.lines.segments.iter();
        let near: Vec<u32> = segments
            .filter(|segment| is_within(**segment))
            .flatten()
            .copied()
            .collect();
        operate.part(entity, TearCause::Broken, near);
        return;
    }
    // Threads only: the diagonals stay, and with them the cells.
    let threads: Vec<[u32; 2]> = patient
        .constraints
        .of_kind(ConstraintKind::Structural)
        .map(|(pair, _)| pair)
        .filter(|pair| is_within(*pair))
        .collect();
    if !threads.is_empty() {
        operate.open(entity, TearCause::Broken, |surgery, _| {
            surgery.open_edges(threads)
        });
    }
}

/// Parts a rope in each of these threads, at the first of its particles if that is possible: at the ends
/// of a rope there is nothing to part, and then it is the other one.
pub(super) fn part_threads(
    operate: &mut Operate,
    entity: Entity,
    cause: TearCause,
    threads: impl IntoIterator<Item = [u32; 2]>,
) {
    let is_inner = |i: u32| {
        operate.look(entity).is_some_and(|patient| {
            let segments = patient.body.rope.iter().flat_map(|r| &r.lines.segments);
            segments.flatten().filter(|end| **end == i).count() > 1
        })
    };
    let at: Vec<u32> = threads
        .into_iter()
        .map(|[a, b]| if is_inner(a) { a } else { b })
        .collect();
    operate.part(entity, cause, at);
}
