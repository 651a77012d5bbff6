//! Speed of the particles of a cloth relative to each other: measured where they are near, and limited everywhere.

use crate::solver::{particles::ParticleArrays, simd::soa::SoaVec3, state::SubstepTime};
use bevy::math::DVec3;

/// Number of parts of a step in which the relative motion of near particles is measured.
const PARTS_OF_STEP: u32 = 4;

/// Measures how far near particles go towards or away from each other, once in each part of a step. How far they slide past
/// each other does not matter: contacts are found along their paths. A shirt on a walking figure, whose sleeves slide along its
/// sides, would take a third more time.
///
/// A single substep tells nothing about their speed where constraints pull particles into a collider, which pushes them out
/// again, or where one that is pinched jumps from side to side: these ways are as long in shorter substeps.
pub(super) fn measure_way(
    p: &mut ParticleArrays,
    near: &[[u32; 2]],
    part_start: &mut SoaVec3,
    time: &SubstepTime,
) {
    let part = (time.count / PARTS_OF_STEP).max(1);
    if !time.index.is_multiple_of(part) {
        return;
    }
    let has_start = time.index > 0 && part_start.len() == p.len();
    if has_start || time.count == 1 {
        let motion = |i: u32| match has_start {
            true => p.position.get(i as usize) - part_start.get(i as usize),
            false => p.displacement.get(i as usize),
        };
        let way = |&[i, j]: &[u32; 2]| {
            let relative = motion(i) - motion(j);
            let between = p.position.get(i as usize) - p.position.get(j as usize);
            match between.try_normalize() {
                Some(direction) => relative.dot(direction).abs(),
                None => relative.length(),
            }
        };
        let way = near.iter().map(way).fold(0.0, f32::max);
        p.way_in_folds = p.way_in_folds.max(way * time.count as f32 / part as f32);
    }
    part_start.resize(p.len());
    part_start.copy_from(&p.position);
}

/// Slows particles with a displacement per substep, relative to the mean of the free particles, above
/// `max_displacement`. The removed momentum is distributed over all free particles, so the mean is unchanged.
pub(super) fn slow_down(p: &mut ParticleArrays, max_displacement: f32) {
    let free_mass =
        |p: &ParticleArrays, i: usize| (p.inverse_mass[i] > 0.0).then(|| 1.0 / p.inverse_mass[i]);
    let (mut sum, mut mass) = (DVec3::ZERO, 0.0);
    for i in 0..p.len() {
        if let Some(m) = free_mass(p, i) {
            sum += p.displacement.get(i).as_dvec3() * f64::from(m);
            mass += f64::from(m);
        }
    }
    if mass <= 0.0 {
        return;
    }
    let mean = (sum / mass).as_vec3();
    let mut lost = DVec3::ZERO;
    for i in 0..p.len() {
        let relative = p.displacement.get(i) - mean;
        let length = relative.length();
        if let Some(m) = free_mass(p, i)
            && length > max_displacement
        {
            let excess = relative * ((length - max_displacement) / length);
            lost += excess.as_dvec3() * f64::from(m);
            p.displacement.add(i, -excess);
            p.position.add(i, -excess);
        }
    }
    let returned = (lost / mass).as_vec3();
    for i in 0..p.len() {
        if p.inverse_mass[i] > 0.0 {
            p.displacement.add(i, returned);
            p.position.add(i, returned);
            // The correction is not to be added to the displacement as motion.
            let position = p.position.get(i);
            p.predicted.set(i, position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy::math::Vec3;

    /// Returns the measured way in a step of two particles, of which the second is at these positions in the phase of contacts of
    /// each substep, to the side of the first by `aside`.
    fn measured(at: &[f32], aside: f32) -> f32 {
        let mut p = ParticleArrays::new(Vec3::ZERO, SoaVec3::zeros(2), vec![1.0; 2]);
        p.position.set(0, Vec3::Y * aside);
        let mut part_start = SoaVec3::default();
        for time in SubstepTime::new(0.02, at.len() as u32).substeps() {
            p.position.set(1, Vec3::X * at[time.index as usize]);
            p.displacement.set(1, Vec3::X * 0.003);
            measure_way(&mut p, &[[0, 1]], &mut part_start, &time);
        }
        p.way_in_folds
    }

    #[test]
    fn the_way_of_near_particles_is_that_over_several_substeps() {
        for count in [2, 3, 8, 13, 64] {
            let at: Vec<f32> = (0..count).map(|k| 0.1 * k as f32 / count as f32).collect();
            let way = measured(&at, 0.0);
            assert!((way - 0.1).abs() < 1e-6, "{count}: {way}");
        }
        // Of a single substep, only the displacement is known.
        assert_eq!(measured(&[0.0], 0.0), 0.003);
        // Pushed back in each substep.
        assert_eq!(measured(&[0.0; 64], 0.0), 0.0);
        // One jump counts as a way in a quarter of the step.
        let at: Vec<f32> = (0..64).map(|k| if k < 30 { 0.0 } else { 0.002 }).collect();
        assert!((measured(&at, 0.0) - 0.008).abs() < 1e-6);
        // Past each other.
        assert!(measured(&at, 0.02) < 0.001);
    }
}
