//! Baseline of the benches: the loop of the tutorials.

use bevy::math::Vec3;
use bevy_drape::solver::{Constraint, ConstraintGraph, ParticleArrays};

/// Cloth as in tutorials: an array of structs, constraints in the order of their creation, particle by particle.
pub(crate) struct Tutorial {
    particles: Vec<Particle>,
    sticks: Vec<Stick>,
}

/// Particle with all fields it has in tutorials, as they occupy memory.
#[derive(Clone, Copy)]
struct Particle {
    position: Vec3,
    #[expect(dead_code, reason = "occupies memory")]
    previous: Vec3,
    #[expect(dead_code, reason = "likewise")]
    acceleration: Vec3,
    inverse_mass: f32,
}

struct Stick {
    a: usize,
    b: usize,
    length: f32,
}

impl Tutorial {
    /// Copies particles, at rest, and constraints; replaces bend constraints with sticks from end to end.
    pub(crate) fn of(particles: &ParticleArrays, constraints: &ConstraintGraph) -> Self {
        let positions = &particles.position;
        let particles: Vec<_> = (0..particles.len())
            .map(|i| Particle {
                position: particles.position.get(i),
                previous: Vec3::ZERO,
                acceleration: Vec3::ZERO,
                inverse_mass: particles.inverse_mass[i],
            })
            .collect();
        let mut constraints: Vec<_> = constraints.iter().collect();
        constraints.sort_by_key(|c| (c.ends()[0], c.kind(), c.ends()[1]));
        let sticks = constraints.into_iter().map(|c| {
            let [a, b] = c.ends().map(|i| i as usize);
            let length = match c {
                Constraint::Bend(_) => positions.get(a).distance(positions.get(b)),
                Constraint::Distance(distance) => distance.rest_length,
            };
            Stick { a, b, length }
        });
        Self {
            particles,
            sticks: sticks.collect(),
        }
    }

    /// Jakobsen's relaxation, scalar: each stick moves its two ends until its length is correct.
    #[inline(never)]
    pub(crate) fn relax(&mut self, iterations: u32) {
        let particles = &mut self.particles;
        for _ in 0..iterations {
            for stick in &self.sticks {
                let (a, b) = (particles[stick.a], particles[stick.b]);
                let delta = b.position - a.position;
                let distance = delta.length();
                let mass = a.inverse_mass + b.inverse_mass;
                if distance == 0.0 || mass == 0.0 {
                    continue;
                }
                let correction = delta * ((distance - stick.length) / (distance * mass));
                particles[stick.a].position += correction * a.inverse_mass;
                particles[stick.b].position -= correction * b.inverse_mass;
            }
        }
        std::hint::black_box(particles);
    }
}
