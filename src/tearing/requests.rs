//! Observers that carry out the events.

use super::{CutCloth, ShredCloth, TearCause, TearEdge, TopologyEditor};
use crate::solver::{ConstraintKind, topology::TopologyEdit};
use bevy::prelude::*;

pub(crate) fn cut(event: On<CutCloth>, mut editor: TopologyEditor) {
    let CutCloth { entity, blade, by } = *event.event();
    let Some(cloth) = editor.view(entity) else {
        return;
    };
    if let Some(segments) = &cloth.shape.segments {
        let crossed = |&[a, b]: &[u32; 2]| {
            let ends = [a, b].map(|i| cloth.particles.world_position(i as usize));
            let fraction = blade.crossing(ends[0], ends[1])?;
            // A pinned particle stays pinned on both sides of a split, so prefer the free end.
            let [a_holds, b_holds] = [a, b].map(|i| cloth.particles.is_pinned(i as usize));
            let prefers_a = if a_holds == b_holds {
                fraction < 0.5
            } else {
                b_holds
            };
            Some(if prefers_a { [a, b] } else { [b, a] })
        };
        let edges: Vec<_> = segments.ends.iter().filter_map(crossed).collect();
        split_rope_edges(&mut editor, entity, TearCause::Cut, edges);
        return;
    }
    let Some((low, high)) = cloth.particles.position.bounds() else {
        return;
    };
    let origin = cloth.particles.origin;
    if !blade.overlaps_box(low + origin, high + origin) {
        return;
    }
    let cut_end = by.and_then(|by| editor.cut_end(entity, by, &blade));
    let edit_with = |edit: &mut TopologyEdit, most: usize| edit.cut(&blade, cut_end, most);
    let end = editor
        .edit_sheet(entity, TearCause::Cut, edit_with)
        .flatten();
    if let Some(by) = by {
        editor.set_cut_end(entity, by, blade, end);
    }
}

pub(crate) fn tear_edge(event: On<TearEdge>, mut editor: TopologyEditor) {
    let TearEdge { entity, edge } = *event.event();
    let [a, b] = edge;
    let Some(cloth) = editor.view(entity) else {
        return;
    };
    let count = cloth.particles.len() as u32;
    if a >= count || b >= count {
        let label = cloth.label;
        warn!("cloth {label}: no edge {edge:?} to tear; it has {count} particles");
        return;
    }
    if let Some(segments) = &cloth.shape.segments {
        let is_segment = |s: &[u32; 2]| *s == [a, b] || *s == [b, a];
        if segments.ends.iter().any(is_segment) {
            split_rope_edges(&mut editor, entity, TearCause::Broken, [[a, b]]);
        }
        return;
    }
    editor.edit_sheet(entity, TearCause::Broken, |edit, _| edit.break_edge(edge));
}

pub(crate) fn shred(event: On<ShredCloth>, mut editor: TopologyEditor) {
    let ShredCloth {
        entity,
        centre,
        radius,
    } = *event.event();
    let Some(cloth) = editor.view(entity) else {
        return;
    };
    let particles = cloth.particles;
    let centre = centre - particles.origin;
    let is_within = |[a, b]: [u32; 2]| {
        let [a, b] = [a, b].map(|i| particles.position.get(i as usize));
        ((a + b) * 0.5).distance_squared(centre) <= radius * radius
    };
    if let Some(segments) = &cloth.shape.segments {
        let near: Vec<u32> = (segments.ends.iter())
            .filter(|segment| is_within(**segment))
            .flatten()
            .copied()
            .collect();
        editor.split_rope(entity, TearCause::Broken, near);
        return;
    }
    // Structural edges only: the shear constraints stay, and with them the cells.
    let edges: Vec<[u32; 2]> = cloth
        .constraints
        .of_kind(ConstraintKind::Structural)
        .map(|(pair, _)| pair)
        .filter(|pair| is_within(*pair))
        .collect();
    if !edges.is_empty() {
        editor.edit_sheet(entity, TearCause::Broken, |edit, _| edit.open_edges(edges));
    }
}

/// Splits a rope at each of these edges, at its first particle if possible; at an end of the rope, where no split
/// is possible, at the second.
pub(super) fn split_rope_edges(
    editor: &mut TopologyEditor,
    entity: Entity,
    cause: TearCause,
    edges: impl IntoIterator<Item = [u32; 2]>,
) {
    let is_inner = |i: u32| {
        editor.view(entity).is_some_and(|cloth| {
            let segments = cloth
                .shape
                .segments
                .iter()
                .flat_map(|segments| &segments.ends);
            segments.flatten().filter(|end| **end == i).count() > 1
        })
    };
    let at: Vec<u32> = edges
        .into_iter()
        .map(|[a, b]| if is_inner(a) { a } else { b })
        .collect();
    editor.split_rope(entity, cause, at);
}
