//! Cloth that lies on itself, and cloth that is wrung.

use crate::{
    folds::{in_half, tangled_in_half},
    own_sheet::{OwnSheet, wrung},
};
use bevy::math::{Quat, Vec3};
use bevy_drape::{
    SelfCollision,
    mesh::ClothGrid,
    solver::{Collider, Friction, Pose, Shape, SoaVec3},
};

/// Puts each particle where its place at rest says, without velocity.
fn place(sheet: &mut OwnSheet, at: impl Fn(Vec3) -> Vec3) {
    let places: SoaVec3 = sheet.rest.iter().map(|&rest| at(rest)).collect();
    sheet.sample.particles.reset(Vec3::ZERO, &places);
}

/// A sheet that is folded in the middle, its halves 0.2 m apart, falls on a floor: the upper half
/// comes down on the lower one.
fn folded(side: u32, mode: SelfCollision) -> OwnSheet {
    let mut cloth = OwnSheet::new(ClothGrid::new(1.0, 1.0, side, side), mode);
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    cloth.sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, friction)];
    place(&mut cloth, in_half);
    cloth
}

#[test]
fn a_sheet_that_falls_folded_does_not_cross_itself() {
    let modes = [SelfCollision::Particles, SelfCollision::ParticlesAndEdges];
    for (side, mode) in [33, 64]
        .into_iter()
        .flat_map(|side| modes.map(|mode| (side, mode)))
    {
        let mut cloth = folded(side, mode);
        assert_eq!(cloth.crossings(), 0);
        let mut most = 0;
        for step in 0..360 {
            cloth.step();
            if step % 30 == 29 {
                most = most.max(cloth.crossings());
            }
        }
        let last = cloth.crossings();
        println!("{side}²: at most {most} crossings, at rest {last}");
        let before = cloth.at();
        (0..60).for_each(|_| cloth.step());
        let ways = cloth.at();
        let ways = ways
            .iter()
            .zip(before)
            .map(|(at, before)| at.distance(before));
        let way = ways.fold(0.0, f32::max);
        println!("{side}²: moves by {way} m in a second");
        assert_eq!(last, 0, "{side}²");
        assert!(way < 5e-3, "{side}²: moves by {way} m in a second");
        // Two layers lie there, one over the other: limp cloth nests, so that the upper one is less than the
        // distance above the lower one.
        let at = cloth.at();
        let over = |upper: &&Vec3| {
            at.iter().any(|lower| {
                let way = **upper - *lower;
                way.y > 0.5 * cloth.distance && way.with_y(0.0).length() < cloth.distance
            })
        };
        let high = at.iter().filter(over).count();
        println!("{side}²: {high} lie on others");
        assert!(high > cloth.rest.len() / 10, "{high} lie on others");
    }
    // Without it the halves fall into each other. They then lie in one plane, where few cross.
    let mut cloth = folded(33, SelfCollision::Off);
    (0..360).for_each(|_| cloth.step());
    assert!(cloth.crossings() > 0);
}

#[test]
fn without_it_a_wrung_sheet_crosses_itself() {
    let crossings = wrung(SelfCollision::Off);
    println!("{crossings:?}");
    assert!(crossings.iter().any(|&count| count > 100), "{crossings:?}");
}

/// A folded sheet in space, a corner of whose upper half is through the lower one.
fn tangled(side: u32, mode: SelfCollision) -> OwnSheet {
    let mut sheet = OwnSheet::new(ClothGrid::new(1.0, 1.0, side, side), mode);
    sheet.sample.settings.gravity = Vec3::ZERO;
    place(&mut sheet, tangled_in_half);
    sheet
}

#[test]
fn edges_that_start_through_triangles_come_back() {
    for side in [33, 49, 64] {
        let after = |mode| {
            let mut sheet = tangled(side, mode);
            let before = sheet.crossings();
            (0..60).for_each(|_| sheet.step());
            println!(
                "{side}²: {before} crossings, after 1 s {}",
                sheet.crossings()
            );
            (before, sheet.crossings())
        };
        let (before, stuck) = after(SelfCollision::Particles);
        assert!(before >= 10 && stuck > 0, "{side}²: {before}, then {stuck}");
        let (_, untangled) = after(SelfCollision::ParticlesAndEdges);
        assert_eq!(untangled, 0, "{side}²");
    }
}
