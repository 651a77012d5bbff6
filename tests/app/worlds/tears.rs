//! Conservation of mass and area: random cuts and tears of random meshes.

use super::{edit::point, meshes::MeshKind, runner, variable};
use crate::{add_mesh, app, command, drawn, particles, run};
use bevy::{mesh::VertexAttributeValues, prelude::*};
use bevy_drape::prelude::*;
use proptest::{
    collection::vec,
    prelude::*,
    strategy::{Strategy, ValueTree},
};

/// Largest relative change of mass or area.
const TOLERANCE: f64 = 1e-4;

/// Cut, tear or hole in a cloth.
#[derive(Clone, Copy, Debug)]
enum Damage {
    Cut([f32; 3], [f32; 3], [f32; 3]),
    Edge(u32, u32),
    Hole([f32; 3], f32),
}

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        3 => (point(), point(), point()).prop_map(|(a, b, depth)| Damage::Cut(a, b, depth)),
        1 => (0_u32..600, 0_u32..600).prop_map(|(a, b)| Damage::Edge(a, b)),
        2 => (point(), 0.01_f32..0.5).prop_map(|(at, radius)| Damage::Hole(at, radius)),
    ]
}

/// Returns the mass of a cloth without pins, kg.
fn mass(app: &App, cloth: Entity) -> f64 {
    let inverse = particles(app, cloth).inverse_mass.iter();
    inverse.map(|&w| 1.0 / f64::from(w)).sum()
}

/// Returns the area of a drawn mesh in its texture: cuts interpolate texture coordinates, motion does not change them.
fn area(mesh: &Mesh) -> f64 {
    let Some(VertexAttributeValues::Float32x2(all)) = mesh.attribute(Mesh::ATTRIBUTE_UV_0) else {
        return 0.0;
    };
    let indices: Vec<usize> = mesh.indices().unwrap().iter().collect();
    let corners = indices.chunks_exact(3);
    let areas = corners.map(|corners| {
        let [a, b, c] = [0, 1, 2].map(|k| Vec2::from(all[corners[k]]).as_dvec2());
        0.5 * (b - a).perp_dot(c - a).abs()
    });
    areas.sum()
}

#[test]
fn cuts_and_tears_keep_mass_and_area() {
    let count = variable("BEVY_DRAPE_WORLDS", 20);
    let first = variable("BEVY_DRAPE_WORLD_SEED", 0);
    let mut torn = 0;
    for seed in first..first + count {
        let world = (MeshKind::any(), vec(damage(), 1..25));
        let world = world.new_tree(&mut runner(seed)).unwrap().current();
        let mut app = app();
        let mesh = Mesh3d(add_mesh(&mut app, world.0.tamed().mesh()));
        let cloth = app.world_mut().spawn((Cloth::default(), mesh)).id();
        run(&mut app, 2);
        let before = [mass(&app, cloth), area(drawn(&app, cloth))];
        let count = particles(&app, cloth).len();
        for &damage in &world.1 {
            command(&mut app, cloth, |cloth| {
                match damage {
                    Damage::Cut(a, b, depth) => cloth.cut_segment(a.into(), b.into(), depth.into()),
                    Damage::Edge(a, b) => cloth.tear_edge(a, b),
                    Damage::Hole(at, radius) => cloth.shred(at.into(), radius),
                };
            });
            run(&mut app, 2);
            let after = [mass(&app, cloth), area(drawn(&app, cloth))];
            for (name, [before, after]) in [
                ("mass", [before[0], after[0]]),
                ("area", [before[1], after[1]]),
            ] {
                assert!(
                    (after - before).abs() <= TOLERANCE * before,
                    "world {seed}: {damage:?} changes the {name} from {before} to {after}: {world:?}"
                );
            }
        }
        torn += usize::from(particles(&app, cloth).len() > count);
    }
    assert!(2 * torn >= count as usize, "{torn} of {count} were torn");
}
