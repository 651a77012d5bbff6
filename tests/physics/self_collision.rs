//! Self-collision: folded, wrung and tangled cloth.

use crate::{
    contact_scenes::{crumple, twist},
    folds::{in_half, tangled_in_half},
    own_sheet::OwnSheet,
};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    cloth::{Cloth, Fabric, SelfCollision},
    mesh::ClothGrid,
    solver::{Collider, Friction, Pose, Shape, measure_stretch},
};

/// Returns a sheet that is folded in the middle, with halves 0.2 m apart, and falls on a floor: the upper half
/// falls onto the lower one.
fn folded(side: u32, mode: SelfCollision) -> OwnSheet {
    let mut cloth = OwnSheet::new(ClothGrid::new(1.0, 1.0, side, side), mode);
    cloth.sample.colliders = vec![collider(Shape::HalfSpace, Vec3::ZERO)];
    cloth.deform(in_half);
    cloth
}

fn sphere_on_floor() -> Vec<Collider> {
    let ball = Shape::Sphere { radius: 0.5 };
    vec![
        collider(ball, Vec3::Y * 0.5),
        collider(Shape::HalfSpace, Vec3::ZERO),
    ]
}

fn collider(shape: Shape, translation: Vec3) -> Collider {
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation,
    };
    let friction = Friction {
        static_coefficient: 0.5,
        kinetic_coefficient: 0.4,
    };
    Collider::fixed(shape, pose, friction)
}

#[test]
fn a_sheet_that_falls_folded_does_not_cross_itself() {
    for side in [33, 64] {
        let mut cloth = folded(side, SelfCollision::On);
        assert_eq!(cloth.crossings(), 0);
        for step in 0..360 {
            cloth.step();
            if step % 10 == 9 {
                assert_eq!(cloth.crossings(), 0, "{side}²: step {step}");
            }
        }
        let before = cloth.at();
        (0..60).for_each(|_| cloth.step());
        let after = cloth.at();
        let displacements = after
            .iter()
            .zip(before)
            .map(|(after, before)| after.distance(before));
        let displacement = displacements.fold(0.0, f32::max);
        println!("{side}²: moves by {displacement} m in a second");
        assert!(
            displacement < 5e-3,
            "{side}²: moves by {displacement} m in a second"
        );
        // The layers lie one over the other. The particles of limp cloth nest, so the upper layer lies less than
        // the collision distance above the lower one.
        let positions = cloth.at();
        let lies_on_another = |upper: &&Vec3| {
            positions.iter().any(|lower| {
                let offset = **upper - *lower;
                offset.y > 0.5 * cloth.distance && offset.with_y(0.0).length() < cloth.distance
            })
        };
        let high = positions.iter().filter(lies_on_another).count();
        println!("{side}²: {high} lie on others");
        assert!(high > cloth.rest.len() / 10, "{high} lie on others");
    }
    // Without self-collision the halves fall into each other, and lie in one plane, where few triangles cross.
    let mut cloth = folded(33, SelfCollision::Off);
    (0..360).for_each(|_| cloth.step());
    assert!(cloth.crossings() > 0);
}

/// Fast cloth that collides with itself takes additional substeps. If they made it stiffer, it would contract, which makes it
/// fast.
#[test]
fn a_sheet_that_its_weight_stretches_does_not_hop_on_a_ball() {
    let mut cloth = OwnSheet::new(ClothGrid::new(2.0, 2.0, 64, 64), SelfCollision::On);
    // As stretchy as a sheet of 256² particles with the default number of substeps.
    cloth.sample.settings.substeps = 2;
    cloth.sample.colliders = sphere_on_floor();
    cloth.deform(|rest| rest + Vec3::Y * 1.5);
    (0..300).for_each(|_| cloth.step());
    let mut height = || {
        cloth.step();
        let at = cloth.at();
        at.iter().map(|at| at.y).sum::<f32>() / at.len() as f32
    };
    let heights: Vec<f32> = (0..60).map(|_| height()).collect();
    let highest = heights.iter().copied().fold(f32::MIN, f32::max);
    let lowest = heights.iter().copied().fold(f32::MAX, f32::min);
    println!("hops by {} m", highest - lowest);
    assert!(highest - lowest < 2e-3, "hops by {} m", highest - lowest);
}

/// A strain limit also holds where folds are wedged by the distance that particles keep from each other.
#[test]
fn elastic_fabric_that_falls_on_its_edge_keeps_its_strain_limit() {
    let cloth = Cloth {
        fabric: Fabric::cotton(),
        self_collision: SelfCollision::On,
        ..Cloth::default()
    };
    let mut sheet = OwnSheet::of_grid(ClothGrid::new(2.0, 2.0, 64, 64), &cloth);
    sheet.deform(|rest| Vec3::new(rest.x, rest.z + 1.02, 0.002 * rest.z));
    sheet.sample.colliders = vec![collider(Shape::HalfSpace, Vec3::ZERO)];
    let mut worst = 0.0_f32;
    for step in 0..90 {
        sheet.step();
        let strain = measure_stretch(&sheet.sample.particles, &sheet.sample.constraints).max;
        if step >= 60 {
            worst = worst.max(strain);
        }
    }
    let limit = cloth.fabric.strain_limit.expect("cotton has one");
    println!("stretched by {worst}");
    assert!(worst < 1.02 * limit, "stretched by {worst}");
}

#[test]
fn a_fine_sheet_that_crumples_does_not_cross_itself() {
    let found = crumple(64, 6.0).run(60);
    assert_eq!((found.passages, found.intersections), (0, 0), "{found:?}");
}

#[test]
fn without_self_collision_a_wrung_sheet_crosses_itself() {
    let crossings = twist(SelfCollision::Off).run(600);
    println!("{crossings:?}");
    assert!(crossings.intersections > 100 && crossings.passages > 100);
}

/// Returns a folded sheet without gravity. A corner of its upper half has passed through the lower half.
fn tangled(side: u32, mode: SelfCollision) -> OwnSheet {
    let mut sheet = OwnSheet::new(ClothGrid::new(1.0, 1.0, side, side), mode);
    sheet.sample.settings.gravity = Vec3::ZERO;
    sheet.deform(tangled_in_half);
    sheet
}

#[test]
fn edges_that_start_across_triangles_come_back() {
    for side in [33, 49, 64] {
        let crossings = |mode| {
            let mut sheet = tangled(side, mode);
            let before = sheet.crossings();
            (0..60).for_each(|_| sheet.step());
            println!(
                "{side}²: {before} crossings, after 1 s {}",
                sheet.crossings()
            );
            (before, sheet.crossings())
        };
        let (before, stuck) = crossings(SelfCollision::Off);
        assert!(before >= 10 && stuck > 0, "{side}²: {before}, then {stuck}");
        let (_, untangled) = crossings(SelfCollision::On);
        assert_eq!(untangled, 0, "{side}²");
    }
}
