//! The state of a cloth: position, displacement of the last substep and inverse mass of every
//! particle, as arrays.
//!
//! Two choices keep `f32` exact enough for small substeps. Positions are relative to an `origin`
//! near the cloth. And the displacement of a substep is stored as its own value instead of being
//! recomputed from two positions, where the rounding of the larger number would eat it: a fall of
//! 10 s at Δt = 0.01 s ends at 501.27 m with two positions and at 500.50 m with the displacement,
//! which is what exact arithmetic gives.

use super::{
    aligned::AlignedVec,
    carry::Carry,
    crew::{Leader, PART},
    soa::{SoaVec3, all_finite},
};
use bevy::math::Vec3;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nobody has stepped this cloth yet; the value only has to be positive.
const NOMINAL_DT: f32 = 1.0 / 480.0;

/// A cloth whose middle is farther than this from its origin, and farther than it is wide, gets a
/// new origin, in metres: at 2 m positions are still exact to a tenth of a micrometre.
const REBASE_DISTANCE: f32 = 2.0;

/// Where a pinned particle must be at the end of the fixed step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PinTarget {
    /// Index of the particle.
    pub particle: u32,
    /// Where it must be, relative to [`ParticleArrays::origin`], in metres.
    pub position: Vec3,
}

/// All particles of one cloth. Every array has one element per particle.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ParticleArrays {
    /// Position relative to [`origin`](Self::origin), in world axes, m.
    pub position: SoaVec3,
    /// Displacement during the last substep, m. A pinned particle moves by this much in every
    /// substep; for the others it is the velocity times the length of a substep.
    pub displacement: SoaVec3,
    /// Acceleration by everything but gravity (wind, a user's own forces), m/s². Cleared when a
    /// fixed step begins and held during its substeps.
    pub acceleration: SoaVec3,
    /// 1/kg; 0 pins the particle: it has infinite mass.
    pub inverse_mass: AlignedVec,
    /// Position when the fixed step began, m: frames between two steps are drawn from here to
    /// [`position`](Self::position), and a cloth that became non-finite goes back to it.
    pub previous: SoaVec3,
    /// World position that all positions are relative to, m.
    pub origin: Vec3,
    /// Position right after integration; the difference to where relaxation left the particle is
    /// what has to be added to its displacement.
    pub(super) predicted: SoaVec3,
    /// Length of the last substep, s.
    pub(crate) last_dt: f32,
    /// Position and velocity belong to the same instant, as they do before the first step. After
    /// it, Verlet's velocity is half a step behind.
    pub(super) in_phase: bool,
}

impl ParticleArrays {
    /// Particles at rest. `positions` are relative to `origin`, m; `inverse_mass` in 1/kg.
    /// A missing or bad inverse mass (negative, NaN, infinite) becomes 0, which pins the particle.
    pub fn new(origin: Vec3, positions: SoaVec3, mut inverse_mass: Vec<f32>) -> Self {
        let n = positions.len();
        inverse_mass.resize(n, 0.0);
        for w in &mut inverse_mass {
            if !(w.is_finite() && *w >= 0.0) {
                *w = 0.0;
            }
        }
        Self {
            previous: positions.clone(),
            predicted: positions.clone(),
            position: positions,
            displacement: SoaVec3::zeros(n),
            acceleration: SoaVec3::zeros(n),
            inverse_mass: inverse_mass.into(),
            origin,
            last_dt: NOMINAL_DT,
            in_phase: true,
        }
    }

    /// How many particles there are.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// World position of a particle, m.
    pub fn world_position(&self, i: usize) -> Vec3 {
        self.origin + self.position.get(i)
    }

    /// Puts a particle at a world position without changing its velocity.
    pub fn set_world_position(&mut self, i: usize, world: Vec3) {
        self.position.set(i, world - self.origin);
    }

    /// Velocity of a particle, m/s: its displacement during the last substep over its length.
    pub fn velocity(&self, i: usize) -> Vec3 {
        self.displacement.get(i) / self.last_dt
    }

    /// Gives a particle a velocity, m/s.
    pub fn set_velocity(&mut self, i: usize, velocity: Vec3) {
        self.displacement.set(i, velocity * self.last_dt);
    }

    /// Adds a force to a particle for the coming substeps of this fixed step, N.
    pub fn add_force(&mut self, i: usize, force: Vec3) {
        self.acceleration.add(i, force * self.inverse_mass[i]);
    }

    /// Whether a particle is pinned.
    pub fn is_pinned(&self, i: usize) -> bool {
        self.inverse_mass[i] == 0.0
    }

    /// Begins a fixed step of `substeps` substeps: remembers where the particles are, clears the
    /// accelerations, and sends every pinned particle on a straight way to its target.
    /// Pinned particles without a target stay where they are.
    pub fn begin_step(&mut self, pins: &[PinTarget], substeps: u32) {
        self.begin_step_shared(&mut Leader::alone(), None, pins, substeps);
    }

    /// [`begin_step`](Self::begin_step), shared with the leader's helpers. What is carried along is so
    /// after its last place was noted: pictures between the steps show it on its way.
    pub(crate) fn begin_step_shared(
        &mut self,
        leader: &mut Leader,
        carried: Option<&Carry>,
        pins: &[PinTarget],
        substeps: u32,
    ) {
        let places = self
            .previous
            .chunks_mut(PART)
            .zip(self.position.chunks(PART));
        let moving = self
            .acceleration
            .chunks_mut(PART)
            .zip(self.displacement.chunks_mut(PART));
        let parts = places.zip(moving).zip(self.inverse_mass.chunks(PART));
        leader.each(parts, |(((previous, position), (a, mut d)), w)| {
            for ((previous, position), a) in previous.into_iter().zip(position).zip(a) {
                previous.copy_from_slice(position);
                a.fill(0.0);
            }
            // Few are pinned. A stretch of memory where none is is passed by at once.
            for (group, masses) in w.chunks(64).enumerate() {
                let pinned: u32 = masses.iter().map(|&w| u32::from(w == 0.0)).sum();
                if pinned == 0 {
                    continue;
                }
                for (i, &w) in (64 * group..).zip(masses) {
                    if w == 0.0 {
                        d.iter_mut().for_each(|plane| plane[i] = 0.0);
                    }
                }
            }
        });
        if let Some(carry) = carried {
            carry.apply(self);
        }
        for pin in pins {
            let i = pin.particle as usize;
            if self.is_pinned(i) {
                let way = pin.position - self.position.get(i);
                self.displacement.set(i, way / substeps.max(1) as f32);
            }
        }
    }

    /// Ends a fixed step: puts pinned particles exactly on their targets, where adding up the
    /// substeps may have left them a rounding error away.
    pub fn end_step(&mut self, pins: &[PinTarget]) {
        for pin in pins {
            let i = pin.particle as usize;
            if self.is_pinned(i) {
                self.position.set(i, pin.position);
            }
        }
    }

    /// Adds a particle on the line between two others, at a share of the way from the first to the
    /// second; it moves as they do. It is pinned until it gets an inverse mass.
    pub(super) fn push_between(&mut self, parents: [u32; 2], share: f32) {
        let [a, b] = parents.map(|i| i as usize);
        for vectors in [
            &mut self.position,
            &mut self.displacement,
            &mut self.acceleration,
            &mut self.previous,
            &mut self.predicted,
        ] {
            for plane in [&mut vectors.x, &mut vectors.y, &mut vectors.z] {
                // Exact for a copy, whatever the share.
                let between = plane[a] + (plane[b] - plane[a]) * share;
                plane.push(between);
            }
        }
        self.inverse_mass.push(0.0);
    }

    /// Whether every array has one element per particle, and the last substep had a length: a state
    /// from a file may be anything.
    pub(crate) fn is_sound(&self) -> bool {
        let vectors = [
            &self.position,
            &self.displacement,
            &self.acceleration,
            &self.previous,
            &self.predicted,
        ];
        let planes = vectors.iter().flat_map(|v| [&v.x, &v.y, &v.z]);
        planes
            .chain([&self.inverse_mass])
            .all(|plane| plane.len() == self.len())
            && self.last_dt.is_finite()
            && self.last_dt > 0.0
    }

    /// Whether every number that the solver reads is finite.
    pub fn is_finite(&self) -> bool {
        self.is_finite_shared(&mut Leader::alone())
    }

    /// [`is_finite`](Self::is_finite), shared with the leader's helpers.
    pub(crate) fn is_finite_shared(&self, leader: &mut Leader) -> bool {
        let (x, d, a) = (&self.position, &self.displacement, &self.acceleration);
        let planes = [&x.x, &x.y, &x.z, &d.x, &d.y, &d.z, &a.x, &a.y, &a.z];
        let finite = AtomicBool::new(true);
        leader.each(planes.into_iter(), |plane| {
            if !all_finite(plane) {
                finite.store(false, Ordering::Relaxed);
            }
        });
        finite.into_inner() && all_finite(&self.inverse_mass)
    }

    /// A number that differs when any bit of any position or displacement does (FNV-1a, 64 bits):
    /// two runs with the same hash went the same way.
    pub fn state_hash(&self) -> u64 {
        let planes = [&self.position, &self.displacement].map(|v| [&v.x, &v.y, &v.z]);
        planes
            .iter()
            .flatten()
            .flat_map(|plane| plane.iter())
            .chain(&self.origin.to_array())
            .flat_map(|value| value.to_bits().to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
    }

    /// Goes back to where the particles were when the last good fixed step began, at rest.
    pub fn restore(&mut self) {
        self.position.copy_from(&self.previous);
        self.predicted.copy_from(&self.previous);
        self.displacement.fill(Vec3::ZERO);
        self.acceleration.fill(Vec3::ZERO);
    }

    /// Stands still where it is.
    pub fn stop(&mut self) {
        self.previous.copy_from(&self.position);
        self.restore();
        self.in_phase = true;
    }

    /// Puts the particles at `positions` relative to `origin`, at rest, as if just built.
    pub fn reset(&mut self, origin: Vec3, positions: &SoaVec3) {
        self.origin = origin;
        self.previous.copy_from(positions);
        self.restore();
        self.in_phase = true;
    }

    /// Moves the origin under the cloth if the cloth has gone far from it, so that positions stay
    /// small and exact. Returns whether it did.
    pub fn rebase(&mut self) -> bool {
        let Some((low, high)) = self.position.bounds() else {
            return false;
        };
        let centre = (low + high) * 0.5;
        let far = (high - low).max_element().max(REBASE_DISTANCE);
        if !centre.is_finite() || centre.abs().max_element() < far {
            return false;
        }
        // Whole metres: the shift itself is exact wherever the origin can still tell metres apart.
        let shift = centre.round();
        let moved = self.origin + shift;
        let shift = moved - self.origin;
        self.origin = moved;
        for positions in [&mut self.position, &mut self.previous, &mut self.predicted] {
            positions.add_all(-shift);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> ParticleArrays {
        ParticleArrays::new(
            Vec3::new(10.0, 0.0, 0.0),
            [Vec3::ZERO, Vec3::X].into_iter().collect(),
            vec![0.0, 2.0],
        )
    }

    #[test]
    fn bad_masses_become_pins() {
        let p = ParticleArrays::new(
            Vec3::ZERO,
            SoaVec3::zeros(5),
            vec![f32::NAN, -1.0, f32::INFINITY, 3.0],
        );
        assert_eq!(p.inverse_mass[..], [0.0, 0.0, 0.0, 3.0, 0.0]);
    }

    #[test]
    fn pins_reach_their_targets_in_equal_substeps() {
        let mut p = two();
        let pins = [
            PinTarget {
                particle: 0,
                position: Vec3::Y,
            },
            // Not pinned, so it must not be dragged along.
            PinTarget {
                particle: 1,
                position: Vec3::Y,
            },
        ];
        p.begin_step(&pins, 4);
        assert_eq!(p.displacement.get(0), Vec3::Y / 4.0);
        p.end_step(&pins);
        assert_eq!(p.position.get(0), Vec3::Y);
        assert_eq!(p.position.get(1), Vec3::X);
    }

    #[test]
    fn rebase_keeps_the_world_position() {
        let mut p = two();
        p.position.add_all(Vec3::new(100.0, -300.0, 0.0));
        let before = p.world_position(1);
        assert!(p.rebase());
        assert_eq!(p.world_position(1), before);
        assert!(p.position.get(1).length() < 2.0);
        assert!(!p.rebase(), "one rebase must be enough");
    }

    #[test]
    fn force_is_mass_times_acceleration() {
        let mut p = two();
        p.add_force(1, Vec3::Z);
        p.add_force(0, Vec3::Z);
        assert_eq!(p.acceleration.get(1), Vec3::Z * 2.0);
        assert_eq!(p.acceleration.get(0), Vec3::ZERO, "a pin feels no force");
    }
}
