//! Copies of the particles in near pairs, side by side for the time of a substep: passes over pairs access them out of order.

use super::surface_normals::SurfaceNormals;
use super::warm_start::WarmStart;
use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// Particle that is near another.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct ContactParticle {
    /// Position, m.
    pub(super) position: Vec3,
    /// Displacement in the substep, m.
    pub(super) displacement: Vec3,
    /// Displacement by contacts with colliders that is to be expected later in the substep, m.
    pub(super) reaction: Vec3,
    /// Normal of the surface; 0 where there is none.
    pub(super) normal: Vec3,
    /// Inverse mass, 1/kg.
    inverse_mass: f32,
    /// Index in the cloth.
    pub(super) index: u32,
}

/// Pair of near particles.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearPair {
    /// Indices in the list of near particles.
    particles: [u32; 2],
    /// Impulse with which the substep begins, as a change of the relative displacement, m.
    pub(super) impulse: Vec3,
    /// Direction in which the first one is pushed; `None` if they do not come near each other.
    pub(super) direction: Option<Vec3>,
}

/// Particles of the near pairs of a substep.
#[derive(Clone, Debug, Default)]
pub(super) struct ContactParticles {
    /// Index in `particles` of each particle of the cloth; [`NONE`] if it is not there.
    slots: Vec<u32>,
    pub(super) particles: Vec<ContactParticle>,
    /// Pairs in the order in which they are solved.
    pub(super) pairs: Vec<NearPair>,
}

const NONE: u32 = u32::MAX;

impl ContactParticles {
    /// Reserves memory for the contacts of a cloth with this number of particles that is draped. Crumples and stacks have more:
    /// for those, a step allocates.
    pub(super) fn reserve(&mut self, particles: usize) {
        self.slots.reserve(particles);
        self.pairs.reserve(particles / 2);
        self.particles.reserve(particles / 2);
    }

    /// Copies the particles of these pairs, unless both are pinned. Displacements must be up to date.
    pub(super) fn gather(
        &mut self,
        p: &ParticleArrays,
        pairs: &[[u32; 2]],
        normals: &SurfaceNormals,
        warm_start: &WarmStart,
        dt: f32,
    ) {
        let Self {
            slots,
            particles,
            pairs: near,
        } = self;
        particles.clear();
        near.clear();
        if pairs.is_empty() {
            return;
        }
        slots.clear();
        slots.resize(p.len(), NONE);
        near.extend(pairs.iter().filter_map(|&pair| {
            let [a, b] = pair.map(|i| i as usize);
            let is_free = p.inverse_mass[a] + p.inverse_mass[b] > 0.0;
            let slot = |i: u32| {
                let slot = &mut slots[i as usize];
                if *slot == NONE {
                    *slot = particles.len() as u32;
                    let at = i as usize;
                    particles.push(ContactParticle {
                        position: p.position.get(at),
                        displacement: p.displacement.get(at),
                        reaction: warm_start.reaction(at, dt),
                        normal: normals.get(at),
                        inverse_mass: p.inverse_mass[at],
                        index: i,
                    });
                }
                *slot
            };
            is_free.then(|| NearPair {
                particles: pair.map(slot),
                impulse: Vec3::ZERO,
                direction: None,
            })
        }));
    }

    /// Writes positions and displacements back.
    pub(super) fn scatter(&self, p: &mut ParticleArrays) {
        for particle in &self.particles {
            let i = particle.index as usize;
            p.position.set(i, particle.position);
            p.displacement.set(i, particle.displacement);
            // The rest of the change of positions is not to be added to the displacement as motion.
            p.predicted.set(i, particle.position);
        }
    }
}

impl NearPair {
    /// Returns the two particles.
    #[inline(always)]
    pub(super) fn of<'a>(&self, particles: &'a [ContactParticle]) -> [&'a ContactParticle; 2] {
        let [a, b] = self.particles;
        [&particles[a as usize], &particles[b as usize]]
    }

    /// Changes the relative position and displacement of the two, so that momentum is conserved.
    #[inline(always)]
    pub(super) fn shift(
        &self,
        particles: &mut [ContactParticle],
        position: Vec3,
        displacement: Vec3,
    ) {
        let [a, b] = self.of(particles).map(|particle| particle.inverse_mass);
        for (i, weight) in self.particles.into_iter().zip([a, -b]) {
            let particle = &mut particles[i as usize];
            let weight = weight / (a + b);
            particle.position += position * weight;
            particle.displacement += displacement * weight;
        }
    }
}
