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
            Some(if share < 0.5 { [a, b] } else { [b, a] })
        };
        let threads: Vec<_> = rope.lines.segments.iter().filter_map(crossed).collect();
        for [near, far] in threads {
            // At the ends of a rope there is nothing to part; then it is the other particle.
            let _ = operate.part(entity, TearCause::Cut, near)
                || operate.part(entity, TearCause::Cut, far);
        }
        return;
    }
    let Some((low, high)) = patient.particles.position.bounds() else {
        return;
    };
    let origin = patient.particles.origin;
    if !blade.meets(low + origin, high + origin) {
        return;
    }
    let tip = by.and_then(|by| operate.tip(entity, by));
    let work = |surgery: &mut Surgery, most: usize| surgery.cut(&blade, tip, most);
    let end = operate.open(entity, TearCause::Cut, work).flatten();
    if let (Some(by), Some(end)) = (by, end) {
        operate.set_tip(entity, by, end);
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
            let _ = operate.part(entity, TearCause::Broken, a)
                || operate.part(entity, TearCause::Broken, b);
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
        let near: Vec<u32> = rope
            .lines
            .segments
            .iter()
            .filter(|segment| is_within(**segment))
            .map(|segment| segment[0])
            .collect();
        for particle in near {
            operate.part(entity, TearCause::Broken, particle);
        }
        return;
    }
    // Threads only: the diagonals stay, and with them the cells.
    let threads: Vec<[u32; 2]> = patient
        .constraints
        .of_kind(ConstraintKind::Structural)
        .map(|(pair, _)| *pair)
        .filter(|pair| is_within(*pair))
        .collect();
    if !threads.is_empty() {
        operate.open(entity, TearCause::Broken, |surgery, _| {
            surgery.open_edges(threads)
        });
    }
}
