//! What the gizmos show.

use crate::debug::ClothGizmos;
use bevy::prelude::*;
use bevy_egui::egui;

pub(super) fn ui(ui: &mut egui::Ui, world: &mut World) {
    // Only with `ClothDebugPlugin`; without it there would be nothing to see.
    let Some(current) = world.get_resource::<ClothGizmos>().copied() else {
        return;
    };
    let mut gizmos = current;
    egui::CollapsingHeader::new("View")
        .default_open(true)
        .show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                for (shown, label, tooltip) in [
                    (
                        &mut gizmos.threads,
                        "wireframe",
                        "Structural constraints: white at rest length, red at 5 % more, blue at 5 % less",
                    ),
                    (
                        &mut gizmos.shear,
                        "shear",
                        "Shear constraints, coloured likewise",
                    ),
                    (
                        &mut gizmos.bend,
                        "bend",
                        "Where the cloth resists bending: the redder, the sharper it is folded",
                    ),
                    (&mut gizmos.pins, "pins", "A cross at each pinned particle"),
                    (
                        &mut gizmos.tethers,
                        "tethers",
                        "Lines to the pins that particles hang from: grey where they are slack, orange where they hold",
                    ),
                    (&mut gizmos.normals, "normals", "Where the cloth faces"),
                    (
                        &mut gizmos.limits,
                        "limits",
                        "How far particles may go from where an animation carries them, and what is behind them",
                    ),
                    (
                        &mut gizmos.contacts,
                        "contacts",
                        "A small cross wherever a collider is touched, or cloth touches itself",
                    ),
                    (
                        &mut gizmos.colliders,
                        "colliders",
                        "What the cloth bumps into",
                    ),
                    (
                        &mut gizmos.wind_zones,
                        "wind zones",
                        "Where wind zones are, and how the air moves in them",
                    ),
                ] {
                    ui.checkbox(shown, label).on_hover_text(tooltip);
                }
            });
        });
    if gizmos != current {
        world.insert_resource(gizmos);
    }
}
