//! Cloth of meshes as modelling programs make them.

use crate::{
    add_mesh, app, extremes, particles, run, worlds::oracles::check_cloths, worst_stretch,
};
use bevy::{platform::collections::HashMap, prelude::*};
use bevy_drape::prelude::*;

/// Mesh of polygons.
#[derive(Clone, Default)]
struct Polygons {
    points: Vec<Vec3>,
    polygons: Vec<Vec<u32>>,
}

impl Polygons {
    /// Returns a sheet of squares, of triangles that all lean to one side, or of triangles that lean to either.
    fn sheet(side: u32, split: fn(u32) -> Option<bool>) -> Self {
        let points = (0..side * side).map(|i| [i % side, i / side].map(|k| k as f32 / side as f32));
        let points = points.map(|[x, z]| Vec3::new(x, 0.05 * (6.0 * x).sin(), z));
        let mut sheet = Self {
            points: points.collect(),
            polygons: Vec::new(),
        };
        for first in (0..side * (side - 1)).filter(|i| i % side != side - 1) {
            let [a, b, c, d] = [first, first + side, first + side + 1, first + 1];
            sheet.polygons.extend(match split(first) {
                None => vec![vec![a, b, c, d]],
                Some(true) => vec![vec![a, b, c], vec![a, c, d]],
                Some(false) => vec![vec![a, b, d], vec![b, c, d]],
            });
        }
        sheet
    }

    fn cube() -> Self {
        let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
        let faces = [
            [0, 2, 3, 1],
            [4, 5, 7, 6],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 4, 6, 2],
            [1, 3, 7, 5],
        ];
        Self {
            points: (0..8).map(|i| corner(i) - 0.5).collect(),
            polygons: faces.map(Vec::from).to_vec(),
        }
    }

    fn of_triangles(mesh: &Mesh) -> Self {
        let positions = mesh.attribute(Mesh::ATTRIBUTE_POSITION).unwrap();
        let points = positions.as_float3().unwrap().iter();
        let indices: Vec<u32> = mesh.indices().unwrap().iter().map(|i| i as u32).collect();
        Self {
            points: points.map(|&at| at.into()).collect(),
            polygons: indices.chunks(3).map(Vec::from).collect(),
        }
    }

    /// Divides each polygon into quads around its centre, as one step of subdivision does (Catmull, Clark 1978), without
    /// smoothing.
    fn subdivided(mut self) -> Self {
        let mut middles: HashMap<[u32; 2], u32> = HashMap::default();
        let polygons = std::mem::take(&mut self.polygons);
        for corners in polygons {
            let sum: Vec3 = corners.iter().map(|&i| self.points[i as usize]).sum();
            let centre = self.points.len() as u32;
            self.points.push(sum / corners.len() as f32);
            let count = corners.len();
            let sides: Vec<u32> = (0..count)
                .map(|k| {
                    let (a, b) = (corners[k], corners[(k + 1) % count]);
                    *middles.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                        let both = self.points[a as usize] + self.points[b as usize];
                        self.points.push(both * 0.5);
                        self.points.len() as u32 - 1
                    })
                })
                .collect();
            for k in 0..count {
                let before = sides[(k + count - 1) % count];
                self.polygons
                    .push(vec![corners[k], sides[k], centre, before]);
            }
        }
        self
    }

    /// Moves points by up to this much along each axis, the same on every run.
    fn jittered(mut self, by: f32) -> Self {
        for (i, point) in self.points.iter_mut().enumerate() {
            let offset = [12.9898, 78.233, 37.719].map(|k| ((i as f32 * k).sin() * 437.5).fract());
            *point += Vec3::from(offset) * by;
        }
        self
    }

    /// Returns triangles that fan out from the first corner of each polygon.
    fn mesh(&self) -> Mesh {
        let fans = self.polygons.iter().flat_map(|corners| {
            let others = corners[1..].windows(2);
            others.map(|pair| [corners[0], pair[0], pair[1]])
        });
        extremes::mesh(self.points.clone(), fans.collect())
    }
}

/// A band with one twist, which has a single side.
fn moebius_strip() -> Polygons {
    let (around, across) = (60, 6);
    let mut strip = Polygons::default();
    for i in 0..around {
        let turn = i as f32 / around as f32 * std::f32::consts::TAU;
        for k in 0..across {
            let offset = 0.3 * (k as f32 / (across - 1) as f32 - 0.5);
            let (radius, height) = (
                0.5 + offset * (0.5 * turn).cos(),
                offset * (0.5 * turn).sin(),
            );
            let at = Vec3::new(radius * turn.cos(), height, radius * turn.sin());
            strip.points.push(at);
        }
    }
    let at = |i: u32, k: u32| match i < around {
        true => i * across + k,
        false => across - 1 - k,
    };
    for (i, k) in (0..around).flat_map(|i| (0..across - 1).map(move |k| (i, k))) {
        let corners = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
        strip.polygons.push(corners.into());
    }
    strip
}

#[test]
fn meshes_of_modelling_programs_become_cloth() {
    let leaning = |i: u32| Some(i.wrapping_mul(2_654_435_761) >> 31 == 0);
    let icosphere = Sphere::new(0.5).mesh().ico(12).unwrap();
    let icosphere = Polygons::of_triangles(&icosphere);
    let twice = |polygons: Polygons| polygons.subdivided().subdivided();
    let meshes = [
        (
            "subdivided triangles",
            Polygons::sheet(24, |_| Some(true)).subdivided(),
        ),
        (
            "irregular quads",
            twice(Polygons::sheet(12, leaning)).jittered(0.004),
        ),
        (
            "triangles that lean to either side",
            Polygons::sheet(50, leaning),
        ),
        (
            "jittered squares",
            Polygons::sheet(50, |_| None).jittered(0.006),
        ),
        ("subdivided cube", twice(twice(Polygons::cube()))),
        ("icosphere", icosphere.clone()),
        ("quads of an icosphere", icosphere.subdivided()),
        ("Möbius strip", moebius_strip()),
        ("subdivided Möbius strip", moebius_strip().subdivided()),
    ];
    for self_collision in [SelfCollision::Off, SelfCollision::On] {
        for (name, polygons) in &meshes {
            let mut app = app();
            app.world_mut().spawn((
                ClothCollider::sphere(0.3),
                Transform::from_xyz(0.4, -0.9, 0.4),
            ));
            let mesh = add_mesh(&mut app, polygons.mesh());
            let cloth = Cloth {
                self_collision,
                ..default()
            };
            let cloth = app.world_mut().spawn((cloth, Mesh3d(mesh))).id();
            run(&mut app, 40);
            assert_eq!(check_cloths(app.world_mut()), Ok(()), "{name}");
            let (fallen, stretch) = (
                particles(&app, cloth).world_position(0).y,
                worst_stretch(&app, cloth),
            );
            println!(
                "{name}: {} particles, at {fallen} m, stretched by {stretch}",
                polygons.points.len()
            );
            assert!(fallen < -0.2, "{name}: at {fallen} m");
            assert!(stretch < 0.7, "{name}: stretched by {stretch}");
        }
    }
}
