//! Particles that a body presses hard: cloth that bears a heavy body.
//!
//! In contacts alone, cloth bears a body by how far constraints draw particles into it in each substep: Σ m·d/Δt.
//! Where particles are light that is far: they are drawn through the body. So those that it presses harder
//! take the body's mass on them while constraints are solved, each an equal share, and all that this adds
//! to their momentum the body gets.

use super::{Bodies, Push};
use crate::solver::particles::ParticleArrays;

/// A particle is pressed hard if contacts, or constraints against its share of a body, move it by more than
/// this in a substep, m.
pub(super) const HARD: f32 = 1e-3;

/// A particle that bears a part of a body in this step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pressed {
    particle: u32,
    body: usize,
    /// Its own, and with its share of the body, 1/kg.
    free: f32,
    laden: f32,
}

impl Bodies {
    /// Whether masses of particles are not their own.
    pub(crate) fn burden(&self) -> bool {
        !self.pressed.is_empty() || !self.held.is_empty()
    }

    /// Lays bodies on the particles that they pressed hard in the step before. Particles must have their own
    /// masses.
    pub(super) fn lade(&mut self, p: &mut ParticleArrays) {
        let Self {
            list,
            pressed,
            hard,
            ..
        } = self;
        pressed.clear();
        hard.sort_unstable();
        hard.dedup();
        for run in hard.chunk_by(|a, b| a.0 == b.0) {
            let Ok(body) = list.binary_search_by_key(&run[0].0, |body| body.id) else {
                continue;
            };
            let motion = &list[body].motion;
            if motion.asleep || !motion.yields() {
                continue;
            }
            let laden = motion.inverse_mass.element_sum() / 3.0 * run.len() as f32;
            for &(_, particle) in run {
                let free = p.inverse_mass.get(particle as usize).copied();
                // One that is pinned, or heavier than its share, bears it anyway.
                if let Some(free) = free.filter(|&free| laden > 0.0 && laden < free) {
                    pressed.push(Pressed {
                        particle,
                        body,
                        free,
                        laden,
                    });
                }
            }
        }
        hard.clear();
        self.burdens(p, true);
    }

    /// Gives bodies what their burden was moved by. After constraints, before contacts.
    pub(super) fn relieve(&mut self, p: &mut ParticleArrays, during: [u32; 2], dt: f32) {
        if self.pressed.is_empty() {
            return;
        }
        for (number, body) in self.list.iter_mut().enumerate() {
            let centre = body.motion.during(during)[1].translation - p.origin;
            let mut push = Push::default();
            for of in self.pressed.iter().filter(|of| of.body == number) {
                let i = of.particle as usize;
                let way = p.position.get(i) - p.predicted.get(i);
                let impulse = way * ((1.0 / of.laden - 1.0 / of.free) / dt);
                push.add(p.position.get(i) - centre, impulse);
                if way.length() * (of.free / of.laden) > HARD {
                    self.hard.push((body.id, of.particle));
                }
            }
            body.motion.give_now(push.ends(), dt);
        }
        self.burdens(p, false);
    }

    /// Lays their burden on particles, or takes it off.
    pub(super) fn burdens(&self, p: &mut ParticleArrays, on: bool) {
        for of in &self.pressed {
            let mass = if on { of.laden } else { of.free };
            p.inverse_mass[of.particle as usize] = mass;
        }
    }
}
