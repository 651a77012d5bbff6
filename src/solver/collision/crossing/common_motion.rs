//! Motion that particles have in common.

use super::patch_motion::Motion;
use bevy::math::Vec3A;

/// Largest number of particles of which the median motion is found.
const MAX_SAMPLE: usize = 256;

/// Returns the mean motion of the pinned particles, m, if there are any.
pub(super) fn mean_of_pinned(motion: Motion, inverse_mass: &[f32]) -> Option<Vec3A> {
    let pinned = (0..motion.start.len()).filter(|&i| inverse_mass[i] == 0.0);
    let motions = pinned.map(|i| motion.end[i] - motion.start[i]);
    let (count, sum) = motions.fold((0.0, Vec3A::ZERO), |(count, sum), motion| {
        (count + 1.0, sum + motion)
    });
    (count > 0.0).then(|| sum / count)
}

/// Returns the median motion of these particles, m; of some of them if there are many.
pub(super) fn median(
    motion: Motion,
    particles: impl ExactSizeIterator<Item = usize> + Clone,
) -> Vec3A {
    let stride = particles.len().div_ceil(MAX_SAMPLE).max(1);
    let sample = particles.step_by(stride);
    let median = |axis: usize| {
        let mut components = [0.0; MAX_SAMPLE];
        let mut count = 0;
        for (component, i) in components.iter_mut().zip(sample.clone()) {
            *component = (motion.end[i] - motion.start[i])[axis];
            count += 1;
        }
        let components = &mut components[..count];
        components.sort_unstable_by(f32::total_cmp);
        components.get(count / 2).copied().unwrap_or_default()
    };
    Vec3A::from([0, 1, 2].map(median))
}
