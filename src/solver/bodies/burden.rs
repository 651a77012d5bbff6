//! How closely a cloth must look after what it carries.
//!
//! A body is held by the particles that touch it: in each substep constraints pull them to where the
//! cloth is not stretched, and the contact gives the body what that takes. That is a spring of m/Δt², where m
//! is the mass of those particles, so that a body which is much heavier, or fast, stretches the cloth far
//! before it is stopped. The spring gets stiffer with the square of the number of substeps ("Small Steps in
//! Physics Simulation", Macklin et al. 2019). So a cloth that is stretched takes more of them for a while, and
//! so does one to which something heavy and fast comes: a spring that got stiffer when it is stretched already
//! would throw it back.

use super::RigidBody;
use crate::solver::particles::ParticleArrays;
use bevy::math::Vec3;

/// How far a body may stretch cloth, m, before that takes more substeps.
pub(super) const FREE: f32 = 0.002;

/// How far a body that comes may stretch it before it is stopped, m.
const FORESEEN: f32 = 0.01;

/// What share of a cloth a body touches, for want of knowledge.
const TOUCHED: f32 = 0.1;

/// At most so many times as many.
const MOST: u32 = 4;

/// Steps that were calm enough before it takes fewer again.
const PATIENCE: u32 = 30;

/// Who was near a cloth so many steps ago does not come, but comes back.
const MEMORY: u32 = PATIENCE * (MOST - 1);

/// What a cloth has to carry.
#[derive(Clone, Debug)]
pub(super) struct Burden {
    /// How far bodies stretched the cloth, summed up over the substeps of a step, m.
    stretched: f32,
    /// How many there were.
    substeps: u32,
    factor: u32,
    calm: u32,
    /// The bodies that were near lately, and for how many steps they will be remembered.
    near: Vec<(u64, u32)>,
}

impl Default for Burden {
    fn default() -> Self {
        Self {
            stretched: 0.0,
            substeps: 0,
            factor: 1,
            calm: 0,
            near: Vec::new(),
        }
    }
}

impl Burden {
    /// In a substep, of so many, bodies stretched the cloth by so much, m.
    pub(super) fn note(&mut self, stretched: f32, substeps: u32) {
        self.stretched += stretched;
        self.substeps = substeps;
    }

    /// The coming step has so many times as many substeps as usual.
    pub(super) fn take(&mut self, factor: u32) {
        self.factor = factor;
    }

    /// How many times as many substeps as usual the running step has.
    pub(super) fn factor(&self) -> u32 {
        self.factor
    }

    /// Before a step, whose substeps usually take so long, s: how many times as many of them the cloth is to
    /// take.
    pub(super) fn plan(&mut self, bodies: &[RigidBody], p: &ParticleArrays, substep: f32) -> u32 {
        let mean = self.stretched / self.substeps.max(1) as f32;
        (self.stretched, self.substeps) = (0.0, 0);
        let carries = self.factor as f32 * (mean / FREE).sqrt();
        // NaN asks for nothing.
        let wanted = carries.max(self.foresee(bodies, p, substep) / FORESEEN);
        let wanted = (wanted.ceil() as u32).clamp(1, MOST);
        if wanted >= self.factor {
            (self.factor, self.calm) = (wanted, 0);
        } else {
            self.calm += 1;
            if self.calm >= PATIENCE {
                (self.factor, self.calm) = (self.factor - 1, 0);
            }
        }
        self.factor
    }

    /// How far those that have come near would stretch the cloth, m, if it were taut: v √(M/m) Δt.
    fn foresee(&mut self, bodies: &[RigidBody], p: &ParticleArrays, substep: f32) -> f32 {
        self.near.retain_mut(|(_, steps)| {
            *steps = steps.saturating_sub(1);
            *steps > 0
        });
        let mut cloth = None;
        let mut farthest = 0.0_f32;
        for body in bodies {
            match self.near.iter_mut().find(|(id, _)| *id == body.id) {
                Some((_, steps)) => *steps = MEMORY,
                None => {
                    self.near.push((body.id, MEMORY));
                    let lightness = body.motion.inverse_mass.element_sum() / 3.0;
                    if body.motion.asleep || lightness <= 0.0 {
                        continue;
                    }
                    let (mass, velocity) = *cloth.get_or_insert_with(|| whole(p));
                    let speed = (body.motion.velocity - velocity).length();
                    if mass > 0.0 {
                        let ratio = (mass * TOUCHED * lightness).recip();
                        farthest = farthest.max(speed * ratio.sqrt() * substep);
                    }
                }
            }
        }
        farthest
    }
}

/// The mass of what of a cloth is free, kg, and its mean velocity, m/s.
fn whole(p: &ParticleArrays) -> (f32, Vec3) {
    let (mut mass, mut momentum) = (0.0, Vec3::ZERO);
    for (i, &w) in p.inverse_mass.iter().enumerate() {
        if w > 0.0 {
            mass += w.recip();
            momentum += p.velocity(i) / w;
        }
    }
    (mass, momentum / mass.max(f32::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(burden: &mut Burden) -> u32 {
        burden.plan(&[], &ParticleArrays::default(), 1.0 / 480.0)
    }

    /// What a spring needs that is stretched by so much at the usual number of substeps, m, in the end.
    fn settles_at(stretched: f32) -> u32 {
        let mut burden = Burden::default();
        for _ in 0..10 {
            let factor = plan(&mut burden);
            let substeps = 8 * factor;
            let now = stretched / (factor * factor) as f32;
            (0..substeps).for_each(|_| burden.note(now, substeps));
        }
        plan(&mut burden)
    }

    #[test]
    fn what_stretches_cloth_far_is_looked_after_closely() {
        let factors = [0.0, 0.001, 0.003, 0.01, 0.03, 1.0, f32::NAN].map(settles_at);
        assert_eq!(factors, [1, 1, 2, 3, 4, 4, 1]);
    }

    #[test]
    fn care_lasts_a_while() {
        let mut burden = Burden::default();
        burden.note(8.0, 8);
        assert_eq!(plan(&mut burden), MOST);
        let factors: Vec<u32> = (0..4 * PATIENCE).map(|_| plan(&mut burden)).collect();
        assert_eq!(factors[PATIENCE as usize - 2], MOST);
        assert_eq!(factors.last(), Some(&1));
    }
}
