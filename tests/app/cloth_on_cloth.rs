//! Cloths that collide with other cloths.

use crate::{
    add_mesh, app, centre,
    crossings::crossings,
    particles, run,
    snapshots::{storages, take},
};
use bevy::prelude::*;
use bevy_drape::{
    cloth::{ClothMaxThreads, ClothSubstep},
    collision::ClothLayers,
    mesh::{Topology, TriangleMesh},
    prelude::*,
    sleep::ClothSleeping,
};

const SIDE: u32 = 24;
const SIZE: f32 = 0.6;
/// Contact distance of their particles, m.
const SEPARATION: f32 = SIZE / (SIDE - 1) as f32;

fn sheet() -> ClothGrid {
    ClothGrid::new(SIZE, SIZE, SIDE, SIDE)
}

/// Spawns a sheet at a height, rotated about y by an angle.
fn drop(app: &mut App, height: f32, angle: f32, extra: impl Bundle) -> Entity {
    let mesh = add_mesh(app, sheet());
    let cloth = Cloth {
        self_collision: SelfCollision::On,
        ..default()
    };
    let transform =
        Transform::from_xyz(0.02 * angle, height, 0.01).with_rotation(Quat::from_rotation_y(angle));
    app.world_mut()
        .spawn((cloth, Mesh3d(mesh), transform, extra))
        .id()
}

fn over_floor() -> App {
    let mut app = app();
    let floor = ClothCollider::half_space().with_friction(0.5, 0.4);
    app.world_mut().spawn(floor);
    app
}

/// Spawns `count` sheets, one above the other.
fn stack(app: &mut App, count: u32) -> Vec<Entity> {
    (0..count)
        .map(|k| {
            let k = k as f32;
            drop(app, 0.03 + 0.035 * k, 0.1 * k, ())
        })
        .collect()
}

fn positions(app: &App, cloth: Entity) -> Vec<Vec3> {
    assert!(particles(app, cloth).is_finite());
    crate::positions(app, cloth)
}

/// Returns the position of the middle particle of a sheet.
fn middle(app: &App, cloth: Entity) -> Vec3 {
    let particles = particles(app, cloth);
    particles.world_position((SIDE * SIDE / 2 + SIDE / 2) as usize)
}

/// Returns the smallest distance between a particle of `a` and a particle of `b`.
fn gap(app: &App, a: Entity, b: Entity) -> f32 {
    let (a, b) = (positions(app, a), positions(app, b));
    let from = |at: &Vec3| b.iter().map(|b| b.distance(*at)).fold(f32::MAX, f32::min);
    a.iter().map(from).fold(f32::MAX, f32::min)
}

/// Returns the largest displacement of a particle in the next second, m.
fn largest_displacement(app: &mut App, cloths: &[Entity]) -> f32 {
    let all = |app: &App| -> Vec<Vec3> { cloths.iter().flat_map(|&c| positions(app, c)).collect() };
    let before = all(app);
    run(app, 60);
    let displacements = all(app).into_iter().zip(before).map(|(a, b)| a.distance(b));
    displacements.fold(0.0, f32::max)
}

/// Returns the number of intersecting pairs of triangles of some sheets.
fn crossings_of(app: &App, cloths: &[Entity]) -> usize {
    let mesh = TriangleMesh::read(&sheet().into()).unwrap();
    let triangles = Topology::new(&mesh).unwrap().triangles.to_vec();
    let (mut at, mut corners) = (Vec::new(), Vec::new());
    for &cloth in cloths {
        let first = at.len() as u32;
        corners.extend(triangles.iter().map(|t| t.map(|i| i + first)));
        at.extend(positions(app, cloth));
    }
    crossings(&at, &corners)
}

fn hashes(app: &App, cloths: &[Entity]) -> Vec<u64> {
    let hash = |&cloth| particles(app, cloth).state_hash();
    cloths.iter().map(hash).collect()
}

#[test]
fn two_dropped_cloths_come_to_rest_apart() {
    let mut app = over_floor();
    let cloths = stack(&mut app, 2);
    run(&mut app, 360);
    let [below, above] = [cloths[0], cloths[1]];
    let nearest = gap(&app, below, above);
    assert!(
        nearest > 0.9 * SEPARATION,
        "{nearest} m, should be {SEPARATION} m"
    );
    assert!(centre(&app, above).y > centre(&app, below).y + 0.4 * SEPARATION);
    let moved = largest_displacement(&mut app, &cloths);
    // The upper cloth creeps by 6 mm per second (measured).
    assert!(moved < 1e-2, "moves by {moved} m in a second");
}

#[test]
fn cloths_in_contact_sleep_and_wake_together() {
    let mut app = over_floor();
    let cloths = stack(&mut app, 2);
    for &cloth in &cloths {
        let mut cloth = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
        // Settings at which the cloths soon come to rest.
        (cloth.damping, cloth.sleep_speed) = (10.0, 0.02);
    }
    let asleep = |app: &App| {
        let sleeps = |&&cloth: &&Entity| app.world().get::<ClothSleeping>(cloth).is_some();
        cloths.iter().filter(sleeps).count()
    };
    for _ in 0..900 {
        app.update();
        assert!([0, 2].contains(&asleep(&app)));
        if asleep(&app) == 2 {
            break;
        }
    }
    assert_eq!(asleep(&app), 2);
    run(&mut app, 10);
    assert_eq!(asleep(&app), 2);
    let mut above = app.world_mut().entity_mut(cloths[1]);
    above.remove::<ClothSleeping>();
    app.update();
    assert_eq!(asleep(&app), 0);
}

#[test]
fn a_stack_stays_on_its_block_and_falls_asleep() {
    let mut app = over_floor();
    let block = ClothCollider::cuboid(0.3, 0.2, 0.3).with_friction(0.5, 0.4);
    (app.world_mut()).spawn((block, Transform::from_xyz(0.0, 0.1, 0.0)));
    let cloths: Vec<Entity> = (0..4)
        .map(|k| drop(&mut app, 0.26 + 0.05 * k as f32, 0.3 * k as f32, ()))
        .collect();
    run(&mut app, 2);
    let start: Vec<Vec3> = cloths.iter().map(|&cloth| middle(&app, cloth)).collect();
    run(&mut app, 420);
    for (&cloth, start) in cloths.iter().zip(start) {
        let slid = middle(&app, cloth).with_y(0.0).distance(start.with_y(0.0));
        assert!(slid < 0.02, "{slid} m");
        assert!(app.world().get::<ClothSleeping>(cloth).is_some());
    }
}

#[test]
fn cloths_on_each_other_repeat_their_motion_from_snapshots() {
    let mut app = over_floor();
    let cloths = stack(&mut app, 3);
    // They touch, and still move.
    run(&mut app, 14);
    let mut saved: Vec<_> = cloths.iter().map(|&cloth| take(&app, cloth)).collect();
    let steps = |app: &mut App| -> Vec<Vec<u64>> {
        let step = |_| {
            app.update();
            hashes(app, &cloths)
        };
        (0..20).map(step).collect()
    };
    let first = steps(&mut app);
    assert_ne!(first[4], first[5]);
    for (storage, store) in storages() {
        for (saved, &cloth) in saved.iter_mut().zip(&cloths) {
            *saved = store(saved);
            saved.restore(app.world_mut(), cloth).unwrap();
            assert_eq!(take(&app, cloth), *saved, "{storage}");
        }
        assert!(steps(&mut app) == first, "{storage}");
    }
}

#[test]
fn cloths_on_each_other_recover_from_an_invalid_number() {
    let mut app = over_floor();
    let cloths = stack(&mut app, 2);
    run(&mut app, 40);
    let mut below = app
        .world_mut()
        .get_mut::<ClothParticles>(cloths[0])
        .unwrap();
    below.acceleration.set(50, Vec3::NAN);
    run(&mut app, 2);
    let before = hashes(&app, &cloths);
    let mut above = app
        .world_mut()
        .get_mut::<ClothParticles>(cloths[1])
        .unwrap();
    (0..above.len()).for_each(|i| above.set_velocity(i, Vec3::Y));
    run(&mut app, 5);
    let after = hashes(&app, &cloths);
    assert!(before[0] != after[0] && before[1] != after[1]);
    assert!(
        centre(&app, cloths[1]).y > 0.05,
        "{}",
        centre(&app, cloths[1])
    );
}

#[test]
fn five_dropped_cloths_do_not_pass_through_each_other() {
    let mut app = over_floor();
    let cloths = stack(&mut app, 5);
    run(&mut app, 480);
    // Compared in the middle, where all five overlap: at their borders they hang down.
    let heights: Vec<f32> = cloths.iter().map(|&c| middle(&app, c).y).collect();
    let crossings = crossings_of(&app, &cloths);
    let moved = largest_displacement(&mut app, &cloths);
    println!("heights {heights:?}, {crossings} crossings, moves by {moved} m in a second");
    assert!(heights.is_sorted(), "{heights:?}");
    assert_eq!(crossings, 0);
    // The heap is not quite at rest and creeps by 15 mm per second (measured).
    assert!(moved < 3e-2, "moves by {moved} m in a second");
}

#[test]
fn cloths_on_layers_that_do_not_collide_pass_through_each_other() {
    let heights = |of_below: ClothLayers, collides: SelfCollision| {
        let mut app = over_floor();
        let below = drop(&mut app, 0.1, 0.0, of_below);
        let above = drop(&mut app, 0.25, 0.4, ClothLayers::on(1 << 1));
        app.world_mut()
            .get_mut::<Cloth>(below)
            .unwrap()
            .self_collision = collides;
        run(&mut app, 180);
        centre(&app, above).y - centre(&app, below).y
    };
    use SelfCollision::{Off, On};
    let all = ClothLayers::default();
    assert!(heights(all, On) > 0.4 * SEPARATION);
    assert!(heights(all.with_filters(!(1 << 1)), On) < 0.1 * SEPARATION);
    // Both cloths must have self-collision on.
    assert!(heights(all, Off) < 0.1 * SEPARATION);
}

#[test]
fn threads_and_phases_give_the_same_bits() {
    let run_with = |threads: usize, by_phases: bool| {
        let mut app = over_floor();
        app.insert_resource(ClothMaxThreads(threads));
        if by_phases {
            let nothing = (|| {})
                .after(ClothSystems::Relax)
                .before(ClothSystems::Collide);
            app.add_systems(ClothSubstep, nothing);
        }
        // Two groups in contact, and one cloth alone.
        let mut cloths = stack(&mut app, 3);
        for (k, away) in [(0, 3.0), (1, 3.0), (0, 6.0)] {
            let cloth = drop(&mut app, 0.03 + 0.035 * k as f32, 0.3, ());
            let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
            transform.translation.x += away;
            cloths.push(cloth);
        }
        run(&mut app, 60);
        assert!(
            gap(&app, cloths[0], cloths[1]) < 1.1 * SEPARATION,
            "no contact"
        );
        hashes(&app, &cloths)
    };
    let expected = run_with(1, false);
    for threads in [2, 7] {
        assert_eq!(run_with(threads, false), expected, "{threads} threads");
    }
    assert_eq!(run_with(1, true), expected, "phase by phase");
    assert_eq!(run_with(2, true), expected, "phase by phase, 2 threads");
}

#[test]
fn two_coincident_cloths_separate_slowly() {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    let cloths = [0, 1].map(|_| drop(&mut app, 1.0, 0.0, ()));
    run(&mut app, 2);
    assert!(gap(&app, cloths[0], cloths[1]) < 0.9 * SEPARATION);
    for _ in 0..120 {
        run(&mut app, 1);
        for cloth in cloths {
            let particles = particles(&app, cloth);
            let fastest = (0..particles.len()).map(|i| particles.velocity(i).length());
            let fastest = fastest.fold(0.0, f32::max);
            assert!(fastest < 4.0, "{fastest} m/s");
            assert!(centre(&app, cloth).distance(Vec3::Y) < 0.1);
        }
    }
    let nearest = gap(&app, cloths[0], cloths[1]);
    assert!(
        nearest > 0.9 * SEPARATION,
        "{nearest} m, should be {SEPARATION} m"
    );
}

#[test]
fn cloths_collide_far_from_the_origin_as_near_it() {
    let mut app = app();
    let far = Vec3::new(2000.0, 0.0, -3000.0);
    app.world_mut().spawn((
        ClothCollider::half_space().with_friction(0.5, 0.4),
        Transform::from_translation(far),
    ));
    let cloths = stack(&mut app, 2);
    for &cloth in &cloths {
        let mut transform = app.world_mut().get_mut::<Transform>(cloth).unwrap();
        transform.translation += far;
    }
    run(&mut app, 200);
    let nearest = gap(&app, cloths[0], cloths[1]);
    assert!(
        nearest > 0.85 * SEPARATION,
        "{nearest} m, should be {SEPARATION} m"
    );
    assert!(centre(&app, cloths[1]).y > centre(&app, cloths[0]).y + 0.4 * SEPARATION);
}

/// Runs two sheets without gravity, a corner of the second one through the first one, with the given
/// self-collision. Returns the numbers of crossings at the start and after four seconds, and the state hashes.
fn through_each_other(collide: [SelfCollision; 2], by_phases: bool) -> ([usize; 2], Vec<u64>) {
    let mut app = app();
    app.insert_resource(ClothGravity(Vec3::ZERO));
    if by_phases {
        let nothing = (|| {})
            .after(ClothSystems::Relax)
            .before(ClothSystems::Collide);
        app.add_systems(ClothSubstep, nothing);
    }
    let cloths = [0.0, 0.08].map(|height| drop(&mut app, height, 0.1, ()));
    for (cloth, self_collision) in cloths.into_iter().zip(collide) {
        let mut cloth = app.world_mut().get_mut::<Cloth>(cloth).unwrap();
        cloth.self_collision = self_collision;
    }
    let mut transform = app.world_mut().get_mut::<Transform>(cloths[1]).unwrap();
    // Its corner at (0.3, 0.3) is 0.04 m below the first sheet.
    transform.rotation = Quat::from_axis_angle(Vec3::new(1.0, 0.0, -1.0).normalize(), 0.285);
    run(&mut app, 1);
    let before = crossings_of(&app, &cloths);
    run(&mut app, 240);
    ([before, crossings_of(&app, &cloths)], hashes(&app, &cloths))
}

#[test]
fn edges_that_cross_another_cloth_are_pulled_out() {
    use SelfCollision::{Off, On};
    let ([before, after], _) = through_each_other([On, Off], false);
    println!("one without: {before} crossings, then {after}");
    assert!(
        before > 10 && after > 10,
        "{before} crossings, then {after}"
    );
    let ([before, after], bits) = through_each_other([On; 2], false);
    println!("{before} crossings, then {after}");
    assert!(before > 10, "{before}");
    assert_eq!(after, 0);
    assert_eq!(through_each_other([On; 2], true).1, bits, "phase by phase");
}

#[test]
fn no_cloth_of_a_stack_passes_through_another_or_itself() {
    let mut app = over_floor();
    app.world_mut().spawn((
        ClothCollider::sphere(0.12),
        Transform::from_xyz(0.02, 0.12, 0.0),
    ));
    let cloths: Vec<Entity> = (0..4)
        .map(|k| {
            let k = k as f32;
            drop(&mut app, 0.4 + 0.05 * k, 0.3 * k, ())
        })
        .collect();
    for step in 0..240 {
        run(&mut app, 1);
        let count = crossings_of(&app, &cloths);
        assert_eq!(count, 0, "step {step}");
    }
}
