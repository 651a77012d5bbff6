//! The force of the air on lines: ropes and threads.

use super::{aero::Air, particles::ParticleArrays};
use std::f32::consts::PI;

/// Round lines between particles, and what each of them is at rest.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct Lines {
    /// Particles at the ends of each segment, in the order in which the line goes through them.
    pub segments: Vec<[u32; 2]>,
    /// Length of each segment at rest, m. A stretched one must not catch more wind or weigh more.
    pub rest_length: Vec<f32>,
    /// Diameter of all, m.
    pub diameter: f32,
}

impl Lines {
    /// The area that belongs to each particle, m²: half of the skin of every segment at it, π·d·L
    /// for a whole one. So a line is a tube of its fabric and weighs π·d times its areal density
    /// per metre.
    pub fn particle_areas(&self, particles: usize) -> Vec<f32> {
        let mut areas = vec![0.0; particles];
        for (ends, length) in self.segments.iter().zip(&self.rest_length) {
            for &i in ends {
                areas[i as usize] += 0.5 * PI * self.diameter * length;
            }
        }
        areas
    }

    /// Cuts a line in two: what comes before particle `at` still ends there, what comes after it
    /// starts at `copy`, a new particle in the same place. Returns false, and changes nothing, if
    /// `at` is not between two segments.
    pub fn split(&mut self, at: u32, copy: u32) -> bool {
        let ends_here = self.segments.iter().any(|&[_, end]| end == at);
        let after = self.segments.iter_mut().find(|[start, _]| *start == at);
        match after {
            Some(segment) if ends_here => {
                segment[0] = copy;
                true
            }
            _ => false,
        }
    }
}

/// Adds the acceleration by the air to the particles of lines, for a fixed step of `dt` seconds.
///
/// By the cross-flow principle (Hoerner, Fluid-Dynamic Drag, 1965, chapter 3) only the part v of
/// the velocity relative to the air that is normal to the line counts: F = −½ρC_D·d·L·|v|·v, half of
/// it at each end. It is limited so that one step at most stops a segment. The lift coefficient
/// means nothing to a round line.
pub fn apply_line_drag(particles: &mut ParticleArrays, lines: &Lines, air: &Air, dt: f32) {
    let pressure = 0.5 * air.density;
    if pressure * air.drag == 0.0 {
        return;
    }
    // What takes the whole velocity away in one step: mass over pressure, area and time, where the
    // mass is that of the skin, π times what the wind sees of it.
    let most = air.areal_density * PI / (pressure * dt);
    for (&[a, b], &length) in lines.segments.iter().zip(&lines.rest_length) {
        let (a, b) = (a as usize, b as usize);
        let way = particles.position.get(b) - particles.position.get(a);
        let distance = way.length();
        // Without a direction nothing is normal to it.
        if !(distance > 0.0 && distance.is_finite()) {
            continue;
        }
        let along = way / distance;
        let moved = particles.displacement.get(a) + particles.displacement.get(b);
        let relative = moved / (2.0 * particles.last_dt) - air.wind;
        let across = relative - along * along.dot(relative);
        let strength = (air.drag * across.length()).min(most);
        let force = across * (-pressure * lines.diameter * length * strength);
        particles.add_force(a, force * 0.5);
        particles.add_force(b, force * 0.5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{Integration, SoaVec3, integrate, inverse_masses, update_displacements};
    use bevy::math::Vec3;

    const DIAMETER: f32 = 0.03;
    const DENSITY: f32 = 0.2;

    /// A straight line of 11 particles over 1 m in a direction.
    fn line(direction: Vec3) -> (ParticleArrays, Lines) {
        let places: SoaVec3 = (0..11).map(|i| direction * (0.1 * i as f32)).collect();
        let lines = Lines {
            segments: (0..10).map(|i| [i, i + 1]).collect(),
            rest_length: vec![0.1; 10],
            diameter: DIAMETER,
        };
        let areas = lines.particle_areas(11);
        let masses = inverse_masses(&areas, DENSITY).collect();
        (ParticleArrays::new(Vec3::ZERO, places, masses), lines)
    }

    fn air(wind: Vec3) -> Air {
        Air {
            wind,
            density: 1.2,
            drag: 1.1,
            lift: 0.0,
            areal_density: DENSITY,
        }
    }

    /// Where a line falls to in some seconds.
    fn fall(p: &mut ParticleArrays, lines: &Lines, air: &Air, seconds: f32) {
        let dt = 1.0 / 240.0;
        for _ in 0..(seconds / dt) as u32 {
            p.begin_step(&[], 1);
            apply_line_drag(p, lines, air, dt);
            let by = Integration {
                gravity: Vec3::NEG_Y * 9.81,
                damping: 0.0,
                dt,
            };
            integrate(p, &by);
            update_displacements(p);
        }
    }

    #[test]
    fn it_weighs_what_a_tube_of_the_fabric_does() {
        let (p, _) = line(Vec3::X);
        let mass: f32 = p.inverse_mass.iter().map(|w| 1.0 / w).sum();
        assert!((mass - DENSITY * PI * DIAMETER).abs() < 1e-6, "{mass} kg");
        assert!((p.inverse_mass[0] / p.inverse_mass[5] - 2.0).abs() < 1e-5);
    }

    #[test]
    fn a_cut_line_weighs_as_much_and_its_new_ends_have_half_a_segment() {
        let (_, mut lines) = line(Vec3::X);
        let whole = lines.particle_areas(11);
        assert!(lines.split(4, 11));
        assert_eq!(lines.segments[3..5], [[3, 4], [11, 5]]);
        let cut = lines.particle_areas(12);
        assert_eq!((cut[4], cut[11]), (whole[0], whole[0]));
        assert!((cut.iter().sum::<f32>() - whole.iter().sum::<f32>()).abs() < 1e-7);
        for at in [0, 4, 10, 11, 99] {
            assert!(!lines.split(at, 12), "{at}");
        }
    }

    #[test]
    fn terminal_velocity_of_a_line_that_falls_sideways() {
        let (mut p, lines) = line(Vec3::X);
        fall(&mut p, &lines, &air(Vec3::ZERO), 20.0);
        // √(2·m'·g/(ρ·C_D·d)) with m' = σ·π·d.
        let per_metre = DENSITY * PI * DIAMETER;
        let expected = (2.0 * per_metre * 9.81 / (1.2 * 1.1 * DIAMETER)).sqrt();
        for i in 0..11 {
            let speed = -p.velocity(i).y;
            assert!(
                (speed / expected - 1.0).abs() < 1e-3,
                "particle {i}: {speed} m/s, expected {expected} m/s"
            );
        }
    }

    #[test]
    fn a_line_that_falls_along_itself_feels_nothing() {
        let (mut p, lines) = line(Vec3::Y);
        fall(&mut p, &lines, &air(Vec3::ZERO), 2.0);
        for i in 0..11 {
            assert_eq!(p.acceleration.get(i), Vec3::ZERO);
        }
        assert!((p.velocity(3).y + 2.0 * 9.81).abs() < 0.1);
    }

    #[test]
    fn wind_pushes_across_a_slanted_line_only() {
        let direction = Vec3::new(0.6, 0.8, 0.0);
        let (mut p, lines) = line(direction);
        apply_line_drag(&mut p, &lines, &air(Vec3::X * 3.0), 1e-4);
        let force: Vec3 = (0..11)
            .map(|i| p.acceleration.get(i) / p.inverse_mass[i])
            .sum();
        assert!(force.dot(direction).abs() < 1e-5);
        // The normal part of the wind is 0.8·3 m/s: ½·1.2·1.1·0.03·1·2.4².
        let expected = 0.5 * 1.2 * 1.1 * DIAMETER * 2.4 * 2.4;
        assert!((force.length() - expected).abs() < 1e-5, "{force}");
    }

    #[test]
    fn a_gale_never_turns_the_line_around() {
        let (mut p, lines) = line(Vec3::X);
        apply_line_drag(&mut p, &lines, &air(Vec3::Y * 1000.0), 0.1);
        for i in 0..11 {
            let gained = p.acceleration.get(i).y * 0.1;
            assert!(gained > 0.0 && gained <= 1000.1, "{gained} m/s");
        }
    }

    #[test]
    fn particles_in_one_place_are_no_obstacle() {
        let (mut p, lines) = line(Vec3::ZERO);
        apply_line_drag(&mut p, &lines, &air(Vec3::Y * 3.0), 0.01);
        assert!(p.is_finite());
    }
}
