//! Oscillating objects.

use bevy::prelude::*;
use bevy_drape::{cloth::ClothSystems, time::cloth_step_due};

pub(super) fn plugin(app: &mut App) {
    // Runs with the steps of cloths, so that it pauses with them.
    let after = swing.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Oscillates along a line.
#[derive(Component)]
pub(super) struct Swing {
    /// Centre of the motion, m.
    pub(super) centre: Vec3,
    /// Amplitude, m.
    pub(super) reach: Vec3,
    /// Period, s.
    pub(super) period: f32,
    /// Elapsed time, s.
    pub(super) elapsed: f32,
}

fn swing(mut swinging: Query<(&mut Swing, &mut Transform)>, time: Res<Time>) {
    for (mut swing, mut transform) in &mut swinging {
        swing.elapsed += time.delta_secs();
        let phase = swing.elapsed / swing.period * std::f32::consts::TAU;
        transform.translation = swing.centre + swing.reach * phase.sin();
    }
}
