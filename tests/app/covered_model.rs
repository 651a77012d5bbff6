//! Share of a model that shows through a sheet thrown over it while it is animated: a measurement for a model from
//! outside the repository.
//!
//! ```sh
//! DRAPE_MODEL=/path/to/Fox.glb DRAPE_SCALE=0.01 DRAPE_ANIMATIONS=3 \
//!     cargo test --features gltf --test app -- --ignored --nocapture covered_model
//! ```

use crate::{
    models::{app_with, load, play_animation},
    particles, run,
};
use bevy::{
    mesh::{
        VertexAttributeValues,
        skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
    },
    prelude::*,
};
use bevy_drape::{
    character::{ClothRules, SkeletonColliders, SkeletonShape},
    prelude::*,
};
use std::{env, path::PathBuf};

/// Particles along the sides of the sheet.
const SIDES: [u32; 2] = [61, 81];

/// Returns the skinned vertices of all bodies.
fn vertices(app: &mut App) -> Vec<Vec3> {
    let mut bodies = app.world_mut().query::<(&Mesh3d, &SkinnedMesh)>();
    let world = app.world();
    let poses = world.resource::<Assets<SkinnedMeshInverseBindposes>>();
    let mut all = Vec::new();
    for (mesh, skin) in bodies.iter(world) {
        let mesh = world.resource::<Assets<Mesh>>().get(mesh).unwrap();
        let inverse = poses.get(&skin.inverse_bindposes).unwrap();
        let joints = skin.joints.iter().zip(inverse.iter());
        let matrices: Vec<Mat4> = joints
            .map(|(&joint, inverse)| {
                world.get::<GlobalTransform>(joint).unwrap().to_matrix() * *inverse
            })
            .collect();
        let Some(VertexAttributeValues::Uint16x4(joints)) =
            mesh.attribute(Mesh::ATTRIBUTE_JOINT_INDEX)
        else {
            continue;
        };
        let Some(VertexAttributeValues::Float32x4(weights)) =
            mesh.attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT)
        else {
            continue;
        };
        let positions = crate::float3(mesh, Mesh::ATTRIBUTE_POSITION);
        for ((at, joints), weights) in positions.iter().zip(joints).zip(weights) {
            let moved =
                |k: usize| matrices[usize::from(joints[k])].transform_point3(*at) * weights[k];
            all.push((0..4).map(moved).sum());
        }
    }
    all
}

/// Largest height of a vertex over cloth that it shows through, m; cloth farther down has slid off.
const MAX_HEIGHT: f32 = 0.1;

/// Returns the numbers of points with cloth above or shortly below them, and of those that have it only below: they show
/// through.
fn count_visible(app: &App, sheet: Entity, points: &[Vec3]) -> [usize; 2] {
    let p = particles(app, sheet);
    let at = |i: u32| p.world_position(i as usize);
    let [width, height] = SIDES;
    let mut count = [0; 2];
    for point in points {
        let (mut above, mut below) = (false, false);
        for row in 0..height - 1 {
            for column in 0..width - 1 {
                let a = row * width + column;
                for corners in [[a, a + 1, a + width], [a + 1, a + width + 1, a + width]] {
                    if let Some(y) = height_over(corners.map(at), *point) {
                        above |= y >= point.y;
                        below |= (point.y - MAX_HEIGHT..point.y).contains(&y);
                    }
                }
            }
        }
        count[0] += usize::from(above || below);
        count[1] += usize::from(below && !above);
    }
    count
}

/// Returns the height at which the vertical line through a point crosses a triangle.
fn height_over([a, b, c]: [Vec3; 3], point: Vec3) -> Option<f32> {
    let flat = |at: Vec3| at.xz() - point.xz();
    let [a2, b2, c2] = [a, b, c].map(flat);
    let weights = [b2.perp_dot(c2), c2.perp_dot(a2), a2.perp_dot(b2)];
    let area: f32 = weights.iter().sum();
    let inside = weights.iter().all(|weight| weight * area.signum() >= 0.0) && area != 0.0;
    inside.then(|| (a.y * weights[0] + b.y * weights[1] + c.y * weights[2]) / area)
}

#[test]
#[ignore = "needs a model from outside the repository"]
fn covered_model_shows_through_its_sheet_by_little() {
    let Ok(model) = env::var("DRAPE_MODEL") else {
        panic!("set DRAPE_MODEL to a glTF file with a skeleton and animations");
    };
    let model = PathBuf::from(model);
    let scale = env::var("DRAPE_SCALE").map_or(1.0, |text| text.parse().unwrap());
    let file: &'static str = model
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
        .leak();
    let folder = model.parent().unwrap().to_str().unwrap();
    for shape in [SkeletonShape::Capsules, SkeletonShape::Mesh] {
        for animation in 0..env::var("DRAPE_ANIMATIONS").map_or(1, |text| text.parse().unwrap()) {
            let colliders = SkeletonColliders { shape, ..default() };
            let rules = ClothRules::default().matching(|_| true, colliders);
            let mut app = app_with(folder, rules);
            play_animation(&mut app, file, animation);
            load(&mut app, file, Transform::from_scale(Vec3::splat(scale)));
            let mesh = ClothGrid::new(1.5, 2.0, SIDES[0], SIDES[1]);
            let mesh = Mesh3d(crate::add_mesh(&mut app, mesh));
            let at = Transform::from_xyz(0.0, 1.0, -0.1);
            let sheet = app.world_mut().spawn((Cloth::default(), mesh, at)).id();
            app.world_mut().spawn(ClothCollider::half_space());
            run(&mut app, 150);
            let (mut total, mut worst) = ([0; 2], 0.0_f32);
            for _ in 0..30 {
                run(&mut app, 4);
                let points = vertices(&mut app);
                let [covered, visible] = count_visible(&app, sheet, &points);
                total = [total[0] + covered, total[1] + visible];
                worst = worst.max(visible as f32 / covered as f32);
            }
            println!(
                "{shape:?}, animation {animation}: {:.2} % of the covered vertices show through, at \
                 worst {:.2} %",
                100.0 * total[1] as f32 / total[0] as f32,
                100.0 * worst
            );
        }
    }
}
