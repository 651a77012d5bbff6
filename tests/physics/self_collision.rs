//! Cloth that lies on itself, and cloth that is wrung.

#[path = "../common/crossings.rs"]
mod crossings;

use crate::{Sample, as_the_plugin};
use bevy::math::{Mat3, Quat, Vec3};
use bevy_drape::{
    Cloth,
    mesh::{ClothGrid, TriangleMesh},
    solver::{
        self, Body, Collider, Friction, PinTarget, Pose, SelfCollision, SelfContacts, Shape,
        SoaVec3,
    },
};
use crossings::crossings;
use std::f32::consts::{FRAC_PI_3, PI};

/// A sheet at the plugin's defaults, and how it collides with itself.
struct Own {
    sample: Sample,
    rest: Vec<Vec3>,
    distance: f32,
    contacts: SelfContacts,
    collides: bool,
}

impl Own {
    fn new(grid: ClothGrid, collides: bool) -> Self {
        let cloth = Cloth::default();
        let mesh = TriangleMesh::read(&grid.into()).unwrap();
        let mut sample = Sample::of_mesh(&mesh, cloth.fabric.areal_density);
        sample.settings = as_the_plugin(&cloth);
        let rest: Vec<Vec3> = sample.particles.position.iter().collect();
        let spacing = solver::rest_spacing(&rest, &sample.triangles.indices, Mat3::IDENTITY);
        Self {
            distance: solver::self_distance(sample.settings.surface.thickness, spacing),
            rest,
            contacts: SelfContacts::default(),
            sample,
            collides,
        }
    }

    fn place(&mut self, at: impl Fn(Vec3) -> Vec3) {
        let places: SoaVec3 = self.rest.iter().map(|&rest| at(rest)).collect();
        self.sample.particles.reset(Vec3::ZERO, &places);
    }

    fn step(&mut self) {
        let by = SelfCollision {
            distance: self.distance,
            friction: self.sample.settings.surface.friction,
            rest: &self.rest,
            to_world: Mat3::IDENTITY,
        };
        let sample = &mut self.sample;
        let body = Body {
            particles: &mut sample.particles,
            constraints: &mut sample.constraints,
            triangles: &sample.triangles,
            tethers: &sample.tethers,
            pins: &sample.pins,
            self_contacts: self.collides.then_some((&mut self.contacts, by)),
        };
        let finite = solver::step(body, &sample.colliders, &sample.settings);
        assert!(finite, "a number was not finite");
    }

    fn at(&self) -> Vec<Vec3> {
        let count = self.rest.len();
        (0..count).map(|i| self.sample.at(i)).collect()
    }

    fn crossings(&self) -> usize {
        crossings(&self.at(), &self.sample.triangles.indices.to_vec())
    }
}

/// A sheet that is folded in the middle, its halves 0.2 m apart, falls on a floor: the upper half
/// comes down on the lower one.
fn folded(side: u32, collides: bool) -> Own {
    let mut cloth = Own::new(ClothGrid::new(1.0, 1.0, side, side), collides);
    let pose = Pose {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };
    let friction = Friction {
        fixed: 0.5,
        kinetic: 0.4,
    };
    cloth.sample.colliders = vec![Collider::fixed(Shape::HalfSpace, pose, friction)];
    cloth.place(|at| {
        // The fold is a half circle as long as its part of the sheet. A little askew, so that no
        // particle is right over another.
        let (radius, z) = (0.1, at.z + 0.07 * at.x);
        let along = at.x + 0.5 * PI * radius;
        if along < 0.0 {
            Vec3::new(along, 0.3, z)
        } else if along < PI * radius {
            let angle = along / radius;
            Vec3::new(radius * angle.sin(), 0.4 - radius * angle.cos(), z)
        } else {
            Vec3::new(PI * radius - along, 0.5, z)
        }
    });
    cloth
}

#[test]
fn a_sheet_that_falls_folded_does_not_cross_itself() {
    for side in [33, 64] {
        let mut cloth = folded(side, true);
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
    let mut cloth = folded(33, false);
    (0..360).for_each(|_| cloth.step());
    assert!(cloth.crossings() > 0);
}

/// Both ends of a strip turn against each other by π/3 rad/s for 10 s, and come nearer to each other,
/// for what is wrung gets shorter.
fn wrung(collides: bool, mut watch: impl FnMut(&Own, f32)) {
    let n = 97;
    let mut cloth = Own::new(ClothGrid::new(1.0, 0.3, n, 30), collides);
    let n = n as usize;
    let ends: Vec<usize> = (0..30 * n)
        .filter(|i| [0, n - 1].contains(&(i % n)))
        .collect();
    for &i in &ends {
        cloth.sample.particles.inverse_mass[i] = 0.0;
    }
    for step in 1..=600 {
        let time = step as f32 / 60.0;
        cloth.sample.pins = ends
            .iter()
            .map(|&i| {
                let rest = cloth.rest[i];
                let end = rest.x.signum();
                let turned = Quat::from_rotation_x(end * FRAC_PI_3 * time) * rest.with_x(0.0);
                let position = turned + Vec3::X * rest.x * (1.0 - 0.06 * time);
                PinTarget {
                    particle: i as u32,
                    position,
                }
            })
            .collect();
        cloth.step();
        watch(&cloth, time);
    }
}

#[test]
fn a_wrung_sheet_hardly_crosses_itself() {
    let crossings = |collides: bool| {
        let mut crossings = Vec::new();
        wrung(collides, |cloth, time| {
            if ((time * 60.0).round() as u32).is_multiple_of(120) {
                crossings.push(cloth.crossings());
            }
        });
        println!("self-collision {collides}: after 2, 4, 6, 8, 10 s {crossings:?} crossings");
        crossings
    };
    let (with, without) = (crossings(true), crossings(false));
    assert!(
        without.iter().any(|&crossings| crossings > 100),
        "{without:?}"
    );
    // Particles alone do not keep triangles apart: what is wrung as tightly as after 10 s crosses itself in
    // places (up to 212 pairs of its 5568 triangles, from 8 s on).
    assert_eq!(with[..3], [0; 3], "{with:?} of {without:?}");
}
