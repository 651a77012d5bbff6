use super::*;

fn two() -> ParticleArrays {
    ParticleArrays::new(
        Vec3::new(10.0, 0.0, 0.0),
        [Vec3::ZERO, Vec3::X].into_iter().collect(),
        vec![0.0, 2.0],
    )
}

#[test]
fn bad_masses_become_pins() {
    let p = ParticleArrays::new(
        Vec3::ZERO,
        SoaVec3::zeros(5),
        vec![f32::NAN, -1.0, f32::INFINITY, 3.0],
    );
    assert_eq!(p.inverse_mass[..], [0.0, 0.0, 0.0, 3.0, 0.0]);
}

#[test]
fn pins_reach_their_targets_in_equal_substeps() {
    let mut p = two();
    let pins = [
        PinTarget {
            particle: 0,
            position: Vec3::Y,
        },
        // Not pinned, so its target must not move it.
        PinTarget {
            particle: 1,
            position: Vec3::Y,
        },
    ];
    p.begin_step(&mut Workers::serial(), None, &pins, 4);
    assert_eq!(p.displacement.get(0), Vec3::Y / 4.0);
    p.place_pins(&pins);
    assert_eq!(p.position.get(0), Vec3::Y);
    assert_eq!(p.position.get(1), Vec3::X);
}

#[test]
fn rebase_keeps_the_world_position() {
    let mut p = two();
    p.position.add_all(Vec3::new(100.0, -300.0, 0.0));
    let before = p.world_position(1);
    assert!(p.rebase());
    assert_eq!(p.world_position(1), before);
    assert!(p.position.get(1).length() < 2.0);
    assert!(!p.rebase(), "one rebase must be enough");
}

#[test]
fn the_origin_stays_within_reach() {
    let mut p = two();
    for _ in 0..3 {
        p.position.add_all(Vec3::X * -1.2e7);
        p.rebase();
        assert!(is_within_reach(p.origin), "{}", p.origin);
    }
    assert!(!p.is_finite(), "particles farther away count as lost");
}

#[test]
fn force_is_mass_times_acceleration() {
    let mut p = two();
    p.add_force(1, Vec3::Z);
    p.add_force(0, Vec3::Z);
    assert_eq!(p.acceleration.get(1), Vec3::Z * 2.0);
    assert_eq!(p.acceleration.get(0), Vec3::ZERO, "a pin feels no force");
}
