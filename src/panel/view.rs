//! Panel switches of the debug gizmos.

use crate::debug::ClothGizmos;
use bevy::prelude::*;
use bevy_egui::egui;

/// Shows a check box for each gizmo of [`ClothGizmos`].
pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    // Inserted by `ClothDebugPlugin`; without it no gizmos are drawn.
    let Some(current) = world.get_resource::<ClothGizmos>().copied() else {
        return;
    };
    let mut gizmos = current;
    egui::CollapsingHeader::new("View")
        .default_open(true)
        .show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for (shown, label, tooltip) in switches(&mut gizmos) {
                    ui.checkbox(shown, label).on_hover_text(tooltip);
                }
            });
        });
    if gizmos != current {
        world.insert_resource(gizmos);
    }
}

/// Returns each switch with its label and tooltip.
fn switches(gizmos: &mut ClothGizmos) -> [(&mut bool, &'static str, &'static str); 10] {
    [
        (
            &mut gizmos.structural,
            "wireframe",
            "Structural constraints: white at rest length, red at 5 % more, blue at 5 % less",
        ),
        (
            &mut gizmos.shear,
            "shear",
            "Shear constraints, coloured by strain in the same way",
        ),
        (
            &mut gizmos.bend,
            "bend",
            "Bend constraints: the redder, the sharper the fold",
        ),
        (&mut gizmos.pins, "pins", "A cross at each pinned particle"),
        (
            &mut gizmos.tethers,
            "tethers",
            "Lines from particles to their pins: grey if slack, orange if taut",
        ),
        (&mut gizmos.normals, "normals", "Normal of each particle"),
        (
            &mut gizmos.max_distance,
            "max distance",
            "Spheres of the maximum distance from the animated positions, and rings at the backstops",
        ),
        (
            &mut gizmos.contacts,
            "contacts",
            "A small cross at each contact with a collider, and at each self-contact",
        ),
        (
            &mut gizmos.colliders,
            "colliders",
            "Outlines of the colliders",
        ),
        (
            &mut gizmos.wind_zones,
            "wind zones",
            "Outlines of the wind zones, with arrows along the wind",
        ),
    ]
}
