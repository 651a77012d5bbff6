//! What everything is compared to: the loop of the tutorials.

use bevy::math::Vec3;
use bevy_drape::solver::{ConstraintGraph, ParticleArrays};

/// A cloth as tutorials have it: an array of structs, constraints in the order in which they are
/// made, particle by particle.
pub(crate) struct Tutorial {
    particles: Vec<Particle>,
    sticks: Vec<Stick>,
}

/// A particle with what else it has there, which takes its place in memory.
#[derive(Clone, Copy)]
struct Particle {
    position: Vec3,
    #[expect(dead_code, reason = "it takes its place in memory")]
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
    /// The same particles and constraints as ours; where ours resist bending it has sticks from end to end.
    /// The particles are at rest.
    pub(crate) fn of(particles: &ParticleArrays, constraints: &ConstraintGraph) -> Self {
        let places = &particles.position;
        let particles: Vec<_> = (0..particles.len())
            .map(|i| Particle {
                position: particles.position.get(i),
                previous: Vec3::ZERO,
                acceleration: Vec3::ZERO,
                inverse_mass: particles.inverse_mass[i],
            })
            .collect();
        let mut constraints: Vec<_> = constraints.iter().collect();
        constraints.sort_by_key(|c| (c.particles[0], c.kind, c.particles[1]));
        let sticks = constraints.into_iter().map(|c| {
            let [a, b] = c.particles.map(|i| i as usize);
            let length = match c.over {
                Some(_) => places.get(a).distance(places.get(b)),
                None => c.rest_length,
            };
            Stick { a, b, length }
        });
        Self {
            particles,
            sticks: sticks.collect(),
        }
    }

    /// Jakobsen's relaxation, scalar: every stick moves its two ends to where its length is right.
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
