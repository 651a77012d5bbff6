//! Wind that is another one at each particle: what zones and turbulence add to the wind that blows
//! everywhere.
//!
//! Only the velocity relative to the air matters to a triangle or a segment, and that is the mean of its
//! corners'. So while the air is applied, the displacements are taken relative to the air of each
//! particle, d − w·Δt₋, and the rest of the solver knows nothing of it.

use super::{
    aero::{Air, apply_air_shared},
    corners::BLOCK,
    crew::{Leader, PART},
    line_drag::{Lines, apply_line_drag},
    occlusion::{Occlusion, Screen},
    particles::ParticleArrays,
    simd::{Kernel, dispatch},
    soa::SoaVec3,
    triangles::Triangles,
    turbulence::{Eddies, Lattice},
    zones::{Local, Zone},
};
use bevy::math::Vec3;
use std::{cell::RefCell, mem::swap};

/// What is added to the wind that blows everywhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindField<'a> {
    /// Winds of single zones, which are added up.
    pub zones: &'a [Zone],
    /// Turbulence.
    pub eddies: Option<Eddies>,
    /// What keeps off all of it, and the wind that blows everywhere.
    pub occlusion: Option<Occlusion<'a>>,
}

impl WindField<'_> {
    /// What it adds to the velocity of the air at a place in the world, m/s, if nothing keeps it off.
    pub fn wind(&self, place: Vec3) -> Vec3 {
        let zones = self.zones.iter().map(|zone| zone.wind(place)).sum::<Vec3>();
        zones + self.eddies.map_or(Vec3::ZERO, |eddies| eddies.wind(place))
    }

    /// The velocity of the air at a place in the world, m/s, where this blows everywhere else.
    pub fn total(&self, place: Vec3, everywhere: Vec3) -> Vec3 {
        let wind = everywhere + self.wind(place);
        match &self.occlusion {
            Some(occlusion) => occlusion.wind(place, wind),
            None => wind,
        }
    }

    fn eddies(&self) -> Option<&Eddies> {
        self.eddies.as_ref().filter(|eddies| eddies.are_blowing())
    }

    fn is_empty(&self) -> bool {
        self.zones.is_empty() && self.eddies().is_none() && self.occlusion.is_none()
    }
}

/// Adds the acceleration by the air to every particle, as [`apply_air`](super::apply_air) and, given
/// lines, [`apply_line_drag`] do, where the wind is that of `air` and that of a field. A triangle or a
/// segment feels the mean of the wind at its corners. Without a field the bits are the same as without
/// this function.
pub fn apply_air_in(
    field: &WindField,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    lines: Option<&Lines>,
    air: &Air,
    dt: f32,
) {
    let leader = &mut Leader::alone();
    apply_air_in_shared(leader, field, particles, triangles, lines, air, dt);
}

/// [`apply_air_in`], shared with the leader's helpers.
pub(crate) fn apply_air_in_shared(
    leader: &mut Leader,
    field: &WindField,
    particles: &mut ParticleArrays,
    triangles: &Triangles,
    lines: Option<&Lines>,
    air: &Air,
    dt: f32,
) {
    in_field(leader, field, particles, air, |leader, particles| {
        apply_air_shared(leader, particles, triangles, air, dt);
        if let Some(lines) = lines {
            apply_line_drag(particles, lines, air, dt);
        }
    });
}

thread_local! {
    /// Room for the displacements relative to the air, and for what keeps it off.
    static RELATIVE: RefCell<(SoaVec3, Vec<Screen>)> = RefCell::default();
}

/// Does something with displacements that are relative to the air of the field.
fn in_field(
    leader: &mut Leader,
    field: &WindField,
    particles: &mut ParticleArrays,
    air: &Air,
    apply: impl FnOnce(&mut Leader, &mut ParticleArrays),
) {
    if air.density == 0.0 || field.is_empty() {
        return apply(leader, particles);
    }
    let Some(bounds) = particles.position.bounds().map(Into::into) else {
        return;
    };
    let origin = particles.origin;
    let reaches = |zone: &Zone| Local::new(zone, origin).reaches(bounds);
    let blows = field.eddies().is_some() || field.zones.iter().any(reaches);
    RELATIVE.with_borrow_mut(|(relative, screens)| {
        screens.clear();
        if let Some(occlusion) = &field.occlusion
            && (blows || air.wind != Vec3::ZERO)
        {
            screens.extend(occlusion.screens(origin, bounds.map(Into::into)));
        }
        if !blows && screens.is_empty() {
            return apply(leader, particles);
        }
        let n = particles.len();
        for plane in [&mut relative.x, &mut relative.y, &mut relative.z] {
            plane.resize(n, 0.0);
        }
        let given = particles.position.chunks(PART);
        let given = given.zip(particles.displacement.chunks(PART));
        let parts = given.zip(relative.chunks_mut(PART));
        let eddies = field.eddies().map(|eddies| Lattice::new(eddies, origin));
        let last_dt = particles.last_dt;
        leader.each(parts, |((x, d), mut to)| {
            dispatch(Breeze {
                x,
                d,
                to: to.each_mut().map(|plane| &mut **plane),
                zones: field.zones,
                origin,
                bounds,
                eddies,
                gain: -last_dt,
            });
            if let Some(occlusion) = field.occlusion.filter(|_| !screens.is_empty()) {
                keep_off(&occlusion, screens, [x, d], to, air.wind, last_dt);
            }
        });
        swap(&mut particles.displacement, relative);
        apply(leader, particles);
        swap(&mut particles.displacement, relative);
    });
}

/// Makes displacements relative to all of the wind, of which `everywhere` is a part that is still to be
/// counted, relative to what of it is left.
fn keep_off(
    occlusion: &Occlusion,
    screens: &[Screen],
    [x, d]: [[&[f32]; 3]; 2],
    to: [&mut [f32]; 3],
    everywhere: Vec3,
    last_dt: f32,
) {
    for i in 0..to[0].len() {
        let get = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[i]));
        let relative = Vec3::new(to[0][i], to[1][i], to[2][i]);
        let blown = get(d) - relative + everywhere * last_dt;
        let left = occlusion.exposure(screens, get(x), blown);
        if left < 1.0 {
            let kept_off = blown * (1.0 - left);
            (to[0][i], to[1][i], to[2][i]) = (relative + kept_off).into();
        }
    }
}

/// Particles that are neighbours in memory, and the wind in which they are.
struct Breeze<'a> {
    x: [&'a [f32]; 3],
    d: [&'a [f32]; 3],
    to: [&'a mut [f32]; 3],
    zones: &'a [Zone],
    origin: Vec3,
    /// The box around all particles, relative to the origin.
    bounds: [Vec3; 2],
    eddies: Option<Lattice>,
    /// Displacement for each m/s of wind, s.
    gain: f32,
}

impl Breeze<'_> {
    /// The zones that reach the cloth.
    #[inline(always)]
    fn near(&self) -> impl Iterator<Item = Local> + use<'_> {
        let zones = self.zones.iter();
        let zones = zones.map(|zone| Local::new(zone, self.origin));
        zones.filter(|zone| zone.reaches(self.bounds))
    }
}

impl Kernel for Breeze<'_> {
    #[inline(always)]
    fn run(mut self) {
        let (x, d, gain, eddies) = (self.x, self.d, self.gain, self.eddies);
        let [to_x, to_y, to_z] = std::mem::take(&mut self.to);
        for (to, d) in [&mut *to_x, &mut *to_y, &mut *to_z].into_iter().zip(d) {
            to.copy_from_slice(d);
        }
        let n = to_x.len();
        let [x, y, z] = x.map(|plane| &plane[..n]);
        for zone in self.near() {
            let (to_x, to_y, to_z) = (&mut to_x[..n], &mut to_y[..n], &mut to_z[..n]);
            for k in 0..n {
                let wind = zone.wind(Vec3::new(x[k], y[k], z[k]));
                to_x[k] += wind.x * gain;
                to_y[k] += wind.y * gain;
                to_z[k] += wind.z * gain;
            }
        }
        if let Some(eddies) = eddies {
            for start in (0..n).step_by(BLOCK) {
                let block = start..(start + BLOCK).min(n);
                let places = [x, y, z].map(|plane| &plane[block.clone()]);
                let to = [
                    &mut to_x[block.clone()],
                    &mut to_y[block.clone()],
                    &mut to_z[block],
                ];
                eddies.add(places, to, gain);
            }
        }
    }

    fn run_scalar(mut self) {
        let to = std::mem::take(&mut self.to);
        for k in 0..self.x[0].len() {
            let at = |planes: [&[f32]; 3]| Vec3::from(planes.map(|plane| plane[k]));
            let (place, mut relative) = (at(self.x), at(self.d));
            for zone in self.near() {
                relative += zone.wind(place) * self.gain;
            }
            if let Some(eddies) = self.eddies {
                relative += eddies.wind(place) * self.gain;
            }
            (to[0][k], to[1][k], to[2][k]) = relative.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::{
        Falloff, Pose, ZoneFlow, ZoneShape, apply_air, crew::threads, simd::levels::same_bits,
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

    /// One of each kind, some over the cloth and some beside it.
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

    /// More than one part, far from the world's origin, with loose triangles.
    fn cloth() -> (ParticleArrays, Triangles) {
        let (columns, count) = (100, 9900_u32);
        let places: SoaVec3 = (0..count)
            .map(|i| {
                let (c, r) = (i % columns, i / columns);
                Vec3::new(c as f32, (i * i % 13) as f32 * 0.1, r as f32 - 30.0)
            })
            .collect();
        let corners = (0..count - columns).filter(|i| i % columns + 1 < columns);
        let indices: Vec<_> = corners.map(|i| [i, i + 1, i + columns]).collect();
        let triangles = Triangles::new(indices, &places);
        let w = (0..count).map(|i| (i % 4) as f32).collect();
        let mut p = ParticleArrays::new(Vec3::new(0.0, 4.0, 30.0), places, w);
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
            apply_air_in(&field, &mut p, &triangles, None, &air, 0.01);
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
            threads::with(count, |leader| {
                apply_air_in_shared(leader, &field, &mut p, &triangles, None, &air, 0.01);
            });
            assert!(p.acceleration.bits().eq(expected.iter().copied()));
        }
    }

    #[test]
    fn a_field_that_is_the_same_everywhere_is_a_wind() {
        let (cloth, triangles) = cloth();
        let everywhere = [zone(
            ZoneShape::Everywhere,
            ZoneFlow::Forward,
            Falloff::Smooth,
            Vec3::ZERO,
        )];
        let field = WindField {
            zones: &everywhere,
            eddies: None,
            occlusion: None,
        };
        let (mut expected, mut got) = (cloth.clone(), cloth);
        let wind = Vec3::new(1.0, 2.0, -3.0);
        let both = air(wind + field.wind(Vec3::splat(7.0)));
        apply_air(&mut expected, &triangles, &both, 0.01);
        apply_air_in(&field, &mut got, &triangles, None, &air(wind), 0.01);
        for (expected, got) in expected.acceleration.iter().zip(got.acceleration.iter()) {
            let error = (expected - got).length() / (1.0 + expected.length());
            assert!(error < 1e-4, "{got} for {expected}");
        }
    }

    #[test]
    fn each_triangle_feels_the_mean_wind_of_its_corners() {
        let zones = zones();
        let field = WindField {
            zones: &zones,
            eddies: Some(EDDIES),
            occlusion: None,
        };
        let corners = [Vec3::ZERO, Vec3::X * 2.0, Vec3::new(0.3, 0.4, 2.0)];
        let origin = Vec3::new(1.0, 4.5, -1.0);
        let places: SoaVec3 = corners.into_iter().collect();
        let triangles = Triangles::new(vec![[0, 1, 2]], &places);
        let p = ParticleArrays::new(origin, places, vec![1.0; 3]);
        let mean = corners
            .map(|at| field.wind(origin + at))
            .iter()
            .sum::<Vec3>()
            / 3.0;
        assert!(mean.length() > 1.0);
        let (mut expected, mut got) = (p.clone(), p);
        apply_air(&mut expected, &triangles, &air(mean), 0.01);
        apply_air_in(&field, &mut got, &triangles, None, &air(Vec3::ZERO), 0.01);
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
        apply_air(&mut expected, &triangles, &air(Vec3::Y), 0.01);
        for eddies in [None, Some(still)] {
            let field = WindField {
                zones: &far,
                eddies,
                occlusion: None,
            };
            got.acceleration.fill(Vec3::ZERO);
            apply_air_in(&field, &mut got, &triangles, None, &air(Vec3::Y), 0.01);
            assert!(expected.acceleration.bits().eq(got.acceleration.bits()));
        }
    }
}
