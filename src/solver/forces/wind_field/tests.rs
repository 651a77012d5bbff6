use super::*;
use crate::solver::{
    Falloff, Pose, StepAir, ZoneFlow, ZoneShape, forces::aero::apply_uniform_air,
    parallel::workers::threads, simd::levels::same_bits, triangles::Triangles,
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

/// Step in which the air changes velocities by little, s.
const DT: f32 = 1e-3;

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

/// Applies the air to a cloth for a step of `DT`.
fn apply_on(
    workers: &mut Workers,
    field: &WindField,
    p: &mut ParticleArrays,
    triangles: &Triangles,
    air: &Air,
) {
    StepAir::default().begin_step(workers, field, p, triangles.into(), air, DT);
}

/// As [`apply_on`], on one thread.
fn apply_field(field: &WindField, p: &mut ParticleArrays, triangles: &Triangles, air: &Air) {
    apply_on(&mut Workers::serial(), field, p, triangles, air);
}

/// As [`apply_field`], without any local wind.
fn apply_uniform(p: &mut ParticleArrays, triangles: &Triangles, air: &Air) {
    apply_uniform_air(&mut Workers::serial(), p, triangles, air, DT);
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
        apply_field(&field, &mut p, &triangles, &air);
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
            apply_on(workers, &field, &mut p, &triangles, &air);
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
    apply_uniform(&mut expected, &triangles, &both);
    apply_field(&field, &mut got, &triangles, &air(wind));
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
    apply_uniform(&mut expected, &triangles, &air(mean));
    apply_field(&field, &mut got, &triangles, &air(Vec3::ZERO));
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
    apply_uniform(&mut expected, &triangles, &air(Vec3::Y));
    for eddies in [None, Some(still)] {
        let field = WindField {
            zones: &far,
            eddies,
            occlusion: None,
        };
        got.acceleration.fill(Vec3::ZERO);
        apply_field(&field, &mut got, &triangles, &air(Vec3::Y));
        assert!(expected.acceleration.bits().eq(got.acceleration.bits()));
    }
}
