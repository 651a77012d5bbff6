//! The force of the air on each triangle: drag and lift, relative to the wind.
//!
//! | file | what it holds |
//! |---|---|
//! | `woven` | triangles of sheets, row by row |
//! | `loose` | all others |

mod loose;
mod woven;

use super::{
    corners::BLOCK, crew::Leader, particles::ParticleArrays, simd::select, triangles::Triangles,
};
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
    apply_air_shared(&mut Leader::alone(), particles, triangles, air, dt);
}

/// [`apply_air`], shared with the leader's helpers.
pub(crate) fn apply_air_shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    air: &Air,
    dt: f32,
) {
    let pressure = 0.5 * air.density;
    if pressure * (air.drag + air.lift) == 0.0 {
        return;
    }
    let by = Catch {
        wind: air.wind,
        drag: air.drag,
        lift: air.lift,
        inverse_time: 1.0 / (3.0 * particles.last_dt),
        most: air.areal_density / (pressure * dt),
        gain: pressure * dt / air.areal_density,
        third: air.areal_density / (3.0 * dt),
    };
    let mut from = 0;
    for cells in triangles.woven() {
        loose::apply(
            leader,
            particles,
            triangles,
            from..cells.triangles.start,
            by,
        );
        woven::apply(leader, particles, cells, &triangles.rest_area, by);
        from = cells.triangles.end;
    }
    loose::apply(
        leader,
        particles,
        triangles,
        from..triangles.indices.len(),
        by,
    );
}

/// How triangles catch the air in one fixed step.
#[derive(Clone, Copy)]
struct Catch {
    wind: Vec3,
    drag: f32,
    lift: f32,
    /// Makes the mean velocity, m/s, of the sum of three displacements.
    inverse_time: f32,
    /// C_D·c that takes the whole velocity away in one step: mass over pressure, area and time.
    most: f32,
    /// What one step makes of C·u²: velocity, m/s. Its inverse.
    gain: f32,
    /// A third of the force that a change of velocity in one step takes, for each m², kg/(m²·s).
    third: f32,
}

impl Catch {
    /// How much one step changes the velocity of a triangle, m/s, from the sum of its corners'
    /// displacements and two of its sides.
    #[inline(always)]
    fn gained(&self, moved: Vec3, ab: Vec3, ac: Vec3) -> Vec3 {
        let u = moved * self.inverse_time - self.wind;
        let speed = u.length();
        let normal = ab.cross(ac);
        let length = normal.length();
        let catches = (speed > 0.0) & (length > 0.0);
        let normal = normal * (1.0 / length);
        // (u×n)×u = n|u|² − u(u·n); the sign of n cancels in c·n.
        let across = normal.dot(u);
        let full = self.drag * across.abs();
        let drag = u * select(full < self.most, full, self.most);
        let lift = (normal * speed - u * (across / speed)) * (self.lift * across);
        let gained = (drag + lift) * -self.gain;

        // What the triangle gains relative to the air may brake it, stop it or turn it aside, but
        // not make it any faster.
        let after = u + gained;
        let faster = after.length();
        let limited = after * (speed / faster) - u;
        Vec3::new(
            select(catches, select(faster > speed, limited.x, gained.x), 0.0),
            select(catches, select(faster > speed, limited.y, gained.y), 0.0),
            select(catches, select(faster > speed, limited.z, gained.z), 0.0),
        )
    }
}

/// What the corners of a block of triangles give: moved, ab, ac, each x, y and z.
type Rows = [[f32; BLOCK]; 9];

/// A third of the force on each triangle of a block.
#[inline(always)]
fn forces(by: Catch, rows: &Rows, area: &[f32], [fx, fy, fz]: &mut [[f32; BLOCK]; 3]) {
    let n = area.len().min(BLOCK);
    for k in 0..n {
        let row = |first: usize| Vec3::new(rows[first][k], rows[first + 1][k], rows[first + 2][k]);
        let force = by.gained(row(0), row(3), row(6)) * (area[k] * by.third);
        (fx[k], fy[k], fz[k]) = force.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{SheetLayout, SoaVec3, crew::threads, simd::levels::same_bits};

    fn triangle(tilt: f32) -> (ParticleArrays, Triangles) {
        let corners = [Vec3::ZERO, Vec3::X, Vec3::new(0.0, tilt.sin(), tilt.cos())];
        let p = ParticleArrays::new(Vec3::ZERO, SoaVec3::from_iter(corners), vec![15.0; 3]);
        let triangles = Triangles {
            indices: vec![[0, 1, 2]].into(),
            rest_area: vec![0.5],
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

    #[test]
    fn all_levels_give_the_same_bits() {
        // Triangles of any corners, some of them without area, and a tail at each level.
        let some = |k: u32, i: u32| (i * k % 97) as f32 * 0.02 - 1.0;
        let places: SoaVec3 = (0..60)
            .map(|i| Vec3::new(some(31, i), some(47, i), some(83, i)))
            .collect();
        let indices = (0..333).map(|i| [i * 7 % 60, i * 11 % 60, i * 13 % 60]);
        let triangles = Triangles::new(indices.collect::<Vec<_>>(), &places);
        assert!(triangles.rest_area.contains(&0.0));
        let bits = same_bits(|| {
            let w = (0..60).map(|i| (i % 4) as f32).collect();
            let mut p = ParticleArrays::new(Vec3::ZERO, places.clone(), w);
            for i in 0..60 {
                p.set_velocity(i as usize, Vec3::new(some(5, i), some(29, i), some(37, i)));
            }
            // From a breeze to a gale that one step could not follow.
            for speed in [0.1, 3.0, 1000.0] {
                let air = Air {
                    lift: 2.0,
                    ..air(Vec3::new(0.3, -1.0, 0.5) * speed)
                };
                apply_air(&mut p, &triangles, &air, 0.01);
            }
            p.acceleration.bits().collect()
        });
        assert!(bits.iter().all(|&bits| f32::from_bits(bits).is_finite()));
    }

    /// A crumpled sheet, its cells cut in all ways, and one loose triangle.
    fn sheet(columns: u32, rows: u32) -> (ParticleArrays, Triangles, SheetLayout) {
        let count = columns * rows;
        let places: SoaVec3 = (0..count + 1)
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
        let layout = SheetLayout {
            first: 0,
            columns,
            rows,
        };
        let triangles = Triangles::new(indices, &places);
        let w = (0..count + 1).map(|i| (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::ZERO, places, w);
        for i in 0..=count {
            let velocity = Vec3::new((i % 7) as f32, (i % 3) as f32, (i % 11) as f32);
            p.set_velocity(i as usize, velocity);
        }
        (p, triangles, layout)
    }

    #[test]
    fn what_is_woven_feels_the_same_wind() {
        for (columns, rows) in [(2, 2), (70, 9), (200, 90)] {
            let (p, triangles, layout) = sheet(columns, rows);
            let woven = triangles.clone().woven_into(&[layout]);
            assert_eq!(woven.woven().len(), 1);
            let air = Air {
                lift: 0.5,
                ..air(Vec3::new(3.0, -1.0, 0.5))
            };
            let accelerations = |triangles: &Triangles| {
                let mut p = p.clone();
                apply_air(&mut p, triangles, &air, 0.01);
                p.acceleration
            };
            let (expected, got) = (accelerations(&triangles), accelerations(&woven));
            for (i, (expected, got)) in expected.iter().zip(got.iter()).enumerate() {
                let error = (expected - got).length() / (1.0 + expected.length());
                assert!(
                    error < 1e-4,
                    "{columns} × {rows}, {i}: {got} for {expected}"
                );
            }
            let expected = same_bits(|| {
                let mut p = p.clone();
                apply_air(&mut p, &woven, &air, 0.01);
                p.acceleration.bits().collect()
            });
            for count in threads::COUNTS {
                let mut p = p.clone();
                threads::with(count, |leader| {
                    apply_air_shared(leader, &mut p, &woven, &air, 0.01);
                });
                assert!(p.acceleration.bits().eq(expected.iter().copied()));
            }
        }
    }

    #[test]
    fn what_has_been_changed_is_woven_no_more() {
        let (_, triangles, layout) = sheet(9, 7);
        let mut woven = triangles.woven_into(&[layout]);
        woven.indices.to_mut()[3] = [1, 2, 3];
        assert!(woven.woven().is_empty());
        let other = SheetLayout {
            columns: 7,
            rows: 9,
            ..layout
        };
        let (_, triangles, _) = sheet(9, 7);
        assert!(triangles.woven_into(&[other]).woven().is_empty());
    }
}
