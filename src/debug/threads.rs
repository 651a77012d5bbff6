//! Threads by how far they are stretched, and folds.

use super::{ClothGizmoGroup, ClothGizmos};
use crate::{
    cloth::Cloth,
    components::{ClothBody, Constraints, Particles},
    solver::ConstraintKind,
};
use bevy::prelude::*;

/// Strain that is drawn in full colour.
const FULL_STRAIN: f32 = 0.05;

/// White at rest, red where threads are longer, blue where they are shorter.
fn strain_colour(strain: f32) -> Color {
    let calm = 1.0 - (strain.abs() / FULL_STRAIN).clamp(0.0, 1.0);
    if strain > 0.0 {
        Color::srgb(1.0, calm, calm)
    } else {
        Color::srgb(calm, calm, 1.0)
    }
}

pub(super) fn draw_constraints(
    cloths: Query<(&Particles, &Constraints, &ClothBody), With<Cloth>>,
    show: Res<ClothGizmos>,
    mut gizmos: Gizmos<ClothGizmoGroup>,
) {
    for (particles, constraints, body) in &cloths {
        let place = |i: u32| body.picture.place(particles, i as usize);
        for (shown, kind) in [
            (show.threads, ConstraintKind::Structural),
            (show.shear, ConstraintKind::Shear),
        ] {
            if !shown {
                continue;
            }
            for ([a, b], rest) in constraints.of_kind(kind) {
                let [a, b] = [a, b].map(place);
                let strain = (b - a).length() / rest - 1.0;
                gizmos.line(a, b, strain_colour(strain));
            }
        }
        if !show.bend {
            continue;
        }
        for constraint in constraints.iter() {
            let Some(over) = constraint.over else {
                continue;
            };
            let [a, b] = constraint.particles.map(place);
            let middle = place(over[0]).midpoint(place(over[1]));
            // 0 where it is straight, 1 where it is folded flat.
            let folded = 0.5
                + 0.5
                    * (a - middle)
                        .normalize_or_zero()
                        .dot((b - middle).normalize_or_zero());
            let calm = 1.0 - folded.clamp(0.0, 1.0).sqrt();
            gizmos.line(a, middle, Color::srgb(1.0, calm, calm));
            gizmos.line(middle, b, Color::srgb(1.0, calm, calm));
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
