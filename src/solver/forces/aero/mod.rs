//! Aerodynamic drag and lift on each triangle, relative to the wind.
//!
//! | file | contents |
//! |---|---|
//! | `grid` | triangles of grids, row by row |
//! | `indexed` | all other triangles |

mod grid;
mod indexed;

use crate::solver::{
    parallel::workers::Workers,
    particles::ParticleArrays,
    simd::{select, select_vec3},
    triangles::{Triangles, corners::BLOCK},
};
use bevy::math::Vec3;

/// Air around a cloth, and aerodynamic coefficients of the fabric.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Adds the acceleration by air with a uniform wind to every particle, for a fixed step of `dt` seconds.
///
/// With u = v_triangle − wind, n the unit normal on the side with n·u ≥ 0, the rest area A and c = n·u/|u|:
/// drag F = −½ρC_D·A·c·|u|·u, lift F = −½ρC_L·A·c·((u×n)×u). Drag is limited so that one step at most stops the
/// triangle relative to the air, lift so that it never turns u through the plane of the triangle, and the sum of both so
/// that it never increases |u|.
pub(in crate::solver) fn apply_uniform_air(
    workers: &mut Workers,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    air: &Air,
    dt: f32,
) {
    let pressure = 0.5 * air.density;
    if pressure * (air.drag + air.lift) == 0.0 {
        return;
    }
    let coefficients = AirCoefficients {
        wind: air.wind,
        drag: air.drag,
        lift: air.lift,
        inverse_time: 1.0 / (3.0 * particles.last_dt),
        max_coefficient: air.areal_density / (pressure * dt),
        velocity_per_coefficient: pressure * dt / air.areal_density,
        force_per_velocity: air.areal_density / (3.0 * dt),
    };
    let area = &triangles.rest_area;
    let mut from = 0;
    for cells in triangles.in_grids() {
        let before = from..cells.triangles.start;
        indexed::apply(workers, particles, triangles, before, coefficients);
        grid::apply(workers, particles, cells, area, coefficients);
        from = cells.triangles.end;
    }
    let rest = from..triangles.indices.len();
    indexed::apply(workers, particles, triangles, rest, coefficients);
}

/// Coefficients of the aerodynamic forces for one fixed step.
#[derive(Clone, Copy)]
struct AirCoefficients {
    wind: Vec3,
    drag: f32,
    lift: f32,
    /// Mean velocity of three corners per sum of their displacements, 1/s.
    inverse_time: f32,
    /// C_D·n·u with which drag stops a triangle in one step, m/s: areal density / (½ρ·Δt).
    max_coefficient: f32,
    /// Velocity change in one step per C·(n·u)·u, s/m: the inverse of `max_coefficient`.
    velocity_per_coefficient: f32,
    /// A third of the force per area that changes the velocity by 1 m/s in one step, kg/(m²·s).
    force_per_velocity: f32,
}

impl AirCoefficients {
    /// Returns the velocity change of a triangle in one step, m/s. `displacement` is the sum over its corners;
    /// `ab` and `ac` are edge vectors, m.
    #[inline(always)]
    fn velocity_change(&self, displacement: Vec3, ab: Vec3, ac: Vec3) -> Vec3 {
        let u = displacement * self.inverse_time - self.wind;
        let speed = u.length();
        let normal = ab.cross(ac);
        let length = normal.length();
        let is_valid = (speed > 0.0) & (length > 0.0);
        let normal = normal * (1.0 / length);
        // (u×n)×u = n|u|² − u(u·n); the sign of n cancels in c·n.
        let across = normal.dot(u);
        let full = self.drag * across.abs();
        let drag_coefficient = select(full < self.max_coefficient, full, self.max_coefficient);
        // Lift turns the velocity towards the plane of the triangle, at most into it.
        let full = self.lift * speed;
        let rest = self.max_coefficient - drag_coefficient;
        let lift_coefficient = select(full < rest, self.lift, rest / speed);
        let drag = u * drag_coefficient;
        let lift = (normal * speed - u * (across / speed)) * (lift_coefficient * across);
        let change = (drag + lift) * -self.velocity_per_coefficient;

        // The change may brake, stop or deflect the triangle relative to the air, but not increase its speed.
        let after = u + change;
        let new_speed = after.length();
        let limited = after * (speed / new_speed) - u;
        let limited = select_vec3(new_speed > speed, limited, change);
        select_vec3(is_valid, limited, Vec3::ZERO)
    }
}

/// Inputs of a block of triangles: sum of displacements, ab, ac, each as x, y and z.
type CornerRows = [[f32; BLOCK]; 9];

/// Computes a third of the force on each triangle of a block.
#[inline(always)]
fn triangle_forces(
    coefficients: AirCoefficients,
    rows: &CornerRows,
    area: &[f32],
    [fx, fy, fz]: &mut [[f32; BLOCK]; 3],
) {
    let n = area.len().min(BLOCK);
    for k in 0..n {
        let row = |first: usize| Vec3::new(rows[first][k], rows[first + 1][k], rows[first + 2][k]);
        let force = coefficients.velocity_change(row(0), row(3), row(6))
            * (area[k] * coefficients.force_per_velocity);
        (fx[k], fy[k], fz[k]) = force.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{GridLayout, SoaVec3, parallel::workers::threads, simd::levels::same_bits};

    fn triangle(tilt: f32) -> (ParticleArrays, Triangles) {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, tilt.sin(), tilt.cos())];
        let p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter(corners), vec![15.0; 3]);
        let triangles = Triangles {
            indices: vec![[0, 1, 2]].into(),
            rest_area: vec![0.5].into(),
            ..Default::default()
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

    fn apply(p: &mut ParticleArrays, triangles: &Triangles, air: &Air, dt: f32) {
        apply_uniform_air(&mut Workers::serial(), p, triangles, air, dt);
    }

    fn total(p: &ParticleArrays) -> Vec3 {
        (0..3)
            .map(|i| p.acceleration.get(i) / p.inverse_mass[i])
            .sum()
    }

    #[test]
    fn drag_of_a_plate_across_the_wind() {
        let (mut p, triangles) = triangle(0.0);
        apply(&mut p, &triangles, &air(Vec3::Y * 3.0), 1e-4);
        // ½·1.2·1.28·0.5 m²·9 m²/s²
        assert!((total(&p) - Vec3::Y * 3.456).length() < 1e-4);
    }

    #[test]
    fn a_plate_along_the_wind_has_no_force() {
        let (mut p, triangles) = triangle(0.0);
        apply(&mut p, &triangles, &air(Vec3::X * 3.0), 1e-4);
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
        apply(&mut p, &triangles, &lifting, 1e-4);
        let force = total(&p);
        // The plate rises towards +z. Lift acts along the normal, without the component along the wind: towards
        // −y.
        let c = 0.5_f32.sin();
        let s = 0.5_f32.cos();
        let expected = 0.5 * 1.2 * 0.5 * 9.0 * c * s;
        assert!(force.z.abs() < 1e-4);
        assert!((force.y + expected).abs() < 1e-3, "{force}");
    }

    #[test]
    fn lift_never_increases_the_relative_speed() {
        for strong in [0.5, 10.0, 1000.0] {
            let (mut p, triangles) = triangle(0.7);
            let lifting = Air {
                drag: 0.1,
                lift: strong,
                ..air(Vec3::Z * 30.0)
            };
            for _ in 0..300 {
                p.acceleration.fill(Vec3::ZERO);
                apply(&mut p, &triangles, &lifting, 0.02);
                for i in 0..3 {
                    let velocity_change = p.acceleration.get(i) * 0.02;
                    p.set_velocity(i, p.velocity(i) + velocity_change);
                }
            }
            let relative = (p.velocity(0) - lifting.wind).length();
            assert!(relative <= 30.01, "lift {strong}: {relative} m/s");
        }
    }

    #[test]
    fn a_gale_never_reverses_the_relative_velocity() {
        let (mut p, triangles) = triangle(0.0);
        apply(&mut p, &triangles, &air(Vec3::Y * 1000.0), 0.1);
        let velocity_change = p.acceleration.get(0).y * 0.1;
        assert!(velocity_change <= 1000.0 * 1.001, "{velocity_change} m/s");
    }

    #[test]
    fn all_levels_give_the_same_bits() {
        // Triangles with arbitrary corners, some with zero area, and a remainder at each level.
        let component = |k: u32, i: u32| (i * k % 97) as f32 * 0.02 - 1.0;
        let positions: SoaVec3 = (0..60)
            .map(|i| Vec3::new(component(31, i), component(47, i), component(83, i)))
            .collect();
        let indices = (0..333).map(|i| [i * 7 % 60, i * 11 % 60, i * 13 % 60]);
        let triangles = Triangles::new(indices.collect::<Vec<_>>(), &positions);
        assert!(triangles.rest_area.contains(&0.0));
        let bits = same_bits(|| {
            let w = (0..60).map(|i| (i % 4) as f32).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, positions.clone(), w);
            for i in 0..60 {
                let velocity = Vec3::new(component(5, i), component(29, i), component(37, i));
                p.set_velocity(i as usize, velocity);
            }
            // From a breeze to a gale in which drag is limited.
            for speed in [0.1, 3.0, 1000.0] {
                let air = Air {
                    lift: 2.0,
                    ..air(Vec3::new(0.3, -1.0, 0.5) * speed)
                };
                apply(&mut p, &triangles, &air, 0.01);
            }
            p.acceleration.bits().collect()
        });
        assert!(bits.iter().all(|&bits| f32::from_bits(bits).is_finite()));
    }

    /// A crumpled grid, its cells cut along either diagonal in any order, and one triangle outside the grid.
    fn crumpled_grid(columns: u32, rows: u32) -> (ParticleArrays, Triangles, GridLayout) {
        let count = columns * rows;
        let positions: SoaVec3 = (0..count + 1)
            .map(|i| {
                Vec3::new(
                    (i % columns) as f32,
                    (i / columns) as f32,
                    (i * i % 13) as f32 * 0.1,
                )
            })
            .collect();
        let mut indices = Vec::new();
        for i in (0..count - columns).filter(|i| i % columns < columns - 1) {
            let (a, b, d, e) = (i, i + 1, i + columns, i + columns + 1);
            indices.extend(match i % 5 {
                0 => [[a, d, e], [a, e, b]],
                1 => [[e, b, a], [d, a, e]],
                2 => [[b, a, d], [e, d, b]],
                _ => [[d, e, b], [a, b, d]],
            });
        }
        indices.push([count - 3, count - 1, count]);
        let layout = GridLayout {
            first: 0,
            columns,
            rows,
        };
        let triangles = Triangles::new(indices, &positions);
        let w = (0..count + 1).map(|i| (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, positions, w);
        for i in 0..=count {
            let velocity = Vec3::new((i % 7) as f32, (i % 3) as f32, (i % 11) as f32);
            p.set_velocity(i as usize, velocity);
        }
        (p, triangles, layout)
    }

    #[test]
    fn grid_triangles_have_the_same_forces_as_indexed_ones() {
        for (columns, rows) in [(2, 2), (70, 9), (200, 90)] {
            let (p, triangles, layout) = crumpled_grid(columns, rows);
            let grid = triangles.clone().with_grids(&[layout]);
            assert_eq!(grid.in_grids().len(), 1);
            let air = Air {
                lift: 0.5,
                ..air(Vec3::new(3.0, -1.0, 0.5))
            };
            let accelerations = |triangles: &Triangles| {
                let mut p = p.clone();
                apply(&mut p, triangles, &air, 0.01);
                p.acceleration
            };
            let (expected, got) = (accelerations(&triangles), accelerations(&grid));
            for (i, (expected, got)) in expected.iter().zip(got.iter()).enumerate() {
                let error = (expected - got).length() / (1.0 + expected.length());
                assert!(
                    error < 1e-4,
                    "{columns} × {rows}, {i}: {got} for {expected}"
                );
            }
            let expected = same_bits(|| {
                let mut p = p.clone();
                apply(&mut p, &grid, &air, 0.01);
                p.acceleration.bits().collect()
            });
            for count in threads::COUNTS {
                let mut p = p.clone();
                threads::with(count, |workers| {
                    apply_uniform_air(workers, &mut p, &grid, &air, 0.01);
                });
                assert!(p.acceleration.bits().eq(expected.iter().copied()));
            }
        }
    }

    #[test]
    fn a_changed_grid_is_no_longer_treated_as_one() {
        let (_, triangles, layout) = crumpled_grid(9, 7);
        let mut grid = triangles.with_grids(&[layout]);
        grid.indices.to_mut()[3] = [1, 2, 3];
        assert!(grid.in_grids().is_empty());
        let other = GridLayout {
            columns: 7,
            rows: 9,
            ..layout
        };
        let (_, triangles, _) = crumpled_grid(9, 7);
        assert!(triangles.with_grids(&[other]).in_grids().is_empty());
    }
}
