//! The force of the air on each triangle: drag and lift, relative to the wind.

use super::{particles::ParticleArrays, triangles::Triangles};
use bevy::math::Vec3;

/// The air around a cloth, and how the fabric catches it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Air {
    /// Velocity of the air, m/s.
    pub wind: Vec3,
    /// Density of the air, kg/m³.
    pub density: f32,
    /// Drag coefficient C_D of the fabric.
    pub drag: f32,
    /// Lift coefficient C_L of the fabric.
    pub lift: f32,
    /// Areal density of the fabric, kg/m².
    pub areal_density: f32,
}

/// Adds the acceleration by the air to every particle, for a fixed step of `dt` seconds.
///
/// With u = v_triangle − wind, n the unit normal on the side with n·u ≥ 0 and c = n·u/|u|:
/// drag F = −½ρC_D·A·c·|u|·u, lift F = −½ρC_L·A·c·((u×n)×u). Drag is limited so that one step at
/// most stops the triangle relative to the air, and both together so that they never make it faster.
pub fn apply_air(particles: &mut ParticleArrays, triangles: &Triangles, air: &Air, dt: f32) {
    let pressure = 0.5 * air.density;
    if pressure * (air.drag + air.lift) == 0.0 {
        return;
    }
    for (&corners, &area) in triangles.indices.iter().zip(&triangles.rest_area) {
        let [a, b, c] = corners.map(|i| i as usize);
        let velocity = (particles.displacement.get(a)
            + particles.displacement.get(b)
            + particles.displacement.get(c))
            / (3.0 * particles.last_dt);
        let u = velocity - air.wind;
        let speed = u.length();
        let at_a = particles.position.get(a);
        let normal = (particles.position.get(b) - at_a).cross(particles.position.get(c) - at_a);
        let length = normal.length();
        if !(speed > 0.0 && length > 0.0) {
            continue;
        }
        let normal = normal / length;
        // (u×n)×u = n|u|² − u(u·n); the sign of n cancels in c·n.
        let across = normal.dot(u);
        // Drag takes at most the whole velocity away in one step.
        let most = air.areal_density / (pressure * dt);
        let drag = u * (air.drag * across.abs()).min(most);
        let lift = (normal * speed - u * (across / speed)) * (air.lift * across);
        let force = (drag + lift) * (-pressure * area);

        // What the triangle gains relative to the air may brake it, stop it or turn it aside, but
        // not make it any faster.
        let mass = air.areal_density * area;
        let gained = force * (dt / mass);
        let after = u + gained;
        let force = if after.length() > speed {
            (after * (speed / after.length()) - u) * (mass / dt)
        } else {
            force
        };
        for i in [a, b, c] {
            particles.add_force(i, force / 3.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::SoaVec3;

    fn triangle(tilt: f32) -> (ParticleArrays, Triangles) {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, tilt.sin(), tilt.cos())];
        let p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter(corners), vec![15.0; 3]);
        let triangles = Triangles {
            indices: vec![[0, 1, 2]],
            rest_area: vec![0.5],
        };
        (p, triangles)
    }

    fn air(wind: Vec3) -> Air {
        Air {
            wind,
            density: 1.2,
            drag: 1.28,
            lift: 0.0,
            areal_density: 0.4,
        }
    }

    fn total(p: &ParticleArrays) -> Vec3 {
        (0..3)
            .map(|i| p.acceleration.get(i) / p.inverse_mass[i])
            .sum()
    }

    #[test]
    fn drag_of_a_plate_across_the_wind() {
        let (mut p, triangles) = triangle(0.0);
        apply_air(&mut p, &triangles, &air(Vec3::Y * 3.0), 1e-4);
        // ½·1.2·1.28·0.5 m²·9 m²/s²
        assert!((total(&p) - Vec3::Y * 3.456).length() < 1e-4);
    }

    #[test]
    fn a_plate_along_the_wind_feels_nothing() {
        let (mut p, triangles) = triangle(0.0);
        apply_air(&mut p, &triangles, &air(Vec3::X * 3.0), 1e-4);
        assert_eq!(total(&p), Vec3::ZERO);
    }

    #[test]
    fn lift_is_across_the_wind_and_on_the_lee_side() {
        let (mut p, triangles) = triangle(0.5);
        let lifting = Air {
            drag: 0.0,
            lift: 1.0,
            ..air(Vec3::Z * 3.0)
        };
        apply_air(&mut p, &triangles, &lifting, 1e-4);
        let force = total(&p);
        // The plate rises towards +z; the wind hits it from below and behind and pushes it up … −y
        // or +y is settled by its normal: along n, without the part along the wind.
        let c = 0.5_f32.sin();
        let s = 0.5_f32.cos();
        let expected = 0.5 * 1.2 * 0.5 * 9.0 * c * s;
        assert!(force.z.abs() < 1e-4);
        assert!((force.y + expected).abs() < 1e-3, "{force}");
    }

    #[test]
    fn lift_alone_never_makes_it_faster() {
        for strong in [0.5, 10.0, 1000.0] {
            let (mut p, triangles) = triangle(0.7);
            let lifting = Air {
                drag: 0.1,
                lift: strong,
                ..air(Vec3::Z * 30.0)
            };
            for _ in 0..300 {
                p.acceleration.fill(Vec3::ZERO);
                apply_air(&mut p, &triangles, &lifting, 0.02);
                for i in 0..3 {
                    let gained = p.acceleration.get(i) * 0.02;
                    p.set_velocity(i, p.velocity(i) + gained);
                }
            }
            let relative = (p.velocity(0) - lifting.wind).length();
            assert!(relative <= 30.01, "lift {strong}: {relative} m/s");
        }
    }

    #[test]
    fn a_gale_never_turns_the_triangle_around() {
        let (mut p, triangles) = triangle(0.0);
        apply_air(&mut p, &triangles, &air(Vec3::Y * 1000.0), 0.1);
        let gained = p.acceleration.get(0).y * 0.1;
        assert!(gained <= 1000.0 * 1.001, "{gained} m/s");
    }
}
