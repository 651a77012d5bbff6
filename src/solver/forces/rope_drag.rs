//! Aerodynamic drag on ropes, per segment.

use crate::solver::{forces::aero::Air, particles::ParticleArrays};
use std::f32::consts::PI;

/// Round segments between consecutive particles of ropes, with their rest lengths.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serialize", derive(serde::Serialize, serde::Deserialize))]
pub struct RopeSegments {
    /// Particles at the ends of each segment, in order along the rope.
    pub ends: Vec<[u32; 2]>,
    /// Rest length of each segment, m. A stretched segment must neither catch more wind nor weigh more.
    pub rest_length: Vec<f32>,
    /// Diameter of all segments, m.
    pub diameter: f32,
}

impl RopeSegments {
    /// Returns the area of each particle, m²: half of the lateral surface π·d·L of every segment that ends
    /// there. A rope is thus a tube of its fabric, and weighs π·d times the areal density per metre.
    pub(crate) fn particle_areas(&self, particles: usize) -> Vec<f32> {
        let mut areas = vec![0.0; particles];
        for (ends, length) in self.ends.iter().zip(&self.rest_length) {
            for &i in ends {
                areas[i as usize] += 0.5 * PI * self.diameter * length;
            }
        }
        areas
    }

    /// Cuts a rope in two: the segment before particle `at` still ends there, and the segment after it starts
    /// at `copy`, a new particle at the same position. Returns false, and changes nothing, if `at` does not lie
    /// between two segments.
    pub fn split(&mut self, at: u32, copy: u32) -> bool {
        let ends_here = self.ends.iter().any(|&[_, end]| end == at);
        let after = self.ends.iter_mut().find(|[start, _]| *start == at);
        match after {
            Some(segment) if ends_here => {
                segment[0] = copy;
                true
            }
            _ => false,
        }
    }
}

/// Adds the acceleration by the air to the particles of ropes, for a fixed step of `dt` seconds.
///
/// By the cross-flow principle (Hoerner, Fluid-Dynamic Drag, 1965, chapter 3), only the component v of the
/// relative velocity normal to the segment counts: F = −½ρC_D·d·L·|v|·v, half of it at each end. F is limited
/// so that one step at most stops a segment. A round cross-section has no lift.
pub(crate) fn apply_rope_drag(
    particles: &mut ParticleArrays,
    segments: &RopeSegments,
    air: &Air,
    dt: f32,
) {
    let pressure = 0.5 * air.density;
    if pressure * air.drag == 0.0 {
        return;
    }
    // C_D·|v| that would stop a segment in one step: mass / (½ρ · frontal area · Δt). The mass is that of the
    // lateral surface, π times the frontal area.
    let max_coefficient = air.areal_density * PI / (pressure * dt);
    for (&[a, b], &length) in segments.ends.iter().zip(&segments.rest_length) {
        let (a, b) = (a as usize, b as usize);
        let edge = particles.position.get(b) - particles.position.get(a);
        let distance = edge.length();
        // A degenerate segment has no direction, hence no normal component.
        if !(distance > 0.0 && distance.is_finite()) {
            continue;
        }
        let along = edge / distance;
        let displacement = particles.displacement.get(a) + particles.displacement.get(b);
        let relative = displacement / (2.0 * particles.last_dt) - air.wind;
        let across = relative - along * along.dot(relative);
        let coefficient = (air.drag * across.length()).min(max_coefficient);
        let force = across * (-pressure * segments.diameter * length * coefficient);
        particles.add_force(a, force * 0.5);
        particles.add_force(b, force * 0.5);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        IntegrateSettings, SoaVec3, Workers, integrate, inverse_masses, update_displacements,
    };
    use bevy::math::Vec3;

    const DIAMETER: f32 = 0.03;
    const DENSITY: f32 = 0.2;

    /// A straight rope of 11 particles over 1 m in a direction.
    fn rope(direction: Vec3) -> (ParticleArrays, RopeSegments) {
        let positions: SoaVec3 = (0..11).map(|i| direction * (0.1 * i as f32)).collect();
        let segments = RopeSegments {
            ends: (0..10).map(|i| [i, i + 1]).collect(),
            rest_length: vec![0.1; 10],
            diameter: DIAMETER,
        };
        let areas = segments.particle_areas(11);
        let masses = inverse_masses(&areas, DENSITY).collect();
        (ParticleArrays::new(Vec3::ZERO, positions, masses), segments)
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

    /// Lets a rope fall for some seconds.
    fn fall(p: &mut ParticleArrays, segments: &RopeSegments, air: &Air, seconds: f32) {
        let dt = 1.0 / 240.0;
        for _ in 0..(seconds / dt) as u32 {
            p.begin_step(&mut Workers::serial(), None, &[], 1);
            apply_rope_drag(p, segments, air, dt);
            let settings = IntegrateSettings {
                gravity: Vec3::NEG_Y * 9.81,
                damping: 0.0,
                dt,
            };
            integrate(&mut Workers::serial(), p, &settings);
            update_displacements(p);
        }
    }

    #[test]
    fn a_rope_weighs_as_much_as_a_tube_of_its_fabric() {
        let (p, _) = rope(Vec3::X);
        let mass: f32 = p.inverse_mass.iter().map(|w| 1.0 / w).sum();
        assert!((mass - DENSITY * PI * DIAMETER).abs() < 1e-6, "{mass} kg");
        assert!((p.inverse_mass[0] / p.inverse_mass[5] - 2.0).abs() < 1e-5);
    }

    #[test]
    fn a_cut_keeps_the_mass_and_gives_the_new_ends_half_a_segment() {
        let (_, mut segments) = rope(Vec3::X);
        let whole = segments.particle_areas(11);
        assert!(segments.split(4, 11));
        assert_eq!(segments.ends[3..5], [[3, 4], [11, 5]]);
        let cut = segments.particle_areas(12);
        assert_eq!((cut[4], cut[11]), (whole[0], whole[0]));
        assert!((cut.iter().sum::<f32>() - whole.iter().sum::<f32>()).abs() < 1e-7);
        for at in [0, 4, 10, 11, 99] {
            assert!(!segments.split(at, 12), "{at}");
        }
    }

    #[test]
    fn terminal_velocity_of_a_rope_that_falls_sideways() {
        let (mut p, segments) = rope(Vec3::X);
        fall(&mut p, &segments, &air(Vec3::ZERO), 20.0);
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
    fn a_rope_that_falls_along_its_axis_has_no_drag() {
        let (mut p, segments) = rope(Vec3::Y);
        fall(&mut p, &segments, &air(Vec3::ZERO), 2.0);
        for i in 0..11 {
            assert_eq!(p.acceleration.get(i), Vec3::ZERO);
        }
        assert!((p.velocity(3).y + 2.0 * 9.81).abs() < 0.1);
    }

    #[test]
    fn wind_pushes_only_across_a_slanted_rope() {
        let direction = Vec3::new(0.6, 0.8, 0.0);
        let (mut p, segments) = rope(direction);
        apply_rope_drag(&mut p, &segments, &air(Vec3::X * 3.0), 1e-4);
        let force: Vec3 = (0..11)
            .map(|i| p.acceleration.get(i) / p.inverse_mass[i])
            .sum();
        assert!(force.dot(direction).abs() < 1e-5);
        // The normal component of the wind is 0.8·3 m/s: ½·1.2·1.1·0.03·1·2.4².
        let expected = 0.5 * 1.2 * 1.1 * DIAMETER * 2.4 * 2.4;
        assert!((force.length() - expected).abs() < 1e-5, "{force}");
    }

    #[test]
    fn a_gale_never_reverses_the_relative_velocity() {
        let (mut p, segments) = rope(Vec3::X);
        apply_rope_drag(&mut p, &segments, &air(Vec3::Y * 1000.0), 0.1);
        for i in 0..11 {
            let gained = p.acceleration.get(i).y * 0.1;
            assert!(gained > 0.0 && gained <= 1000.1, "{gained} m/s");
        }
    }

    #[test]
    fn segments_of_zero_length_stay_finite() {
        let (mut p, segments) = rope(Vec3::ZERO);
        apply_rope_drag(&mut p, &segments, &air(Vec3::Y * 3.0), 0.01);
        assert!(p.is_finite());
    }
}
