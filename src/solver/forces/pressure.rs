//! Pressure of the air enclosed by a closed surface.
//!
//! The air follows Boyle's law (1662): at constant temperature, pressure times volume is constant. An amount
//! of air A = pV, J, in the volume V, with the ambient pressure p_a, has the overpressure p(V) = A/V − p_a.
//!
//! Air is stiff: one per cent less volume adds 1000 Pa. So a substep uses the pressure at its end, to first
//! order (as XPBD does, Macklin, Müller, Chentanez 2016, with the volume as the only constraint): with the
//! gradient ∇V of the volume with respect to particle positions, K = −dp/dV = A/V² and inverse masses w,
//! λ = Δt²·p/(1 + Δt²·K·Σw|∇V|²) and Δx = w·∇V·λ. The gradient at a particle is a third of the area vectors of
//! its triangles. These add up to zero for a closed surface, so momentum is conserved.

use crate::solver::{
    particles::ParticleArrays,
    triangles::corners::{BLOCK, Corners},
};
use bevy::math::{DVec3, Vec3};
use std::cell::RefCell;

/// Smallest volume that the pressure is computed for, as a fraction of the volume without overpressure. A surface
/// that is inside out has a negative volume.
const MIN_VOLUME_FRACTION: f32 = 0.05;

/// Largest displacement of a particle by the pressure in one substep, as a fraction of the edge of a cube with the
/// volume without overpressure. A surface that moves by more than its own size turns inside out, and its
/// pressure would then move it even farther.
const MAX_DISPLACEMENT: f32 = 0.1;

/// Air in a closed surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnclosedAir {
    /// A: absolute pressure times volume, J.
    pub amount: f32,
    /// p_a: ambient pressure, Pa; above 0.
    pub ambient: f32,
    /// Whether the triangles of the surface face inwards, which makes the computed volume negative.
    pub inside_out: bool,
}

impl EnclosedAir {
    /// Returns the overpressure, Pa, and −dp/dV, Pa/m³, at a volume, m³.
    pub fn pressure(&self, volume: f32) -> (f32, f32) {
        let volume = volume.max(MIN_VOLUME_FRACTION * self.amount / self.ambient);
        let absolute = self.amount / volume;
        (absolute - self.ambient, absolute / volume)
    }
}

/// Returns the volume inside a closed surface, m³; negative if its triangles face inwards. `position` returns the
/// position of a particle, m.
pub fn enclosed_volume(triangles: &Corners, position: impl Fn(u32) -> Vec3) -> f32 {
    let mut volume = 0.0;
    let origin = triangles
        .iter()
        .next()
        .map_or(Vec3::ZERO, |[a, ..]| position(a));
    for corners in triangles.iter() {
        let [a, b, c] = corners.map(|i| position(i) - origin);
        volume += f64::from(a.dot((b - a).cross(c - a)));
    }
    (volume / 6.0) as f32
}

/// Returns whether a surface is closed: each edge belongs to as many triangles of one orientation as of the other.
pub fn is_closed(triangles: &Corners) -> bool {
    let edges = triangles
        .iter()
        .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]]);
    let mut edges: Vec<([u32; 2], i32)> = edges
        .map(|[a, b]| if a < b { ([a, b], 1) } else { ([b, a], -1) })
        .collect();
    edges.sort_unstable();
    let sides = edges.chunk_by(|(a, _), (b, _)| a == b);
    let mut sides = sides.map(|along| {
        along
            .iter()
            .map(|(_, orientation)| orientation)
            .sum::<i32>()
    });
    !triangles.is_empty() && sides.all(|sum| sum == 0)
}

thread_local! {
    /// Scratch buffer for the gradient.
    static GRADIENT: RefCell<Vec<Vec3>> = const { RefCell::new(Vec::new()) };
}

/// Moves the particles of a closed surface by the pressure of its air in a substep of `dt` seconds. Without air,
/// no particle moves.
pub(crate) fn inflate(
    particles: &mut ParticleArrays,
    triangles: &Corners,
    air: &EnclosedAir,
    dt: f32,
) {
    if air.amount <= 0.0 {
        return;
    }
    GRADIENT.with_borrow_mut(|gradient| {
        gradient.clear();
        gradient.resize(particles.len(), Vec3::ZERO);
        let outward = if air.inside_out { -1.0 } else { 1.0 };
        let volume = outward * add_volume_gradient(particles, triangles, gradient);
        let (pressure, stiffness) = air.pressure(volume);
        let with_masses = || gradient.iter().zip(&particles.inverse_mass);
        let sum: f64 = with_masses()
            .map(|(g, &w)| f64::from(w * g.length_squared()))
            .sum();
        let denominator = 1.0 + dt * dt * stiffness * sum as f32;
        let lambda = outward * dt * dt * pressure / denominator;
        let farthest = with_masses().map(|(g, &w)| w * w * g.length_squared());
        let farthest = lambda.abs() * farthest.fold(0.0, f32::max).sqrt();
        let limit = MAX_DISPLACEMENT * (air.amount / air.ambient).cbrt();
        let lambda = lambda * (limit / farthest).min(1.0);
        for (i, g) in gradient.iter().enumerate() {
            let w = particles.inverse_mass[i];
            particles.position.add(i, *g * (w * lambda));
        }
    });
}

/// Returns the volume, m³, and adds its gradient, m².
fn add_volume_gradient(
    particles: &ParticleArrays,
    triangles: &Corners,
    gradient: &mut [Vec3],
) -> f32 {
    let mut buffer = [[0; 3]; BLOCK];
    let mut volume = 0.0_f64;
    let mut origin = None;
    for number in 0..triangles.blocks() {
        for &corners in triangles.block(number, &mut buffer) {
            let [a, b, c] = corners.map(|i| particles.position.get(i as usize));
            let vector = (b - a).cross(c - a) / 6.0;
            // Relative to a corner of the surface: far from the origin, the sum would cancel.
            let reference = *origin.get_or_insert(a);
            volume += DVec3::from(a - reference).dot(vector.into());
            for i in corners {
                gradient[i as usize] += vector;
            }
        }
    }
    volume as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{IntegrateSettings, SoaVec3, Workers, integrate, update_displacements};

    const CUBE: [[u32; 3]; 12] = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];

    fn cube(size: f32) -> ParticleArrays {
        let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let positions: SoaVec3 = (0..8).map(|i| corner(i) * size + 5.0).collect();
        ParticleArrays::new(
            Vec3::ZERO,
            positions,
            vec![10.0, 20.0, 5.0, 8.0, 10.0, 10.0, 7.0, 9.0],
        )
    }

    fn volume(particles: &ParticleArrays, triangles: &Corners) -> f32 {
        enclosed_volume(triangles, |i| particles.position.get(i as usize))
    }

    #[test]
    fn a_cube_has_its_volume_and_is_closed() {
        let triangles: Corners = CUBE.to_vec().into();
        let cube = cube(0.5);
        assert!((volume(&cube, &triangles) - 0.125).abs() < 1e-6);
        let inside_out = CUBE.map(|[a, b, c]| [a, c, b]).to_vec().into();
        assert!((volume(&cube, &inside_out) + 0.125).abs() < 1e-6);
        assert!(is_closed(&triangles));
        assert!(!is_closed(&CUBE[1..].to_vec().into()));
        let mut turned = CUBE;
        turned[3].swap(0, 1);
        assert!(!is_closed(&turned.to_vec().into()));
        assert!(!is_closed(&Corners::default()));
    }

    #[test]
    fn pressure_follows_the_law_of_boyle() {
        let air = EnclosedAir {
            amount: 202_000.0,
            ambient: 100_000.0,
            inside_out: false,
        };
        assert_eq!(air.pressure(2.0), (1000.0, 50_500.0));
        assert_eq!(air.pressure(1.0), (102_000.0, 202_000.0));
        assert!(air.pressure(0.0).0.is_finite() && air.pressure(-3.0).1.is_finite());
    }

    #[test]
    fn air_expands_until_it_has_ambient_pressure() {
        for inside_out in [false, true] {
            let triangles = if inside_out {
                CUBE.map(|[a, b, c]| [a, c, b])
            } else {
                CUBE
            };
            let triangles = triangles.to_vec().into();
            for dt in [0.01, 0.002] {
                let mut cube = cube(1.0);
                let air = EnclosedAir {
                    amount: 130.0,
                    ambient: 100.0,
                    inside_out,
                };
                let settings = IntegrateSettings {
                    gravity: Vec3::ZERO,
                    damping: 5.0,
                    dt,
                };
                let momentum = |p: &ParticleArrays| -> Vec3 {
                    (0..8).map(|i| p.velocity(i) / p.inverse_mass[i]).sum()
                };
                for _ in 0..(10.0 / dt) as u32 {
                    integrate(&mut Workers::serial(), &mut cube, &settings);
                    inflate(&mut cube, &triangles, &air, dt);
                    update_displacements(&mut cube);
                    assert!(momentum(&cube).length() < 1e-3, "{}", momentum(&cube));
                }
                let now = volume(&cube, &triangles).abs();
                assert!((now - 1.3).abs() < 0.002, "{now} m³");
            }
        }
    }

    #[test]
    fn a_surface_without_volume_stays_finite() {
        let mut flat = cube(1.0);
        flat.position.y.fill(0.0);
        let before = flat.clone();
        let triangles = CUBE.to_vec().into();
        let mut air = EnclosedAir {
            amount: 0.0,
            ambient: 1000.0,
            inside_out: false,
        };
        inflate(&mut flat, &triangles, &air, 0.01);
        assert_eq!(flat, before);
        air.amount = 1000.0;
        inflate(&mut flat, &triangles, &air, 0.01);
        assert!(flat.position.is_finite());
    }
}
