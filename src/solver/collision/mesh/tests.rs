use super::*;
use crate::solver::{
    Shape,
    math::noise::{noise, noise_point as point},
    parallel::workers::threads,
    update_displacements,
};
use bevy::math::{Quat, Vec2};

/// Returns the corners of a box centred at the origin.
fn corners(half: Vec3) -> Vec<Vec3> {
    let side = |i: usize, axis: usize| if i >> axis & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |i| half * Vec3::from([0, 1, 2].map(|axis| side(i, axis)));
    (0..8).map(corner).collect()
}

fn block(half: Vec3) -> TriangleSurface {
    let sides = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = sides
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
    TriangleSurface::new(corners(half), triangles.collect()).unwrap()
}

#[test]
fn the_distance_from_a_box_of_triangles_equals_that_from_a_cuboid() {
    let half_size = Vec3::new(0.4, 0.6, 0.8);
    let (shape, block) = (Shape::Cuboid { half_size }, block(half_size));
    assert!(block.is_closed() && block.len() == 12 && block.edges().count() == 18);
    for i in 0..3000 {
        // Many points lie on corners, edges and faces.
        let at =
            (point(i, 1) * 6.0).round() * half_size * 0.25 + point(i, 4) * (0.3 * (i % 2) as f32);
        let (expected, _) = shape.distance(at);
        let found = block.distance(at);
        assert!(
            (found - expected).abs() < 1e-5,
            "{at}: {found}, not {expected}"
        );
    }
}

#[test]
fn the_closest_point_and_all_triangles_in_a_box_are_found() {
    let points: Vec<Vec3> = (0..300).map(|i| point(i, 1) * 3.0).collect();
    let triangles: Vec<_> = (0..100).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let soup = TriangleSurface::new(points, triangles).unwrap();
    assert!(!soup.is_closed());
    for i in 0..300 {
        let at = point(i, 11) * 4.0;
        let found = soup.at_end().nearest(at).unwrap();
        let all = (0..100).map(|triangle| soup.at_end().nearest_on(triangle, at).square);
        assert_eq!(found.square, all.fold(f32::INFINITY, f32::min));
        let (low, high) = (at - 0.5, at + 0.5);
        let near = soup.find([low, high]);
        for triangle in 0..100 {
            let inside = soup.at_end().nearest_on(triangle, at);
            if (inside.at - at).abs().max_element() <= 0.5 {
                assert!(near.contains(&triangle));
            }
        }
    }
}

#[test]
fn triangles_facing_inwards_are_flipped_and_containers_are_inverted() {
    let solid = block(Vec3::ONE);
    let triangles = solid.triangles.iter().map(|&[a, b, c]| [a, c, b]);
    let turned = TriangleSurface::new(solid.points.clone(), triangles.collect()).unwrap();
    let hollow = block(Vec3::ONE).hollow();
    for i in 0..200 {
        let at = point(i, 2) * 2.0;
        assert_eq!(turned.distance(at) > 0.0, solid.distance(at) > 0.0);
        let (inside, outside) = (hollow.distance(at), solid.distance(at));
        assert!((inside + outside).abs() < 1e-6);
    }
}

#[test]
fn a_heightfield_is_solid_below() {
    let heights: Vec<f32> = (0..20).map(|i| noise(i, 5) * 0.2).collect();
    let size = Vec2::new(3.0, 4.0);
    let field = TriangleSurface::heightfield(&heights, 4, size, Vec3::ONE).unwrap();
    assert!(field.is_closed());
    assert!(field.distance(Vec3::NEG_Y * 0.5) < -0.2 && field.distance(Vec3::Y * 0.5) > 0.2);
    assert!(field.distance(Vec3::new(2.0, -0.5, 0.0)) > 0.45);
    // The heightfield passes through its own corner.
    let corner = Vec3::new(-1.5, heights[0], -2.0);
    assert!(field.distance(corner).abs() < 1e-6);
    // Mirrored by a negative scale, the solid lies above.
    let mirrored = TriangleSurface::heightfield(&heights, 4, size, Vec3::new(1.0, -1.0, 1.0));
    assert!(mirrored.unwrap().distance(Vec3::Y * 0.5) < -0.2);
}

#[cfg(feature = "parry")]
#[test]
fn a_hull_is_closed_and_contains_its_points() {
    let cloud: Vec<Vec3> = (0..500).map(|i| point(i, 3)).collect();
    let hull = TriangleSurface::convex_hull(&cloud).unwrap();
    assert!(hull.is_closed());
    assert!(cloud.iter().all(|&at| hull.distance(at) < 1e-4));
}

#[test]
fn the_arc_cosine_is_accurate_enough_for_pseudo_normals() {
    for i in 0..=1000 {
        let cosine = i as f32 / 500.0 - 1.0;
        let found = normals::arc_cosine(cosine);
        assert!((found - cosine.acos()).abs() < 1e-4, "{cosine}: {found}");
    }
}

/// Drops particles onto a rotating block and an open triangle floor. Returns the hash of the state and the lowest
/// height. `clear_cache` discards all caches before each substep.
fn drop_particles(threads: usize, clear_cache: bool) -> (u64, f32) {
    let count = 6000;
    let positions = (0..count).map(|i| {
        let (row, column) = (i / 100, i % 100);
        Vec3::new(0.02 * column as f32 - 1.0, 0.6, 0.03 * row as f32 - 0.9)
    });
    let mut p = ParticleArrays::new(Vec3::ZERO, positions.collect(), vec![1.0; count]);
    let rough = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    let block = Arc::new(block(Vec3::new(0.5, 0.2, 0.5)));
    let floor = corners(Vec3::new(3.0, 0.0, 3.0))[..].to_vec();
    let floor = TriangleSurface::new(floor, vec![[0, 4, 1], [1, 4, 5]]).unwrap();
    let below = Pose {
        translation: Vec3::NEG_Y * 0.4,
        ..Pose::ORIGIN
    };
    let floor = MeshCollider::fixed(Arc::new(floor), below, rough);
    let surface = Surface {
        thickness: 0.01,
        friction: rough,
    };
    let mut contacts = MeshContacts::default();
    let turned = |step: u32| Pose {
        rotation: Quat::from_xyzw(0.0, 0.02 * step as f32, 0.1, 1.0).normalize(),
        ..Pose::ORIGIN
    };
    threads::with(threads, |workers| {
        for step in 0..40 {
            let block = MeshCollider {
                start: turned(step),
                end: turned(step + 1),
                ..MeshCollider::fixed(block.clone(), Pose::ORIGIN, rough)
            };
            let colliders = [block, floor.clone()];
            p.begin_step(&mut Workers::serial(), None, &[], 8);
            for substep in 0..8 {
                if clear_cache {
                    contacts = MeshContacts::default();
                }
                let free = crate::solver::IntegrateSettings {
                    gravity: Vec3::NEG_Y * 9.81,
                    damping: 0.0,
                    dt: 1.0 / 480.0,
                };
                crate::solver::integrate(&mut Workers::serial(), &mut p, &free);
                let all = colliders.iter().map(|collider| (collider, [substep, 8]));
                contacts.begin(&p, all.clone(), &surface, substep == 0);
                update_displacements(&mut p);
                contacts.collide(workers, &mut p, all, &surface, true, substep == 0);
            }
        }
    });
    let lowest = p
        .position
        .iter()
        .map(|at| at.y)
        .fold(f32::INFINITY, f32::min);
    (p.state_hash(), lowest)
}

#[test]
fn the_bits_depend_neither_on_threads_nor_on_caches() {
    let (expected, lowest) = drop_particles(0, false);
    assert!((lowest + 0.39).abs() < 1e-3, "{lowest}");
    for threads in threads::COUNTS {
        assert_eq!(
            drop_particles(threads, false).0,
            expected,
            "{threads} threads"
        );
    }
    assert_eq!(drop_particles(0, true).0, expected, "no caches");
}

/// Moves one particle from `from` to `to` in one substep, past a surface at rest. Returns its position after
/// contacts.
fn position_after_contacts(surface: &Arc<TriangleSurface>, from: Vec3, to: Vec3) -> Vec3 {
    let mut p = ParticleArrays::new(Vec3::ZERO, [from].into_iter().collect(), vec![1.0]);
    p.displacement.set(0, to - from);
    p.position.set(0, to);
    p.predicted.set(0, to);
    let collider = [MeshCollider::fixed(
        surface.clone(),
        Pose::ORIGIN,
        Friction::default(),
    )];
    let surface = Surface {
        thickness: 0.01,
        friction: Friction::default(),
    };
    let mut contacts = MeshContacts::default();
    let all = collider.iter().map(|collider| (collider, [0, 1]));
    contacts.begin(&p, all.clone(), &surface, true);
    contacts.collide(&mut Workers::serial(), &mut p, all, &surface, true, true);
    p.position.get(0)
}

#[test]
fn no_path_leads_through_a_valley_an_edge_or_a_corner() {
    // An open, V-shaped valley; from below, a tent.
    let points = vec![
        Vec3::new(-1.0, 1.0, -1.0),
        Vec3::new(-1.0, 1.0, 1.0),
        Vec3::new(0.0, 0.0, -1.0),
        Vec3::new(0.0, 0.0, 1.0),
        Vec3::new(1.0, 1.0, -1.0),
        Vec3::new(1.0, 1.0, 1.0),
    ];
    let triangles = vec![[0, 1, 2], [2, 1, 3], [2, 3, 4], [4, 3, 5]];
    let valley = Arc::new(TriangleSurface::new(points, triangles).unwrap());
    let above = |at: Vec3| at.y - at.x.abs();
    for i in 0..2000 {
        // Limited along z, so that no path leaves the valley.
        let from = Vec3::new(0.3 * noise(i, 1), 0.6, 0.1 * noise(i, 2));
        // Half of the paths aim at the edge.
        let aim = Vec3::new(0.2 * noise(i, 3) * (i % 2) as f32, 0.0, 0.1 * noise(i, 4));
        let to = from + (aim - from) * (2.0 + noise(i, 5));
        let end = position_after_contacts(&valley, from, to);
        assert!(above(end) > 0.0, "from {from} to {to}: {end}");
        // From below.
        let mirror = |at: Vec3| Vec3::new(at.x, -at.y, at.z);
        let end = position_after_contacts(&valley, mirror(from), mirror(to));
        assert!(above(end) < 0.0, "from below, {from} to {to}: {end}");
    }
    let block = Arc::new(block(Vec3::splat(0.5)));
    for i in 0..2000 {
        let from = point(i, 1).normalize() * 1.2;
        let aim = match i % 3 {
            0 => (point(i, 4) * 2.0).round().clamp(Vec3::NEG_ONE, Vec3::ONE) * 0.5,
            1 => point(i, 4) * 0.5,
            _ => point(i, 4).signum() * 0.5,
        };
        let to = from + (aim - from) * 2.5;
        let end = position_after_contacts(&block, from, to);
        assert!(block.distance(end) > 0.0, "{i}: from {from} to {to}: {end}");
    }
}
