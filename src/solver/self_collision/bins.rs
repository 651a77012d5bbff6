//! How far particles that were near each other have moved with respect to each other.

use crate::solver::soa::SoaVec3;
use bevy::math::Vec3;

/// A box in eight lanes: its low corner and its high corner turned around, so that both are least.
type Box8 = [f32; 8];

const NOTHING: Box8 = [f32::INFINITY; 8];

/// A coarse grid over the particles as they were at some time. Each bin knows between which corners
/// the ways of its particles since then are.
#[derive(Clone, Debug, Default)]
pub(super) struct Bins {
    /// Side of a bin, m.
    size: f32,
    counts: [usize; 3],
    /// The bin of each particle.
    of: Vec<u32>,
    boxes: Vec<Box8>,
    known: bool,
}

impl Bins {
    /// Must be called when the time begins anew. Asks for room for so many particles, so that later
    /// nothing asks for any.
    pub(super) fn forget(&mut self, particles: usize) {
        self.known = false;
        self.of.clear();
        self.of.reserve(particles);
        self.boxes.clear();
        self.boxes.reserve(most(particles));
    }

    /// The farthest that any two particles have moved with respect to each other that were nearer than
    /// [`size`](Self::size) when they were at `before`, m, or a little more.
    pub(super) fn spread(&mut self, before: &SoaVec3, now: &SoaVec3) -> f32 {
        self.boxes.fill(NOTHING);
        for ((&bin, before), now) in self.of.iter().zip(before.iter()).zip(now.iter()) {
            let [x, y, z] = (now - before).to_array();
            let Some(found) = self.boxes.get_mut(bin as usize) else {
                return f32::INFINITY;
            };
            least(found, &[x, y, z, 0.0, -x, -y, -z, 0.0]);
        }
        // Bins that touch are among two in a row along each axis.
        let mut stride = 1;
        for count in self.counts {
            for bin in 0..self.boxes.len().saturating_sub(stride) {
                if bin / stride % count + 1 < count {
                    let next = self.boxes[bin + stride];
                    least(&mut self.boxes[bin], &next);
                }
            }
            stride *= count;
        }
        let mut farthest = 0.0_f32;
        for [x, y, z, _, right, up, front, _] in &self.boxes {
            // Less than nothing where there are no particles.
            let way = Vec3::new(-right - x, -up - y, -front - z).max(Vec3::ZERO);
            farthest = farthest.max(way.length_squared());
        }
        farthest.sqrt()
    }

    /// Sorts particles into bins that are at least so large, m, if that is not done yet. Returns how
    /// large they are.
    pub(super) fn sort(&mut self, before: &SoaVec3, size: f32) -> f32 {
        if self.known {
            return self.size;
        }
        self.known = true;
        let (low, high) = before.bounds().unwrap_or_default();
        let extent = high - low;
        self.size = size;
        self.counts = [1; 3];
        if extent.is_finite() && size > 0.0 {
            let most = most(before.len()) as f32;
            let count = |size: f32| (extent / size).floor() + Vec3::ONE;
            while count(self.size).element_product() > most {
                self.size *= 1.25;
            }
            self.counts = count(self.size).to_array().map(|count| count as usize);
        }
        let [nx, ny, nz] = self.counts;
        let (size, last) = (self.size, Vec3::new(nx as f32, ny as f32, nz as f32) - 1.0);
        self.of.clear();
        self.of.extend(before.iter().map(|at| {
            let [x, y, z] = ((at - low) / size).min(last).to_array();
            (((z as usize).min(nz - 1) * ny + (y as usize).min(ny - 1)) * nx
                + (x as usize).min(nx - 1)) as u32
        }));
        self.boxes.resize(nx * ny * nz, NOTHING);
        self.size
    }
}

/// No more bins than this for so many particles.
fn most(particles: usize) -> usize {
    particles / 4 + 64
}

/// The lesser of each lane. NaN do not count.
#[inline(always)]
fn least(into: &mut Box8, other: &Box8) {
    for (into, &other) in into.iter_mut().zip(other) {
        *into = if other < *into { other } else { *into };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_neighbours_count() {
        // Two clouds that fly apart, each turning a little.
        let cloud = |centre: Vec3, moved: f32| {
            (0..100).map(move |i| {
                let at = Vec3::new((i % 10) as f32, (i / 10) as f32, (i % 7) as f32) * 0.1;
                centre + at + Vec3::new(0.0, moved * 0.1 * at.x, 0.0)
            })
        };
        let all = |moved: f32| -> SoaVec3 {
            cloud(Vec3::ZERO, moved)
                .chain(cloud(Vec3::X * (10.0 + moved), moved))
                .collect()
        };
        let (before, now) = (all(0.0), all(1.0));
        let mut bins = Bins::default();
        let size = bins.sort(&before, 0.25);
        assert!((0.25..2.0).contains(&size), "{size}");
        let spread = bins.spread(&before, &now);
        // The slowest and the fastest of a cloud are 0.9 m apart and move by 0.09 m with respect to
        // each other.
        assert!(spread > 0.02 && spread < 0.1, "{spread}");
        // Whoever moves alone is seen by its neighbours.
        let mut now = before.clone();
        now.add(50, Vec3::Z * 0.3);
        assert!((bins.spread(&before, &now) - 0.3).abs() < 1e-6);
        // With one bin all are neighbours.
        bins.forget(200);
        bins.sort(&before, 100.0);
        assert!(bins.spread(&before, &all(1.0)) > 1.0);
    }

    #[test]
    fn numbers_that_are_not_finite_do_no_harm() {
        for bad in [f32::NAN, f32::INFINITY, 1e38] {
            let before: SoaVec3 = [Vec3::ZERO, Vec3::splat(bad), Vec3::ONE]
                .into_iter()
                .collect();
            let mut bins = Bins::default();
            bins.sort(&before, 1e-30);
            bins.spread(&before, &before);
            assert!(bins.boxes.len() <= 64);
        }
        let mut bins = Bins::default();
        bins.sort(&SoaVec3::default(), 0.0);
        assert_eq!(bins.spread(&SoaVec3::default(), &SoaVec3::default()), 0.0);
    }
}
