//! Tethers (long range attachments): no particle moves farther from a pinned particle than the cloth between them
//! is long (Kim, Chentanez and Müller-Fischer, "Long Range Attachments - A Method to Simulate Inextensible
//! Clothing in Computer Games", 2012).
//!
//! Relaxation propagates a pull from constraint to constraint, so fine cloth sags at the few edges that carry all
//! of its weight. A tether acts on each particle directly. It only pulls, and only towards a pinned particle, so
//! folds, swinging and free cloth are unaffected.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`Tethers`], from geodesic distances |
//! | `solve` | projection |

mod solve;

use crate::solver::{
    constraints::geodesic::{Geodesics, MAX_ISLANDS, RestShape},
    particles::ParticleArrays,
    simd::{aligned::AlignedVec, soa::SoaVec3},
};
pub(in crate::solver) use solve::solve_tethers;

/// Tethers of a cloth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tethers {
    /// Number of particles of the cloth.
    particles: usize,
    /// At most [`MAX_ISLANDS`] slots, each with the length of one tether per particle, m; infinite without one.
    slots: Vec<AlignedVec>,
    /// Anchors of the tethers, run-length encoded in the order of evaluation.
    runs: Vec<TetherRun>,
    /// End of the runs of each block of [`BLOCK`] particles.
    ends: Vec<u32>,
    /// Particle indices of all anchors, ascending.
    anchors: Vec<u32>,
}

/// Tethers of consecutive particles of one block that share one anchor, or have consecutive anchors.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TetherRun {
    slot: u32,
    /// First particle of the run.
    start: u32,
    count: u32,
    /// Anchor of the first particle, as an index into [`Tethers::anchors`].
    anchor: u32,
    /// Whether each particle has the anchor after that of the particle before it; otherwise all share one. Anchors with
    /// consecutive particle indices are also consecutive in the list.
    consecutive_anchors: bool,
}

impl TetherRun {
    /// Returns the anchor of a particle of the run, as an index into the list of anchors.
    fn anchor_at(&self, offset: u32) -> u32 {
        self.anchor + if self.consecutive_anchors { offset } else { 0 }
    }
}

/// Number of particles whose corrections are summed together.
const BLOCK: usize = 64;

impl Tethers {
    /// Creates a tether from each free particle to the nearest pinned particle of each island of pins, up to four.
    /// `pinned` holds all pinned particles.
    pub fn new(shape: &RestShape, pinned: &[u32]) -> Self {
        Self::from_distances(&Geodesics::new(shape, pinned), shape, pinned)
    }

    /// Creates the tethers from geodesic distances computed before.
    pub(crate) fn from_distances(distances: &Geodesics, shape: &RestShape, pinned: &[u32]) -> Self {
        let count = distances.len().min(shape.positions.len());
        let mut is_free = vec![true; count];
        for &i in pinned {
            if let Some(free) = is_free.get_mut(i as usize) {
                *free = false;
            }
        }
        let mut slots: Vec<AlignedVec> = Vec::new();
        let mut anchors: Vec<Vec<u32>> = Vec::new();
        for i in (0..count).filter(|&i| is_free[i]) {
            // Tethers to one island share a slot, as far as possible.
            let (mut is_taken, mut islands) = ([false; MAX_ISLANDS], [None; MAX_ISLANDS]);
            for geodesic in distances.for_particle(i as u32) {
                if islands.contains(&Some(geodesic.island)) {
                    continue;
                }
                let wanted = geodesic.island as usize % MAX_ISLANDS;
                let free = (wanted..MAX_ISLANDS)
                    .chain(0..wanted)
                    .find(|&n| !is_taken[n]);
                let Some(slot) = free else { break };
                is_taken[slot] = true;
                islands[slot] = Some(geodesic.island);
                while slots.len() <= slot {
                    anchors.push(vec![0; count]);
                    slots.push(AlignedVec::filled(count, f32::INFINITY));
                }
                anchors[slot][i] = geodesic.source;
                slots[slot][i] =
                    tether_length(shape, geodesic.distance, i, geodesic.source as usize);
            }
        }
        let mut tethers = Self {
            particles: count,
            slots,
            ..Self::default()
        };
        tethers.find_runs(&anchors);
        tethers
    }

    /// Encodes the anchors as runs. `anchors_by_slot` holds the anchor of each particle for each slot.
    fn find_runs(&mut self, anchors_by_slot: &[Vec<u32>]) {
        for start in (0..self.particles).step_by(BLOCK) {
            let end = (start + BLOCK).min(self.particles);
            for (slot_index, slot) in self.slots.iter().enumerate() {
                let first = self.runs.len();
                for i in (start..end).filter(|&i| slot[i] < f32::INFINITY) {
                    let anchor = anchors_by_slot[slot_index][i];
                    if let [.., last] = &mut self.runs[first..]
                        && last.start + last.count == i as u32
                    {
                        let is_next = anchor == last.anchor + last.count;
                        if (anchor == last.anchor && !last.consecutive_anchors)
                            || (is_next && last.consecutive_anchors)
                        {
                            last.count += 1;
                            continue;
                        }
                        // The second tether decides the kind of a run.
                        if is_next && last.count == 1 {
                            last.count = 2;
                            last.consecutive_anchors = true;
                            continue;
                        }
                    }
                    self.runs.push(TetherRun {
                        slot: slot_index as u32,
                        start: i as u32,
                        count: 1,
                        anchor,
                        consecutive_anchors: false,
                    });
                }
            }
            self.ends.push(self.runs.len() as u32);
        }
        let anchor_ranges = self.runs.iter().flat_map(|run| {
            let count = if run.consecutive_anchors {
                run.count
            } else {
                1
            };
            run.anchor..run.anchor + count
        });
        let mut anchors: Vec<u32> = anchor_ranges.collect();
        anchors.sort_unstable();
        anchors.dedup();
        for run in &mut self.runs {
            run.anchor = anchors.partition_point(|&anchor| anchor < run.anchor) as u32;
        }
        self.anchors = anchors;
        self.runs.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.anchors.shrink_to_fit();
    }

    /// Returns the tethers of a particle: their anchor particles and their lengths, m.
    pub fn for_particle(&self, particle: u32) -> impl Iterator<Item = (u32, f32)> + '_ {
        let block = particle as usize / BLOCK;
        let end = |block: usize| self.ends.get(block).map_or(0, |&end| end as usize);
        let first = block.checked_sub(1).map_or(0, end);
        let runs = self.runs.get(first..end(block)).unwrap_or_default();
        runs.iter().filter_map(move |run| {
            let offset = particle.checked_sub(run.start)?;
            (offset < run.count).then(|| {
                let anchor = self.anchors[run.anchor_at(offset) as usize];
                (anchor, self.length_at(run, offset))
            })
        })
    }

    /// Returns the length of the tether of a particle of a run, m.
    fn length_at(&self, run: &TetherRun, offset: u32) -> f32 {
        self.slots[run.slot as usize][(run.start + offset) as usize]
    }

    /// Returns whether there are no tethers.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the largest ratio of the current distance from the anchor to the length of a tether. 0 without
    /// tethers.
    pub(crate) fn max_length_ratio(&self, particles: &ParticleArrays) -> f32 {
        let mut max_ratio = 0.0_f32;
        if self.particles > particles.len() {
            return max_ratio;
        }
        for run in &self.runs {
            for offset in 0..run.count {
                let i = (run.start + offset) as usize;
                let length = self.length_at(run, offset);
                if length > 0.0 && !particles.is_pinned(i) {
                    let anchor = self.anchors[run.anchor_at(offset) as usize] as usize;
                    // `max` ignores NaN; other code detects it.
                    max_ratio =
                        max_ratio.max(distance_between(&particles.position, i, anchor) / length);
                }
            }
        }
        max_ratio
    }
}

/// Returns the length of a tether, m.
fn tether_length(shape: &RestShape, distance: f64, particle: usize, anchor: usize) -> f32 {
    let distance = distance as f32;
    if shape.triangles.is_empty() {
        return distance;
    }
    // No path over a surface is shorter than the straight line. The straight distance is computed with the same
    // arithmetic as in the solver, so rounding does not move a flat cloth at rest.
    distance.max(distance_between(shape.positions, particle, anchor))
}

fn distance_between(positions: &SoaVec3, i: usize, anchor: usize) -> f32 {
    let dx = positions.x[i] - positions.x[anchor];
    let dy = positions.y[i] - positions.y[anchor];
    let dz = positions.z[i] - positions.z[anchor];
    (dx * dx + dy * dy + dz * dz).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{ConstraintGraph, ConstraintKind, Workers, simd::levels::same_bits};
    use bevy::math::Vec3;

    /// A rope along x with links of 1 m and some pinned particles.
    fn rope(count: u32, pinned: &[u32]) -> (ParticleArrays, Tethers) {
        let positions: SoaVec3 = (0..count).map(|i| Vec3::X * i as f32).collect();
        let pairs: Vec<_> = (1..count)
            .map(|i| (ConstraintKind::Structural, i - 1, i))
            .collect();
        let constraints = ConstraintGraph::new(&positions, &pairs);
        let shape = RestShape {
            positions: &positions,
            triangles: &[],
            constraints: &constraints,
        };
        let tethers = Tethers::new(&shape, pinned);
        let mut w = vec![1.0; count as usize];
        pinned.iter().for_each(|&i| w[i as usize] = 0.0);
        (ParticleArrays::new(Vec3::ZERO, positions, w), tethers)
    }

    #[test]
    fn distant_particles_are_pulled_back_to_the_tether_length() {
        let (mut p, tethers) = rope(3, &[0]);
        p.position.set(1, Vec3::new(0.0, -3.0, 0.0));
        p.position.set(2, Vec3::new(0.0, 0.0, 1.9));
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.25);
        assert!(p.position.get(1).distance(Vec3::NEG_Y * 1.25) < 1e-6);
        assert_eq!(p.position.get(2), Vec3::new(0.0, 0.0, 1.9));
        assert_eq!(p.position.get(0), Vec3::ZERO);
        assert!((tethers.max_length_ratio(&p) - 1.25).abs() < 1e-6);
    }

    #[test]
    fn two_tethers_pull_by_their_mean() {
        let (mut p, tethers) = rope(9, &[0, 8]);
        assert_eq!(
            tethers.for_particle(4).collect::<Vec<_>>(),
            [(0, 4.0), (8, 4.0)]
        );
        p.position.set(4, Vec3::new(4.0, -8.0, 0.0));
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.0);
        // Both pull towards their anchors, to a distance of 4 m; the horizontal components cancel.
        let fraction = 4.0 / 80.0_f32.sqrt();
        let wanted = Vec3::new(4.0, -8.0 * fraction, 0.0);
        assert!(p.position.get(4).distance(wanted) < 1e-6);
        // Only one tether of this particle is too long.
        p.position.set(1, Vec3::new(3.0, -1.2, 0.0));
        let away = Vec3::new(3.0, -1.2, 0.0);
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.0);
        assert!(p.position.get(1).distance(away.normalize()) < 1e-6);
    }

    #[test]
    fn pinned_particles_and_infinite_scales_are_left_alone() {
        let (mut p, tethers) = rope(3, &[0]);
        p.position.set(2, Vec3::X * 9.0);
        let before = p.position.clone();
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, f32::INFINITY);
        solve_tethers(&mut Workers::serial(), &mut p, &Tethers::default(), 1.0);
        p.inverse_mass[2] = 0.0;
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.0);
        assert_eq!(p.position, before);
        assert!(Tethers::default().is_empty());
        assert_eq!(Tethers::default().max_length_ratio(&p), 0.0);
    }

    #[test]
    fn tethers_of_another_cloth_are_ignored() {
        let (_, tethers) = rope(30, &[0]);
        let (mut p, _) = rope(3, &[0]);
        p.position.set(2, Vec3::X * 9.0);
        solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.0);
        assert_eq!(p.position.get(2), Vec3::X * 9.0);
    }

    /// A crumpled cloth of 40 × 7 particles, with pins along part of a row and three elsewhere.
    fn crumpled() -> (ParticleArrays, Tethers) {
        let positions: SoaVec3 = (0..280)
            .map(|i| Vec3::new((i % 40) as f32, (i / 40) as f32, 0.0))
            .collect();
        let mut triangles = Vec::new();
        for i in (0..240_u32).filter(|i| i % 40 < 39) {
            triangles.push([i, i + 1, i + 40]);
            triangles.push([i + 1, i + 41, i + 40]);
        }
        let constraints = ConstraintGraph::default();
        let shape = RestShape {
            positions: &positions,
            triangles: &triangles,
            constraints: &constraints,
        };
        let pinned: Vec<u32> = (0..25).chain([279, 245, 140]).collect();
        let tethers = Tethers::new(&shape, &pinned);
        let moved = positions.iter().enumerate().map(|(i, v)| {
            let shake = Vec3::new((i * i % 13) as f32, (i % 7) as f32, (i % 5) as f32);
            v + shake * 0.3
        });
        let w = (0..280)
            .map(|i| f32::from(u8::from(!pinned.contains(&i))))
            .collect();
        (ParticleArrays::new(Vec3::ZERO, moved.collect(), w), tethers)
    }

    #[test]
    fn the_kernel_gives_the_bits_of_its_scalar_reference() {
        let (start, tethers) = crumpled();
        assert!(tethers.runs.iter().any(|run| run.consecutive_anchors));
        assert!(
            tethers
                .runs
                .iter()
                .any(|run| !run.consecutive_anchors && run.count > 20)
        );
        assert_eq!(tethers.slots.len(), 4);
        let bits = same_bits(|| {
            let mut p = start.clone();
            solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.01);
            solve_tethers(&mut Workers::serial(), &mut p, &tethers, 1.0);
            p.position.bits().collect()
        });
        assert!(bits != start.position.bits().collect::<Vec<_>>());
    }
}
