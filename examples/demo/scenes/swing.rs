//! What moves to and fro.

use bevy::prelude::*;
use bevy_drape::{ClothSystems, cloth_step_due};

pub(super) fn plugin(app: &mut App) {
    // When cloths have moved, so that it pauses with them.
    let after = swing.after(ClothSystems::Finish).run_if(cloth_step_due);
    app.add_systems(FixedUpdate, after);
}

/// Moves to and fro on a straight way.
#[derive(Component)]
pub(super) struct Swing {
    /// In the middle of its way.
    pub(super) centre: Vec3,
    /// From there to the end, m.
    pub(super) reach: Vec3,
    /// Of a whole swing, s.
    pub(super) period: f32,
    /// How long it has been swinging, s.
    pub(super) elapsed: f32,
}

fn swing(mut swinging: Query<(&mut Swing, &mut Transform)>, time: Res<Time>) {
    for (mut swing, mut transform) in &mut swinging {
        swing.elapsed += time.delta_secs();
        let phase = swing.elapsed / swing.period * std::f32::consts::TAU;
        transform.translation = swing.centre + swing.reach * phase.sin();
    }
}
