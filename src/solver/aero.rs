//! The force of the air on each triangle: drag and lift, relative to the wind.

use super::{
    crew::Leader,
    particles::ParticleArrays,
    simd::{Kernel, SimdLevel, dispatch, select},
    soa::SoaVec3,
    triangles::Triangles,
};
use bevy::math::Vec3;
use std::cell::RefCell;

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
    // Alone, what a block of triangles asks for is given to its corners while it is in the cache.
    if leader.is_alone() || SimdLevel::current() == SimdLevel::Scalar {
        dispatch(ApplyAir {
            particles,
            triangles,
            by,
        });
    } else {
        FORCES.with_borrow_mut(|forces| shared(leader, particles, triangles, by, forces));
    }
}

/// Triangles whose forces are found while those of as many others are given to their corners.
const STRETCH: usize = 128 * BLOCK;

/// Triangles of a part.
const SHARE: usize = 16 * BLOCK;

/// Forces on triangles, a third of them.
type Forces = [Vec<f32>; 3];

thread_local! {
    /// Room for two stretches.
    static FORCES: RefCell<[Forces; 2]> = RefCell::default();
}

/// Triangles share corners, so the corners get their forces, x, y and z each by one thread, in the
/// order of the triangles; meanwhile others find the forces of the next stretch.
fn shared(
    leader: &mut Leader,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    by: Catch,
    forces: &mut [Forces; 2],
) {
    for plane in forces.as_flattened_mut() {
        plane.resize(STRETCH, 0.0);
    }
    let ParticleArrays {
        position,
        displacement,
        acceleration,
        inverse_mass,
        ..
    } = particles;
    let moving = Moving::of(position, displacement);
    let indices = triangles.indices.chunks(STRETCH);
    let stretches = indices.zip(triangles.rest_area.chunks(STRETCH));
    let [now, before] = forces;
    let mut given: &[[u32; 3]] = &[];
    // Once more than there are stretches, for the forces of the last one.
    for next in stretches.map(Some).chain([None]) {
        let (indices, area) = next.unwrap_or_default();
        let mut parts = [const { None }; 3 + STRETCH / SHARE];
        let [x, y, z] = now.each_mut().map(|plane| plane.chunks_mut(SHARE));
        let found = x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]);
        let found = indices.chunks(SHARE).zip(area.chunks(SHARE)).zip(found);
        let finding = found.map(|((corners, area), force)| Part::Find(corners, area, force));
        let SoaVec3 { x, y, z } = &mut *acceleration;
        let giving = [x, y, z].into_iter().zip(&*before);
        let giving = giving.map(|(plane, force)| Part::Give(plane, force));
        for (place, part) in parts.iter_mut().zip(giving.chain(finding)) {
            *place = Some(part);
        }
        leader.each(parts.into_iter(), |part| match part {
            Some(Part::Find(corners, area, force)) => dispatch(Find {
                moving,
                corners,
                area,
                by,
                force,
            }),
            Some(Part::Give(plane, force)) => give(plane, inverse_mass, given, force),
            None => {}
        });
        given = indices;
        std::mem::swap(now, before);
    }
}

/// What one thread does of the air.
enum Part<'a> {
    /// Finds the forces on these triangles.
    Find(&'a [[u32; 3]], &'a [f32], [&'a mut [f32]; 3]),
    /// Gives what was found before to the corners, along one axis.
    Give(&'a mut [f32], &'a [f32]),
}

/// Where all particles are, and by how much they have moved.
#[derive(Clone, Copy)]
struct Moving<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
}

impl<'a> Moving<'a> {
    #[inline(always)]
    fn of(x: &'a SoaVec3, d: &'a SoaVec3) -> Self {
        // All cut to the same length, which spares bounds checks.
        let n = x.len();
        Self {
            x: [&x.x[..n], &x.y[..n], &x.z[..n]],
            d: [&d.x[..n], &d.y[..n], &d.z[..n]],
        }
    }
}

/// Finds a third of the force on each of some triangles.
struct Find<'a> {
    moving: Moving<'a>,
    corners: &'a [[u32; 3]],
    area: &'a [f32],
    by: Catch,
    force: [&'a mut [f32]; 3],
}

impl Kernel for Find<'_> {
    #[inline(always)]
    fn run(self) {
        let Self {
            moving,
            corners,
            area,
            by,
            force: [x, y, z],
        } = self;
        let blocks = corners.chunks(BLOCK).zip(area.chunks(BLOCK));
        let to = (x.chunks_mut(BLOCK))
            .zip(y.chunks_mut(BLOCK))
            .zip(z.chunks_mut(BLOCK));
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        for ((corners, area), ((x, y), z)) in blocks.zip(to) {
            gather(moving, corners, &mut rows);
            forces(by, &rows, area, &mut force);
            let n = corners.len();
            x[..n].copy_from_slice(&force[0][..n]);
            y[..n].copy_from_slice(&force[1][..n]);
            z[..n].copy_from_slice(&force[2][..n]);
        }
    }

    /// At that level nothing is shared.
    fn run_scalar(self) {
        self.run();
    }
}

/// What the corners of a block give: moved, ab, ac.
#[inline(always)]
fn gather(moving: Moving, corners: &[[u32; 3]], rows: &mut [[f32; BLOCK]; 9]) {
    let ([x, y, z], [dx, dy, dz]) = (moving.x, moving.d);
    for (k, corners) in corners.iter().enumerate() {
        let [a, b, c] = corners.map(|i| i as usize);
        rows[0][k] = dx[a] + dx[b] + dx[c];
        rows[1][k] = dy[a] + dy[b] + dy[c];
        rows[2][k] = dz[a] + dz[b] + dz[c];
        rows[3][k] = x[b] - x[a];
        rows[4][k] = y[b] - y[a];
        rows[5][k] = z[b] - z[a];
        rows[6][k] = x[c] - x[a];
        rows[7][k] = y[c] - y[a];
        rows[8][k] = z[c] - z[a];
    }
}

/// Gives each triangle's force to its corners, along one axis.
#[inline(always)]
fn give(acceleration: &mut [f32], w: &[f32], corners: &[[u32; 3]], force: &[f32]) {
    let n = w.len();
    let acceleration = &mut acceleration[..n];
    for (corners, force) in corners.iter().zip(force) {
        for i in corners.map(|i| i as usize) {
            acceleration[i] += force * w[i];
        }
    }
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

struct ApplyAir<'a> {
    particles: &'a mut ParticleArrays,
    triangles: &'a Triangles,
    by: Catch,
}

/// Triangles that are worked on at once.
const BLOCK: usize = 64;

impl Kernel for ApplyAir<'_> {
    #[inline(always)]
    fn run(self) {
        let ParticleArrays {
            position,
            displacement,
            acceleration,
            inverse_mass,
            ..
        } = self.particles;
        let moving = Moving::of(position, displacement);
        let mut rows = [[0.0; BLOCK]; 9];
        let mut force = [[0.0; BLOCK]; 3];
        let blocks =
            (self.triangles.indices.chunks(BLOCK)).zip(self.triangles.rest_area.chunks(BLOCK));
        for (corners, area) in blocks {
            gather(moving, corners, &mut rows);
            forces(self.by, &rows, area, &mut force);
            give_all(acceleration, inverse_mass, corners, &force);
        }
    }

    fn run_scalar(self) {
        let triangles = self.triangles;
        for (corners, &area) in triangles.indices.iter().zip(&triangles.rest_area) {
            let corners = corners.map(|i| i as usize);
            let [a, b, c] = corners.map(|i| self.particles.position.get(i));
            let [da, db, dc] = corners.map(|i| self.particles.displacement.get(i));
            let force = self.by.gained(da + db + dc, b - a, c - a) * (area * self.by.third);
            for i in corners {
                self.particles.add_force(i, force);
            }
        }
    }
}

/// Gives each triangle's force to its corners.
#[inline(always)]
fn give_all(
    acceleration: &mut SoaVec3,
    w: &[f32],
    corners: &[[u32; 3]],
    force: &[[f32; BLOCK]; 3],
) {
    let n = w.len();
    let SoaVec3 { x, y, z } = acceleration;
    let (ax, ay, az) = (&mut x[..n], &mut y[..n], &mut z[..n]);
    for (k, corners) in corners.iter().enumerate() {
        for i in corners.map(|i| i as usize) {
            ax[i] += force[0][k] * w[i];
            ay[i] += force[1][k] * w[i];
            az[i] += force[2][k] * w[i];
        }
    }
}

/// A third of the force on each triangle of a block.
#[inline(always)]
fn forces(by: Catch, rows: &[[f32; BLOCK]; 9], area: &[f32], [fx, fy, fz]: &mut [[f32; BLOCK]; 3]) {
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
    use crate::solver::simd::levels::same_bits;

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

    #[test]
    fn all_levels_give_the_same_bits() {
        // Triangles of any corners, some of them without area, and a tail at each level.
        let some = |k: u32, i: u32| (i * k % 97) as f32 * 0.02 - 1.0;
        let places: SoaVec3 = (0..60)
            .map(|i| Vec3::new(some(31, i), some(47, i), some(83, i)))
            .collect();
        let indices = (0..333).map(|i| [i * 7 % 60, i * 11 % 60, i * 13 % 60]);
        let triangles = Triangles::new(indices.collect(), &places);
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
}
