//! Wind that differs at each particle: wind zones, turbulence and occlusion on top of the uniform wind.
//!
//! The force on a triangle or a segment depends only on its velocity relative to the air, the mean over its
//! corners. So while the air is applied, displacements are relative to the local air, d − w·Δt₋; no other code
//! has to know about local wind.

use crate::solver::{
    forces::{
        aero::{Air, apply_uniform_air},
        occlusion::{Occluder, Occlusion},
        rope_drag::{RopeSegments, apply_rope_drag},
        turbulence::{Eddies, NoiseLattice},
        zones::{LocalZone, Zone},
    },
    parallel::workers::{PARTICLES_PER_PART, Workers},
    particles::ParticleArrays,
    simd::{Kernel, dispatch, soa::SoaVec3},
    triangles::{Triangles, corners::BLOCK},
};
use bevy::math::Vec3;
use std::{cell::RefCell, mem::swap};

/// Local wind, added to the uniform wind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindField<'a> {
    /// Wind zones; their winds are added.
    pub zones: &'a [Zone],
    /// Turbulence.
    pub eddies: Option<Eddies>,
    /// Occlusion of all wind by colliders, the uniform wind included.
    pub occlusion: Option<Occlusion<'a>>,
}

impl WindField<'_> {
    /// Returns the local wind at a world position, m/s, without occlusion.
    pub fn wind(&self, position: Vec3) -> Vec3 {
        let zones = self
            .zones
            .iter()
            .map(|zone| zone.wind(position))
            .sum::<Vec3>();
        zones
            + self
                .eddies
                .map_or(Vec3::ZERO, |eddies| eddies.wind(position))
    }

    /// Returns the velocity of the air at a world position, m/s: `uniform_wind` plus local wind, with occlusion.
    pub fn total(&self, position: Vec3, uniform_wind: Vec3) -> Vec3 {
        let wind = uniform_wind + self.wind(position);
        match &self.occlusion {
            Some(occlusion) => occlusion.wind(position, wind),
            None => wind,
        }
    }

    fn eddies(&self) -> Option<&Eddies> {
        self.eddies.as_ref().filter(|eddies| eddies.is_active())
    }

    fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.eddies().is_none() && self.occlusion.is_none()
    }
}

/// Adds the acceleration by the air to every particle, with the wind of `air` plus the wind of a field:
/// drag and lift on triangles and, if there are rope segments, `apply_rope_drag`. The wind at a triangle or a
/// segment is the mean of the wind at its corners. With an empty field, the results have the same bits as
/// without a field.
pub fn apply_air(
    workers: &mut Workers,
    field: &WindField,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    segments: Option<&RopeSegments>,
    air: &Air,
    dt: f32,
) {
    with_relative_displacements(workers, field, particles, air, |workers, particles| {
        apply_uniform_air(workers, particles, triangles, air, dt);
        if let Some(segments) = segments {
            apply_rope_drag(particles, segments, air, dt);
        }
    });
}

thread_local! {
    /// Scratch buffers for displacements relative to the air, and for occluders.
    static RELATIVE: RefCell<(SoaVec3, Vec<Occluder>)> = RefCell::default();
}

/// Calls `apply` with particles whose displacements are relative to the local wind, and restores them afterwards.
fn with_relative_displacements(
    workers: &mut Workers,
    field: &WindField,
    particles: &mut ParticleArrays,
    air: &Air,
    apply: impl FnOnce(&mut Workers, &mut ParticleArrays),
) {
    if air.density == 0.0 || field.is_empty() {
        return apply(workers, particles);
    }
    let Some(bounds) = particles.position.bounds().map(Into::into) else {
        return;
    };
    let origin = particles.origin;
    let reaches = |zone: &Zone| LocalZone::new(zone, origin).reaches(bounds);
    let blows = field.eddies().is_some() || field.zones.iter().any(reaches);
    RELATIVE.with_borrow_mut(|(relative, occluders)| {
        occluders.clear();
        if let Some(occlusion) = &field.occlusion
            && (blows || air.wind != Vec3::ZERO)
        {
            occluders.extend(occlusion.occluders(origin, bounds.map(Into::into)));
        }
        if !blows && occluders.is_empty() {
            return apply(workers, particles);
        }
        let n = particles.len();
        for plane in [&mut relative.x, &mut relative.y, &mut relative.z] {
            plane.resize(n, 0.0);
        }
        let inputs = particles.position.chunks(PARTICLES_PER_PART);
        let inputs = inputs.zip(particles.displacement.chunks(PARTICLES_PER_PART));
        let parts = inputs.zip(relative.chunks_mut(PARTICLES_PER_PART));
        let eddies = field
            .eddies()
            .map(|eddies| NoiseLattice::new(eddies, origin));
        let last_dt = particles.last_dt;
        workers.for_each_part(parts, |((x, d), mut to)| {
            dispatch(SubtractWind {
                x,
                d,
                to: to.each_mut().map(|plane| &mut **plane),
                zones: field.zones,
                origin,
                bounds,
                eddies,
                time: -last_dt,
            });
            if let Some(occlusion) = field.occlusion.filter(|_| !occluders.is_empty()) {
                apply_occlusion(&occlusion, occluders, [x, d], to, air.wind, last_dt);
            }
        });
        swap(&mut particles.displacement, relative);
        apply(workers, particles);
        swap(&mut particles.displacement, relative);
    });
}

/// Reduces the wind in relative displacements `to` to the exposed fraction. The wind includes `uniform_wind`,
/// which is not subtracted from `to` yet.
fn apply_occlusion(
    occlusion: &Occlusion,
    occluders: &[Occluder],
    [x, d]: [[&[f32]; 3]; 2],
    to: [&mut [f32]; 3],
    uniform_wind: Vec3,
    last_dt: f32,
) {
    for i in 0..to[0].len() {
        let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[i]));
        let relative = Vec3::new(to[0][i], to[1][i], to[2][i]);
        let wind_displacement = get(d) - relative + uniform_wind * last_dt;
        let exposure = occlusion.exposure(occluders, get(x), wind_displacement);
        if exposure < 1.0 {
            let blocked = wind_displacement * (1.0 - exposure);
            (to[0][i], to[1][i], to[2][i]) = (relative + blocked).into();
        }
    }
}

/// Kernel that makes the displacements of one part relative to the local wind.
struct SubtractWind<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    to: [&'a mut [f32]; 3],
    zones: &'a [Zone],
    origin: Vec3,
    /// Bounds of all particles relative to the origin.
    bounds: [Vec3; 2],
    eddies: Option<NoiseLattice>,
    /// Displacement to add per wind velocity, −Δt₋, s.
    time: f32,
}

impl SubtractWind<'_> {
    /// Returns the zones that may have wind at the cloth.
    #[inline(always)]
    fn zones_in_reach(&self) -> impl Iterator<Item = LocalZone> + use<'_> {
        let zones = self.zones.iter();
        let zones = zones.map(|zone| LocalZone::new(zone, self.origin));
        zones.filter(|zone| zone.reaches(self.bounds))
    }
}

impl Kernel for SubtractWind<'_> {
    #[inline(always)]
    fn run(mut self) {
        let (x, d, time, eddies) = (self.x, self.d, self.time, self.eddies);
        let [to_x, to_y, to_z] = std::mem::take(&mut self.to);
        for (to, d) in [&mut *to_x, &mut *to_y, &mut *to_z].into_iter().zip(d) {
            to.copy_from_slice(d);
        }
        let n = to_x.len();
        let [x, y, z] = x.map(|plane| &plane[..n]);
        for zone in self.zones_in_reach() {
            let (to_x, to_y, to_z) = (&mut to_x[..n], &mut to_y[..n], &mut to_z[..n]);
            for k in 0..n {
                let wind = zone.wind(Vec3::new(x[k], y[k], z[k]));
                to_x[k] += wind.x * time;
                to_y[k] += wind.y * time;
                to_z[k] += wind.z * time;
            }
        }
        if let Some(eddies) = eddies {
            for start in (0..n).step_by(BLOCK) {
                let block = start..(start + BLOCK).min(n);
                let positions = [x, y, z].map(|plane| &plane[block.clone()]);
                let to = [
                    &mut to_x[block.clone()],
                    &mut to_y[block.clone()],
                    &mut to_z[block],
                ];
                eddies.add(positions, to, time);
            }
        }
    }

    #[cfg(test)]
    fn run_reference(mut self) {
        let to = std::mem::take(&mut self.to);
        for k in 0..self.x[0].len() {
            let at = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[k]));
            let (position, mut relative) = (at(self.x), at(self.d));
            for zone in self.zones_in_reach() {
                relative += zone.wind(position) * self.time;
            }
            if let Some(eddies) = self.eddies {
                relative += eddies.wind(position) * self.time;
            }
            (to[0][k], to[1][k], to[2][k]) = relative.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        Falloff, Pose, ZoneFlow, ZoneShape, parallel::workers::threads, simd::levels::same_bits,
    };
    use bevy::math::Quat;

    fn zone(shape: ZoneShape, flow: ZoneFlow, falloff: Falloff, at: Vec3) -> Zone {
        Zone {
            shape,
            flow,
            falloff,
            strength: 6.0,
            core: 0.1,
            pose: Pose {
                rotation: Quat::from_xyzw(0.1, -0.5, 0.3, 0.8).normalize(),
                translation: at,
            },
        }
    }

    /// Zones of each shape, flow and falloff, some over the cloth and some beside it.
    fn zones() -> Vec<Zone> {
        let shapes = [
            ZoneShape::Everywhere,
            ZoneShape::Sphere { radius: 3.0 },
            ZoneShape::Cuboid {
                half_size: Vec3::new(5.0, 2.0, 9.0),
            },
        ];
        let flows = [ZoneFlow::Forward, ZoneFlow::Radial, ZoneFlow::Vortex];
        let falloffs = [Falloff::None, Falloff::Linear, Falloff::Smooth];
        let mut zones = Vec::new();
        for (i, shape) in shapes.into_iter().enumerate() {
            for (k, flow) in flows.into_iter().enumerate() {
                let at = Vec3::new(40.0 * i as f32, 5.0, 20.0 * k as f32);
                zones.push(zone(shape, flow, falloffs[(i + k) % 3], at));
            }
        }
        zones
    }

    const EDDIES: Eddies = Eddies {
        strength: 3.0,
        size: 4.5,
        period: 0.4,
        seed: 1,
        seconds: 12.34,
    };

    /// A cloth of several parts, far from the world's origin, with triangles outside grids.
    fn cloth() -> (ParticleArrays, Triangles) {
        let (columns, count) = (100, 9900_u32);
        let positions: SoaVec3 = (0..count)
            .map(|i| {
                let (c, r) = (i % columns, i / columns);
                Vec3::new(c as f32, (i * i % 13) as f32 * 0.1, r as f32 - 30.0)
            })
            .collect();
        let corners = (0..count - columns).filter(|i| i % columns + 1 < columns);
        let indices: Vec<_> = corners.map(|i| [i, i + 1, i + columns]).collect();
        let triangles = Triangles::new(indices, &positions);
        let w = (0..count).map(|i| (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::new(0.0, 4.0, 30.0), positions, w);
        for i in 0..count {
            let velocity = Vec3::new((i % 7) as f32, (i % 3) as f32, (i % 11) as f32);
            p.set_velocity(i as usize, velocity);
        }
        (p, triangles)
    }

    fn air(wind: Vec3) -> Air {
        Air {
            wind,
            density: 1.2,
            drag: 1.1,
            lift: 0.4,
            areal_density: 0.2,
        }
    }

    #[test]
    fn all_levels_and_threads_give_the_same_bits() {
        let (cloth, triangles) = cloth();
        let zones = zones();
        let field = WindField {
            zones: &zones,
            eddies: Some(EDDIES),
            occlusion: None,
        };
        let air = air(Vec3::X);
        let expected = same_bits(|| {
            let mut p = cloth.clone();
            apply_air(
                &mut Workers::serial(),
                &field,
                &mut p,
                &triangles,
                None,
                &air,
                0.01,
            );
            assert!(p.displacement.bits().eq(cloth.displacement.bits()));
            p.acceleration.bits().collect()
        });
        assert!(
            expected
                .iter()
                .all(|&bits| f32::from_bits(bits).is_finite())
        );
        for count in threads::COUNTS {
            let mut p = cloth.clone();
            threads::with(count, |workers| {
                apply_air(workers, &field, &mut p, &triangles, None, &air, 0.01);
            });
            assert!(p.acceleration.bits().eq(expected.iter().copied()));
        }
    }

    #[test]
    fn a_uniform_field_equals_uniform_wind() {
        let (cloth, triangles) = cloth();
        let uniform = [zone(
            ZoneShape::Everywhere,
            ZoneFlow::Forward,
            Falloff::Smooth,
            Vec3::ZERO,
        )];
        let field = WindField {
            zones: &uniform,
            eddies: None,
            occlusion: None,
        };
        let (mut expected, mut got) = (cloth.clone(), cloth);
        let wind = Vec3::new(1.0, 2.0, -3.0);
        let both = air(wind + field.wind(Vec3::splat(7.0)));
        apply_uniform_air(
            &mut Workers::serial(),
            &mut expected,
            &triangles,
            &both,
            0.01,
        );
        apply_air(
            &mut Workers::serial(),
            &field,
            &mut got,
            &triangles,
            None,
            &air(wind),
            0.01,
        );
        for (expected, got) in expected.acceleration.iter().zip(got.acceleration.iter()) {
            let error = (expected - got).length() / (1.0 + expected.length());
            assert!(error < 1e-4, "{got} for {expected}");
        }
    }

    #[test]
    fn the_wind_at_a_triangle_is_the_mean_of_its_corners() {
        let zones = zones();
        let field = WindField {
            zones: &zones,
            eddies: Some(EDDIES),
            occlusion: None,
        };
        let corners = [Vec3::ZERO, Vec3::X * 2.0, Vec3::new(0.3, 0.4, 2.0)];
        let origin = Vec3::new(1.0, 4.5, -1.0);
        let positions: SoaVec3 = corners.into_iter().collect();
        let triangles = Triangles::new(vec![[0, 1, 2]], &positions);
        let p = ParticleArrays::new(origin, positions, vec![1.0; 3]);
        let mean = corners
            .map(|at| field.wind(origin + at))
            .iter()
            .sum::<Vec3>()
            / 3.0;
        assert!(mean.length() > 1.0);
        let (mut expected, mut got) = (p.clone(), p);
        apply_uniform_air(
            &mut Workers::serial(),
            &mut expected,
            &triangles,
            &air(mean),
            0.01,
        );
        apply_air(
            &mut Workers::serial(),
            &field,
            &mut got,
            &triangles,
            None,
            &air(Vec3::ZERO),
            0.01,
        );
        let (expected, got) = (expected.acceleration.get(0), got.acceleration.get(0));
        let error = (expected - got).length() / expected.length();
        assert!(error < 1e-3, "{got} for {expected}");
    }

    #[test]
    fn zones_that_do_not_reach_the_cloth_change_no_bit() {
        let (cloth, triangles) = cloth();
        let ball = ZoneShape::Sphere { radius: 2.0 };
        let above = Vec3::new(50.0, 9.0, 30.0);
        let far = [zone(ball, ZoneFlow::Radial, Falloff::None, above)];
        let still = Eddies {
            strength: 0.0,
            ..EDDIES
        };
        let (mut expected, mut got) = (cloth.clone(), cloth);
        apply_uniform_air(
            &mut Workers::serial(),
            &mut expected,
            &triangles,
            &air(Vec3::Y),
            0.01,
        );
        for eddies in [None, Some(still)] {
            let field = WindField {
                zones: &far,
                eddies,
                occlusion: None,
            };
            got.acceleration.fill(Vec3::ZERO);
            apply_air(
                &mut Workers::serial(),
                &field,
                &mut got,
                &triangles,
                None,
                &air(Vec3::Y),
                0.01,
            );
            assert!(expected.acceleration.bits().eq(got.acceleration.bits()));
        }
    }
}
