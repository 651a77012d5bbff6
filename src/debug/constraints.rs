//! Draws structural and shear constraints coloured by strain, and bend constraints coloured by fold.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::cloth::{
    Cloth,
    particles::{ClothConstraints, ClothParticles},
};
use crate::{
    render::pose::RenderPose,
    solver::{Constraint, ConstraintKind},
};
use bevy::prelude::*;

/// Strain with full colour.
const FULL_STRAIN: f32 = 0.05;

/// Returns the colour of a strain: white at rest length, red if stretched, blue if compressed.
fn strain_colour(strain: f32) -> Color {
    let whiteness = 1.0 - (strain.abs() / FULL_STRAIN).clamp(0.0, 1.0);
    if strain > 0.0 {
        Color::srgb(1.0, whiteness, whiteness)
    } else {
        Color::srgb(whiteness, whiteness, 1.0)
    }
}

pub(super) fn draw_constraints(
    cloths: Query<(&ClothParticles, &ClothConstraints, &RenderPose), With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, constraints, render_pose) in &cloths {
        let position = |i: u32| render_pose.particle_position(particles, i as usize);
        for (shown, kind) in [
            (show.structural, ConstraintKind::Structural),
            (show.shear, ConstraintKind::Shear),
        ] {
            if !shown {
                continue;
            }
            for ([a, b], rest) in constraints.of_kind(kind) {
                let [a, b] = [a, b].map(position);
                let strain = (b - a).length() / rest - 1.0;
                gizmos.line(a, b, strain_colour(strain));
            }
        }
        if !show.bend {
            continue;
        }
        for bend in constraints.iter().filter_map(Constraint::bend) {
            let [a, m, n, b] = bend.stencil().particles().map(position);
            let middle = m.midpoint(n);
            // 0 where the cloth is flat, 1 where it is folded onto itself.
            let folded = 0.5
                + 0.5
                    * (a - middle)
                        .normalize_or_zero()
                        .dot((b - middle).normalize_or_zero());
            let whiteness = 1.0 - folded.clamp(0.0, 1.0).sqrt();
            gizmos.line(a, middle, Color::srgb(1.0, whiteness, whiteness));
            gizmos.line(middle, b, Color::srgb(1.0, whiteness, whiteness));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strain_is_white_at_rest_red_when_long_and_blue_when_short() {
        assert_eq!(strain_colour(0.0), Color::srgb(1.0, 1.0, 1.0));
        assert_eq!(strain_colour(0.07), Color::srgb(1.0, 0.0, 0.0));
        assert_eq!(strain_colour(-0.07), Color::srgb(0.0, 0.0, 1.0));
        assert_eq!(strain_colour(0.025), Color::srgb(1.0, 0.5, 0.5));
    }
}
