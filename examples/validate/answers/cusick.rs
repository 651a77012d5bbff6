//! Cusick drape test: the shadow of a disc of fabric on a smaller disc.

use super::Row;
use crate::sample::Sample;
use bevy::math::Vec3;
use bevy_drape::{cloth::Fabric, mesh::TriangleMesh, solver::ConstraintKind};
use std::f64::consts::TAU;

/// Radii of the specimen and of its support, m.
const SPECIMEN: f64 = 0.15;
const HOLDER: f64 = 0.09;
/// Number of rings of the mesh.
const RINGS: u32 = 20;
/// Number of directions in which the shadow is measured.
const DIRECTIONS: usize = 180;

/// Returns the presets from the limpest to the stiffest, by σg/B.
fn order() -> Vec<(&'static str, Fabric)> {
    let mut presets: Vec<_> = Fabric::PRESETS
        .iter()
        .copied()
        .filter(|(name, fabric)| fabric.bending_stiffness > 0.0 && *name != "rubber sheet")
        .collect();
    let stiff = |fabric: &Fabric| fabric.bending_stiffness / fabric.areal_density;
    presets.sort_by(|(_, a), (_, b)| stiff(a).total_cmp(&stiff(b)));
    presets
}

/// Returns drape coefficients of presets, %, from the limpest to the stiffest.
pub(crate) fn coefficients() -> Vec<(&'static str, f64)> {
    let presets = order().into_iter();
    presets
        .map(|(name, fabric)| (name, 100.0 * coefficient(&fabric)))
        .collect()
}

pub(crate) fn presets_in_order() -> Vec<Row> {
    let all = coefficients();
    let pairs = all.windows(2);
    pairs
        .map(|pair| {
            let [(limp, low), (stiff, high)] = [pair[0], pair[1]];
            Row::at_most(
                format!("coefficient of {limp}, and of {stiff}, %"),
                high,
                low,
            )
        })
        .collect()
}

/// Returns the drape coefficient: the fraction of the ring that is in the shadow, (A − A_h)/(A_s − A_h).
fn coefficient(fabric: &Fabric) -> f64 {
    let mut sample = Sample::of_mesh(&disc(), fabric.areal_density);
    let settings = &mut sample.settings;
    settings.substeps = 40;
    settings.damping = 3.0;
    settings.compliance = fabric.compliance();
    settings.tether_scale = f32::INFINITY;
    for i in 0..sample.particles.len() {
        let mut at = sample.at(i);
        if f64::from(at.length()) <= HOLDER * 1.0001 {
            sample.pin(i as u32);
        } else {
            // Slightly uneven, to break the symmetry.
            at.y = 1e-4 * ((i * 7919 % 101) as f32 / 50.0 - 1.0);
            sample.particles.set_world_position(i, at);
        }
    }
    sample.run(6.0);
    let whole = shadow(&Sample::of_mesh(&disc(), 1.0));
    let held = whole * (HOLDER / SPECIMEN).powi(2);
    (shadow(&sample) - held) / (whole - held)
}

/// Returns the area of its vertical projection, m², from its extent in each direction.
fn shadow(sample: &Sample) -> f64 {
    let mut reach = [0.0_f64; DIRECTIONS];
    for (ends, _) in sample.constraints.of_kind(ConstraintKind::Structural) {
        let [a, b] = ends.map(|i| sample.at(i as usize).as_dvec3());
        for k in 0..=8 {
            let at = a.lerp(b, f64::from(k) / 8.0);
            let turn = at.z.atan2(at.x) / TAU + 0.5;
            let direction = (turn * DIRECTIONS as f64) as usize % DIRECTIONS;
            reach[direction] = reach[direction].max(at.x.hypot(at.z));
        }
    }
    let sector = TAU / DIRECTIONS as f64;
    reach.iter().map(|r| 0.5 * sector * r * r).sum()
}

/// Returns a disc with rings of 6, 12, 18, … particles around its centre, the last one at the rim.
fn disc() -> TriangleMesh {
    let mut positions = vec![Vec3::ZERO];
    for ring in 1..=RINGS {
        let r = SPECIMEN * f64::from(ring) / f64::from(RINGS);
        for k in 0..6 * ring {
            let angle = TAU * f64::from(k) / f64::from(6 * ring);
            positions.push(Vec3::new(
                (r * angle.cos()) as f32,
                0.0,
                (r * angle.sin()) as f32,
            ));
        }
    }
    // Particle k of a ring, with wrap-around.
    let at = |ring: u32, k: u32| match ring {
        0 => 0,
        _ => 1 + 3 * ring * (ring - 1) + k % (6 * ring),
    };
    let mut triangles = Vec::new();
    for ring in 0..RINGS {
        for sixth in 0..6 {
            for k in 0..=ring {
                let (inner, outer) = (sixth * ring + k, sixth * (ring + 1) + k);
                triangles.push([
                    at(ring, inner),
                    at(ring + 1, outer),
                    at(ring + 1, outer + 1),
                ]);
                if k < ring {
                    let next = at(ring, inner + 1);
                    triangles.push([at(ring, inner), at(ring + 1, outer + 1), next]);
                }
            }
        }
    }
    TriangleMesh {
        positions,
        triangles,
        out_of_range: 0,
    }
}
