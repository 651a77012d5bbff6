//! Deviation of a cloth from its rest lengths: the figure of merit of a cloth solver.

use crate::solver::{
    constraints::{
        constraint::ConstraintKind,
        graph::{ConstraintGraph, distance},
    },
    particles::ParticleArrays,
};

/// Strain of the structural constraints, length/rest − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Mean absolute strain.
    pub mean: f32,
    /// Root mean square of the strain.
    pub rms: f32,
    /// Largest strain, signed: positive if a constraint is stretched.
    pub max: f32,
}

/// Measures all structural constraints with a rest length greater than 0.
pub fn measure_stretch(particles: &ParticleArrays, constraints: &ConstraintGraph) -> Stretch {
    let (mut sum, mut squares, mut count) = (0.0_f64, 0.0_f64, 0_u32);
    let mut max = f32::NEG_INFINITY;
    for ([a, b], rest) in constraints.of_kind(ConstraintKind::Structural) {
        if rest > 0.0 {
            let strain = distance(&particles.position, a, b) / rest - 1.0;
            sum += f64::from(strain.abs());
            squares += f64::from(strain) * f64::from(strain);
            max = max.max(strain);
            count += 1;
        }
    }
    if count == 0 {
        return Stretch::default();
    }
    let count = f64::from(count);
    Stretch {
        mean: (sum / count) as f32,
        rms: (squares / count).sqrt() as f32,
        max,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;
    use bevy::math::Vec3;

    #[test]
    fn strain_of_two_constraints() {
        let rest: SoaVec3 = (0..3).map(|i| Vec3::X * i as f32).collect();
        let graph = ConstraintGraph::new(
            &rest,
            &[
                (ConstraintKind::Structural, 0, 1),
                (ConstraintKind::Structural, 1, 2),
                (ConstraintKind::Shear, 0, 2),
            ],
        );
        let moved = [0.0, 1.3, 1.4].into_iter().map(|x| Vec3::X * x).collect();
        let stretch = measure_stretch(
            &ParticleArrays::new(Vec3::ZERO, moved, vec![1.0; 3]),
            &graph,
        );
        assert!((stretch.mean - 0.6).abs() < 1e-6);
        assert!((stretch.max - 0.3).abs() < 1e-6);
        assert!((stretch.rms - f32::sqrt((0.09 + 0.81) / 2.0)).abs() < 1e-6);
    }
}
