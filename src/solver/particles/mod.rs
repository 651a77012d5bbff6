//! State of a cloth: position, displacement of the last substep and inverse mass of every particle, as arrays.
//!
//! Two choices keep `f32` exact enough for small substeps. Positions are relative to an `origin` near the cloth.
//! And the displacement of a substep is stored as its own value instead of being recomputed from two positions,
//! where it would be lost in the rounding of the larger numbers: a fall of 10 s at Δt = 0.01 s ends at 501.27 m
//! with two positions, and at 500.50 m with the displacement, as with exact arithmetic.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | [`ParticleArrays`], [`PinTarget`] |
//! | `checks` | whether all numbers are usable, and the hash of a state |
//! | `inertia` | moves a cloth with a fraction of the motion of its reference frame |
//! | `rigid_motion` | best-fit rigid motion of a cloth |
//! | `symmetry` | offsets that let flat cloth buckle |

mod checks;
pub mod inertia;
pub(in crate::solver) mod rigid_motion;
pub(in crate::solver) mod symmetry;

use crate::solver::{
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::inertia::FrameMotion,
    simd::{aligned::AlignedVec, soa::SoaVec3},
};
use bevy::math::Vec3;
pub(crate) use checks::is_within_reach;

/// Substep length of a cloth before its first step, s; only has to be positive.
const NOMINAL_DT: f32 = 1.0 / 480.0;

/// Distance of the centre of a cloth from its origin, m, beyond which the origin is moved, unless the cloth is
/// wider than that distance. At 2 m, positions are still exact to a tenth of a micrometre.
const REBASE_DISTANCE: f32 = 2.0;

/// Target of a pinned particle at the end of the fixed step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct PinTarget {
    /// Index of the particle.
    pub particle: u32,
    /// Target position relative to [`ParticleArrays::origin`], m.
    pub position: Vec3,
}

/// Additional substeps that self-collision has required and that are kept for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct KeptSubsteps {
    /// Factor on the number of substeps.
    pub(super) factor: u32,
    /// Time for which it is still kept, s.
    pub(super) time: f32,
    /// Largest factor that was required since it was last required itself.
    pub(super) required_since: u32,
}

/// All particles of one cloth. Every array has one element per particle.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct ParticleArrays {
    /// Position relative to [`origin`](Self::origin), in world axes, m.
    pub position: SoaVec3,
    /// Displacement during the last substep, m. A pinned particle moves by it in every substep; for all others it
    /// is the velocity times the length of a substep.
    pub displacement: SoaVec3,
    /// Acceleration by all forces but gravity (wind, a user's own forces), m/s². Cleared when a fixed step begins
    /// and constant during its substeps.
    pub acceleration: SoaVec3,
    /// Inverse mass, 1/kg; 0 pins the particle (infinite mass).
    pub inverse_mass: AlignedVec,
    /// Position when the fixed step began, m. Rendering interpolates from it to [`position`](Self::position), and
    /// a cloth that becomes non-finite is restored to it.
    pub previous: SoaVec3,
    /// World position of the origin of all positions, m.
    pub origin: Vec3,
    /// Position that the displacement accounts for, m: that after integration, then that of the last update of the
    /// displacement. The difference to the current position is added to the displacement at the next update. Contacts
    /// that must not change the velocity set it to the corrected position.
    pub(super) predicted: SoaVec3,
    /// Normal of the contact with a collider in the last substep; zero without contact, and shorter than 1 if the particle
    /// does not touch the collider, but nearly. Those of contacts with other cloth are not included.
    pub(crate) contact_normal: SoaVec3,
    /// Whether any `contact_normal` may differ from zero.
    pub(crate) in_contact: bool,
    /// Whether an edge may cross a triangle of this or of another cloth with self-collision. Where none does, none will, except
    /// where something else moves particles.
    #[cfg_attr(feature = "serialize", serde(default = "unknown_crossings"))]
    pub(crate) is_tangled: bool,
    /// Whether any particle touched another one of this or of another cloth in the last step, or nearly.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(super) touches_cloth: bool,
    /// Greatest way in the last step of two particles of this or of another cloth that touched, or nearly, towards or away from
    /// each other: that in a part of the step, times the number of parts, m.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(super) way_in_folds: f32,
    /// Number of such pairs in all substeps of the last step together, per particle.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(crate) contacts: f32,
    /// Whether most of the cloth was tangled in the last step, or too much of it to be filtered. Contacts then take turns, and it
    /// may pass through itself.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(crate) is_tangled_everywhere: bool,
    /// Additional substeps that self-collision has required lately.
    #[cfg_attr(feature = "serialize", serde(default))]
    pub(super) kept_substeps: KeptSubsteps,
    /// Length of the last substep, s.
    pub(crate) last_dt: f32,
    /// Whether position and velocity belong to the same instant, as before the first substep. After it, the velocity
    /// of Verlet integration is half a substep behind.
    pub(super) in_phase: bool,
}

/// Returns [`ParticleArrays::is_tangled`] of particles that were saved without it.
#[cfg(feature = "serialize")]
fn unknown_crossings() -> bool {
    true
}

/// Calls `visit` with the index of each pinned particle, from the inverse masses of all.
pub(super) fn for_each_pinned(inverse_mass: &[f32], mut visit: impl FnMut(usize)) {
    // Few particles are pinned, so groups without a pin are skipped as a whole.
    for (group, masses) in inverse_mass.chunks(64).enumerate() {
        let pinned: u32 = masses.iter().map(|&w| u32::from(w == 0.0)).sum();
        if pinned == 0 {
            continue;
        }
        for (i, &w) in (64 * group..).zip(masses) {
            if w == 0.0 {
                visit(i);
            }
        }
    }
}

impl ParticleArrays {
    /// Returns particles with velocity 0. `positions` are relative to `origin`, m; `inverse_mass` in 1/kg.
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
            contact_normal: SoaVec3::zeros(n),
            in_contact: false,
            is_tangled: true,
            touches_cloth: false,
            way_in_folds: 0.0,
            kept_substeps: KeptSubsteps::default(),
            contacts: 0.0,
            is_tangled_everywhere: false,
            inverse_mass: inverse_mass.into(),
            origin,
            last_dt: NOMINAL_DT,
            in_phase: true,
        }
    }

    /// Returns the number of particles.
    pub fn len(&self) -> usize {
        self.position.len()
    }

    /// Returns whether there are no particles.
    pub fn is_empty(&self) -> bool {
        self.position.is_empty()
    }

    /// Returns the world position of a particle, m.
    pub fn world_position(&self, i: usize) -> Vec3 {
        self.origin + self.position.get(i)
    }

    /// Sets the world position of a particle, m. Between integration and collision of a substep the move also changes the
    /// velocity; at any other time the velocity stays.
    pub fn set_world_position(&mut self, i: usize, world: Vec3) {
        self.position.set(i, world - self.origin);
    }

    /// Returns the velocity of a particle, m/s: its displacement divided by the length of the last substep.
    pub fn velocity(&self, i: usize) -> Vec3 {
        self.displacement.get(i) / self.last_dt
    }

    /// Sets the velocity of a particle, m/s.
    pub fn set_velocity(&mut self, i: usize, velocity: Vec3) {
        self.displacement.set(i, velocity * self.last_dt);
    }

    /// Adds a force, N, to a particle for the remaining substeps of this fixed step.
    pub fn add_force(&mut self, i: usize, force: Vec3) {
        self.acceleration.add(i, force * self.inverse_mass[i]);
    }

    /// Returns whether a particle is pinned.
    pub fn is_pinned(&self, i: usize) -> bool {
        self.inverse_mass[i] == 0.0
    }

    /// Begins a fixed step of `substeps` substeps: saves the positions, clears the accelerations, moves all particles
    /// rigidly by `frame_motion`, and sets the displacement of every pinned particle to a straight line to its target.
    /// Pinned particles without a target do not move in the substeps.
    pub fn begin_step(
        &mut self,
        workers: &mut Workers,
        frame_motion: Option<&FrameMotion>,
        pins: &[PinTarget],
        substeps: u32,
    ) {
        self.touches_cloth = false;
        self.way_in_folds = 0.0;
        self.contacts = 0.0;
        self.is_tangled_everywhere = false;
        let positions = self
            .previous
            .chunks_mut(PARTICLES_PER_PART)
            .zip(self.position.chunks(PARTICLES_PER_PART));
        let moving = self
            .acceleration
            .chunks_mut(PARTICLES_PER_PART)
            .zip(self.displacement.chunks_mut(PARTICLES_PER_PART));
        let parts = positions
            .zip(moving)
            .zip(self.inverse_mass.chunks(PARTICLES_PER_PART));
        workers.for_each_part(parts, |(((previous, position), (a, mut d)), w)| {
            for ((previous, position), a) in previous.into_iter().zip(position).zip(a) {
                previous.copy_from_slice(position);
                a.fill(0.0);
            }
            for_each_pinned(w, |i| d.iter_mut().for_each(|plane| plane[i] = 0.0));
        });
        if let Some(frame_motion) = frame_motion {
            frame_motion.apply(self);
        }
        for pin in pins {
            let i = pin.particle as usize;
            if self.is_pinned(i) {
                let path = pin.position - self.position.get(i);
                self.displacement.set(i, path / substeps.max(1) as f32);
            }
        }
    }

    /// Sets pinned particles exactly to their targets at the end of a fixed step, which removes the rounding error of the
    /// substeps.
    pub fn place_pins(&mut self, pins: &[PinTarget]) {
        for pin in pins {
            let i = pin.particle as usize;
            if self.is_pinned(i) {
                self.position.set(i, pin.position);
            }
        }
    }

    /// Returns an upper bound on the way of particles in a substep of `substep` seconds, m, less the motion that cloth shares
    /// with its pins.
    pub(in crate::solver) fn free_way(&self, substep: f32) -> f32 {
        let (back, forth) = self.displacement.bounds().unwrap_or_default();
        // Free cloth may hit something that does not move, pinned cloth moves with its pins.
        let is_free = self.inverse_mass.iter().all(|&w| w != 0.0);
        let common = match is_free {
            true => Vec3::ZERO,
            false => self.displacement.iter().sum::<Vec3>() / self.len().max(1) as f32,
        };
        let way = (forth - common).abs().max((back - common).abs()).length();
        way * substep / self.last_dt
    }

    /// Adds a particle that interpolates two others, from the first (`fraction` 0) to the second (1), with their
    /// interpolated motion. It is pinned until it gets an inverse mass.
    pub(super) fn push_between(&mut self, parents: [u32; 2], fraction: f32) {
        let [a, b] = parents.map(|i| i as usize);
        for vectors in [
            &mut self.position,
            &mut self.displacement,
            &mut self.acceleration,
            &mut self.previous,
            &mut self.predicted,
            &mut self.contact_normal,
        ] {
            for plane in vectors.planes_mut() {
                // Exact for a copy (a = b), whatever the fraction.
                let between = plane[a] + (plane[b] - plane[a]) * fraction;
                plane.push(between);
            }
        }
        self.inverse_mass.push(0.0);
    }

    /// Writes the positions at the beginning of the substep, m. Call after everything else that moves particles,
    /// before displacements are updated.
    pub(in crate::solver) fn copy_substep_start(&self, start: &mut SoaVec3) {
        let planes = start.planes_mut().into_iter().zip(self.predicted.planes());
        for ((start, predicted), displacement) in planes.zip(self.displacement.planes()) {
            start.clear();
            start.extend(predicted.iter().zip(displacement).map(|(x, d)| x - d));
        }
    }

    /// Restores the positions at the start of the last fixed step, with velocity 0.
    pub fn restore(&mut self) {
        self.position.copy_from(&self.previous);
        self.predicted.copy_from(&self.previous);
        for vectors in [
            &mut self.displacement,
            &mut self.acceleration,
            &mut self.contact_normal,
        ] {
            vectors.fill(Vec3::ZERO);
        }
        self.in_contact = false;
        self.in_phase = true;
    }

    /// Sets the velocity to 0 and keeps the positions.
    pub fn stop(&mut self) {
        self.previous.copy_from(&self.position);
        self.restore();
    }

    /// Sets the particles to `positions` relative to `origin`, m, with velocity 0, as if newly built.
    pub fn reset(&mut self, origin: Vec3, positions: &SoaVec3) {
        self.origin = origin;
        self.previous.copy_from(positions);
        self.restore();
        (self.way_in_folds, self.contacts) = (0.0, 0.0);
        self.is_tangled_everywhere = false;
        self.kept_substeps = KeptSubsteps::default();
    }

    /// Moves the origin to the cloth if the cloth is far from it, so that positions stay small and exact. World
    /// positions do not change. The origin stays within 16 777 km of the world's origin. Returns whether it was moved.
    pub(crate) fn rebase(&mut self) -> bool {
        let Some((low, high)) = self.position.bounds() else {
            return false;
        };
        let centre = (low + high) * 0.5;
        let far = (high - low).max_element().max(REBASE_DISTANCE);
        if !centre.is_finite() || centre.abs().max_element() < far {
            return false;
        }
        // Whole metres: the shift is exact as long as the origin resolves metres.
        let shift = centre.round();
        let moved = self.origin + shift;
        if !is_within_reach(moved) {
            return false;
        }
        let shift = moved - self.origin;
        self.origin = moved;
        for positions in [&mut self.position, &mut self.previous, &mut self.predicted] {
            positions.add_all(-shift);
        }
        true
    }
}

#[cfg(test)]
mod tests;
